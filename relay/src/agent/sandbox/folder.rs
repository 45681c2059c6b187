//! Which work folders are refused, and where their git stands.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::agent::error::{AgentError, io_err};
use crate::agent::order::Settings;

/// Folders of the system: never a work folder, nor anything above them.
const SYSTEM: &[&str] = &[
    "/bin", "/boot", "/dev", "/etc", "/lib", "/lib64", "/proc", "/run", "/sbin", "/sys", "/usr",
];

/// Checks that the work folder is a folder and shows nothing it must not; returns it canonical.
///
/// # Errors
/// [`AgentError::NoFolder`] or [`AgentError::FolderTooWide`].
pub fn check_folder(settings: &Settings, home: Option<&Path>) -> Result<PathBuf, AgentError> {
    let cwd = fs::canonicalize(&settings.cwd)
        .ok()
        .filter(|p| p.is_dir())
        .ok_or_else(|| AgentError::NoFolder(settings.cwd.clone()))?;
    if cwd.to_str().is_none() {
        return Err(AgentError::BadOrder("the work folder's name is not UTF-8"));
    }
    let state = canonical(&settings.state_dir)?;
    let secret: Vec<PathBuf> = settings
        .hidden
        .iter()
        .filter(|p| p.exists())
        .map(|p| canonical(p))
        .chain([Ok(state)])
        .collect::<Result<_, _>>()?;
    let wide = |folder: &Path, holds: &Path| AgentError::FolderTooWide {
        folder: folder.to_owned(),
        holds: holds.to_owned(),
    };
    let shown = settings
        .visible
        .iter()
        .filter(|p| p.exists())
        .map(|p| canonical(p));
    let shown: Vec<PathBuf> = shown.collect::<Result<_, _>>()?;
    for folder in std::iter::once(&cwd).chain(&shown) {
        for secret in &secret {
            if secret.starts_with(folder) || folder.starts_with(secret) {
                return Err(wide(folder, secret));
            }
        }
        if let Some(home) = home.filter(|h| h.starts_with(folder)) {
            return Err(wide(folder, home));
        }
    }
    for system in SYSTEM.iter().map(Path::new) {
        if system.starts_with(&cwd) || cwd.starts_with(system) {
            return Err(wide(&cwd, system));
        }
    }
    Ok(cwd)
}

fn canonical(path: &Path) -> Result<PathBuf, AgentError> {
    fs::canonicalize(path).map_err(io_err("resolving a folder's name"))
}

/// Where the repository of a work tree stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Repository {
    /// HEAD, the index, what is this work tree's own.
    pub git_dir: PathBuf,
    /// Objects, refs and configuration; the same but for a linked work tree.
    pub common_dir: PathBuf,
}

/// The repository of the work tree at exactly this folder.
///
/// `.git` may have been written by a plan: a link is never followed, and what a file names is
/// believed only where that place, which a plan cannot write, names this work tree in turn.
pub(crate) fn repository(work_tree: &Path) -> Option<Repository> {
    let dot_git = work_tree.join(".git");
    let meta = fs::symlink_metadata(&dot_git).ok()?;
    if meta.is_dir() {
        return Some(Repository {
            common_dir: dot_git.clone(),
            git_dir: dot_git,
        });
    }
    let named = Some(&dot_git)
        .filter(|_| meta.is_file())
        .and_then(short_text)?;
    let git_dir = fs::canonicalize(work_tree.join(named.strip_prefix("gitdir:")?.trim())).ok()?;
    let is_here = |named: &str, here: &Path| {
        fs::canonicalize(git_dir.join(named.trim())).is_ok_and(|named| named == here)
    };
    // A linked work tree: `<common>/worktrees/<name>`, whose `gitdir` names our file.
    let common = git_dir
        .parent()
        .filter(|p| p.ends_with("worktrees"))
        .and_then(Path::parent);
    if let (Some(common), Some(back)) = (common, short_text(git_dir.join("gitdir"))) {
        let repository = Repository {
            common_dir: common.to_owned(),
            git_dir: git_dir.clone(),
        };
        return is_here(&back, &dot_git).then_some(repository);
    }
    // A submodule: its configuration names our folder.
    let config = short_text(git_dir.join("config"))?;
    let back = config
        .lines()
        .find_map(|l| l.trim().strip_prefix("worktree")?.trim().strip_prefix('='))?;
    let repository = Repository {
        common_dir: git_dir.clone(),
        git_dir: git_dir.clone(),
    };
    is_here(back, work_tree).then_some(repository)
}

/// A small file's text.
fn short_text(path: impl AsRef<Path>) -> Option<String> {
    let mut text = String::new();
    File::open(path)
        .ok()?
        .take(1 << 16)
        .read_to_string(&mut text)
        .ok()?;
    Some(text)
}

/// What of git is shown, read-only: the work folder's `.git` and, where that is a file, the
/// places that belong to it.
pub(super) fn git_places(cwd: &Path) -> Vec<PathBuf> {
    let Some(Repository {
        git_dir,
        common_dir,
    }) = repository(cwd)
    else {
        return Vec::new();
    };
    let mut places = vec![cwd.join(".git"), git_dir, common_dir];
    places.dedup();
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(cwd: &Path, state: &Path) -> Settings {
        Settings::new(cwd.to_owned(), state.to_owned(), PathBuf::from("brb"))
    }

    #[test]
    fn a_folder_that_holds_the_state_or_lies_in_it_is_refused() {
        let dir = tempfile::tempdir().expect("dir");
        let (work, state) = (dir.path().join("work"), dir.path().join("state"));
        fs::create_dir_all(&work).expect("dir");
        fs::create_dir_all(state.join("inner")).expect("dir");
        assert!(check_folder(&settings(&work, &state), None).is_ok());
        for cwd in [dir.path(), &state, &state.join("inner")] {
            let refused = check_folder(&settings(cwd, &state), None);
            assert!(
                matches!(refused, Err(AgentError::FolderTooWide { .. })),
                "{cwd:?}"
            );
        }
    }

    #[test]
    fn a_home_above_the_work_folder_is_fine_and_the_home_itself_is_not() {
        let dir = tempfile::tempdir().expect("dir");
        let state = tempfile::tempdir().expect("dir");
        let work = dir.path().join("work");
        fs::create_dir_all(&work).expect("dir");
        let home = fs::canonicalize(dir.path()).expect("home");
        assert!(check_folder(&settings(&work, state.path()), Some(&home)).is_ok());
        assert!(check_folder(&settings(&home, state.path()), Some(&home)).is_err());
    }

    #[test]
    fn a_secret_reached_by_a_link_or_shown_besides_is_refused() {
        let dir = tempfile::tempdir().expect("dir");
        let (work, state) = (dir.path().join("work"), dir.path().join("state"));
        fs::create_dir_all(&work).expect("dir");
        fs::create_dir_all(&state).expect("dir");
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(&state, &link).expect("link");
        assert!(check_folder(&settings(&link, &state), None).is_err());
        let mut shows = settings(&work, &state);
        shows.visible = vec![link];
        assert!(check_folder(&shows, None).is_err());
    }

    #[test]
    fn folders_of_the_system_are_refused() {
        let state = tempfile::tempdir().expect("dir");
        for cwd in ["/", "/usr", "/usr/lib", "/etc", "/proc/self"] {
            assert!(
                check_folder(&settings(Path::new(cwd), state.path()), None).is_err(),
                "{cwd}"
            );
        }
        let absent = check_folder(&settings(Path::new("/no/such"), state.path()), None);
        assert!(matches!(absent, Err(AgentError::NoFolder(_))));
    }

    const NOWHERE: [PathBuf; 0] = [];

    #[test]
    fn a_git_that_a_plan_could_have_written_leads_nowhere() {
        let dir = tempfile::tempdir().expect("dir");
        let root = fs::canonicalize(dir.path()).expect("resolves");
        let (work, secret) = (root.join("work"), root.join("secret"));
        fs::create_dir_all(&work).expect("dir");
        fs::create_dir_all(secret.join("worktrees/x")).expect("dir");
        fs::write(secret.join("config"), "[core]\n\tworktree = ../elsewhere\n").expect("writes");
        fs::write(secret.join("worktrees/x/gitdir"), "/elsewhere/.git\n").expect("writes");
        assert_eq!(git_places(&work), NOWHERE);
        for named in ["../secret", "../secret/worktrees/x", "/", "", "\0"] {
            fs::write(work.join(".git"), format!("gitdir: {named}\n")).expect("writes");
            assert_eq!(git_places(&work), NOWHERE, "{named}");
        }
        fs::remove_file(work.join(".git")).expect("removes");
        std::os::unix::fs::symlink(&secret, work.join(".git")).expect("links");
        assert_eq!(git_places(&work), NOWHERE);
    }
}
