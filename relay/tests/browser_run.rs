//! `brb run` as a person or a program meets it: real processes, a real browser,
//! the stand-in page.

#![allow(clippy::unwrap_used, reason = "these are tests")]

mod cli_support;

use std::{
    fs,
    io::{BufRead, BufReader, Read},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use cli_support::is_running_with;
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde_json::{Value, json};

/// A stand-in page in a process of its own, ended with this.
struct Standin {
    child: Child,
    url: String,
    log: PathBuf,
}

impl Standin {
    fn start(folder: &Path, scenario: &str, layout: &str) -> Self {
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

    fn user_turns(&self) -> Vec<String> {
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
struct Scene {
    dir: tempfile::TempDir,
    standin: Standin,
    mark: String,
}

impl Scene {
    fn new(scenario: &str, layout: &str) -> Self {
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

    fn brb(&self, args: &[&str]) -> Command {
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
    fn run(&self, more: &[&str]) -> Command {
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

    fn ends(&self, mut command: Command) -> (Option<i32>, Vec<Value>, String) {
        let output = command.output().unwrap();
        let events = String::from_utf8(output.stdout).unwrap();
        let events = events
            .lines()
            .map(|line| serde_json::from_str(line).unwrap());
        let stderr = String::from_utf8(output.stderr).unwrap();
        (output.status.code(), events.collect(), stderr)
    }

    fn status(&self) -> Value {
        let (exit, said, stderr) = self.ends(self.brb(&["status", "--json"]));
        assert_eq!(exit, Some(0), "{stderr}");
        said[0].clone()
    }

    /// The browser's own helpers end a moment after it.
    fn nothing_is_left(&self) {
        until(|| is_running_with("BRB_TEST_MARK", &self.mark).is_empty());
    }
}

fn names(events: &[Value]) -> Vec<&str> {
    events
        .iter()
        .map(|event| event["event"].as_str().unwrap())
        .collect()
}

fn last(events: &[Value]) -> &Value {
    events.last().expect("a run tells its end")
}

#[test]
fn a_run_with_a_program_of_ones_own_is_told_from_its_start_to_done() {
    let scene = Scene::new("echo-receipt", "classic");
    let agent = [
        "--agent",
        "command",
        "--agent-cmd",
        "cat >/dev/null; echo the nonce is 4711",
    ];
    let (exit, events, stderr) = scene.ends(scene.run(&agent));
    assert_eq!(exit, Some(0), "{stderr}");
    assert_eq!(stderr, "");
    let told = names(&events);
    assert_eq!(told[0], "started");
    for name in [
        "attached",
        "sent",
        "waiting",
        "reply",
        "plan",
        "executed",
        "checkpoint",
    ] {
        assert!(told.contains(&name), "{name} is missing in {told:?}");
    }
    let end = last(&events);
    let wanted = json!({
        "schema_version": 1, "event": "finished", "outcome": "done", "code": null, "exit": 0,
        "sid": events[0]["sid"], "rounds": 3, "messages_sent": 4, "repairs": 0,
        "recoveries": 0, "row": null, "interrupted": false,
    });
    assert_eq!(end, &wanted);
    let turns = scene.standin.user_turns();
    assert_eq!(turns.len(), 4);
    assert!(turns[2].contains("the nonce is 4711"), "{}", turns[2]);
    let status = scene.status();
    assert_eq!(status["standing"], json!({"state": "done"}));
    assert_eq!(
        (&status["running"], &status["rounds"]),
        (&json!(false), &json!(3))
    );
    scene.nothing_is_left();
}

#[test]
fn each_way_a_remote_ends_a_run_has_its_exit() {
    for (scenario, layout, exit, outcome, code) in [
        ("blocked", "keyed", 3, "blocked", Value::Null),
        ("violation", "classic", 9, "violation", json!("E_BLOCKS")),
        (
            "handshake-refused",
            "keyed",
            4,
            "manual",
            json!("E_ESTABLISH"),
        ),
    ] {
        let scene = Scene::new(scenario, layout);
        let (ended, events, stderr) = scene.ends(scene.run(&[]));
        let end = last(&events);
        assert_eq!(ended, Some(exit), "{scenario}: {end} {stderr}");
        assert_eq!(end["outcome"], outcome, "{scenario}");
        assert_eq!(end["exit"], exit, "{scenario}");
        if !code.is_null() {
            assert_eq!(end["code"], code, "{scenario}: {end}");
        }
        let status = scene.status();
        assert_eq!(
            status["standing"]["state"], "stopped",
            "{scenario}: {status}"
        );
        scene.nothing_is_left();
    }
}

#[test]
fn a_signal_ends_the_run_at_a_safe_point_and_leaves_nothing() {
    let scene = Scene::new("echo-receipt", "keyed");
    let agent = "touch begun; exec sleep 600";
    let child = scene
        .run(&["--agent", "command", "--agent-cmd", agent])
        .spawn()
        .unwrap();
    // The agent itself is at work, so that it has to be stopped as well.
    until(|| scene.dir.path().join("work/begun").exists());
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap());
    kill(pid, Signal::SIGTERM).unwrap();
    let output = child.wait_with_output().unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    let end: Value = serde_json::from_str(told.lines().last().unwrap()).unwrap();
    let ended = output.status;
    assert_eq!(
        ended.code().map(Value::from),
        Some(end["exit"].clone()),
        "{end}"
    );
    assert_eq!(end["interrupted"], true, "{end}");
    // An execution that was killed is in doubt, and that is the worse truth.
    assert_eq!(end["outcome"], "manual", "{end}");
    scene.nothing_is_left();
}

/// Waits for what another process does; only a broken test waits it out.
fn until(holds: impl Fn() -> bool) {
    for _ in 0..600 {
        if holds() {
            return;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    panic!("it did not come about within a minute");
}

#[test]
fn a_run_whose_output_nobody_reads_goes_on_to_its_end() {
    let scene = Scene::new("ack-then-done", "classic");
    let mut child = scene.run(&[]).spawn().unwrap();
    drop(child.stdout.take());
    let mut stderr = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut stderr)
        .unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0), "{stderr}");
    assert_eq!(scene.status()["standing"], json!({"state": "done"}));
}

#[test]
fn doctor_and_login_look_at_the_page_and_type_nothing() {
    let scene = Scene::new("ack-then-done", "keyed");
    let chat = scene.standin.url.clone();
    let (exit, report, stderr) =
        scene.ends(scene.brb(&["doctor", "--launch", "--chat", &chat, "--json"]));
    assert_eq!(exit, Some(0), "{report:?} {stderr}");
    let checks = report[0]["checks"].as_array().unwrap();
    let found = |name: &str| {
        let check = checks.iter().find(|check| check["name"] == name);
        check.unwrap_or_else(|| panic!("no {name} in {checks:?}"))
    };
    assert_eq!(found("layout")["found"], "keyed");
    for name in ["browser", "tab", "login", "composer"] {
        assert_eq!(found(name)["state"], "ok", "{}", found(name));
    }
    let login = scene
        .brb(&["login", "--headless", "--chat", &chat, "--wait-s", "60"])
        .output()
        .unwrap();
    assert_eq!(
        login.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&login.stderr)
    );
    assert!(login.stdout.starts_with(b"logged in"));
    assert!(!scene.standin.log.exists() || scene.standin.user_turns().is_empty());
    scene.nothing_is_left();
}
