//! The command line `brb`: one file a command.
//!
//! A command gives an exit number or a [`Failure`]; whatever fails says what
//! happened and what to do about it, under a stable code.

mod approver;
mod browser;
mod completions;
mod config;
mod demo;
mod diff;
mod doctor;
mod explain;
mod failure;
mod faults;
mod journal;
mod limits;
mod list;
mod login;
mod look;
mod man;
mod out;
mod record;
mod replay;
mod report;
mod request;
mod resume;
mod run;
mod session;
mod settle;
mod signals;
mod simulate;
mod standin;
mod status;
mod told;
mod undo;
mod usage;

use std::{ffi::OsString, path::PathBuf, process::ExitCode};

use clap::{Args, Parser, Subcommand, ValueEnum};

pub use approver::TerminalApprover;
pub use failure::Failure;
pub use limits::LimitFlags;

use crate::{
    place::Place,
    telemetry::{self, Sink},
};

const EXAMPLES: &str = "\
Examples:
  brb demo                        see the whole of it on a page of its own
  brb login                       log in once, in the relay's own browser profile
  brb run \"Fix the failing test\"  relay a request, asking before each command
  brb list                        what was done so far
  brb explain E_CAPTURE           what a code means and what to do

Exit: 0 done, 1 defect, 2 usage, 3 blocked by the remote, 4 a person must decide, 5 a send is
unknown, 6 stopped by challenge, logout, limit or account, 7 boundary, 8 held by another relay,
9 protocol violation, 10 environment, 130 and 143 interrupted.";

/// Lets a coding agent on this machine work in rounds with a model behind a chat web page.
#[derive(Debug, Parser)]
#[command(name = "brb", version, after_help = EXAMPLES, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// Options of every command that looks at sessions.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Files")]
struct Common {
    /// Where sessions, locks and logs are kept
    #[arg(
        long,
        env = "BRB_STATE_DIR",
        value_name = "DIR",
        hide_env_values = true
    )]
    state_dir: Option<PathBuf>,
    /// How much is logged: a run logs `info` to a file, other commands nothing
    #[arg(long, env = "BRB_LOG", value_name = "LEVEL", hide_env_values = true)]
    log: Option<Level>,
    /// Where the log goes; `-` is stderr
    #[arg(long, value_name = "FILE")]
    log_file: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Level {
    Off,
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

impl Level {
    const fn filter(self) -> tracing::level_filters::LevelFilter {
        use tracing::level_filters::LevelFilter;
        match self {
            Self::Off => LevelFilter::OFF,
            Self::Error => LevelFilter::ERROR,
            Self::Warn => LevelFilter::WARN,
            Self::Info => LevelFilter::INFO,
            Self::Debug => LevelFilter::DEBUG,
            Self::Trace => LevelFilter::TRACE,
        }
    }
}

impl Common {
    fn place(&self) -> Result<Place, Failure> {
        Ok(Place::find(self.state_dir.clone())?)
    }

    /// The folders, for a command that logs only where it is told to.
    fn quiet_place(&self) -> Result<Place, Failure> {
        self.log_to(None)?;
        self.place()
    }

    /// Begins to log: to the file given, else to `usual`, else to stderr; at
    /// the level given, else at `info` where there is a usual file.
    fn log_to(&self, usual: Option<PathBuf>) -> Result<(), Failure> {
        let level = match (self.log, &usual, &self.log_file) {
            (Some(level), _, _) => level,
            (None, Some(_), _) | (None, None, Some(_)) => Level::Info,
            (None, None, None) => return Ok(()),
        };
        if matches!(level, Level::Off) {
            return Ok(());
        }
        let sink = match self.log_file.clone().or(usual) {
            Some(path) if path.as_os_str() != "-" => Sink::File(path),
            Some(_) | None => Sink::Stderr,
        };
        Ok(telemetry::start(level.filter(), &sink)?)
    }
}

#[derive(Debug, Subcommand)]
enum Command {
    Run(Box<run::RunArgs>),
    Demo(demo::DemoArgs),
    Faults(faults::FaultsArgs),
    Login(login::LoginArgs),
    List(list::ListArgs),
    Status(status::StatusArgs),
    Report(report::ReportArgs),
    Resume(Box<resume::ResumeArgs>),
    Journal(journal::JournalArgs),
    Doctor(doctor::DoctorArgs),
    Diff(diff::DiffArgs),
    Undo(undo::UndoArgs),
    Config(config::ConfigArgs),
    Explain(explain::ExplainArgs),
    Record(record::RecordArgs),
    Replay(replay::ReplayArgs),
    Standin(standin::StandinArgs),
    Completions(completions::CompletionsArgs),
    Man(man::ManArgs),
    Simulate(simulate::SimulateArgs),
}

impl Command {
    /// Whether the end is told on stdout, too, as a program reads it.
    fn tells_json(&self) -> bool {
        match self {
            Self::Run(args) => args.json,
            Self::Resume(args) => args.json,
            Self::Demo(args) => args.json,
            Self::Faults(args) => args.json,
            Self::Replay(args) => args.json,
            Self::Simulate(args) => args.json,
            Self::Login(_)
            | Self::List(_)
            | Self::Status(_)
            | Self::Report(_)
            | Self::Journal(_)
            | Self::Doctor(_)
            | Self::Diff(_)
            | Self::Undo(_)
            | Self::Config(_)
            | Self::Explain(_)
            | Self::Record(_)
            | Self::Standin(_)
            | Self::Completions(_)
            | Self::Man(_) => false,
        }
    }
}

/// Runs `brb` with the arguments of this process.
pub fn main() -> ExitCode {
    let args: Vec<OsString> = std::env::args_os().collect();
    ExitCode::from(exit_of(args))
}

fn exit_of(args: Vec<OsString>) -> u8 {
    let json = usage::wants_json(&args);
    let cli = match settle::parse(args) {
        Ok(cli) => cli,
        Err(settle::Unsettled::Line(error)) => return usage::told(&error, json),
        Err(settle::Unsettled::Config(failure)) => return failure.told(json),
    };
    let json = cli.command.tells_json();
    match dispatch(cli) {
        Ok(exit) => exit,
        Err(failure) => failure.told(json),
    }
}

fn dispatch(cli: Cli) -> Result<u8, Failure> {
    match cli.command {
        Command::Run(args) => run::main(*args),
        Command::Demo(args) => demo::main(args),
        Command::Faults(args) => faults::main(args),
        Command::Login(args) => login::main(args),
        Command::List(args) => list::main(&args),
        Command::Status(args) => status::main(&args),
        Command::Report(args) => report::main(&args),
        Command::Resume(args) => resume::main(*args),
        Command::Journal(args) => journal::main(&args),
        Command::Doctor(args) => doctor::main(args),
        Command::Diff(args) => diff::main(&args),
        Command::Undo(args) => undo::main(&args),
        Command::Config(args) => config::main(&args),
        Command::Explain(args) => explain::main(&args),
        Command::Record(args) => record::main(&args),
        Command::Replay(args) => replay::main(&args),
        Command::Standin(args) => standin::main(args),
        Command::Completions(args) => completions::main(&args),
        Command::Man(args) => man::main(&args),
        Command::Simulate(args) => simulate::main(&args),
    }
}

/// The command line, for whoever makes completions and manuals of it.
#[must_use]
pub fn command() -> clap::Command {
    <Cli as clap::CommandFactory>::command()
}

#[cfg(test)]
mod tests;
