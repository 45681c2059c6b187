//! What a person says, folded: lifted stops and attestations.

use std::fmt;

use super::{Attested, Handshake, Judgement, MayNot, NewLimit, PlanStage, SendRow, State};
use crate::{
    frame::Checkpoint,
    id::{PlanKey, Round, SendId},
    limits::Limits,
    outcome::Outcome,
    send::{SendEvidence, SendKind, SendState},
    text::Private,
};

impl State {
    /// The plan ran to its end: it is the checkpoint from here on.
    //= spec K4
    pub(super) fn settle(&mut self, round: Round, plan: &PlanKey, receipt: &Private) {
        self.plan = None;
        let settles = |row: &&mut SendRow| matches!(&row.judged, Some(Judgement::Accepted(it)) if it.key == *plan);
        if let Some(row) = self.sends.iter_mut().rev().find(settles) {
            row.settled = true;
        }
        self.checkpoint = Checkpoint::At {
            round,
            key: plan.clone(),
        };
        self.budgets.moved_to(&self.checkpoint);
        self.receipt = Some(receipt.clone());
        self.repairs = 0;
        self.paid = None;
    }

    /// The standing stop holds no more, and what is spent is allowed once more.
    //= spec M2
    pub(super) fn lift(&mut self, limit: Option<&NewLimit>) -> Result<(), &'static str> {
        let Some(stop) = self.standing_stop().cloned() else {
            return Err("only a standing stop is lifted");
        };
        self.stop = None;
        self.budgets.allow_again();
        match limit {
            Some(limit) => {
                let mut all = Limits::default();
                if all.set(&limit.name, limit.value).is_err() {
                    return Err("a new limit has a known name and lies within its range");
                }
                self.allowed.limits.insert(limit.name.clone(), limit.value);
            }
            None => {
                self.allowed.run_ms = self.run_ms;
                self.allowed.typed_chars = self.typed_chars;
                self.allowed.rounds = self.last_round();
            }
        }
        // The round that ended so is void: it is taken up again from the checkpoint.
        match stop.outcome {
            Outcome::Blocked | Outcome::Violation => {
                self.void_round();
                self.owes_resume = true;
            }
            Outcome::Done
            | Outcome::Defect
            | Outcome::Usage
            | Outcome::Manual
            | Outcome::Unknown
            | Outcome::Stopped
            | Outcome::Boundary
            | Outcome::Locked
            | Outcome::Environment
            | Outcome::Interrupted => {}
        }
        Ok(())
    }

    //= spec M2
    //= spec M4
    pub(super) fn attest(&mut self, what: &Attested) -> Result<(), &'static str> {
        match what {
            Attested::Sent { send } => self.attest_send(*send, SendState::Sent),
            Attested::NotSent { send } => {
                self.attest_send(*send, SendState::NotSent)?;
                let row = self.flying(*send)?;
                row.void = true;
                self.owes_resume |= match row.intent.message {
                    SendKind::Round | SendKind::Repair | SendKind::Resume => true,
                    SendKind::Hello | SendKind::Resync => false,
                };
                Ok(())
            }
            Attested::Ran {
                round,
                plan,
                receipt,
                ..
            } => {
                let body = self.doubtful(plan)?;
                self.doubted.remove(&body);
                self.settle(*round, plan, receipt);
                Ok(())
            }
            Attested::DidNotRun { plan, .. } => {
                // Its body stays among the doubted: an equal one does not run by itself.
                //= spec K5
                self.doubtful(plan)?;
                self.void_round();
                self.owes_resume = true;
                Ok(())
            }
            Attested::RunOnce { plan } => {
                let refused = self.may_execute().err();
                match refused {
                    Some(MayNot::RanBefore | MayNot::EqualInDoubt | MayNot::Stopped) => {}
                    Some(MayNot::NoPlan | MayNot::AlreadyStarted | MayNot::NotForUs) | None => {
                        return Err("only a plan like one that was started is let run once");
                    }
                }
                let digest = self.open_plan(plan)?.accepted.digest.clone();
                self.run_once = Some(digest);
                Ok(())
            }
            //= spec RP8
            Attested::Resync => match self.handshake {
                Handshake::Held | Handshake::Refused => {
                    self.handshake = Handshake::Unproven;
                    Ok(())
                }
                Handshake::Pending | Handshake::Unproven => {
                    Err("only a handshake that was judged is declared anew")
                }
            },
        }
    }

    fn attest_send(&mut self, send: SendId, to: SendState) -> Result<(), &'static str> {
        let row = self.flying(send)?;
        if row.state() != SendState::Unknown {
            return Err("only an unknown send is attested");
        }
        row.outcome = Some((to, SendEvidence::Attested { state: to }));
        Ok(())
    }

    /// The plan whose execution is in doubt, by its body.
    fn doubtful(&mut self, plan: &PlanKey) -> Result<crate::id::Digest, &'static str> {
        let row = self.open_plan(plan)?;
        match row.stage {
            PlanStage::InDoubt => Ok(row.accepted.body.clone()),
            PlanStage::Accepted | PlanStage::Started { .. } => {
                Err("only an execution in doubt is attested")
            }
        }
    }

    /// The present round leads nowhere: its plan and its sends are void.
    fn void_round(&mut self) {
        self.plan = None;
        self.refused.clear();
        for send in self.to_void() {
            if let Some(row) = self.sends.iter_mut().find(|row| row.intent.send == send) {
                row.void = true;
            }
        }
    }

    /// The last round that was begun.
    pub fn last_round(&self) -> u32 {
        let rounds = self.sends.iter().filter_map(|row| row.intent.round);
        rounds.max().map_or(0, |round| round.0)
    }

    /// The limits in force: as configured, with what a person set anew.
    //= spec M2
    pub fn limits_in_force(&self, configured: &Limits) -> Limits {
        let mut limits = configured.clone();
        for (name, value) in &self.allowed.limits {
            // Only what was checked is stored.
            let _ = limits.set(name, *value);
        }
        limits
    }
}

impl fmt::Display for Attested {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sent { send } => write!(f, "message {send} was sent"),
            Self::NotSent { send } => write!(f, "message {send} was not sent"),
            Self::Ran {
                round, plan, ok, ..
            } => {
                let how = if *ok { "well" } else { "badly" };
                write!(f, "plan {plan} of round {round} ran and ended {how}")
            }
            Self::DidNotRun { round, plan } => {
                write!(f, "plan {plan} of round {round} did not run")
            }
            Self::RunOnce { plan } => write!(f, "plan {plan} may run once"),
            Self::Resync => f.write_str("the model lost its context"),
        }
    }
}
