//! `brb run` as a person or a program meets it: real processes, a real browser,
//! the stand-in page.

#![allow(clippy::unwrap_used, reason = "these are tests")]

mod cli_support;

use std::io::Read;

use cli_support::{
    scene::{Scene, until},
    terminate,
};
use serde_json::{Value, json};

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
    terminate(&child);
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
    for name in ["browser", "tab", "login", "composer", "self-test"] {
        assert_eq!(found(name)["state"], "ok", "{}", found(name));
    }
    let marks = report[0]["marks"].as_array().unwrap();
    let composer = |layout: &str| {
        let mut marks = marks.iter();
        let mark = marks.find(|mark| mark["layout"] == layout && mark["mark"] == "composer");
        mark.unwrap_or_else(|| panic!("no composer of {layout} in {marks:?}"))
    };
    assert_eq!(composer("keyed")["shown"], 1);
    assert_eq!(composer("keyed")["seen"], "2026-09-26");
    assert_eq!(composer("classic")["found"], 0);
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

/// In somebody's browser a tab is opened beside the others where none shows the
/// chat, and closed again.
#[test]
fn doctor_looks_into_a_running_browser_and_leaves_its_tabs_as_they_were() {
    let scene = Scene::new("ack-then-done", "classic");
    let profile = scene.dir.path().join("theirs");
    let mut browser = std::process::Command::new("chromium")
        .args([
            "--headless",
            "--no-sandbox",
            "--no-first-run",
            "about:blank",
        ])
        .arg("--remote-debugging-port=0")
        .arg(format!("--user-data-dir={}", profile.display()))
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let mut port = None;
    for _ in 0..600 {
        let text = std::fs::read_to_string(profile.join("DevToolsActivePort"));
        port = text
            .ok()
            .and_then(|text| text.lines().next()?.parse::<u16>().ok());
        if port.is_some() {
            break;
        }
        std::thread::park_timeout(std::time::Duration::from_millis(50));
    }
    let port = port.expect("the browser told no port");
    let tabs = || {
        let asked = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let listed: Vec<serde_json::Value> = asked.block_on(async {
            let url = format!("http://127.0.0.1:{port}/json/list");
            reqwest::get(url).await.unwrap().json().await.unwrap()
        });
        let tabs = listed.iter().filter(|tab| tab["type"] == "page");
        tabs.map(|tab| tab["url"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    // Its own tab comes up after its port.
    until(|| tabs() == ["about:blank"]);
    let attach = format!("http://127.0.0.1:{port}");
    let chat = scene.standin.url.clone();
    let (exit, report, stderr) =
        scene.ends(scene.brb(&["doctor", "--attach", &attach, "--chat", &chat, "--json"]));
    let after = tabs();
    browser.kill().unwrap();
    browser.wait().unwrap();
    assert_eq!(exit, Some(0), "{report:?} {stderr}");
    assert_eq!(after, ["about:blank"]);
    assert_eq!(report[0]["marks"].as_array().unwrap().len(), 46);
}
