//! The world: a virtual clock, what is going to happen, and everybody in it. One
//! thread, one seed; nothing waits and nothing is drawn but from the seed.

use std::collections::{BTreeMap, BTreeSet};

use fixtures::step::{Message, Phase};
use protocol::{
    page::{Observation, PageCommand},
    session::AgentReport,
};
use rand::{RngExt as _, SeedableRng as _, rngs::ChaCha8Rng};

use super::{
    agent::Agent,
    check::{Checks, Violation},
    course::Course,
    disk::Disk,
    driver::{Attaching, Driver},
    fault::{Fault, Own},
    page::{Page, PageEvent},
    process::Process,
    remote::Remote,
    server::{Server, ServerEvent},
};

/// What is going to happen.
#[derive(Debug, Clone)]
pub enum Event {
    /// An observation reaches the relay over this link.
    Arrives(u32, Box<Observation>),
    /// A command reaches the page over this link.
    Command(u32, Box<PageCommand>),
    /// The driver has found a tab, or not.
    Attach(Attaching),
    /// Something happens in that document.
    Page(u32, PageEvent),
    /// Something happens at the server.
    Server(ServerEvent),
    /// The agent side of that process says something.
    Agent(u32, AgentReport),
    /// A plan's commands come to their end.
    JobEnds(usize),
    /// A fault takes hold.
    Strikes(Own),
    /// A process of the relay is started.
    Start,
    /// The grace of an agent that was asked to stop is over.
    Grace(usize),
}

/// Everybody.
pub struct World {
    /// The clock, in milliseconds.
    pub now: u64,
    pub(super) rng: ChaCha8Rng,
    events: BTreeMap<(u64, u64), Event>,
    planned: u64,
    pub(super) course: Course,
    pub(super) server: Server,
    pub(super) remote: Remote,
    pub(super) page: Page,
    pub(super) driver: Driver,
    pub(super) disk: Disk,
    pub(super) agent: Agent,
    pub(super) process: Option<Process>,
    pub(super) checks: Checks,
    /// Which message the conversation is about at present.
    pub(super) message: Message,
    /// The moments that came about.
    pub(super) moments: BTreeSet<(String, &'static str)>,
    /// Effects so far, over all processes.
    pub(super) effects: u32,
    /// Processes so far.
    pub(super) processes: u32,
    /// Times that a person lifted a stop.
    pub(super) lifted: u32,
    /// Run time of the session so far.
    pub(super) run_ms: u64,
    pub(super) stops: Vec<protocol::record::Stop>,
    /// Which layout the page has.
    pub(super) keyed: bool,
    trace: Option<Vec<String>>,
    /// Events so far: the step that a violation names.
    pub steps: u64,
}

/// More events than any session can need: a bound against a fault of ours.
const STEPS_MAX: u64 = 400_000;
/// Virtual time within which every session has ended once nothing goes wrong any more.
pub const CALM_MS: u64 = 14 * 3_600_000;

impl World {
    /// A world that follows from a seed.
    pub fn new(seed: u64, rounds: u32, course: Course, traced: bool) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let keyed = rng.random();
        let mut world = Self {
            now: 1_000,
            events: BTreeMap::new(),
            planned: 0,
            course,
            server: Server::new(&mut rng),
            remote: Remote::new(rounds),
            page: Page::fresh(),
            driver: Driver::default(),
            disk: Disk::default(),
            agent: Agent::default(),
            process: None,
            checks: Checks::default(),
            message: Message::Any,
            moments: BTreeSet::new(),
            effects: 0,
            processes: 0,
            lifted: 0,
            run_ms: 0,
            stops: Vec::new(),
            keyed,
            trace: traced.then(Vec::new),
            steps: 0,
            rng,
        };
        world.plan(0, Event::Start);
        world
    }

    /// Says what happened, for people.
    pub fn say(&mut self, what: impl FnOnce() -> String) {
        if let Some(trace) = &mut self.trace {
            trace.push(format!("{:>9} ms  {}", self.now, what()));
        }
    }

    /// What was said, oldest first.
    pub fn trace(&self) -> &[String] {
        self.trace.as_deref().unwrap_or_default()
    }

    /// How the last process ended, if one did in good order.
    pub fn last_stop(&self) -> Option<&protocol::record::Stop> {
        self.stops.last()
    }

    /// Something happens after this span.
    pub(super) fn plan(&mut self, after_ms: u64, event: Event) {
        self.planned += 1;
        self.events
            .insert((self.now + after_ms, self.planned), event);
    }

    /// A number from this range, from the seed.
    pub(super) fn draw(&mut self, from: u64, to: u64) -> u64 {
        self.rng.random_range(from..=to)
    }

    pub(super) fn chance(&mut self, of_a_hundred: u32) -> bool {
        self.rng.random_ratio(of_a_hundred, 100)
    }

    /// Whether this fault happens at this phase of the present message.
    pub(super) fn hit(&mut self, fault: Fault, phase: Phase) -> bool {
        let message = self.message;
        let hit = self
            .course
            .hit(fault, message, phase, self.now, &mut self.rng);
        if hit {
            self.say(|| format!("FAULT {fault} at {message}.{}", phase.name()));
        }
        hit
    }

    /// The conversation comes to a phase: what was placed there takes hold.
    pub(super) fn moment(&mut self, phase: Phase) {
        let name = match phase {
            Phase::Load => String::new(),
            Phase::Composing
            | Phase::Submitting
            | Phase::Accepted
            | Phase::Thinking
            | Phase::Streaming
            | Phase::Finishing
            | Phase::Settled => self.message.to_string(),
        };
        self.moments.insert((name, phase.name()));
        for own in self.course.candidates(phase) {
            if self.hit(Fault::Own(own), phase) {
                let after = self.draw(0, 150);
                self.plan(after, Event::Strikes(own));
            }
        }
    }

    /// Lets everything happen until the session is over.
    ///
    /// # Errors
    /// The first promise that was broken.
    pub fn run(&mut self) -> Result<(), Violation> {
        while self.steps < STEPS_MAX {
            self.steps += 1;
            self.carry_out()?;
            let due = self.process.as_ref().map(|process| process.due(self.now));
            let next = self.events.first_key_value().map(|(key, _)| *key);
            match (due, next) {
                (None, None) => return self.at_the_end(),
                (Some(due), next) if next.is_none_or(|(at, _)| due.at.0 < at) => {
                    self.now = self.now.max(due.at.0);
                    self.wake(due);
                }
                (_, Some((at, _))) => {
                    self.now = self.now.max(at);
                    if let Some((_, event)) = self.events.pop_first() {
                        self.happens(event)?;
                    }
                }
                (Some(_), None) => {}
            }
            self.calm_down()?;
        }
        let why = "the world did not come to an end";
        Err(Violation::new("progress", why))
    }

    fn calm_down(&mut self) -> Result<(), Violation> {
        let quiet_from = self.course.calm_from();
        if self.now > quiet_from + CALM_MS {
            let phase = self.process.as_ref().map(Process::phase);
            let why =
                format!("nothing goes wrong any more and the session does not end: {phase:?}");
            return Err(Violation::new("progress", &why));
        }
        Ok(())
    }

    fn happens(&mut self, event: Event) -> Result<(), Violation> {
        match event {
            Event::Arrives(link, observation) => self.arrives(link, *observation),
            Event::Command(link, command) => self.command(link, *command)?,
            Event::Attach(attaching) => self.attached(attaching),
            Event::Page(doc, what) => self.page_event(doc, what),
            Event::Server(what) => self.server_event(what)?,
            Event::Agent(process, report) => self.agent_says(process, report),
            Event::JobEnds(job) => self.job_ends(job),
            Event::Grace(job) => self.grace_over(job),
            Event::Strikes(own) => self.strikes(own)?,
            Event::Start => self.start()?,
        }
        Ok(())
    }

    /// What was planned of this reply does not happen.
    pub(super) fn drop_plans_of(&mut self, turn: usize) {
        self.events.retain(|_, event| match event {
            Event::Server(ServerEvent::Writes(of, _) | ServerEvent::Finishes(of)) => *of != turn,
            Event::Server(
                ServerEvent::Receives(..) | ServerEvent::Begins(_) | ServerEvent::Settles(_),
            )
            | Event::Arrives(..)
            | Event::Command(..)
            | Event::Attach(_)
            | Event::Page(..)
            | Event::Agent(..)
            | Event::JobEnds(_)
            | Event::Grace(_)
            | Event::Strikes(_)
            | Event::Start => true,
        });
    }

    /// Whether anybody still has something to do in this world.
    pub(super) fn close(&mut self) {
        self.events.clear();
    }
}
