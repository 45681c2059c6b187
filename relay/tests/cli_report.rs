//! `brb report`: what somebody who was not there reads, over journals made here.

#![allow(clippy::unwrap_used, reason = "these are tests")]

mod cli_support;

use cli_support::{
    Brb,
    journals::{SID, brb_with, killed, sid, stopped, with_session},
    snapshot,
};
use protocol::{
    fault::Code,
    outcome::Outcome,
    record::{Record, Stop},
    recovery::RowId,
    send::{SendEvidence, SendState},
};

/// HELLO is unknown, and every read is spent.
fn unknown_at_the_end() -> Vec<Record> {
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
        why: "every re-read is spent; last: the reply did not come".into(),
        standing: true,
        interrupted: false,
        facts: Some("defect=no boundary=clear send=unknown budget=spent".into()),
    }));
    records
}

/// What differs from call to call.
fn settled(text: &str) -> String {
    let version = env!("CARGO_PKG_VERSION");
    text.replace(&format!("brb           {version}"), "brb           VERSION")
}

//= spec RP6 type=test
#[test]
fn a_stop_is_reported_for_somebody_who_was_not_there() {
    let ended = brb_with(&unknown_at_the_end())
        .args(&["report"])
        .env("TZ", "UTC")
        .end();
    assert_eq!(ended.exit, Some(0), "{}", ended.stderr);
    snapshot("report_unknown", &settled(&ended.stdout));
}

//= spec RP6 type=test
#[test]
fn no_text_is_in_a_report_unless_it_is_asked_for() {
    for args in [&["report"][..], &["report", SID, "--json"]] {
        let said = brb_with(&unknown_at_the_end()).args(args).end();
        assert_eq!(said.exit, Some(0), "{}", said.stderr);
        for text in ["the secret request", "hello"] {
            assert!(!said.stdout.contains(text), "{args:?}: {}", said.stdout);
        }
        let with = brb_with(&unknown_at_the_end())
            .args(&[args, &["--with-text"]].concat())
            .end();
        for text in ["the secret request", "hello"] {
            assert!(with.stdout.contains(text), "{args:?}: {}", with.stdout);
        }
    }
}

//= spec RP2 type=test
#[test]
fn a_program_reads_row_facts_choices_and_what_is_forbidden() {
    let ended = brb_with(&unknown_at_the_end())
        .args(&["report", "--json"])
        .end();
    let said: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(said["row"]["id"], "R13");
    assert_eq!(
        (&said["stop"]["exit"], &said["stop"]["code"]),
        (&5.into(), &"E_CAPTURE".into())
    );
    assert!(
        said["stop"]["facts"]
            .as_str()
            .unwrap()
            .contains("send=unknown")
    );
    assert_eq!(said["messages"][0]["state"], "unknown");
    let words: Vec<&str> = said["choices"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["choice"].as_str().unwrap())
        .collect();
    // Nothing is attested without a look at the page.
    assert_eq!(words, ["wait-on", "lift", "abandon"]);
    let forbidden = said["forbidden"].to_string();
    for what in ["to choose not-sent", "unbounded recovery"] {
        assert!(forbidden.contains(what), "{forbidden}");
    }
    assert_eq!(said["records"].as_array().unwrap().len(), 7);
}

#[test]
fn a_session_that_is_not_there_or_not_sound_is_no_report() {
    let ended = Brb::new().args(&["report"]).end();
    ended.is_failure(2, "E_USAGE", "none at all");
    let ended = brb_with(&[stopped(Code::Draft)][..0])
        .args(&["report", "ffff"])
        .end();
    ended.is_failure(2, "E_USAGE", "an unknown one");
    let brb = Brb::new();
    with_session(&brb, &sid(), &killed("/nowhere"));
    let journal = brb.state().join(SID).join("journal.sqlite3");
    std::fs::write(&journal, b"torn").unwrap();
    let ended = brb.args(&["report", SID]).end();
    ended.is_failure(10, "E_JOURNAL", "a torn one");
}
