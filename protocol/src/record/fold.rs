//! Records to state: one line a transition, refusals typed.
//!
//! A journal that does not fold is corrupt; nothing is guessed from it.

use std::fmt;

use super::{Cost, Entry, Handshake, Judgement, PlanStage, Record, SendRow, Seq, State, Stop};
use crate::{
    frame::Checkpoint,
    id::SendId,
    message::Offer,
    page::Anchor,
    planted::{self, Bug},
    send::{SendEvidence, SendKind, SendState},
};

/// A record that cannot follow what stands before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoldError {
    /// The record's place.
    pub seq: Seq,
    /// The rule it breaks.
    pub rule: &'static str,
}

impl fmt::Display for FoldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "record {} cannot stand where it stands: {}",
            self.seq, self.rule
        )
    }
}

impl std::error::Error for FoldError {}

/// The state that a whole journal folds to.
///
/// # Errors
/// [`FoldError`] for the first record that breaks a rule.
pub fn fold<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Result<State, FoldError> {
    let mut state = State::default();
    for entry in entries {
        state.apply(entry)?;
    }
    Ok(state)
}

/// Dispatches whose times are kept: the greatest hourly limit there can be.
const DISPATCHES_KEPT: usize = 1_000;

impl State {
    /// Applies one stored record.
    ///
    /// # Errors
    /// [`FoldError`] when the record cannot follow; the state is then unusable.
    pub fn apply(&mut self, entry: &Entry) -> Result<(), FoldError> {
        self.check_and_apply(entry).map_err(|rule| FoldError {
            seq: entry.seq,
            rule,
        })
    }

    fn check_and_apply(&mut self, entry: &Entry) -> Result<(), &'static str> {
        if entry.seq != self.seq.next() {
            return Err("sequence numbers rise by one");
        }
        let opens = matches!(entry.record, Record::Opened(_));
        if opens != self.opened.is_none() {
            return Err("a journal begins with opened, and has it once");
        }
        self.seq = entry.seq;
        self.run_ms = self.run_ms.max(entry.run_ms);
        match &entry.record {
            Record::Opened(opened) => self.opened = Some(opened.as_ref().clone()),
            Record::Resumed { .. } => self.resumed(),
            Record::Attached { epoch, target, .. } => {
                if *epoch <= self.epoch {
                    return Err("epochs rise");
                }
                self.epoch = *epoch;
                self.target = Some(target.clone());
            }
            Record::Read { anchor, .. } => self.anchor = Some(anchor.clone()),
            Record::Bound { conversation } => {
                if self
                    .conversation
                    .as_ref()
                    .is_some_and(|known| known != conversation)
                {
                    return Err("a session has one conversation");
                }
                self.conversation = Some(conversation.clone());
            }
            Record::Intent(intent) => self.intend(intent)?,
            Record::Dispatching { send, attempt } => {
                self.dispatch(*send, *attempt)?;
                self.dispatched_at.push_back(self.run_ms);
                if self.dispatched_at.len() > DISPATCHES_KEPT {
                    self.dispatched_at.pop_front();
                }
            }
            Record::Outcome {
                send,
                state,
                evidence,
            } => self.outcome(*send, *state, evidence)?,
            Record::Judged {
                send,
                reply,
                judgement,
            } => {
                self.judge(*send, judgement)?;
                if let Some(reply) = reply {
                    self.anchor = Some(Anchor::After(reply.turn.clone()));
                    let row = self.last_send()?;
                    row.own = Some(reply.own.clone());
                    row.reply = Some(reply.turn.clone());
                }
            }
            Record::Started {
                plan,
                attempt,
                group,
                ..
            } => {
                let (plan, group, attempt) = (plan.clone(), *group, *attempt);
                if self.may_execute().map(|accepted| accepted.key.clone()) != Ok(plan) {
                    return Err("only the accepted plan is started, and once");
                }
                let row = self.plan.as_mut().ok_or("a plan stands accepted")?;
                row.stage = PlanStage::Started { group, attempt };
                self.started.insert(row.accepted.digest.clone());
                self.run_once = None;
                if planted::is(Bug::CheckpointEarly)
                    && let Some(row) = &self.plan
                {
                    let (round, key) = (row.accepted.round, row.accepted.key.clone());
                    self.checkpoint = Checkpoint::At { round, key };
                }
            }
            Record::NotStarted { plan, .. } => {
                let row = self.open_plan(plan)?;
                row.not_started += 1;
                row.stage = PlanStage::Accepted;
                let digest = row.accepted.digest.clone();
                self.started.remove(&digest);
            }
            Record::Settled {
                round,
                plan,
                receipt,
                ..
            } => {
                //= spec K4
                match self.open_plan(plan)?.stage {
                    PlanStage::Started { .. } => {}
                    PlanStage::Accepted | PlanStage::InDoubt => {
                        return Err("only a started plan settles");
                    }
                }
                self.settle(*round, plan, receipt);
            }
            Record::InDoubt { plan, .. } => {
                let row = self.open_plan(plan)?;
                row.stage = PlanStage::InDoubt;
                let body = row.accepted.body.clone();
                self.doubted.insert(body);
            }
            Record::Decided { cost, .. } => {
                if let Some(cost) = cost {
                    self.pay(*cost);
                }
            }
            Record::Stopped(stop) => self.stop = Some(stop.clone()),
            Record::Lifted { limit, .. } => self.lift(limit.as_ref())?,
            Record::Attested { what, .. } => self.attest(what)?,
            Record::Abandoned { .. } => {
                self.abandoned = true;
                self.stop = None;
            }
        }
        Ok(())
    }

    /// Another process took over: an end that was no standing stop is past.
    fn resumed(&mut self) {
        self.restarts += 1;
        if !self.stop.as_ref().is_some_and(|stop: &Stop| stop.standing) {
            self.stop = None;
        }
        if planted::is(Bug::BudgetsReset) {
            self.budgets.allow_again();
        }
        if planted::is(Bug::StartedAgain)
            && let Some(row) = &mut self.plan
        {
            row.stage = PlanStage::Accepted;
            self.started.remove(&row.accepted.digest);
        }
    }

    fn last_send(&mut self) -> Result<&mut SendRow, &'static str> {
        self.sends
            .last_mut()
            .ok_or("a send comes before what is said of it")
    }

    pub(super) fn flying(&mut self, send: SendId) -> Result<&mut SendRow, &'static str> {
        let row = self.last_send()?;
        if row.intent.send != send || row.judged.is_some() || row.void {
            return Err("only the send in flight changes");
        }
        Ok(row)
    }

    //= spec S2
    fn intend(&mut self, intent: &super::Intent) -> Result<(), &'static str> {
        if intent.send != self.next_send() {
            return Err("sends are numbered from one without a gap");
        }
        //= spec W13
        let may_supersede = match intent.message {
            SendKind::Resume | SendKind::Resync => true,
            SendKind::Hello | SendKind::Round | SendKind::Repair => false,
        };
        match self.in_flight().map(SendRow::state) {
            Some(SendState::Unknown) => return Err("nothing is sent over an unknown send"),
            Some(SendState::Sent | SendState::NotSent) if !may_supersede => {
                return Err("nothing is sent over a send in flight");
            }
            Some(SendState::Sent | SendState::NotSent) | None => {}
        }
        self.supersede_plan(intent, may_supersede)?;
        if self.is_closed() || self.standing_stop().is_some() {
            return Err("nothing is sent after the end or over a standing stop");
        }
        for send in &intent.voids {
            let at = (send.0 as usize).checked_sub(1);
            if let Some(row) = at.and_then(|at| self.sends.get_mut(at)) {
                row.void = true;
            }
        }
        match intent.message {
            SendKind::Repair => {
                self.repairs += 1;
                self.refused.clear();
            }
            SendKind::Round => {
                self.refused.clear();
                self.repairs = 0;
            }
            SendKind::Resume | SendKind::Resync => {
                self.refused.clear();
                self.repairs = 0;
                self.paid = None;
                self.owes_resume = false;
            }
            SendKind::Hello => {}
        }
        if let Some(offer) = &intent.offer {
            self.declare(intent.message, offer)?;
        }
        self.sends.push(SendRow {
            intent: intent.clone(),
            attempts: 0,
            outcome: None,
            own: None,
            reply: None,
            judged: None,
            settled: false,
            void: false,
        });
        Ok(())
    }

    /// Draws on a budget. What was paid for and never made is not paid for twice:
    /// a restart in between asks the table once more.
    //= spec RP4
    fn pay(&mut self, cost: Cost) {
        let declares = match cost {
            Cost::Resume | Cost::Resync => true,
            Cost::Reattach | Cost::Read => false,
        };
        if declares && self.paid.replace(cost) == Some(cost) {
            return;
        }
        self.budgets.draw(cost, &self.checkpoint);
    }

    /// The offer in force is another from here on; an acknowledgement of the old
    /// one holds no more.
    //= spec R9
    fn declare(&mut self, message: SendKind, offer: &Offer) -> Result<(), &'static str> {
        let opened = self.opened.as_mut().ok_or("a session is open")?;
        let same = opened.offer.terms.sid == offer.terms.sid && opened.offer.qid == offer.qid;
        if !same {
            return Err("another offer keeps session and request");
        }
        match message {
            SendKind::Hello => {}
            SendKind::Resync => self.handshake = Handshake::Unproven,
            SendKind::Round | SendKind::Repair | SendKind::Resume => {
                return Err("only a handshake offers anything");
            }
        }
        opened.offer = offer.clone();
        Ok(())
    }

    fn dispatch(&mut self, send: SendId, attempt: u32) -> Result<(), &'static str> {
        let row = self.flying(send)?;
        //= spec S6
        if !row.state().may_send() {
            return Err("only a proven not-sent is dispatched");
        }
        if attempt != row.attempts + 1 {
            return Err("attempts rise by one");
        }
        row.attempts = attempt;
        row.outcome = None;
        let chars = row.intent.text.chars() as u64;
        self.typed_chars = self.typed_chars.saturating_add(chars);
        Ok(())
    }

    fn outcome(
        &mut self,
        send: SendId,
        state: SendState,
        evidence: &SendEvidence,
    ) -> Result<(), &'static str> {
        if evidence.proves() != state {
            return Err("a state rests on evidence that proves it");
        }
        let row = self.flying(send)?;
        //= spec S5
        if row
            .outcome
            .as_ref()
            .is_some_and(|(known, _)| !known.may_become(state))
        {
            return Err("a recorded outcome rises from unknown to sent only");
        }
        match evidence {
            SendEvidence::OwnTurn { turn: Some(turn) } => {
                row.own = Some(turn.clone());
                let anchor = Anchor::After(turn.clone());
                row.outcome = Some((state, evidence.clone()));
                self.anchor = Some(anchor);
            }
            SendEvidence::OwnTurn { turn: None }
            | SendEvidence::OwnRequest
            | SendEvidence::NeverDispatched
            | SendEvidence::GuardStopped { .. }
            | SendEvidence::RefusedBeforeClick { .. }
            | SendEvidence::ComposerKeptText
            | SendEvidence::Attested { .. }
            | SendEvidence::Nothing => row.outcome = Some((state, evidence.clone())),
        }
        Ok(())
    }

    fn judge(&mut self, send: SendId, judgement: &Judgement) -> Result<(), &'static str> {
        let row = self.flying(send)?;
        if row.state() != SendState::Sent {
            return Err("only a sent message has a reply");
        }
        let message = row.intent.message;
        let round = row.intent.round;
        row.judged = Some(judgement.clone());
        match judgement {
            Judgement::Held if !message.is_task() => self.handshake = Handshake::Held,
            Judgement::NotHeld { .. } if !message.is_task() => {
                //= spec H3
                self.handshake = match message {
                    SendKind::Hello | SendKind::Resume => Handshake::Unproven,
                    SendKind::Resync | SendKind::Round | SendKind::Repair => Handshake::Refused,
                };
            }
            Judgement::Held | Judgement::NotHeld { .. } => {
                return Err("a round is answered by a plan");
            }
            Judgement::Accepted(accepted) => self.accept(message, round, accepted)?,
            Judgement::Refused { faults } => {
                if !message.is_task() {
                    return Err("only a round's reply is refused as a plan");
                }
                self.refused.clone_from(faults);
            }
            Judgement::Failed { .. } => {}
        }
        Ok(())
    }
}
