//! `brb completions`: what a shell needs to complete commands and options.

use clap::{Args, ValueEnum};
use clap_complete::Shell;

use super::{failure::Failure, out};

/// Print the completion script for a shell
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  brb completions bash > ~/.local/share/bash-completion/completions/brb\n  brb completions zsh > ~/.zfunc/_brb\n  brb completions fish > ~/.config/fish/completions/brb.fish"
)]
pub(super) struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: ShellArg,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ShellArg {
    Bash,
    Zsh,
    Fish,
}

pub(super) fn main(args: &CompletionsArgs) -> Result<u8, Failure> {
    out::print_bytes(&script(args.shell))?;
    Ok(0)
}

fn script(shell: ShellArg) -> Vec<u8> {
    let shell = match shell {
        ShellArg::Bash => Shell::Bash,
        ShellArg::Zsh => Shell::Zsh,
        ShellArg::Fish => Shell::Fish,
    };
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut super::command(), "brb", &mut script);
    script
}
