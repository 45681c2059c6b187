//! The preloaded disk that fails (`fixtures/diskfault`).

#![allow(clippy::unwrap_used, reason = "these are tests")]

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

/// When and how the disk of one process fails.
pub struct DiskFault {
    env: Vec<(&'static str, String)>,
}

impl DiskFault {
    /// At the `at`th call below `dir`; what happened goes to `log`.
    pub fn new(dir: &Path, as_what: &str, at: u64, log: &Path) -> Self {
        let env = vec![
            ("LD_PRELOAD", library().display().to_string()),
            ("DISKFAULT_DIR", dir.display().to_string()),
            ("DISKFAULT_AT", at.to_string()),
            ("DISKFAULT_AS", as_what.to_owned()),
            ("DISKFAULT_LOG", log.display().to_string()),
        ];
        Self { env }
    }

    /// Only files whose name begins so.
    #[allow(dead_code, reason = "one test file uses it")]
    pub fn only(mut self, name: &str) -> Self {
        self.env.push(("DISKFAULT_NAME", name.to_owned()));
        self
    }

    /// Puts it between this process and the system.
    pub fn preload(self, command: &mut Command) {
        command.envs(self.env);
    }
}

/// The call at which the disk failed, and on what; none where it did not.
pub fn failed_at(log: &Path) -> Option<String> {
    let log = fs::read_to_string(log).unwrap();
    let line = log.lines().find(|line| !line.starts_with("count"));
    line.map(str::to_owned)
}

/// The library, built once a process.
fn library() -> &'static Path {
    static BUILT: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    let (_, path) = BUILT.get_or_init(|| {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("diskfault.so");
        let build = concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/diskfault/build");
        assert!(Command::new(build).arg(&path).status().unwrap().success());
        (dir, path)
    });
    path
}
