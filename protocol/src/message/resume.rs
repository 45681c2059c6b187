//! RESUME: continuity was lost, the protocol did not change.

use super::{
    Terms,
    lines::{self, Lines},
};
use crate::{
    frame::{Checkpoint, parse_round},
    id::Round,
    wire::HEADER_RESUME,
};

/// What RESUME says. It resends no contract and no capabilities, and names no
/// features.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resume {
    /// The terms in force; RESUME shows no features, so read ones have none.
    pub terms: Terms,
    /// `CK`: the last confirmed checkpoint.
    pub checkpoint: Checkpoint,
    /// `NEXT`: the round to go on with.
    pub next: Round,
}

//= spec W7
//= spec W11
/// The text of RESUME.
///
/// `next` is the checkpoint's round and one ([`Checkpoint::next_round`]), save
/// after a follow-up request, where it is one more than the terminal round
/// (W14): the caller takes both from the same fold.
pub fn build(terms: &Terms, checkpoint: &Checkpoint, next: Round) -> String {
    format!(
        "{HEADER_RESUME}\n{}\nCK: {checkpoint}\nNEXT: {next}",
        lines::terms_text(terms),
    )
}

//= spec W7
/// Reads the head lines of RESUME; it has no others.
pub fn parse(text: &str) -> Option<Resume> {
    let mut lines = Lines::of(text);
    lines.expect(HEADER_RESUME)?;
    Some(Resume {
        terms: lines.terms()?,
        checkpoint: lines.value("CK")?.parse().ok()?,
        next: parse_round(lines.value("NEXT")?)?,
    })
}
