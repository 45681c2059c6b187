//! The exit record: what the wrapper leaves so that a restarted relay knows how a plan ended.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Longest exit record that is read back, in bytes.
const RECORD_LEN_MAX: u64 = 4 << 20;
/// The only version there is.
pub const RECORD_VERSION: u32 = 1;

/// How an execution ended, as its wrapper saw it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Ended {
    /// No process of the plan was ever made.
    NotStarted {
        /// The reason.
        why: String,
    },
    /// Every command ended by itself.
    Settled {
        /// Whether all of them ran and ended with 0.
        ok: bool,
    },
    /// We ended it: the time limit, or somebody asked.
    Killed {
        /// The reason.
        why: String,
    },
    /// It ended without an outcome that can be trusted.
    Broken {
        /// The reason.
        why: String,
    },
}

/// How one command ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CommandEnd {
    /// It ended with this status.
    Exit(i32),
    /// It was ended by this signal.
    Signal(i32),
    /// It could not be started.
    SpawnFailed(String),
    /// Policy or person refused it.
    Refused(String),
    /// It was not reached.
    NotRun,
    /// It was running when we ended the execution.
    Cut,
}

/// The durable end of one execution.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExitRecord {
    /// [`RECORD_VERSION`].
    pub version: u32,
    /// The session.
    pub sid: String,
    /// The round.
    pub round: u32,
    /// The plan's key.
    pub plan_key: String,
    /// How it ended.
    pub ended: Ended,
    /// How each command ended, in the plan's order.
    pub commands: Vec<CommandEnd>,
    /// The finished receipt, whatever the end was.
    pub receipt: String,
    /// Processes that had to be ended after the last command.
    pub leftovers: u32,
    /// From being let go to the end, in milliseconds.
    pub ran_ms: u64,
}

/// The exit record's place in a job folder.
#[must_use]
pub fn exit_path(job_dir: &Path) -> PathBuf {
    job_dir.join("exit.json")
}

/// Writes `bytes` so that after a return they survive a power cut, or the old state does.
///
/// # Errors
/// Whatever the file system said.
pub fn write_durably(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let dir = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    let tmp = path.with_extension(format!("tmp{}", std::process::id()));
    let mut file = File::options()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&tmp)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    drop(file);
    fs::rename(&tmp, path)?;
    File::open(dir)?.sync_all()
}

impl ExitRecord {
    /// Stores the record in the job folder, durably.
    ///
    /// # Errors
    /// Whatever the file system said; then there is no record, and the execution is in doubt.
    pub fn store(&self, job_dir: &Path) -> io::Result<()> {
        let bytes = serde_json::to_vec(self).map_err(io::Error::other)?;
        write_durably(&exit_path(job_dir), &bytes)
    }

    /// Reads the record; `None` where there is none.
    ///
    /// # Errors
    /// An unreadable, malformed or newer record: it is never taken for a settled one.
    pub fn load(job_dir: &Path) -> io::Result<Option<Self>> {
        let file = match File::open(exit_path(job_dir)) {
            Ok(file) => file,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(e),
        };
        let mut bytes = Vec::new();
        file.take(RECORD_LEN_MAX).read_to_end(&mut bytes)?;
        let record: Self = serde_json::from_slice(&bytes)
            .map_err(|e| io::Error::new(io::ErrorKind::InvalidData, e))?;
        if record.version != RECORD_VERSION {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "unknown version",
            ));
        }
        Ok(Some(record))
    }
}
