//! `brb __keep`: starts the jobs of one plan, one after the other, and sees every process end.
//!
//! It stands between the wrapper and the plan's commands: inside the namespaces of bubblewrap
//! (where it is process 1), outside a Landlock domain. It is the reaper of all it starts, so
//! nothing it started can hide from it. It reads its orders on stdin, where the end of the
//! input means that the wrapper is gone; it tells what happened on stdout, one JSON object a
//! line; what the jobs print goes, bounded, to stderr, which is the log.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::prctl;
use nix::sys::resource::{Resource, setrlimit};
use nix::sys::signal::Signal;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};

use super::capture::{Capture, Captured};
use super::log::Log;
use super::order::ORDER_LEN_MAX;
use super::proc::{Process, descendants, kill_descendants, signal_descendants};

/// How long a stream may stay open after its command has ended.
const DRAIN_MS: u64 = 200;
/// The gap between two looks while waiting for processes to end.
const LOOK_MS: u64 = 10;
/// Most processes named in the last event.
const NAMED_MAX: usize = 8;

/// The byte that asks for a polite stop.
pub const STOP: u8 = b'T';

/// One thing to run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// Program and arguments.
    pub argv: Vec<String>,
    /// What the program reads on stdin; nothing where `None`.
    pub stdin: Option<String>,
}

/// What the wrapper tells its keeper, once, in the first line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Keep {
    /// What to run, stopping after the first that does not end with 0.
    pub jobs: Vec<Job>,
    /// Where.
    pub cwd: PathBuf,
    /// The whole environment of the jobs.
    pub env: BTreeMap<String, String>,
    /// From the polite signal to the hard one.
    pub stop_grace_ms: u64,
    /// How long processes left behind may still end by themselves.
    pub leftover_grace_ms: u64,
}

/// How a job's main process ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JobEnd {
    /// With this status.
    Exit(i32),
    /// By this signal.
    Signal(i32),
    /// It never began.
    SpawnFailed(String),
}

/// What the keeper tells.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "ev")]
pub enum Event {
    /// The keeper runs, inside whatever it was put; said before it reads its orders.
    Ready,
    /// The job is about to be started.
    Start {
        /// Its place, from 0.
        job: usize,
    },
    /// The job's main process has ended.
    End {
        /// Its place, from 0.
        job: usize,
        /// How.
        end: JobEnd,
        /// How long it ran.
        ran_ms: u64,
        /// Its stdout.
        stdout: Captured,
        /// Its stderr.
        stderr: Captured,
    },
    /// Every process has ended; nothing follows.
    Over {
        /// Whether a stop cut into a job, or kept one from starting.
        stopped: bool,
        /// How many processes were left behind and had to be ended.
        leftovers: u32,
        /// The names of the first of them.
        names: Vec<String>,
        /// How many could not be ended.
        alive: u32,
    },
}

/// The work folder's name on the machine is held by this process, too, and by no job: what
/// is a socket outside of the sandbox is no business of theirs.
fn hand_on_no_socket() {
    let Ok(fds) = std::fs::read_dir("/proc/self/fd") else {
        return;
    };
    let is_socket = |fd: &std::fs::DirEntry| {
        std::fs::read_link(fd.path()).is_ok_and(|to| to.to_string_lossy().starts_with("socket:"))
    };
    let others: Vec<i32> = fds
        .flatten()
        .filter(|fd| !is_socket(fd))
        .filter_map(|fd| fd.file_name().to_str()?.parse().ok())
        .collect();
    close_fds::set_fds_cloexec(3, &others);
}

struct Keeper {
    keep: Keep,
    log: Arc<Log>,
    stopping: Arc<AtomicBool>,
}

/// The keeper's life. Its stdin, stdout and stderr are the wrapper's.
#[must_use]
pub fn main() -> ExitCode {
    // Best effort: without it the wrapper, a reaper itself, finds what escapes.
    let _ = prctl::set_child_subreaper(true);
    // What it started can neither trace it nor speak in its place through `/proc`.
    let _ = prctl::set_dumpable(false);
    // No core files in the person's folder.
    let _ = setrlimit(Resource::RLIMIT_CORE, 0, 0);
    hand_on_no_socket();
    if tell(&Event::Ready).is_err() {
        return ExitCode::FAILURE;
    }
    let mut line = Vec::new();
    let read = io::stdin()
        .lock()
        .take(ORDER_LEN_MAX)
        .read_until(b'\n', &mut line);
    let Some(keep) = read
        .ok()
        .and_then(|_| serde_json::from_slice::<Keep>(&line).ok())
    else {
        return ExitCode::FAILURE;
    };
    let stopping = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stopping);
    let grace_ms = keep.stop_grace_ms;
    std::thread::spawn(move || obey(&flag, grace_ms));
    if (Keeper {
        keep,
        log: Arc::new(Log::new()),
        stopping,
    })
    .run()
    .is_ok()
    {
        return ExitCode::SUCCESS;
    }
    // Nobody listens any more: leave nothing behind.
    kill_descendants(std::process::id() as i32, || {
        reap();
    });
    ExitCode::FAILURE
}

/// Waits for a stop or for the wrapper's end, and carries either out.
fn obey(stopping: &AtomicBool, grace_ms: u64) {
    let me = std::process::id() as i32;
    let mut byte = [0u8; 1];
    let asked = matches!(io::stdin().lock().read(&mut byte), Ok(1) if byte[0] == STOP);
    stopping.store(true, Ordering::SeqCst);
    if asked {
        signal_descendants(me, Signal::SIGTERM);
        let start = Instant::now();
        while start.elapsed() < Duration::from_millis(grace_ms) && !descendants(me).is_empty() {
            std::thread::sleep(Duration::from_millis(LOOK_MS));
        }
    }
    // The main thread collects them, tells, and ends the process; this goes on until then.
    loop {
        kill_descendants(me, || {});
        if !asked {
            // Nobody is left to be told.
            std::process::exit(1);
        }
        std::thread::sleep(Duration::from_millis(LOOK_MS));
    }
}

fn tell(event: &Event) -> io::Result<()> {
    let mut line = serde_json::to_vec(event).map_err(io::Error::other)?;
    line.push(b'\n');
    let mut out = io::stdout().lock();
    out.write_all(&line)?;
    out.flush()
}

impl Keeper {
    fn stop_asked(&self) -> bool {
        self.stopping.load(Ordering::SeqCst)
    }

    fn run(self) -> io::Result<()> {
        let mut stopped = false;
        for (job, spec) in self.keep.jobs.iter().enumerate() {
            if self.stop_asked() {
                stopped = true;
                break;
            }
            tell(&Event::Start { job })?;
            let event = self.carry_out(job, spec);
            let ok = matches!(
                &event,
                Event::End {
                    end: JobEnd::Exit(0),
                    ..
                }
            );
            // Asked while it ran: it may have been cut, whatever its status says.
            stopped |= self.stop_asked();
            tell(&event)?;
            if !ok || stopped {
                break;
            }
        }
        tell(&self.clear_up(stopped))
    }

    fn carry_out(&self, job: usize, spec: &Job) -> Event {
        let start = Instant::now();
        self.log.begin(job, &spec.argv);
        let child = self.spawn(spec);
        let (end, stdout, stderr) = match child {
            Err(e) => (
                JobEnd::SpawnFailed(e.to_string()),
                Captured::default(),
                Captured::default(),
            ),
            Ok(child) => self.see_end(child, spec.stdin.clone()),
        };
        let ran_ms = millis(start.elapsed());
        self.log.end(job, &end, [&stdout, &stderr]);
        Event::End {
            job,
            end,
            ran_ms,
            stdout,
            stderr,
        }
    }

    fn spawn(&self, spec: &Job) -> io::Result<Child> {
        let (program, args) = spec.argv.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        Command::new(program)
            .args(args)
            .current_dir(&self.keep.cwd)
            .env_clear()
            .envs(&self.keep.env)
            .process_group(0)
            .stdin(if spec.stdin.is_some() {
                Stdio::piped()
            } else {
                Stdio::null()
            })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
    }

    fn see_end(&self, mut child: Child, input: Option<String>) -> (JobEnd, Captured, Captured) {
        let pid = Pid::from_raw(child.id() as i32);
        if let (Some(mut pipe), Some(text)) = (child.stdin.take(), input) {
            // A program that does not read its input is no fault: EPIPE is dropped.
            std::thread::spawn(move || pipe.write_all(text.as_bytes()));
        }
        let (done, drained) = mpsc::channel::<()>();
        let stdout = self.pump(child.stdout.take(), done.clone());
        let stderr = self.pump(child.stderr.take(), done);
        let end = wait_for(pid);
        // Nothing is ever sent. Both senders gone: both streams have ended. Not gone in time:
        // something left behind holds them, and what it prints from now on goes to the log alone.
        let _ = drained.recv_timeout(Duration::from_millis(DRAIN_MS));
        (end, taken(&stdout), taken(&stderr))
    }

    fn pump(
        &self,
        stream: Option<impl Read + Send + 'static>,
        done: mpsc::Sender<()>,
    ) -> Arc<Mutex<Capture>> {
        let capture = Arc::new(Mutex::new(Capture::default()));
        let (into, log) = (Arc::clone(&capture), Arc::clone(&self.log));
        if let Some(mut stream) = stream {
            std::thread::spawn(move || {
                let mut buf = vec![0u8; 64 << 10];
                while let Ok(n @ 1..) = stream.read(&mut buf) {
                    into.lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .push(&buf[..n]);
                    log.write(&buf[..n]);
                }
                drop(done);
            });
        }
        capture
    }

    /// Lets what was left behind end by itself for a while, then ends it.
    fn clear_up(&self, stopped: bool) -> Event {
        let me = std::process::id() as i32;
        let start = Instant::now();
        while reap() && start.elapsed() < Duration::from_millis(self.keep.leftover_grace_ms) {
            std::thread::sleep(Duration::from_millis(LOOK_MS));
        }
        let left = descendants(me);
        let names = left
            .iter()
            .take(NAMED_MAX)
            .map(|p: &Process| p.name.clone())
            .collect();
        let alive = kill_descendants(me, || {
            reap();
        });
        reap();
        Event::Over {
            stopped,
            leftovers: u32::try_from(left.len()).unwrap_or(u32::MAX),
            names,
            alive: u32::try_from(alive.len()).unwrap_or(u32::MAX),
        }
    }
}

fn taken(capture: &Mutex<Capture>) -> Captured {
    capture
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .finish()
}

/// Collects everything that ends until the main process does.
fn wait_for(pid: Pid) -> JobEnd {
    loop {
        match waitpid(None::<Pid>, None) {
            Ok(WaitStatus::Exited(p, code)) if p == pid => return JobEnd::Exit(code),
            Ok(WaitStatus::Signaled(p, signal, _)) if p == pid => {
                return JobEnd::Signal(signal as i32);
            }
            Ok(_) | Err(Errno::EINTR) => {}
            Err(e) => return JobEnd::SpawnFailed(e.to_string()),
        }
    }
}

/// Collects what has ended; whether any child is still there.
fn reap() -> bool {
    loop {
        match waitpid(None::<Pid>, Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::StillAlive) => return true,
            Ok(_) | Err(Errno::EINTR) => {}
            Err(_) => return false,
        }
    }
}

pub(crate) fn millis(d: Duration) -> u64 {
    u64::try_from(d.as_millis()).unwrap_or(u64::MAX)
}
