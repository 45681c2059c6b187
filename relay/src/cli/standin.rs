//! `brb standin`: the stand-in chat page, alone, for any tool to be pointed at.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use fixtures::{
    scenario::Scenario,
    server::{CodeForm, Lang, Layout, StandinConfig, StandinError, run_standin},
};
use protocol::fault::Code;

use super::{failure::Failure, signals};

/// Serve the stand-in chat page on loopback until interrupted
///
/// Prints one JSON line {"url","log_url","pid"}. The log of turns is served at log_url.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  brb standin --layout keyed --port 0\n  brb standin --scenario my.toml --log turns.jsonl"
)]
pub(super) struct StandinArgs {
    /// Which generation of the page is played
    #[arg(long, value_enum, default_value = "classic")]
    layout: LayoutArg,
    /// The language of its labels
    #[arg(long, value_enum, default_value = "en")]
    lang: LangArg,
    /// How code blocks are built; else as the layout does
    #[arg(long, value_enum)]
    code: Option<CodeArg>,
    /// Port on 127.0.0.1; 0 takes a free one
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// What the remote answers: a built-in scenario or a TOML file
    #[arg(long, value_name = "NAME|FILE", default_value = "demo")]
    scenario: String,
    /// What the scenario's made-up names follow from
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// The run's own word; else a fresh one
    #[arg(long, value_name = "WORD")]
    nonce: Option<String>,
    /// Append each turn to this file
    #[arg(long = "log", id = "turns", value_name = "FILE")]
    turns: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum LayoutArg {
    Classic,
    Keyed,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum LangArg {
    En,
    Ja,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum CodeArg {
    Editor,
    Plain,
}

pub(super) fn main(args: StandinArgs) -> Result<u8, Failure> {
    let scenario = Scenario::load(&args.scenario).map_err(|error| {
        let names: Vec<&str> = Scenario::builtin_names().collect();
        Failure::usage(
            error,
            format!("Name a TOML file, or one of {}.", names.join(", ")),
        )
    })?;
    let mut config = StandinConfig::new(scenario);
    config.layout = match args.layout {
        LayoutArg::Classic => Layout::Classic,
        LayoutArg::Keyed => Layout::Keyed,
    };
    config.lang = match args.lang {
        LangArg::En => Lang::En,
        LangArg::Ja => Lang::Ja,
    };
    config.code = args.code.map(|code| match code {
        CodeArg::Editor => CodeForm::Editor,
        CodeArg::Plain => CodeForm::Plain,
    });
    config.port = args.port;
    config.seed = args.seed;
    config.nonce = args.nonce;
    config.log_file = args.turns;
    signals::block_on(async {
        let mut stop = signals::listen()?;
        let end = async {
            stop.recv().await;
        };
        run_standin(config, &mut std::io::stdout(), end)
            .await
            .map_err(failure)?;
        Ok(0)
    })
}

fn failure(error: StandinError) -> Failure {
    let help = match &error {
        StandinError::Listen { .. } => "Choose another port, or 0 for a free one.",
        StandinError::Log { .. } => "Name a file that can be written with `--log`.",
        StandinError::Fault(_) => "Mend the scenario's faults.",
        StandinError::Announce(_) => "Give the command an output that can be written to.",
        StandinError::Serve(_) => "Start it again.",
    };
    let code = match &error {
        StandinError::Listen { .. } | StandinError::Log { .. } | StandinError::Fault(_) => {
            Code::Usage
        }
        StandinError::Announce(_) | StandinError::Serve(_) => Code::Config,
    };
    Failure::new(code, error, help)
}
