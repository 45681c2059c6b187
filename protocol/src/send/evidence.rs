//! What the state of a send rests on, and what each kind of it proves.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::SendState;
use crate::page::TurnId;

/// What the state of a send rests on. Each kind proves exactly one state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum SendEvidence {
    /// Our own whole text stands right after the anchor, under this id where
    /// the page had settled it.
    OwnTurn {
        /// The turn's settled id.
        turn: Option<TurnId>,
    },
    /// The page's own request was seen with our whole text and this conversation.
    OwnRequest,
    /// Nothing was ever dispatched, and a read in the present epoch shows the
    /// anchor last.
    NeverDispatched,
    /// The guard reports that it stopped the click.
    GuardStopped {
        /// What the click would have hit.
        hit: String,
    },
    /// The driver refused before the click, and says why.
    RefusedBeforeClick {
        /// The refusal, in the driver's words.
        why: String,
    },
    /// The submit call returned; over the whole settle window the composer kept
    /// our whole text, no request left, no turn came, every heartbeat was alive,
    /// in one epoch without a gap in network observation.
    ComposerKeptText,
    /// A person said so, after a complete reading.
    Attested {
        /// The state they attest.
        state: SendState,
    },
    /// Nothing is known.
    Nothing,
}

impl SendEvidence {
    /// The state that this evidence proves.
    //= spec S3
    //= spec S4
    pub const fn proves(&self) -> SendState {
        match self {
            Self::OwnTurn { .. } | Self::OwnRequest => SendState::Sent,
            Self::NeverDispatched
            | Self::GuardStopped { .. }
            | Self::RefusedBeforeClick { .. }
            | Self::ComposerKeptText => SendState::NotSent,
            Self::Attested { state } => *state,
            Self::Nothing => SendState::Unknown,
        }
    }

    /// Its name in the journal.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::OwnTurn { .. } => "own_turn",
            Self::OwnRequest => "own_request",
            Self::NeverDispatched => "never_dispatched",
            Self::GuardStopped { .. } => "guard_stopped",
            Self::RefusedBeforeClick { .. } => "refused_before_click",
            Self::ComposerKeptText => "composer_kept_text",
            Self::Attested { .. } => "attested",
            Self::Nothing => "nothing",
        }
    }
}

/// One of each kind, with what it needs and the rule that lets it count.
fn kinds() -> [(SendEvidence, &'static str, &'static str); 9] {
    let attested = |state| SendEvidence::Attested { state };
    [
        (
            SendEvidence::OwnTurn { turn: None },
            "our whole text stands right after the anchor",
            "S3",
        ),
        (
            SendEvidence::OwnRequest,
            "the page's own request left, with our whole text, for this conversation",
            "S3",
        ),
        (
            SendEvidence::NeverDispatched,
            "no dispatching record, and a read in this epoch with the anchor last",
            "S4",
        ),
        (
            SendEvidence::GuardStopped { hit: String::new() },
            "the guard stopped the click before it reached the page",
            "S4",
        ),
        (
            SendEvidence::RefusedBeforeClick { why: String::new() },
            "the evaluation that arms the click refused, so that there was none",
            "S4",
        ),
        (
            SendEvidence::ComposerKeptText,
            "over the settle window the composer kept our whole text, no request left and no turn came, with every heartbeat alive, in one epoch, without a gap",
            "S4",
        ),
        (
            attested(SendState::Sent),
            "a person says so, after a complete reading",
            "M2",
        ),
        (
            attested(SendState::NotSent),
            "a person says so, after a complete reading",
            "M2",
        ),
        (
            SendEvidence::Nothing,
            "none of these: it counts as sent, and only evidence changes that",
            "S1",
        ),
    ]
}

/// The mapping as a table, for the documents.
pub fn render() -> String {
    let mut text = String::new();
    for (evidence, needs, rule) in kinds() {
        let name = evidence.name();
        let state = evidence.proves().to_string();
        let _ = writeln!(text, "{name:<21} {state:<9} {rule}  {needs}");
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The names are the ones that stand in the journal, and each has its line.
    #[test]
    fn the_table_has_a_line_for_each_kind_under_its_name_in_the_journal() {
        let mut names = BTreeSet::new();
        for (evidence, ..) in kinds() {
            let json = serde_json::to_value(&evidence).unwrap();
            assert_eq!(json["kind"], evidence.name());
            names.insert(evidence.name());
        }
        assert_eq!(names.len(), 8, "{names:?}");
    }

    //= spec S3 type=test
    //= spec S4 type=test
    #[test]
    fn only_proof_lets_a_message_be_sent_again() {
        let free: Vec<&str> = kinds()
            .iter()
            .filter(|(evidence, ..)| evidence.proves().may_send())
            .map(|(evidence, ..)| evidence.name())
            .collect();
        assert_eq!(
            free,
            [
                "never_dispatched",
                "guard_stopped",
                "refused_before_click",
                "composer_kept_text",
                "attested"
            ]
        );
    }
}
