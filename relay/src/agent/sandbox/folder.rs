//! Which work folders are refused, and where their git stands.

use std::fs;
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

/// What of git belongs to the work folder: its `.git`, and where that is a file, what it names.
pub(super) fn git_places(cwd: &Path) -> Vec<PathBuf> {
    let dot_git = cwd.join(".git");
    let mut places = Vec::new();
    let Ok(meta) = fs::metadata(&dot_git) else {
        return places;
    };
    if meta.is_file() {
        let named = fs::read_to_string(&dot_git).unwrap_or_default();
        if let Some(dir) = named.strip_prefix("gitdir:").map(|d| cwd.join(d.trim())) {
            let common = fs::read_to_string(dir.join("commondir")).unwrap_or_default();
            let common = if common.is_empty() {
                None
            } else {
                Some(dir.join(common.trim()))
            };
            places.extend(
                [Some(dir), common]
                    .into_iter()
                    .flatten()
                    .flat_map(fs::canonicalize),
            );
        }
    }
    places.push(dot_git);
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
}
