//! `brb config`: what is configured, and where.

use std::fmt::Write as _;

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::{failure::Failure, out, settle};
use crate::{
    config::{Config, Key, Kind, Reach, Setting, Sources, USER_FILE, all},
    output,
};

/// Show what is configured, and where each value comes from
///
/// A flag outweighs the environment, that a project's .pi-bridge.toml, that your own
/// config.toml, and that the default. Keys are the flags' names with underscores; limits stand
/// in the table [limits].
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  brb config show --origin\n  brb config show > config.toml")]
pub(super) struct ConfigArgs {
    #[command(subcommand)]
    command: ConfigCommand,
}

#[derive(Debug, Subcommand)]
enum ConfigCommand {
    Show(ShowArgs),
}

/// Print every key with the value that holds in this folder, as a configuration file
///
/// What is not set is a comment, with its default where there is one.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  brb config show --origin            what is set, and where\n  brb config show --json\n  brb config show > config.toml       a file to begin with"
)]
struct ShowArgs {
    /// Say where each value comes from: a file and line, a variable, or the default
    #[arg(long)]
    origin: bool,
    /// One JSON object on stdout
    #[arg(long)]
    json: bool,
}

pub(super) fn main(args: &ConfigArgs) -> Result<u8, Failure> {
    match &args.command {
        ConfigCommand::Show(args) => show(args),
    }
}

fn show(args: &ShowArgs) -> Result<u8, Failure> {
    let sources = settle::sources(None)?;
    let config = settle::read(None)?;
    if args.json {
        out::print_json(&value(&config, &sources))?;
    } else {
        out::print(&text(&config, &sources, args.origin))?;
    }
    Ok(0)
}

fn text(config: &Config, sources: &Sources, with_origin: bool) -> String {
    let mut text = String::new();
    let user = sources.user_file();
    let there = if user.exists() { "" } else { " (not there)" };
    let _ = writeln!(text, "# yours: {}{there}", user.display());
    match sources.project_file() {
        Some(path) => {
            let _ = writeln!(text, "# the project's: {}", path.display());
        }
        None => text.push_str("# the project's: none\n"),
    }
    text.push('\n');
    let (limits, others): (Vec<&Key>, Vec<&Key>) = all().iter().partition(|key| key.is_limit);
    for key in others {
        line(&mut text, key, config.get(key), with_origin);
    }
    text.push_str("\n[limits]\n");
    for key in limits {
        line(&mut text, key, config.get(key), with_origin);
    }
    text
}

fn line(text: &mut String, key: &Key, setting: Option<&Setting>, with_origin: bool) {
    let said = setting.map(|setting| setting.value.as_str());
    let value = said.or(key.default.as_deref());
    let assignment = match value {
        Some(value) => format!("{} = {}", key.name, literal(key, value)),
        None => format!("{} =", key.name),
    };
    let unset = if setting.is_some() { "" } else { "# " };
    let note = if with_origin {
        settle::origin_of(setting)
    } else {
        key.what.to_owned()
    };
    let _ = writeln!(text, "{:<44} # {note}", format!("{unset}{assignment}"));
}

/// The value as TOML.
fn literal(key: &Key, value: &str) -> String {
    match key.kind {
        Kind::Switch | Kind::Number { .. } => value.to_owned(),
        Kind::Text | Kind::Path | Kind::Program | Kind::Endpoint | Kind::Choice(_) => {
            toml::Value::String(value.to_owned()).to_string()
        }
    }
}

fn value(config: &Config, sources: &Sources) -> Value {
    let keys = all().iter().map(|key| {
        let setting = config.get(key);
        let value = setting.map(|setting| setting.value.as_str());
        json!({
            "key": key.path(),
            "value": value.or(key.default.as_deref()).map(|value| typed(key, value)),
            "layer": setting.map_or("default", |setting| setting.origin.layer()),
            "origin": setting.map(|setting| setting.origin.to_string()),
            "flag": key.flag(),
            "variable": key.variable(),
            "project_may_set": key.reach == Reach::Anywhere,
        })
    });
    json!({
        "schema_version": output::SCHEMA_VERSION,
        "user_file": sources.user.join(USER_FILE),
        "project_file": sources.project_file(),
        "keys": keys.collect::<Vec<_>>(),
    })
}

fn typed(key: &Key, value: &str) -> Value {
    match key.kind {
        Kind::Switch => json!(value == "true"),
        Kind::Number { .. } => json!(value.parse::<u64>().ok()),
        Kind::Text | Kind::Path | Kind::Program | Kind::Endpoint | Kind::Choice(_) => json!(value),
    }
}
