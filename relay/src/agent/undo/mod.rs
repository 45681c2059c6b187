//! `brb diff` and `brb undo`: the work folder as it stood before a plan's first command.
//!
//! It is kept as a commit under `refs/pi-bridge/<sid>/<r>`, made with an index of its own: HEAD,
//! the person's index, branches and stash are not touched. Files are kept byte for byte, with
//! untracked ones; ignored files, the insides of submodules and empty folders are not kept.

mod git;
mod internals;
mod restore;
mod tree;

use std::path::{Path, PathBuf};
use std::time::Duration;

use git::{Git, trim};
pub use internals::Internals;

use super::error::AgentError;
use super::lock;
use super::order::Order;

/// How long a diff, an undo or a look at the work tree may take.
const LIMIT: Duration = Duration::from_secs(120);
/// How often one round's earlier states are looked for.
const EARLIER_MAX: u32 = 100;

/// What an undo did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undone {
    /// Paths written as they were.
    pub restored: Vec<PathBuf>,
    /// Paths taken away because they were not there.
    pub removed: Vec<PathBuf>,
    /// The ref that holds the state before this undo.
    pub kept: String,
}

fn ref_name(sid: &str, name: &str) -> String {
    format!("refs/pi-bridge/{sid}/{name}")
}

/// Checks that a work folder can be kept, and is clean unless `dirty` says it need not be.
///
/// # Errors
/// [`AgentError::NoRepository`] or [`AgentError::Dirty`].
pub fn check(cwd: &Path, dirty: bool) -> Result<(), AgentError> {
    let git = Git::open(cwd, LIMIT)?;
    if dirty {
        return Ok(());
    }
    let status = git.run(
        &[
            "status",
            "--porcelain=v1",
            "-z",
            "--untracked-files=normal",
            "--ignore-submodules=all",
            "--",
            ".",
        ],
        b"",
    )?;
    let paths: Vec<&[u8]> = status.split(|b| *b == 0).filter(|p| p.len() > 3).collect();
    match paths.first() {
        None => Ok(()),
        Some(first) => Err(AgentError::Dirty {
            paths: paths.len(),
            first: super::quote::one_line(&String::from_utf8_lossy(&first[3..])),
        }),
    }
}

/// Keeps the state before a plan; returns the ref. A state that an earlier plan of the same round
/// left is moved aside first, never lost (ours: after a RESUME a round number can come again).
///
/// # Errors
/// git's, or the folder cannot be read in time.
pub fn keep(cwd: &Path, order: &Order, limit: Duration) -> Result<String, AgentError> {
    let name = order.round.to_string();
    let message = format!("before plan {} of round {}\n", order.plan_key, order.round);
    keep_as(
        &mut Git::open(cwd, limit)?,
        cwd,
        &order.sid,
        &name,
        &message,
    )
}

fn keep_as(
    git: &mut Git,
    cwd: &Path,
    sid: &str,
    name: &str,
    message: &str,
) -> Result<String, AgentError> {
    let tree = tree::of_folder(git, cwd)?;
    let mut args = vec!["commit-tree", tree.as_str()];
    let head = git
        .run(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"], b"")
        .ok()
        .map(text);
    if let Some(head) = &head {
        args.extend(["-p", head.as_str()]);
    }
    let commit = text(git.run(&args, message.as_bytes())?);
    let target = ref_name(sid, name);
    if let Some(old) = read_ref(git, &target) {
        let aside = (2..EARLIER_MAX)
            .map(|n| format!("{target}.{n}"))
            .find(|aside| read_ref(git, aside).is_none());
        if let Some(aside) = aside {
            git.run(&["update-ref", &aside, &old], b"")?;
        }
    }
    git.run(&["update-ref", "-m", "pi-bridge", &target, &commit], b"")?;
    Ok(target)
}

fn read_ref(git: &Git, name: &str) -> Option<String> {
    let spec = format!("{name}^{{commit}}");
    git.run(&["rev-parse", "--verify", "--quiet", &spec], b"")
        .ok()
        .map(text)
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8_lossy(&trim(bytes)).into_owned()
}

fn kept_tree(git: &Git, sid: &str, round: u32) -> Result<String, AgentError> {
    let spec = format!("{}^{{tree}}", ref_name(sid, &round.to_string()));
    git.run(&["rev-parse", "--verify", "--quiet", &spec], b"")
        .map(text)
        .map_err(|_| AgentError::Git {
            command: "rev-parse".into(),
            said: format!("nothing is kept for round {round} of session {sid}"),
        })
}

/// The rounds of a session for which a state is kept, in order.
///
/// # Errors
/// [`AgentError::NoRepository`], or git's.
pub fn rounds(cwd: &Path, sid: &str) -> Result<Vec<u32>, AgentError> {
    let git = Git::open(cwd, LIMIT)?;
    let list = text(git.run(
        &[
            "for-each-ref",
            "--format=%(refname:lstrip=3)",
            &ref_name(sid, ""),
        ],
        b"",
    )?);
    let mut rounds: Vec<u32> = list.lines().filter_map(|l| l.parse().ok()).collect();
    rounds.sort_unstable();
    Ok(rounds)
}

/// What has changed in the work folder since before round `round`'s plan, as a patch in raw
/// bytes; not made safe for a terminal.
///
/// # Errors
/// Nothing is kept for that round, or git's.
pub fn diff(cwd: &Path, sid: &str, round: u32) -> Result<Vec<u8>, AgentError> {
    let mut git = Git::open(cwd, LIMIT)?;
    let before = kept_tree(&git, sid, round)?;
    let now = tree::of_folder(&mut git, cwd)?;
    let args = [
        "diff-tree",
        "-r",
        "-p",
        "--binary",
        "--no-renames",
        "--no-ext-diff",
        "--no-textconv",
        &before,
        &now,
    ];
    git.run(&args, b"")
}

/// Puts the work folder back to what it was before round `round`'s plan, keeping what it is now
/// under `undo-<r>`. Nobody may be at work in the folder.
///
/// # Errors
/// Nothing is kept for that round, the folder is in use, or git's; then the state now is kept.
pub fn undo(state_dir: &Path, cwd: &Path, sid: &str, round: u32) -> Result<Undone, AgentError> {
    let io = super::error::io_err;
    let cwd = std::fs::canonicalize(cwd).map_err(|_| AgentError::NoFolder(cwd.to_owned()))?;
    let me = lock::Holder {
        pid: std::process::id() as i32,
        sid: sid.to_owned(),
        round,
    };
    let _lock = match lock::take(state_dir, &cwd, &me).map_err(io("taking the folder's lock"))? {
        lock::Taken::Ours(lock) => lock,
        lock::Taken::Held(holder) => return Err(AgentError::Locked(holder)),
    };
    let mut git = Git::open(&cwd, LIMIT)?;
    let before = kept_tree(&git, sid, round)?;
    let name = format!("undo-{round}");
    let kept = keep_as(
        &mut git,
        &cwd,
        sid,
        &name,
        &format!("before undo of round {round}\n"),
    )?;
    let now = text(git.run(&["rev-parse", "--verify", &format!("{kept}^{{tree}}")], b"")?);
    let (restored, removed) = restore::restore(&git, &cwd, &now, &before)?;
    Ok(Undone {
        restored,
        removed,
        kept,
    })
}
