//! The relay as a process of its own, and its journal as it grows.

use std::{
    io,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use nix::{sys::signal::Signal, unistd::Pid};
use protocol::record::{Entry, Record, State};
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::{Child, Command},
    sync::watch,
    task::JoinHandle,
    time::timeout,
};

use super::{procs, setting::Setting};
use crate::index;

/// The limits of a disturbed run: the page's are as in earnest, so that recovery
/// times mean something; what only waits for a stop is cut short.
const LIMITS: &[(&str, u64)] = &[
    ("send-gap-ms", 300),
    ("settle-ms", 5_000),
    ("evidence-ms", 3_000),
    ("submit-s", 3),
    ("reply-streaming-s", 8),
    ("reply-thinking-s", 12),
    ("hydrate-s", 8),
    ("round-s", 120),
    ("reads-max", 2),
];

/// Between two looks at the journal.
const LOOK_MS: u64 = 15;
/// Between asking a relay to end and killing it.
const END_MS: u64 = 8_000;

/// A relay that runs.
pub struct Relay {
    child: Child,
    told: watch::Receiver<Told>,
    reader: JoinHandle<()>,
    state_dir: PathBuf,
    /// The session, where it was there before.
    known: Option<String>,
}

/// What a relay has said of itself.
#[derive(Debug, Clone, Default)]
pub struct Told {
    /// The session.
    pub sid: Option<String>,
    /// The exit that it announces in its last line.
    pub exit: Option<u64>,
    /// Nothing more comes.
    pub over: bool,
}

impl Relay {
    /// Starts `brb run` on the demo's request.
    ///
    /// # Errors
    /// When the program cannot be started.
    pub fn start(exe: &Path, setting: &Setting) -> io::Result<Self> {
        let mut command = Command::new(exe);
        command
            .arg("run")
            .arg(fixtures::demo::request(setting.seed))
            .args(["--json", "--approve", "workspace", "--log", "debug"])
            .args(["--chat", &setting.standin.url])
            .arg("--browser")
            .arg(setting.wrapper())
            .arg("--profile")
            .arg(setting.profile())
            .arg("--cwd")
            .arg(setting.project())
            .arg("--state-dir")
            .arg(setting.state());
        for (name, value) in LIMITS {
            command.arg(format!("--{name}={value}"));
        }
        Self::spawn(command, setting)
    }

    /// Kills it: no word, no signal that it could hear.
    pub async fn kill(&mut self) {
        let _ = self.child.kill().await;
        self.over().await;
    }

    /// Starts `brb run --continue` in its place.
    ///
    /// # Errors
    /// When the program cannot be started.
    pub fn go_on(&mut self, exe: &Path, setting: &Setting) -> io::Result<()> {
        let sid = self.told().sid;
        let sid = sid.ok_or_else(|| io::Error::other("it never named its session"))?;
        let mut command = Command::new(exe);
        command
            .args(["run", "--continue", &sid])
            .args(["--json", "--approve", "workspace", "--log", "debug"])
            .arg("--state-dir")
            .arg(setting.state());
        *self = Self::spawn(command, setting)?;
        self.known = Some(sid);
        Ok(())
    }

    fn spawn(mut command: Command, setting: &Setting) -> io::Result<Self> {
        let (name, value) = setting.mark.split_once('=').unwrap_or(("BRB_FAULTS", ""));
        let mut child = command
            .env(name, value)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()?;
        let stdout = child
            .stdout
            .take()
            .ok_or_else(|| io::Error::other("it has no stdout"))?;
        let (tell, told) = watch::channel(Told::default());
        let reader = tokio::spawn(async move {
            let mut lines = BufReader::new(stdout).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                let event: Value = serde_json::from_str(&line).unwrap_or_default();
                tell.send_modify(|told| match event["event"].as_str() {
                    Some("started") => told.sid = event["sid"].as_str().map(str::to_owned),
                    Some("finished") => told.exit = event["exit"].as_u64(),
                    Some(_) | None => {}
                });
            }
            tell.send_modify(|told| told.over = true);
        });
        Ok(Self {
            child,
            told,
            reader,
            state_dir: setting.state(),
            known: None,
        })
    }

    /// What it has said so far.
    pub fn told(&self) -> Told {
        self.told.borrow().clone()
    }

    /// Its journal so far; empty before there is one.
    pub fn journal(&self) -> (Vec<Entry>, State) {
        let sid = self
            .known
            .clone()
            .or_else(|| self.told.borrow().sid.clone());
        let read = sid.and_then(|sid| index::read(&self.state_dir.join(sid)).ok());
        read.unwrap_or_default()
    }

    /// Waits until the journal says so; false if the relay ends before.
    pub async fn until(&mut self, says: impl Fn(&[Entry], &State) -> bool) -> bool {
        loop {
            let over = self.told.borrow().over;
            let (entries, state) = self.journal();
            if says(&entries, &state) {
                return true;
            }
            if over {
                return false;
            }
            tokio::time::sleep(Duration::from_millis(LOOK_MS)).await;
        }
    }

    /// Resolves when it has said its last word.
    pub async fn over(&self) {
        let mut told = self.told.clone();
        let _ = told.wait_for(|told| told.over).await;
    }

    /// Whether it has ended.
    pub fn is_over(&self) -> bool {
        self.told.borrow().over
    }

    /// Waits until it ends; none where a signal ended it.
    ///
    /// # Errors
    /// What the system says.
    pub async fn ended(&mut self) -> io::Result<Option<i32>> {
        let status = self.child.wait().await?;
        let _ = (&mut self.reader).await;
        Ok(status.code())
    }

    /// Ends it by force, politely first.
    pub async fn stop(&mut self) {
        if let Some(pid) = self.child.id().and_then(|id| i32::try_from(id).ok()) {
            procs::signal(Pid::from_raw(pid), Signal::SIGTERM);
        }
        let ended = timeout(Duration::from_millis(END_MS), self.child.wait());
        if ended.await.is_err() {
            let _ = self.child.kill().await;
        }
    }
}

/// Whether any record is such.
pub fn any(entries: &[Entry], such: impl Fn(&Record) -> bool) -> bool {
    entries.iter().any(|entry| such(&entry.record))
}
