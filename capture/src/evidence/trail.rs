//! The trail: what was seen, when, on which turn and by which source, for
//! explanations and recordings. It is only appended to.

use std::collections::VecDeque;

use protocol::page::{Epoch, TurnId};
use protocol::reply::EndWitness;
use protocol::time::Millis;

use crate::limits::TRAIL_MAX;

/// One thing seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    /// When, on the relay's clock.
    pub at: Millis,
    /// When, on the page's own clock; none for what the page did not tell.
    pub page_ms: Option<u64>,
    /// In which epoch.
    pub epoch: Epoch,
    /// On which turn, where it has a settled id.
    pub turn: Option<TurnId>,
    /// By which source.
    pub source: Origin,
    /// What.
    pub what: Seen,
}

/// Where something that was seen came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// A look at the page.
    Page,
    /// The page's own copy.
    Copy,
    /// The stream of our own message.
    Stream,
    /// The data that the page fetched.
    Data,
    /// The driver, of the attachment itself.
    Driver,
    /// The relay, of its own accord.
    Relay,
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
    /// The page fetched data of our reply.
    Fetched {
        /// They say that it is finished.
        finished: bool,
    },
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

impl Seen {
    /// Where it came from.
    pub(crate) fn origin(&self) -> Origin {
        match self {
            Self::Epoch | Self::Lost => Origin::Driver,
            Self::OwnTurn(_) | Self::Text { .. } | Self::Bar(_) | Self::Interference => {
                Origin::Page
            }
            Self::End(_) => Origin::Stream,
            Self::Fetched { .. } => Origin::Data,
            Self::Copy { .. } => Origin::Copy,
            Self::ReadAgain => Origin::Relay,
        }
    }
}

impl Trail {
    pub(crate) fn push(&mut self, trace: Trace) {
        if let (Some(last), Seen::Text { .. }) = (self.0.back_mut(), &trace.what)
            && matches!(last.what, Seen::Text { .. })
            && last.epoch == trace.epoch
        {
            *last = trace;
            return;
        }
        if self.0.len() == TRAIL_MAX {
            self.0.pop_front();
        }
        self.0.push_back(trace);
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Trace> {
        self.0.iter()
    }
}
