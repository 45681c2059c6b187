//! Putting a kept tree back into the work folder, never through a link.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Component, Path, PathBuf};

use super::git::{Git, path};
use crate::agent::error::{AgentError, io_err};

/// What one path shall become.
struct Change {
    name: PathBuf,
    /// The mode to have, `None` where it was not there.
    mode: Option<String>,
    hash: String,
}

/// Turns the folder from tree `now` into tree `before`: what was restored, what was removed.
pub(super) fn restore(
    git: &Git,
    cwd: &Path,
    now: &str,
    before: &str,
) -> Result<(Vec<PathBuf>, Vec<PathBuf>), AgentError> {
    let raw = git.run(
        &[
            "diff-tree",
            "-r",
            "-z",
            "--no-renames",
            "--full-index",
            now,
            before,
        ],
        b"",
    )?;
    let changes = parse(&raw);
    let (mut restored, mut removed) = (Vec::new(), Vec::new());
    // What has come goes first, so that a file can stand again where a folder is now.
    for change in changes.iter().filter(|c| c.mode.is_none()) {
        remove(cwd, &change.name).map_err(io_err("removing a path"))?;
        removed.push(change.name.clone());
    }
    for change in &changes {
        let Some(mode) = &change.mode else { continue };
        if mode == "160000" {
            continue;
        }
        let bytes = git.run(&["cat-file", "blob", &change.hash], b"")?;
        put(cwd, &change.name, mode, bytes).map_err(io_err("restoring a path"))?;
        restored.push(change.name.clone());
    }
    Ok((restored, removed))
}

/// `:oldmode newmode oldhash newhash status NUL name NUL`, again and again.
fn parse(raw: &[u8]) -> Vec<Change> {
    let mut changes = Vec::new();
    let mut fields = raw.split(|b| *b == 0);
    while let (Some(head), Some(name)) = (fields.next(), fields.next()) {
        let head = String::from_utf8_lossy(head).into_owned();
        let parts: Vec<&str> = head.trim_start_matches(':').split(' ').collect();
        let [_, mode, _, hash, _] = parts[..] else {
            continue;
        };
        let name = path(name.to_vec());
        if !name.components().all(|c| matches!(c, Component::Normal(_))) {
            continue;
        }
        let mode = Some(mode.to_owned()).filter(|m| m != "000000");
        changes.push(Change {
            name,
            mode,
            hash: hash.to_owned(),
        });
    }
    changes
}

/// Whether a path's folder is in the work folder without passing a link.
fn inside(cwd: &Path, name: &Path) -> bool {
    let mut at = cwd.to_owned();
    let Some(parent) = name.parent() else {
        return false;
    };
    parent.components().all(|c| {
        at.push(c);
        fs::symlink_metadata(&at).is_ok_and(|m| m.is_dir())
    })
}

fn remove(cwd: &Path, name: &Path) -> io::Result<()> {
    if !inside(cwd, name) {
        return Ok(());
    }
    match fs::remove_file(cwd.join(name)) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
        Ok(()) | Err(_) => {}
    }
    // Folders that have become empty go with their last file.
    let mut parent = name.parent();
    while let Some(dir) = parent.filter(|d| !d.as_os_str().is_empty()) {
        if fs::remove_dir(cwd.join(dir)).is_err() {
            break;
        }
        parent = dir.parent();
    }
    Ok(())
}

/// Makes the folders above a path; what stands in their way and is none goes.
fn make_folders(cwd: &Path, name: &Path) -> io::Result<()> {
    let mut at = cwd.to_owned();
    for part in name.parent().into_iter().flat_map(Path::components) {
        at.push(part);
        match fs::symlink_metadata(&at) {
            Ok(meta) if meta.is_dir() => continue,
            Ok(_) => fs::remove_file(&at)?,
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(e) => return Err(e),
        }
        DirBuilder::new().create(&at)?;
    }
    Ok(())
}

fn put(cwd: &Path, name: &Path, mode: &str, bytes: Vec<u8>) -> io::Result<()> {
    make_folders(cwd, name)?;
    let at = cwd.join(name);
    let old = fs::symlink_metadata(&at).ok();
    if old.as_ref().is_some_and(fs::Metadata::is_dir) {
        // Only what git ignores can still be in there.
        fs::remove_dir_all(&at)?;
    }
    let aside = at.with_file_name(format!(".brb-undo-{}", std::process::id()));
    if mode == "120000" {
        symlink(path(bytes).into_os_string(), &aside)?;
        return fs::rename(&aside, &at);
    }
    // The rights of a file that is there stay, but for the one that git knows.
    let kept = old
        .filter(fs::Metadata::is_file)
        .map(|m| m.permissions().mode() & 0o777);
    let exec = mode == "100755";
    let mut file = File::options()
        .write(true)
        .create_new(true)
        .mode(0o666)
        .open(&aside)?;
    file.write_all(&bytes)?;
    let base = match kept {
        Some(mode) => mode,
        None => file.metadata()?.permissions().mode() & 0o777,
    };
    let mode = if exec {
        base | ((base & 0o444) >> 2)
    } else {
        base & !0o111
    };
    file.set_permissions(fs::Permissions::from_mode(mode))?;
    fs::rename(&aside, &at)
}
