//! `brb demo`: the whole of it, on a page of its own.

use std::{io::Write, path::PathBuf};

use clap::{Args, ValueEnum};
use protocol::fault::Code;

use super::{Common, failure::Failure, limits::LimitFlags, signals, told::Told};
use crate::{
    demo::{self, DemoError, DemoOptions, DemoReport},
    ids,
    sabotage::Break,
};

/// Relay a small coding request through the whole protocol, on a stand-in of the chat page
///
/// Starts the stand-in and a browser, makes a little git repository in a temporary folder, and
/// relays a request from the handshake to done: a look at the files, a reply that has to be
/// repaired, a test that fails, a fix. Afterwards the stand-in's own log is held against the journal.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  brb demo                       the classic page
  brb demo --layout keyed --keep the other page; leave the folder to look at
  brb demo --break send          take one guard away and see it noticed (exit is not 0)")]
pub(super) struct DemoArgs {
    /// Which generation of the page is played
    #[arg(long, value_enum, default_value = "classic")]
    layout: LayoutArg,
    /// What file names, the bug and the session id follow from
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Tell everything as JSON lines on stdout, the report last
    #[arg(long)]
    pub json: bool,
    /// Show the browser's window
    #[arg(long)]
    headed: bool,
    /// Leave the temporary folder with project, journal and log
    #[arg(long)]
    keep: bool,
    /// Take one guard away on purpose; ends non-zero and names what was violated
    #[arg(long = "break", value_enum, value_name = "GUARD")]
    sabotage: Option<Break>,
    /// Send ourselves a SIGINT after this record; for tests
    #[arg(long, value_name = "N", hide = true)]
    interrupt_at: Option<u64>,
    /// Only lay out project, scenario and request in this folder; for tests
    #[arg(long, value_name = "DIR", hide = true)]
    lay_out: Option<PathBuf>,
    /// The browser program; else the first known one on PATH
    #[arg(
        long,
        value_name = "PROGRAM",
        env = "BRB_BROWSER",
        hide_env_values = true
    )]
    browser: Option<PathBuf>,
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    limits: LimitFlags,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum LayoutArg {
    Classic,
    Keyed,
}

pub(super) fn main(args: DemoArgs) -> Result<u8, Failure> {
    args.common.log_to(None)?;
    if let Some(folder) = &args.lay_out {
        return demo::lay_out(folder, args.seed)
            .map(|()| 0)
            .map_err(setting);
    }
    let exe = std::env::current_exe().map_err(|error| {
        Failure::of(
            Code::Agent,
            format!("finding the program itself failed: {error}"),
        )
    })?;
    let json = args.json;
    let options = DemoOptions {
        layout: match args.layout {
            LayoutArg::Classic => "classic",
            LayoutArg::Keyed => "keyed",
        }
        .to_owned(),
        seed: args.seed,
        sid: ids::sid_from_seed(args.seed),
        headed: args.headed,
        keep: args.keep,
        sabotage: args.sabotage,
        interrupt_at: args.interrupt_at,
        limits: args.limits.limits()?,
        exe,
        browser: args.browser,
    };
    let report = signals::block_on(play(options, Told::new(json, None)))?;
    tell(&report, json);
    Ok(report.exit)
}

async fn play(options: DemoOptions, mut told: Told) -> Result<DemoReport, Failure> {
    let signals = signals::listen()?;
    let asked = told.approver();
    demo::run(options, asked, signals, &mut told)
        .await
        .map_err(|error| match error {
            DemoError::Start(error) => error.into(),
            DemoError::Setting(_) => setting(error),
        })
}

fn setting(error: DemoError) -> Failure {
    Failure::new(
        Code::Config,
        error,
        "Run `scripts/demo`, which installs what is missing, or `brb doctor`.",
    )
}

fn tell(report: &DemoReport, json: bool) {
    let mut out = std::io::stdout().lock();
    let text = if json {
        let line = serde_json::json!({ "schema_version": 1, "event": "demo", "report": report });
        format!("{line}\n")
    } else {
        crate::agent::quote::harmless(&report.told())
    };
    // Who closed stdout wants no report; the exit number tells it anyway.
    let _ = out.write_all(text.as_bytes());
}
