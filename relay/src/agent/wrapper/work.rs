//! One plan carried out: the keeper started, heard, bounded, and the outcome judged.

use std::fs::File;
use std::io;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use futures::FutureExt;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::signal::unix::Signal;
use tokio::time::{Instant, timeout, timeout_at};

use super::{Errand, begun_path, log_path};
use crate::agent::keeper::{Event, Job, JobEnd, Keep, STOP};
use crate::agent::order::{AgentKind, COMMANDS_MAX, Verdict};
use crate::agent::proc::{KILL_MS_MAX, kill_descendants};
use crate::agent::receipt::Went;
use crate::agent::record::{CommandEnd, Ended, write_durably};
use crate::agent::sandbox::Shape;
use crate::agent::undo::Internals;

/// Longest event read from a keeper, in bytes.
const EVENT_LEN_MAX: u64 = 1 << 20;
/// How long a keeper may take to say that it is there.
const KEEPER_READY_MS: u64 = 10_000;

/// What became of a plan.
pub(super) struct Work {
    pub ended: Ended,
    pub went: Vec<Went>,
    pub leftovers: u32,
    pub names: Vec<String>,
    pub notes: Vec<String>,
}

impl Work {
    pub(super) fn not_started(why: String) -> Self {
        Self::ended(Ended::NotStarted { why }, Vec::new())
    }

    fn ended(ended: Ended, went: Vec<Went>) -> Self {
        Self {
            ended,
            went,
            leftovers: 0,
            names: Vec::new(),
            notes: Vec::new(),
        }
    }
}

/// The jobs of a plan, and the commands that have none because they are refused.
fn jobs(errand: &Errand, shape: &Shape) -> (Vec<Job>, Vec<Went>) {
    let refused = |command: &str, by: &str, why: &str| {
        let how = CommandEnd::Refused(format!("by {by}, {why}"));
        Went::without_output(command.to_owned(), how)
    };
    let job = |line: &str, stdin: Option<String>| Job {
        argv: [
            shape.job_prefix(),
            ["/bin/sh", "-c", line].map(str::to_owned).to_vec(),
        ]
        .concat(),
        stdin,
    };
    let order = &errand.order;
    let not_run = |c: &String| Went::without_output(c.clone(), CommandEnd::NotRun);
    match &errand.settings.agent {
        AgentKind::Command { cmd } => match errand.verdicts.first() {
            Some(Verdict::Refused { by, why }) => (Vec::new(), vec![refused("", by, why)]),
            Some(Verdict::Run | Verdict::Behind) | None => {
                (vec![job(cmd, Some(order.plan_text.clone()))], Vec::new())
            }
        },
        AgentKind::Shell if order.commands.len() > COMMANDS_MAX => {
            let why = format!("a plan may have {COMMANDS_MAX} commands at most");
            let mut went: Vec<Went> = order.commands.iter().map(not_run).collect();
            went[0] = refused(&order.commands[0], "policy", &why);
            (Vec::new(), went)
        }
        AgentKind::Shell => {
            let may = errand
                .verdicts
                .iter()
                .take_while(|v| **v == Verdict::Run)
                .count();
            let may = may.min(order.commands.len());
            let jobs = order.commands[..may].iter().map(|c| job(c, None)).collect();
            let mut rest: Vec<Went> = order.commands[may..].iter().map(not_run).collect();
            if let (Some(first), Some(Verdict::Refused { by, why })) =
                (rest.first_mut(), errand.verdicts.get(may))
            {
                *first = refused(&order.commands[may], by, why);
            }
            (jobs, rest)
        }
    }
}

/// Carries the plan out. Whatever happens, nothing of it runs when this returns.
pub(super) async fn carry_out(
    errand: &Errand,
    shape: &Shape,
    job_dir: &Path,
    stop: &mut Signal,
) -> Work {
    let (jobs, rest) = jobs(errand, shape);
    if jobs.is_empty() {
        return Work::ended(
            Ended::Settled {
                ok: rest.is_empty(),
            },
            rest,
        );
    }
    let before = Internals::read(&errand.settings.cwd);
    let mut work = match Keeper::start(errand, shape, job_dir).await {
        Err(e) => Work::not_started(format!("the sandbox could not be entered: {e}")),
        Ok(mut keeper) => {
            let mut env = errand.env.clone();
            env.extend([
                ("HOME".to_owned(), shape.home()),
                ("TMPDIR".to_owned(), shape.tmp()),
            ]);
            let limits = &errand.settings.limits;
            let keep = Keep {
                jobs,
                cwd: errand.settings.cwd.clone(),
                env,
                stop_grace_ms: limits.stop_grace_ms,
                leftover_grace_ms: limits.leftover_grace_ms,
            };
            keeper.run(errand, &keep, rest, stop, job_dir).await
        }
    };
    if !kill_descendants(std::process::id() as i32, || {}).is_empty() {
        work.ended = Ended::Broken {
            why: "some of its processes cannot be ended".into(),
        };
    }
    if let Some(note) = before.changed(&Internals::read(&errand.settings.cwd)) {
        work.notes.push(note);
    }
    work
}

struct Keeper {
    child: Child,
    orders: ChildStdin,
    events: BufReader<ChildStdout>,
    line: Vec<u8>,
    at_end: bool,
}

impl Keeper {
    async fn start(errand: &Errand, shape: &Shape, job_dir: &Path) -> io::Result<Self> {
        let argv = shape.keeper();
        let log = File::options().append(true).open(log_path(job_dir))?;
        let mut child = Command::new(&argv[0])
            .args(&argv[1..])
            .env_clear()
            .envs(&errand.env)
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log)
            .kill_on_drop(true)
            .spawn()?;
        let (Some(orders), Some(events)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        let events = BufReader::new(events);
        let mut keeper = Self {
            child,
            orders,
            events,
            line: Vec::new(),
            at_end: false,
        };
        match timeout(Duration::from_millis(KEEPER_READY_MS), keeper.next()).await {
            Ok(Some(Event::Ready)) => Ok(keeper),
            Ok(Some(Event::Start { .. } | Event::End { .. } | Event::Over { .. }) | None) => {
                let said = std::fs::read_to_string(log_path(job_dir)).unwrap_or_default();
                let said = said
                    .lines()
                    .next()
                    .unwrap_or("the keeper ended at once")
                    .to_owned();
                Err(io::Error::other(said))
            }
            Err(_) => Err(io::ErrorKind::TimedOut.into()),
        }
    }

    /// The next event; `None` at the end or at anything that is none. May be dropped and called
    /// again: what was read of a line stays.
    async fn next(&mut self) -> Option<Event> {
        let room = EVENT_LEN_MAX.saturating_sub(self.line.len() as u64);
        (&mut self.events)
            .take(room)
            .read_until(b'\n', &mut self.line)
            .await
            .ok()?;
        let line = std::mem::take(&mut self.line);
        self.at_end = line.is_empty();
        serde_json::from_slice(&line).ok()
    }

    async fn run(
        &mut self,
        errand: &Errand,
        keep: &Keep,
        rest: Vec<Went>,
        stop: &mut Signal,
        job_dir: &Path,
    ) -> Work {
        if stop.recv().now_or_never().is_some() {
            return Work::not_started("a stop was asked for before its first command".into());
        }
        let mut tally = Tally::new(errand, keep.jobs.len(), rest);
        // From here on a process of the plan may exist, whatever we still learn of it.
        if let Err(e) = write_durably(&begun_path(job_dir), b"") {
            return Work::not_started(format!("its beginning could not be noted: {e}"));
        }
        let mut line = serde_json::to_vec(keep).unwrap_or_default();
        line.push(b'\n');
        let deadline = Instant::now() + Duration::from_millis(errand.settings.limits.agent_ms);
        let sent = timeout_at(deadline, self.orders.write_all(&line)).await;
        if matches!(sent, Ok(Ok(()))) {
            self.hear(&mut tally, deadline, keep.stop_grace_ms, stop)
                .await;
        }
        // It has said its last word, or is past hearing: what it says is not trusted for its end.
        let last = Duration::from_millis(if tally.over { KILL_MS_MAX } else { 0 });
        if timeout(last, self.child.wait()).await.is_err() {
            let _ = self.child.start_kill();
            let _ = timeout(Duration::from_millis(KILL_MS_MAX), self.child.wait()).await;
        }
        tally.judge()
    }

    /// Hears the keeper to its end; asks for a stop at the limit or when told to.
    async fn hear(
        &mut self,
        tally: &mut Tally,
        deadline: Instant,
        grace_ms: u64,
        stop: &mut Signal,
    ) {
        let mut until = deadline;
        // Ready, two for each job, and the last; and one stop.
        for _ in 0..2 * tally.jobs + 3 {
            let why = tokio::select! {
                event = timeout_at(until, self.next()) => match event {
                    Ok(Some(event)) => {
                        if tally.take(event) {
                            return;
                        }
                        continue;
                    }
                    Ok(None) => {
                        tally.heard_all |= self.at_end;
                        return;
                    }
                    Err(_) if tally.stop_why.is_some() => return,
                    Err(_) => "its time limit",
                },
                _ = stop.recv(), if tally.stop_why.is_none() => "a stop was asked for",
            };
            tally.stop_why = Some(why);
            until = Instant::now() + Duration::from_millis(grace_ms + KILL_MS_MAX);
            if self.orders.write_all(&[STOP]).await.is_err() {
                return;
            }
        }
    }
}

/// What has been heard of a plan.
struct Tally {
    went: Vec<Went>,
    jobs: usize,
    started: usize,
    heard_all: bool,
    over: bool,
    stopped: bool,
    alive: u32,
    leftovers: u32,
    names: Vec<String>,
    stop_why: Option<&'static str>,
}

impl Tally {
    fn new(errand: &Errand, jobs: usize, rest: Vec<Went>) -> Self {
        let name = |i: usize| match errand.settings.agent {
            AgentKind::Shell => errand.order.commands[i].clone(),
            AgentKind::Command { .. } => String::new(),
        };
        let mut went: Vec<Went> = (0..jobs)
            .map(|i| Went::without_output(name(i), CommandEnd::NotRun))
            .collect();
        went.extend(rest);
        Self {
            went,
            jobs,
            started: 0,
            heard_all: false,
            over: false,
            stopped: false,
            alive: 0,
            leftovers: 0,
            names: Vec::new(),
            stop_why: None,
        }
    }

    /// Takes one event; whether it is the last.
    fn take(&mut self, event: Event) -> bool {
        match event {
            Event::Ready => {}
            Event::Start { job } => {
                if let Some(went) = self.went[..self.jobs].get_mut(job) {
                    went.end = CommandEnd::Cut;
                    self.started += 1;
                }
            }
            Event::End {
                job,
                end,
                ran_ms,
                stdout,
                stderr,
            } => {
                if let Some(went) = self.went[..self.jobs].get_mut(job) {
                    went.end = match end {
                        JobEnd::Exit(code) => CommandEnd::Exit(code),
                        JobEnd::Signal(signal) => CommandEnd::Signal(signal),
                        JobEnd::SpawnFailed(why) => CommandEnd::SpawnFailed(why),
                    };
                    (went.ran_ms, went.stdout, went.stderr) = (ran_ms, stdout, stderr);
                }
            }
            Event::Over {
                stopped,
                leftovers,
                names,
                alive,
            } => {
                (self.heard_all, self.over) = (true, true);
                (self.stopped, self.alive) = (stopped, alive);
                (self.leftovers, self.names) = (leftovers, names);
                return true;
            }
        }
        false
    }

    //= spec K1
    /// Settled only where every command ended by itself and that was heard. What was left in the
    /// background is ended and said, and does not undo what the commands' own ends say (ours).
    fn judge(mut self) -> Work {
        // Behind a command that did not end well nothing was reached, a refused one neither.
        if self.went[..self.jobs]
            .iter()
            .any(|w| w.end != CommandEnd::Exit(0))
        {
            self.went[self.jobs..]
                .iter_mut()
                .for_each(|w| w.end = CommandEnd::NotRun);
        }
        let ended = match self.stop_why {
            // Each start is told before it is made, so silence heard to its end proves none.
            _ if self.started == 0 && self.heard_all => Ended::NotStarted {
                why: self.stop_why.unwrap_or("the keeper ended at once").into(),
            },
            _ if self.alive > 0 => Ended::Broken {
                why: "some of its processes cannot be ended".into(),
            },
            Some(why) if self.stopped || !self.over => Ended::Killed { why: why.into() },
            None if !self.over => Ended::Broken {
                why: "its keeper ended without a word".into(),
            },
            Some(_) | None => {
                let ok = self.went.iter().all(|w| w.end == CommandEnd::Exit(0));
                Ended::Settled { ok }
            }
        };
        let (leftovers, names) = (self.leftovers, self.names);
        Work {
            ended,
            went: self.went,
            leftovers,
            names,
            notes: Vec::new(),
        }
    }
}
