//! What is durable: the vocabulary of the journal, and the state it folds to.
//!
//! A record is written before the act it permits, and applied to [`State`] by
//! the same function live and after a restart: the live state *is* the fold.

mod attest;
mod elide;
mod fold;
mod journal;
mod plans;
mod resume;
mod state;

pub use crate::recovery::Cost;
pub use fold::{FoldError, fold};
pub use journal::{Fenced, Journal, JournalError, MemoryJournal, Owner};
pub use state::{Allowed, Budgets, Handshake, MayNot, Owed, PlanRow, PlanStage, SendRow, State};

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{
    fault::{Code, Fault},
    id::{Digest, PlanKey, Qid, Round, SendId, Sid},
    limits::Limits,
    message::Offer,
    outcome::Outcome,
    page::{Anchor, ConversationId, Epoch, TargetId, TurnId},
    plan::Decision,
    recovery::RowId,
    reply::{EndWitness, Source},
    send::{SendEvidence, SendKind, SendState},
    text::Private,
    time::{SpanMs, WallMs},
};

/// The version of this vocabulary. A journal of a newer one is refused.
pub const SCHEMA_VERSION: u32 = 1;

/// A record's place in the journal, counted from 1 without a gap.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Seq(pub u64);

impl Seq {
    /// The place after this one.
    pub const fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// A stored record with the circumstances of its storing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Its place.
    pub seq: Seq,
    /// Wall time, for people alone.
    pub at: WallMs,
    /// Run time of the session up to here, summed over its processes.
    pub run_ms: SpanMs,
    /// What became true.
    pub record: Record,
}

/// What became true.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Record {
    /// A session was opened; always the first record.
    Opened(Box<Opened>),
    /// A process took the session over (every process but the first says so).
    Resumed {
        /// The version of the program.
        version: String,
    },
    /// The driver is attached to the tab.
    Attached {
        /// The attachment.
        epoch: Epoch,
        /// The tab.
        target: TargetId,
        /// Product and version of the browser.
        browser: String,
        /// The address at that moment.
        address: String,
        /// The layout that the probe recognised.
        layout: String,
    },
    /// The thread was read completely and agrees with the journal.
    Read {
        /// In which attachment.
        epoch: Epoch,
        /// How many turns it has.
        turns: u32,
        /// The last settled turn: where the next message must stand.
        anchor: Anchor,
    },
    /// The conversation got its own id.
    //= spec E1
    Bound {
        /// The id.
        conversation: ConversationId,
    },
    /// A message is going to be typed.
    //= spec S2
    Intent(Box<Intent>),
    /// The text stands in the composer, read back equal; the click is next.
    //= spec S2
    Dispatching {
        /// Which send.
        send: SendId,
        /// Which attempt, from 1.
        attempt: u32,
    },
    /// What is known of the submit.
    Outcome {
        /// Which send.
        send: SendId,
        /// Its state.
        state: SendState,
        /// What that rests on.
        evidence: SendEvidence,
    },
    /// The reply was captured and judged, or failed for good.
    Judged {
        /// The send it answers.
        send: SendId,
        /// The capture; none where the reply failed without one.
        reply: Option<ReplyFacts>,
        /// The judgement.
        judgement: Judgement,
    },
    /// The agent's wrapper stands ready and is about to be let go.
    //= spec K6
    Started {
        /// The plan's round.
        round: Round,
        /// The plan.
        plan: PlanKey,
        /// Which attempt, from 1.
        attempt: u32,
        /// The wrapper's process group.
        group: u32,
        /// Where the workspace's state was kept, if it was.
        kept: Option<String>,
    },
    /// A spawn provably made no process of the plan.
    NotStarted {
        /// The plan's round.
        round: Round,
        /// The plan.
        plan: PlanKey,
        /// Which attempt, from 1.
        attempt: u32,
        /// Why.
        why: String,
    },
    /// Every process of the agent ended by itself and its outcome is here. The
    /// checkpoint is derived from this record and from nothing else.
    //= spec K1
    //= spec K4
    Settled {
        /// The plan's round.
        round: Round,
        /// The plan.
        plan: PlanKey,
        /// The agent's success, which is not what settled means.
        ok: bool,
        /// The receipt.
        receipt: Private,
    },
    /// It cannot be told whether or how far the plan ran.
    //= spec K1
    InDoubt {
        /// The plan's round.
        round: Round,
        /// The plan.
        plan: PlanKey,
        /// Why.
        why: String,
    },
    /// The planner was asked and answered.
    //= spec RP2
    Decided {
        /// The row.
        row: RowId,
        /// The facts, as the table names them.
        facts: String,
        /// What is done about it.
        action: String,
        /// The budget it costs.
        cost: Option<Cost>,
    },
    /// The run ended, with what stands in the way if something does.
    //= spec RP7
    Stopped(Stop),
    /// A person lifted a standing stop.
    //= spec M2
    Lifted {
        /// Who.
        who: String,
        /// Why they say it no longer holds.
        why: String,
        /// A new limit, by its name; none: what is spent is allowed once more in full.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<NewLimit>,
    },
    /// A person says what neither page nor journal can tell.
    //= spec M2
    Attested {
        /// Who.
        who: String,
        /// What they rest it on.
        why: String,
        /// What they say.
        what: Attested,
    },
    /// A person gave the session up for good.
    //= spec M2
    Abandoned {
        /// Who.
        who: String,
        /// Why.
        why: String,
    },
}

/// A limit that a person set when lifting a stop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewLimit {
    /// Its name, as in [`Limits::ALL`].
    pub name: String,
    /// Its value, in the name's own unit.
    pub value: u64,
}

/// What a person says that neither page nor journal can tell.
//= spec M2
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "say", rename_all = "snake_case")]
pub enum Attested {
    /// That message was sent: its reply is awaited.
    Sent {
        /// Which send.
        send: SendId,
    },
    /// That message was not sent: its id is abandoned for ever.
    NotSent {
        /// Which send.
        send: SendId,
    },
    /// That plan ran, and this is what came of it.
    Ran {
        /// The plan's round.
        round: Round,
        /// The plan.
        plan: PlanKey,
        /// Whether it succeeded.
        ok: bool,
        /// The receipt, as the person gives it.
        receipt: Private,
    },
    /// That plan did not run: it is void, and never started.
    DidNotRun {
        /// The plan's round.
        round: Round,
        /// The plan.
        plan: PlanKey,
    },
    /// That plan, whose very text or body was started before, may run once.
    RunOnce {
        /// The plan.
        plan: PlanKey,
    },
    /// The model lost its context: the handshake counts as unproven.
    Resync,
}

/// What a session is, from its first record on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Opened {
    /// [`SCHEMA_VERSION`] of whoever wrote it.
    pub schema: u32,
    /// What HELLO offers: the session, the request's tag, contract and capabilities.
    pub offer: Offer,
    /// The person's request, in full.
    pub request: Private,
    /// Where the chat is.
    pub chat: String,
    /// The folder in which plans are carried out.
    pub workspace: String,
    /// Who carries them out, for people.
    pub agent: String,
    /// The limits in force.
    pub limits: Limits,
}

impl Opened {
    /// The session.
    pub fn sid(&self) -> &Sid {
        &self.offer.terms.sid
    }

    /// The request's tag.
    pub fn qid(&self) -> &Qid {
        &self.offer.qid
    }
}

/// A message that is going to be typed.
//= spec S2
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Intent {
    /// Its id.
    pub send: SendId,
    /// What kind of message it is.
    pub message: SendKind,
    /// The round, for a task send.
    pub round: Option<Round>,
    /// The whole text.
    pub text: Private,
    /// Of exactly that text.
    pub digest: Digest,
    /// What must be last in the thread.
    //= spec S8
    pub anchor: Anchor,
    /// The attachment in which it was decided.
    pub epoch: Epoch,
    /// The sends whose replies it makes void for ever.
    //= spec W12
    pub voids: Vec<SendId>,
    /// What it declares in place of the offer in force, where the two differ.
    //= spec R9
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offer: Option<Box<Offer>>,
}

/// How a reply was captured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplyFacts {
    /// The reply's turn.
    pub turn: TurnId,
    /// Our own turn, which it answers.
    pub own: TurnId,
    /// Of the text taken.
    pub digest: Digest,
    /// Its length in characters.
    pub chars: u32,
    /// How it is known that nothing more comes.
    pub end: EndWitness,
    /// The sources that agree.
    pub agreed: Vec<Source>,
}

/// What a reply was judged to be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "as", rename_all = "snake_case")]
pub enum Judgement {
    /// An acknowledgement under which the gate holds.
    Held,
    /// An acknowledgement that does not hold.
    NotHeld {
        /// What failed.
        faults: Vec<Fault>,
    },
    /// A valid plan.
    Accepted(Box<Accepted>),
    /// A reply that is not a valid plan; nothing of it is executed.
    Refused {
        /// All faults, in the wire's order.
        faults: Vec<Fault>,
    },
    /// The page failed or cut the reply.
    Failed {
        /// The stable code.
        code: Code,
        /// The mark by which it was seen.
        detail: String,
    },
}

/// A valid plan as it was accepted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Accepted {
    /// Its round.
    pub round: Round,
    /// Its key.
    //= spec W4
    pub key: PlanKey,
    /// Of its exact text.
    pub digest: Digest,
    /// Of its text without the FRAME line.
    pub body: Digest,
    /// What the remote decided.
    pub decision: Decision,
    /// Its short label.
    pub task: String,
    /// The text inside the code block, header line included.
    pub text: Private,
}

/// Why a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stop {
    /// How it ended.
    pub outcome: Outcome,
    /// The stable code, where there is one.
    pub code: Option<Code>,
    /// The planner's row, where it was asked.
    pub row: Option<RowId>,
    /// One sentence of what happened.
    pub why: String,
    /// Whether every start meets this stop until a person lifts it.
    //= spec RP7
    pub standing: bool,
    /// A signal ended the run; true besides a worse truth.
    pub interrupted: bool,
    /// The facts that met the row, as the table names them.
    //= spec RP6
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub facts: Option<String>,
}

#[cfg(test)]
mod tests;
