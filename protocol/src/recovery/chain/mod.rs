//! The chain: what the conversation's own history says.
//!
//! Two pure functions over the turns of a complete reading. [`hold`] holds them
//! against a journal: every turn after HELLO's anchor has to be one that the
//! journal knows, in its order. [`read`] does without a journal: from the messages
//! alone it tells which plans settled, and what cannot be told.

mod hold;
mod read;

pub use hold::{Standing, hold};
pub use read::{Exchange, History, Segment, Sources, read};

use std::fmt;

use crate::id::{Round, SendId};

/// Why a complete reading cannot be squared with the journal, or with itself.
//= spec RP3
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Conflict {
    /// The turn after which HELLO was sent is not there.
    AnchorMissing,
    /// A message that is proven sent is not there.
    Missing {
        /// Which.
        send: SendId,
    },
    /// A reply that was judged is not there.
    ReplyMissing {
        /// To which message.
        send: SendId,
    },
    /// Another reply stands in place of the one that was judged.
    Regenerated {
        /// To which message.
        send: SendId,
    },
    /// A message of this session stands there that the journal does not know.
    NotInJournal,
    /// A message stands there that a person attested as not sent.
    AttestedWrongly {
        /// Which.
        send: SendId,
    },
    /// Another session speaks after our HELLO.
    ForeignSid,
    /// Somebody else wrote after our HELLO.
    ForeignTurn,
    /// Two replies to one message, or a reply to none.
    TwoReplies,
    /// A second HELLO of the same session.
    SecondHello,
    /// A round stands there twice in one segment.
    RoundRepeated {
        /// The round.
        round: Round,
    },
    /// A round lower than the one before.
    RoundBack {
        /// The round.
        round: Round,
    },
    /// A round was left out.
    RoundJump {
        /// The round.
        round: Round,
    },
    /// `p=` names no plan that can have settled just before.
    PrevUnmatched {
        /// In which round.
        round: Round,
    },
    /// A RESUME names an earlier checkpoint than the one confirmed before it.
    CheckpointBack,
    /// `q=` names another request.
    OtherRequest {
        /// In which round.
        round: Round,
    },
}

impl Conflict {
    /// Whether it rests on something not being there, which a page may yet show.
    pub fn is_absence(&self) -> bool {
        match self {
            Self::AnchorMissing | Self::Missing { .. } | Self::ReplyMissing { .. } => true,
            Self::Regenerated { .. }
            | Self::NotInJournal
            | Self::AttestedWrongly { .. }
            | Self::ForeignSid
            | Self::ForeignTurn
            | Self::TwoReplies
            | Self::SecondHello
            | Self::RoundRepeated { .. }
            | Self::RoundBack { .. }
            | Self::RoundJump { .. }
            | Self::PrevUnmatched { .. }
            | Self::CheckpointBack
            | Self::OtherRequest { .. } => false,
        }
    }
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AnchorMissing => {
                f.write_str("the turn before our first message is missing from the conversation")
            }
            Self::Missing { send } => write!(
                f,
                "message {send}, which was sent, is missing from the conversation"
            ),
            Self::ReplyMissing { send } => write!(
                f,
                "the reply to message {send} is missing from the conversation"
            ),
            Self::Regenerated { send } => {
                write!(f, "the reply to message {send} was replaced by another one")
            }
            Self::NotInJournal => {
                f.write_str("a message of this session stands there that its journal does not know")
            }
            Self::AttestedWrongly { send } => write!(
                f,
                "message {send}, attested as not sent, stands in the conversation"
            ),
            Self::ForeignSid => f.write_str("another session speaks in this conversation"),
            Self::ForeignTurn => {
                f.write_str("something else stands where our message belongs, or after it")
            }
            Self::TwoReplies => f.write_str("two replies stand where one belongs"),
            Self::SecondHello => f.write_str("the session was opened twice in this conversation"),
            Self::RoundRepeated { round } => write!(f, "round {round} stands there twice"),
            Self::RoundBack { round } => write!(f, "round {round} follows a later one"),
            Self::RoundJump { round } => write!(f, "a round before round {round} is missing"),
            Self::PrevUnmatched { round } => {
                write!(f, "round {round} names a plan that cannot have settled")
            }
            Self::CheckpointBack => f.write_str("a RESUME goes behind a confirmed checkpoint"),
            Self::OtherRequest { round } => write!(f, "round {round} names another request"),
        }
    }
}

#[cfg(test)]
mod tests;
