//! The port of the relay's loop: approve a plan, spawn its wrapper, let it go, learn the outcome.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{ChildStdout, Command};
use tokio::time::{sleep, timeout};

use super::approve::{Approval, Approver, approve};
use super::env::allowed;
use super::error::{AgentError, io_err};
use super::lock::{self, Holder};
use super::order::{AgentKind, Approve, Order, SandboxKind, SandboxRule, Settings, UndoRule};
use super::proc::MARK;
use super::record::{Ended, ExitRecord, exit_path};
use super::running::{self, Spawned, limit_ms};
use super::sandbox::{self, Detected};
use super::undo;
use super::wrapper::{Errand, Said, begun_path};

/// Longest line a wrapper says, in bytes.
const SAID_LEN_MAX: u64 = 64 << 10;
/// Between two looks at a wrapper that is about to end.
const FORMER_LOOK_MS: u64 = 20;

/// Carries out the plans of one run.
#[derive(Debug, Clone)]
pub struct Carrier {
    settings: Settings,
    kind: SandboxKind,
    preflight: Preflight,
}

/// What was found before the first message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preflight {
    /// The sandbox in force.
    pub kind: SandboxKind,
    /// Both kinds, for `doctor`.
    pub detected: Detected,
    /// The receipt's first line.
    pub in_force: String,
}

impl Carrier {
    /// Checks the rules of the run against one another and the machine; nothing has been sent
    /// and nothing is changed.
    ///
    /// # Errors
    /// All that a person can still mend.
    pub fn preflight(mut settings: Settings, terminal: bool) -> Result<Self, AgentError> {
        let home = std::env::var_os("HOME")
            .map(PathBuf::from)
            .and_then(|h| fs::canonicalize(h).ok());
        settings.cwd = sandbox::check_folder(&settings, home.as_deref())?;
        settings.state_dir =
            fs::canonicalize(&settings.state_dir).map_err(io_err("resolving the state folder"))?;
        if settings.approve == Approve::Ask && !terminal {
            return Err(AgentError::NoTerminal);
        }
        let detected = match settings.sandbox {
            SandboxRule::Off => Detected::not_asked(),
            SandboxRule::Require => sandbox::detect(&settings.exe),
        };
        let kind = match settings.sandbox {
            SandboxRule::Off => SandboxKind::Off,
            SandboxRule::Require => detected.kind(settings.sandbox_kind).ok_or_else(|| {
                let said = |why: Option<String>| why.unwrap_or_else(|| "not asked for".into());
                AgentError::NoSandbox {
                    bubblewrap: said(detected.bubblewrap.as_ref().err().map(ToString::to_string)),
                    landlock: said(detected.landlock.as_ref().err().map(ToString::to_string)),
                }
            })?,
        };
        let is_command = matches!(settings.agent, AgentKind::Command { .. });
        match settings.approve {
            Approve::Workspace if kind == SandboxKind::Off => {
                return Err(AgentError::Contradiction(
                    "--approve workspace needs a sandbox, and --sandbox is off",
                ));
            }
            Approve::ReadOnly if is_command => {
                return Err(AgentError::Contradiction(
                    "--approve read-only judges commands, and --agent command shows none",
                ));
            }
            Approve::Workspace | Approve::ReadOnly | Approve::Ask | Approve::All => {}
        }
        if settings.undo == UndoRule::Keep {
            undo::check(&settings.cwd, true)?;
        }
        let shape = sandbox::Shape::new(&settings, kind, PathBuf::new());
        let in_force = sandbox::first_line(&shape, &settings.agent, &detected);
        Ok(Self {
            kind,
            preflight: Preflight {
                kind,
                detected,
                in_force,
            },
            settings,
        })
    }

    /// What was found before the first message.
    #[must_use]
    pub fn found(&self) -> &Preflight {
        &self.preflight
    }

    /// The rules of the run, folders made canonical.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// What a new session asks for besides; one that is continued finds its own traces here.
    ///
    /// # Errors
    /// [`AgentError::Locked`] or [`AgentError::Dirty`].
    pub fn check_fresh(&self) -> Result<(), AgentError> {
        if let Some(holder) = self.busy()? {
            return Err(AgentError::Locked(holder));
        }
        match self.settings.undo {
            UndoRule::Keep => undo::check(&self.settings.cwd, self.settings.dirty),
            UndoRule::Off => Ok(()),
        }
    }

    /// What a session that is gone on with asks for: nobody but its own wrapper at work.
    ///
    /// # Errors
    /// [`AgentError::Locked`].
    pub fn check_continued(&self, sid: &str) -> Result<(), AgentError> {
        match self.busy()? {
            Some(holder) if holder.sid != sid => Err(AgentError::Locked(holder)),
            Some(_) | None => Ok(()),
        }
    }

    //= spec K6
    /// Who works in the work folder now. While anybody does: no send, no execution, no attestation.
    ///
    /// # Errors
    /// The lock cannot be read.
    pub fn busy(&self) -> Result<Option<Holder>, AgentError> {
        lock::holder(&self.settings.state_dir, &self.settings.cwd)
            .map_err(io_err("looking at the folder's lock"))
    }

    /// What policy or person says to a plan.
    ///
    /// # Errors
    /// [`AgentError::AskTimedOut`]: the plan stays accepted (P9).
    pub async fn approve(
        &self,
        order: &Order,
        approver: &mut dyn Approver,
    ) -> Result<Approval, AgentError> {
        order.check()?;
        approve(&self.settings, order, approver).await
    }

    //= spec K6
    /// Starts the wrapper, which runs nothing until it is released, and keeps the work folder's
    /// state. After this the caller makes *started* durable, with the process group.
    ///
    /// # Errors
    /// Nothing of the plan has run and nothing will: K1's *not started*.
    pub async fn spawn(&self, order: &Order, approval: &Approval) -> Result<Spawned, AgentError> {
        order.check()?;
        let job_dir = order.job_dir(&self.settings.state_dir);
        self.former_has_ended(&job_dir).await;
        make_way(&job_dir)?;
        let mut spawned = self.start(order, approval, job_dir).await?;
        if self.settings.undo == UndoRule::Keep && approval.anything_runs() {
            let (cwd, order) = (self.settings.cwd.clone(), order.clone());
            let limit = Duration::from_millis(self.settings.limits.keep_ms);
            let kept = tokio::task::spawn_blocking(move || undo::keep(&cwd, &order, limit)).await;
            let kept = kept.map_err(|e| AgentError::Io {
                doing: "keeping the work folder's state",
                source: io::Error::other(e),
            });
            if let Err(e) = kept.and_then(|kept| kept) {
                spawned.withdraw().await;
                return Err(e);
            }
        }
        Ok(spawned)
    }

    /// A wrapper of this plan that an earlier relay left before letting it go has
    /// nothing to wait for: its pipe is closed. It is given the time to say so.
    async fn former_has_ended(&self, job_dir: &Path) {
        let ended = async {
            while running::lives(job_dir) {
                sleep(Duration::from_millis(FORMER_LOOK_MS)).await;
            }
        };
        let limit = Duration::from_millis(self.settings.limits.ready_ms);
        // One that lives longer holds its lock, and the new one refuses.
        let _ = timeout(limit, ended).await;
    }

    async fn start(
        &self,
        order: &Order,
        approval: &Approval,
        job_dir: PathBuf,
    ) -> Result<Spawned, AgentError> {
        let errand = Errand {
            order: order.clone(),
            settings: self.settings.clone(),
            verdicts: approval.verdicts.clone(),
            kind: self.kind,
            in_force: self.preflight.in_force.clone(),
            env: allowed(person(), &self.settings, &order.sid),
        };
        let mut child = Command::new(&self.settings.exe)
            .arg(super::AGENT)
            .arg(&job_dir)
            .current_dir("/")
            .env_clear()
            .env(MARK, &order.sid)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(false)
            .spawn()
            .map_err(io_err("starting the agent's wrapper"))?;
        let (Some(mut pipe), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(AgentError::WrapperNotReady("it has no pipes".into()));
        };
        let mut line = serde_json::to_vec(&errand).map_err(|e| AgentError::Io {
            doing: "writing the order",
            source: e.into(),
        })?;
        line.push(b'\n');
        let talk = async {
            pipe.write_all(&line)
                .await
                .map_err(io_err("handing over the order"))?;
            hear(stdout).await
        };
        let limit = Duration::from_millis(self.settings.limits.ready_ms);
        let said = match timeout(limit, talk).await {
            Ok(said) => said,
            Err(_) => Err(AgentError::WrapperNotReady(
                "it said nothing in time".into(),
            )),
        };
        let spawned = |pgid| Spawned {
            pgid,
            job_dir,
            child,
            pipe,
            limit_ms: limit_ms(&self.settings.limits),
        };
        match said {
            Ok(Said::Ready { pgid }) => Ok(spawned(pgid)),
            Ok(Said::Held(holder)) => Err(AgentError::Locked(holder)),
            Ok(Said::Failed(why)) => Err(AgentError::WrapperNotReady(why)),
            // Its pipe closes, so it runs nothing.
            Err(e) => Err(e),
        }
    }
}

fn person() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os().filter_map(|(n, v)| Some((n.into_string().ok()?, v.into_string().ok()?)))
}

async fn hear(stdout: ChildStdout) -> Result<Said, AgentError> {
    let mut line = Vec::new();
    let read = BufReader::new(stdout.take(SAID_LEN_MAX))
        .read_until(b'\n', &mut line)
        .await;
    read.map_err(io_err("hearing the agent's wrapper"))?;
    serde_json::from_slice(&line)
        .map_err(|_| AgentError::WrapperNotReady("it ended without a word".into()))
}

/// Clears what an attempt that started nothing left; refuses what an attempt that may have
/// started something left.
fn make_way(job_dir: &Path) -> Result<(), AgentError> {
    //= spec K5
    let begun = begun_path(job_dir);
    let failed = io_err("reading an earlier exit record");
    match ExitRecord::load(job_dir).map_err(failed)?.map(|r| r.ended) {
        None if begun.exists() => Err(AgentError::AlreadyBegun(job_dir.to_owned())),
        None => Ok(()),
        // The proof goes last: what is cut off in between is refused, not started.
        Some(Ended::NotStarted { .. }) => remove(&begun)
            .and_then(|()| remove(&exit_path(job_dir)))
            .and_then(|()| File::open(job_dir)?.sync_all())
            .map_err(io_err("clearing an earlier exit record")),
        Some(Ended::Settled { .. } | Ended::Killed { .. } | Ended::Broken { .. }) => {
            Err(AgentError::AlreadyBegun(job_dir.to_owned()))
        }
    }
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        Ok(()) | Err(_) => Ok(()),
    }
}
