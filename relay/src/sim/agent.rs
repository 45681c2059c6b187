//! The agent side of a simulated world: wrappers that wait, run, settle, fail, die, and
//! outlive the relay; and their truth about what ran.

use std::collections::BTreeMap;

use protocol::{id::Digest, record::Accepted, session::AgentReport, text::Private};

use super::{
    check::Violation,
    world::{Event, World},
};

/// What the agent does with the next plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Does {
    /// It runs and succeeds.
    #[default]
    Settles,
    /// It runs and fails.
    Fails,
    /// It cannot be spawned.
    NeverStarts,
    /// It dies while it runs, without a record of its end.
    Dies,
    /// It never ends.
    Hangs,
    /// The relay is killed while it runs; it goes on.
    Outlives,
    /// The relay is killed while it runs, and it with it.
    KilledToo,
    /// Nobody answers whether it may run.
    AskExpires,
}

/// How far one execution has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stage {
    /// It waits on its pipe, having run nothing.
    Waits,
    /// It runs.
    Runs,
    /// It ended, with its exit record.
    Ended {
        /// Whether it succeeded.
        ok: bool,
    },
    /// Its pipe closed first: it ran nothing.
    NotStarted,
    /// It is gone without a record.
    Gone,
}

/// One execution of a plan.
#[derive(Debug, Clone)]
pub struct Job {
    /// The plan's key.
    pub key: String,
    /// Of its whole text.
    pub digest: Digest,
    /// How far it has come.
    pub stage: Stage,
    /// What it does.
    does: Does,
}

/// Everything that was ever spawned.
#[derive(Debug, Clone, Default)]
pub struct Agent {
    /// Executions, oldest first.
    pub jobs: Vec<Job>,
    /// What the next one does.
    pub does: Does,
    /// How often each plan text was let go.
    pub ran: BTreeMap<Digest, u32>,
    /// The execution in the hands of the present process.
    hand: Option<usize>,
}

impl Agent {
    /// Whether a plan runs.
    pub fn runs(&self) -> bool {
        self.jobs.iter().any(|job| job.stage == Stage::Runs)
    }

    /// Whether an execution of that plan ended with a record.
    pub fn ended(&self, key: &str) -> bool {
        let of = |job: &&Job| job.key == key;
        self.jobs
            .iter()
            .filter(of)
            .any(|job| matches!(job.stage, Stage::Ended { .. }))
    }
}

impl World {
    fn says(&mut self, after_ms: u64, report: AgentReport) {
        let link = self.driver.link;
        self.plan(after_ms, Event::Agent(link, report));
    }

    pub(super) fn prepare(&mut self) {
        match self.agent.does {
            Does::AskExpires => {
                self.agent.does = Does::Settles;
                self.says(600_000, AgentReport::AskExpired);
            }
            Does::Settles
            | Does::Fails
            | Does::NeverStarts
            | Does::Dies
            | Does::Hangs
            | Does::Outlives
            | Does::KilledToo => self.says(5, AgentReport::Prepared),
        }
    }

    pub(super) fn spawn(&mut self, plan: &Accepted) {
        let does = std::mem::take(&mut self.agent.does);
        if does == Does::NeverStarts {
            let why = "no such program".to_owned();
            self.says(5, AgentReport::NotStarted { why });
            return;
        }
        self.agent.jobs.push(Job {
            key: plan.key.to_string(),
            digest: plan.digest.clone(),
            stage: Stage::Waits,
            does,
        });
        let at = self.agent.jobs.len() - 1;
        self.agent.hand = Some(at);
        let group = 100 + u32::try_from(at).unwrap_or_default();
        let kept = None;
        self.says(8, AgentReport::Ready { group, kept });
    }

    pub(super) fn let_it_go(&mut self) -> Result<(), Violation> {
        let Some(at) = self.agent.hand else {
            let why = "the wrapper that was to be let go is not there".to_owned();
            self.says(1, AgentReport::InDoubt { why });
            return Ok(());
        };
        let job = &mut self.agent.jobs[at];
        job.stage = Stage::Runs;
        let (digest, does) = (job.digest.clone(), job.does);
        *self.agent.ran.entry(digest.clone()).or_default() += 1;
        self.checks.let_go(&self.agent, &digest)?;
        let takes = self.draw(20, 30_000);
        match does {
            Does::Hangs => {}
            Does::Settles | Does::Fails | Does::NeverStarts | Does::AskExpires | Does::Dies => {
                self.plan(takes, Event::JobEnds(at));
            }
            Does::Outlives => {
                self.plan(takes + 50, Event::JobEnds(at));
                self.plan(takes / 2, Event::Strikes(super::fault::Own::Kill));
            }
            Does::KilledToo => {
                self.plan(takes / 2, Event::JobEnds(at));
                self.plan(takes / 2, Event::Strikes(super::fault::Own::Kill));
            }
        }
        Ok(())
    }

    pub(super) fn job_ends(&mut self, at: usize) {
        let job = &mut self.agent.jobs[at];
        if job.stage != Stage::Runs {
            return;
        }
        job.stage = match job.does {
            Does::Dies | Does::KilledToo => Stage::Gone,
            Does::Settles | Does::NeverStarts | Does::Hangs | Does::Outlives | Does::AskExpires => {
                Stage::Ended { ok: true }
            }
            Does::Fails => Stage::Ended { ok: false },
        };
        let key = job.key.clone();
        self.say(|| format!("the plan {key} comes to its end"));
        if self.agent.hand == Some(at) && self.process.is_some() {
            let report = self.report(at);
            self.agent.hand = None;
            self.says(3, report);
        }
    }

    fn report(&self, at: usize) -> AgentReport {
        let job = &self.agent.jobs[at];
        match &job.stage {
            Stage::Ended { ok } => AgentReport::Settled {
                ok: *ok,
                receipt: Private::from(format!("ran {} as number {at}", job.key)),
            },
            Stage::NotStarted => AgentReport::NotStarted {
                why: "its pipe closed".to_owned(),
            },
            Stage::Waits | Stage::Runs | Stage::Gone => AgentReport::InDoubt {
                why: "it left no record of its end".to_owned(),
            },
        }
    }

    /// What a restarted relay finds of a plan that an earlier process started.
    pub(super) fn adopt(&mut self, plan: &Accepted) {
        let key = plan.key.to_string();
        let found = self.agent.jobs.iter().rposition(|job| job.key == key);
        let Some(at) = found else {
            let why = "nothing is left of it".to_owned();
            self.says(5, AgentReport::InDoubt { why });
            return;
        };
        if self.agent.jobs[at].stage == Stage::Runs {
            self.agent.hand = Some(at);
            self.says(5, AgentReport::Alive);
        } else {
            let report = self.report(at);
            self.says(5, report);
        }
    }

    pub(super) fn stop_agent(&mut self) {
        let Some(at) = self.agent.hand else {
            self.says(1, AgentReport::Cancelled);
            return;
        };
        match self.agent.jobs[at].stage {
            Stage::Runs => self.plan(3_000, Event::Grace(at)),
            Stage::Waits => {
                self.agent.jobs[at].stage = Stage::NotStarted;
                self.agent.hand = None;
                self.says(5, AgentReport::Cancelled);
            }
            Stage::Ended { .. } | Stage::NotStarted | Stage::Gone => {
                self.says(1, AgentReport::Cancelled);
            }
        }
    }

    pub(super) fn grace_over(&mut self, at: usize) {
        if self.agent.jobs[at].stage == Stage::Runs {
            self.agent.jobs[at].stage = Stage::Gone;
            if self.agent.hand.take() == Some(at) {
                let why = "killed at the end of its grace".to_owned();
                self.says(3, AgentReport::InDoubt { why });
            }
        }
    }

    /// The relay's process is gone: pipes close. At an orderly end nothing is left.
    pub(super) fn agent_alone(&mut self, orderly: bool) {
        self.agent.hand = None;
        for job in &mut self.agent.jobs {
            match job.stage {
                Stage::Waits => job.stage = Stage::NotStarted,
                Stage::Runs if orderly => job.stage = Stage::Gone,
                Stage::Runs | Stage::Ended { .. } | Stage::NotStarted | Stage::Gone => {}
            }
        }
    }
}
