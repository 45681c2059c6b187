//! The verdict that a person expects of a recording. No command writes one.

use protocol::{
    page::BlockerKind,
    reply::{EndWitness, Source, Verdict, Warning},
};
use serde::Deserialize;

use super::Judged;

/// What a recording should come to.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Expected {
    /// What the remote said in full: the only text that a complete verdict may carry,
    /// whatever is done to the timeline.
    pub whole: String,
    /// The verdict.
    #[serde(flatten)]
    pub wanted: Wanted,
}

/// A verdict as it is written down.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Wanted {
    /// Complete, with the whole text.
    Complete {
        /// How it is known that nothing more comes.
        end: EndWitness,
        /// Sources that are among those that agree.
        #[serde(default)]
        agreed: Vec<Source>,
        /// Exactly these warnings, where given.
        #[serde(default)]
        warnings: Option<Vec<Warning>>,
    },
    /// Not complete, and final.
    Failed {
        /// The stable code.
        code: String,
        /// Words that stand in the verdict's explanation, where given.
        #[serde(default)]
        says: Option<String>,
    },
    /// Something stands in the way that needs a person.
    Blocked {
        /// What.
        blocker: BlockerKind,
    },
    /// Not proven at the end of the timeline, and waited for.
    Waiting {
        /// Words that stand in the verdict's explanation, where given.
        #[serde(default)]
        says: Option<String>,
    },
}

impl Expected {
    /// Why a judgement is not the expected one; none where it is.
    #[must_use]
    pub fn differs(&self, judged: &Judged) -> Option<String> {
        let says = |says: &Option<String>| {
            let shown = judged.to_string();
            let words = says.as_ref().filter(|words| !shown.contains(*words))?;
            Some(format!("{words:?} was expected in: {shown}"))
        };
        let other = |wanted: &str| Some(format!("{wanted} was expected; it is {judged}"));
        match (&self.wanted, judged) {
            (
                Wanted::Complete {
                    end,
                    agreed,
                    warnings,
                },
                Judged::Verdict(Verdict::Complete(captured)),
            ) => {
                if captured.text.as_str() != self.whole {
                    return Some("complete, with another text than the whole one".to_owned());
                }
                let lacking = agreed
                    .iter()
                    .any(|source| !captured.agreed.contains(source));
                let warned = warnings
                    .as_ref()
                    .is_some_and(|warnings| *warnings != captured.warnings);
                if captured.end == *end && !lacking && !warned {
                    None
                } else {
                    other(&format!("{:?}", self.wanted))
                }
            }
            (Wanted::Failed { code, says: words }, Judged::Verdict(verdict))
                if verdict.code() == Some(code) =>
            {
                says(words)
            }
            (Wanted::Blocked { blocker }, Judged::Blocked(found)) if *blocker == found.kind => None,
            (Wanted::Waiting { says: words }, Judged::Verdict(Verdict::NotYet(_))) => says(words),
            (
                Wanted::Complete { .. }
                | Wanted::Failed { .. }
                | Wanted::Blocked { .. }
                | Wanted::Waiting { .. },
                _,
            ) => other(&format!("{:?}", self.wanted)),
        }
    }
}
