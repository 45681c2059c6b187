//! The session machine: one input at a time, effects out, nothing waited for.
//!
//! Three rules hold everywhere. *Store before act*: an act that changes the
//! page or starts a plan follows its stored record, because the machine decides
//! from the folded [`State`] alone and a record reaches that only when stored.
//! *Unknown is sent*: a submit is decided in one place, which asks
//! [`SendState::may_send`](crate::send::SendState::may_send). *Stale is
//! dropped*: what an older epoch says changes a counter and nothing else.
//!
//! [`Session::handle`] takes what happened, [`Session::poll_effect`] gives what
//! is to be done, [`Session::next_wake`] tells when to call again at the latest.

mod answers;
mod ask;
mod attach;
mod decide;
mod discover;
mod execute;
mod facts;
mod guard;
mod input;
mod judge;
mod live;
mod lost;
mod owe;
mod phase;
mod review;
mod submit;
mod take;
mod wait;

pub use ask::Decision;
pub use decide::Move;
pub use input::{AgentReport, BrowserBy, Effect, Input, Pace, Start, TabBy};
pub use phase::Phase;
pub use review::{Looked, PageSeen, Review, facts_alone};

use std::collections::VecDeque;

use crate::{
    fault::Code,
    id::SendId,
    limits::Limits,
    outcome::Outcome,
    record::{Entry, Record, Seq, State, Stop},
    recovery::{Deed, facts::Lost, permits},
    send::SendState,
    time::Millis,
};
use ask::Trouble;
use facts::Sign;
use live::Live;

/// The machine of one session in one process.
#[derive(Debug)]
pub struct Session {
    state: State,
    live: Live,
    limits: Limits,
    start: Start,
    outbox: VecDeque<Effect>,
    wake: Option<Millis>,
}

impl Session {
    /// A machine that goes on from `state`, which must hold an opened session.
    /// A session that was only opened has nothing to lose yet.
    pub fn new(now: Millis, state: State, limits: Limits, start: Start) -> Self {
        let fresh = state.seq <= Seq(1);
        let lost = if fresh { Lost::Nothing } else { start.lost };
        let limits = state.limits_in_force(&limits);
        let mut session = Self {
            live: Live::new(now, &state, lost),
            state,
            limits,
            start,
            outbox: VecDeque::new(),
            wake: None,
        };
        session.run();
        session
    }

    /// Takes one input. Effects may follow from [`Session::poll_effect`].
    pub fn handle(&mut self, now: Millis, input: Input) {
        self.live.clock.at(now);
        self.take(input);
        self.run();
    }

    /// The next thing to do, in the order in which it must be done.
    pub fn poll_effect(&mut self) -> Option<Effect> {
        self.outbox.pop_front()
    }

    /// When to call [`Session::handle`] with a tick at the latest.
    pub fn next_wake(&self) -> Option<Millis> {
        self.wake
    }

    /// Everything durable that is true.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Where the machine stands.
    pub fn phase(&self) -> Phase {
        phase::of(&self.state, &self.live)
    }

    /// The stop that ended this run, once it is stored.
    pub fn finished(&self) -> Option<&Stop> {
        self.live.finished.as_ref()
    }

    /// What an end right now would have to say: the worst that is true.
    pub fn worst(&self, outcome: Outcome) -> Outcome {
        self.truth(outcome)
    }

    /// How many observations of an older epoch were dropped.
    pub fn stale(&self) -> u64 {
        self.live.stale
    }

    fn now(&self) -> Millis {
        self.live.clock.now()
    }

    fn run(&mut self) {
        // Each turn of the loop stores a record, makes a call or ends; the
        // bound only guards against a fault of ours.
        for _ in 0..MOVES_MAX {
            if self.live.finished.is_some() || self.live.storing.is_some() {
                self.wake = None;
                return;
            }
            match self.decide() {
                Move::Wait(until) => {
                    self.wake = until;
                    return;
                }
                next @ (Move::Store(_)
                | Move::Decide(_)
                | Move::Stop(_)
                | Move::Ask(..)
                | Move::Act(_)) => {
                    self.make(next);
                }
            }
        }
        let next = self.defect("the machine made moves without end");
        self.make(next);
    }

    fn make(&mut self, next: Move) {
        match next {
            Move::Wait(_) => {}
            Move::Store(record) => self.store(*record),
            Move::Decide(decision) => {
                self.live.decision = Some(decision);
                self.store(decision.record());
            }
            Move::Stop(stop) => self.store(Record::Stopped(stop)),
            Move::Ask(ask, limit) => {
                let command = self.live.command(ask, limit);
                self.outbox.push_back(Effect::Page(command));
            }
            Move::Act(effect) => {
                self.live.acted(&effect);
                self.outbox.push_back(effect);
            }
        }
    }

    /// Offers a record to the journal. What the row that is being carried out does
    /// not permit is refused here, whoever asks.
    fn store(&mut self, record: Record) {
        if let (Some(course), Some(deed)) = (self.live.course, Deed::of(&record))
            && !permits(course.row, course.action, deed)
        {
            let why = format!(
                "{}, {}, does not permit {deed:?}",
                course.row, course.action
            );
            let stop = self.stop_for(&Trouble::bare(Sign::Defect, why));
            self.live.course = None;
            return self.store(Record::Stopped(stop));
        }
        self.live.storing = Some(record.clone());
        self.outbox.push_back(Effect::Append(Box::new(record)));
    }

    fn stored(&mut self, entry: &Entry) {
        let offered = self.live.storing.take();
        debug_assert!(
            offered.as_ref() == Some(&entry.record),
            "another record was stored"
        );
        if let Err(error) = self.state.apply(entry) {
            self.give_up(self.stop_for(&Trouble::bare(Sign::Defect, error.to_string())));
            return;
        }
        self.after(&entry.record);
        if Deed::of(&entry.record).is_some() {
            // What was decided is under way: from here on the ordinary path goes on.
            self.live.course = None;
        }
    }

    /// What follows in the volatile part once a record is stored.
    fn after(&mut self, record: &Record) {
        match record {
            Record::Stopped(stop) => self.give_up(stop.clone()),
            Record::Dispatching { send, .. } => {
                self.watch(*send);
                self.live.dispatched();
            }
            Record::Judged { .. } => {
                self.outbox.push_back(Effect::Unwatch);
                self.live.judged();
            }
            Record::Started { .. } => {
                self.live.agent = live::AgentLive::Running { since: self.now() };
                self.outbox.push_back(Effect::LetGo);
            }
            Record::NotStarted { .. } | Record::Settled { .. } | Record::InDoubt { .. } => {
                self.live.agent_ended();
            }
            Record::Read { epoch, .. } => {
                self.live.agreed(*epoch);
                // A send that an earlier process dispatched is awaited from here on.
                let flying = self.state.in_flight().filter(|row| row.attempts > 0);
                if let Some(send) = flying.map(|row| row.intent.send)
                    && !self.live.watching
                {
                    self.watch(send);
                }
            }
            Record::Decided { cost, .. } => {
                let nth = cost.map_or(0, |cost| self.state.budgets.spent(cost).saturating_sub(1));
                if let Some(decision) = self.live.decision.take() {
                    self.live.decided(&decision, nth);
                }
            }
            Record::Intent(intent) => self.live.intended(intent.message),
            Record::Outcome {
                state: SendState::NotSent,
                ..
            } => self.live.not_sent(),
            // Sent, or perhaps sent, without a click of ours: its reply is awaited from
            // here on, and not for ever.
            //= spec W13
            Record::Outcome {
                send,
                state: SendState::Sent | SendState::Unknown,
                ..
            } if !self.live.watching => self.watch(*send),
            Record::Opened(_)
            | Record::Resumed { .. }
            | Record::Attached { .. }
            | Record::Bound { .. }
            | Record::Outcome { .. }
            | Record::Lifted { .. }
            | Record::Attested { .. }
            | Record::Abandoned { .. } => {}
        }
    }

    fn watch(&mut self, send: SendId) {
        if let Some(row) = self.state.send(send) {
            self.live.watching = true;
            self.live.round_since.get_or_insert(self.live.clock.now());
            self.outbox.push_back(Effect::Watch {
                send,
                text: row.intent.text.clone(),
                anchor: row.intent.anchor.clone(),
            });
        }
    }

    fn give_up(&mut self, stop: Stop) {
        self.live.finished = Some(stop.clone());
        self.outbox.push_back(Effect::Finish(stop));
    }
}

/// More moves than any input can need.
const MOVES_MAX: usize = 64;

/// A stop with the rest of its fields at rest.
pub(crate) fn stop_of(outcome: Outcome, code: Option<Code>, why: &str) -> Stop {
    Stop {
        outcome,
        code,
        row: None,
        why: why.to_owned(),
        standing: is_standing(outcome),
        interrupted: false,
        facts: None,
    }
}

/// Which ends every start meets again until a person lifts them.
//= spec RP7
const fn is_standing(outcome: Outcome) -> bool {
    match outcome {
        Outcome::Blocked
        | Outcome::Manual
        | Outcome::Unknown
        | Outcome::Stopped
        | Outcome::Boundary
        | Outcome::Violation
        | Outcome::Defect => true,
        Outcome::Done
        | Outcome::Locked
        | Outcome::Interrupted
        | Outcome::Usage
        | Outcome::Environment => false,
    }
}

#[cfg(test)]
mod tests;
