//! The commands that look at sessions, over journals made here.

#![allow(clippy::unwrap_used, reason = "these are tests")]

mod cli_support;

use std::{
    fs,
    io::{BufRead, BufReader, Read},
    process::{Command, Stdio},
};

use cli_support::{
    Brb, Ended,
    journals::{SID, brb_with, killed, sid, stopped, with_session},
};
use protocol::{
    fault::Code,
    id::Sid,
    outcome::Outcome,
    page::ConversationId,
    record::{Record, Stop},
    send::{SendEvidence, SendState},
    time::WallMs,
};
use relay::journal::locks::{Holder, Lock};

fn json(ended: &Ended) -> serde_json::Value {
    assert_eq!(ended.exit, Some(0), "{}", ended.stderr);
    serde_json::from_str(&ended.stdout).unwrap()
}

#[test]
fn nothing_there_is_no_failure_of_the_list() {
    let ended = Brb::new().args(&["list"]).end();
    assert_eq!(ended.exit, Some(0), "{}", ended.stderr);
    assert!(
        ended.stdout.starts_with("no session yet"),
        "{}",
        ended.stdout
    );
    let ended = Brb::new().args(&["list", "--json"]).end();
    assert_eq!(json(&ended)["sessions"], serde_json::json!([]));
}

#[test]
fn an_unknown_send_is_said_by_list_status_and_doctor() {
    let records = killed("/nowhere");
    let listed = json(&brb_with(&records).args(&["list", "--json"]).end());
    let one = &listed["sessions"][0];
    assert_eq!((&one["sid"], &one["running"]), (&SID.into(), &false.into()));
    assert_eq!(one["standing"]["unknown"], true);
    let status = brb_with(&records).args(&["status"]).end();
    assert!(status.stdout.contains("is not known"), "{}", status.stdout);
    let status = json(&brb_with(&records).args(&["status", "0011", "--json"]).end());
    assert_eq!(status["messages"][0]["state"], "unknown");
    let doctor = brb_with(&records).args(&["doctor"]).end();
    assert!(
        doctor.stdout.contains("sent is not known"),
        "{}",
        doctor.stdout
    );
}

/// A run that ended so leaves a standing stop, which must not hide it.
//= spec RP7 type=test
#[test]
fn a_send_that_is_unknown_at_the_end_is_said_by_status_and_doctor_too() {
    let send = protocol::id::SendId(1);
    let outcome = Record::Outcome {
        send,
        state: SendState::Unknown,
        evidence: SendEvidence::Nothing,
    };
    let Record::Stopped(stop) = stopped(Code::Submit) else {
        panic!("it is a stop");
    };
    let end = Record::Stopped(Stop {
        outcome: Outcome::Unknown,
        ..stop
    });
    let records = [killed("/nowhere"), vec![outcome, end]].concat();
    let status = brb_with(&records).args(&["status"]).end();
    for said in ["unknown (E_SUBMIT)", "is not known: it counts as sent"] {
        assert!(status.stdout.contains(said), "{}", status.stdout);
    }
    let doctor = brb_with(&records).args(&["doctor"]).end();
    assert!(
        doctor.stdout.contains("sent is not known"),
        "{}",
        doctor.stdout
    );
    assert_eq!(
        Outcome::Unknown.exit(protocol::outcome::Signal::Interrupt),
        5
    );
}

#[test]
fn no_command_prints_the_request_or_a_message() {
    for args in [
        &["list"][..],
        &["list", "--json"],
        &["status"],
        &["status", "--json"],
        &["doctor", "--json"],
    ] {
        let ended = brb_with(&killed("/nowhere")).args(args).end();
        assert!(!ended.stdout.contains("secret request"), "{args:?}");
        assert!(!ended.stdout.contains("\"hello\""), "{args:?}");
    }
}

#[test]
fn a_standing_stop_is_told_with_its_remedy() {
    let records = [killed("/nowhere"), vec![stopped(Code::Draft)]].concat();
    let status = brb_with(&records).args(&["status", SID]).end();
    assert!(
        status.stdout.contains("error[E_DRAFT]: somebody's draft"),
        "{}",
        status.stdout
    );
    assert!(
        status
            .stdout
            .contains(&format!("decide with `brb resume {SID}`")),
        "{}",
        status.stdout
    );
    let listed = brb_with(&records).args(&["list"]).end();
    assert!(
        listed.stdout.contains("manual (E_DRAFT)"),
        "{}",
        listed.stdout
    );
}

#[test]
fn a_session_that_is_held_is_running_and_is_not_undone() {
    let brb = brb_with(&killed("/nowhere"));
    let holder = Holder::this(sid(), WallMs(1_760_000_000_000));
    let _lock = Lock::session(&brb.state().join(SID), &holder).unwrap();
    let ended = brb.args(&["undo", SID, "1"]).end();
    ended.is_failure(8, "E_LOCKED", "undo of a held session");
    assert!(
        ended
            .stderr
            .contains(&format!("process {}", std::process::id())),
        "{}",
        ended.stderr
    );
    let brb = brb_with(&killed("/nowhere"));
    let _lock = Lock::session(&brb.state().join(SID), &holder).unwrap();
    let listed = json(&brb.args(&["list", "--json"]).end());
    assert_eq!(listed["sessions"][0]["running"], true);
}

#[test]
fn a_corrupt_journal_is_said_by_each_command_and_mended_by_none() {
    for (args, exit) in [
        (&["status", SID][..], 10),
        (&["diff", SID, "1"], 10),
        (&["undo", SID, "1"], 10),
    ] {
        let brb = brb_with(&killed("/nowhere"));
        let path = brb.state().join(SID).join("journal.sqlite3");
        let mut bytes = fs::read(&path).unwrap();
        let at = bytes.windows(6).position(|part| part == b"secret").unwrap();
        bytes[at] ^= 1;
        fs::write(&path, &bytes).unwrap();
        let ended = brb.args(args).end();
        ended.is_failure(exit, "E_JOURNAL", &format!("{args:?}"));
        let journal = ended.home().join("state").join(SID).join("journal.sqlite3");
        assert_eq!(fs::read(journal).unwrap(), bytes, "{args:?}");
        assert!(!ended.stderr.contains("request"), "{}", ended.stderr);
    }
}

#[test]
fn the_doctor_fails_for_a_corrupt_journal_and_names_it() {
    let brb = brb_with(&killed("/nowhere"));
    fs::write(brb.state().join(SID).join("journal.sqlite3"), b"").unwrap();
    let ended = brb.args(&["doctor"]).end();
    assert_eq!(ended.exit, Some(10), "{}", ended.stdout);
    let line = ended
        .stdout
        .lines()
        .find(|line| line.starts_with("fail") && line.contains(SID));
    assert!(line.is_some(), "{}", ended.stdout);
}

fn git(folder: &std::path::Path, args: &[&str]) {
    let done = Command::new("git")
        .args(["-c", "user.name=t", "-c", "user.email=t@example.org"])
        .args(args)
        .current_dir(folder)
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(done.success(), "git {args:?}");
}

#[test]
fn what_a_plan_changed_is_shown_and_taken_back() {
    let dir = tempfile::tempdir().unwrap();
    let work = dir.path();
    git(work, &["init", "-q"]);
    fs::write(work.join("sum.txt"), "2 + 2 = 5\n").unwrap();
    git(work, &["add", "."]);
    git(work, &["commit", "-qm", "one"]);
    git(
        work,
        &["update-ref", &format!("refs/pi-bridge/{SID}/1"), "HEAD"],
    );
    fs::write(work.join("sum.txt"), "2 + 2 = 4\n").unwrap();
    fs::write(work.join("new.txt"), "\u{1b}[31mred\n").unwrap();
    let records = killed(&work.display().to_string());
    let status = json(&brb_with(&records).args(&["status", "--json"]).end());
    assert_eq!(status["undoable_rounds"], serde_json::json!([1]));
    for args in [&["diff", SID, "1"][..], &["diff", "0011"]] {
        let diff = brb_with(&records).args(args).end();
        assert_eq!(diff.exit, Some(0), "{}", diff.stderr);
        assert!(diff.stdout.contains("+2 + 2 = 4"), "{}", diff.stdout);
    }
    brb_with(&records)
        .args(&["diff", SID, "2"])
        .end()
        .is_failure(2, "E_USAGE", "no such round");
    let undo = brb_with(&records).args(&["undo", SID, "1"]).end();
    assert_eq!(undo.exit, Some(0), "{}", undo.stderr);
    assert!(undo.stdout.contains("restored sum.txt"), "{}", undo.stdout);
    assert!(undo.stdout.contains("removed new.txt"), "{}", undo.stdout);
    assert_eq!(
        fs::read_to_string(work.join("sum.txt")).unwrap(),
        "2 + 2 = 5\n"
    );
    assert!(!work.join("new.txt").exists());
}

#[test]
fn the_stand_in_says_where_it_is_serves_and_ends_on_a_signal() {
    let dir = tempfile::tempdir().unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_brb"))
        .args(["standin", "--layout", "keyed", "--port", "0", "--log"])
        .arg(dir.path().join("turns.jsonl"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    let said: serde_json::Value = serde_json::from_str(&line).unwrap();
    assert_eq!(said["pid"], child.id());
    let (url, log_url) = (
        said["url"].as_str().unwrap(),
        said["log_url"].as_str().unwrap(),
    );
    assert!(
        log_url.starts_with(url) && log_url.ends_with("/_standin/log"),
        "{line}"
    );
    let pid = nix::unistd::Pid::from_raw(i32::try_from(child.id()).unwrap());
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM).unwrap();
    let ended = child.wait().unwrap();
    let mut err = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut err)
        .unwrap();
    assert_eq!((ended.code(), err.as_str()), (Some(0), ""));
}

#[test]
fn a_reader_that_goes_away_is_no_panic() {
    let dir = tempfile::tempdir().unwrap();
    for args in [
        &["explain"][..],
        &["run", "--help"],
        &["--version"],
        &["doctor", "--json"],
    ] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_brb"))
            .args(args)
            .env("BRB_STATE_DIR", dir.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let mut err = String::new();
        child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut err)
            .unwrap();
        let ended = child.wait().unwrap();
        assert!(!err.contains("panicked"), "{args:?}: {err}");
        assert!(
            ended.code().is_some_and(|code| code != 101),
            "{args:?}: {ended}"
        );
    }
}

#[test]
fn an_endpoint_that_is_no_browser_is_said_by_the_doctor_in_time() {
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = nobody.local_addr().unwrap().port();
    drop(nobody);
    let url = format!("http://127.0.0.1:{port}");
    let ended = Brb::new()
        .args(&["doctor", "--attach", &url, "--json"])
        .end();
    assert_eq!(ended.exit, Some(10), "{}", ended.stderr);
    let report: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    let checks = report["checks"].as_array().unwrap();
    let browser = checks
        .iter()
        .find(|check| check["name"] == "browser")
        .unwrap();
    assert_eq!(browser["state"], "fail");
    assert!(
        browser["found"]
            .as_str()
            .unwrap()
            .starts_with("E_NO_BROWSER"),
        "{browser}"
    );
}

/// The records of a killed session of that id, in the folder of the call.
fn killed_here(brb: &Brb, sid: &str) {
    let folder = brb.state().parent().unwrap().canonicalize().unwrap();
    let mut records = killed(&folder.display().to_string());
    if let Some(Record::Opened(opened)) = records.first_mut() {
        opened.offer.terms.sid = Sid::parse(sid).unwrap();
    }
    with_session(brb, &Sid::parse(sid).unwrap(), &records);
}

//= spec RP7 type=test
#[test]
fn several_sessions_that_can_be_gone_on_with_are_listed_and_none_is_chosen() {
    let brb = Brb::new();
    let both = ["00112233445566aa", "00112233445566bb"];
    for sid in both {
        killed_here(&brb, sid);
    }
    let ended = brb
        .args(&["run", "--continue", "--approve", "workspace"])
        .end();
    ended.is_failure(2, "E_USAGE", "two");
    assert!(both.iter().all(|sid| ended.stderr.contains(sid)));
}

//= spec L1 type=test
#[test]
fn a_session_that_another_process_holds_is_not_gone_on_with_and_the_holder_is_named() {
    let brb = Brb::new();
    killed_here(&brb, SID);
    let folder = brb.state().join(SID);
    let _held = Lock::session(&folder, &Holder::this(sid(), WallMs(1_760_000_000_000))).unwrap();
    let ended = brb
        .args(&["run", "--continue", "--approve", "workspace"])
        .end();
    ended.is_failure(8, "E_LOCKED", "held");
    let me = format!("process {}", std::process::id());
    assert!(ended.stderr.contains(&me), "{}", ended.stderr);
}

/// There is no browser to be had here, and none is needed.
//= spec RP7 type=test
#[test]
fn a_standing_stop_over_a_bound_conversation_is_met_again_without_a_browser() {
    let brb = Brb::new();
    let folder = brb.state().parent().unwrap().join("project");
    fs::create_dir(&folder).unwrap();
    let folder = folder.canonicalize().unwrap();
    let mut records = killed(&folder.display().to_string());
    records.push(Record::Bound {
        conversation: ConversationId("c1".into()),
    });
    records.push(stopped(Code::Draft));
    with_session(&brb, &sid(), &records);
    let args = [
        "run",
        "--continue",
        SID,
        "--approve",
        "all",
        "--sandbox",
        "off",
        "--no-undo",
        "--json",
    ];
    let ended = brb.args(&args).end();
    let last: serde_json::Value =
        serde_json::from_str(ended.stdout.lines().last().unwrap()).unwrap();
    assert_eq!(last["event"], "finished");
    assert_ne!(last["outcome"], "defect", "{}", ended.stderr);
    assert_eq!(last["row"], "R14", "{}", ended.stdout);
}

//= spec J1 type=test
#[test]
fn a_session_that_was_never_opened_and_one_that_is_not_there_are_said() {
    let brb = Brb::new();
    with_session(&brb, &sid(), &[]);
    let ended = brb.args(&["run", "--continue", SID]).end();
    ended.is_failure(2, "E_USAGE", "never opened");
    assert!(
        ended.stderr.contains("nothing was sent"),
        "{}",
        ended.stderr
    );
    let ended = Brb::new().args(&["run", "--continue", "ffff0000"]).end();
    ended.is_failure(2, "E_USAGE", "not there");
}
