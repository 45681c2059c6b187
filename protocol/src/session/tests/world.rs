//! A page, a remote, an agent and a journal, all in memory; each answers what
//! the machine asks, and a test bends one of them.

mod page;

pub use page::ClickDoes;

use super::words::{ack, name};
use crate::{
    id::{Digest, Sid},
    limits::Limits,
    message::{self, Head, Objective, Offer},
    outcome::Signal,
    page::{
        Anchor, Answer, Ask, AttachCause, Attachment, Click, Composed, Composer, Control,
        ConversationId, Draft, Epoch, Look, Observation, PageCommand, Place, Reading, Refusal,
        Role, TargetId, Turn, TurnId, TurnKey, What,
    },
    record::{Entry, Journal, MemoryJournal, Opened, Owner, Record, State, Stop, fold},
    reply::{CaptureFailure, Captured, EndWitness, Source, Verdict},
    send::{Located, locate},
    session::{AgentReport, Effect, Input, Session, Start},
    text::Private,
    time::{Millis, SpanMs, WallMs},
    wire,
};

pub const SID: &str = "9f83a7c1d42e650b";
/// What the remote answers to a message.
pub type Says = Box<dyn Fn(&Head) -> String>;

/// More effects than any one thing that happens may lead to.
const EFFECTS_MAX: usize = 400;

pub const REQUEST: &str = "修复 calc.sh";

/// What the agent does with a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentDoes {
    Settle,
    Fail,
    Doubt,
    NeverStart,
    LetAskExpire,
    Hang,
}

pub struct World {
    pub session: Session,
    pub journal: MemoryJournal,
    owner: Owner,
    pub now: Millis,
    /// The tab that is attached to.
    pub tab: &'static str,
    pub epoch: Epoch,
    pub thread: Vec<Turn>,
    pub draft: String,
    pub place: Place,
    /// Answers of the remote, oldest first; when spent it says nothing.
    pub remote: Vec<Says>,
    pub agent: AgentDoes,
    pub clicks: Vec<ClickDoes>,
    pub refuse_compose: Option<Refusal>,
    pub effects: Vec<String>,
    /// Records are stored at once; off, a test stores them itself.
    pub storing: bool,
    /// Effects whose name begins so are given out and not carried out.
    pub hold: Option<&'static str>,
    pub stop: Option<Stop>,
    watched: Option<crate::id::SendId>,
    /// RESUME and RESYNC are acknowledged without a word of `remote`.
    pub acknowledges: bool,
    /// The page generates something.
    pub busy: bool,
    /// The thread reads whole.
    pub whole: bool,
    /// What the next process knows of itself.
    pub start: Start,
    /// How long an awaited reply may show nothing before it counts as not proven;
    /// none: for ever.
    pub patience: Option<SpanMs>,
    watched_since: Millis,
    /// Plans that were let go.
    pub executed: Vec<String>,
    /// A wrapper that waits to be let go; its pipe closes with the relay.
    spawned: Option<String>,
    /// What the server received and gave, in its order: the judge's log.
    pub log: Vec<(Role, String)>,
    /// Received and not shown yet.
    pub echo: Option<String>,
    last_call: Option<crate::page::CallId>,
    replies: Vec<Captured>,
    turns: u32,
}

pub fn opened() -> Opened {
    let sid = Sid::parse(SID).unwrap();
    Opened {
        schema: crate::record::SCHEMA_VERSION,
        offer: Offer::standard(sid, wire::tag(REQUEST), Objective::default()),
        request: Private::from(REQUEST),
        chat: "http://chat".into(),
        workspace: "/ws".into(),
        agent: "shell".into(),
        limits: Limits::default(),
    }
}

impl World {
    pub fn new() -> Self {
        Self::with(Limits::default())
    }

    pub fn with(limits: Limits) -> Self {
        let mut journal = MemoryJournal::default();
        let owner = journal.claim().unwrap();
        let record = Record::Opened(Box::new(Opened {
            limits: limits.clone(),
            ..opened()
        }));
        let entry = journal
            .append(owner, crate::record::Seq(0), WallMs(0), 0, &record)
            .unwrap();
        let mut state = State::default();
        state.apply(&entry).unwrap();
        Self {
            session: Session::new(Millis(1_000), state, limits, Start::default()),
            journal,
            owner,
            now: Millis(1_000),
            tab: "T1",
            epoch: Epoch(0),
            thread: Vec::new(),
            draft: String::new(),
            place: Place::Fresh,
            remote: vec![Box::new(ack)],
            agent: AgentDoes::Settle,
            clicks: Vec::new(),
            refuse_compose: None,
            effects: Vec::new(),
            storing: true,
            hold: None,
            stop: None,
            watched: None,
            acknowledges: false,
            busy: false,
            whole: true,
            start: Start::default(),
            patience: None,
            watched_since: Millis(0),
            executed: Vec::new(),
            spawned: None,
            log: Vec::new(),
            echo: None,
            last_call: None,
            replies: Vec::new(),
            turns: 0,
        }
    }

    /// A world whose remote acknowledges and then answers with these.
    pub fn answering(answers: impl IntoIterator<Item = Says>) -> Self {
        let mut world = Self::new();
        world.remote.extend(answers);
        world
    }

    pub fn input(&mut self, input: Input) {
        self.session.handle(self.now, input);
    }

    pub fn observe(&mut self, what: What) {
        let observation = Observation {
            epoch: self.epoch,
            what,
        };
        self.input(Input::Observed(Box::new(observation)));
    }

    pub fn attach(&mut self, cause: AttachCause) {
        self.epoch = Epoch(self.epoch.0 + 1);
        self.observe(What::Attached(Attachment {
            cause,
            target: TargetId(self.tab.into()),
            browser: "Chrome/156".into(),
            address: "http://chat".into(),
        }));
        self.look();
    }

    /// Carries effects out until the machine waits, letting time pass when it
    /// does, for `ticks` wake-ups at most.
    pub fn run(&mut self, ticks: u32) {
        self.drain();
        for _ in 0..ticks {
            if self.stop.is_some() {
                return;
            }
            // The relay looks now and then even where the machine waits for ever.
            let now_and_then = self.patience.map(|_| self.now + 1_000);
            let Some(wake) = self.session.next_wake().or(now_and_then) else {
                return;
            };
            // A look every second, as the driver's net gives it.
            self.now = Millis(wake.0.min(self.now.0 + 1_000).max(self.now.0));
            if self.epoch > Epoch(0) {
                self.look();
            }
            self.input(Input::Tick);
            self.drain();
            self.lose_patience();
        }
    }

    /// The reply is proven where it stands; else, after its deadline, it is not.
    fn lose_patience(&mut self) {
        let Some(patience) = self.patience else {
            return;
        };
        self.prove();
        self.drain();
        if self.watched.is_some() && self.now.since(self.watched_since) >= patience {
            self.watched_since = self.now;
            let (limit, missing) = ("reply_streaming_s".to_owned(), Vec::new());
            let why = CaptureFailure::Deadline { limit, missing };
            self.verdict(Verdict::CaptureFailed { why });
        }
    }

    pub fn drain(&mut self) {
        let before = self.effects.len();
        while let Some(effect) = self.session.poll_effect() {
            if let Effect::Page(command) = &effect {
                self.last_call = Some(command.call);
            }
            let name = name(&effect);
            let held = self.hold.is_some_and(|held| name.starts_with(held));
            self.effects.push(name);
            assert!(
                self.effects.len() - before < EFFECTS_MAX,
                "effects without end"
            );
            if !held {
                self.carry_out(effect);
            }
        }
    }

    pub fn store(&mut self, record: &Record) -> Entry {
        let seq = self.session.state().seq;
        let entry = self
            .journal
            .append(self.owner, seq, WallMs(0), self.now.0, record)
            .unwrap();
        self.input(Input::Stored(Box::new(entry.clone())));
        let live = fold(&self.journal.entries().unwrap()).unwrap();
        assert_eq!(&live, self.session.state(), "the live state is the fold");
        entry
    }

    fn carry_out(&mut self, effect: Effect) {
        match effect {
            Effect::Append(record) if self.storing => {
                self.store(&record);
            }
            Effect::Append(_) => {}
            Effect::Page(command) => self.page(command),
            Effect::Reattach => self.attach(AttachCause::Link),
            Effect::Reopen { .. } => self.attach(AttachCause::Document),
            Effect::Relaunch { .. } => self.attach(AttachCause::Browser),
            Effect::Watch { send, .. } => {
                self.watched = Some(send);
                self.watched_since = self.now;
            }
            Effect::Unwatch => self.watched = None,
            Effect::Rewatch => self.watched_since = self.now,
            Effect::Prepare(_) => match self.agent {
                AgentDoes::LetAskExpire => self.input(Input::Agent(AgentReport::AskExpired)),
                AgentDoes::Settle
                | AgentDoes::Fail
                | AgentDoes::Doubt
                | AgentDoes::NeverStart
                | AgentDoes::Hang => self.input(Input::Agent(AgentReport::Prepared)),
            },
            Effect::Spawn(plan) => {
                self.spawned = Some(plan.key.to_string());
                if self.agent == AgentDoes::NeverStart {
                    self.spawned = None;
                    let why = "no such program".to_owned();
                    self.input(Input::Agent(AgentReport::NotStarted { why }));
                } else {
                    self.input(Input::Agent(AgentReport::Ready {
                        group: 7,
                        kept: None,
                    }));
                }
            }
            Effect::LetGo => {
                self.executed.extend(self.spawned.take());
                let report = match self.agent {
                    AgentDoes::Settle | AgentDoes::Fail => AgentReport::Settled {
                        ok: self.agent == AgentDoes::Settle,
                        receipt: Private::from(format!("ran {}", self.executed.len())),
                    },
                    AgentDoes::Doubt => AgentReport::InDoubt {
                        why: "killed".into(),
                    },
                    AgentDoes::NeverStart | AgentDoes::LetAskExpire | AgentDoes::Hang => return,
                };
                self.input(Input::Agent(report));
            }
            Effect::Adopt(plan) => {
                let report = self.left_of(&plan.key.to_string());
                self.input(Input::Agent(report));
            }
            Effect::StopAgent => {
                let why = "killed at the end of its grace".to_owned();
                let report = match self.session.state().plan.as_ref().map(|plan| &plan.stage) {
                    Some(crate::record::PlanStage::Started { .. }) => AgentReport::InDoubt { why },
                    Some(
                        crate::record::PlanStage::Accepted | crate::record::PlanStage::InDoubt,
                    )
                    | None => AgentReport::Cancelled,
                };
                self.input(Input::Agent(report));
            }
            Effect::Pace(_) => self.input(Input::Paced),
            Effect::Finish(stop) => self.stop = Some(stop),
        }
    }

    /// What a restarted relay finds of a plan: a wrapper whose pipe closed before
    /// it was let go has run nothing, and says so.
    fn left_of(&self, plan: &str) -> AgentReport {
        let why = || "its pipe closed".to_owned();
        if !self.executed.iter().any(|ran| ran == plan) {
            return AgentReport::NotStarted { why: why() };
        }
        match self.agent {
            AgentDoes::Settle | AgentDoes::Fail => AgentReport::Settled {
                ok: self.agent == AgentDoes::Settle,
                receipt: Private::from(format!("ran {}", self.executed.len())),
            },
            AgentDoes::Hang => AgentReport::Alive,
            AgentDoes::Doubt | AgentDoes::NeverStart | AgentDoes::LetAskExpire => {
                AgentReport::InDoubt { why: why() }
            }
        }
    }

    /// The process dies and another one folds what it left.
    pub fn restart(&mut self) {
        self.fold_anew(None);
    }

    /// The same, with effects of that name given out and not carried out.
    pub fn restart_held(&mut self, hold: &'static str) {
        self.fold_anew(Some(hold));
    }

    fn fold_anew(&mut self, hold: Option<&'static str>) {
        self.owner = self.journal.claim().unwrap();
        let mut state = fold(&self.journal.entries().unwrap()).unwrap();
        let record = Record::Resumed {
            version: "0".into(),
        };
        let entry = self
            .journal
            .append(self.owner, state.seq, WallMs(0), self.now.0, &record)
            .unwrap();
        state.apply(&entry).unwrap();
        self.epoch = state.epoch;
        self.watched = None;
        self.spawned = None;
        self.stop = None;
        self.hold = hold;
        self.session = Session::new(self.now, state, Limits::default(), self.start.clone());
        self.drain();
        self.attach(AttachCause::First);
    }

    /// Stores a record beside the machine, as a person's command does between runs.
    pub fn record(&mut self, record: &Record) {
        let state = fold(&self.journal.entries().unwrap()).unwrap();
        let owner = self.journal.claim().unwrap();
        self.journal
            .append(owner, state.seq, WallMs(0), self.now.0, record)
            .unwrap();
    }

    /// Rows that the table took, in order, with what they do.
    pub fn rows(&self) -> Vec<String> {
        self.decisions().into_iter().map(|(row, _)| row).collect()
    }

    /// The same, each with its facts.
    pub fn decisions(&self) -> Vec<(String, String)> {
        let mut all = Vec::new();
        for entry in self.journal.entries().unwrap() {
            if let Record::Decided {
                row, action, facts, ..
            } = entry.record
            {
                all.push((format!("{row} {action}"), facts));
            } else if let Record::Stopped(Stop { row: Some(row), .. }) = entry.record {
                all.push((format!("{row} stop"), String::new()));
            }
        }
        all
    }

    pub fn verdict(&mut self, verdict: Verdict) {
        let send = self.watched.expect("a reply is awaited");
        self.input(Input::Verdict(send, Box::new(verdict)));
        self.drain();
    }

    pub fn interrupt(&mut self) {
        self.input(Input::Interrupt(Signal::Interrupt));
        self.drain();
    }

    /// How often the server took a message of this kind.
    pub fn taken(&self, header: &str) -> usize {
        let header = format!("# {header} ");
        self.thread
            .iter()
            .filter(|turn| turn.role == Role::User && turn.text.as_str().starts_with(&header))
            .count()
    }

    pub fn stop(&self) -> &Stop {
        self.stop.as_ref().unwrap_or_else(|| {
            panic!(
                "still running: {:?}, effects {:?}",
                self.session.phase(),
                self.effects
            )
        })
    }
}

/// Attaches and runs until the machine ends or has nothing left to wait for.
pub fn run(mut world: World) -> World {
    world.attach(AttachCause::First);
    world.run(400);
    world
}
