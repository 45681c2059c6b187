//! `brb resume` where no page is to be had: what is offered, refused, stored, and how it exits.

#![allow(clippy::unwrap_used, reason = "these are tests")]

mod cli_support;

use cli_support::{
    Brb, Ended,
    journals::{SID, brb_with, killed, sid, stopped, with_session},
};
use protocol::{
    fault::Code,
    outcome::Outcome,
    record::{Record, Stop},
    recovery::RowId,
    send::{SendEvidence, SendState},
    time::WallMs,
};
use relay::journal::locks::{Holder, Lock};
use serde_json::Value;

/// Nothing listens there: no browser is touched.
const NOWHERE: &str = "http://127.0.0.1:9";

/// HELLO may have been sent; every read is spent.
fn unknown() -> Vec<Record> {
    let mut records = killed("/nowhere");
    records.push(Record::Outcome {
        send: protocol::id::SendId(1),
        state: SendState::Unknown,
        evidence: SendEvidence::Nothing,
    });
    records.push(Record::Stopped(Stop {
        outcome: Outcome::Unknown,
        code: Some(Code::Capture),
        row: Some(RowId::R13),
        why: "every re-read is spent".into(),
        standing: true,
        interrupted: false,
        facts: None,
    }));
    records
}

fn resumed(brb: Brb, more: &[&str]) -> Ended {
    brb.args(&[&["resume", SID, "--json", "--attach", NOWHERE], more].concat())
        .end()
}

fn value(ended: &Ended) -> Value {
    serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("{}", ended.stdout))
}

fn words(said: &Value) -> Vec<&str> {
    let choices = said["report"]["choices"].as_array().unwrap();
    choices
        .iter()
        .map(|one| one["choice"].as_str().unwrap())
        .collect()
}

//= spec M3 type=test
#[test]
fn without_a_terminal_and_without_a_word_nothing_is_chosen() {
    let ended = resumed(brb_with(&unknown()), &[]);
    assert_eq!(ended.exit, Some(5), "{}", ended.stderr);
    let said = value(&ended);
    assert_eq!(
        (&said["chosen"], &said["stored"]),
        (&Value::Null, &false.into())
    );
    assert_eq!(said["page"]["complete"], false);
    assert_eq!(said["page"]["code"], "E_NO_BROWSER");
    // What needs a reading is not offered, and the report says why.
    assert_eq!(words(&said), ["wait-on", "lift", "abandon"]);
    let forbidden = said["report"]["forbidden"].to_string();
    assert!(forbidden.contains("not read completely"), "{forbidden}");
    assert_eq!(said["report"]["records"].as_array().unwrap().len(), 7);
}

//= spec M4 type=test
#[test]
fn what_is_not_offered_is_refused_with_its_reason_and_stores_nothing() {
    for (choice, why) in [
        ("not-sent", "not read completely"),
        ("sent", "not read completely"),
        ("did-not-run", "nothing of that kind"),
        ("9", "no choice of that number"),
        ("0", "no choice of that number"),
        ("abandon=x", "takes no argument"),
        ("lift=rounds_max=0", "rounds_max"),
        ("lift=nothing=1", "nothing"),
    ] {
        let brb = brb_with(&unknown());
        let journal = brb.state().join(SID).join("journal.sqlite3");
        let ended = resumed(brb, &["--choose", choice]);
        assert_eq!(ended.exit, Some(2), "{choice}: {}", ended.stderr);
        assert!(ended.stderr.contains(why), "{choice}: {}", ended.stderr);
        let (found, _) = relay::index::read(journal.parent().unwrap()).unwrap();
        assert_eq!(found.len(), 7, "{choice}");
    }
}

//= spec M2 type=test
#[test]
fn what_is_chosen_is_stored_with_name_and_reason_and_the_next_command_is_named() {
    let more = [
        "--choose",
        "lift=rounds-max=80",
        "--who",
        "ada",
        "--why",
        "it is back",
    ];
    let brb = brb_with(&unknown());
    let folder = brb.state().join(SID);
    let ended = resumed(brb, &more);
    assert_eq!(ended.exit, Some(0), "{}", ended.stderr);
    let said = value(&ended);
    assert_eq!(said["next"], format!("brb run --continue {SID}"));
    let (entries, state) = relay::index::read(&folder).unwrap();
    assert!(state.standing_stop().is_none());
    assert_eq!(state.allowed.limits.get("rounds_max"), Some(&80));
    let Record::Lifted { who, why, .. } = &entries.last().unwrap().record else {
        panic!("{entries:?}");
    };
    assert_eq!((who.as_str(), why.as_str()), ("ada", "it is back"));
}

//= spec M1 type=test
#[test]
fn a_dry_run_says_what_would_be_stored_and_stores_nothing() {
    let brb = brb_with(&unknown());
    let folder = brb.state().join(SID);
    let ended = resumed(brb, &["--choose", "2", "--dry-run"]);
    assert_eq!(ended.exit, Some(5), "{}", ended.stderr);
    let said = value(&ended);
    assert_eq!(said["chosen"], "lift");
    assert_eq!(said["records"][0]["kind"], "lifted");
    assert_eq!(relay::index::read(&folder).unwrap().0.len(), 7);
}

//= spec M2 type=test
#[test]
fn an_abandoned_session_has_nothing_left_to_decide() {
    let brb = brb_with(&unknown());
    let folder = brb.state().join(SID);
    let ended = resumed(brb, &["--choose", "abandon", "--why", "enough"]);
    assert_eq!(ended.exit, Some(0), "{}", ended.stderr);
    assert_eq!(value(&ended)["next"], Value::Null);
    assert!(relay::index::read(&folder).unwrap().1.is_closed());
}

//= spec L1 type=test
#[test]
fn a_session_that_another_relay_holds_is_not_decided_about() {
    let brb = brb_with(&unknown());
    let holder = Holder::this(sid(), WallMs(0));
    let lock = Lock::session(&brb.state().join(SID), &holder).unwrap();
    let ended = brb
        .args(&["resume", SID, "--attach", NOWHERE, "--choose", "lift"])
        .end();
    ended.is_failure(8, "E_LOCKED", "held");
    drop(lock);
}

#[test]
fn bad_words_unknown_sessions_and_torn_journals_are_failures_that_say_so() {
    let ended = Brb::new().args(&["resume"]).end();
    ended.is_failure(2, "E_USAGE", "none at all");
    let ended = brb_with(&unknown()).args(&["resume", "ffff"]).end();
    ended.is_failure(2, "E_USAGE", "an unknown one");
    for bad in ["", "yes", "Lift", "-1", "=x"] {
        let choose = format!("--choose={bad}");
        let ended = brb_with(&unknown()).args(&["resume", SID, &choose]).end();
        ended.is_failure(2, "E_USAGE", bad);
    }
    for bad in [
        &["--go", "--dry-run"][..],
        &["--list", "--go"],
        &["--nonsense"],
    ] {
        let ended = Brb::new().args(&[&["resume"], bad].concat()).end();
        assert_eq!(ended.exit, Some(2), "{bad:?}");
    }
    let brb = Brb::new();
    with_session(&brb, &sid(), &unknown());
    std::fs::write(brb.state().join(SID).join("journal.sqlite3"), b"torn").unwrap();
    let ended = brb.args(&["resume", SID, "--choose", "lift"]).end();
    ended.is_failure(10, "E_JOURNAL", "a torn one");
}

#[test]
fn the_sessions_that_wait_are_listed_and_pointed_to() {
    let ended = brb_with(&unknown())
        .args(&["resume", "--list", "--json"])
        .end();
    assert_eq!(ended.exit, Some(0), "{}", ended.stderr);
    assert_eq!(value(&ended)["sessions"][0]["sid"], SID);
    let ended = Brb::new().args(&["resume", "--list"]).end();
    assert_eq!(ended.stdout, "no session waits for a person\n");
    for command in ["list", "status", "doctor"] {
        let mut records = killed("/nowhere");
        records.push(stopped(Code::Draft));
        let ended = brb_with(&records).args(&[command]).end();
        let wanted = format!("brb resume {SID}");
        assert!(
            ended.stdout.contains(&wanted),
            "{command}: {}",
            ended.stdout
        );
    }
}
