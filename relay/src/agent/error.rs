//! What can go wrong around a plan, sorted by who must act.

use std::fmt;
use std::io;
use std::path::PathBuf;

use super::lock::Holder;

/// Why a plan cannot be approved, prepared or started. Nothing of the plan has run.
#[derive(Debug)]
pub enum AgentError {
    // The person who started the relay.
    /// `--approve ask` was chosen and nobody can be asked.
    NoTerminal,
    /// The question about a plan was not answered in time; the plan stays accepted (P9).
    AskTimedOut {
        /// How long the question stood, in milliseconds.
        ask_ms: u64,
    },
    /// Two options contradict one another.
    Contradiction(&'static str),
    /// The work folder does not exist or is no folder.
    NoFolder(PathBuf),
    /// The work folder holds what agents must never see, or is a folder of the system.
    FolderTooWide {
        /// The work folder.
        folder: PathBuf,
        /// What stands inside it.
        holds: PathBuf,
    },
    /// The work folder is in no git repository, so its state cannot be kept for `undo`.
    NoRepository(PathBuf),
    /// The work folder has changes that are not committed.
    Dirty {
        /// How many paths differ from the last commit.
        paths: usize,
        /// The first of them.
        first: String,
    },
    /// No sandbox can be had here.
    NoSandbox {
        /// Why bubblewrap cannot be used.
        bubblewrap: String,
        /// Why Landlock with seccomp cannot be used.
        landlock: String,
    },
    /// Another process tree still works in the folder.
    Locked(Holder),
    // The machine.
    /// A file or process operation failed.
    Io {
        /// What was being done.
        doing: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// git could not do what was asked of it.
    Git {
        /// The plumbing command.
        command: String,
        /// What git said, shortened.
        said: String,
    },
    /// The wrapper ended, or said nothing, before it was ready.
    WrapperNotReady(String),
    // Ourselves.
    /// This very plan was begun before; it is never started twice (K5).
    AlreadyBegun(PathBuf),
    /// An order held something that is no order.
    BadOrder(&'static str),
}

impl AgentError {
    /// The stable code that `brb explain` knows.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoTerminal
            | Self::Contradiction(_)
            | Self::NoFolder(_)
            | Self::NoRepository(_)
            | Self::Dirty { .. } => "E_USAGE",
            Self::FolderTooWide { .. } | Self::NoSandbox { .. } => "E_SANDBOX",
            Self::Locked(_) => "E_LOCKED",
            Self::AskTimedOut { .. }
            | Self::Io { .. }
            | Self::Git { .. }
            | Self::WrapperNotReady(_)
            | Self::AlreadyBegun(_)
            | Self::BadOrder(_) => "E_AGENT",
        }
    }

    /// One sentence of what to do.
    #[must_use]
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::NoTerminal => {
                "run in a terminal, or choose --approve read-only, workspace or all"
            }
            Self::AskTimedOut { .. } => {
                "answer in time, or raise --ask-s; to go on, decide with `brb resume`"
            }
            Self::Contradiction(_) => "drop one of the two options",
            Self::NoFolder(_) => "give an existing folder with --cwd",
            Self::FolderTooWide { .. } => "give the project's own folder with --cwd",
            Self::NoRepository(_) => "run git init and commit once, or give --no-undo",
            Self::Dirty { .. } => "commit or stash the changes, or give --dirty",
            Self::NoSandbox { .. } => {
                "install bubblewrap, or give --sandbox off on a machine you can lose"
            }
            Self::Locked(_) => "wait until the named process has ended, or end it",
            Self::Io { .. } => "look at the state folder: space, rights",
            Self::Git { .. } => "repair the repository, or give --no-undo",
            Self::WrapperNotReady(_) => "run brb doctor",
            Self::AlreadyBegun(_) => {
                "look with brb diff at what it may have done, then decide with `brb resume`"
            }
            Self::BadOrder(_) => "report this: it is a defect of the relay",
        }
    }
}

impl fmt::Display for AgentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoTerminal => write!(
                f,
                "plans are to be approved by a person and there is no terminal"
            ),
            Self::AskTimedOut { ask_ms } => {
                write!(
                    f,
                    "nobody answered whether the plan may run within {} s",
                    ask_ms / 1000
                )
            }
            Self::Contradiction(what) => write!(f, "{what}"),
            Self::NoFolder(path) => write!(f, "{} is not a folder", path.display()),
            Self::FolderTooWide { folder, holds } => write!(
                f,
                "the work folder {} would show {} to the agent",
                folder.display(),
                holds.display()
            ),
            Self::NoRepository(path) => write!(
                f,
                "{} is in no git repository, so a plan could not be undone",
                path.display()
            ),
            Self::Dirty { paths, first } => {
                write!(
                    f,
                    "the work folder has {paths} uncommitted paths, the first is {first}"
                )
            }
            Self::NoSandbox {
                bubblewrap,
                landlock,
            } => write!(
                f,
                "no sandbox can be had: bubblewrap: {bubblewrap}; landlock with seccomp: {landlock}"
            ),
            Self::Locked(holder) => write!(f, "the work folder is in use by {holder}"),
            Self::Io { doing, source } => write!(f, "{doing} failed: {source}"),
            Self::Git { command, said } => write!(f, "git {command} failed: {said}"),
            Self::WrapperNotReady(why) => write!(f, "the agent's wrapper did not get ready: {why}"),
            Self::AlreadyBegun(path) => {
                write!(
                    f,
                    "this plan was begun before, its traces are in {}",
                    path.display()
                )
            }
            Self::BadOrder(what) => write!(f, "the order is malformed: {what}"),
        }
    }
}

impl std::error::Error for AgentError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        if let Self::Io { source, .. } = self {
            Some(source)
        } else {
            None
        }
    }
}

/// Turns an [`io::Error`] into [`AgentError::Io`], naming what was being done.
pub(crate) fn io_err(doing: &'static str) -> impl FnOnce(io::Error) -> AgentError {
    move |source| AgentError::Io { doing, source }
}
