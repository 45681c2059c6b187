//! `brb run --continue`: which session is meant, what it was opened with, and on with it.

use std::path::{Path, PathBuf};

use protocol::{
    fault::Code,
    id::Sid,
    record::{Opened, State},
};

use super::{Kept, RunArgs, is_terminal, relay_parts};
use crate::{
    cli::{browser::check_address, failure::Failure, session, signals, told::Told},
    clock,
    index::{self, Listed, Standing, Summary},
    journal::locks::Lock,
    place::Place,
    start::{self, Setup, Taken},
};

pub(super) fn main(args: RunArgs, sid: Option<&str>) -> Result<u8, Failure> {
    let common = args.common.clone();
    let (json, place) = (args.json, common.place()?);
    let sid = match sid {
        Some(text) => session::find(&place, Some(text))?,
        None => of_this_folder(&place, args.agent.cwd.as_deref())?,
    };
    common.log_to(Some(place.log(&sid)))?;
    let taken = Taken::take(&place.state, &sid)?;
    let kept = Kept::of(&args)?.or(Kept::read(&taken.folder));
    let setup = setup(&args, &kept, &place, &taken.state)?;
    let told = Told::new(json, Some(place.journal(&sid)));
    signals::block_on(go_on(taken, setup, told))
}

async fn go_on(taken: Taken, setup: Setup, mut told: Told) -> Result<u8, Failure> {
    let signals = signals::listen()?;
    let sid = setup.sid.clone();
    let left = (!setup.keep_browser).then(|| setup.endpoint.clone());
    if let Some(mended) = taken.mended {
        told.warning(Code::Journal, mended);
    }
    let exit = if taken.is_over() {
        told.over(&taken.state)
    } else {
        let (parts, held) = taken.go_on(setup, told.approver(), signals)?;
        tracing::info!(%sid, version = env!("CARGO_PKG_VERSION"), "session goes on");
        relay_parts(parts, held, &sid, &mut told).await
    };
    // A browser that an earlier process left behind is nobody's by now.
    if let Some(endpoint) = left {
        start::close_left(&endpoint).await;
    }
    Ok(exit)
}

/// What the session was opened with, and what of the rest is kept or given anew.
fn setup(args: &RunArgs, kept: &Kept, place: &Place, state: &State) -> Result<Setup, Failure> {
    let opened = state.opened.as_ref().ok_or_else(|| {
        Failure::of(
            Code::Journal,
            "the journal does not begin with the session's opening",
        )
    })?;
    agrees(args, opened)?;
    let scaled = opened.limits.scaled(kept.scale());
    let workspace = PathBuf::from(&opened.workspace);
    let agent = kept
        .agent
        .settings(workspace, &scaled, place, &kept.browser)?;
    let terminal = is_terminal();
    kept.agent.check_terminal(terminal)?;
    Ok(Setup {
        sid: opened.sid().clone(),
        request: opened.request.as_str().to_owned(),
        objective: opened.offer.objective.clone(),
        chat: opened.chat.clone(),
        endpoint: kept.browser.endpoint(place)?,
        tab: args.browser.target()?,
        agent,
        limits: opened.limits.clone(),
        time_scale: kept.scale(),
        state_dir: place.state.clone(),
        keep_browser: kept.browser.keep_browser,
        stop_file: kept.stop_file.clone(),
        terminal,
        options: None,
        sabotage: None,
        interrupt_at: None,
    })
}

/// What was opened cannot be changed by going on: an option that says otherwise is refused.
fn agrees(args: &RunArgs, opened: &Opened) -> Result<(), Failure> {
    let differs = |option: &str, was: &str| {
        Failure::usage(
            format!("{option} says otherwise than the session was opened with ({was})"),
            "Leave it out to go on, or begin a new session in a new conversation.",
        )
    };
    if let Some(chat) = &args.browser.chat {
        check_address(chat)?;
        if *chat != opened.chat {
            return Err(differs("--chat", &opened.chat));
        }
    }
    if let Some(cwd) = &args.agent.cwd
        && canonical(cwd) != Path::new(&opened.workspace)
    {
        return Err(differs("--cwd", &opened.workspace));
    }
    match args.limits.other_than(&opened.limits) {
        Some((flag, was)) => Err(differs(&flag, &was.to_string())),
        None => Ok(()),
    }
}

fn canonical(folder: &Path) -> PathBuf {
    std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned())
}

/// The one session that can be gone on with in this folder. One that waits for a person is
/// meant only where no other is.
fn of_this_folder(place: &Place, cwd: Option<&Path>) -> Result<Sid, Failure> {
    let folder = canonical(cwd.unwrap_or(Path::new(".")));
    let all = index::list(place).map_err(|error| {
        let what = format!("reading {} failed: {error}", place.state.display());
        Failure::of(Code::Journal, what)
    })?;
    let here = |listed: &&Listed| match &listed.summary {
        Ok(summary) => Path::new(&summary.workspace) == folder,
        Err(_) => false,
    };
    let here: Vec<(&Sid, &Summary)> = all
        .iter()
        .filter(here)
        .filter_map(|listed| Some((&listed.sid, listed.summary.as_ref().ok()?)))
        .collect();
    let newest = here.first().filter(|(sid, _)| ends_untold(place, sid));
    let (open, waiting): (Vec<_>, Vec<_>) = here
        .iter()
        .filter(|(_, summary)| summary.standing != Standing::Done)
        .partition(|(_, summary)| is_open(&summary.standing));
    if let ([], None, Some((sid, _))) = (open.as_slice(), waiting.first(), newest) {
        return Ok((*sid).clone());
    }
    match (open.as_slice(), waiting.first()) {
        ([(sid, _)], _) => Ok((*sid).clone()),
        // They are listed the newest first.
        ([], Some((sid, _))) => Ok((*sid).clone()),
        ([], None) => Err(Failure::usage(
            format!("no session in {} can be gone on with", folder.display()),
            "See `brb list` for those of other folders, or begin one with `brb run`.",
        )),
        (several, _) => Err(Failure::usage(
            format!(
                "{} sessions in {} can be gone on with: {}",
                several.len(),
                folder.display(),
                listed(several, place)
            ),
            "Name one: `brb run --continue SID`.",
        )),
    }
}

/// Whether the remote said `done` and the run was killed before it told its end.
fn ends_untold(place: &Place, sid: &Sid) -> bool {
    let read = index::read(&place.session(sid));
    read.is_ok_and(|(_, state)| state.is_closed() && state.stop.is_none())
}

fn is_open(standing: &Standing) -> bool {
    match standing {
        Standing::Open { .. } => true,
        Standing::Done | Standing::Stopped { .. } => false,
    }
}

fn listed(sessions: &[(&Sid, &Summary)], place: &Place) -> String {
    let now = clock::wall();
    let said: Vec<String> = sessions
        .iter()
        .map(|(sid, summary)| {
            let running = matches!(Lock::session_holder(&place.session(sid)), Ok(Some(_)));
            let ago = clock::span(now.0.saturating_sub(summary.last.0));
            let running = if running { ", running" } else { "" };
            format!("{sid} ({} rounds, {ago} ago{running})", summary.rounds)
        })
        .collect();
    said.join("; ")
}
