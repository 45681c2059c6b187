//! Browsers, tabs and pages that are not as needed: each has its code, its
//! exit, two sentences, and nothing is typed anywhere.

#![allow(clippy::unwrap_used, reason = "these are tests")]

mod cli_support;

use std::{
    fs,
    io::{Read, Write},
    net::TcpListener,
    path::{Path, PathBuf},
};

use cli_support::{
    scene::{Scene, until},
    terminate,
};
use serde_json::{Value, json};

/// A run that is expected to fail before anything is typed.
fn fails(scene: &Scene, args: &[&str], exit: i32, code: &str) -> String {
    let (ended, events, stderr) = scene.ends(scene.run(args));
    let end = events.last().cloned().unwrap_or_default();
    assert_eq!(ended, Some(exit), "{args:?}: {end} {stderr}");
    assert_eq!(end["event"], "finished", "{args:?}: {end}");
    assert_eq!(
        (&end["code"], &end["exit"]),
        (&json!(code), &json!(exit)),
        "{args:?}: {end}"
    );
    assert_eq!(end["messages_sent"], 0, "{args:?}");
    assert!(!scene.standin.log.exists() || scene.standin.user_turns().is_empty());
    scene.nothing_is_left();
    stderr
}

#[test]
fn an_endpoint_that_is_no_browser_and_a_program_that_is_none() {
    let scene = Scene::new("ack-then-done", "classic");
    let closed = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    fails(
        &scene,
        &["--attach", &format!("http://{closed}")],
        10,
        "E_NO_BROWSER",
    );
    let page = scene.standin.url.clone();
    fails(&scene, &["--attach", &page], 10, "E_NO_BROWSER");
    fails(&scene, &["--browser", "/bin/true"], 10, "E_NO_BROWSER");
    let nowhere = scene.dir.path().join("nowhere").display().to_string();
    fails(&scene, &["--attach", &nowhere], 10, "E_NO_BROWSER");
}

#[test]
fn a_page_where_nobody_is_logged_in_asks_for_a_person() {
    let scene = Scene::with_scenario(
        "name = \"out\"\nabout = \"Nobody is logged in.\"\n[[fault]]\nstep = \"load\"\nfault = \"logged-out\"\n",
    );
    let (ended, events, stderr) = scene.ends(scene.run(&[]));
    let end = events.last().unwrap();
    assert_eq!(ended, Some(6), "{end} {stderr}");
    assert_eq!(
        (&end["outcome"], &end["code"]),
        (&json!("stopped"), &json!("E_BLOCKER"))
    );
    assert!(!scene.standin.log.exists() || scene.standin.user_turns().is_empty());
}

/// A page of no layout that is known, served to whoever asks.
fn plain_page() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 4096]);
            let body = "<!doctype html><title>x</title><textarea></textarea>";
            let _ = write!(
                stream,
                "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
                body.len()
            );
        }
    });
    url
}

#[test]
fn a_page_of_no_known_layout_is_not_typed_into() {
    let mut scene = Scene::new("ack-then-done", "classic");
    scene.standin.url = plain_page();
    fails(&scene, &["--hydrate-s", "3"], 10, "E_LAYOUT");
}

/// Where a browser that was started listens, once it does.
fn endpoint(profile: &Path) -> String {
    let file = profile.join("DevToolsActivePort");
    until(|| fs::read_to_string(&file).is_ok_and(|text| text.lines().count() >= 2));
    let text = fs::read_to_string(file).unwrap();
    format!("http://127.0.0.1:{}", text.lines().next().unwrap())
}

fn sole_session(state: &Path) -> Option<PathBuf> {
    let mut folders = fs::read_dir(state)
        .ok()?
        .flatten()
        .map(|entry| entry.path());
    folders.find(|path| path.join("journal.sqlite3").exists())
}

/// The sessions of a state folder other than that one are never looked at: the
/// relays share the browser alone.
//= spec L1 type=test
#[test]
fn a_second_relay_on_the_same_tab_or_conversation_is_refused_by_name() {
    let scene = Scene::new("echo-receipt", "classic");
    let agent = [
        "--agent",
        "command",
        "--agent-cmd",
        "touch begun; exec sleep 600",
    ];
    let first = scene.run(&agent).spawn().unwrap();
    until(|| scene.dir.path().join("work/begun").exists());
    let state = scene.dir.path().join("state");
    let sid = sole_session(&state).unwrap();
    let sid = sid.file_name().unwrap().to_str().unwrap().to_owned();
    let held = scene.status();
    assert_eq!(
        (&held["running"], &held["sid"]),
        (&json!(true), &json!(sid))
    );
    let talk = format!(
        "{}c/{}",
        scene.standin.url,
        held["conversation"].as_str().unwrap()
    );
    let other = scene.dir.path().join("other");
    fs::create_dir(&other).unwrap();
    let attach = endpoint(&state.join("profile"));
    let journal = fs::read_to_string(state.join(&sid).join("journal.head")).unwrap();
    for (state, more) in [
        (&state, &["--chat", &talk][..]),
        (&scene.dir.path().join("elsewhere"), &["--chat", &talk]),
    ] {
        let mut second = scene.brb(&[
            "run",
            "something else",
            "--attach",
            &attach,
            "--json",
            "--approve",
            "all",
            "--no-undo",
            "--cwd",
            other.to_str().unwrap(),
        ]);
        second.args(more).env("BRB_STATE_DIR", state);
        let (exit, events, stderr) = scene.ends(second);
        let end = events.last().unwrap();
        assert_eq!(exit, Some(8), "{more:?}: {end} {stderr}");
        assert_eq!(
            (&end["outcome"], &end["code"], &end["messages_sent"]),
            (&json!("locked"), &json!("E_LOCKED"), &json!(0))
        );
        let named = format!("process {} with session {sid}", first.id());
        assert!(stderr.contains(&named), "{more:?}: {stderr}");
    }
    let now = fs::read_to_string(state.join(&sid).join("journal.head")).unwrap();
    assert_eq!(now, journal, "the first relay was disturbed");
    terminate(&first);
    let first = first.wait_with_output().unwrap();
    assert_eq!(first.status.code(), Some(4));
    let told = String::from_utf8(first.stdout).unwrap();
    let plans = told
        .lines()
        .filter(|line| serde_json::from_str::<Value>(line).unwrap()["event"] == "plan");
    assert_eq!(plans.count(), 1);
    assert_eq!(scene.standin.user_turns().len(), 2);
    scene.nothing_is_left();
}

#[test]
fn a_stop_file_ends_the_run_like_a_signal() {
    let scene = Scene::new("echo-receipt", "keyed");
    let stop = scene.dir.path().join("stop");
    fs::write(&stop, "").unwrap();
    let (exit, events, stderr) = scene.ends(scene.run(&["--stop-file", stop.to_str().unwrap()]));
    let end = events.last().unwrap();
    assert_eq!(exit, Some(130), "{end} {stderr}");
    assert_eq!(
        (&end["outcome"], &end["interrupted"]),
        (&json!("interrupted"), &json!(true))
    );
    assert_eq!(scene.status()["standing"]["state"], "open");
    scene.nothing_is_left();
}
