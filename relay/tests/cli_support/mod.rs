//! `brb` as a process, with folders of its own.

#![allow(dead_code, reason = "each test file uses a part of it")]
#![allow(clippy::unwrap_used, reason = "these are tests")]

pub mod journals;
pub mod scene;

use std::{
    io::Write,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

/// A call of `brb`.
pub struct Brb {
    command: Command,
    home: tempfile::TempDir,
    stdin: Vec<u8>,
}

/// How it ended.
pub struct Ended {
    pub exit: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    home: tempfile::TempDir,
}

impl Brb {
    pub fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_brb"));
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", home.path())
            .env("BRB_STATE_DIR", home.path().join("state"))
            .env("LANG", "C.UTF-8")
            .current_dir(home.path());
        Self {
            command,
            home,
            stdin: Vec::new(),
        }
    }

    pub fn state(&self) -> PathBuf {
        self.home.path().join("state")
    }

    pub fn args(mut self, args: &[&str]) -> Self {
        self.command.args(args);
        self
    }

    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    pub fn stdin(mut self, bytes: &[u8]) -> Self {
        self.stdin = bytes.to_vec();
        self
    }

    pub fn end(mut self) -> Ended {
        let mut child = self
            .command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // A process that reads none of it has ended before.
        let _ = child.stdin.take().unwrap().write_all(&self.stdin);
        let output = child.wait_with_output().unwrap();
        Ended {
            exit: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
            home: self.home,
        }
    }
}

impl Ended {
    pub fn is_failure(&self, exit: i32, code: &str, name: &str) {
        assert_eq!(self.exit, Some(exit), "{name}: {}", self.stderr);
        let lines: Vec<&str> = self.stderr.lines().collect();
        let [what, help] = lines.as_slice() else {
            panic!("{name}: wants two lines, has {:?}", self.stderr);
        };
        assert!(
            what.starts_with(&format!("error[{code}]: ")),
            "{name}: {what}"
        );
        assert!(
            help.starts_with("  help: ") && help.len() > 20,
            "{name}: {help}"
        );
    }

    pub fn state_is_untouched(&self) -> bool {
        !self.home.path().join("state").exists()
    }

    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// The text with the folders of this very run left out.
    pub fn without_paths(&self, text: &str) -> String {
        text.replace(&self.home.path().display().to_string(), "HOME")
    }
}

/// Compares a text with the snapshot of that name.
pub fn snapshot(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(concat!(env!("CARGO_MANIFEST_DIR"), "/../snapshots/relay"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

/// The processes of this machine that carry `name=value` in their environment.
pub fn is_running_with(name: &str, value: &str) -> Vec<String> {
    let wanted = format!("{name}={value}");
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes
        .filter(|entry| {
            let environ = std::fs::read(entry.path().join("environ")).unwrap_or_default();
            environ
                .split(|b| *b == 0)
                .any(|line| line == wanted.as_bytes())
        })
        .map(|entry| {
            let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
            let line = String::from_utf8_lossy(&line).replace('\0', " ");
            format!("{}: {line}", entry.file_name().display())
        })
        .collect()
}

/// Asks a process to end.
pub fn terminate(child: &Child) {
    use nix::{
        sys::signal::{Signal, kill},
        unistd::Pid,
    };
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap());
    kill(pid, Signal::SIGTERM).unwrap();
}
