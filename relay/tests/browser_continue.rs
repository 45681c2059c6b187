//! `brb run --continue`: a run that was killed is gone on with, by real processes, in the
//! browser that it left behind.

#![allow(clippy::unwrap_used, reason = "these are tests")]

mod cli_support;

use std::{
    io::{BufRead, BufReader},
    process::{Child, Command},
};

use cli_support::scene::{Scene, until};
use protocol::record::Journal as _;
use relay::journal::{Access, SqliteJournal};
use serde_json::{Value, json};

/// Runs until an event of that name is told and `then` is over, and kills the run there.
fn killed_at(mut command: Command, event: &str, then: impl FnOnce()) {
    let mut child: Child = command.spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let told = lines
        .map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap())
        .find(|told| told["event"] == event);
    assert!(told.is_some(), "{event} is never told");
    then();
    child.kill().unwrap();
    child.wait().unwrap();
}

const AGENT: [&str; 4] = [
    "--agent",
    "command",
    "--agent-cmd",
    "echo x >> ran; until [ -e go ]; do sleep 0.1; done; echo the nonce is 4711",
];

//= spec K1 type=test
//= spec RP7 type=test
#[test]
fn a_run_killed_in_an_execution_adopts_it_and_goes_on_to_done() {
    let scene = Scene::new("echo-receipt", "keyed");
    // A plan is told as started before its wrapper is let go: it runs when it says so.
    let ran = scene.dir.path().join("work/ran");
    killed_at(scene.run(&AGENT), "executed", || until(|| ran.exists()));
    let status = scene.status();
    let sid = status["sid"].as_str().unwrap().to_owned();
    assert_eq!(status["continue"], format!("brb run --continue {sid}"));
    assert_eq!(status["standing"]["started"], true, "{status}");
    std::fs::write(scene.dir.path().join("work/go"), "").unwrap();
    // Without a word about the session: it is the one of this folder.
    let (exit, events, stderr) = scene.ends(scene.brb(&["run", "--continue", "--json"]));
    assert_eq!(exit, Some(0), "{stderr} {events:?}");
    assert_eq!(events[0]["resumed"], true);
    assert_eq!(events[0]["sid"], sid);
    let ran = std::fs::read_to_string(scene.dir.path().join("work/ran")).unwrap();
    let executions = events.iter().filter(|told| told["event"] == "checkpoint");
    assert_eq!(
        ran.lines().count(),
        executions.count(),
        "each plan ran once"
    );
    assert_eq!(scene.standin.user_turns().len(), 4);
    assert_eq!(scene.status()["standing"], json!({"state": "done"}));
    // Once more: it is over, and says so without touching anything.
    let (exit, events, _) = scene.ends(scene.brb(&["run", "--continue", &sid, "--json"]));
    assert_eq!(
        (exit, &events.last().unwrap()["outcome"]),
        (Some(0), &json!("done"))
    );
    scene.nothing_is_left();
}

//= spec L1 type=test
#[test]
fn a_run_whose_journal_is_taken_over_ends_by_itself_and_does_nothing_more() {
    let scene = Scene::new("echo-receipt", "keyed");
    let mut child = scene.run(&AGENT).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut told = lines.map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    let ran = scene.dir.path().join("work/ran");
    assert!(told.any(|told| told["event"] == "executed"));
    until(|| ran.exists());
    let before = scene.status();
    let folder = scene
        .dir
        .path()
        .join("state")
        .join(before["sid"].as_str().unwrap());
    // As by a relay that met no lock: its plan runs on and appends nothing meanwhile.
    let mut taken = SqliteJournal::open(&folder, Access::Write).unwrap();
    taken.journal.claim().unwrap();
    let end = told.last().unwrap();
    // A plan whose end nobody recorded is the worse truth.
    assert_eq!(
        (&end["outcome"], &end["code"]),
        (&json!("manual"), &json!("E_LOCKED"))
    );
    assert_eq!(child.wait().unwrap().code(), Some(4));
    assert_eq!(scene.status()["records"], before["records"]);
    drop(taken);
    scene.nothing_is_left();
}

//= spec L1 type=test
//= spec RP7 type=test
#[test]
fn what_was_opened_is_gone_on_with_and_nothing_else() {
    let scene = Scene::new("blocked", "classic");
    let (exit, ..) = scene.ends(scene.run(&[]));
    assert_eq!(exit, Some(3));
    let sid = scene.status()["sid"].as_str().unwrap().to_owned();
    let records = scene.status()["records"].clone();
    for otherwise in [
        &["--chat", "http://127.0.0.1:9/"][..],
        &["--rounds-max", "7"],
        &["--cwd", "/"],
        &["--title", "x"],
    ] {
        let given = [&["run", "--continue", &sid, "--json"], otherwise].concat();
        let (exit, events, stderr) = scene.ends(scene.brb(&given));
        assert_eq!(exit, Some(2), "{otherwise:?}: {events:?} {stderr}");
    }
    // A stop that a person must lift stands: the same exit, and no record.
    let (exit, events, stderr) = scene.ends(scene.brb(&["run", "--continue", "--json"]));
    let end = events.last().unwrap();
    assert_eq!((exit, &end["row"]), (Some(3), &json!("R14")), "{stderr}");
    assert_eq!(scene.status()["records"], records);
    assert_eq!(scene.standin.user_turns().len(), 2);
    let elsewhere = scene.dir.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let mut none = scene.brb(&["run", "--continue", "--json"]);
    none.current_dir(elsewhere);
    assert_eq!(scene.ends(none).0, Some(2), "no session of that folder");
    scene.nothing_is_left();
}
