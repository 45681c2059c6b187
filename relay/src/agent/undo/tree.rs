//! The work folder as a git tree, byte for byte.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use super::git::{Git, path};
use super::text;
use crate::agent::error::{AgentError, io_err};

/// Writes the folder's files into the object store and returns the tree. Tracked and untracked
/// files are in it, ignored ones are not. The index used is thrown away.
pub(super) fn of_folder(git: &mut Git, cwd: &Path) -> Result<String, AgentError> {
    let scratch = tempfile::tempdir().map_err(io_err("making a scratch folder"))?;
    let listed = git.run(
        &[
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ],
        b"",
    )?;
    let staged = git.run(&["ls-files", "-z", "--stage"], b"")?;
    let mut entries: BTreeMap<Vec<u8>, Entry> = submodules(&staged);
    for name in listed
        .split(|b| *b == 0)
        .filter(|n| !n.is_empty() && !n.ends_with(b"/"))
    {
        if entries.contains_key(name) {
            continue;
        }
        // Deleted in the work folder, or a folder now: it is listed by what is in there.
        if let Some(entry) = Entry::of(&cwd.join(path(name.to_vec()))) {
            entries.insert(name.to_vec(), entry);
        }
    }
    let sources =
        sources(cwd, scratch.path(), &entries).map_err(io_err("reading the work folder"))?;
    let mut input = Vec::new();
    for source in &sources {
        input.extend_from_slice(source.as_os_str().as_bytes());
        input.push(b'\n');
    }
    let hashed = text(git.run(
        &["hash-object", "-w", "--no-filters", "--stdin-paths"],
        &input,
    )?);
    let mut hashes = hashed.lines();
    let mut info = Vec::new();
    for (name, entry) in &entries {
        let (mode, hash) = match entry {
            Entry::Module(hash) => ("160000", hash.as_str()),
            Entry::Link(_) => ("120000", hashes.next().unwrap_or_default()),
            Entry::File { exec: true } => ("100755", hashes.next().unwrap_or_default()),
            Entry::File { exec: false } => ("100644", hashes.next().unwrap_or_default()),
        };
        info.extend_from_slice(format!("{mode} {hash}\t").as_bytes());
        info.extend_from_slice(name);
        info.push(0);
    }
    git.with_index(scratch.path().join("index"));
    git.run(&["update-index", "-z", "--index-info"], &info)?;
    let tree = git.run(&["write-tree"], b"").map(text)?;
    Ok(tree)
}

/// What stands at one path.
enum Entry {
    File {
        exec: bool,
    },
    Link(PathBuf),
    /// A submodule, by the commit that the index names.
    Module(String),
}

impl Entry {
    /// `None` for what git does not keep: nothing, folders, sockets, devices.
    fn of(at: &Path) -> Option<Self> {
        let meta = fs::symlink_metadata(at).ok()?;
        if meta.is_symlink() {
            return fs::read_link(at).ok().map(Self::Link);
        }
        let exec = meta.permissions().mode() & 0o100 != 0;
        meta.is_file().then_some(Self::File { exec })
    }
}

fn submodules(staged: &[u8]) -> BTreeMap<Vec<u8>, Entry> {
    let parse = |line: &[u8]| {
        let tab = line.iter().position(|b| *b == b'\t')?;
        let head = String::from_utf8_lossy(&line[..tab]).into_owned();
        let hash = head.strip_prefix("160000 ")?.split(' ').next()?.to_owned();
        Some((line[tab + 1..].to_vec(), Entry::Module(hash)))
    };
    staged.split(|b| *b == 0).filter_map(parse).collect()
}

/// One file for each entry whose bytes git shall read, in the entries' order. git takes one name
/// a line: a link's target is written to a file, an odd name is reached by a link.
fn sources(
    cwd: &Path,
    scratch: &Path,
    entries: &BTreeMap<Vec<u8>, Entry>,
) -> std::io::Result<Vec<PathBuf>> {
    let mut sources = Vec::new();
    for (n, (name, entry)) in entries.iter().enumerate() {
        let (at, aside) = (cwd.join(path(name.clone())), scratch.join(n.to_string()));
        match entry {
            Entry::Module(_) => {}
            Entry::Link(target) => {
                fs::write(&aside, target.clone().into_os_string().into_vec())?;
                sources.push(aside);
            }
            Entry::File { .. } if at.as_os_str().as_bytes().contains(&b'\n') => {
                symlink(&at, &aside)?;
                sources.push(aside);
            }
            Entry::File { .. } => sources.push(at),
        }
    }
    Ok(sources)
}
