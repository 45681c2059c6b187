//! The parts of `.git` that can run something later, looked at before and after an execution.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// Most bytes of one file that are looked at.
const FILE_LEN_MAX: u64 = 1 << 20;
/// Most hooks that are looked at.
const HOOKS_MAX: usize = 200;

/// What stood in `.git` that a later git could act on: configuration, hooks, HEAD.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Internals {
    digests: BTreeMap<PathBuf, Option<[u8; 32]>>,
}

impl Internals {
    /// Reads them; what cannot be read counts as absent.
    #[must_use]
    pub fn read(cwd: &Path) -> Self {
        let git = cwd.join(".git");
        let hooks = git.join("hooks");
        let mut paths: Vec<PathBuf> = fs::read_dir(&hooks)
            .into_iter()
            .flatten()
            .flatten()
            .take(HOOKS_MAX)
            .map(|e| e.path())
            .collect();
        paths.extend(["config", "config.worktree", "HEAD", "info/attributes"].map(|n| git.join(n)));
        // A file that names another repository, or a link.
        paths.push(git);
        Self {
            digests: paths.into_iter().map(|p| (p.clone(), digest(&p))).collect(),
        }
    }

    /// A sentence for the receipt where they differ.
    #[must_use]
    pub fn changed(&self, after: &Self) -> Option<String> {
        (self != after).then(|| {
            "the execution changed configuration, hooks or HEAD in .git; look at them before using git here"
                .to_owned()
        })
    }
}

fn digest(path: &Path) -> Option<[u8; 32]> {
    let meta = fs::symlink_metadata(path).ok()?;
    let mut bytes = Vec::new();
    if meta.is_symlink() {
        bytes = fs::read_link(path)
            .ok()?
            .into_os_string()
            .into_encoded_bytes();
        bytes.push(1);
    } else if meta.is_file() {
        File::open(path)
            .ok()?
            .take(FILE_LEN_MAX)
            .read_to_end(&mut bytes)
            .ok()?;
    }
    Some(Sha256::digest(&bytes).into())
}
