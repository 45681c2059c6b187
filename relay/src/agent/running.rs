//! An execution under way: let go, awaited, stopped, or adopted by a restarted relay.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;
use tokio::io::AsyncWriteExt;
use tokio::process::{Child, ChildStdin};
use tokio::time::{Instant, sleep, timeout};

use super::lock::{Holder, read_holder};
use super::order::{Limits, Settings};
use super::proc::KILL_MS_MAX;
use super::record::{Ended, ExitRecord};
use super::wrapper::{GO, alive_path};

/// The gap between two looks at a wrapper that is not our child.
const LOOK_MS: u64 = 100;
/// What the wrapper is given over its own limits before it counts as hung.
const MARGIN_MS: u64 = 15_000;

/// How long a wrapper may take from being let go to its end.
pub(super) fn limit_ms(limits: &Limits) -> u64 {
    limits.agent_ms + limits.stop_grace_ms + limits.leftover_grace_ms + MARGIN_MS
}

/// A wrapper that waits, having run nothing.
#[derive(Debug)]
pub struct Spawned {
    /// Its process group, for the record *started*.
    pub pgid: i32,
    /// Where its exit record will stand.
    pub job_dir: PathBuf,
    pub(super) child: Child,
    pub(super) pipe: ChildStdin,
    pub(super) limit_ms: u64,
}

impl Spawned {
    /// Lets it go. To be called after *started* is durable, never before.
    pub async fn release(mut self) -> Running {
        // A wrapper that is gone leaves a record, or is in doubt: the outcome says which.
        let _ = self.pipe.write_all(&[GO]).await;
        let _ = self.pipe.flush().await;
        let child = Some(self.child);
        Running {
            pgid: self.pgid,
            job_dir: self.job_dir,
            child,
            limit_ms: self.limit_ms,
            since: Instant::now(),
        }
    }

    /// Takes it back: its pipe closes, it writes *not started* and ends.
    pub async fn withdraw(&mut self) {
        let _ = self.pipe.shutdown().await;
        let closed = kill(Pid::from_raw(self.pgid), Signal::SIGTERM);
        let ended = timeout(Duration::from_millis(KILL_MS_MAX), self.child.wait()).await;
        if closed.is_err() || ended.is_err() {
            let _ = self.child.start_kill();
        }
    }
}

/// How an execution ended, for the relay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Settled (K1): the receipt is in the record.
    Settled(Box<ExitRecord>),
    /// Provably no process of the plan was made.
    NotStarted {
        /// The reason.
        why: String,
    },
    /// Killed by us, lost, or ended without an outcome.
    InDoubt {
        /// The reason.
        why: String,
        /// The record, where there is one; its receipt is for a person to read.
        record: Option<Box<ExitRecord>>,
    },
}

//= spec K1
fn judge(job_dir: &Path) -> Option<Outcome> {
    match ExitRecord::load(job_dir) {
        Ok(None) => None,
        Err(e) => Some(Outcome::InDoubt {
            why: format!("its exit record cannot be read: {e}"),
            record: None,
        }),
        Ok(Some(record)) => Some(match record.ended.clone() {
            Ended::Settled { .. } => Outcome::Settled(Box::new(record)),
            Ended::NotStarted { why } => Outcome::NotStarted { why },
            Ended::Killed { why } | Ended::Broken { why } => Outcome::InDoubt {
                why,
                record: Some(Box::new(record)),
            },
        }),
    }
}

/// Whether the wrapper of a job folder is alive, and who it is.
fn alive(job_dir: &Path) -> Option<Holder> {
    let path = alive_path(job_dir);
    let file = File::open(&path).ok()?;
    match file.try_lock_shared() {
        Err(fs::TryLockError::WouldBlock) => Some(read_holder(&path).unwrap_or(Holder {
            pid: 0,
            sid: String::new(),
            round: 0,
        })),
        Ok(()) | Err(fs::TryLockError::Error(_)) => None,
    }
}

/// Whether the wrapper of a job folder is alive.
pub(super) fn lives(job_dir: &Path) -> bool {
    alive(job_dir).is_some()
}

/// What a restarted relay finds of an execution that was started.
#[derive(Debug)]
pub enum Adopted {
    /// Its wrapper is alive; its end can be awaited.
    Alive(Box<Running>),
    /// It has ended.
    Ended(Outcome),
}

//= spec K1
/// Looks at the job folder of a started plan. The wrapper is known by the lock it holds, so a
/// process id used again by something else, or a restart of the machine, misleads nobody.
#[must_use]
pub fn adopt(job_dir: &Path, settings: &Settings) -> Adopted {
    if let Some(holder) = alive(job_dir) {
        return Adopted::Alive(Box::new(Running {
            pgid: holder.pid,
            job_dir: job_dir.to_owned(),
            child: None,
            limit_ms: limit_ms(&settings.limits),
            since: Instant::now(),
        }));
    }
    // The record is written before the lock goes, so after a look at the lock it is final.
    Adopted::Ended(judge(job_dir).unwrap_or_else(lost))
}

fn lost() -> Outcome {
    Outcome::InDoubt {
        why: "its wrapper ended without an exit record".into(),
        record: None,
    }
}

/// An execution under way.
#[derive(Debug)]
pub struct Running {
    /// The wrapper's process group.
    pub pgid: i32,
    /// Where its exit record will stand.
    pub job_dir: PathBuf,
    child: Option<Child>,
    limit_ms: u64,
    since: Instant,
}

impl Running {
    /// Waits for the end, bounded by the wrapper's own limit and a margin. May be dropped and
    /// called again.
    pub async fn outcome(&mut self) -> Outcome {
        let until = self.since + Duration::from_millis(self.limit_ms);
        loop {
            let look = Duration::from_millis(LOOK_MS);
            match &mut self.child {
                Some(child) => {
                    if timeout(look, child.wait()).await.is_ok() {
                        return judge(&self.job_dir).unwrap_or_else(lost);
                    }
                }
                None => {
                    if alive(&self.job_dir).is_none() {
                        return judge(&self.job_dir).unwrap_or_else(lost);
                    }
                    sleep(look).await;
                }
            }
            if Instant::now() >= until {
                self.stopper().kill();
                return Outcome::InDoubt {
                    why: "its wrapper did not end in time".into(),
                    record: None,
                };
            }
        }
    }

    /// Something that can stop it while its outcome is awaited.
    #[must_use]
    pub fn stopper(&self) -> Stopper {
        Stopper {
            pgid: self.pgid,
            job_dir: self.job_dir.clone(),
            ours: self.child.is_some(),
        }
    }
}

/// Stops an execution: politely, then hard.
#[derive(Debug, Clone)]
pub struct Stopper {
    pgid: i32,
    job_dir: PathBuf,
    /// We are its parent.
    ours: bool,
}

impl Stopper {
    /// Asks for a stop and gives `grace_ms`; then ends the wrapper itself, which ends the rest.
    pub async fn stop(&self, grace_ms: u64) {
        self.signal(Signal::SIGTERM);
        let until = Instant::now() + Duration::from_millis(grace_ms + 2 * KILL_MS_MAX);
        while self.lives() {
            if Instant::now() >= until {
                self.kill();
                return;
            }
            sleep(Duration::from_millis(LOOK_MS / 5)).await;
        }
    }

    /// Held means alive, so the id is still its own. Where somebody took the
    /// state folder away nothing can be held; a child of ours then lives while
    /// its process group does.
    fn lives(&self) -> bool {
        let gone = self.ours && !self.job_dir.exists();
        alive(&self.job_dir).is_some() || (gone && killpg(Pid::from_raw(self.pgid), None).is_ok())
    }

    fn signal(&self, signal: Signal) {
        if self.pgid > 1 && self.lives() {
            let _ = kill(Pid::from_raw(self.pgid), signal);
        }
    }

    fn kill(&self) {
        if self.pgid > 1 && self.lives() {
            let _ = killpg(Pid::from_raw(self.pgid), Signal::SIGKILL);
        }
    }
}
