//! What to do next, as a pure function of the fold, the live part and the clock.
//!
//! The order below is the order of the house: an end before anything else, a
//! running plan before the page, the page before the thread, the thread before
//! a send, a send before its reply, and only then what is owed.

use super::{
    Session,
    ask::{Decision, Trouble},
    facts::Sign,
    input::Effect,
    live::{AgentLive, Call, Recovery, Submit},
    stop_of,
};
use crate::{
    fault::Code,
    outcome::Outcome,
    page::Ask,
    planted::{self, Bug},
    record::{PlanStage, Record, Stop},
    send::SendState,
    time::{Millis, SpanMs},
};

/// One move of the machine.
#[derive(Debug, Clone, PartialEq)]
pub enum Move {
    /// Nothing to do before the next input or this instant.
    Wait(Option<Millis>),
    /// Store a record.
    Store(Box<Record>),
    /// Store what the table decided, then carry it out.
    Decide(Decision),
    /// Store a stop; the run ends with it.
    Stop(Stop),
    /// Ask the driver, awaiting its answer for this span.
    Ask(Ask, SpanMs),
    /// Give out any other effect.
    Act(Effect),
}

impl Move {
    pub(super) fn store(record: Record) -> Self {
        Self::Store(Box::new(record))
    }
}

impl Session {
    /// The next move.
    pub(super) fn decide(&self) -> Move {
        if let Some(first) = self.ending().or_else(|| self.holding()) {
            return first;
        }
        let page = self
            .answering()
            .or_else(|| self.attaching())
            .or_else(|| self.guarding())
            .or_else(|| self.discovering());
        if let Some(net) = self.running_until() {
            return held(page, net);
        }
        page.or_else(|| self.resuming())
            .or_else(|| self.superseding())
            .or_else(|| self.starting())
            .or_else(|| self.submitting())
            .or_else(|| self.waiting())
            .unwrap_or_else(|| self.owing())
    }

    /// What an end would have to say: the worst of `outcome` and what is open.
    pub(super) fn truth(&self, outcome: Outcome) -> Outcome {
        let unknown = self
            .state
            .in_flight()
            .is_some_and(|row| row.state() == SendState::Unknown);
        let ran = self
            .state
            .plan
            .as_ref()
            .is_some_and(|plan| plan.stage != PlanStage::Accepted);
        let all = [
            Some(outcome),
            unknown.then_some(Outcome::Unknown),
            ran.then_some(Outcome::Manual),
        ];
        Outcome::worst(all.into_iter().flatten()).unwrap_or(outcome)
    }

    fn ending(&self) -> Option<Move> {
        //= spec R15
        if let Some(why) = &self.live.defect {
            return Some(self.defect(why));
        }
        if let Some(by) = &self.live.held_elsewhere {
            let stop = stop_of(Outcome::Locked, Some(Code::Locked), by);
            return Some(Move::Stop(stop));
        }
        if let Some(stop) = self.state.standing_stop()
            && !planted::is(Bug::StopForgotten)
        {
            //= spec RP7
            let stop = Stop {
                row: self.stop_for(&Trouble::bare(Sign::AsIs, "")).row,
                ..stop.clone()
            };
            return Some(Move::Act(Effect::Finish(stop)));
        }
        if self.state.abandoned {
            let why = "a person gave this session up";
            return Some(self.ask(&Trouble::bare(Sign::AsIs, why)));
        }
        if let Some((round, _)) = &self.state.terminal {
            let why = format!("the remote declared the goal reached in round {round}");
            return Some(Move::Stop(stop_of(Outcome::Done, None, &why)));
        }
        self.live
            .interrupt
            .map(|(_, since)| self.interrupted(since))
            .unwrap_or(None)
    }

    //= spec RP5
    fn interrupted(&self, since: Millis) -> Option<Move> {
        match &self.live.agent {
            // A plan of an earlier process is looked for first: its agent may live.
            AgentLive::None if self.is_to_be_adopted() => return None,
            AgentLive::Adopting => return None,
            AgentLive::None | AgentLive::Prepared => {}
            AgentLive::Preparing
            | AgentLive::Spawning
            | AgentLive::Ready { .. }
            | AgentLive::Running { .. } => return Some(Move::Act(Effect::StopAgent)),
            // What the agent reports is stored first.
            AgentLive::Stopping { .. } | AgentLive::Reported(_) => return None,
        }
        let until = since + crate::limits::STOP_MS;
        let open = match self.live.submit {
            Submit::Out | Submit::Proving(_) => self
                .state
                .in_flight()
                .is_some_and(|row| row.outcome.is_none()),
            Submit::None | Submit::Due => false,
        };
        if open && self.now() < until && self.live.attached.is_some() {
            return None;
        }
        let unsent = self.live.draft
            && self
                .state
                .in_flight()
                .is_some_and(|row| row.state() == SendState::NotSent);
        if unsent && self.live.attached.is_some() && self.now() < until {
            return Some(match &self.live.call {
                Some(call) => Move::Wait(Some(call.deadline.min(until))),
                None => Move::Ask(
                    Ask::ClearDraft {
                        ours: self.state.drafts(),
                    },
                    self.limits.call_ms,
                ),
            });
        }
        Some(Move::Stop(self.interrupted_stop()))
    }

    /// The end that a signal or the stop file asks for.
    pub(super) fn interrupted_stop(&self) -> Stop {
        let outcome = self.truth(Outcome::Interrupted);
        let why = if outcome == Outcome::Unknown {
            "the run was asked to end while a submit was unproven"
        } else {
            "the run was asked to end, by a signal or the stop file"
        };
        Stop {
            interrupted: true,
            ..stop_of(outcome, None, why)
        }
    }

    /// An end under a code: where the table has a row for it, the planner is
    /// asked; otherwise the surroundings are not as needed, and nothing stalled.
    pub(super) fn fail(&self, code: Code, why: impl Into<String>) -> Move {
        let about = code.about();
        if about.row.is_some() {
            return self.ask(&Trouble::new(Sign::AsIs, code, why));
        }
        let outcome = self.truth(about.outcome);
        Move::Stop(stop_of(outcome, Some(code), &why.into()))
    }

    /// A check of our own failed.
    //= spec R15
    pub(super) fn defect(&self, why: impl Into<String>) -> Move {
        self.ask(&Trouble::bare(Sign::Defect, why))
    }

    /// After a start or a lost browser the thread was read and agrees: the table
    /// says how to go on.
    //= spec R6
    fn resuming(&self) -> Option<Move> {
        (self.live.recovery == Recovery::Found).then(|| self.ask(&self.loss_trouble()))
    }

    /// A RESUME or RESYNC that was decided comes before the plan and the message
    /// that it makes void.
    //= spec W12
    fn superseding(&self) -> Option<Move> {
        self.live.declares.map(|_| self.owing())
    }

    /// While a call is out, its answer comes first; behind a dialog none comes.
    //= spec RP8
    fn answering(&self) -> Option<Move> {
        let reachable = self.live.dialog.is_none();
        let call = self.live.call.as_ref().filter(|_| reachable);
        call.map(|call: &Call| Move::Wait(Some(call.deadline)))
    }
}

/// While a plan runs the page is found again and read, and nothing more: a stop
/// waits until the agent has settled.
//= spec RP1
//= spec W12
fn held(page: Option<Move>, net: Millis) -> Move {
    match page {
        Some(next @ (Move::Store(_) | Move::Decide(_) | Move::Ask(..) | Move::Act(_))) => next,
        Some(Move::Wait(Some(until))) => Move::Wait(Some(until.min(net))),
        Some(Move::Wait(None) | Move::Stop(_)) | None => Move::Wait(Some(net)),
    }
}
