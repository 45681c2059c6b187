//! `brb undo`: the work folder as it was before a round's plan.

use std::{fmt::Write as _, path::Path};

use clap::Args;

use super::{
    Common,
    diff::{kept_failure, workspace},
    failure::Failure,
    out, session,
};
use crate::{
    agent::{quote::one_line, undo},
    journal::locks::{Lock, LockError, Subject},
};

/// Put the work folder back to what it was before a round's plan ran
///
/// What stands in it now is kept under a git ref first. The conversation is not changed.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  brb diff 00112233 1      look first\n  brb undo 00112233 1")]
pub(super) struct UndoArgs {
    /// The session, or the beginning of its id
    #[arg(value_name = "SID")]
    sid: String,
    /// The round
    #[arg(value_name = "R")]
    round: u32,
    #[command(flatten)]
    common: Common,
}

pub(super) fn main(args: &UndoArgs) -> Result<u8, Failure> {
    let place = args.common.quiet_place()?;
    let sid = session::find(&place, Some(&args.sid))?;
    if let Some(by) = Lock::session_holder(&place.session(&sid))? {
        let subject = Subject::Session;
        let by = by.into();
        return Err(LockError::Held { subject, by }.into());
    }
    let workspace = workspace(&place, &sid)?;
    let undone = undo::undo(
        &place.state,
        Path::new(&workspace),
        sid.as_str(),
        args.round,
    )
    .map_err(kept_failure)?;
    let mut text = String::new();
    let paths = undone.restored.iter().map(|path| ("restored", path));
    for (what, path) in paths.chain(undone.removed.iter().map(|path| ("removed", path))) {
        let _ = writeln!(text, "{what} {}", one_line(&path.display().to_string()));
    }
    if text.is_empty() {
        text.push_str("nothing differs\n");
    }
    let _ = writeln!(text, "what stood there before is kept as {}", undone.kept);
    out::print(&text)?;
    Ok(0)
}
