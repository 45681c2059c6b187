//! `brb resume` for real: sessions left at rows that stop, decided about and gone on with, in a
//! real browser, by real processes; the stand-in's own log is judged afterwards.

#![allow(clippy::unwrap_used, reason = "these are tests")]

mod cli_support;

use std::process::Command;

use cli_support::scene::Scene;
use protocol::record::fold;
use relay::{
    agent::{self, Ended, ExitRecord, record::CommandEnd},
    journal::{Access, SqliteJournal},
};
use serde_json::Value;

/// Runs, then kills its way up to the wrapper: only processes that this very run started.
const KILLS_ITS_WRAPPER: &str = r#"echo x >> ran
up=$PPID
for _ in 1 2 3 4; do
  case "$(tr '\0' ' ' < /proc/$up/cmdline)" in *__agent*) kill -9 $up; break ;; esac
  up=$(awk '{print $4}' /proc/$up/stat)
done"#;

/// A plan that answers a ROUND, at most `times` often.
fn plan(decision: &str, times: &str, command: &str) -> String {
    format!(
        "[[reply]]\non = \"round\"\n{times}\ntext = '''\n```text\n# PLAN pi-bridge/1\nFRAME: {{frame}}\nDECISION: {decision}\nTASK: a-step\n\n## GOAL\nOne step.\n\n## STEPS\n1. Take it.\n\n## FILES\n- 无\n\n## COMMANDS\n- {command}\n\n## RISKS\n- 无\n\n## VERIFY\n- 无\n```\n'''\n"
    )
}

fn scene(body: &str) -> Scene {
    Scene::with_scenario(&format!(
        "name = \"resumed\"\nabout = \"A stop, then done.\"\n{body}"
    ))
}

fn sid(scene: &Scene) -> String {
    scene.status()["sid"].as_str().unwrap().to_owned()
}

fn records(scene: &Scene) -> u64 {
    scene.status()["records"].as_u64().unwrap()
}

/// A call of `brb resume` that gives one object, and its exit.
fn resume(scene: &Scene, more: &[&str]) -> (Option<i32>, Value, String) {
    let sid = sid(scene);
    let args = [&["resume", sid.as_str(), "--json"], more].concat();
    let (exit, mut said, stderr) = scene.ends(scene.brb(&args));
    let first = if said.is_empty() {
        Value::Null
    } else {
        said.remove(0)
    };
    (exit, first, stderr)
}

fn words(said: &Value) -> Vec<&str> {
    let choices = said["report"]["choices"].as_array().unwrap();
    choices
        .iter()
        .map(|it| it["choice"].as_str().unwrap())
        .collect()
}

/// How many messages of that head the server took.
fn taken(scene: &Scene, head: &str) -> usize {
    let turns = scene.standin.user_turns();
    turns.iter().filter(|turn| turn.starts_with(head)).count()
}

/// The log that the relay does not write says that nothing was sent twice.
fn judged(scene: &Scene) {
    let judge = concat!(env!("CARGO_MANIFEST_DIR"), "/../scripts/judge");
    let said = Command::new(judge)
        .arg(&scene.standin.log)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(said.status.success(), "{text}");
}

fn stopped(scene: &Scene, more: &[&str], exit: i32) {
    let (ended, events, stderr) = scene.ends(scene.run(more));
    assert_eq!(ended, Some(exit), "{stderr} {events:?}");
    assert!(stderr.contains("brb resume"), "{stderr}");
    let report = scene
        .dir
        .path()
        .join("state")
        .join(sid(scene))
        .join("report.txt");
    let report = std::fs::read_to_string(report).unwrap();
    assert!(report.contains("A person may decide"), "{report}");
    assert!(
        !report.contains("do it"),
        "no text of the request: {report}"
    );
}

//= spec M1 type=test
//= spec M2 type=test
//= spec M3 type=test
#[test]
fn a_blocked_round_is_lifted_and_resumed_in_the_same_conversation() {
    let body = plan("blocked", "times = 1", "无") + &plan("done", "", "无");
    let scene = scene(&body);
    stopped(&scene, &[], 3);
    let (before, messages) = (records(&scene), scene.standin.user_turns());
    let (exit, said, stderr) = resume(&scene, &[]);
    assert_eq!(exit, Some(3), "{stderr}");
    assert_eq!(
        (&said["page"]["complete"], &said["page"]["chain"]),
        (&true.into(), &"agrees".into())
    );
    assert_eq!(said["page"]["seen"]["turns"], 4);
    assert_eq!(words(&said), ["lift", "resync", "abandon"]);
    assert_eq!(records(&scene), before, "a look stores nothing");
    assert_eq!(scene.standin.user_turns(), messages, "and sends nothing");
    let more = ["--choose", "lift", "--why", "the account is open", "--go"];
    let (exit, said, stderr) = resume(&scene, &more);
    assert_eq!(exit, Some(0), "{stderr}");
    assert_eq!(said["stored"], true);
    assert_eq!(taken(&scene, "# RESUME"), 1);
    assert_eq!(scene.status()["standing"]["state"], "done");
    judged(&scene);
    scene.nothing_is_left();
}

//= spec R10 type=test
//= spec M4 type=test
#[test]
fn a_conversation_that_somebody_else_wrote_in_is_named_and_contradicts() {
    let fault = "[[fault]]\nstep = \"hello.settled\"\nfault = \"foreign-user-turn\"\nms = 1\ntext = \"hands off\"\n";
    let scene = scene(&(plan("done", "", "无") + fault));
    stopped(&scene, &[], 4);
    let (exit, said, stderr) = resume(&scene, &["--choose", "resync"]);
    assert_eq!(exit, Some(2), "{stderr} {said}");
    let (exit, said, stderr) = resume(&scene, &[]);
    assert_eq!(exit, Some(4), "{stderr}");
    assert_eq!(
        (&said["report"]["row"]["id"], &said["page"]["chain"]),
        (&"R10".into(), &"conflicts".into())
    );
    assert_eq!(words(&said), ["lift", "abandon"]);
    // To lift it does not make it go away: the same row, and nothing is sent.
    let (exit, ..) = resume(&scene, &["--choose", "lift", "--go"]);
    assert_eq!(exit, Some(4));
    assert_eq!(
        (taken(&scene, "# RESUME"), taken(&scene, "# ROUND")),
        (0, 0)
    );
    judged(&scene);
    scene.nothing_is_left();
}

/// The record of an execution that was cut, in its place; gives the job's folder.
fn left_by_the_wrapper(scene: &Scene) -> std::path::PathBuf {
    let state = scene.dir.path().join("state");
    let sid = sid(scene);
    let found = SqliteJournal::open(&state.join(&sid), Access::Read).unwrap();
    let plan = fold(&found.entries).unwrap().plan.unwrap().accepted;
    let job = agent::job_dir(&state, &sid, plan.round.0, plan.key.as_str());
    let record = ExitRecord {
        version: agent::record::RECORD_VERSION,
        sid,
        round: plan.round.0,
        plan_key: plan.key.to_string(),
        ended: Ended::Killed { why: "cut".into() },
        commands: vec![CommandEnd::Cut],
        receipt: "cut".into(),
        leftovers: 0,
        ran_ms: 1,
    };
    record.store(&job).unwrap();
    job
}

//= spec R11 type=test
//= spec K5 type=test
//= spec M4 type=test
#[test]
fn a_plan_in_doubt_is_said_not_to_have_run_and_never_runs_again() {
    let body = plan("continue", "times = 1", "touch ran") + &plan("done", "", "无");
    let scene = scene(&body);
    // The agent takes its own wrapper away, so that nobody records its end.
    let run = [
        "run",
        "do it",
        "--chat",
        &scene.standin.url,
        "--approve",
        "all",
        "--sandbox",
        "off",
        "--agent",
        "command",
        "--agent-cmd",
        KILLS_ITS_WRAPPER,
        "--json",
    ];
    let (exit, events, stderr) = scene.ends(scene.brb(&run));
    assert_eq!(exit, Some(4), "{stderr} {events:?}");
    let (_, said, stderr) = resume(&scene, &[]);
    assert_eq!(said["report"]["row"]["id"], "R11", "{stderr}");
    assert_eq!(&words(&said)[..2], ["ran", "did-not-run"], "{said}");
    let (exit, said, stderr) = resume(&scene, &["--choose", "lift"]);
    assert_eq!(exit, Some(2), "{said}");
    assert!(stderr.contains("has to be said first"), "{stderr}");
    // Had its wrapper recorded that a command ran, nobody could say otherwise.
    let job = left_by_the_wrapper(&scene);
    let (exit, said, stderr) = resume(&scene, &["--choose", "did-not-run"]);
    assert_eq!(exit, Some(2), "{said}");
    assert!(stderr.contains("recorded that it began"), "{stderr}");
    std::fs::remove_file(job.join("exit.json")).unwrap();
    let (exit, _, stderr) = resume(&scene, &["--choose", "did-not-run", "--go"]);
    assert_eq!(exit, Some(0), "{stderr}");
    let ran = std::fs::read_to_string(scene.dir.path().join("work/ran")).unwrap();
    assert_eq!((ran.lines().count(), taken(&scene, "# RESUME")), (1, 1));
    judged(&scene);
    scene.nothing_is_left();
}

//= spec R12 type=test
#[test]
fn a_challenge_that_a_person_settled_is_lifted_and_the_session_runs() {
    let fault = "[[fault]]\nstep = \"load\"\nfault = \"challenge\"\n";
    let scene = scene(&(plan("done", "", "无") + fault));
    stopped(&scene, &[], 6);
    let (exit, said, stderr) = resume(&scene, &["--choose", "lift", "--why", "solved", "--go"]);
    assert_eq!(exit, Some(0), "{stderr} {said}");
    assert_eq!(said["report"]["row"]["id"], "R12");
    judged(&scene);
    scene.nothing_is_left();
}

//= spec R13 type=test
#[test]
fn a_handshake_refused_to_the_end_leaves_only_what_the_table_leaves() {
    let scene = Scene::new("handshake-refused", "keyed");
    stopped(&scene, &[], 4);
    let (exit, said, stderr) = resume(&scene, &[]);
    assert_eq!(exit, Some(4), "{stderr}");
    assert_eq!(said["report"]["row"]["id"], "R13");
    assert_eq!(
        words(&said),
        ["lift", "resync", "abandon"],
        "{}",
        said["page"]
    );
    let (exit, said, _) = resume(&scene, &["--choose", "abandon", "--why", "enough"]);
    assert_eq!((exit, &said["next"]), (Some(0), &Value::Null));
    let (exit, said, _) = resume(&scene, &["--choose", "lift"]);
    assert_ne!(said["stored"], true, "{exit:?}");
    judged(&scene);
    scene.nothing_is_left();
}

//= spec R0 type=test
//= spec RP8 type=test
#[test]
fn after_a_truncated_reply_a_person_may_have_the_contract_declared_anew() {
    let fault =
        "[[fault]]\nstep = \"round-1.streaming\"\nfault = \"continue-generating\"\nat = 50\n";
    let scene = scene(&(plan("done", "", "无") + fault));
    stopped(&scene, &[], 4);
    let (exit, said, stderr) = resume(&scene, &["--choose", "resync", "--why", "cut", "--go"]);
    assert_eq!(exit, Some(0), "{stderr} {said}");
    assert_eq!(said["report"]["row"]["id"], "R0");
    assert_eq!(
        (taken(&scene, "# RESYNC"), taken(&scene, "# RESUME")),
        (1, 1)
    );
    judged(&scene);
    scene.nothing_is_left();
}

//= spec P7 type=test
#[test]
fn a_violation_is_lifted_and_the_round_is_taken_up_from_the_checkpoint() {
    let wrong = "[[reply]]\non = \"round\"\ntimes = 1\ntext = \"no plan at all\"\n[[reply]]\non = \"repair\"\ntext = \"none either\"\n";
    let scene = scene(&(wrong.to_owned() + &plan("done", "", "无")));
    stopped(&scene, &[], 9);
    let (exit, said, stderr) = resume(&scene, &["--choose", "lift", "--why", "told it", "--go"]);
    assert_eq!(exit, Some(0), "{stderr} {said}");
    assert_eq!(
        (taken(&scene, "# REPAIR"), taken(&scene, "# RESUME")),
        (2, 1)
    );
    judged(&scene);
    scene.nothing_is_left();
}
