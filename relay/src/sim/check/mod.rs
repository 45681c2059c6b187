//! The promises, each checked after every step that could break it. The truth is what
//! server, agent and disk have, never what the machine believes.

mod judge;
mod stops;

use std::{collections::BTreeMap, fmt};

use protocol::{
    id::Digest,
    limits::Limits,
    message,
    page::Role,
    plan::Decision,
    record::{Cost, Entry, Intent, Judgement, PlanStage, Record, ReplyFacts, SendRow, State, Stop},
    recovery::RowId,
    send::{SendKind, SendState},
    session::Effect,
    wire::canonical,
};

pub(super) use judge::Judge;

use super::{
    agent::Agent,
    process::Process,
    server::{Made, Server},
};

/// A promise that was broken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Which promise: the checker's name.
    pub promise: &'static str,
    /// What was found.
    pub what: String,
}

impl Violation {
    pub(super) fn new(promise: &'static str, what: &str) -> Self {
        Self {
            promise,
            what: what.to_owned(),
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.promise, self.what)
    }
}

fn broken<T>(promise: &'static str, what: impl Into<String>) -> Result<T, Violation> {
    let what = what.into();
    Err(Violation { promise, what })
}

/// What the checkers know.
#[derive(Debug, Clone, Default)]
pub struct Checks {
    /// The fold of every record that was stored, made beside the machine.
    fold: State,
    pub(super) judge: Judge,
    /// A person wrote into the conversation.
    pub foreign: bool,
    /// A person wrote into our composer.
    pub(super) edited: bool,
    /// The disk failed, or was somebody else's.
    pub disk_failed: bool,
    /// A decision that sends nothing is being carried out.
    quiet_row: Option<RowId>,
    /// How often each row was taken.
    pub rows: BTreeMap<String, u32>,
    /// Rounds whose plan settled.
    pub rounds: u32,
    /// Records stored.
    pub records: u64,
    /// Plan texts that a person let run once more, or attested as not run.
    excused: Vec<Digest>,
    /// The stop that the next process has to meet at once.
    pub(super) stands: Option<Stop>,
    /// Decisions without progress in a row.
    decisions: u32,
    /// What recoveries cost since the present checkpoint.
    spent: BTreeMap<Cost, u32>,
}

/// Decisions of the table from one checkpoint on: over every budget there is.
const DECISIONS_MAX: u32 = 80;

impl Checks {
    /// The state as the checkers have it.
    pub fn state(&self) -> &State {
        &self.fold
    }

    /// A record is on the disk.
    pub(super) fn stored(
        &mut self,
        entry: &Entry,
        agent: &Agent,
        server: &Server,
    ) -> Result<(), Violation> {
        self.records += 1;
        match &entry.record {
            Record::Intent(intent) => self.intends(intent, agent)?,
            Record::Dispatching { send, attempt } => {
                let state = self.fold.send(*send).map(|row| row.state());
                if state != Some(SendState::NotSent) || *attempt > 3 {
                    return broken("S6", format!("{send} is dispatched while {state:?}"));
                }
            }
            Record::Judged {
                reply, judgement, ..
            } => self.judged(reply.as_ref(), judgement, server)?,
            Record::Started { plan, .. } => {
                self.for_us()?;
                if self.fold.standing_stop().is_some() || self.fold.is_closed() {
                    return broken("RP7", format!("{plan} is started under a standing stop"));
                }
                self.not_void(plan.as_str())?;
            }
            Record::Settled { plan, .. } => {
                if !agent.ended(plan.as_str()) {
                    return broken("K4", format!("{plan} settled and its agent has not ended"));
                }
                self.rounds += 1;
                self.decisions = 0;
            }
            Record::Decided {
                row, action, cost, ..
            } => {
                self.decided(*row, action)?;
                self.pays(*cost)?;
            }
            Record::Stopped(stop) => self.stops(stop)?,
            Record::Attested { .. } | Record::Lifted { .. } => {
                if let Some(plan) = &self.fold.plan {
                    self.excused.push(plan.accepted.digest.clone());
                }
                self.stands = None;
                self.decisions = 0;
                self.spent.clear();
            }
            Record::Opened(_)
            | Record::Resumed { .. }
            | Record::Attached { .. }
            | Record::Bound { .. }
            | Record::NotStarted { .. }
            | Record::InDoubt { .. }
            | Record::Abandoned { .. } => {}
            Record::Read { .. } | Record::Outcome { .. } => self.quiet_row = None,
        }
        let before = self.fold.checkpoint.clone();
        if let Err(error) = self.fold.apply(entry) {
            return broken("fold", error.to_string());
        }
        let settles = matches!(
            entry.record,
            Record::Settled { .. } | Record::Attested { .. }
        );
        if self.fold.checkpoint != before {
            self.spent.clear();
        }
        if self.fold.checkpoint != before && !settles {
            return broken("K4", "the checkpoint moved without a settled plan");
        }
        Ok(())
    }

    fn intends(&mut self, intent: &Intent, agent: &Agent) -> Result<(), Violation> {
        let text = intent.text.as_str();
        if let Some(row) = self.quiet_row {
            return broken("forbidden", format!("{} follows {row}", intent.message));
        }
        if agent.runs() {
            return broken(
                "W12",
                format!("{} is made while a plan runs", intent.message),
            );
        }
        if let Some(row) = self.fold.in_flight()
            && row.state() == SendState::Unknown
        {
            return broken(
                "W13",
                format!("{} is made over an unknown send", intent.message),
            );
        }
        let head = message::recognise(Role::User, text);
        if intent.message == SendKind::Round {
            let prev = head
                .as_ref()
                .and_then(|head| head.frame())
                .map(|frame| frame.prev.clone());
            if prev != Some(self.fold.checkpoint.prev()) {
                return broken(
                    "p",
                    format!("p={prev:?} and the checkpoint is {}", self.fold.checkpoint),
                );
            }
        }
        if intent.message == SendKind::Resume
            && let Some(message::Head::Resume(resume)) = &head
            && resume.checkpoint != self.fold.checkpoint
        {
            return broken("CK", "a RESUME names another checkpoint");
        }
        Ok(())
    }

    /// What was taken for the reply is what the remote finally wrote.
    fn judged(
        &mut self,
        reply: Option<&ReplyFacts>,
        judgement: &Judgement,
        server: &Server,
    ) -> Result<(), Violation> {
        self.quiet_row = None;
        self.decisions = 0;
        let Some(reply) = reply else {
            return match judgement {
                Judgement::Failed { .. } => Ok(()),
                Judgement::Held
                | Judgement::NotHeld { .. }
                | Judgement::Accepted(_)
                | Judgement::Refused { .. } => broken("digest", "judged without a capture"),
            };
        };
        let written = server
            .finals
            .iter()
            .filter(|(id, _, _)| *id == reply.turn.0);
        let same = written
            .into_iter()
            .any(|(_, text, made)| *made == Made::Whole && Digest::of(text) == reply.digest);
        if !same {
            let what = format!(
                "{} of {} characters is not what was written",
                reply.turn, reply.chars
            );
            return broken("digest", what);
        }
        let flying = self.fold.in_flight().map(|row| row.intent.text.as_str());
        let own = server.users.iter().find(|(id, _)| *id == reply.own.0);
        let ours = own
            .zip(flying)
            .is_some_and(|((_, text), ours)| canonical(text) == canonical(ours));
        if !ours {
            return broken(
                "C1",
                format!("the reply answers {}, which is not ours", reply.own),
            );
        }
        let answers = server
            .answers
            .iter()
            .any(|(own, turn)| *own == reply.own.0 && *turn == reply.turn.0);
        if !answers {
            return broken(
                "C1",
                format!("{} does not answer {}", reply.turn, reply.own),
            );
        }
        Ok(())
    }

    /// Only `continue` and `need_info` are carried out.
    fn for_us(&self) -> Result<(), Violation> {
        let decision = self.fold.plan.as_ref().map(|plan| plan.accepted.decision);
        match decision {
            Some(Decision::Continue | Decision::NeedInfo) => Ok(()),
            Some(Decision::Done | Decision::Blocked) | None => {
                broken("K2", format!("a plan is started that says {decision:?}"))
            }
        }
    }

    /// What recoveries cost is bounded from each checkpoint, whatever is restarted.
    fn pays(&mut self, cost: Option<Cost>) -> Result<(), Violation> {
        let Some(cost) = cost else { return Ok(()) };
        let limits = Limits::default();
        let max = match cost {
            Cost::Reattach => limits.reattach_max,
            Cost::Read => limits.reads_max,
            Cost::Resume => limits.resume_max,
            Cost::Resync => limits.resync_max,
        };
        // What was paid for and not made yet is decided on once more after a restart.
        if self.fold.paid == Some(cost) {
            return Ok(());
        }
        let spent = self.spent.entry(cost).or_default();
        *spent += 1;
        if u64::from(*spent) > max {
            return broken(
                "RP4",
                format!("{cost:?} is drawn on {spent} times from one checkpoint"),
            );
        }
        Ok(())
    }

    /// A plan that answers a void send is never started.
    fn not_void(&self, plan: &str) -> Result<(), Violation> {
        let row = self.fold.sends.iter().rev().find(|row| {
            matches!(&row.judged, Some(Judgement::Accepted(accepted)) if accepted.key.as_str() == plan)
        });
        match row {
            Some(row) if row.void => broken("void", format!("{plan} is void and started")),
            Some(_) | None => Ok(()),
        }
    }

    fn decided(&mut self, row: RowId, action: &str) -> Result<(), Violation> {
        *self.rows.entry(row.to_string()).or_default() += 1;
        self.decisions += 1;
        if self.decisions > DECISIONS_MAX {
            return broken("bounds", "the table decides without end");
        }
        let sends = [
            "RESUME when idle",
            "RESYNC when idle",
            "execute the accepted plan once",
            "send what is proven not sent",
            "send what is owed",
        ];
        self.quiet_row = (!sends.contains(&action)).then_some(row);
        Ok(())
    }

    /// A process folded the journal anew.
    pub(super) fn refolded(&mut self, state: &State) -> Result<(), Violation> {
        if state.seq < self.fold.seq {
            return broken("disk", "a durable record is gone");
        }
        if state.seq == self.fold.seq && *state != self.fold {
            return broken("fold", "the journal folds to another state than it was");
        }
        self.fold = state.clone();
        self.quiet_row = None;
        Ok(())
    }

    /// After a record the live state is the fold.
    pub(super) fn same(&self, live: &State, entry: &Entry) -> Result<(), Violation> {
        if *live == self.fold {
            Ok(())
        } else {
            broken(
                "fold",
                format!("the live state differs after record {}", entry.seq),
            )
        }
    }

    /// A plan is let go.
    pub(super) fn let_go(&self, agent: &Agent, digest: &Digest) -> Result<(), Violation> {
        let ran = agent.ran.get(digest).copied().unwrap_or(0);
        if ran > 1 && !self.excused.contains(digest) {
            return broken("K5", "a plan's text is started twice");
        }
        let stage = self.fold.plan.as_ref().map(|plan| plan.stage.clone());
        match stage {
            Some(PlanStage::Started { .. }) => Ok(()),
            Some(PlanStage::Accepted | PlanStage::InDoubt) | None => {
                broken("K6", "a plan is let go before its start is stored")
            }
        }
    }

    /// The server takes a text out of our tab: what is of the wire is what was going to
    /// be sent, to the letter.
    pub(super) fn taken(&self, text: &str) -> Result<(), Violation> {
        let ours = text.starts_with("# ") && text.contains("pi-bridge/1");
        if !ours || self.edited {
            return Ok(());
        }
        let meant = |row: &SendRow| canonical(row.intent.text.as_str()) == canonical(text);
        if self.fold.sends.iter().any(meant) {
            Ok(())
        } else {
            broken("read-back", "another text left than was meant")
        }
    }

    /// A message is submitted.
    pub(super) fn submits(&self, agent: &Agent, text: &str) -> Result<(), Violation> {
        if agent.runs() {
            return broken("W12", "a message is submitted while a plan runs");
        }
        let dispatched = self
            .fold
            .in_flight()
            .is_some_and(|row| row.attempts > 0 && row.intent.text.as_str() == text);
        if !dispatched {
            return broken("S2", "a click without its dispatching record");
        }
        Ok(())
    }

    /// The machine wants something.
    pub(super) fn effect(
        &self,
        effect: &Effect,
        process: Option<&Process>,
    ) -> Result<(), Violation> {
        let standing = process.is_some_and(|process| process.standing);
        if standing && !matches!(effect, Effect::Finish(_)) {
            return broken("RP7", "a standing stop does not end the run at once");
        }
        Ok(())
    }
}
