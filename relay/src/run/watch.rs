//! The awaited reply: its evidence, and the verdict on it.

use crate::sabotage::Break;
use capture::{Awaited, Evidence, prove};
use protocol::{
    id::SendId,
    limits::Limits,
    page::{Anchor, ConversationId, Observation},
    reply::{Progress, Verdict},
    text::Private,
    time::Millis,
};

/// Evidence gathered for the reply to one send.
pub struct Watch {
    send: SendId,
    evidence: Evidence,
    limits: capture::Limits,
    last: Option<Verdict>,
    request_seen: bool,
    sabotage: Option<Break>,
    blind: Option<Verdict>,
}

impl Watch {
    /// Nothing seen yet.
    pub fn new(
        now: Millis,
        send: SendId,
        text: Private,
        anchor: Anchor,
        conversation: Option<ConversationId>,
        limits: &Limits,
        sabotage: Option<Break>,
    ) -> Self {
        let awaited = Awaited {
            send,
            text,
            anchor,
            conversation,
            since: now,
        };
        Self {
            send,
            evidence: Evidence::new(awaited),
            limits: capture::Limits::from(limits),
            last: None,
            request_seen: false,
            sabotage,
            blind: None,
        }
    }

    /// Takes one observation. Tells once when it is our own request that was seen.
    pub fn observe(&mut self, now: Millis, observation: &Observation) -> Option<SendId> {
        self.evidence.observe(now, observation);
        if let Some(sabotage) = self.sabotage {
            self.blind = self.blind.take().or_else(|| sabotage.takes(observation));
        }
        let seen = !self.request_seen && self.evidence.own_request_seen();
        self.request_seen |= seen;
        seen.then_some(self.send)
    }

    /// The deadlines begin anew: the reply is read once more.
    pub fn again(&mut self, now: Millis) {
        self.evidence.read_again(now);
        self.last = None;
    }

    /// The verdict, where it changed.
    pub fn weigh(&mut self, now: Millis) -> Option<(SendId, Verdict)> {
        let proven = || prove(&self.evidence, now, &self.limits);
        let verdict = self.blind.clone().unwrap_or_else(proven);
        if self.last.as_ref() == Some(&verdict) {
            return None;
        }
        self.last = Some(verdict.clone());
        Some((self.send, verdict))
    }

    /// When to look again at the latest.
    pub fn look_by(&self) -> Option<Millis> {
        self.progress().map(|progress| progress.look_by)
    }

    /// How far the reply has come, while it is not proven.
    pub fn progress(&self) -> Option<&Progress> {
        match &self.last {
            Some(Verdict::NotYet(progress)) => Some(progress),
            Some(_) | None => None,
        }
    }
}
