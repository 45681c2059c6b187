//! The demo's little repository.

use std::{
    fmt, fs, io,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// Why there is no repository.
#[derive(Debug)]
pub enum ProjectError {
    /// A file could not be written.
    Write(PathBuf, io::Error),
    /// git could not be started or refused.
    Git(String),
}

impl fmt::Display for ProjectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Write(path, error) => write!(f, "writing {} failed: {error}", path.display()),
            Self::Git(what) => write!(f, "git failed: {what}"),
        }
    }
}

impl std::error::Error for ProjectError {}

/// Makes the repository that belongs to `seed` in `folder`, with one commit.
///
/// # Errors
/// [`ProjectError`] when a file or git refuses.
pub fn make(folder: &Path, seed: u64) -> Result<(), ProjectError> {
    for (path, mode, content) in fixtures::demo::repository(seed) {
        let path = folder.join(path);
        let failed = |error| ProjectError::Write(path.clone(), error);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(failed)?;
        }
        fs::write(&path, content).map_err(failed)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).map_err(failed)?;
    }
    git(folder, &["init", "--quiet", "--initial-branch=main"])?;
    git(folder, &["add", "--all"])?;
    git(folder, &["commit", "--quiet", "--message=before the demo"])
}

/// git with nothing of the person's own configuration.
fn git(folder: &Path, arguments: &[&str]) -> Result<(), ProjectError> {
    let ran = Command::new("git")
        .args(["-c", "user.name=demo", "-c", "user.email=demo@localhost"])
        .args([
            "-c",
            "core.hooksPath=/dev/null",
            "-c",
            "commit.gpgSign=false",
        ])
        .args(arguments)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| ProjectError::Git(error.to_string()))?;
    if ran.status.success() {
        Ok(())
    } else {
        Err(ProjectError::Git(
            String::from_utf8_lossy(&ran.stderr).trim().to_owned(),
        ))
    }
}
