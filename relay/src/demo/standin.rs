//! The stand-in as a process of its own, and the judge over its log.

use std::{
    io,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use fixtures::log::TurnLine;
use serde::Deserialize;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    process::{Child, Command},
    time::timeout,
};

/// The stand-in saying where it listens.
const ANNOUNCE_MS: u64 = 20_000;
/// The judge reading one log.
const JUDGE_MS: u64 = 20_000;
/// The stand-in ending by itself.
const END_MS: u64 = 5_000;

/// The judge: a program of its own, in another language, with none of our code.
const JUDGE: &str = include_str!("../../../scripts/judge");

/// A stand-in that runs.
pub struct Standin {
    /// Where its page is.
    pub url: String,
    log: PathBuf,
    child: Child,
}

#[derive(Deserialize)]
struct Announced {
    url: String,
}

impl Standin {
    /// Starts `brb standin` with these arguments, its log in `log`.
    ///
    /// # Errors
    /// What the system or the stand-in said.
    pub async fn start(exe: &Path, arguments: &[String], log: PathBuf) -> io::Result<Self> {
        let mut child = Command::new(exe)
            .arg("standin")
            .args(arguments)
            .arg("--log")
            .arg(&log)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()?;
        let stdout = child
            .stdout
            .take()
            .ok_or_else(|| io::Error::other("it has no stdout"))?;
        let mut lines = BufReader::new(stdout).lines();
        let line = timeout(Duration::from_millis(ANNOUNCE_MS), lines.next_line())
            .await
            .map_err(|_| io::Error::other("the stand-in did not say where it listens"))??
            .ok_or_else(|| io::Error::other("the stand-in ended without a word"))?;
        let said: Announced = serde_json::from_str(&line)?;
        Ok(Self {
            url: said.url,
            log,
            child,
        })
    }

    /// The turns in its log so far.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub fn turns(&self) -> io::Result<Vec<TurnLine>> {
        let text = std::fs::read_to_string(&self.log)?;
        text.lines()
            .map(|line| serde_json::from_str(line).map_err(io::Error::from))
            .collect()
    }

    /// What the judge says of its log: none where it is clean.
    ///
    /// # Errors
    /// When the judge cannot be asked.
    pub async fn judge(&self) -> io::Result<Option<String>> {
        judge(&self.log).await
    }

    /// Ends it.
    pub async fn end(mut self) {
        if let Some(pid) = self.child.id().and_then(|pid| i32::try_from(pid).ok()) {
            let pid = nix::unistd::Pid::from_raw(pid);
            let _ = nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM);
        }
        if timeout(Duration::from_millis(END_MS), self.child.wait())
            .await
            .is_err()
        {
            let _ = self.child.kill().await;
        }
    }
}

/// What the judge says of a log: none where it is clean.
///
/// # Errors
/// When the judge cannot be asked.
pub async fn judge(log: &Path) -> io::Result<Option<String>> {
    let mut judge = Command::new("python3")
        .arg("-")
        .arg(log)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    if let Some(mut stdin) = judge.stdin.take() {
        stdin.write_all(JUDGE.as_bytes()).await?;
    }
    let said = timeout(Duration::from_millis(JUDGE_MS), judge.wait_with_output())
        .await
        .map_err(|_| io::Error::other("the judge did not end"))??;
    let words = String::from_utf8_lossy(&said.stdout).trim().to_owned();
    match said.status.code() {
        Some(0) => Ok(None),
        Some(1) => Ok(Some(words)),
        Some(_) | None => {
            let why = String::from_utf8_lossy(&said.stderr).trim().to_owned();
            Err(io::Error::other(format!(
                "the judge cannot read the log: {why}"
            )))
        }
    }
}
