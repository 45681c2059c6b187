//! The lock on a work folder, which lives as long as the process tree that works in it (K6).
//!
//! A [`Name`] of this machine goes by the folder itself, not by its path: two relays with
//! different state folders, or that reach it by different mounts, meet there. Two files in the
//! state folder, named by the folder's canonical path, hold it besides, also between network
//! namespaces, where names do not reach: the *gate* is held by the wrapper alone and says who
//! it is. The *tree* is inherited by every process that the wrapper starts, so that the folder
//! stays held when the wrapper is gone and something it started is not. The name is handed on
//! to the wrapper's keeper and no further **(ours)**: a socket of the machine has no place in
//! the sandbox. With wrapper and keeper both killed, relays of another state folder no longer
//! meet what these left running.

use std::fmt;
use std::fs::{self, DirBuilder, File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::proc::{Process, holders_of, holders_of_name};
use crate::name::{self, By, Name};

const TRIES_MAX: u32 = 4;
const TRY_GAP_MS: u64 = 10;

/// Who holds a work folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// The wrapper's process, or the first of what it left behind.
    pub pid: i32,
    /// Its session, where known.
    pub sid: String,
    /// Its round, 0 where unknown.
    pub round: u32,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {}", self.pid)?;
        if !self.sid.is_empty() {
            write!(f, " (session {}, round {})", self.sid, self.round)?;
        }
        Ok(())
    }
}

/// A held work folder; let go when dropped, by what inherited it when that has ended too.
#[derive(Debug)]
pub struct FolderLock {
    name: Name,
    _gate: File,
    tree: File,
}

impl FolderLock {
    //= spec K6
    /// From now on every process that this one starts holds the folder as well.
    ///
    /// # Errors
    /// The system's.
    pub fn share_with_children(&self) -> io::Result<()> {
        fcntl(&self.tree, FcntlArg::F_SETFD(FdFlag::empty()))?;
        self.name.share_with_children()
    }
}

/// The outcome of asking for a work folder.
#[derive(Debug)]
pub enum Taken {
    /// It is ours.
    Ours(FolderLock),
    /// Somebody else is in there.
    Held(Holder),
}

fn paths(state_dir: &Path, cwd: &Path) -> (PathBuf, PathBuf) {
    let hash = Sha256::digest(cwd.as_os_str().as_bytes());
    let name: String = hash[..16].iter().map(|b| format!("{b:02x}")).collect();
    let dir = state_dir.join("locks");
    (
        dir.join(format!("{name}.gate")),
        dir.join(format!("{name}.tree")),
    )
}

/// The folder's name on this machine, by whatever path or mount it is reached.
fn name_of(cwd: &Path) -> io::Result<String> {
    let folder = fs::metadata(cwd)?;
    Ok(format!(
        "pi-bridge/1/folder/{:x}-{:x}",
        folder.dev(),
        folder.ino()
    ))
}

/// Whoever holds the name: its own word where the system names the same process and that
/// lives, else the first process that has it.
fn named(name: &str, by: &By) -> Holder {
    let told = serde_json::from_slice::<Holder>(&by.said).ok();
    let pid = by.pid.and_then(|pid| i32::try_from(pid).ok());
    if let Some(holder) = told.filter(|holder| pid.is_none_or(|pid| pid == holder.pid)) {
        return holder;
    }
    let left = || holders_of_name(name).first().map(|process| process.pid);
    Holder {
        pid: left().or(pid).unwrap_or(0),
        sid: String::new(),
        round: 0,
    }
}

/// Tries once; `Ok(false)` when somebody else holds it.
fn try_lock(file: &File) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(e)) => Err(e),
    }
}

/// Tries a few times: somebody who only looks ([`holder`]) holds a lock for an instant.
pub(crate) fn try_lock_patiently(file: &File) -> io::Result<bool> {
    for _ in 0..TRIES_MAX {
        if try_lock(file)? {
            return Ok(true);
        }
        std::thread::sleep(Duration::from_millis(TRY_GAP_MS));
    }
    try_lock(file)
}

/// Reads who wrote into a lock file; the content is a hint, never proof.
pub(crate) fn read_holder(path: &Path) -> Option<Holder> {
    let mut bytes = Vec::new();
    File::open(path)
        .ok()?
        .take(4096)
        .read_to_end(&mut bytes)
        .ok()?;
    serde_json::from_slice(&bytes).ok()
}

/// Opens a lock file for its owner alone, without truncating what another wrote.
pub(crate) fn open_lock(path: &Path) -> io::Result<File> {
    File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(path)
}

/// Writes who we are into a lock file just taken.
pub(crate) fn sign(file: &mut File, holder: &Holder) -> io::Result<()> {
    let bytes = serde_json::to_vec(holder).map_err(io::Error::other)?;
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(&bytes)
}

fn unknown(path: &Path) -> Holder {
    let pid = holders_of(path).first().map_or(0, |p| p.pid);
    Holder {
        pid,
        sid: String::new(),
        round: 0,
    }
}

//= spec K6
/// Takes the lock on `cwd`, by whatever name it is given.
///
/// # Errors
/// The state folder cannot be written.
pub fn take(state_dir: &Path, cwd: &Path, me: &Holder) -> io::Result<Taken> {
    let cwd = fs::canonicalize(cwd)?;
    let name = name_of(&cwd)?;
    let said = serde_json::to_vec(me).map_err(io::Error::other)?;
    let name = match Name::take(&name, said)? {
        name::Taken::Ours(name) => name,
        name::Taken::Held(by) => return Ok(Taken::Held(named(&name, &by))),
    };
    let (gate_path, tree_path) = paths(state_dir, &cwd);
    if let Some(dir) = gate_path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    }
    let mut gate = open_lock(&gate_path)?;
    if !try_lock_patiently(&gate)? {
        return Ok(Taken::Held(
            read_holder(&gate_path).unwrap_or_else(|| unknown(&gate_path)),
        ));
    }
    // Read-only for all: a process that inherits it cannot write a byte into the state folder.
    match File::options()
        .write(true)
        .create_new(true)
        .mode(0o400)
        .open(&tree_path)
    {
        Ok(_) => {}
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
        Err(e) => return Err(e),
    }
    let tree = File::open(&tree_path)?;
    if !try_lock_patiently(&tree)? {
        return Ok(Taken::Held(unknown(&tree_path)));
    }
    sign(&mut gate, me)?;
    Ok(Taken::Ours(FolderLock {
        name,
        _gate: gate,
        tree,
    }))
}

/// Who works in `cwd` now; `None` where nobody does. Changes nothing.
///
/// # Errors
/// The folder or its lock cannot be read.
pub fn holder(state_dir: &Path, cwd: &Path) -> io::Result<Option<Holder>> {
    let cwd = fs::canonicalize(cwd)?;
    let name = name_of(&cwd)?;
    if let Some(by) = name::look(&name)? {
        return Ok(Some(named(&name, &by)));
    }
    let (gate_path, tree_path) = paths(state_dir, &cwd);
    for (path, signed) in [(&gate_path, true), (&tree_path, false)] {
        let file = match File::open(path) {
            Ok(file) => file,
            Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
            Err(e) => return Err(e),
        };
        match file.try_lock_shared() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let who = if signed { read_holder(path) } else { None };
                return Ok(Some(who.unwrap_or_else(|| unknown(path))));
            }
            Err(TryLockError::Error(e)) => return Err(e),
        }
    }
    Ok(None)
}

/// The processes that keep `cwd` held after their wrapper has gone.
///
/// # Errors
/// The folder cannot be resolved.
pub fn tree_processes(state_dir: &Path, cwd: &Path) -> io::Result<Vec<Process>> {
    let cwd = fs::canonicalize(cwd)?;
    Ok(holders_of(&paths(state_dir, &cwd).1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn me() -> Holder {
        Holder {
            pid: std::process::id() as i32,
            sid: "ab".into(),
            round: 3,
        }
    }

    //= spec K6 type=test
    #[test]
    fn a_held_folder_is_refused_by_any_of_its_names_and_free_again_after() {
        let state = tempfile::tempdir().expect("dir");
        let work = tempfile::tempdir().expect("dir");
        let link = state.path().join("link");
        std::os::unix::fs::symlink(work.path(), &link).expect("link");
        let Taken::Ours(lock) = take(state.path(), work.path(), &me()).expect("io") else {
            panic!("the folder is free");
        };
        let Taken::Held(who) = take(state.path(), &link, &me()).expect("io") else {
            panic!("the folder is held");
        };
        assert_eq!(who, me());
        assert_eq!(holder(state.path(), &link).expect("io"), Some(me()));
        drop(lock);
        assert_eq!(holder(state.path(), work.path()).expect("io"), None);
    }

    //= spec K6 type=test
    #[test]
    fn relays_with_different_state_folders_meet_in_one_work_folder() {
        let (one, other) = (
            tempfile::tempdir().expect("dir"),
            tempfile::tempdir().expect("dir"),
        );
        let work = tempfile::tempdir().expect("dir");
        let Taken::Ours(lock) = take(one.path(), work.path(), &me()).expect("io") else {
            panic!("the folder is free");
        };
        let Taken::Held(who) = take(other.path(), work.path(), &me()).expect("io") else {
            panic!("the folder is held");
        };
        assert_eq!(who, me());
        assert_eq!(holder(other.path(), work.path()).expect("io"), Some(me()));
        drop(lock);
        assert_eq!(holder(other.path(), work.path()).expect("io"), None);
        assert!(matches!(
            take(other.path(), work.path(), &me()).expect("io"),
            Taken::Ours(_)
        ));
    }

    #[test]
    fn a_holder_that_gives_itself_another_process_is_not_believed() {
        let work = tempfile::tempdir().expect("dir");
        let name = name_of(work.path()).expect("a folder");
        let lie = serde_json::to_vec(&Holder { pid: 1, ..me() }).expect("json");
        let held = Name::take(&name, lie).expect("io");
        assert!(matches!(held, name::Taken::Ours(_)));
        let who = holder(work.path(), work.path()).expect("io").expect("held");
        assert_eq!((who.pid, who.sid.as_str()), (me().pid, ""));
    }
}
