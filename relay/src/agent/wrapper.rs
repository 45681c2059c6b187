//! `brb __agent JOB_DIR`: the small process that carries one plan out and outlives the relay.
//!
//! Its life: take the job folder and the work folder, say *ready*, wait for the byte that lets
//! it go, carry the plan out within its limit, leave the exit record. What it reads on stdin is
//! the order (one line of JSON) and that byte; a pipe that closes first means that nothing runs.

use std::fs::{self, DirBuilder, File};
use std::io::{self, BufRead, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use nix::sys::prctl;
use nix::unistd::setsid;
use serde::{Deserialize, Serialize};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::keeper::millis;
use super::lock::{FolderLock, Holder, Taken, open_lock, sign, take, try_lock_patiently};
use super::order::{ORDER_LEN_MAX, Order, SandboxKind, Settings, Verdict};
use super::receipt::{self, Facts};
use super::record::{ExitRecord, RECORD_VERSION};
use super::sandbox::Shape;

mod work;

/// The byte that lets a ready wrapper go.
pub const GO: u8 = b'G';
/// How long the order may take to arrive.
const ORDER_MS: u64 = 10_000;

/// Everything a wrapper needs to know; never written to disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Errand {
    /// The plan.
    pub order: Order,
    /// The rules of the run.
    pub settings: Settings,
    /// What may run of it: one for each command.
    pub verdicts: Vec<Verdict>,
    /// What it is put into.
    pub kind: SandboxKind,
    /// The receipt's first line.
    pub in_force: String,
    /// The environment of the jobs, but for `HOME` and `TMPDIR`.
    pub env: std::collections::BTreeMap<String, String>,
}

/// What a wrapper says, once, on stdout.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Said {
    /// It waits to be let go; its process group is its process id.
    Ready {
        /// The process group.
        pgid: i32,
    },
    /// The work folder is taken by somebody else.
    Held(Holder),
    /// It cannot work at all.
    Failed(String),
}

/// The lock that a wrapper holds on its job folder for its life, and nobody inherits.
#[must_use]
pub fn alive_path(job_dir: &Path) -> PathBuf {
    job_dir.join("alive")
}

/// The mark that the plan's first process may exist.
#[must_use]
pub fn begun_path(job_dir: &Path) -> PathBuf {
    job_dir.join("begun")
}

/// The bounded log of what the jobs printed.
#[must_use]
pub fn log_path(job_dir: &Path) -> PathBuf {
    job_dir.join("output.log")
}

/// The wrapper's life.
#[must_use]
pub fn main(args: &[String]) -> ExitCode {
    let [job_dir] = args else {
        return ExitCode::FAILURE;
    };
    // Whatever the relay inherited without knowing ends here: measured, descriptors of the
    // person's shell reached the commands of a plan.
    close_fds::set_fds_cloexec(3, &[]);
    // A session of its own: no signal of the relay's terminal reaches it. It fails only where
    // the caller has made a group already, which serves as well.
    let _ = setsid();
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
    else {
        return ExitCode::FAILURE;
    };
    let done = runtime.block_on(live(Path::new(job_dir)));
    runtime.shutdown_background();
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            say(&Said::Failed(e.to_string()));
            ExitCode::FAILURE
        }
    }
}

async fn live(job_dir: &Path) -> io::Result<()> {
    prctl::set_child_subreaper(true)?;
    let mut stop = signal(SignalKind::terminate())?;
    let mut pipe = read_pipe();
    let errand = match timeout(Duration::from_millis(ORDER_MS), pipe.recv()).await {
        Ok(Some(Input::Errand(errand))) => errand,
        Ok(Some(Input::Go) | None) | Err(_) => return Err(io::ErrorKind::InvalidData.into()),
    };
    let me = Holder {
        pid: std::process::id() as i32,
        sid: errand.order.sid.clone(),
        round: errand.order.round,
    };
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(job_dir)?;
    let mut alive = open_lock(&alive_path(job_dir))?;
    if !try_lock_patiently(&alive)? {
        return Err(io::Error::other("another wrapper is at work on this plan"));
    }
    sign(&mut alive, &me)?;
    if ExitRecord::load(job_dir)?.is_some() || begun_path(job_dir).exists() {
        return Err(io::Error::other("this plan was begun before"));
    }
    let wrapper = Wrapper {
        job_dir: job_dir.to_owned(),
        errand: *errand,
    };
    //= spec K6
    let folder = match take(
        &wrapper.errand.settings.state_dir,
        &wrapper.errand.settings.cwd,
        &me,
    )? {
        Taken::Ours(folder) => folder,
        Taken::Held(holder) => {
            wrapper.not_started(&format!("the work folder is in use by {holder}"))?;
            say(&Said::Held(holder));
            return Ok(());
        }
    };
    folder.share_with_children()?;
    say(&Said::Ready { pgid: me.pid });
    match wrapper.wait_for_go(&mut pipe, &mut stop).await {
        Ok(()) => wrapper.carry_out(folder, &mut stop).await,
        Err(why) => wrapper.not_started(why),
    }
}

enum Input {
    Errand(Box<Errand>),
    Go,
}

/// Reads stdin on a thread of its own; the channel closes when the pipe does.
fn read_pipe() -> mpsc::Receiver<Input> {
    let (tx, rx) = mpsc::channel(2);
    std::thread::spawn(move || {
        let mut stdin = io::stdin().lock();
        let mut line = Vec::new();
        if (&mut stdin)
            .take(ORDER_LEN_MAX)
            .read_until(b'\n', &mut line)
            .is_err()
        {
            return;
        }
        let Ok(errand) = serde_json::from_slice(&line) else {
            return;
        };
        if tx.blocking_send(Input::Errand(Box::new(errand))).is_err() {
            return;
        }
        let mut byte = [0u8; 1];
        if matches!(stdin.read(&mut byte), Ok(1) if byte[0] == GO) {
            let _ = tx.blocking_send(Input::Go);
        }
    });
    rx
}

fn say(said: &Said) {
    if let Ok(mut line) = serde_json::to_vec(said) {
        line.push(b'\n');
        // The relay may be gone; then nobody needs to know.
        let _ = io::stdout()
            .lock()
            .write_all(&line)
            .and_then(|()| io::stdout().lock().flush());
    }
}

struct Wrapper {
    job_dir: PathBuf,
    errand: Errand,
}

impl Wrapper {
    //= spec K6
    async fn wait_for_go(
        &self,
        pipe: &mut mpsc::Receiver<Input>,
        stop: &mut Signal,
    ) -> Result<(), &'static str> {
        let limit = Duration::from_millis(self.errand.settings.limits.go_ms);
        tokio::select! {
            biased;
            _ = stop.recv() => Err("a stop was asked for before it was let go"),
            input = timeout(limit, pipe.recv()) => match input {
                Ok(Some(Input::Go)) => Ok(()),
                Ok(Some(Input::Errand(_)) | None) => Err("the relay ended before it was let go"),
                Err(_) => Err("it was not let go in time"),
            },
        }
    }

    fn not_started(&self, why: &str) -> io::Result<()> {
        self.store(
            &work::Work::not_started(why.to_owned()),
            "sandbox: none was entered",
            0,
        )
    }

    async fn carry_out(&self, folder: FolderLock, stop: &mut Signal) -> io::Result<()> {
        let start = Instant::now();
        let errand = &self.errand;
        let scratch = self.job_dir.join("scratch");
        let shape = Shape::new(&errand.settings, errand.kind, scratch.clone());
        let made = self.make_places(&scratch);
        let work = match made {
            Err(e) => work::Work::not_started(format!("the scratch folder failed: {e}")),
            Ok(()) => work::carry_out(errand, &shape, &self.job_dir, stop).await,
        };
        let _ = fs::remove_dir_all(&scratch);
        let stored = self.store(&work, &errand.in_force, millis(start.elapsed()));
        drop(folder);
        stored
    }

    fn make_places(&self, scratch: &Path) -> io::Result<()> {
        let _ = fs::remove_dir_all(scratch);
        for name in ["tmp", "home"] {
            DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(scratch.join(name))?;
        }
        File::options()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(log_path(&self.job_dir))
            .map(drop)
    }

    //= spec K1
    fn store(&self, work: &work::Work, in_force: &str, ran_ms: u64) -> io::Result<()> {
        let errand = &self.errand;
        let receipt = receipt::compose(&Facts {
            in_force,
            agent: &errand.settings.agent,
            ended: &work.ended,
            went: &work.went,
            leftovers: work.leftovers,
            leftover_names: &work.names,
            notes: &work.notes,
            ran_ms,
        });
        ExitRecord {
            version: RECORD_VERSION,
            sid: errand.order.sid.clone(),
            round: errand.order.round,
            plan_key: errand.order.plan_key.clone(),
            ended: work.ended.clone(),
            commands: work.went.iter().map(|w| w.end.clone()).collect(),
            receipt,
            leftovers: work.leftovers,
            ran_ms,
        }
        .store(&self.job_dir)
    }
}
