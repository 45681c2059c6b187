//! How an accepted plan comes into the state, and how one that waits leaves it.

use super::{Accepted, Intent, Judgement, PlanRow, PlanStage, SendRow, State};
use crate::{
    id::{PlanKey, Round},
    plan::Decision,
    planted::{self, Bug},
    send::SendKind,
};

impl State {
    /// No message goes over an open plan but one that makes it void, and only
    /// while it has not been started.
    //= spec W12
    pub(super) fn supersede_plan(
        &mut self,
        intent: &Intent,
        may_supersede: bool,
    ) -> Result<(), &'static str> {
        let Some(plan) = &self.plan else {
            return Ok(());
        };
        match plan.stage {
            PlanStage::Accepted if may_supersede => {}
            PlanStage::Accepted | PlanStage::Started { .. } | PlanStage::InDoubt => {
                return Err("nothing is sent while a plan is open");
            }
        }
        let answers = |row: &&SendRow| matches!(&row.judged, Some(Judgement::Accepted(it)) if it.key == plan.accepted.key);
        let voided = self.sends.iter().rev().find(answers);
        if !voided.is_some_and(|row| intent.voids.contains(&row.intent.send)) {
            return Err("a plan that waits is made void by name");
        }
        if planted::is(Bug::VoidPlan) {
            return Ok(());
        }
        self.plan = None;
        Ok(())
    }

    pub(super) fn accept(
        &mut self,
        message: SendKind,
        round: Option<Round>,
        accepted: &Accepted,
    ) -> Result<(), &'static str> {
        //= spec H2
        if !message.is_task() || round != Some(accepted.round) {
            return Err("a plan answers its own round");
        }
        self.refused.clear();
        match accepted.decision {
            //= spec K2
            Decision::Done if !planted::is(Bug::DoneStarted) => {
                self.terminal = Some((accepted.round, accepted.key.clone()))
            }
            Decision::Done | Decision::Continue | Decision::NeedInfo | Decision::Blocked => {
                self.plan = Some(PlanRow {
                    accepted: accepted.clone(),
                    stage: PlanStage::Accepted,
                    not_started: 0,
                });
            }
        }
        Ok(())
    }

    pub(super) fn open_plan(&mut self, key: &PlanKey) -> Result<&mut PlanRow, &'static str> {
        self.plan
            .as_mut()
            .filter(|row| row.accepted.key == *key)
            .ok_or("only the open plan is executed")
    }
}
