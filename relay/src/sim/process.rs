//! One process of the relay in a simulated world: the production core, driven as the
//! relay's loop drives it, with everything that it asks for carried out by the world.

use protocol::{
    id::Sid,
    limits::Limits,
    message::{Objective, Offer},
    outcome::Signal,
    page::{AttachCause, ConversationId, Observation},
    record::{
        Entry, Journal as _, JournalError, Opened, Owner, Record, SCHEMA_VERSION, Seq, State, fold,
    },
    session::{AgentReport, BrowserBy, Effect, Input, Pace, Phase, Start, TabBy},
    text::Private,
    time::{Millis, WallMs},
    wire,
};

use super::{
    check::Violation,
    disk::Next,
    driver::Attaching,
    fault::Side,
    world::{Event, World},
};
use crate::{
    pacing,
    run::{Core, Due},
};

/// The session's id.
pub const SID: &str = "9f83a7c1d42e650b";
/// The person's request.
pub const REQUEST: &str = "修复 calc.sh";

/// One process of the relay.
pub struct Process {
    core: Core,
    owner: Owner,
    /// The world's clock when this one's stood at `base`.
    since: u64,
    base: u64,
    /// A standing stop, with which it has to end at once.
    pub(super) standing: bool,
}

impl Process {
    fn clock(&self, now: u64) -> Millis {
        Millis(self.base + (now - self.since))
    }

    /// When it wakes, on the world's clock.
    pub fn due(&self, now: u64) -> Due {
        let due = self.core.due(self.clock(now));
        let at = Millis((due.at.0 + self.since).saturating_sub(self.base));
        Due { at, ..due }
    }

    /// Where it stands.
    pub fn phase(&self) -> Phase {
        self.core.phase()
    }

    /// The conversation it is bound to.
    pub fn bound(&self) -> Option<ConversationId> {
        self.core.state().conversation.clone()
    }

    /// Everything durable that is true, as it believes.
    pub fn state(&self) -> &State {
        self.core.state()
    }
}

/// The first record of the session.
fn opened() -> Record {
    #[allow(clippy::unwrap_used, reason = "a constant of ours")]
    let sid = Sid::parse(SID).unwrap();
    Record::Opened(Box::new(Opened {
        schema: SCHEMA_VERSION,
        offer: Offer::standard(sid, wire::tag(REQUEST), Objective::default()),
        request: Private::from(REQUEST),
        chat: "http://chat/".to_owned(),
        workspace: "/ws".to_owned(),
        agent: "shell".to_owned(),
        limits: Limits::default(),
    }))
}

impl World {
    /// A process starts: it takes the journal over and goes on from what is there.
    pub(super) fn start(&mut self) -> Result<(), Violation> {
        self.processes += 1;
        self.driver.link = self.processes;
        let entries = self
            .disk
            .open()
            .map_err(|error| Violation::new("journal", &error.to_string()))?;
        let mut state =
            fold(&entries).map_err(|error| Violation::new("fold", &error.to_string()))?;
        // A write that failed may have reached the disk: what stands there counts.
        let known = self.checks.state().seq;
        for entry in entries.iter().filter(|entry| entry.seq > known) {
            self.checks.stored(entry, &self.agent, &self.server)?;
        }
        self.checks.refolded(&state)?;
        let owner = self
            .disk
            .claim()
            .map_err(|error| Violation::new("journal", &error.to_string()))?;
        let base = state.run_ms;
        let standing = state.standing_stop().is_some();
        let (nth, seq) = (self.processes, state.seq);
        self.say(|| format!("process {nth} starts after record {seq}"));
        let first = match state.opened {
            None => Some(opened()),
            Some(_) if standing => None,
            Some(_) => Some(Record::Resumed {
                version: "0".to_owned(),
            }),
        };
        if let Some(record) = first {
            let stored = self.disk.append(owner, state.seq, WallMs(0), base, &record);
            match stored {
                Ok(entry) => {
                    state
                        .apply(&entry)
                        .map_err(|error| Violation::new("fold", &error.to_string()))?;
                    self.checks.stored(&entry, &self.agent, &self.server)?;
                }
                Err(_) => {
                    // Nothing was begun: the person tries again.
                    self.plan(5_000, Event::Start);
                    return Ok(());
                }
            }
        }
        let start = Start {
            browser: BrowserBy::Relay,
            tab: TabBy::Relay,
            ..Start::default()
        };
        let core = Core::new(Millis(base), state, Limits::default(), start, None);
        self.process = Some(Process {
            core,
            owner,
            since: self.now,
            base,
            standing,
        });
        if !self.driver.browser {
            self.driver.browser = true;
            self.driver.tab = false;
        }
        self.driver.let_go();
        if !standing {
            let attaching = Attaching::first(self.processes, self.home());
            let after = self.draw(50, 600);
            self.plan(after, Event::Attach(attaching));
        }
        Ok(())
    }

    /// The address at which a process finds its conversation again.
    fn home(&self) -> String {
        match self.process.as_ref().and_then(Process::bound) {
            Some(id) => format!("http://chat/c/{id}"),
            None => "http://chat/".to_owned(),
        }
    }

    fn with<T>(&mut self, act: impl FnOnce(&mut Process, Millis) -> T) -> Option<T> {
        let now = self.now;
        self.process.as_mut().map(|process| {
            let at = process.clock(now);
            act(process, at)
        })
    }

    fn input(&mut self, input: Input) {
        self.with(|process, at| process.core.input(at, input));
    }

    fn weigh(&mut self) {
        self.with(|process, at| process.core.weigh(at));
    }

    pub(super) fn wake(&mut self, due: Due) {
        self.with(|process, at| {
            let paced = due.paced;
            process.core.woken(at, Due { at, paced });
        });
        self.weigh();
    }

    pub(super) fn arrives(&mut self, link: u32, observation: Observation) {
        if link == self.driver.link {
            self.with(|process, at| process.core.observed(at, observation));
            self.weigh();
        }
    }

    pub(super) fn agent_says(&mut self, link: u32, report: AgentReport) {
        if link == self.driver.link {
            self.say(|| format!("agent: {report:?}"));
            self.input(Input::Agent(report));
            self.weigh();
        }
    }

    pub(super) fn signal(&mut self) {
        self.input(Input::Interrupt(Signal::Interrupt));
        self.weigh();
    }

    /// Carries out all that the machine wants now, in its order.
    pub(super) fn carry_out(&mut self) -> Result<(), Violation> {
        let mut budget = EFFECTS_MAX;
        loop {
            let factor = self.draw(70, 130);
            let effect =
                self.with(|process, at| process.core.poll_effect(at, |pace| pause(pace, factor)));
            let Some(effect) = effect.flatten() else {
                return Ok(());
            };
            budget -= 1;
            if budget == 0 {
                return Err(Violation::new("bounds", "effects without end"));
            }
            self.effects += 1;
            let (nth, now) = (self.effects, self.now);
            if self.course.kills(nth, Side::Before, now, &mut self.rng) {
                self.say(|| format!("KILLED before effect {nth}"));
                return self.killed();
            }
            self.effect(effect)?;
            if self.process.is_some() && self.course.kills(nth, Side::After, now, &mut self.rng) {
                self.say(|| format!("KILLED after effect {nth}"));
                return self.killed();
            }
        }
    }

    fn effect(&mut self, effect: Effect) -> Result<(), Violation> {
        let link = self.driver.link;
        let nth = self.effects;
        if !matches!(effect, Effect::Append(_)) {
            self.say(|| format!("{nth:>4} {}", name(&effect)));
        }
        self.checks.effect(&effect, self.process.as_ref())?;
        match effect {
            Effect::Append(record) => self.append(&record)?,
            Effect::Page(command) => {
                let after = self.draw(2, 30);
                self.plan(after, Event::Command(link, Box::new(command)));
            }
            Effect::Reattach => self.attach(AttachCause::Link, None),
            Effect::Reopen { address } => self.attach(AttachCause::Document, Some(address)),
            Effect::Relaunch { address } => self.attach(AttachCause::Browser, Some(address)),
            Effect::Prepare(_) => self.prepare(),
            Effect::Spawn(plan) => self.spawn(&plan),
            Effect::LetGo => self.let_it_go()?,
            Effect::Adopt(plan) => self.adopt(&plan),
            Effect::StopAgent => self.stop_agent(),
            Effect::Finish(stop) => self.ended(stop)?,
            // Carried out inside the core.
            Effect::Watch { .. } | Effect::Rewatch | Effect::Unwatch | Effect::Pace(_) => {}
        }
        Ok(())
    }

    fn append(&mut self, record: &Record) -> Result<(), Violation> {
        let Some(process) = &self.process else {
            return Ok(());
        };
        let (owner, seq) = (process.owner, process.state().seq);
        let run_ms = process.clock(self.now).0;
        let torn = matches!(self.disk.next, Next::Torn(_));
        let stored = self
            .disk
            .append(owner, seq, WallMs(self.now), run_ms, record);
        let nth = self.effects;
        match stored {
            Ok(entry) => {
                self.say(|| {
                    format!(
                        "{nth:>4} append {} {}",
                        entry.seq,
                        record_name(&entry.record)
                    )
                });
                self.checks.stored(&entry, &self.agent, &self.server)?;
                self.input(Input::Stored(Box::new(entry.clone())));
                self.live_is_the_fold(&entry)?;
            }
            Err(_) if torn => {
                self.say(|| "power goes while a record is written".to_owned());
                self.killed()?;
            }
            Err(error) => {
                self.say(|| format!("{nth:>4} append FAILED {}: {error}", record_name(record)));
                self.checks.disk_failed = true;
                self.input(Input::NotStored(error));
            }
        }
        Ok(())
    }

    fn live_is_the_fold(&mut self, entry: &Entry) -> Result<(), Violation> {
        match &self.process {
            Some(process) => self.checks.same(process.state(), entry),
            None => Ok(()),
        }
    }

    /// The process is gone, all at once. Somebody starts another one.
    pub(super) fn killed(&mut self) -> Result<(), Violation> {
        let Some(process) = self.process.take() else {
            return Ok(());
        };
        self.run_ms = process.clock(self.now).0;
        self.driver.let_go();
        self.agent_alone(false);
        let after = self.draw(200, 20_000);
        self.plan(after, Event::Start);
        Ok(())
    }

    /// Stores what a person decides between two processes.
    pub(super) fn person_stores(&mut self, record: &Record) -> Result<(), Violation> {
        let entries = self
            .disk
            .open()
            .map_err(|error| Violation::new("journal", &error.to_string()))?;
        let seq = entries.last().map_or(Seq(0), |entry| entry.seq);
        let run_ms = entries.last().map_or(0, |entry| entry.run_ms);
        let owner = self.disk.claim().map_err(journal)?;
        self.disk.next = Next::Stores;
        let entry = self
            .disk
            .append(owner, seq, WallMs(self.now), run_ms, record)
            .map_err(journal)?;
        self.say(|| format!("a person: {}", record_name(record)));
        self.checks.stored(&entry, &self.agent, &self.server)
    }

    /// How the process ended, in good order.
    pub(super) fn take_process(&mut self) -> Option<Process> {
        self.driver.let_go();
        self.agent_alone(true);
        self.process.take()
    }
}

fn journal(error: JournalError) -> Violation {
    Violation::new("journal", &error.to_string())
}

/// The relay's own pauses, a third around their middle.
fn pause(pace: Pace, factor: u64) -> u64 {
    let (nth, first, longest) = pacing::shape(pace);
    let grown = first.saturating_mul(u64::from(pacing::GROWTH).saturating_pow(nth));
    grown.min(longest) * factor / 100
}

/// An effect, without any text.
fn name(effect: &Effect) -> String {
    match effect {
        Effect::Append(record) => format!("append {}", record_name(record)),
        Effect::Page(command) => format!("page {}", command.ask.name()),
        Effect::Reattach => "reattach".to_owned(),
        Effect::Reopen { address } => format!("reopen {address}"),
        Effect::Relaunch { address } => format!("relaunch {address}"),
        Effect::Watch { send, .. } => format!("watch {send}"),
        Effect::Rewatch => "rewatch".to_owned(),
        Effect::Unwatch => "unwatch".to_owned(),
        Effect::Prepare(plan) => format!("prepare {}", plan.key),
        Effect::Spawn(plan) => format!("spawn {}", plan.key),
        Effect::LetGo => "let go".to_owned(),
        Effect::Adopt(plan) => format!("adopt {}", plan.key),
        Effect::StopAgent => "stop the agent".to_owned(),
        Effect::Pace(_) => "pause".to_owned(),
        Effect::Finish(stop) => format!("finish: {}: {}", stop.outcome, stop.why),
    }
}

/// A record, without any text.
pub(super) fn record_name(record: &Record) -> String {
    match record {
        Record::Intent(intent) => format!("intent {} {}", intent.send, intent.message),
        Record::Outcome {
            send,
            state,
            evidence,
        } => format!("outcome {send} {state} by {evidence:?}"),
        Record::Judged {
            send, judgement, ..
        } => {
            let judged = format!("{judgement:?}");
            let short: String = judged.chars().take(90).collect();
            format!("judged {send} {short}")
        }
        Record::Decided {
            row, action, facts, ..
        } => format!("decided {row} {action} [{facts}]"),
        Record::Stopped(stop) => format!("stopped {} {:?}: {}", stop.outcome, stop.row, stop.why),
        Record::Read { turns, anchor, .. } => format!("read {turns} turns, {anchor:?}"),
        Record::Opened(_) => "opened".to_owned(),
        other @ (Record::Resumed { .. }
        | Record::Attached { .. }
        | Record::Bound { .. }
        | Record::Dispatching { .. }
        | Record::Started { .. }
        | Record::NotStarted { .. }
        | Record::Settled { .. }
        | Record::InDoubt { .. }
        | Record::Lifted { .. }
        | Record::Attested { .. }
        | Record::Abandoned { .. }) => {
            let all = format!("{other:?}");
            all.chars().take(120).collect()
        }
    }
}

/// More effects than any one thing that happens may lead to.
const EFFECTS_MAX: u32 = 400;
