//! The one loop: whatever can wake the relay is one `Happened`, each is given
//! to the machine, and what the machine wants is carried out before the next.

mod broken;
mod core;
mod hand;
mod parts;
mod watch;

use std::{panic::AssertUnwindSafe, time::Duration};

use cdp::{Control, TabWish};
use futures::FutureExt as _;
use protocol::{
    fault::Code,
    outcome::{Outcome, Signal},
    page::{CallId, Observation, What},
    record::{JournalError, Record, Seq, Stop},
    session::{AgentReport, Effect, Input, Pace},
    time::{Millis, SpanMs},
};
use tokio::{
    sync::mpsc,
    time::{sleep, timeout},
};

pub use core::{Core, Due};
pub use hand::{Asked, Hand};
pub use parts::{Claims, Ending, Parts, Reporter};

use crate::{
    clock,
    crash::{self, At, When},
    pacing, start,
};

/// What can wake the loop.
enum Happened {
    Observed(Option<Observation>),
    Agent(AgentReport),
    Signal(Signal),
    Woken(Due),
}

/// At least this often the journal's claim is renewed.
const RENEW_MS: u64 = 5_000;
/// Letting go of browser and agent at the end: the agent's own grace comes on top.
const END_MS: u64 = 25_000;
/// The same after a second signal.
const END_NOW_MS: u64 = 1_000;
const _: () = assert!(cdp::Limits::DEFAULT.close_ms() < END_MS);

/// Runs a session to the end of this process's part in it.
pub async fn run(parts: Parts, reporter: &mut (dyn Reporter + Send)) -> Ending {
    let mut relay = Relay::new(parts, reporter);
    crash::pass(At::Page, When::Before, "attach");
    relay.tell_conversation().await;
    while relay.ended.is_none() {
        let turn = AssertUnwindSafe(relay.turn()).catch_unwind().await;
        if let Err(panic) = turn {
            relay.broke(broken::words(panic.as_ref()));
        }
    }
    relay.end().await
}

struct Relay<'r> {
    core: Core,
    parts: Parts,
    reporter: &'r mut (dyn Reporter + Send),
    /// The command that is out to the page.
    asked: Option<(CallId, &'static str)>,
    signal: Option<Signal>,
    signals: u32,
    stop_seen: bool,
    ended: Option<Stop>,
    driver_gone: bool,
    /// What broke, until the machine was told; empty from then on.
    broken: Option<String>,
    /// When the journal's claim is renewed next.
    renew_at: Millis,
}

impl<'r> Relay<'r> {
    fn new(parts: Parts, reporter: &'r mut (dyn Reporter + Send)) -> Self {
        let now = parts.clock.now();
        let (state, limits) = (&parts.state, &parts.limits);
        let core = Core::new(
            now,
            state.clone(),
            limits.clone(),
            parts.start.clone(),
            parts.sabotage,
        );
        interrupt(parts.interrupt_at, parts.state.seq);
        // Where nothing is to be seen any more there is no driver to miss.
        let driver_gone = start::ends_at_once(&parts.state);
        Self {
            core,
            parts,
            reporter,
            asked: None,
            signal: None,
            signals: 0,
            stop_seen: false,
            ended: None,
            driver_gone,
            broken: None,
            renew_at: now + RENEW_MS,
        }
    }

    /// A session that is gone on with knows its conversation before the driver does.
    async fn tell_conversation(&mut self) {
        if let Some(conversation) = self.core.state().conversation.clone() {
            self.drive(Control::Bind(conversation)).await;
        }
    }

    /// All that is to be done now, then the next thing that happens.
    async fn turn(&mut self) {
        self.tell_broken();
        self.carry_out().await;
        if self.ended.is_none() {
            let happened = self.next().await;
            self.take(happened).await;
        }
    }

    fn now(&self) -> Millis {
        self.parts.clock.now()
    }

    fn input(&mut self, input: Input) {
        let now = self.now();
        self.core.input(now, input);
    }

    /// Waits for the next thing that happens, the machine's wake-up included.
    async fn next(&mut self) -> Happened {
        let due = self.core.due(self.now());
        let until = self.parts.clock.until(due.at);
        let parts = &mut self.parts;
        let driver_gone = self.driver_gone;
        tokio::select! {
            biased;
            Some(signal) = parts.signals.recv() => Happened::Signal(signal),
            Some(report) = parts.agent.recv() => Happened::Agent(report),
            seen = parts.observations.recv(), if !driver_gone => Happened::Observed(seen),
            () = sleep(until) => Happened::Woken(due),
        }
    }

    async fn take(&mut self, happened: Happened) {
        match happened {
            Happened::Observed(Some(observation)) => self.observed(observation),
            Happened::Observed(None) => self.driver_ended(),
            Happened::Agent(report) => {
                if let AgentReport::Prepared = &report {
                    crash::pass(At::Agent, When::After, "prepare");
                }
                if let AgentReport::Ready { .. } = &report {
                    crash::pass(At::Agent, When::After, "spawn");
                }
                if let AgentReport::Settled { .. } = &report {
                    crash::pass(At::Agent, When::Before, "settled");
                }
                self.input(Input::Agent(report));
            }
            Happened::Signal(signal) => self.signalled(signal),
            Happened::Woken(due) => self.woken(due).await,
        }
        let now = self.now();
        self.core.weigh(now);
        let (phase, progress) = (self.core.phase(), self.core.progress());
        self.reporter.progress(phase, progress, now);
    }

    fn observed(&mut self, observation: Observation) {
        let now = self.now();
        if let What::Answer { call, .. } = &observation.what
            && let Some((_, name)) = self.asked.take_if(|(asked, _)| asked == call)
        {
            crash::pass(At::Page, When::After, name);
        }
        if let What::Attached(_) = &observation.what {
            crash::pass(At::Page, When::After, "attach");
        }
        if let What::Malformed { source, len, why } = &observation.what {
            tracing::warn!(%source, len, %why, "something from outside did not parse");
        }
        self.core.observed(now, observation);
    }

    //= spec RP5
    fn signalled(&mut self, signal: Signal) {
        self.signals += 1;
        self.signal.get_or_insert(signal);
        if self.signals > 1 {
            // The second one ends the process at once; what is open is told.
            let outcome = self.core.session().worst(Outcome::Interrupted);
            self.ended = Some(Stop {
                outcome,
                code: None,
                row: None,
                why: "a second signal ended the run at once".to_owned(),
                standing: false,
                interrupted: true,
                facts: None,
            });
            return;
        }
        self.input(Input::Interrupt(signal));
    }

    async fn woken(&mut self, due: Due) {
        let wanted = self.parts.stop_file.as_ref().filter(|_| !self.stop_seen);
        if let Some(path) = wanted
            && tokio::fs::try_exists(path).await.unwrap_or(false)
        {
            self.stop_seen = true;
            self.signal.get_or_insert(Signal::Interrupt);
            self.input(Input::Interrupt(Signal::Interrupt));
            return;
        }
        self.renew();
        let now = self.now();
        self.core.woken(now, due);
    }

    /// A relay that waits for long appends nothing: that its session is another's by now
    /// it learns by asking. Then nothing more is done and nothing can be written down.
    //= spec L1
    fn renew(&mut self) {
        let now = self.now();
        if now < self.renew_at {
            return;
        }
        self.renew_at = now + RENEW_MS;
        // What else may be wrong with the journal is met, and said, by the next record.
        if let Err(error @ JournalError::Fenced(_)) = self.parts.journal.renew(self.parts.owner) {
            tracing::error!(%error, "the session is another's");
            self.ended = Some(Stop {
                outcome: self.core.session().worst(Outcome::Locked),
                code: Some(Code::Locked),
                row: None,
                why: error.to_string(),
                facts: None,
                standing: false,
                interrupted: false,
            });
        }
    }

    /// Carries out all that the machine wants now, in its order.
    async fn carry_out(&mut self) {
        while self.ended.is_none() {
            let (now, scale) = (self.now(), self.parts.time_scale);
            let Some(effect) = self.core.poll_effect(now, |pace| pause(pace, scale)) else {
                return;
            };
            self.effect(effect).await;
        }
    }

    /// The only place that touches the page, the agent or the journal.
    async fn effect(&mut self, effect: Effect) {
        match effect {
            Effect::Append(record) => self.append(&record).await,
            Effect::Page(command) => {
                self.asked = Some((command.call, command.ask.name()));
                crash::pass(At::Page, When::Before, command.ask.name());
                self.drive(Control::Page(command)).await;
            }
            Effect::Reattach => self.drive(Control::Attach(None)).await,
            Effect::Reopen { address } => self.drive(Control::Attach(Some(by(address)))).await,
            Effect::Relaunch { address } => self.drive(Control::Relaunch(Some(by(address)))).await,
            Effect::Prepare(plan) => {
                crash::pass(At::Agent, When::Before, "prepare");
                self.parts.hand.prepare(self.core.state(), &plan);
            }
            Effect::Spawn(_) => {
                crash::pass(At::Agent, When::Before, "spawn");
                self.parts.hand.spawn();
            }
            Effect::LetGo => {
                crash::pass(At::Agent, When::Before, "let-go");
                self.parts.hand.let_go().await;
                crash::pass(At::Agent, When::After, "let-go");
            }
            Effect::Adopt(plan) => {
                crash::pass(At::Agent, When::Before, "adopt");
                self.parts.hand.adopt(self.core.state(), &plan);
                crash::pass(At::Agent, When::After, "adopt");
            }
            Effect::StopAgent => self.parts.hand.stop(self.parts.limits.stop_grace_ms),
            Effect::Finish(stop) => self.ended = Some(stop),
            // Carried out inside the core.
            Effect::Watch { .. } | Effect::Rewatch | Effect::Unwatch | Effect::Pace(_) => {}
        }
    }

    async fn drive(&mut self, control: Control) {
        if self.parts.commands.send(control).await.is_err() {
            self.driver_ended();
        }
    }

    /// Stores one record; what it permits follows only when it is stored.
    //= spec J1
    //= spec S2
    async fn append(&mut self, record: &Record) {
        //= spec L1
        if let Err(by) = self.parts.claims.claim(record) {
            self.input(Input::HeldElsewhere(by));
            return;
        }
        let parts = &mut self.parts;
        let seq = self.core.state().seq;
        let run_ms = parts.clock.now().0;
        let stored = parts
            .journal
            .append(parts.owner, seq, clock::wall(), run_ms, record);
        match stored {
            Ok(entry) => {
                self.input(Input::Stored(Box::new(entry.clone())));
                self.reporter.stored(&entry, self.core.state());
                interrupt(self.parts.interrupt_at, entry.seq);
                self.follow(record).await;
            }
            Err(error) => {
                tracing::error!(%error, "a record was not stored");
                self.input(Input::NotStored(error));
            }
        }
    }

    async fn follow(&mut self, record: &Record) {
        if let Record::Bound { conversation } = record {
            self.drive(Control::Bind(conversation.clone())).await;
        }
        let again = self
            .parts
            .sabotage
            .map(|sabotage| sabotage.resends(self.core.state(), record));
        for command in again.unwrap_or_default() {
            self.drive(Control::Page(command)).await;
        }
    }

    /// Lets go of everything: an agent that still runs is ended, the browser is
    /// closed or let go, the journal given back.
    async fn end(mut self) -> Ending {
        let stop = self.ended.take().unwrap_or_else(|| Stop {
            outcome: Outcome::Defect,
            code: None,
            row: None,
            why: "the loop ended without a stop".to_owned(),
            standing: false,
            interrupted: false,
            facts: None,
        });
        self.let_go_in_time().await;
        let (signal, state) = (self.signal, self.core.state().clone());
        let ending = Ending {
            stop,
            signal,
            state,
        };
        self.reporter
            .finished(&ending.stop, &ending.state, ending.exit());
        ending
    }

    async fn let_go_in_time(&mut self) {
        let (_, none) = mpsc::channel(1);
        let mut signals = std::mem::replace(&mut self.parts.signals, none);
        let come = self.signals;
        let second = async {
            for _ in come..2 {
                if signals.recv().await.is_none() {
                    return std::future::pending().await;
                }
            }
            sleep(Duration::from_millis(END_NOW_MS)).await;
        };
        let limit_ms = END_MS.saturating_add(self.parts.limits.stop_grace_ms);
        let let_go = timeout(Duration::from_millis(limit_ms), self.let_go());
        tokio::select! {
            _ = let_go => {}
            () = second => {}
        }
    }

    async fn let_go(&mut self) {
        crash::pass(At::Page, When::Before, "close");
        self.parts.hand.end(self.parts.limits.stop_grace_ms).await;
        let keep_browser = self.parts.keep_browser || !self.parts.profile.is_alone();
        if !self.driver_gone
            && self
                .parts
                .commands
                .send(Control::Close { keep_browser })
                .await
                .is_ok()
        {
            while self.parts.observations.recv().await.is_some() {}
        }
        crash::pass(At::Page, When::After, "close");
        if let Err(error) = self.parts.journal.release(self.parts.owner) {
            tracing::warn!(%error, "the journal was not given back");
        }
    }
}

fn pause(pace: Pace, scale: u32) -> SpanMs {
    let pause = pacing::pause(pace, scale).as_millis();
    u64::try_from(pause).unwrap_or(u64::MAX)
}

/// The conversation's own tab, opened by its address where none shows it.
fn by(address: String) -> TabWish {
    TabWish {
        conversation: Some(address.clone()),
        open_at: Some(address),
        ..TabWish::default()
    }
}

/// The demo's SIGINT to itself after a record: a real signal, on the real way.
fn interrupt(at: Option<u64>, stored: Seq) {
    if at == Some(stored.0) {
        // It cannot fail for ourselves.
        let _ = nix::sys::signal::raise(nix::sys::signal::Signal::SIGINT);
    }
}

/// A journal error under its stable code, for whoever opens one.
pub fn code_of(error: &JournalError) -> Code {
    match error {
        JournalError::Held { .. } => Code::Locked,
        JournalError::Fenced(_)
        | JournalError::NotStored { .. }
        | JournalError::Corrupt { .. }
        | JournalError::Newer { .. } => Code::Journal,
    }
}
