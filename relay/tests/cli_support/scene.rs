//! A stand-in page, a work folder and a state folder for `brb run`.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use serde_json::Value;

use super::is_running_with;

/// A stand-in page in a process of its own, ended with this.
pub struct Standin {
    child: Child,
    pub url: String,
    pub log: PathBuf,
}

impl Standin {
    pub fn start(folder: &Path, scenario: &str, layout: &str) -> Self {
        let log = folder.join("turns.jsonl");
        let mut child = Command::new(env!("CARGO_BIN_EXE_brb"))
            .args([
                "standin",
                "--scenario",
                scenario,
                "--layout",
                layout,
                "--log",
            ])
            .arg(&log)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        out.read_line(&mut line).unwrap();
        let said: Value = serde_json::from_str(&line).unwrap();
        let url = said["url"].as_str().unwrap().to_owned();
        Self { child, url, log }
    }

    pub fn user_turns(&self) -> Vec<String> {
        let log = fs::read_to_string(&self.log).unwrap();
        log.lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap())
            .filter(|turn| turn["role"] == "user")
            .map(|turn| turn["text"].as_str().unwrap().to_owned())
            .collect()
    }
}

impl Drop for Standin {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A work folder under git, a state folder, a stand-in.
pub struct Scene {
    pub dir: tempfile::TempDir,
    pub standin: Standin,
    mark: String,
}

impl Scene {
    pub fn new(scenario: &str, layout: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let work = dir.path().join("work");
        fs::create_dir(&work).unwrap();
        for args in [
            &["init", "-q"][..],
            &["commit", "-q", "--allow-empty", "-m", "one"],
        ] {
            let done = Command::new("git")
                .args(["-c", "user.name=t", "-c", "user.email=t@example.org"])
                .args(args)
                .current_dir(&work)
                .status();
            assert!(done.unwrap().success());
        }
        let standin = Standin::start(dir.path(), scenario, layout);
        let mark = format!("mark-{}", dir.path().file_name().unwrap().display());
        Self { dir, standin, mark }
    }

    /// One whose remote plays a scenario that is written here.
    pub fn with_scenario(text: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("scenario.toml");
        fs::write(&file, text).unwrap();
        Self::new(file.to_str().unwrap(), "classic")
    }

    pub fn brb(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_brb"));
        command
            .args(args)
            .env("BRB_STATE_DIR", self.dir.path().join("state"))
            .env("BRB_TEST_MARK", &self.mark)
            .current_dir(self.dir.path().join("work"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// A run that asks nobody.
    pub fn run(&self, more: &[&str]) -> Command {
        let chat = [
            "run",
            "do it",
            "--chat",
            &self.standin.url,
            "--approve",
            "workspace",
            "--json",
        ];
        self.brb(&[&chat[..], more].concat())
    }

    pub fn ends(&self, mut command: Command) -> (Option<i32>, Vec<Value>, String) {
        let output = command.output().unwrap();
        let events = String::from_utf8(output.stdout).unwrap();
        let events = events
            .lines()
            .map(|line| serde_json::from_str(line).unwrap());
        let stderr = String::from_utf8(output.stderr).unwrap();
        (output.status.code(), events.collect(), stderr)
    }

    pub fn status(&self) -> Value {
        let (exit, said, stderr) = self.ends(self.brb(&["status", "--json"]));
        assert_eq!(exit, Some(0), "{stderr}");
        said[0].clone()
    }

    /// The browser's own helpers end a moment after it.
    pub fn nothing_is_left(&self) {
        until(|| is_running_with("BRB_TEST_MARK", &self.mark).is_empty());
    }
}

/// Waits for what another process does; only a broken test waits it out.
pub fn until(holds: impl Fn() -> bool) {
    for _ in 0..600 {
        if holds() {
            return;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    panic!("it did not come about within a minute");
}
