//! What the planner sees, and all it sees.
//!
//! Facts are computed by pure functions from the fold of the journal and the
//! last discovery. Each is a small enum, so that every combination can be
//! walked.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A fact's type: its name and all its values, in the order of the table.
pub trait Fact: Copy + Eq + fmt::Display + 'static {
    /// The name in tables, reports and records.
    const NAME: &'static str;
    /// Every value.
    const ALL: &'static [Self];
}

macro_rules! facts {
    ($($(#[$doc:meta])* $name:ident, $field:ident, $label:literal {
        $($(#[$value_doc:meta])* $value:ident = $word:literal,)*
    })*) => {
        $(
            $(#[$doc])*
            #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
            pub enum $name {
                $($(#[$value_doc])* #[serde(rename = $word)] $value,)*
            }

            impl Fact for $name {
                const NAME: &'static str = $label;
                const ALL: &'static [Self] = &[$(Self::$value,)*];
            }

            impl fmt::Display for $name {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    f.pad(match self { $(Self::$value => $word,)* })
                }
            }
        )*

        //= spec RP1
        /// All facts of one moment.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub struct Facts {
            $($(#[$doc])* pub $field: $name,)*
        }

        impl Facts {
            /// Names and values, in the order of the table.
            pub fn named(&self) -> [(&'static str, String); Self::COUNT] {
                [$((<$name as Fact>::NAME, self.$field.to_string()),)*]
            }

            /// How many facts there are.
            pub const COUNT: usize = [$(<$name as Fact>::NAME,)*].len();
        }
    };
}

facts! {
    /// Whether this is no stall at all: our own code, a parser, an invariant.
    Defect, defect, "defect" {
        /// Nothing of that kind.
        No = "no",
        /// Our own code failed one of its checks, or a record could not be stored.
        Yes = "yes",
    }
    /// Whether the run may go on at all.
    Boundary, boundary, "boundary" {
        /// Nothing stands in the way.
        Clear = "clear",
        /// A limit of RP5 is hit, a stop stands (RP7), or the session is closed.
        Hit = "hit",
        /// A signal or the stop file asks for the end **(ours: told apart from
        /// `hit`, because RP1 lets a running plan settle before the one and not
        /// before the other)**.
        Asked = "asked",
    }
    /// Whether the page asks for a person. A mere suspicion is no blocker: the
    /// reply is unproven then.
    Blocker, blocker, "blocker" {
        /// Not known to.
        None = "none",
        /// Challenge, logout, limit or account, confirmed.
        Confirmed = "confirmed",
    }
    /// How far the execution of the last plan has got; settled folds to `none`.
    Run, run, "run" {
        /// No plan waits or runs.
        None = "none",
        /// A valid plan that would run is accepted, not started, not void.
        Accepted = "accepted",
        /// The agent is alive, also under a wrapper that outlived the relay.
        Running = "running",
        /// In doubt: started, not settled, no exit record, no live wrapper, and
        /// it may have effects.
        Started = "started",
        /// The journal is lost and a plan that would run stands after the last
        /// checkpoint.
        Unconfirmed = "unconfirmed",
    }
    /// Whether the last checkpoint is proven; unproven only with the journal lost.
    Checkpoint, checkpoint, "checkpoint" {
        /// By the journal, or by keys that recompute from the Markdown source.
        Proven = "proven",
        /// A key did not recompute.
        Unproven = "unproven",
    }
    /// What the last reading of the thread says.
    Chain, chain, "chain" {
        /// There is none since the last loss.
        Unread = "unread",
        /// It ended incomplete.
        Partial = "partial",
        /// It was complete and fits the journal; lasts while nothing is lost.
        Agrees = "agrees",
        /// It was complete, read twice alike, and contradicts itself or us.
        Conflicts = "conflicts",
    }
    /// What is known of the agreement with the remote.
    Handshake, handshake, "handshake" {
        /// No acknowledgement judged yet, or a control send is in flight.
        Pending = "pending",
        /// The gate holds.
        Held = "held",
        /// No valid acknowledgement can be proven, or RESUME's was invalid and
        /// RESYNC is unspent.
        Unproven = "unproven",
        /// HV, CV or CAP are not those of the handshake any more.
        Changed = "changed",
        /// RESYNC was answered and it is still inconsistent.
        Refused = "refused",
    }
    //= spec RP8
    /// Where the conversation is.
    Target, target, "target" {
        /// Not looked for yet.
        Unseen = "unseen",
        /// In our tab; before binding, the tab that we typed in.
        Here = "here",
        /// Our tab shows something else.
        Elsewhere = "elsewhere",
        /// The tab is gone, or hung and not cured; or a HELLO was typed, its
        /// conversation never bound, and its tab or epoch is lost.
        Gone = "gone",
    }
    /// The greatest loss of continuity since the last agreed discovery.
    Lost, lost, "lost" {
        /// None.
        Nothing = "nothing",
        /// The connection to the tab.
        Link = "link",
        /// The page: loaded anew, or opened again by its address.
        Page = "page",
        /// The browser.
        Browser = "browser",
        /// The relay's own memory.
        Relay = "relay",
        /// The journal.
        Journal = "journal",
    }
    /// The state of the send in flight.
    Send, send, "send" {
        /// Nothing is in flight.
        None = "none",
        /// Proven not sent.
        NotSent = "not_sent",
        /// Proven sent.
        Sent = "sent",
        /// Nobody can tell; treated as sent.
        Unknown = "unknown",
    }
    /// The reply to that send.
    Reply, reply, "reply" {
        /// Nothing is seen of it.
        None = "none",
        /// It is being written.
        Running = "running",
        /// It looks finished and is not proven.
        Unproven = "unproven",
        /// It is proven complete and not judged yet.
        Complete = "complete",
        /// An error card stands in its place, or it is truncated.
        Failed = "failed",
    }
    //= spec RP4
    /// Whether the action that the matching row would take can be paid for, and
    /// the session's total too. Computed after the row was matched without it.
    Budget, budget, "budget" {
        /// It can.
        Left = "left",
        /// It cannot.
        Spent = "spent",
    }
}

//= spec RP6
impl fmt::Display for Facts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = self.named();
        let all: Vec<_> = named
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        f.write_str(&all.join(" "))
    }
}
