//! Send state: was this message submitted, and may it be submitted?
//!
//! The page cannot promise exactly-once. What can be promised is that a message
//! is never submitted while it might already have been: what is not proven
//! not-sent is treated as sent.

mod evidence;

pub use evidence::{SendEvidence, render};

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::page::{Anchor, Role, Turn, TurnId, TurnKey};
use crate::planted::{self, Bug};
use crate::wire::canonical;

/// What is known of one message's submission.
//= spec S1
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SendState {
    /// Mechanically confirmed not submitted.
    NotSent,
    /// Mechanically confirmed submitted.
    Sent,
    /// Cannot be told: treated as sent, never submitted again.
    Unknown,
}

impl SendState {
    /// The one question before any submit: true for a proven not-sent alone.
    //= spec S6
    pub fn may_send(self) -> bool {
        match self {
            Self::NotSent => true,
            Self::Unknown => planted::is(Bug::ResendOnUnknown),
            Self::Sent => false,
        }
    }

    /// Whether `to` may follow on evidence: an unknown rises to sent only, a
    /// proven state stays.
    //= spec S5
    pub const fn may_become(self, to: Self) -> bool {
        match (self, to) {
            (Self::Unknown, Self::Sent) => true,
            (Self::NotSent, Self::Sent | Self::Unknown | Self::NotSent) => true,
            (Self::Sent, _) | (Self::Unknown, Self::Unknown | Self::NotSent) => false,
        }
    }
}

impl fmt::Display for SendState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotSent => "not-sent",
            Self::Sent => "sent",
            Self::Unknown => "unknown",
        })
    }
}

/// What kind of message a send is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum SendKind {
    /// The opening handshake.
    Hello,
    /// A round: the request, or the receipt of the last plan.
    Round,
    /// The same round again, naming what was wrong with the reply.
    Repair,
    /// Go on from a checkpoint; the contract did not change.
    Resume,
    /// The handshake once more in the same conversation.
    Resync,
}

impl SendKind {
    /// Every kind.
    pub const ALL: [Self; 5] = [
        Self::Hello,
        Self::Round,
        Self::Repair,
        Self::Resume,
        Self::Resync,
    ];

    /// A ROUND or a REPAIR: its reply is a plan.
    pub const fn is_task(self) -> bool {
        match self {
            Self::Round | Self::Repair => true,
            Self::Hello | Self::Resume | Self::Resync => false,
        }
    }

    /// The word on the wire.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Hello => "HELLO",
            Self::Round => "ROUND",
            Self::Repair => "REPAIR",
            Self::Resume => "RESUME",
            Self::Resync => "RESYNC",
        }
    }
}

impl fmt::Display for SendKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// Where our message stands in a thread, relative to its anchor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Located {
    /// The anchor is the last turn: nothing came after it.
    AnchorLast,
    /// The anchor is not among these turns: nothing can be said.
    AnchorUnseen,
    /// Our whole text stands right after the anchor.
    Ours {
        /// Its settled id; none while the page shows it under an id of its own.
        turn: Option<TurnId>,
        /// Its index in the turns.
        at: usize,
    },
    /// Something else stands right after the anchor.
    Foreign {
        /// Its settled id.
        turn: Option<TurnId>,
        /// Its index in the turns.
        at: usize,
        /// Who wrote it.
        role: Role,
    },
}

/// Finds our message `text` in the visible thread: the first user turn after
/// the anchor, compared canonically and as a whole.
///
/// `from_top` tells that `turns` begins with the thread's first turn; without
/// it an empty anchor cannot be located (**ours**: a tail that merely begins
/// with our text proves nothing).
//= spec C1
//= spec S3
pub fn locate(turns: &[Turn], from_top: bool, anchor: &Anchor, text: &str) -> Located {
    let start = match anchor {
        Anchor::Empty if from_top => 0,
        Anchor::Empty => return Located::AnchorUnseen,
        Anchor::After(id) => {
            match turns
                .iter()
                .rposition(|turn| turn.key.settled() == Some(id))
            {
                Some(at) => at + 1,
                None => return Located::AnchorUnseen,
            }
        }
    };
    let Some(next) = turns.get(start) else {
        return Located::AnchorLast;
    };
    let id = next.key.settled().cloned();
    match next.role {
        Role::User if is_ours(next, text) => Located::Ours {
            turn: id,
            at: start,
        },
        Role::User | Role::Assistant => {
            // An assistant's unsettled placeholder alone is no turn: S8 counts
            // an error card without a settled id as nothing.
            let only_unsettled = turns[start..]
                .iter()
                .all(|turn| turn.role == Role::Assistant && turn.key == TurnKey::Provisional);
            if only_unsettled {
                Located::AnchorLast
            } else {
                Located::Foreign {
                    turn: id,
                    at: start,
                    role: next.role,
                }
            }
        }
    }
}

/// Whether a user turn is our whole text. Where the page shows only a head of
/// it, the shown head must be a prefix that covers our fixed head lines.
//= spec S3
pub fn is_ours(turn: &Turn, text: &str) -> bool {
    let ours = canonical(text);
    let shown = canonical(turn.text.as_str());
    if shown == ours {
        return true;
    }
    if planted::is(Bug::FrameOnly) && shown.lines().nth(1) == ours.lines().nth(1) {
        return true;
    }
    if !turn.clamped {
        return false;
    }
    let head = head_lines(&ours);
    shown.len() >= head.len()
        && ours.starts_with(shown.trim_end_matches(['…', '.']).trim_end())
        && shown.starts_with(head)
}

/// The fixed head of a message: everything up to its first blank line, or the
/// whole of it.
fn head_lines(text: &str) -> &str {
    text.split_once("\n\n").map_or(text, |(head, _)| head)
}

#[cfg(test)]
mod tests;
