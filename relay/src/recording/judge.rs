//! Takes observations through `capture::prove`, one by one.

use std::fmt;

use capture::{Awaited, Evidence, Limits, guard, prove};
use fixtures::timeline::{Line, What as Said};
use protocol::{
    id::SendId,
    page::{Anchor, Blocker, ConversationId, Observation, TurnId, What},
    reply::Verdict,
    text::Private,
    time::Millis,
};

/// The reply that a timeline is about.
#[derive(Debug, Clone, PartialEq)]
pub struct Awaiting {
    /// Our whole message.
    pub text: Private,
    /// The turn after which it was sent.
    pub anchor: Anchor,
    /// The conversation in which it was sent, where there was one.
    pub conversation: Option<ConversationId>,
    /// When it was sent.
    pub sent_ms: u64,
    /// It was sent before anybody watched.
    pub earlier: bool,
}

impl Awaiting {
    /// The reply that a timeline's lines are about, if they are about one.
    #[must_use]
    pub fn of(lines: &[Line]) -> Option<Self> {
        let mut bound = None;
        for line in lines {
            match &line.what {
                Said::Begin { conversation, .. } => bound.clone_from(conversation),
                Said::Message {
                    text,
                    anchor,
                    earlier,
                } => {
                    let anchor = anchor.clone().map(TurnId);
                    return Some(Self {
                        text: text.as_str().into(),
                        anchor: anchor.map_or(Anchor::Empty, Anchor::After),
                        conversation: bound.map(ConversationId),
                        sent_ms: line.t_ms,
                        earlier: *earlier,
                    });
                }
                Said::Page(_)
                | Said::Observation { .. }
                | Said::Command { .. }
                | Said::Stream { .. }
                | Said::Refuse { .. }
                | Said::Html { .. }
                | Said::StreamEnd { .. }
                | Said::Note { .. }
                | Said::End => {}
            }
        }
        None
    }
}

/// What is known at a moment.
#[derive(Debug, Clone, PartialEq)]
pub enum Judged {
    /// The verdict on the reply.
    Verdict(Verdict),
    /// Something stands in the way that needs a person.
    Blocked(Blocker),
}

impl Judged {
    /// Whether it ends the wait.
    #[must_use]
    pub fn is_final(&self) -> bool {
        match self {
            Self::Verdict(verdict) => verdict.is_final(),
            Self::Blocked(_) => true,
        }
    }

    /// Whether it is complete.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        matches!(self, Self::Verdict(Verdict::Complete(_)))
    }
}

impl fmt::Display for Judged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Verdict(verdict) => write!(f, "{verdict}"),
            Self::Blocked(blocker) => {
                write!(f, "blocked: {:?} (mark {})", blocker.kind, blocker.mark)
            }
        }
    }
}

/// The evidence on one reply, and what follows from it.
#[derive(Debug, Clone)]
pub struct Judge {
    evidence: Evidence,
    limits: Limits,
    blocker: Option<Blocker>,
}

impl Judge {
    /// Nothing seen yet.
    #[must_use]
    pub fn new(awaiting: &Awaiting, limits: Limits) -> Self {
        Self {
            evidence: Evidence::new(Awaited {
                send: SendId(1),
                text: awaiting.text.clone(),
                anchor: awaiting.anchor.clone(),
                conversation: awaiting.conversation.clone(),
                since: Millis(awaiting.sent_ms),
            }),
            limits,
            blocker: None,
        }
    }

    /// Takes one observation.
    pub fn observe(&mut self, t_ms: u64, observation: &Observation) {
        self.evidence.observe(Millis(t_ms), observation);
        if let What::Look(look) = &observation.what {
            self.blocker = guard::decide(look).cloned();
        }
    }

    /// What is known at this moment. A verdict that is final counts before a blocker.
    #[must_use]
    pub fn judge(&self, t_ms: u64) -> Judged {
        let verdict = prove(&self.evidence, Millis(t_ms), &self.limits);
        match &self.blocker {
            Some(blocker) if !verdict.is_final() => Judged::Blocked(blocker.clone()),
            Some(_) | None => Judged::Verdict(verdict),
        }
    }
}
