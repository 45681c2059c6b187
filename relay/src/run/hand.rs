//! The hand that carries plans out: the machine's effects on the agent side,
//! and the reports that come back. One plan at a time.

use std::sync::Arc;

use protocol::{
    fault::Code,
    frame::Frame,
    plan,
    record::{Accepted, State},
    session::AgentReport,
    text::Private,
};
use tokio::{
    sync::{Mutex, mpsc},
    task::JoinHandle,
};

use crate::agent::{
    self, Adopted, AgentError, Approval, Approver, Carrier, Ended, Order, Outcome, Running,
    Spawned, Stopper, UndoRule,
};

/// Reports that may wait for the loop; one plan makes fewer.
const REPORTS_MAX: usize = 8;

/// Who can be asked, shared with the task that asks.
pub type Asked = Arc<Mutex<Box<dyn Approver>>>;

/// The agent side of one run.
pub struct Hand {
    carrier: Carrier,
    approver: Asked,
    reports: mpsc::Sender<AgentReport>,
    at: At,
}

/// How far the plan in hand has come.
enum At {
    Nothing,
    /// Policy and person decide.
    Deciding(JoinHandle<()>, Arc<Mutex<Option<(Order, Approval)>>>),
    /// The wrapper is being started.
    Spawning(JoinHandle<()>, Arc<Mutex<Option<Spawned>>>),
    /// Let go.
    Running(Stopper),
}

impl Hand {
    /// A hand with nothing in it, and the end from which its reports come.
    pub fn new(carrier: Carrier, approver: Asked) -> (Self, mpsc::Receiver<AgentReport>) {
        let (reports, taken) = mpsc::channel(REPORTS_MAX);
        (
            Self {
                carrier,
                approver,
                reports,
                at: At::Nothing,
            },
            taken,
        )
    }

    /// Lets policy and person decide on the plan.
    pub fn prepare(&mut self, state: &State, accepted: &Accepted) {
        let order = match order_of(state, accepted) {
            Ok(order) => order,
            Err(why) => {
                self.tell(AgentReport::Unable {
                    code: Code::Agent,
                    why: why.to_owned(),
                });
                return;
            }
        };
        let slot = Arc::new(Mutex::new(None));
        let (carrier, approver) = (self.carrier.clone(), Arc::clone(&self.approver));
        let (reports, kept) = (self.reports.clone(), Arc::clone(&slot));
        let task = tokio::spawn(async move {
            let mut asked = approver.lock().await;
            let report = match carrier.approve(&order, asked.as_mut()).await {
                Ok(approval) => {
                    *kept.lock().await = Some((order, approval));
                    AgentReport::Prepared
                }
                //= spec P9
                Err(AgentError::AskTimedOut { .. }) => AgentReport::AskExpired,
                Err(error) => unable(&error),
            };
            // The loop is gone only when the run is over.
            let _ = reports.send(report).await;
        });
        self.at = At::Deciding(task, slot);
    }

    /// Starts the wrapper, which waits and runs nothing.
    //= spec K6
    pub fn spawn(&mut self) {
        let At::Deciding(_, approved) = std::mem::replace(&mut self.at, At::Nothing) else {
            let why = "no plan was approved".to_owned();
            self.tell(AgentReport::Unable {
                code: Code::Agent,
                why,
            });
            return;
        };
        let slot = Arc::new(Mutex::new(None));
        let (carrier, reports, kept) = (
            self.carrier.clone(),
            self.reports.clone(),
            Arc::clone(&slot),
        );
        let task = tokio::spawn(async move {
            let Some((order, approval)) = approved.lock().await.take() else {
                return;
            };
            let report = match carrier.spawn(&order, &approval).await {
                Ok(spawned) => {
                    let group = u32::try_from(spawned.pgid).unwrap_or_default();
                    *kept.lock().await = Some(spawned);
                    AgentReport::Ready {
                        group,
                        kept: kept_ref(&carrier, &order, &approval),
                    }
                }
                Err(error @ AgentError::Locked(_)) => unable(&error),
                Err(error) => AgentReport::NotStarted {
                    why: error.to_string(),
                },
            };
            let _ = reports.send(report).await;
        });
        self.at = At::Spawning(task, slot);
    }

    /// Lets the waiting wrapper go; *started* is durable.
    pub async fn let_go(&mut self) {
        let spawned = match std::mem::replace(&mut self.at, At::Nothing) {
            At::Spawning(_, slot) => slot.lock().await.take(),
            At::Nothing | At::Deciding(..) | At::Running(_) => None,
        };
        let Some(spawned) = spawned else {
            let why = "the wrapper that was to be let go is not there".to_owned();
            self.tell(AgentReport::InDoubt { why });
            return;
        };
        let running = spawned.release().await;
        self.await_end(running);
    }

    /// Looks for the plan that an earlier process started: its wrapper is awaited
    /// while it lives, else what it left tells how the plan ended.
    //= spec K1
    pub fn adopt(&mut self, state: &State, accepted: &Accepted) {
        let Some(opened) = &state.opened else {
            let why = "no session is open".to_owned();
            self.tell(AgentReport::InDoubt { why });
            return;
        };
        let settings = self.carrier.settings();
        let job_dir = agent::job_dir(
            &settings.state_dir,
            opened.sid().as_str(),
            accepted.round.0,
            accepted.key.as_str(),
        );
        match agent::adopt(&job_dir, settings) {
            Adopted::Alive(running) => {
                self.tell(AgentReport::Alive);
                self.await_end(*running);
            }
            Adopted::Ended(outcome) => {
                let report = self.naming_who_works(report_of(outcome));
                self.tell(report);
            }
        }
    }

    /// A report of doubt, with the process that is still at work in the folder.
    //= spec K6
    fn naming_who_works(&self, report: AgentReport) -> AgentReport {
        match (report, self.carrier.busy()) {
            (AgentReport::InDoubt { why }, Ok(Some(holder))) => AgentReport::InDoubt {
                why: format!("{why}; {holder} still works in the folder"),
            },
            (report, Ok(_) | Err(_)) => report,
        }
    }

    fn await_end(&mut self, mut running: Running) {
        self.at = At::Running(running.stopper());
        let reports = self.reports.clone();
        tokio::spawn(async move {
            let report = report_of(running.outcome().await);
            let _ = reports.send(report).await;
        });
    }

    /// Ends what is in hand: before the start nothing runs, after it the agent
    /// is asked to stop and then ended.
    pub fn stop(&mut self, grace_ms: u64) {
        match std::mem::replace(&mut self.at, At::Nothing) {
            At::Nothing => self.tell(AgentReport::Cancelled),
            At::Deciding(task, _) => {
                task.abort();
                self.tell(AgentReport::Cancelled);
            }
            At::Spawning(task, slot) => {
                let reports = self.reports.clone();
                tokio::spawn(async move {
                    // Either it is ready and is taken back, or it never will be.
                    let _ = task.await;
                    if let Some(mut spawned) = slot.lock().await.take() {
                        spawned.withdraw().await;
                    }
                    let _ = reports.send(AgentReport::Cancelled).await;
                });
            }
            At::Running(stopper) => {
                tokio::spawn(async move { stopper.stop(grace_ms).await });
            }
        }
    }

    /// Ends what is in hand and waits for its end.
    pub async fn end(&mut self, grace_ms: u64) {
        match std::mem::replace(&mut self.at, At::Nothing) {
            At::Nothing => {}
            At::Deciding(task, _) => task.abort(),
            At::Spawning(task, slot) => {
                let _ = task.await;
                if let Some(mut spawned) = slot.lock().await.take() {
                    spawned.withdraw().await;
                }
            }
            At::Running(stopper) => stopper.stop(grace_ms).await,
        }
    }

    fn tell(&self, report: AgentReport) {
        // The channel holds more than one plan can say.
        let _ = self.reports.try_send(report);
    }
}

fn unable(error: &AgentError) -> AgentReport {
    let code = error.code().parse().unwrap_or(Code::Agent);
    AgentReport::Unable {
        code,
        why: error.to_string(),
    }
}

fn report_of(outcome: Outcome) -> AgentReport {
    match outcome {
        Outcome::Settled(record) => AgentReport::Settled {
            ok: record.ended == Ended::Settled { ok: true },
            receipt: Private::from(record.receipt),
        },
        Outcome::NotStarted { why } => AgentReport::NotStarted { why },
        Outcome::InDoubt { why, .. } => AgentReport::InDoubt { why },
    }
}

/// Where the workspace's state before this plan is kept, if it is.
fn kept_ref(carrier: &Carrier, order: &Order, approval: &Approval) -> Option<String> {
    let keeps = carrier.settings().undo == UndoRule::Keep && approval.anything_runs();
    keeps.then(|| format!("refs/pi-bridge/{}/{}", order.sid, order.round))
}

/// The order that an accepted plan is: read once more from the text that was
/// accepted, under the frame it was accepted for.
fn order_of(state: &State, accepted: &Accepted) -> Result<Order, &'static str> {
    let opened = state.opened.as_ref().ok_or("no session is open")?;
    let frame = Frame {
        sid: opened.sid().clone(),
        round: accepted.round,
        prev: state.checkpoint.prev(),
        qid: opened.qid().clone(),
    };
    let plan = plan::from_block(accepted.text.as_str(), &frame)
        .map_err(|_| "the accepted plan does not read back")?;
    if plan.key != accepted.key {
        return Err("the accepted plan reads back under another key");
    }
    if !plan.stray_lines.is_empty() {
        return Err("lines of COMMANDS belong to no command; half a command is never run");
    }
    Ok(Order {
        sid: opened.sid().to_string(),
        round: accepted.round.0,
        plan_key: accepted.key.to_string(),
        plan_text: accepted.text.as_str().to_owned(),
        commands: plan.commands.clone(),
        files: plan
            .files
            .iter()
            .map(|file| format!("{} :: {}", file.path, file.note))
            .collect(),
    })
}
