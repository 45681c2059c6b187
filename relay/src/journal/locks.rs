//! One relay for one session, and one for one conversation (L1): locks of the
//! operating system, held for the process's life and let go by its death.
//!
//! The lock is what counts. What stands in its file (who, which session, since
//! when) is for people: it makes the refusal name the holder.

use std::{
    fmt,
    fs::{File, TryLockError},
    io::{self, Read, Seek, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    time::Duration,
};

use protocol::{
    id::{Sid, hex},
    page::{ConversationId, TargetId},
    time::WallMs,
};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::files;

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

/// Why a lock was not taken.
#[derive(Debug)]
pub enum LockError {
    /// Another relay holds it.
    Held {
        /// What it holds.
        subject: Subject,
        /// Who it is, where its file can be read.
        by: Option<Holder>,
    },
    /// The file system refused.
    Failed {
        /// The lock's file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl fmt::Display for LockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Held {
                subject,
                by: Some(by),
            } => write!(f, "another relay holds {subject}: {by}"),
            Self::Held { subject, by: None } => {
                write!(f, "another relay holds {subject}, and does not say which")
            }
            Self::Failed { path, source } => {
                write!(f, "locking {} failed: {source}", path.display())
            }
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
    path: PathBuf,
}

impl Lock {
    /// Takes the lock of a session, in its own folder, which must be there.
    ///
    /// # Errors
    /// [`LockError`] when another relay holds it or the file system refuses.
    //= spec L1
    pub fn session(folder: &Path, holder: &Holder) -> Result<Self, LockError> {
        take(folder.join(SESSION_LOCK), Subject::Session, holder)
    }

    /// Who holds the session of that folder now, if anybody does. A process
    /// that asks holds the lock itself for a moment.
    ///
    /// # Errors
    /// [`LockError::Failed`] when the file system refuses.
    pub fn session_holder(folder: &Path) -> Result<Option<Option<Holder>>, LockError> {
        let path = folder.join(SESSION_LOCK);
        let mut file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(LockError::Failed { path, source }),
        };
        // Shared, so that two who ask do not take each other for a relay.
        match file.try_lock_shared() {
            Ok(()) => Ok(None),
            Err(TryLockError::WouldBlock) => Ok(Some(read(&mut file))),
            Err(TryLockError::Error(source)) => Err(LockError::Failed { path, source }),
        }
    }
}

/// The lock on what is written to: a tab until the conversation is bound, the
/// conversation from then on.
///
/// It goes by the id alone **(ours)**: one browser is reached by several
/// addresses and one account by several profiles, while the ids of tabs and of
/// conversations are drawn at random by those who give them. The lock is so
/// wider than asked for, never narrower.
#[derive(Debug)]
pub struct Seat {
    folder: PathBuf,
    holder: Holder,
    lock: Lock,
}

impl Seat {
    /// Takes the lock of a tab whose conversation has no id of its own yet.
    ///
    /// # Errors
    /// [`LockError`] when another relay holds it or the file system refuses.
    //= spec L1
    pub fn of_tab(folder: &Path, target: &TargetId, holder: Holder) -> Result<Self, LockError> {
        let path = path_of(folder, "tab", &target.0);
        let lock = take_in(folder, path, Subject::Tab, &holder)?;
        Ok(Self {
            folder: folder.to_owned(),
            holder,
            lock,
        })
    }

    /// Takes the lock of a conversation that is known already.
    ///
    /// # Errors
    /// [`LockError`] when another relay holds it or the file system refuses.
    //= spec L1
    pub fn of_conversation(
        folder: &Path,
        conversation: &ConversationId,
        holder: Holder,
    ) -> Result<Self, LockError> {
        let path = path_of(folder, "conversation", &conversation.0);
        let lock = take_in(folder, path, Subject::Conversation, &holder)?;
        Ok(Self {
            folder: folder.to_owned(),
            holder,
            lock,
        })
    }

    /// Moves to the conversation's own lock, which is taken before the old one
    /// is let go. To stay on the same lock is nothing.
    ///
    /// # Errors
    /// [`LockError`] when another relay holds it; the old one is kept then.
    //= spec L1
    //= spec E1
    pub fn bind(&mut self, conversation: &ConversationId) -> Result<(), LockError> {
        let path = path_of(&self.folder, "conversation", &conversation.0);
        if path != self.lock.path {
            self.lock = take_in(&self.folder, path, Subject::Conversation, &self.holder)?;
        }
        Ok(())
    }
}

fn path_of(folder: &Path, what: &str, id: &str) -> PathBuf {
    // By its digest: what a page calls its conversation may be no file name.
    let digest = Sha256::digest(id.as_bytes());
    folder.join(format!("{what}-{}.lock", hex(&digest[..16])))
}

fn take_in(
    folder: &Path,
    path: PathBuf,
    subject: Subject,
    holder: &Holder,
) -> Result<Lock, LockError> {
    files::make_folder(folder).map_err(|source| LockError::Failed {
        path: folder.to_owned(),
        source,
    })?;
    take(path, subject, holder)
}

fn take(path: PathBuf, subject: Subject, holder: &Holder) -> Result<Lock, LockError> {
    let failed = |source| LockError::Failed {
        path: path.clone(),
        source,
    };
    let mut file = File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(&path)
        .map_err(failed)?;
    if !try_patiently(&file).map_err(failed)? {
        let by = read(&mut file);
        return Err(LockError::Held { subject, by });
    }
    sign(&mut file, holder).map_err(failed)?;
    Ok(Lock { _file: file, path })
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
