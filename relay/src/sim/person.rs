//! Everybody who acts from outside: what a fault does when it strikes, the person who
//! looks at a stop and goes on, and what is held against the world at the end.

use protocol::{
    outcome::Outcome,
    page::{Beat, Epoch, Loss, Observation, Pulse, What},
    record::{PlanStage, Stop},
    recovery::manual::{Choice, Given},
    send::SendState,
    text::Private,
};

use super::{
    agent::Does,
    check::Violation,
    disk::Next,
    fault::Own,
    world::{Event, World},
};

/// Processes of one session: a person gives up after that many.
const PROCESSES_MAX: u32 = 60;
/// Stops that a person lifts in one session.
const LIFTED_MAX: u32 = 4;

impl World {
    /// A fault takes hold.
    pub(super) fn strikes(&mut self, own: Own) -> Result<(), Violation> {
        match own {
            Own::Kill => self.killed()?,
            Own::Link => self.lose(Loss::Link {
                detail: "reset".to_owned(),
            }),
            Own::Detached => self.lose(Loss::Detached),
            Own::Browser => {
                self.driver.browser = false;
                self.driver.tab = false;
                self.page.doc += 1;
                self.lose(Loss::BrowserGone {
                    detail: "it ended".to_owned(),
                });
            }
            Own::TabClosed => {
                self.driver.tab = false;
                self.page.doc += 1;
                self.lose(Loss::TabClosed);
            }
            Own::Crash => {
                let hung = self.page.busy_until > self.now;
                self.page.crashed |= !hung;
                self.lose(if hung {
                    Loss::RendererHung
                } else {
                    Loss::RendererCrashed
                });
            }
            Own::AnswerLost => self.driver.loses_answer = true,
            Own::Stale => self.stale(),
            Own::Malformed => self.observe(What::Malformed {
                source: "observer".to_owned(),
                len: 12,
                why: "not JSON".to_owned(),
            }),
            Own::BeatMissed => self.observe(What::Beat(Beat {
                browser: Pulse::Alive,
                renderer: Pulse::Missed,
            })),
            Own::DiskEio => {
                self.disk.next = match self.chance(50) {
                    true => Next::ErrorStored,
                    false => Next::ErrorLost,
                };
            }
            Own::DiskFull => self.disk.next = Next::Full,
            Own::TornTail => {
                let part = self.draw(0, 99);
                self.disk.next = Next::Torn(u8::try_from(part).unwrap_or(0));
            }
            Own::Fenced => self.fenced(),
            Own::AgentFails => self.agent.does = Does::Fails,
            Own::AgentNever => self.agent.does = Does::NeverStarts,
            Own::AgentDies => self.agent.does = Does::Dies,
            Own::AgentHangs => self.agent.does = Does::Hangs,
            Own::AgentOutlives => self.agent.does = Does::Outlives,
            Own::AgentKilledToo => self.agent.does = Does::KilledToo,
            Own::AskExpires => self.agent.does = Does::AskExpires,
            Own::PersonTypes | Own::PersonEdits => {
                self.page.draft.push_str(" hm");
                self.checks.edited = true;
                self.touch();
            }
            Own::PersonQuotes => self.quote(),
            Own::Signal => self.signal(),
            // In what the remote says.
            Own::BadAck
            | Own::Prose
            | Own::TwoBlocks
            | Own::BadFrame
            | Own::NoSection
            | Own::ProseOnly
            | Own::PlanEarly
            | Own::PlanAgain
            | Own::Blocked
            | Own::ThinksLong
            | Own::OpenFence => {}
        }
        Ok(())
    }

    /// Something of an older attachment, as late as can be.
    fn stale(&mut self) {
        let epoch = Epoch(self.driver.epoch.saturating_sub(1));
        let mut look = self.make_look();
        look.tail.clear();
        look.turns_shown = 0;
        let observation = Observation {
            epoch,
            what: What::Look(Box::new(look)),
        };
        let link = self.driver.link;
        self.plan(1, Event::Arrives(link, Box::new(observation)));
    }

    /// A second relay claims the journal, and is gone again at once.
    fn fenced(&mut self) {
        use protocol::record::Journal as _;
        // Claiming cannot fail on this disk.
        let _ = self.disk.claim();
        self.checks.disk_failed = true;
    }

    /// A process ended in good order: a person looks at it.
    pub(super) fn ended(&mut self, stop: Stop) -> Result<(), Violation> {
        self.say(|| format!("ended: {} {:?}: {}", stop.outcome, stop.row, stop.why));
        self.checks.ended(&stop)?;
        self.take_process();
        self.stops.push(stop.clone());
        let over = self.checks.state().is_closed() || self.processes >= PROCESSES_MAX;
        if over {
            self.close();
            return Ok(());
        }
        let after = self.draw(500, 60_000);
        if self.checks.disk_failed {
            self.checks.disk_failed = false;
            self.plan(after, Event::Start);
            return Ok(());
        }
        if !stop.standing {
            return self.goes_on(&stop, after);
        }
        if self.checks.stands.is_some() {
            // It stood over a restart, too: that is the end of it.
            self.close();
            return Ok(());
        }
        if self.lifted < LIFTED_MAX && !self.course.is_calm(self.now) && self.chance(60) {
            self.lifted += 1;
            self.decides(&stop)?;
        } else {
            self.checks.stands = Some(stop);
        }
        self.plan(after, Event::Start);
        Ok(())
    }

    fn goes_on(&mut self, stop: &Stop, after: u64) -> Result<(), Violation> {
        // What is not as needed and stays so for a while ends it honestly.
        let environment = |stop: &&Stop| stop.outcome == Outcome::Environment;
        let many = self.stops.iter().filter(environment).count();
        if stop.outcome == Outcome::Environment && many > 3 {
            self.close();
        } else {
            self.plan(after, Event::Start);
        }
        Ok(())
    }

    /// A person who knows the truth says it, and lifts the stop.
    fn decides(&mut self, stop: &Stop) -> Result<(), Violation> {
        let state = self.checks.state();
        let mut receipt = None;
        let choice = match &state.plan {
            Some(plan) if plan.stage == PlanStage::InDoubt => {
                let (round, key) = (plan.accepted.round, plan.accepted.key.clone());
                receipt = Some((true, Private::from("a person saw it run")));
                match self.agent.ran.contains_key(&plan.accepted.digest) {
                    true if self.agent.ended(key.as_str()) => Choice::Ran { round, plan: key },
                    true => return self.leaves(stop),
                    false => Choice::DidNotRun { round, plan: key },
                }
            }
            Some(_) | None => match state.in_flight() {
                Some(row) if row.state() == SendState::Unknown => {
                    let (send, text) = (row.intent.send, row.intent.text.as_str());
                    let there = self.server.users.iter().any(|(_, taken)| taken == text);
                    match there {
                        true => Choice::Sent { send },
                        false => Choice::NotSent { send },
                    }
                }
                Some(_) | None => Choice::Lift,
            },
        };
        let given = Given {
            who: "a person".to_owned(),
            why: "looked".to_owned(),
            receipt,
            limit: None,
        };
        let records = choice.records(state, &given).unwrap_or_default();
        for record in records {
            self.person_stores(&record)?;
        }
        Ok(())
    }

    /// Nobody can tell: it stays as it is.
    fn leaves(&mut self, stop: &Stop) -> Result<(), Violation> {
        self.checks.stands = Some(stop.clone());
        Ok(())
    }

    /// Nothing happens any more.
    pub(super) fn at_the_end(&mut self) -> Result<(), Violation> {
        let calm = self.course.fired.is_empty();
        let last = self.stops.last().map(|stop| stop.outcome);
        match last {
            None => Err(Violation::new("progress", "the session never ended")),
            Some(Outcome::Done) => Ok(()),
            Some(outcome) if calm => {
                let why = format!("nothing went wrong and it ended in {outcome}");
                Err(Violation::new("progress", &why))
            }
            Some(_) => Ok(()),
        }
    }
}
