//! `brb journal` over journals made here: beside a relay that holds the session,
//! and on one that is no longer as it was written.

#![allow(clippy::unwrap_used, reason = "these are tests")]

mod cli_support;

use std::{fs, path::Path};

use cli_support::{Brb, Ended};
use protocol::{
    id::{Digest, SendId, Sid},
    limits::Limits,
    message::{Objective, Offer},
    page::{Anchor, Epoch, TargetId},
    record::{Intent, Journal, Opened, Owner, Record, SCHEMA_VERSION, Seq},
    send::SendKind,
    time::WallMs,
    wire,
};
use relay::journal::{
    JOURNAL, SqliteJournal,
    locks::{Holder, Lock},
};
use serde_json::Value;

const SID: &str = "00112233445566aa";
const REQUEST: &str = "the secret request";
const MESSAGE: &str = "the secret message";

fn sid() -> Sid {
    Sid::parse(SID).unwrap()
}

fn records() -> Vec<Record> {
    let title = Objective::parse("secret title").unwrap();
    vec![
        Record::Opened(Box::new(Opened {
            schema: SCHEMA_VERSION,
            offer: Offer::standard(sid(), wire::tag("x"), title),
            request: REQUEST.into(),
            chat: "http://127.0.0.1:9/".into(),
            workspace: "/home/somebody/project".into(),
            agent: "shell".into(),
            limits: Limits::default(),
        })),
        Record::Attached {
            epoch: Epoch(1),
            target: TargetId("T".into()),
            browser: "Chrome/156".into(),
            address: "http://127.0.0.1:9/".into(),
            layout: "classic".into(),
        },
        Record::Read {
            epoch: Epoch(1),
            turns: 0,
            anchor: Anchor::Empty,
        },
        Record::Intent(Box::new(Intent {
            send: SendId(1),
            message: SendKind::Hello,
            round: None,
            digest: Digest::of(MESSAGE),
            text: MESSAGE.into(),
            anchor: Anchor::Empty,
            epoch: Epoch(1),
            offer: None,
            voids: Vec::new(),
        })),
    ]
}

/// A journal that its relay still has open, and what the relay holds.
fn at_work(state: &Path) -> (SqliteJournal, Owner, Lock) {
    let folder = state.join(SID);
    let mut journal = SqliteJournal::create(&folder).unwrap();
    let lock = Lock::session(&folder, &Holder::this(sid(), WallMs(0))).unwrap();
    let owner = journal.claim().unwrap();
    for (nth, record) in records().iter().enumerate() {
        let nth = nth as u64;
        let at = WallMs(1_760_000_000_000 - nth);
        journal.append(owner, Seq(nth), at, nth, record).unwrap();
    }
    (journal, owner, lock)
}

fn says(args: &[&str]) -> (Ended, SqliteJournal, Owner, Lock) {
    let brb = Brb::new();
    let (journal, owner, lock) = at_work(&brb.state());
    let ended = brb.args(args).end();
    (ended, journal, owner, lock)
}

#[test]
fn it_is_read_while_a_relay_holds_it_and_the_relay_goes_on() {
    let (ended, mut journal, owner, _lock) = says(&["journal", "show", SID]);
    assert_eq!(ended.exit, Some(0), "{}", ended.stderr);
    let lines: Vec<&str> = ended.stdout.lines().collect();
    assert_eq!(lines.len(), records().len(), "{}", ended.stdout);
    assert!(lines[3].contains("intent"), "{}", lines[3]);
    let next = Record::Dispatching {
        send: SendId(1),
        attempt: 1,
    };
    let end = Seq(records().len() as u64);
    assert!(journal.append(owner, end, WallMs(0), 0, &next).is_ok());
}

#[test]
fn texts_stay_out_unless_they_are_asked_for() {
    let secrets = [REQUEST, MESSAGE, "secret title"];
    for args in [
        &["journal", "show", SID][..],
        &["journal", "show", SID, "--json"],
        &["journal", "export", SID],
    ] {
        let (ended, ..) = says(args);
        assert_eq!(ended.exit, Some(0), "{args:?}: {}", ended.stderr);
        for secret in secrets {
            assert!(!ended.stdout.contains(secret), "{args:?}: {}", ended.stdout);
        }
        let (ended, ..) = says(&[args, &["--with-text"]].concat());
        for secret in [REQUEST, MESSAGE] {
            assert!(ended.stdout.contains(secret), "{args:?}: {}", ended.stdout);
        }
    }
}

#[test]
fn an_export_is_one_object_a_record_and_tells_the_whole_course() {
    let (ended, ..) = says(&["journal", "export", SID]);
    let lines: Vec<Value> = ended
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let kinds: Vec<&str> = lines
        .iter()
        .map(|line| line["record"]["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["opened", "attached", "read", "intent"]);
    for (nth, line) in lines.iter().enumerate() {
        assert_eq!(line["seq"], nth + 1);
        assert_eq!(line["schema_version"], 1);
    }
    assert_eq!(lines[3]["record"]["text"], "<18 characters>");
    assert_eq!(
        lines[3]["record"]["digest"],
        Digest::of(MESSAGE).to_string()
    );
}

#[test]
fn a_sound_journal_is_called_so_and_a_clock_that_went_back_is_said() {
    let (ended, ..) = says(&["journal", "verify", SID]);
    assert_eq!(ended.exit, Some(0), "{}", ended.stderr);
    assert!(
        ended.stdout.contains("4 records, all as written"),
        "{}",
        ended.stdout
    );
    assert!(
        ended.stdout.contains("the wall clock went back 3 time(s)"),
        "{}",
        ended.stdout
    );
    let (ended, ..) = says(&["journal", "verify", SID, "--json"]);
    let said: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(
        (&said["sound"], &said["records"]),
        (&true.into(), &4.into())
    );
}

#[test]
fn a_changed_record_is_named_with_what_to_do() {
    for json in [false, true] {
        let brb = Brb::new();
        let (mut journal, owner, lock) = at_work(&brb.state());
        journal.release(owner).unwrap();
        drop((journal, lock));
        let path = brb.state().join(SID).join(JOURNAL);
        let mut bytes = fs::read(&path).unwrap();
        let at = bytes
            .windows(MESSAGE.len())
            .position(|part| part == MESSAGE.as_bytes());
        bytes[at.unwrap()] ^= 1;
        fs::write(&path, bytes).unwrap();
        if json {
            let ended = brb.args(&["journal", "verify", SID, "--json"]).end();
            assert_eq!(ended.exit, Some(10), "{}", ended.stderr);
            let said: Value = serde_json::from_str(&ended.stdout).unwrap();
            assert_eq!(
                (&said["sound"], &said["first_bad"]),
                (&false.into(), &4.into())
            );
            assert!(said["help"].as_str().unwrap().contains("never mend it"));
        } else {
            let ended = brb.args(&["journal", "verify", SID]).end();
            ended.is_failure(10, "E_JOURNAL", "verify");
            assert!(ended.stderr.contains("record 4"), "{}", ended.stderr);
        }
    }
}

/// Calls `brb` where the state folder cannot be written, whoever runs this.
fn read_only(state: &Path, args: &[&str]) -> std::process::Output {
    std::process::Command::new("bwrap")
        .args(["--dev-bind", "/", "/", "--ro-bind"])
        .args([state, state])
        .arg(env!("CARGO_BIN_EXE_brb"))
        .args(args)
        .env("BRB_STATE_DIR", state)
        .output()
        .unwrap()
}

#[test]
fn where_nothing_can_be_written_a_journal_is_read_and_not_gone_on_with() {
    let brb = Brb::new();
    let state = brb.state();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (mut journal, owner, lock) = at_work(&state);
    let shows = |name: &str| {
        for args in [
            &["journal", "show", SID][..],
            &["journal", "verify", SID],
            &["status", SID],
        ] {
            let output = read_only(&state, args);
            assert!(
                output.status.success(),
                "{name} {args:?}: {}",
                text(&output.stderr)
            );
        }
    };
    shows("while a relay is at work");
    journal.release(owner).unwrap();
    drop((journal, lock));
    assert!(!state.join(SID).join("journal.sqlite3-wal").exists());
    shows("closed in order");
    let output = read_only(&state, &["run", "--continue", SID, "--json"]);
    assert_eq!(output.status.code(), Some(10), "{}", text(&output.stderr));
    let said = text(&output.stderr);
    assert!(
        said.contains("E_JOURNAL") && said.contains("Read-only"),
        "{said}"
    );
}
