//! Records without the texts that they carry, for reports that leave the machine.

use super::{Accepted, Attested, Intent, Judgement, Opened, Record, Stop};
use crate::{message::Objective, outcome::Outcome, text::Private};

impl Private {
    /// Its length in its place.
    #[must_use]
    pub fn elided(&self) -> Self {
        Self::from(format!("<{} characters>", self.chars()))
    }
}

impl Stop {
    /// The stop without the label that the remote gave to what it is blocked by: the one
    /// reason that holds a word of a reply.
    #[must_use]
    pub fn without_label(&self) -> Self {
        let mut stop = self.clone();
        if stop.outcome == Outcome::Blocked
            && let Some((said, label)) = self.why.split_once(": ")
        {
            stop.why = format!("{said}: {}", Private::from(label).elided().as_str());
        }
        stop
    }
}

impl Record {
    /// The record with the length of each text in the text's place: requests,
    /// messages, plans and receipts, and the labels that a person or the remote
    /// gave. It still says what happened, and folds as before.
    #[must_use]
    pub fn without_texts(&self) -> Self {
        match self {
            Self::Opened(opened) => {
                let mut opened = Opened::clone(opened);
                opened.request = opened.request.elided();
                opened.offer.objective = Objective::default();
                Self::Opened(Box::new(opened))
            }
            Self::Intent(intent) => Self::Intent(Box::new(Intent {
                text: intent.text.elided(),
                offer: intent.offer.clone().map(|mut offer| {
                    offer.objective = Objective::default();
                    offer
                }),
                ..Intent::clone(intent)
            })),
            Self::Judged {
                send,
                reply,
                judgement: Judgement::Accepted(plan),
            } => Self::Judged {
                send: *send,
                reply: reply.clone(),
                judgement: Judgement::Accepted(Box::new(Accepted {
                    task: Private::from(plan.task.as_str()).elided().into_string(),
                    text: plan.text.elided(),
                    ..Accepted::clone(plan)
                })),
            },
            Self::Settled {
                round,
                plan,
                ok,
                receipt,
            } => Self::Settled {
                round: *round,
                plan: plan.clone(),
                ok: *ok,
                receipt: receipt.elided(),
            },
            Self::Attested {
                who,
                why,
                what:
                    Attested::Ran {
                        round,
                        plan,
                        ok,
                        receipt,
                    },
            } => Self::Attested {
                who: who.clone(),
                why: why.clone(),
                what: Attested::Ran {
                    round: *round,
                    plan: plan.clone(),
                    ok: *ok,
                    receipt: receipt.elided(),
                },
            },
            Self::Stopped(stop) => Self::Stopped(stop.without_label()),
            Self::Judged {
                judgement:
                    Judgement::Held
                    | Judgement::NotHeld { .. }
                    | Judgement::Refused { .. }
                    | Judgement::Failed { .. },
                ..
            }
            | Self::Resumed { .. }
            | Self::Attached { .. }
            | Self::Read { .. }
            | Self::Bound { .. }
            | Self::Dispatching { .. }
            | Self::Outcome { .. }
            | Self::Started { .. }
            | Self::NotStarted { .. }
            | Self::InDoubt { .. }
            | Self::Decided { .. }
            | Self::Lifted { .. }
            | Self::Attested { .. }
            | Self::Abandoned { .. } => self.clone(),
        }
    }
}
