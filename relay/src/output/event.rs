//! The events, as they stand in the JSON output.

use protocol::{
    fault::{Code, Fault},
    id::{Digest, PlanKey, Qid, Round, SendId, Sid},
    outcome::Outcome,
    plan::Decision,
    record::Seq,
    recovery::RowId,
    reply::{EndWitness, Source},
    send::{SendKind, SendState},
    session::Phase,
    time::WallMs,
};
use serde::Serialize;

/// The version of the events; it grows when a field goes or changes its sense.
pub const SCHEMA_VERSION: u32 = 1;

/// One line of the output.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Line {
    /// [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// The record it is derived from; absent where it is derived from none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<Seq>,
    /// When that record was stored, by the wall clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_ms: Option<WallMs>,
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
}

impl Line {
    /// A line that no record stands behind.
    pub fn bare(event: Event) -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            seq: None,
            at_ms: None,
            event,
        }
    }
}

/// What happened. The names are stable; so are the fields.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// A session was opened, or another process took it over.
    Started {
        /// The session.
        sid: Sid,
        /// The request's tag.
        qid: Qid,
        /// Whether the session was there before.
        resumed: bool,
        /// Where the chat is.
        chat: String,
        /// The folder in which plans are carried out.
        workspace: String,
        /// Who carries them out.
        agent: String,
    },
    /// The driver is attached to the tab, or the conversation got its own id.
    Attached {
        /// The attachment, counted up.
        epoch: u32,
        /// The tab.
        target: String,
        /// Product and version of the browser; null where it is not told again.
        browser: Option<String>,
        /// The layout; null where it is not told again.
        layout: Option<String>,
        /// The tab's address; null where it is not told again.
        address: Option<String>,
        /// The conversation, once it has its own id.
        conversation: Option<String>,
    },
    /// What is known of a message that was typed.
    Sent {
        /// The message.
        send: SendId,
        /// Its kind.
        kind: SendKind,
        /// Its round, for a ROUND or REPAIR.
        round: Option<Round>,
        /// Which attempt.
        attempt: u32,
        /// `sent`, `not-sent` or `unknown`.
        state: SendState,
        /// What that rests on, in words.
        evidence: String,
        /// Its length in characters.
        chars: usize,
    },
    /// The run waits, and for what.
    Waiting {
        /// What for.
        state: Phase,
        /// The message whose reply is awaited.
        send: Option<SendId>,
        /// The round.
        round: Option<Round>,
        /// Characters of the reply shown so far.
        chars: u32,
    },
    /// A reply was captured, or failed for good.
    Reply {
        /// The message it answers.
        send: SendId,
        /// The round.
        round: Option<Round>,
        /// What it was judged to be.
        judged: Judged,
        /// Its length in characters; null where it was not captured.
        chars: Option<u32>,
        /// Of its text.
        digest: Option<Digest>,
        /// How it is known that nothing more comes.
        end: Option<EndWitness>,
        /// The sources that agree.
        agreed: Vec<Source>,
        /// What is wrong with it.
        faults: Vec<Fault>,
        /// The stable code of a failure.
        code: Option<Code>,
    },
    /// A reply is a valid plan.
    Plan {
        /// Its round.
        round: Round,
        /// Its key.
        plan: PlanKey,
        /// What the remote decided.
        decision: Decision,
        /// Its short label.
        task: String,
    },
    /// Policy or person decides on a plan.
    Approval {
        /// The plan's round.
        round: Option<Round>,
        /// The plan.
        plan: Option<PlanKey>,
    },
    /// How far a plan's execution has come.
    Executed {
        /// The plan's round.
        round: Round,
        /// The plan.
        plan: PlanKey,
        /// How far.
        state: Stage,
        /// The agent's success; null while it is not settled.
        ok: Option<bool>,
        /// The receipt's length in characters.
        receipt_chars: Option<usize>,
        /// Why, where it was not started or is in doubt.
        why: Option<String>,
    },
    /// A plan is the new checkpoint.
    Checkpoint {
        /// Its round.
        round: Round,
        /// The plan.
        plan: PlanKey,
    },
    /// The planner decided, or a person lifted a stop.
    Recovery {
        /// The row; null where a person decided.
        row: Option<RowId>,
        /// The facts.
        facts: String,
        /// What is done about it.
        action: String,
    },
    /// Something a reader should know; nothing stops for it.
    Warning {
        /// The stable code, where there is one.
        code: Option<Code>,
        /// What it is.
        text: String,
    },
    /// The run is over.
    Finished(Finished),
}

/// What a reply was judged to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Judged {
    /// An acknowledgement under which the gate holds.
    Held,
    /// An acknowledgement that does not hold.
    NotHeld,
    /// A valid plan.
    Accepted,
    /// No valid plan.
    Refused,
    /// The page failed or cut it.
    Failed,
}

/// How far a plan's execution has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Its first process is about to run.
    Started,
    /// A spawn provably made no process of it.
    NotStarted,
    /// Every process ended by itself and the outcome is known.
    Settled,
    /// It cannot be told whether or how far it ran.
    InDoubt,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finished {
    /// How it ended.
    pub outcome: Outcome,
    /// The stable code, where there is one.
    pub code: Option<Code>,
    /// The process's exit number.
    pub exit: u8,
    /// The session; null where none was opened.
    pub sid: Option<Sid>,
    /// Rounds of the session that were sent or tried.
    pub rounds: u32,
    /// Messages of the session that are proven to be sent.
    pub messages_sent: u32,
    /// REPAIRs of the session.
    pub repairs: u32,
    /// Re-attachments, RESUMEs and RESYNCs that the session has drawn on.
    pub recoveries: u32,
    /// The planner's last row; null when it was not asked.
    pub row: Option<RowId>,
    /// Whether a signal or the stop file ended it, besides a worse truth.
    pub interrupted: bool,
}

impl Finished {
    /// The end of a command that opened no session.
    pub fn before_a_session(outcome: Outcome, code: Code, exit: u8) -> Self {
        Self {
            outcome,
            code: Some(code),
            exit,
            sid: None,
            rounds: 0,
            messages_sent: 0,
            repairs: 0,
            recoveries: 0,
            row: None,
            interrupted: false,
        }
    }
}
