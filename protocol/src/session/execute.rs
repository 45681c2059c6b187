//! An accepted plan is approved, started once, and settles.

use super::{
    Session,
    ask::Trouble,
    decide::Move,
    facts::Sign,
    input::{AgentReport, Effect},
    live::AgentLive,
    stop_of,
};
use crate::{
    fault::Code,
    outcome::Outcome,
    plan::Decision,
    record::{Accepted, MayNot, PlanRow, PlanStage, Record},
    time::{Millis, SpanMs},
};

impl Session {
    /// What the agent side says comes before the page, and so does its silence.
    pub(super) fn holding(&self) -> Option<Move> {
        let plan = self.state.plan.as_ref()?;
        match &plan.stage {
            PlanStage::Accepted => match &self.live.agent {
                AgentLive::Reported(_) => Some(self.accepted(plan)),
                AgentLive::None
                | AgentLive::Preparing
                | AgentLive::Prepared
                | AgentLive::Spawning
                | AgentLive::Ready { .. }
                | AgentLive::Adopting
                | AgentLive::Running { .. }
                | AgentLive::Stopping { .. } => None,
            },
            PlanStage::Started { attempt, .. } => self.started(plan, *attempt),
            PlanStage::InDoubt => {
                let why = "it cannot be told whether the last plan ran, or how far";
                Some(self.ask(&Trouble::new(Sign::AsIs, Code::Agent, why)))
            }
        }
    }

    /// While a plan runs: when its agent's silence counts as doubt at the latest.
    pub(super) fn running_until(&self) -> Option<Millis> {
        self.state
            .plan
            .as_ref()
            .filter(|plan| matches!(plan.stage, PlanStage::Started { .. }))?;
        match &self.live.agent {
            AgentLive::Running { since } => {
                Some(*since + self.limits.agent_ms + self.limits.stop_grace_ms + AGENT_SLACK_MS)
            }
            AgentLive::Stopping { since } => {
                Some(*since + self.limits.stop_grace_ms + AGENT_SLACK_MS)
            }
            AgentLive::Adopting => Some(self.now() + self.limits.agent_ms),
            AgentLive::None
            | AgentLive::Preparing
            | AgentLive::Prepared
            | AgentLive::Spawning
            | AgentLive::Ready { .. }
            | AgentLive::Reported(_) => None,
        }
    }

    /// An accepted plan is started only while the page is here and agrees.
    pub(super) fn starting(&self) -> Option<Move> {
        let plan = self.state.plan.as_ref()?;
        (plan.stage == PlanStage::Accepted).then(|| self.accepted(plan))
    }

    fn accepted(&self, plan: &PlanRow) -> Move {
        //= spec P8
        if plan.accepted.decision == Decision::Blocked {
            let why = format!("the remote is blocked: {}", plan.accepted.task);
            return Move::Stop(stop_of(Outcome::Blocked, None, &why));
        }
        match self.state.may_execute() {
            Err(refused) => self.may_not(refused),
            Ok(accepted) => self
                .boundary()
                .unwrap_or_else(|| self.prepare(plan, accepted)),
        }
    }

    //= spec K5
    fn may_not(&self, refused: MayNot) -> Move {
        let why = match refused {
            MayNot::RanBefore => "the remote sent a plan whose very text was started before",
            MayNot::EqualInDoubt => "the remote sent a plan that equals one in doubt",
            MayNot::NoPlan | MayNot::AlreadyStarted | MayNot::NotForUs | MayNot::Stopped => {
                "the plan must not be started"
            }
        };
        self.ask(&Trouble::new(Sign::AsIs, Code::Agent, why))
    }

    fn prepare(&self, plan: &PlanRow, accepted: &Accepted) -> Move {
        match &self.live.agent {
            AgentLive::None if self.live.interrupt.is_some() => Move::Wait(None),
            AgentLive::None => Move::Act(Effect::Prepare(Box::new(accepted.clone()))),
            AgentLive::Prepared => Move::Act(Effect::Spawn(Box::new(accepted.clone()))),
            AgentLive::Preparing
            | AgentLive::Spawning
            | AgentLive::Adopting
            | AgentLive::Stopping { .. } => Move::Wait(None),
            AgentLive::Ready { group, kept } => Move::store(Record::Started {
                round: accepted.round,
                plan: accepted.key.clone(),
                attempt: plan.not_started + 1,
                group: *group,
                kept: kept.clone(),
            }),
            AgentLive::Running { .. } => Move::Wait(None),
            AgentLive::Reported(report) => self.before_start(plan, report),
        }
    }

    fn before_start(&self, plan: &PlanRow, report: &AgentReport) -> Move {
        match report {
            //= spec P9
            AgentReport::AskExpired => {
                let why = "nobody answered whether the plan may run; it stays accepted";
                Move::Stop(stop_of(Outcome::Manual, Some(Code::Agent), why))
            }
            AgentReport::Unable { code, why } => self.fail(*code, why),
            AgentReport::NotStarted { why } => self.not_started(plan, plan.not_started + 1, why),
            AgentReport::InDoubt { why } => self.doubt(plan, why),
            // Taken into the live part on arrival; a settlement without a start
            // is a fault of the agent side and proves nothing.
            AgentReport::Prepared
            | AgentReport::Alive
            | AgentReport::Cancelled
            | AgentReport::Ready { .. }
            | AgentReport::Settled { .. } => self.doubt(
                plan,
                "the agent reported an end before its start was stored",
            ),
        }
    }

    fn started(&self, plan: &PlanRow, attempt: u32) -> Option<Move> {
        let late = self.running_until().is_some_and(|net| net <= self.now());
        Some(match &self.live.agent {
            AgentLive::Reported(AgentReport::Settled { ok, receipt }) => {
                Move::store(Record::Settled {
                    round: plan.accepted.round,
                    plan: plan.accepted.key.clone(),
                    ok: *ok,
                    receipt: receipt.clone(),
                })
            }
            AgentLive::Reported(AgentReport::NotStarted { why }) => {
                self.not_started(plan, attempt, why)
            }
            AgentLive::Reported(AgentReport::InDoubt { why }) => self.doubt(plan, why),
            AgentLive::Reported(
                AgentReport::Prepared
                | AgentReport::Alive
                | AgentReport::Cancelled
                | AgentReport::AskExpired
                | AgentReport::Unable { .. }
                | AgentReport::Ready { .. },
            ) => self.doubt(plan, "the agent reported what cannot follow a start"),
            AgentLive::Running { .. } if late => {
                self.doubt(plan, "the agent did not end within agent_s")
            }
            AgentLive::Stopping { .. } if late => self.doubt(
                plan,
                "the agent was asked to stop and did not say how it ended",
            ),
            AgentLive::Running { .. } | AgentLive::Stopping { .. } | AgentLive::Adopting => {
                return None;
            }
            // Started by an earlier process: what became of it is asked of the
            // agent side, which answers with a report.
            //= spec K1
            AgentLive::None => Move::Act(Effect::Adopt(Box::new(plan.accepted.clone()))),
            AgentLive::Preparing
            | AgentLive::Prepared
            | AgentLive::Spawning
            | AgentLive::Ready { .. } => self.doubt(
                plan,
                "the plan was started while another start was prepared",
            ),
        })
    }

    /// Whether a plan stands started by an earlier process, and nobody has
    /// looked yet what became of it.
    pub(super) fn is_to_be_adopted(&self) -> bool {
        let plan = self.state.plan.as_ref();
        plan.is_some_and(|plan| match plan.stage {
            PlanStage::Started { .. } => true,
            PlanStage::Accepted | PlanStage::InDoubt => false,
        })
    }

    fn not_started(&self, plan: &PlanRow, attempt: u32, why: &str) -> Move {
        //= spec K1
        if plan.stage == PlanStage::Accepted
            && u64::from(plan.not_started) >= self.limits.spawn_retries_max
        {
            return self.fail(
                Code::Agent,
                format!("the agent could not be started: {why}"),
            );
        }
        Move::store(Record::NotStarted {
            round: plan.accepted.round,
            plan: plan.accepted.key.clone(),
            attempt,
            why: why.to_owned(),
        })
    }

    fn doubt(&self, plan: &PlanRow, why: &str) -> Move {
        Move::store(Record::InDoubt {
            round: plan.accepted.round,
            plan: plan.accepted.key.clone(),
            why: why.to_owned(),
        })
    }

    /// The boundaries that forbid the next send or execution.
    //= spec RP5
    pub(super) fn boundary(&self) -> Option<Move> {
        let why = self.limit_hit()?;
        Some(self.ask(&Trouble::bare(Sign::Boundary, why)))
    }

    /// The limit of the session that is hit, if one is: it forbids the next send and
    /// execution, and the next recovery as well.
    //= spec RP5
    pub(super) fn limit_hit(&self) -> Option<&'static str> {
        let run_ms = self.live.ran_before_ms + self.now().since(self.live.started_at);
        let allowed = &self.state.allowed;
        let run_ms = run_ms.saturating_sub(allowed.run_ms);
        let typed = self.state.typed_chars.saturating_sub(allowed.typed_chars);
        if run_ms >= self.limits.run_ms {
            Some("the run time of the session is spent (run_s)")
        } else if typed >= self.limits.typed_chars_max {
            Some("the characters that may be typed are spent (typed_chars_max)")
        } else {
            self.round_over()
        }
    }
}

/// On top of the agent side's own limits, before its silence counts as doubt.
const AGENT_SLACK_MS: SpanMs = 30_000;
