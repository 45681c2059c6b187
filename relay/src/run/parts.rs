//! What a run is put together from, what it asks of others, and how it ended.

use std::path::PathBuf;

use cdp::{Commands, Observations};
use protocol::{
    limits::Limits,
    outcome::Signal,
    record::{Entry, Journal, Owner, Record, State, Stop},
    reply::Progress,
    session::{AgentReport, Phase, Start},
    time::Millis,
};
use tokio::sync::mpsc;

use super::Hand;
use crate::{claims::ProfileUse, clock::Clock, sabotage::Break};

/// What a run is put together from.
pub struct Parts {
    /// The journal, claimed.
    pub journal: Box<dyn Journal + Send>,
    /// Whose claim it is.
    pub owner: Owner,
    /// What the journal folds to.
    pub state: State,
    /// What this process knows of itself before it looks at anything.
    pub start: Start,
    /// The limits in force, scaled.
    pub limits: Limits,
    /// The driver's commands.
    pub commands: Commands,
    /// The driver's observations.
    pub observations: Observations,
    /// Who carries plans out.
    pub hand: Hand,
    /// What it reports.
    pub agent: mpsc::Receiver<AgentReport>,
    /// Signals of the person, oldest first.
    pub signals: mpsc::Receiver<Signal>,
    /// A file whose appearance ends the run like a signal.
    pub stop_file: Option<PathBuf>,
    /// Locks on tab and conversation.
    pub claims: Box<dyn Claims + Send>,
    /// Leave a launched browser open at the end.
    pub keep_browser: bool,
    /// Whether other relays use that browser, too.
    pub profile: ProfileUse,
    /// The clock: what the session ran so far.
    pub clock: Clock,
    /// What divides every pause; 1 in earnest, more in tests.
    pub time_scale: u32,
    /// The guard that the demo takes away on purpose; none in earnest.
    pub sabotage: Option<Break>,
    /// The record after which the demo sends itself a SIGINT; none in earnest.
    pub interrupt_at: Option<u64>,
}

/// Exclusive claims on what two relays must not share.
//= spec L1
pub trait Claims {
    /// Takes what this record binds the session to; the answer names who holds it.
    ///
    /// # Errors
    /// The holder, for people.
    fn claim(&mut self, record: &Record) -> Result<(), String>;
}

/// Who is told how the run goes. Nothing it does can change the run.
pub trait Reporter {
    /// A record was stored.
    fn stored(&mut self, entry: &Entry, state: &State);
    /// Where the machine stands, at most a few times a second.
    fn progress(&mut self, phase: Phase, progress: Option<&Progress>, now: Millis);
    /// The run is over.
    fn finished(&mut self, stop: &Stop, state: &State, exit: u8);
}

/// How a run ended.
#[derive(Debug, Clone)]
pub struct Ending {
    /// The stop.
    pub stop: Stop,
    /// The signal that ended it, if one did.
    pub signal: Option<Signal>,
    /// Everything durable at the end.
    pub state: State,
}

impl Ending {
    /// The process's exit number.
    pub fn exit(&self) -> u8 {
        self.stop
            .outcome
            .exit(self.signal.unwrap_or(Signal::Interrupt))
    }
}
