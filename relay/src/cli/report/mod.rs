//! `brb report`: what happened in a session, for somebody who was not there.
//!
//! It is made from the journal alone, also beside a relay that is writing.

mod made;
mod text;

use std::path::{Path, PathBuf};

use clap::Args;
use protocol::id::Sid;

pub(super) use self::made::{Report, trace, work_folder};
use super::{Common, failure::Failure, out, session};
use crate::{agent::record::write_durably, index};

/// The file in a session's folder that keeps the report of its last stop.
const REPORT: &str = "report.txt";

/// Report on a session: what happened, what is known, what must not be done, what a person may do
///
/// Made from the journal alone, also while a relay works on it. It names the row of the recovery
/// table with its reason, the facts, the evidence of each message with its time, what is forbidden
/// and why. Requests, messages, plans and receipts stay out unless --with-text asks for them.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  brb report                         the session worked on last\n  brb report 00112233 > report.txt   to attach to a bug report\n  brb report 00112233 --json"
)]
pub(super) struct ReportArgs {
    /// The session, or the beginning of its id; without one, the one worked on last
    #[arg(value_name = "SID")]
    sid: Option<String>,
    /// Print requests, messages, plans and receipts, too
    #[arg(long)]
    with_text: bool,
    /// One JSON object on stdout
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    common: Common,
}

pub(super) fn main(args: &ReportArgs) -> Result<u8, Failure> {
    let place = args.common.quiet_place()?;
    let sid = session::find(&place, args.sid.as_deref())?;
    let report = of(&place.state, &sid, args.with_text)?;
    if args.json {
        out::print_json(&report.value())?;
    } else {
        out::print(&report.to_string())?;
    }
    Ok(0)
}

/// The report on a session of this state folder.
pub(super) fn of(state_dir: &Path, sid: &Sid, with_text: bool) -> Result<Report, Failure> {
    let folder = state_dir.join(sid.as_str());
    let (entries, state) = index::read(&folder)?;
    Ok(Report::new(state_dir, &entries, &state, with_text))
}

/// Keeps the report beside the journal of a run that ended with a stop; nothing without one.
//= spec RP6
pub(super) fn keep(folder: &Path) -> Option<PathBuf> {
    let (entries, state) = index::read(folder).ok()?;
    state.standing_stop()?;
    let report = Report::new(folder.parent()?, &entries, &state, false);
    let path = folder.join(REPORT);
    match write_durably(&path, report.to_string().as_bytes()) {
        Ok(()) => Some(path),
        Err(error) => {
            // The journal holds all of it; `brb report` makes it anew.
            tracing::warn!(%error, "the report was not kept");
            None
        }
    }
}
