//! Inputs are taken into the live part. Nothing is decided here.

use super::{
    Session,
    ask::Trouble,
    facts::Sign,
    input::Input,
    live::{Pause, Seen, Submit},
};
use crate::{
    fault::Code,
    limits::COVERAGE_GAP_MS,
    page::{CallFailure, Observation, Place, Pulse, What},
    planted::{self, Bug},
    record::Record,
    time::Millis,
};

impl Session {
    /// Takes an input into the live part. Decides nothing.
    pub(super) fn take(&mut self, input: Input) {
        match input {
            Input::Tick => self.expire_call(),
            Input::Observed(observation) => self.observe(*observation),
            Input::RequestSeen(send) => {
                let flying = self.state.in_flight().map(|row| row.intent.send);
                match &mut self.live.submit {
                    Submit::Proving(proving) if flying == Some(send) => proving.request = true,
                    Submit::Out if flying == Some(send) => {
                        self.live.prove(None);
                        if let Submit::Proving(proving) = &mut self.live.submit {
                            proving.request = true;
                        }
                    }
                    Submit::None | Submit::Due | Submit::Out | Submit::Proving(_) => {}
                }
            }
            Input::Verdict(send, verdict) => {
                if self
                    .state
                    .in_flight()
                    .is_some_and(|row| row.intent.send == send)
                {
                    self.live.verdict = Some(*verdict);
                }
            }
            Input::Stored(entry) => self.stored(&entry),
            //= spec J1
            Input::NotStored(error) => {
                if self.live.storing.take().is_none() {
                    return;
                }
                let trouble = Trouble::new(Sign::Defect, Code::Journal, error.to_string());
                self.give_up(self.stop_for(&trouble));
            }
            Input::Agent(report) => {
                if self.state.plan.is_some() {
                    self.live.reported(report);
                }
            }
            Input::Paced => {
                if let Pause::Asked(pace) = self.live.pause {
                    self.live.pause = Pause::Over(pace);
                }
            }
            Input::Interrupt(signal) => {
                let now = self.now();
                self.live.interrupt.get_or_insert((signal, now));
            }
            Input::HeldElsewhere(by) => {
                let claims = self.live.storing.take_if(|record| {
                    matches!(record, Record::Attached { .. } | Record::Bound { .. })
                });
                if claims.is_some() {
                    self.live.held_elsewhere = Some(by);
                }
            }
            //= spec R15
            Input::Defect(why) => {
                let unstored = self.live.storing.take().is_some();
                self.live.defect.get_or_insert(why);
                // Whether that record was stored cannot be told: as if it was not.
                if unstored && let Some(why) = &self.live.defect {
                    let trouble = Trouble::bare(Sign::Defect, why);
                    self.give_up(self.stop_for(&trouble));
                }
            }
        }
    }

    fn expire_call(&mut self) {
        let now = self.now();
        if let Some(call) = self.live.call.take_if(|call| call.deadline <= now) {
            let limit = "call_ms".to_owned();
            self.live.fail(call.act, CallFailure::Timeout { limit });
        }
    }

    fn observe(&mut self, observation: Observation) {
        let attaches = matches!(observation.what, What::Attached(_));
        if (observation.epoch < self.live.epoch && !planted::is(Bug::IgnoreEpoch))
            || (observation.epoch == self.live.epoch && attaches)
            || (observation.epoch > self.live.epoch && !attaches && !is_loss(&observation.what))
        {
            self.live.stale += 1;
            return;
        }
        let now = self.now();
        match observation.what {
            What::Attached(attachment) => self.live.attach(observation.epoch, attachment),
            What::Look(look) => {
                if look.blockers.is_empty() {
                    self.live.blocked_since = None;
                } else {
                    self.live.blocked_since.get_or_insert(now);
                }
                self.watch_coverage(now);
                self.live.busy_since = match self.live.busy_since {
                    _ if !look.composer.stop => None,
                    known => known.or(Some(now)),
                };
                self.live.dialog = None;
                if matches!(look.place, Place::Conversation(_)) {
                    self.live.address = Some(look.address.clone());
                }
                self.live.look = Some(Seen {
                    at: now,
                    look: *look,
                });
            }
            What::Answer { call, answer } => {
                if let Some(done) = self.live.call.take_if(|open| open.id == call) {
                    self.live.answer(done.act, answer);
                }
            }
            What::Lost(loss) => self.live.lose(loss),
            What::Dialog { kind, .. } => self.live.dialog = Some(kind),
            What::Beat(beat) => {
                if beat.browser != Pulse::Alive || beat.renderer != Pulse::Alive {
                    self.break_proof();
                }
            }
            What::Malformed { .. } => self.break_proof(),
            // The stream is evidence for `capture`, not for the machine.
            What::Stream(_) => {}
        }
    }

    /// A gap between two looks breaks what must be watched without one.
    //= spec T1
    fn watch_coverage(&mut self, now: Millis) {
        let gap = self
            .live
            .look
            .as_ref()
            .is_none_or(|seen| now.since(seen.at) > COVERAGE_GAP_MS);
        if gap {
            self.break_proof();
        }
    }

    fn break_proof(&mut self) {
        match &mut self.live.submit {
            Submit::Proving(proving) => proving.broken = true,
            Submit::None | Submit::Due | Submit::Out => {}
        }
    }
}

fn is_loss(what: &What) -> bool {
    matches!(what, What::Lost(_))
}
