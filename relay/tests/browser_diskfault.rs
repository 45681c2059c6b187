//! A whole run whose disk fails on the way: it stops with R15, says so, and nothing
//! was done that no record permits.

#![allow(clippy::unwrap_used, reason = "these are tests")]

mod cli_support;
mod diskfault_support;

use std::fs;

use cli_support::scene::Scene;
use diskfault_support::{DiskFault, failed_at};
use serde_json::{Value, json};

/// How often the plan's program ran, by the file that it appends to.
const AGENT: &str = "cat >/dev/null; echo ran >> ran; echo done";

//= spec J1 type=test
#[test]
fn a_record_that_cannot_be_stored_ends_the_run_with_r15_and_nothing_was_done_without_one() {
    let (mut failed, mut ended) = (0, false);
    for (nth, at) in [50, 90, 130, 170, 2_000].into_iter().enumerate() {
        let layout = ["classic", "keyed"][nth % 2];
        let as_what = ["dead", "full"][nth / 2 % 2];
        let scene = Scene::new("echo-receipt", layout);
        let state = scene.dir.path().join("state");
        fs::create_dir(&state).unwrap();
        let log = scene.dir.path().join("log");
        let mut run = scene.run(&["--agent", "command", "--agent-cmd", AGENT]);
        let fault = DiskFault::new(&state, as_what, at, &log);
        fault.only("journal.").preload(&mut run);
        let (exit, events, stderr) = scene.ends(run);
        let end = events.last().unwrap();
        let name = format!("{layout}, {as_what} at {at}: {end} {stderr}");
        if failed_at(&log).is_none() {
            assert_eq!(exit, Some(0), "{name}");
            ended = true;
            continue;
        }
        failed += 1;
        if exit == Some(0) {
            // It met the giving back of a journal in which all was stored.
            assert_eq!(
                scene.status()["standing"],
                json!({"state": "done"}),
                "{name}"
            );
            continue;
        }
        assert_eq!(
            (&end["code"], &end["row"]),
            (&json!("E_JOURNAL"), &json!("R15")),
            "{name}"
        );
        // A message on its way is the worse truth.
        assert!(matches!(exit, Some(10 | 5 | 4)), "{name}");
        assert!(stderr.contains("not stored"), "{name}");
        let (exit, said, stderr) = scene.ends(scene.brb(&["journal", "show", "--json"]));
        assert_eq!(exit, Some(0), "{name}: {stderr}");
        let records = said[0]["records"].as_array().unwrap();
        let stored = |kind: &str| {
            let is = |record: &&Value| record["record"]["kind"] == kind;
            records.iter().filter(is).count()
        };
        let turns = if scene.standin.log.exists() {
            scene.standin.user_turns()
        } else {
            Vec::new()
        };
        assert!(turns.len() <= stored("dispatching"), "{name}: {turns:?}");
        let ran = fs::read_to_string(scene.dir.path().join("work/ran")).unwrap_or_default();
        assert!(ran.lines().count() <= stored("started"), "{name}");
        scene.nothing_is_left();
    }
    assert!(failed >= 3 && ended, "{failed} runs met the failure");
}
