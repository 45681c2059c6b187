//! The state a journal folds to, and the questions asked of it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::{Accepted, Cost, Intent, Judgement, Opened, Seq, Stop};
use crate::{
    fault::Fault,
    frame::Checkpoint,
    id::{Digest, PlanKey, Qid, Round, SendId},
    page::{Anchor, ConversationId, Epoch, TargetId, TurnId},
    send::{SendEvidence, SendKind, SendState},
    text::Private,
    time::SpanMs,
    wire::MAX_REPAIRS,
};

/// Everything durable that is true of a session.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct State {
    /// The last record applied.
    pub seq: Seq,
    /// The session's first record; none before it.
    pub opened: Option<Opened>,
    /// How many processes took the session over after the first.
    pub restarts: u32,
    /// The highest epoch ever recorded.
    pub epoch: Epoch,
    /// The tab last attached to.
    pub target: Option<TargetId>,
    /// The conversation, once its own id was seen.
    //= spec E1
    pub conversation: Option<ConversationId>,
    /// The last settled turn of the last complete reading; none before one.
    //= spec S8
    pub anchor: Option<Anchor>,
    /// Every send, in order; `SendId(1)` is the first.
    pub sends: Vec<SendRow>,
    /// Whether the other side agreed to the contract.
    pub handshake: Handshake,
    /// The plan between its acceptance and its settlement.
    pub plan: Option<PlanRow>,
    /// The last plan validated, executed and settled.
    //= spec K4
    pub checkpoint: Checkpoint,
    /// The receipt of the checkpoint's plan.
    pub receipt: Option<Private>,
    /// The faults of the last refused plan, while a REPAIR is owed.
    pub refused: Vec<Fault>,
    /// REPAIRs of the present round.
    pub repairs: u32,
    /// Digests of the plan texts ever started.
    //= spec K5
    pub started: BTreeSet<Digest>,
    /// Digests of the plan bodies (FRAME left out) whose execution is in doubt.
    pub doubted: BTreeSet<Digest>,
    /// The plan whose decision was `done`.
    //= spec K2
    pub terminal: Option<(Round, PlanKey)>,
    /// The last stop; a standing one forbids everything until lifted.
    pub stop: Option<Stop>,
    /// Characters typed so far.
    pub typed_chars: u64,
    /// Budgets drawn on.
    pub budgets: Budgets,
    /// The RESUME or RESYNC that was decided on and paid for, until it is made.
    pub paid: Option<Cost>,
    /// Run time so far, summed over processes.
    pub run_ms: SpanMs,
    /// The run time at each dispatch, the newest last; those of an hour ago and
    /// more count for nothing.
    //= spec S9
    pub dispatched_at: VecDeque<SpanMs>,
    /// What a person allowed beyond the limits.
    pub allowed: Allowed,
    /// A RESUME is due that no budget pays for: a person lifted a refusal or
    /// attested that something did not happen.
    //= spec M2
    pub owes_resume: bool,
    /// The plan that a person lets run although its like was started before.
    pub run_once: Option<Digest>,
    /// A person gave the session up.
    pub abandoned: bool,
}

/// What a person allowed when lifting a stop: the limits count from here on, or
/// are others.
//= spec M2
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Allowed {
    /// Run time at the last lifting.
    pub run_ms: SpanMs,
    /// Characters typed at the last lifting.
    pub typed_chars: u64,
    /// The last round at the last lifting.
    pub rounds: u32,
    /// New limits, by name.
    pub limits: BTreeMap<String, u64>,
}

/// One send as the journal knows it.
#[derive(Debug, Clone, PartialEq)]
pub struct SendRow {
    /// What was going to be typed.
    pub intent: Intent,
    /// Dispatches so far.
    pub attempts: u32,
    /// The state of the last dispatch, once recorded.
    pub outcome: Option<(SendState, SendEvidence)>,
    /// Our own turn in the thread, once seen under a settled id.
    pub own: Option<TurnId>,
    /// The turn of its reply, once that was judged.
    pub reply: Option<TurnId>,
    /// The judgement of its reply, once there is one.
    pub judged: Option<Judgement>,
    /// The plan that answers it has settled.
    pub settled: bool,
    /// Made void by a later RESUME or RESYNC, or by what a person attested.
    //= spec W12
    pub void: bool,
}

impl SendRow {
    /// What is known of the submit: never dispatched is not-sent, dispatched
    /// without a recorded outcome is unknown.
    //= spec S4
    //= spec S5
    pub fn state(&self) -> SendState {
        match (&self.outcome, self.attempts) {
            (Some((state, _)), _) => *state,
            (None, 0) => SendState::NotSent,
            (None, _) => SendState::Unknown,
        }
    }
}

/// Whether the other side agreed to the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Handshake {
    /// No acknowledgement judged yet.
    #[default]
    Pending,
    /// The gate holds.
    Held,
    /// HELLO's acknowledgement did not hold and RESYNC is unspent.
    Unproven,
    /// RESYNC was answered and the gate still does not hold.
    //= spec H3
    Refused,
}

/// A plan between its acceptance and its settlement.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanRow {
    /// The plan as accepted.
    pub accepted: Accepted,
    /// How far its execution has come.
    pub stage: PlanStage,
    /// Spawns that provably made no process.
    pub not_started: u32,
}

/// How far a plan's execution has come.
//= spec K4
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanStage {
    /// Not started.
    Accepted,
    /// Started, not settled.
    Started {
        /// The wrapper's process group.
        group: u32,
        /// Which attempt.
        attempt: u32,
    },
    /// It cannot be told whether or how far it ran.
    InDoubt,
}

/// Recoveries drawn on, by the checkpoint they started from.
//= spec RP4
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Budgets {
    spent: BTreeMap<Cost, u32>,
    total: u32,
    from: Checkpoint,
}

impl Budgets {
    /// How much of one budget is spent since the present checkpoint.
    pub fn spent(&self, cost: Cost) -> u32 {
        self.spent.get(&cost).copied().unwrap_or(0)
    }

    /// Re-attachments, RESUMEs and RESYNCs of the whole session.
    pub fn total(&self) -> u32 {
        self.total
    }

    pub(super) fn draw(&mut self, cost: Cost, checkpoint: &Checkpoint) {
        if self.from != *checkpoint {
            self.spent.clear();
            self.from = checkpoint.clone();
        }
        *self.spent.entry(cost).or_insert(0) += 1;
        if cost.counts_in_total() {
            self.total += 1;
        }
    }

    /// Forgets what was spent from another checkpoint than this one.
    pub(super) fn moved_to(&mut self, checkpoint: &Checkpoint) {
        if self.from != *checkpoint {
            self.spent.clear();
            self.from = checkpoint.clone();
        }
    }

    pub(super) fn allow_again(&mut self) {
        self.spent.clear();
        self.total = 0;
    }
}

/// The message that is due when nothing is in flight.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Owed {
    /// The opening handshake.
    Hello,
    /// The handshake once more, after an acknowledgement that did not hold.
    Resync,
    /// The first round, carrying the request.
    FirstRound,
    /// A later round, carrying the last receipt.
    Round(Round),
    /// The session is taken up again at the checkpoint.
    Resume,
    /// The round after a RESUME, carrying what is known.
    Resumed(Round),
    /// The same round again, naming the faults.
    Repair {
        /// The round.
        round: Round,
        /// The faults, in the wire's order.
        faults: Vec<Fault>,
    },
}

impl State {
    /// The send whose reply is not judged yet, if there is one.
    pub fn in_flight(&self) -> Option<&SendRow> {
        self.sends
            .last()
            .filter(|row| row.judged.is_none() && !row.void)
    }

    /// The last send that is not void: what became of it is what the session stands at.
    /// One that a person attested not to have been sent, or that another took the place
    /// of, says nothing of what is due.
    pub fn last_standing(&self) -> Option<&SendRow> {
        self.sends.iter().rev().find(|row| !row.void)
    }

    /// The send of that id.
    pub fn send(&self, id: SendId) -> Option<&SendRow> {
        (id.0 as usize)
            .checked_sub(1)
            .and_then(|at| self.sends.get(at))
    }

    /// The id of the next send.
    pub fn next_send(&self) -> SendId {
        SendId(
            u32::try_from(self.sends.len())
                .unwrap_or(u32::MAX)
                .saturating_add(1),
        )
    }

    /// The round being worked on: that of the last task send, or the first.
    pub fn round(&self) -> Round {
        self.last_task()
            .and_then(|row| row.intent.round)
            .unwrap_or(Round::FIRST)
    }

    /// The request's tag.
    pub fn qid(&self) -> Option<&Qid> {
        self.opened.as_ref().map(Opened::qid)
    }

    /// The last ROUND or REPAIR.
    pub fn last_task(&self) -> Option<&SendRow> {
        self.sends
            .iter()
            .rev()
            .find(|row| row.intent.message.is_task())
    }

    /// Whether the session is over for good.
    //= spec K2
    pub fn is_closed(&self) -> bool {
        self.terminal.is_some() || self.abandoned
    }

    /// The standing stop, if one forbids to go on.
    //= spec RP7
    pub fn standing_stop(&self) -> Option<&Stop> {
        self.stop.as_ref().filter(|stop| stop.standing)
    }

    /// How many rounds have settled.
    pub fn rounds_sent(&self) -> u32 {
        let rounds: BTreeSet<Round> = self
            .sends
            .iter()
            .filter_map(|row| row.intent.round)
            .collect();
        u32::try_from(rounds.len()).unwrap_or(u32::MAX)
    }

    /// Texts of ours that may still stand in the composer: those of intents
    /// without a proven submit.
    //= spec S7
    pub fn drafts(&self) -> Vec<Private> {
        self.sends
            .iter()
            .rev()
            .filter(|row| row.state() != SendState::Sent && row.judged.is_none())
            .map(|row| row.intent.text.clone())
            .collect()
    }

    /// The message due now; none while something is in flight, a plan is open,
    /// the session is closed or stopped, or a person must decide.
    pub fn owed(&self) -> Option<Owed> {
        if self.opened.is_none()
            || self.is_closed()
            || self.standing_stop().is_some()
            || self.in_flight().is_some()
            || self.plan.is_some()
        {
            return None;
        }
        match self.handshake {
            Handshake::Pending if self.sends.iter().all(|row| row.void) => Some(Owed::Hello),
            Handshake::Unproven => Some(Owed::Resync),
            Handshake::Pending | Handshake::Refused => None,
            Handshake::Held if self.owes_resume => Some(Owed::Resume),
            Handshake::Held => self.owed_next(),
        }
    }

    //= spec H2
    //= spec W12
    fn owed_next(&self) -> Option<Owed> {
        let last = self.last_standing()?;
        let round = last.intent.round.unwrap_or(Round::FIRST);
        match (last.intent.message, last.judged.as_ref()?) {
            (SendKind::Resync, Judgement::Held) if self.is_any_round_out() => Some(Owed::Resume),
            (SendKind::Hello | SendKind::Resync, Judgement::Held) => Some(Owed::FirstRound),
            (SendKind::Resume, Judgement::Held) => {
                Some(Owed::Resumed(self.checkpoint.next_round()))
            }
            //= spec P7
            (SendKind::Round | SendKind::Repair, Judgement::Refused { faults })
                if self.repairs < MAX_REPAIRS =>
            {
                Some(Owed::Repair {
                    round,
                    faults: faults.clone(),
                })
            }
            (SendKind::Round | SendKind::Repair, Judgement::Accepted(_)) if last.settled => {
                Some(Owed::Round(round.next()))
            }
            (
                SendKind::Hello
                | SendKind::Resync
                | SendKind::Resume
                | SendKind::Round
                | SendKind::Repair,
                Judgement::Held
                | Judgement::NotHeld { .. }
                | Judgement::Accepted(_)
                | Judgement::Refused { .. }
                | Judgement::Failed { .. },
            ) => None,
        }
    }

    /// The one question before a plan is started.
    //= spec K5
    //= spec K2
    //= spec K3
    pub fn may_execute(&self) -> Result<&Accepted, MayNot> {
        if self.standing_stop().is_some() {
            return Err(MayNot::Stopped);
        }
        let Some(plan) = &self.plan else {
            return Err(MayNot::NoPlan);
        };
        match plan.stage {
            PlanStage::Accepted => {}
            PlanStage::Started { .. } | PlanStage::InDoubt => return Err(MayNot::AlreadyStarted),
        }
        if !plan.accepted.decision.is_carried_out() {
            return Err(MayNot::NotForUs);
        }
        if self.run_once.as_ref() == Some(&plan.accepted.digest) {
            return Ok(&plan.accepted);
        }
        if self.started.contains(&plan.accepted.digest) {
            return Err(MayNot::RanBefore);
        }
        if self.doubted.contains(&plan.accepted.body) {
            return Err(MayNot::EqualInDoubt);
        }
        Ok(&plan.accepted)
    }

    /// The kind of the send in flight.
    pub fn in_flight_kind(&self) -> Option<SendKind> {
        self.in_flight().map(|row| row.intent.message)
    }
}

/// Why a plan must not be started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MayNot {
    /// No plan stands accepted.
    NoPlan,
    /// It was started before.
    AlreadyStarted,
    /// `done` and `blocked` are nothing to carry out.
    NotForUs,
    /// An equal text was started before in this session.
    RanBefore,
    /// An equal body is in doubt.
    EqualInDoubt,
    /// A standing stop forbids it.
    Stopped,
}
