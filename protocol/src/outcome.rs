//! How a run ends, and the exit number that says so.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How a run ended. Stable: it stands in the JSON output and decides the exit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The remote said `done`; the session is closed.
    Done,
    /// Our own code failed one of its checks.
    Defect,
    /// What was asked for makes no sense; nothing was sent.
    Usage,
    /// The remote depends on something that pi cannot do.
    Blocked,
    /// A person has to decide how to go on.
    Manual,
    /// Whether a message was sent is not known; it is treated as sent.
    Unknown,
    /// The page asks for a person: challenge, logout, limit, account.
    Stopped,
    /// A boundary of this run is hit.
    Boundary,
    /// Another relay holds the journal or the conversation.
    Locked,
    /// The remote kept breaking the protocol after every REPAIR.
    Violation,
    /// Browser, tab, page, state folder or sandbox are not as needed.
    Environment,
    /// A signal or the stop file asked for the end.
    Interrupted,
}

/// The signal that ended a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Signal {
    /// SIGINT, or the stop file.
    Interrupt,
    /// SIGTERM.
    Terminate,
}

impl Outcome {
    /// All outcomes, the worst truth first.
    ///
    /// The order of unknown, manual, stopped, violation, blocked, boundary and
    /// interrupted is given; the others are placed **(ours)**: a defect right
    /// after what it may have hidden, the rest by how much was attempted.
    pub const WORST_FIRST: [Self; 12] = [
        Self::Unknown,
        Self::Manual,
        Self::Defect,
        Self::Stopped,
        Self::Violation,
        Self::Blocked,
        Self::Boundary,
        Self::Environment,
        Self::Locked,
        Self::Usage,
        Self::Interrupted,
        Self::Done,
    ];

    /// The outcome of a run of which all of these are true; `None` of nothing.
    pub fn worst(all: impl IntoIterator<Item = Self>) -> Option<Self> {
        all.into_iter().min_by_key(|outcome| outcome.rank())
    }

    fn rank(self) -> usize {
        Self::WORST_FIRST
            .iter()
            .position(|other| *other == self)
            .unwrap_or(0)
    }

    /// The word in the JSON output.
    pub fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Defect => "defect",
            Self::Usage => "usage",
            Self::Blocked => "blocked",
            Self::Manual => "manual",
            Self::Unknown => "unknown",
            Self::Stopped => "stopped",
            Self::Boundary => "boundary",
            Self::Locked => "locked",
            Self::Violation => "violation",
            Self::Environment => "environment",
            Self::Interrupted => "interrupted",
        }
    }

    /// The exit number; `signal` matters to an interrupted run alone.
    pub fn exit(self, signal: Signal) -> u8 {
        match self {
            Self::Done => 0,
            Self::Defect => 1,
            Self::Usage => 2,
            Self::Blocked => 3,
            Self::Manual => 4,
            Self::Unknown => 5,
            Self::Stopped => 6,
            Self::Boundary => 7,
            Self::Locked => 8,
            Self::Violation => 9,
            Self::Environment => 10,
            Self::Interrupted => match signal {
                Signal::Interrupt => 130,
                Signal::Terminate => 143,
            },
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_truth_wins_whatever_the_order() {
        // The exits in the order that the decisions fix.
        let fixed = [5, 4, 6, 9, 3, 7, 130];
        let exits: Vec<u8> = Outcome::WORST_FIRST
            .iter()
            .map(|o| o.exit(Signal::Interrupt))
            .collect();
        let kept: Vec<u8> = exits
            .iter()
            .copied()
            .filter(|e| fixed.contains(e))
            .collect();
        assert_eq!(kept, fixed);
        for (at, worse) in Outcome::WORST_FIRST.iter().enumerate() {
            for better in &Outcome::WORST_FIRST[at..] {
                assert_eq!(Outcome::worst([*better, *worse]), Some(*worse));
                assert_eq!(Outcome::worst([*worse, *better]), Some(*worse));
            }
        }
        assert_eq!(Outcome::worst([]), None);
    }

    #[test]
    fn every_outcome_has_an_exit_of_its_own() {
        let mut exits: Vec<u8> = Outcome::WORST_FIRST
            .iter()
            .map(|o| o.exit(Signal::Interrupt))
            .collect();
        exits.sort_unstable();
        assert_eq!(exits, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 130]);
        assert_eq!(Outcome::Interrupted.exit(Signal::Terminate), 143);
        assert_eq!(Outcome::Done.exit(Signal::Terminate), 0);
    }

    #[test]
    fn an_outcome_reads_as_it_is_written() {
        for outcome in Outcome::WORST_FIRST {
            let json = serde_json::to_string(&outcome).unwrap();
            assert_eq!(json, format!("\"{outcome}\""));
            assert_eq!(serde_json::from_str::<Outcome>(&json).unwrap(), outcome);
        }
    }
}
