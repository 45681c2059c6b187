//! One relay for one session (L1): a lock of the operating system on a file in
//! the session's folder, held for the process's life and let go by its death.
//!
//! The lock is what counts. What stands in its file (who, which session, since
//! when) is for people: it makes the refusal name the holder. The lock on tab and
//! conversation is a [`Seat`](crate::seat::Seat).

use std::{
    fmt,
    fs::{File, TryLockError},
    io::{self, Read, Seek, Write},
    os::unix::fs::OpenOptionsExt,
    path::Path,
    time::Duration,
};

use protocol::{id::Sid, time::WallMs};
use serde::{Deserialize, Serialize};

/// The lock's file name within a session's folder.
pub const SESSION_LOCK: &str = "lock";

/// Most of a lock file that is read, in bytes.
const CONTENT_LEN_MAX: u64 = 4 << 10;

const TRIES_MAX: u32 = 4;
const TRY_GAP: Duration = Duration::from_millis(10);

/// Who holds a lock, as its file says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// The process.
    pub pid: u32,
    /// Its session.
    pub sid: Sid,
    /// Since when, by the wall clock.
    pub since: WallMs,
}

impl Holder {
    /// This process, for that session.
    pub fn this(sid: Sid, since: WallMs) -> Self {
        Self {
            pid: std::process::id(),
            sid,
            since,
        }
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "process {} with session {}, since {}",
            self.pid,
            self.sid,
            crate::clock::shown(self.since)
        )
    }
}

/// What a lock is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// A session and its journal.
    Session,
    /// A conversation, in one browser profile.
    Conversation,
    /// A tab whose conversation has no id of its own yet.
    Tab,
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Session => "this session",
            Self::Conversation => "this conversation",
            Self::Tab => "this tab",
        })
    }
}

/// What is known of whoever holds a lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Who {
    /// It says so itself.
    Told(Holder),
    /// The system knows the process, and nothing more is known.
    Process(u32),
    /// Nothing is known.
    Untold,
}

impl From<Option<Holder>> for Who {
    fn from(holder: Option<Holder>) -> Self {
        holder.map_or(Self::Untold, Self::Told)
    }
}

/// Why a lock was not taken.
#[derive(Debug)]
pub enum LockError {
    /// Another relay holds it.
    Held {
        /// What it holds.
        subject: Subject,
        /// Who it is.
        by: Who,
    },
    /// The system refused.
    Failed {
        /// The lock.
        what: String,
        /// What the system said.
        source: io::Error,
    },
}

impl fmt::Display for LockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Held { subject, by } => match by {
                Who::Told(holder) => write!(f, "another relay holds {subject}: {holder}"),
                Who::Process(pid) => write!(f, "another relay holds {subject}: process {pid}"),
                Who::Untold => {
                    write!(f, "another relay holds {subject}, and does not say which")
                }
            },
            Self::Failed { what, source } => write!(f, "locking {what} failed: {source}"),
        }
    }
}

impl std::error::Error for LockError {}

/// A lock that is held; dropping it lets it go.
///
/// Its file stays: whoever removed it while another waited for it would let
/// two processes hold two files of one name.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock of a session, in its own folder, which must be there.
    ///
    /// # Errors
    /// [`LockError`] when another relay holds it or the file system refuses.
    //= spec L1
    pub fn session(folder: &Path, holder: &Holder) -> Result<Self, LockError> {
        take(&folder.join(SESSION_LOCK), Subject::Session, holder)
    }

    /// Who holds the session of that folder now, if anybody does. A process
    /// that asks holds the lock itself for a moment.
    ///
    /// # Errors
    /// [`LockError::Failed`] when the file system refuses.
    pub fn session_holder(folder: &Path) -> Result<Option<Option<Holder>>, LockError> {
        let path = folder.join(SESSION_LOCK);
        let failed = |source| failed(&path, source);
        let mut file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(failed(source)),
        };
        // Shared, so that two who ask do not take each other for a relay.
        match file.try_lock_shared() {
            Ok(()) => Ok(None),
            Err(TryLockError::WouldBlock) => Ok(Some(read(&mut file))),
            Err(TryLockError::Error(source)) => Err(failed(source)),
        }
    }
}

fn failed(path: &Path, source: io::Error) -> LockError {
    LockError::Failed {
        what: path.display().to_string(),
        source,
    }
}

fn take(path: &Path, subject: Subject, holder: &Holder) -> Result<Lock, LockError> {
    let failed = |source| failed(path, source);
    let mut file = File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(path)
        .map_err(failed)?;
    if !try_patiently(&file).map_err(failed)? {
        let by = read(&mut file).into();
        return Err(LockError::Held { subject, by });
    }
    sign(&mut file, holder).map_err(failed)?;
    Ok(Lock { _file: file })
}

/// Tries a few times: whoever only asks ([`Lock::session_holder`]) holds the
/// lock for an instant.
fn try_patiently(file: &File) -> io::Result<bool> {
    for nth in 0..TRIES_MAX {
        if nth > 0 {
            std::thread::sleep(TRY_GAP);
        }
        match file.try_lock() {
            Ok(()) => return Ok(true),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
    Ok(false)
}

fn sign(file: &mut File, holder: &Holder) -> io::Result<()> {
    let text = serde_json::to_vec(holder)?;
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(&text)
}

fn read(file: &mut File) -> Option<Holder> {
    let mut text = Vec::new();
    file.take(CONTENT_LEN_MAX).read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}
