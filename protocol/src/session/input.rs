//! What the machine takes and what it gives.

use crate::{
    fault::Code,
    id::SendId,
    message::Offer,
    outcome::Signal,
    page::{Anchor, Observation, PageCommand},
    record::{Accepted, Entry, JournalError, Record, Stop},
    recovery::facts::Lost,
    reply::Verdict,
    text::Private,
};

/// What a process knows of itself before it looks at anything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Start {
    /// What was lost on the way to it: the relay's own memory as a rule; more
    /// where the journal had to be made anew.
    pub lost: Lost,
    /// What this build offers in this session; none: what the journal holds.
    pub offer: Option<Offer>,
    /// Whose browser it is.
    pub browser: BrowserBy,
    /// Who opened the tab.
    pub tab: TabBy,
}

/// Whose the browser is: our own is started anew when it is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BrowserBy {
    /// The relay launched it, on a profile of its own.
    Relay,
    /// A person's: whether it runs is theirs to say.
    Person,
}

/// Who opened the tab: one that the relay opened is opened again by the
/// conversation's address where somebody closed it.
//= spec RP8
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TabBy {
    /// The relay.
    Relay,
    /// A person, who may close it for good.
    Person,
}

impl Default for Start {
    fn default() -> Self {
        Self {
            lost: Lost::Relay,
            offer: None,
            browser: BrowserBy::Person,
            tab: TabBy::Person,
        }
    }
}

/// What happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// Time passed; nothing else.
    Tick,
    /// The driver reports.
    Observed(Box<Observation>),
    /// Our own request, whole text and this conversation, was seen on the network.
    RequestSeen(SendId),
    /// What is known of the awaited reply.
    Verdict(SendId, Box<Verdict>),
    /// The record offered last is stored.
    Stored(Box<Entry>),
    /// The record offered last is not stored, or it cannot be told.
    NotStored(JournalError),
    /// The agent reports.
    Agent(AgentReport),
    /// The pause that was asked for is over.
    Paced,
    /// A signal or the stop file: end at the next safe point.
    Interrupt(Signal),
    /// In place of [`Input::Stored`] for an attachment or a binding: the tab or
    /// the conversation is held by another relay, whose name this is.
    //= spec L1
    HeldElsewhere(String),
    /// A part of ours broke: a panic, a task that ended by itself. One sentence.
    //= spec R15
    Defect(String),
}

/// What the agent side says of the plan it was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentReport {
    /// Policy and person have decided on every command.
    Prepared,
    /// The person did not answer in time; the plan stays accepted.
    //= spec P9
    AskExpired,
    /// It cannot be carried out here at all; no process was made.
    Unable {
        /// The stable code.
        code: Code,
        /// One sentence.
        why: String,
    },
    /// The wrapper stands ready, having run nothing.
    //= spec K6
    Ready {
        /// Its process group.
        group: u32,
        /// Where the workspace's state was kept.
        kept: Option<String>,
    },
    /// The wrapper of a plan that an earlier process started is at work: its end is awaited.
    Alive,
    /// It was asked to stop before anything was spawned: nothing runs.
    Cancelled,
    /// A spawn provably made no process of the plan.
    NotStarted {
        /// Why.
        why: String,
    },
    /// Every process ended by itself and the outcome is known.
    Settled {
        /// Whether the agent calls it a success.
        ok: bool,
        /// The receipt.
        receipt: Private,
    },
    /// It cannot be told whether or how far the plan ran.
    InDoubt {
        /// Why.
        why: String,
    },
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Store a record durably; answered by [`Input::Stored`] or [`Input::NotStored`].
    Append(Box<Record>),
    /// Ask the driver.
    Page(PageCommand),
    /// Ask the driver to attach once more, in a new epoch; a crashed or hung
    /// renderer is cured first.
    Reattach,
    /// Ask the driver to open the conversation again by its address.
    //= spec RP8
    Reopen {
        /// The conversation's own address.
        address: String,
    },
    /// Ask the driver to start our own browser anew and open the conversation.
    //= spec R5
    Relaunch {
        /// The conversation's own address.
        address: String,
    },
    /// Gather evidence for the reply to this send from here on.
    Watch {
        /// Which send.
        send: SendId,
        /// Our whole text.
        text: Private,
        /// What it stands after.
        anchor: Anchor,
    },
    /// Begin the deadlines of the awaited reply anew: it is read once more.
    Rewatch,
    /// No reply is awaited any more.
    Unwatch,
    /// Let policy and person decide on the plan's commands.
    Prepare(Box<Accepted>),
    /// Spawn the wrapper, which waits and runs nothing.
    Spawn(Box<Accepted>),
    /// Let the waiting wrapper go.
    LetGo,
    /// Find the wrapper of a plan that an earlier process started, or what it left:
    /// answered by [`AgentReport::Alive`], or by how the plan ended.
    Adopt(Box<Accepted>),
    /// Ask the agent to stop, then kill it after the grace.
    StopAgent,
    /// Pause as long as the pacing says; answered by [`Input::Paced`].
    Pace(Pace),
    /// The run is over.
    Finish(Stop),
}

/// What a pause is for, and how many came before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// Before the next re-read.
    Read {
        /// Counted from 0.
        nth: u32,
    },
    /// Before the next re-attachment.
    Reattach {
        /// Counted from 0.
        nth: u32,
    },
}
