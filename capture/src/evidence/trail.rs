//! The trail: what was seen and when, for explanations and recordings.

use std::collections::VecDeque;

use protocol::page::{Epoch, TurnId};
use protocol::reply::EndWitness;
use protocol::time::Millis;

/// Entries kept; the oldest go first.
const TRAIL_MAX: usize = 512;

/// One thing seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    /// When, on the relay's clock.
    pub at: Millis,
    /// In which epoch.
    pub epoch: Epoch,
    /// What.
    pub what: Seen,
}

/// What was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Seen {
    /// A new epoch began.
    Epoch,
    /// The attachment ended.
    Lost,
    /// Our own turn stands under a settled id.
    OwnTurn(TurnId),
    /// The reply's text changed; entries in a row are kept as the last one.
    Text {
        /// How many characters are shown.
        chars: u32,
    },
    /// The finished-action bar came or went.
    Bar(bool),
    /// Nothing more comes, says the server.
    End(EndWitness),
    /// The page's own copy was taken.
    Copy {
        /// How many characters.
        chars: u32,
    },
    /// A foreign hand.
    Interference,
    /// The reply is to be read once more.
    ReadAgain,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Trail(VecDeque<Trace>);

impl Trail {
    pub(crate) fn push(&mut self, at: Millis, epoch: Epoch, what: Seen) {
        if let (Some(last), Seen::Text { .. }) = (self.0.back_mut(), &what)
            && matches!(last.what, Seen::Text { .. })
            && last.epoch == epoch
        {
            *last = Trace { at, epoch, what };
            return;
        }
        if self.0.len() == TRAIL_MAX {
            self.0.pop_front();
        }
        self.0.push_back(Trace { at, epoch, what });
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Trace> {
        self.0.iter()
    }
}
