//! A complete reply is judged: an acknowledgement, a plan, or neither.

use super::{Session, ask::Trouble, decide::Move, facts::Sign};
use crate::{
    establish,
    fault::{Action, Code, Fault, action_of},
    frame::Frame,
    id::Round,
    page::Place,
    plan,
    record::{Accepted, Judgement, Record, ReplyFacts, SendRow},
    reply::Captured,
};

impl Session {
    pub(super) fn judge(&self, row: &SendRow, captured: &Captured) -> Move {
        //= spec E1
        if self.state.conversation.is_none() {
            return self.unbound(captured);
        }
        let judged = if row.intent.message.is_task() {
            self.as_plan(row, captured)
        } else {
            self.as_acknowledgement(captured)
        };
        match judged {
            //= spec P7
            Err(faults) => self.reread(Sign::Unproven, faults_code(&faults), list(&faults)),
            Ok(judgement) => Move::store(Record::Judged {
                send: row.intent.send,
                reply: Some(ReplyFacts {
                    turn: captured.turn.clone(),
                    own: captured.own.clone(),
                    digest: captured.digest.clone(),
                    chars: u32::try_from(captured.text.chars()).unwrap_or(u32::MAX),
                    end: captured.end,
                    agreed: captured.agreed.clone(),
                }),
                judgement,
            }),
        }
    }

    /// A reply is here and the conversation has no id of its own yet: the page
    /// gives it within the evidence span, or something is wrong with the page.
    fn unbound(&self, captured: &Captured) -> Move {
        let place = self.live.look.as_ref().map(|seen| &seen.look.place);
        if let Some(Place::Conversation(id)) = place {
            return Move::store(Record::Bound {
                conversation: id.clone(),
            });
        }
        let sent = self.live.sent_at.back().copied().unwrap_or_default();
        let until = sent.max(self.live.attach_since) + self.limits.settle_ms;
        if self.now() < until {
            return Move::Wait(Some(until));
        }
        let why = format!(
            "the conversation got no address of its own (turn {})",
            captured.own
        );
        self.ask(&Trouble::new(Sign::AsIs, Code::Conversation, why))
    }

    /// `Err` holds faults of our own capture alone.
    fn as_acknowledgement(&self, captured: &Captured) -> Result<Judgement, Vec<Fault>> {
        let Some(opened) = &self.state.opened else {
            return Err(vec![Fault::bare(Code::Capture)]);
        };
        let terms = &opened.offer.terms;
        match establish::gate(captured.text.as_str(), terms, captured.end) {
            Ok(()) => Ok(Judgement::Held),
            Err(faults) if is_local(&faults) => Err(faults),
            //= spec H3
            Err(faults) => Ok(Judgement::NotHeld { faults }),
        }
    }

    fn as_plan(&self, row: &SendRow, captured: &Captured) -> Result<Judgement, Vec<Fault>> {
        let round = row.intent.round.unwrap_or(Round::FIRST);
        let Some(frame) = self.frame(round) else {
            return Err(vec![Fault::bare(Code::Capture)]);
        };
        match plan::validate(captured.text.as_str(), &frame, captured.end) {
            Ok(plan) => Ok(Judgement::Accepted(Box::new(Accepted {
                round,
                key: plan.key.clone(),
                digest: plan.digest.clone(),
                body: plan.body_without_frame(),
                decision: plan.decision,
                task: plan.task.clone(),
                text: plan.text.clone(),
            }))),
            Err(faults) if is_local(&faults) => Err(faults),
            Err(faults) => Ok(Judgement::Refused { faults }),
        }
    }

    /// The FRAME of a round: `p` is the checkpoint's key and nothing else.
    //= spec W5
    //= spec K4
    pub(super) fn frame(&self, round: Round) -> Option<Frame> {
        let opened = self.state.opened.as_ref()?;
        Some(Frame {
            sid: opened.sid().clone(),
            round,
            prev: self.state.checkpoint.prev(),
            qid: opened.qid().clone(),
        })
    }
}

fn is_local(faults: &[Fault]) -> bool {
    action_of(faults) == Some(Action::Recover)
}

fn faults_code(faults: &[Fault]) -> Code {
    let uncertain = faults
        .iter()
        .any(|fault| fault.code == Code::SourceUncertain);
    if uncertain {
        Code::SourceUncertain
    } else {
        Code::Capture
    }
}

pub(super) fn list(faults: &[Fault]) -> String {
    faults
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(", ")
}
