//! What clap found wrong, told as every other failure is.

use std::{ffi::OsString, io::Write};

use clap::error::ErrorKind;
use protocol::outcome::{Outcome, Signal};

use super::failure::Failure;

/// Whether the arguments, which may not even parse, ask for JSON.
pub(super) fn wants_json(args: &[OsString]) -> bool {
    args.iter()
        .skip(1)
        .take_while(|arg| *arg != "--")
        .any(|arg| arg == "--json")
}

/// Tells what clap has to say and gives the exit number.
pub(super) fn told(error: &clap::Error, json: bool) -> u8 {
    match text_of(error) {
        Some(text) => {
            let _ = std::io::stdout().lock().write_all(text.as_bytes());
            Outcome::Done.exit(Signal::Interrupt)
        }
        None => failure_of(error).told(json),
    }
}

/// The text that was asked for; none where something is wrong.
#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "clap's kinds are not ours and grow"
)]
fn text_of(error: &clap::Error) -> Option<String> {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Some(error.render().to_string()),
        _ => None,
    }
}

fn failure_of(error: &clap::Error) -> Failure {
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return Failure::usage(
            "no command is given",
            "Run `brb --help` for the commands, or `brb demo` to see one at work.",
        );
    }
    let text = error.render().to_string();
    let mut paragraphs = text.split("\n\n").map(|part| {
        let words: Vec<&str> = part.split_whitespace().collect();
        words.join(" ")
    });
    let what = paragraphs.next().unwrap_or_default();
    let what = what.strip_prefix("error: ").unwrap_or(&what).to_owned();
    let mut help = String::new();
    for part in paragraphs {
        if let Some(tip) = part.strip_prefix("tip: ") {
            help.push_str(&format!("Note: {tip}. "));
        } else if let Some(usage) = part.strip_prefix("Usage: ") {
            help.push_str(&format!("Usage is `{usage}`; see `--help`."));
        }
    }
    if help.is_empty() {
        help = "See the command's `--help`.".to_owned();
    }
    Failure::usage(what, help.trim_end())
}
