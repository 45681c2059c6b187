//! `brb diff`: what changed in the work folder since before a round's plan.

use std::{io::IsTerminal, path::Path};

use clap::Args;
use protocol::id::Sid;

use super::{Common, failure::Failure, out, session};
use crate::{
    agent::{AgentError, quote::harmless, undo},
    index,
    place::Place,
};

/// Show what changed in the work folder since before a round's plan ran
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  brb diff 00112233 1\n  brb diff 00112233        since before the last plan\n  brb diff 00112233 1 > round.patch"
)]
pub(super) struct DiffArgs {
    /// The session, or the beginning of its id
    #[arg(value_name = "SID")]
    sid: String,
    /// The round; without one, the last that has a kept state
    #[arg(value_name = "R")]
    round: Option<u32>,
    #[command(flatten)]
    common: Common,
}

pub(super) fn main(args: &DiffArgs) -> Result<u8, Failure> {
    let place = args.common.quiet_place()?;
    let sid = session::find(&place, Some(&args.sid))?;
    let workspace = workspace(&place, &sid)?;
    let round = match args.round {
        Some(round) => round,
        None => last_kept(Path::new(&workspace), &sid)?,
    };
    let patch = undo::diff(Path::new(&workspace), sid.as_str(), round).map_err(kept_failure)?;
    if std::io::stdout().is_terminal() {
        // A patch is what a plan wrote: a terminal gets it without escapes.
        out::print(&harmless(&String::from_utf8_lossy(&patch)))?;
    } else {
        out::print_bytes(&patch)?;
    }
    Ok(0)
}

/// The folder in which the session's plans were carried out.
pub(super) fn workspace(place: &Place, sid: &Sid) -> Result<String, Failure> {
    let (_, state) = index::read(&place.session(sid))?;
    Ok(state
        .opened
        .map(|opened| opened.workspace)
        .unwrap_or_default())
}

fn last_kept(workspace: &Path, sid: &Sid) -> Result<u32, Failure> {
    let rounds = undo::rounds(workspace, sid.as_str())?;
    rounds.last().copied().ok_or_else(|| {
        Failure::usage(
            format!("no state of the work folder is kept for session {sid}"),
            "A state is kept before each plan, in git work folders without `--no-undo`.",
        )
    })
}

/// Nothing kept for a round is the person's slip, not the machine's.
pub(super) fn kept_failure(error: AgentError) -> Failure {
    if let AgentError::Git { said, .. } = &error
        && said.starts_with("nothing is kept")
    {
        return Failure::usage(said, "See `brb status` for the session's rounds.");
    }
    error.into()
}
