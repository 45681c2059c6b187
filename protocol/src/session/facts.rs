//! The facts of this moment: the only place where they are computed.
//!
//! They come from the fold and the live part. What the ordinary path met and
//! could not take any further may say more than those two hold; it bends one
//! fact, and its [`Sign`] tells which.

use super::{
    Session,
    input::{BrowserBy, TabBy},
    live::{AgentLive, Live},
};
use crate::{
    message::Offer,
    page::Loss,
    record::{self, Judgement, PlanStage, SendRow, State},
    recovery::{
        self, Cost, Facts,
        facts::{
            Blocker, Boundary, Budget, Chain, Checkpoint, Defect, Handshake, Lost, Reply, Run,
            Send, Target,
        },
    },
    reply::{self, CaptureFailure, Verdict},
    send::{Located, SendState, locate},
};

/// What the ordinary path met, as far as it is a fact of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    /// Nothing that fold and live part do not say.
    AsIs,
    /// A check of our own failed.
    Defect,
    /// A limit of RP5 is hit.
    Boundary,
    /// The page asks for a person.
    Blocked,
    /// A complete reading, or a foreign hand, contradicts the journal.
    Conflict,
    /// The reading ended incomplete.
    Partial,
    /// The reply is there and cannot be proven.
    Unproven,
    /// The control send that is due was made before, word by word, and nothing
    /// answered that one to its end: the table sees that earlier send (W11).
    Repeated,
    /// Another place is shown.
    Elsewhere,
    /// The tab cannot be worked with any more.
    Gone,
}

impl Session {
    //= spec RP1
    /// Every fact of this moment. `budget` comes last: it is asked for what the
    /// row would cost without it.
    pub(super) fn facts(&self, sign: Sign) -> Facts {
        let facts = Facts {
            defect: if sign == Sign::Defect {
                Defect::Yes
            } else {
                Defect::No
            },
            boundary: self.boundary_fact(sign),
            blocker: if sign == Sign::Blocked {
                Blocker::Confirmed
            } else {
                Blocker::None
            },
            run: run(&self.state, &self.live),
            checkpoint: Checkpoint::Proven,
            chain: self.chain_fact(sign),
            handshake: self.handshake_fact(sign),
            target: self.target_fact(sign),
            lost: self.live.gone,
            send: if sign == Sign::Repeated {
                Send::Sent
            } else {
                send(&self.state)
            },
            reply: self.reply_fact(sign),
            budget: Budget::Left,
        };
        Facts {
            budget: self.budget_fact(recovery::cost(&facts)),
            ..facts
        }
    }

    fn boundary_fact(&self, sign: Sign) -> Boundary {
        let hit = sign == Sign::Boundary
            || self.limit_hit().is_some()
            || self.state.standing_stop().is_some()
            || self.state.is_closed();
        if hit {
            Boundary::Hit
        } else if self.live.interrupt.is_some() {
            Boundary::Asked
        } else {
            Boundary::Clear
        }
    }

    fn chain_fact(&self, sign: Sign) -> Chain {
        if sign == Sign::Conflict {
            Chain::Conflicts
        } else if sign == Sign::Partial {
            Chain::Partial
        } else if self.live.attached.is_some() && self.live.read_in == Some(self.live.epoch) {
            Chain::Agrees
        } else {
            Chain::Unread
        }
    }

    fn handshake_fact(&self, sign: Sign) -> Handshake {
        if sign == Sign::Repeated {
            return Handshake::Held;
        }
        let flying = self.state.in_flight();
        if flying.is_some_and(|row| !row.intent.message.is_task()) {
            return Handshake::Pending;
        }
        if self.is_changed() {
            return Handshake::Changed;
        }
        match self.state.handshake {
            record::Handshake::Pending => Handshake::Pending,
            record::Handshake::Held => Handshake::Held,
            record::Handshake::Unproven => Handshake::Unproven,
            record::Handshake::Refused => Handshake::Refused,
        }
    }

    /// This build would offer another contract than the one in force.
    //= spec R9
    pub(super) fn is_changed(&self) -> bool {
        let any_out = self
            .state
            .sends
            .iter()
            .any(|row| row.state() != SendState::NotSent);
        any_out && self.new_offer().is_some()
    }

    /// What this build offers, where it differs from the offer in force.
    pub(super) fn new_offer(&self) -> Option<&Offer> {
        let known = &self.state.opened.as_ref()?.offer.terms;
        let new = self.start.offer.as_ref()?;
        (new.terms != *known).then_some(new)
    }

    //= spec RP8
    fn target_fact(&self, sign: Sign) -> Target {
        let lost_for_good = self
            .live
            .loss
            .as_ref()
            .is_some_and(|loss| self.is_for_good(loss));
        let gone = sign == Sign::Gone
            || lost_for_good
            || self.is_unbound_and_lost()
            // Every call to the page waits behind a dialog **(ours)**.
            || self.live.dialog.is_some();
        if gone {
            return Target::Gone;
        }
        if sign == Sign::Elsewhere {
            return Target::Elsewhere;
        }
        match (&self.live.attached, &self.live.look) {
            (Some(_), Some(seen)) if self.is_elsewhere(&seen.look.place).is_some() => {
                Target::Elsewhere
            }
            (Some(_), Some(_)) => Target::Here,
            (_, _) => Target::Unseen,
        }
    }

    /// Losses after which no attachment can be had, or may be had, by asking again.
    //= spec RP8
    fn is_for_good(&self, loss: &Loss) -> bool {
        let known = self.home().is_some();
        match loss {
            Loss::TabClosed => !known || self.start.tab == TabBy::Person,
            Loss::BrowserGone { .. } => !known || self.start.browser == BrowserBy::Person,
            Loss::NeverAttached { code, .. } => {
                // A page that only gave no answer in time, after a new start of the
                // browser say, is asked again **(ours)**.
                matches!(code.as_str(), "E_TAB_GONE" | "E_DIALOG")
                    || (code == "E_RENDERER" && self.live.ill)
            }
            Loss::Link { .. }
            | Loss::Document
            | Loss::Detached
            | Loss::RendererCrashed
            | Loss::RendererHung => false,
        }
    }

    /// A HELLO may stand in a conversation that never got an address of its own,
    /// and it cannot be found again.
    //= spec E1
    pub(super) fn is_unbound_and_lost(&self) -> bool {
        let typed = |row: &SendRow| row.state() != SendState::NotSent;
        self.live.gone != Lost::Nothing
            && self.state.conversation.is_none()
            && self.state.sends.iter().any(typed)
            && !self.may_show_hello()
    }

    /// A HELLO may stand where nobody can look: see [`Session::is_unbound_and_lost`], or
    /// what showed it is gone, and nobody knows where to open it again.
    //= spec E1
    pub(super) fn is_unbound(&self) -> bool {
        if self.is_unbound_and_lost() {
            return true;
        }
        let nowhere = self.state.conversation.is_none() && self.home().is_none();
        let loss = self.live.loss.as_ref();
        nowhere && loss.is_some_and(|loss| self.is_for_good(loss))
    }

    /// The tab in which HELLO was typed shows it, whole and in its place, or was not
    /// read yet **(ours)**: the text names a session that was drawn at random, so that
    /// where it stands, there is the conversation. Any other tab, and a thread
    /// without it, proves nothing.
    fn may_show_hello(&self) -> bool {
        let Some(attached) = &self.live.attached else {
            return true;
        };
        if self.live.typed_in.as_ref() != Some(&attached.target) {
            return false;
        }
        let whole = self.live.reading.as_ref().filter(|reading| reading.whole);
        whole.is_none_or(|reading| {
            self.state.in_flight().is_some_and(|row| {
                let (anchor, text) = (&row.intent.anchor, row.intent.text.as_str());
                matches!(
                    locate(&reading.turns, true, anchor, text),
                    Located::Ours { .. }
                )
            })
        })
    }

    fn reply_fact(&self, sign: Sign) -> Reply {
        if sign == Sign::Unproven {
            return Reply::Unproven;
        }
        if sign == Sign::Repeated {
            return Reply::Failed;
        }
        let busy = self
            .live
            .look
            .as_ref()
            .is_some_and(|seen| seen.look.composer.stop);
        if self.state.in_flight().is_none() {
            // What is being generated then answers a send that is judged or void.
            return match failed(&self.state) {
                true => Reply::Failed,
                false if busy => Reply::Running,
                false => Reply::None,
            };
        }
        match &self.live.verdict {
            None if busy => Reply::Running,
            None => Reply::None,
            Some(Verdict::NotYet(progress)) => match progress.phase {
                reply::Phase::Nothing => Reply::None,
                reply::Phase::Thinking | reply::Phase::Streaming => Reply::Running,
                reply::Phase::Finishing => Reply::Unproven,
            },
            Some(Verdict::Complete(_)) => Reply::Complete,
            Some(Verdict::Truncated { .. } | Verdict::PageFailed(_)) => Reply::Failed,
            Some(Verdict::CaptureFailed {
                why: CaptureFailure::Deadline { .. },
            }) if self.nothing_seen() => Reply::None,
            Some(
                Verdict::CaptureFailed { .. }
                | Verdict::SourceUncertain(_)
                | Verdict::Interference(_)
                | Verdict::OtherPlace { .. },
            ) => Reply::Unproven,
        }
    }

    /// The newest turn shown is no reply.
    fn nothing_seen(&self) -> bool {
        let seen = self.live.look.as_ref();
        let newest = seen.and_then(|seen| seen.look.tail.last());
        newest.is_none_or(|turn| turn.reply.is_none())
    }

    //= spec RP4
    fn budget_fact(&self, cost: Option<Cost>) -> Budget {
        let Some(cost) = cost else {
            return Budget::Left;
        };
        let max = match cost {
            Cost::Reattach => self.limits.reattach_max,
            Cost::Read => self.limits.reads_max,
            Cost::Resume => self.limits.resume_max,
            Cost::Resync => self.limits.resync_max,
        };
        if self.state.paid == Some(cost) {
            return Budget::Left;
        }
        let budgets = &self.state.budgets;
        let total =
            cost.counts_in_total() && u64::from(budgets.total()) >= self.limits.recoveries_max;
        if total || u64::from(budgets.spent(cost)) >= max {
            Budget::Spent
        } else {
            Budget::Left
        }
    }
}

fn run(state: &State, live: &Live) -> Run {
    let Some(plan) = &state.plan else {
        return Run::None;
    };
    match (&plan.stage, &live.agent) {
        (PlanStage::Accepted, _) if plan.accepted.decision.is_carried_out() => Run::Accepted,
        (PlanStage::Accepted, _) => Run::None,
        (
            PlanStage::Started { .. },
            AgentLive::Adopting
            | AgentLive::Running { .. }
            | AgentLive::Stopping { .. }
            | AgentLive::Reported(_),
        ) => Run::Running,
        (
            PlanStage::Started { .. },
            AgentLive::None
            | AgentLive::Preparing
            | AgentLive::Prepared
            | AgentLive::Spawning
            | AgentLive::Ready { .. },
        )
        | (PlanStage::InDoubt, _) => Run::Started,
    }
}

/// A send whose reply failed stays the one in question for the table: nothing
/// answered it, and nothing else is due **(ours)**.
fn send(state: &State) -> Send {
    match state.in_flight().map(SendRow::state) {
        Some(SendState::NotSent) => Send::NotSent,
        Some(SendState::Sent) => Send::Sent,
        Some(SendState::Unknown) => Send::Unknown,
        None if failed(state) => Send::Sent,
        None => Send::None,
    }
}

fn failed(state: &State) -> bool {
    let last = state.last_standing();
    last.is_some_and(|row| matches!(row.judged, Some(Judgement::Failed { .. })))
}
