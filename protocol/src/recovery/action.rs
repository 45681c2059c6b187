//! What a row does, and what it costs.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::facts::{Facts, Lost};

/// What is done about the facts, until the next question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Stop with the error.
    Throw,
    /// Stop.
    Stop,
    /// Give up to manual recovery.
    GiveUp,
    /// Send nothing, let the agent settle within its limit, record it.
    Hold,
    /// Find the conversation and read the whole thread.
    Discover,
    /// Attach to the tab anew, then discover.
    Reattach,
    /// Read and wait for the reply to the send in flight; for an unknown send,
    /// look for its turn over the settle window first (W13).
    Read,
    /// Read again, wait, take a better source.
    ReadAgain,
    /// Wait until the page is idle, under the running reply's deadline.
    WaitIdle,
    /// Carry the accepted plan out once, through `may_execute()`.
    Execute,
    /// Send the message in flight, proven not sent, through `may_send()`, where
    /// its anchor stands last (S8).
    SendAgain,
    /// Send what the fold says is owed, through `may_send()`.
    SendOwed,
    /// Send RESUME when the page is idle.
    Resume,
    /// Send RESYNC when the page is idle.
    Resync,
}

//= spec RP4
/// A budget that a recovery draws on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cost {
    /// A re-attach.
    Reattach,
    /// A read.
    Read,
    /// A RESUME.
    Resume,
    /// A RESYNC.
    Resync,
}

impl Cost {
    //= spec RP4
    /// Whether it counts against the session's total too.
    pub fn counts_in_total(self) -> bool {
        match self {
            Self::Reattach | Self::Resume | Self::Resync => true,
            Self::Read => false,
        }
    }
}

impl Action {
    /// Every action.
    pub const ALL: [Self; 14] = [
        Self::Throw,
        Self::Stop,
        Self::GiveUp,
        Self::Hold,
        Self::Discover,
        Self::Reattach,
        Self::Read,
        Self::ReadAgain,
        Self::WaitIdle,
        Self::Execute,
        Self::SendAgain,
        Self::SendOwed,
        Self::Resume,
        Self::Resync,
    ];

    /// Whether it types into the page.
    pub fn sends(self) -> bool {
        match self {
            Self::SendAgain | Self::SendOwed | Self::Resume | Self::Resync => true,
            Self::Throw
            | Self::Stop
            | Self::GiveUp
            | Self::Hold
            | Self::Discover
            | Self::Reattach
            | Self::Read
            | Self::ReadAgain
            | Self::WaitIdle
            | Self::Execute => false,
        }
    }

    /// Whether the run ends here.
    pub fn stops(self) -> bool {
        match self {
            Self::Throw | Self::Stop | Self::GiveUp => true,
            Self::Hold
            | Self::Discover
            | Self::Reattach
            | Self::Read
            | Self::ReadAgain
            | Self::WaitIdle
            | Self::Execute
            | Self::SendAgain
            | Self::SendOwed
            | Self::Resume
            | Self::Resync => false,
        }
    }

    //= spec RP4
    /// What it costs in these circumstances. A discovery is a re-attach after a
    /// lost link or page, else a read; reading and waiting are reads; holding,
    /// executing and a send that is owed, or proven not sent, are free: they
    /// have bounds of their own (agent_s, K5, S6).
    pub fn cost(self, facts: &Facts) -> Option<Cost> {
        match self {
            Self::Throw
            | Self::Stop
            | Self::GiveUp
            | Self::Hold
            | Self::Execute
            | Self::SendAgain
            | Self::SendOwed => None,
            Self::Discover => Some(match facts.lost {
                Lost::Link | Lost::Page => Cost::Reattach,
                Lost::Nothing | Lost::Browser | Lost::Relay | Lost::Journal => Cost::Read,
            }),
            Self::Reattach => Some(Cost::Reattach),
            Self::Read | Self::ReadAgain | Self::WaitIdle => Some(Cost::Read),
            Self::Resume => Some(Cost::Resume),
            Self::Resync => Some(Cost::Resync),
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Throw => "stop with the error",
            Self::Stop => "stop",
            Self::GiveUp => "give up to manual recovery",
            Self::Hold => "hold: send nothing, let the agent settle",
            Self::Discover => "discover",
            Self::Reattach => "re-attach, then discover",
            Self::Read => "read and wait",
            Self::ReadAgain => "read again, wait, take a better source",
            Self::WaitIdle => "wait for idle",
            Self::Execute => "execute the accepted plan once",
            Self::SendAgain => "send what is proven not sent",
            Self::SendOwed => "send what is owed",
            Self::Resume => "RESUME when idle",
            Self::Resync => "RESYNC when idle",
        })
    }
}
