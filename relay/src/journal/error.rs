//! Why a journal was not opened, and what a person can do about it.

use std::{fmt, io, path::PathBuf};

use protocol::record::{JournalError, Seq};

/// Why a journal was not made or opened.
#[derive(Debug)]
pub enum OpenError {
    /// There is no folder of that session.
    NoSession {
        /// Where it would be.
        folder: PathBuf,
    },
    /// The session's folder is there and a file of the journal is not.
    Gone {
        /// The missing file.
        path: PathBuf,
    },
    /// The file was never finished: no record was ever stored in it.
    Unfinished {
        /// The file.
        path: PathBuf,
    },
    /// A new session's folder is there already.
    Exists {
        /// The folder.
        folder: PathBuf,
    },
    /// It was written by a newer version of the program.
    Newer {
        /// The file.
        path: PathBuf,
        /// The version found.
        found: u32,
        /// The newest version known here.
        known: u32,
    },
    /// What stands in it is not what was written.
    Corrupt {
        /// The file.
        path: PathBuf,
        /// The first record that is not as it was.
        seq: Option<Seq>,
        /// What is wrong.
        why: String,
    },
    /// It ends before a record that was stored once.
    Short {
        /// The file.
        path: PathBuf,
        /// Its last record.
        last: Seq,
        /// The record that was stored once.
        stored: Seq,
    },
    /// The file system refused.
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What was being done.
        doing: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// The store refused.
    Store {
        /// The file.
        path: PathBuf,
        /// What it said.
        why: String,
    },
}

impl OpenError {
    /// What a person can do about it, one sentence.
    pub fn remedy(&self) -> String {
        match self {
            Self::NoSession { .. } => "See `brb list` for the sessions that are here.".to_owned(),
            Self::Gone { path } => format!(
                "Put back all files of {} together, from one moment; nothing is started anew in it.",
                parent(path).display()
            ),
            Self::Unfinished { path } => format!(
                "Put {} back from a copy; where there is none, look at the chat before a new session is begun: messages may have been sent.",
                parent(path).display()
            ),
            Self::Exists { folder } => {
                format!("Remove {} or choose another session.", folder.display())
            }
            Self::Newer { .. } => "Use the newer version of brb for this session.".to_owned(),
            Self::Corrupt { path, .. } | Self::Short { path, .. } => format!(
                "Put back all files of {} from a copy made together, or begin a new session; never mend it by hand.",
                parent(path).display()
            ),
            Self::Io { path, source, .. } => io_remedy(path, source),
            Self::Store { path, .. } => format!(
                "Free space or mend the rights of {}, then start again.",
                parent(path).display()
            ),
        }
    }
}

fn parent(path: &std::path::Path) -> &std::path::Path {
    path.parent().unwrap_or(path)
}

#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "the kinds of a file system's refusals are not ours and grow"
)]
fn io_remedy(path: &std::path::Path, source: &io::Error) -> String {
    let what = match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "Free space for",
        io::ErrorKind::ReadOnlyFilesystem => "Make writable, or replace with `--state-dir`,",
        io::ErrorKind::PermissionDenied => "Give yourself the right to write to",
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
            "Make, or replace with `--state-dir`, the folder of"
        }
        _ => "Look at the file system of",
    };
    format!("{what} {}, then start again.", path.display())
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSession { folder } => write!(f, "there is no session at {}", folder.display()),
            Self::Gone { path } => write!(
                f,
                "the session's folder is there, and {} is not",
                path.display()
            ),
            Self::Unfinished { path } => {
                write!(f, "the journal {} was never finished", path.display())
            }
            Self::Exists { folder } => {
                write!(
                    f,
                    "the session's folder {} is there already",
                    folder.display()
                )
            }
            Self::Newer { path, found, known } => write!(
                f,
                "the journal {} has version {found}, and this program knows {known}",
                path.display()
            ),
            Self::Corrupt {
                path,
                seq: Some(seq),
                why,
            } => write!(
                f,
                "record {seq} of the journal {} is corrupt: {why}",
                path.display()
            ),
            Self::Corrupt {
                path,
                seq: None,
                why,
            } => write!(f, "the journal {} is corrupt: {why}", path.display()),
            Self::Short { path, last, stored } => write!(
                f,
                "the journal {} ends at record {last}, and record {stored} was stored once",
                path.display()
            ),
            Self::Io {
                path,
                doing,
                source,
            } => write!(f, "{doing} {} failed: {source}", path.display()),
            Self::Store { path, why } => {
                write!(f, "the journal {} cannot be used: {why}", path.display())
            }
        }
    }
}

impl std::error::Error for OpenError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            Self::NoSession { .. }
            | Self::Gone { .. }
            | Self::Unfinished { .. }
            | Self::Exists { .. }
            | Self::Newer { .. }
            | Self::Corrupt { .. }
            | Self::Short { .. }
            | Self::Store { .. } => None,
        }
    }
}

impl From<OpenError> for JournalError {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::Corrupt { seq, why, .. } => Self::Corrupt { seq, why },
            OpenError::Newer { found, known, .. } => Self::Newer { found, known },
            OpenError::Short { last, stored, .. } => Self::Corrupt {
                seq: Some(stored),
                why: format!("it is gone: the journal ends at record {last}"),
            },
            OpenError::NoSession { .. }
            | OpenError::Gone { .. }
            | OpenError::Unfinished { .. }
            | OpenError::Exists { .. }
            | OpenError::Io { .. }
            | OpenError::Store { .. } => Self::NotStored {
                why: error.to_string(),
            },
        }
    }
}
