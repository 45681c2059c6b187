//! A work folder in which another relay's plan is at work: refused before anything is sent,
//! whatever state folder that relay has.

#![allow(clippy::unwrap_used, reason = "these are tests")]

mod cli_support;

use cli_support::Brb;
use relay::agent::lock::{Holder, Taken, take};

const SID: &str = "0011223344556677";

//= spec K6 type=test
#[test]
fn a_folder_held_under_another_state_folder_is_refused_with_its_holder() {
    let work = tempfile::tempdir().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let folder = std::fs::canonicalize(work.path()).unwrap();
    let me = Holder {
        pid: i32::try_from(std::process::id()).unwrap(),
        sid: SID.to_owned(),
        round: 3,
    };
    let Taken::Ours(lock) = take(elsewhere.path(), &folder, &me).unwrap() else {
        panic!("nobody else knows of this folder");
    };
    let cwd = folder.to_str().unwrap();
    // No browser listens there: whoever comes so far fails otherwise.
    let args = [
        "run",
        "x",
        "--approve",
        "all",
        "--sandbox",
        "off",
        "--no-undo",
        "--cwd",
        cwd,
        "--attach",
        "http://127.0.0.1:9",
        "--attach-s",
        "1",
    ];
    let ended = Brb::new().args(&args).end();
    ended.is_failure(8, "E_LOCKED", "held");
    let first = format!("process {} (session {SID}, round 3)", me.pid);
    assert!(ended.stderr.contains(&first), "{}", ended.stderr);
    drop(lock);
    let ended = Brb::new().args(&args).end();
    assert_eq!(ended.exit, Some(10), "{}", ended.stderr);
}
