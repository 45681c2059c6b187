//! `brb run`: one request, relayed to its end.

mod again;
mod agent;
mod kept;

use std::{
    io::{IsTerminal, stderr, stdin},
    path::PathBuf,
};

use clap::Args;
use protocol::{id::Sid, message::Objective};

use self::agent::AgentArgs;
pub(super) use self::kept::Kept;
use super::{
    Common, browser::BrowserArgs, failure::Failure, limits::LimitFlags, report, request, signals,
    told::Told,
};
use crate::{
    ids,
    place::Place,
    run::{self, Parts},
    start::{self, Held, Setup},
};

/// Relay a request to the model behind the chat page and carry its plans out, round by round
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  brb run \"Fix the failing test\"                       start a browser, ask before each command
  brb run --request-file task.md --approve workspace   no questions; the sandbox ends at the folder
  git diff | brb run - --approve read-only             the request from stdin
  brb run \"Go on\" --attach http://127.0.0.1:9222 --chat https://chatgpt.com/c/…
  brb run --continue                                   what was killed or interrupted in this folder
  brb run \"Tidy up\" --agent command --agent-cmd \"my-agent --plan -\"")]
pub(super) struct RunArgs {
    /// What is to be done; `-` reads it from stdin
    #[arg(value_name = "REQUEST", required_unless_present_any = ["request_file", "go_on"])]
    request: Option<String>,
    /// Go on with a session that was killed or interrupted: SID, or the one of this folder
    ///
    /// Request, chat, folder and limits are those it was opened with, every other option is what
    /// it was last run with unless given anew. What was sent is never sent again, what ran never
    /// runs again; a stop that a person must lift still stands.
    #[arg(
        long = "continue",
        value_name = "SID",
        num_args = 0..=1,
        conflicts_with_all = ["request", "request_file", "title"]
    )]
    go_on: Option<Option<String>>,
    /// Read the request from a file
    #[arg(long, value_name = "FILE", conflicts_with = "request")]
    request_file: Option<PathBuf>,
    /// A short neutral label for the conversation; the request itself is not in it
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// Tell everything as JSON lines on stdout
    #[arg(long)]
    pub json: bool,
    /// End at the next safe point when this file appears
    #[arg(long, value_name = "FILE")]
    stop_file: Option<PathBuf>,
    /// Divide every span of time; for tests
    #[arg(long, value_name = "N", hide = true, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    time_scale: Option<u32>,
    #[command(flatten)]
    browser: BrowserArgs,
    #[command(flatten)]
    agent: AgentArgs,
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    limits: LimitFlags,
}

pub(super) fn main(args: RunArgs) -> Result<u8, Failure> {
    if let Some(sid) = &args.go_on {
        let sid = sid.clone();
        return again::main(args, sid.as_deref());
    }
    let common = args.common.clone();
    let (json, place) = (args.json, common.place()?);
    let setup = resolve(args, &place)?;
    place.make_state().map_err(|source| {
        Failure::from(crate::journal::OpenError::Io {
            path: place.state.clone(),
            doing: "making the state folder",
            source,
        })
    })?;
    common.log_to(Some(place.log(&setup.sid)))?;
    let journal = place.journal(&setup.sid);
    signals::block_on(relay(setup, Told::new(json, Some(journal))))
}

async fn relay(setup: Setup, mut told: Told) -> Result<u8, Failure> {
    let signals = signals::listen()?;
    let sid = setup.sid.clone();
    let (parts, held) = start::begin(setup, told.approver(), signals)?;
    tracing::info!(%sid, version = env!("CARGO_PKG_VERSION"), "session opened");
    Ok(relay_parts(parts, held, &sid, &mut told).await)
}

async fn relay_parts(parts: Parts, held: Held, sid: &Sid, told: &mut Told) -> u8 {
    let ending = run::run(parts, told).await;
    tracing::info!(%sid, outcome = %ending.stop.outcome, exit = ending.exit(), "run over");
    report::keep(&held.folder);
    drop(held);
    ending.exit()
}

fn resolve(args: RunArgs, place: &Place) -> Result<Setup, Failure> {
    let limits = args.limits.limits()?;
    let objective = objective(args.title.as_deref())?;
    let from = match (&args.request, &args.request_file) {
        (_, Some(path)) => request::From::File(path),
        (Some(text), None) if text != "-" => request::From::Argument(text),
        (Some(_) | None, None) => request::From::Stdin,
    };
    let kept = Kept::of(&args)?;
    let endpoint = kept.browser.endpoint(place)?;
    let (chat, tab) = (args.browser.address()?, args.browser.target()?);
    let terminal = is_terminal();
    let scaled = limits.scaled(kept.scale());
    let cwd = args.agent.cwd.clone().unwrap_or_else(|| PathBuf::from("."));
    let agent = kept.agent.settings(cwd, &scaled, place, &kept.browser)?;
    let request = request::read(from, limits.request_len_max)?;
    kept.agent.check_terminal(terminal)?;
    Ok(Setup {
        sid: ids::sid(),
        request,
        objective,
        chat,
        endpoint,
        tab,
        agent,
        limits,
        time_scale: kept.scale(),
        state_dir: place.state.clone(),
        keep_browser: kept.browser.keep_browser,
        stop_file: kept.stop_file.clone(),
        terminal,
        options: Some(kept.text()),
        sabotage: None,
        interrupt_at: None,
    })
}

fn is_terminal() -> bool {
    stdin().is_terminal() && stderr().is_terminal()
}

//= spec W8
fn objective(title: Option<&str>) -> Result<Objective, Failure> {
    match title {
        None => Ok(Objective::default()),
        Some(title) => Objective::parse(title).map_err(|error| {
            Failure::usage(
                format!("the title cannot be used: {error}"),
                "Give one line of at most 200 characters, without blanks around it.",
            )
        }),
    }
}
