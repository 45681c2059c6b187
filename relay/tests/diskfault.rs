//! The journal on a disk that fails: whatever happens at whichever call, a record
//! that was called stored is there afterwards, whole, and nothing else is.
//!
//! The test runs itself as the process whose disk fails ([`exercise`]), with the
//! preloaded library of `fixtures/diskfault` between it and the system.

#![allow(clippy::unwrap_used, reason = "these are tests")]
#![allow(
    clippy::print_stdout,
    reason = "the process under test tells by it what it was told"
)]

mod diskfault_support;

use std::{
    fs,
    io::Write,
    os::unix::process::ExitStatusExt,
    path::{Path, PathBuf},
    process::Command,
};

use diskfault_support::{DiskFault, failed_at};
use protocol::{
    id::Sid,
    limits::Limits,
    message::{Objective, Offer},
    record::{Journal, Opened, Record, SCHEMA_VERSION, Seq},
    recovery::RowId,
    time::WallMs,
    wire,
};
use relay::journal::{Access, Found, OpenError, SqliteJournal};

const FOLDER: &str = "BRB_TEST_FOLDER";

/// Records that the exercise stores before it closes the journal, and after it
/// opened it again.
const BEFORE: u64 = 5;
const ALL: u64 = 8;

/// More calls than an exercise makes; a sweep that gets here does not end.
const CALLS_MAX: u64 = 600;

/// The exit of an exercise that was told of a failure, and said it.
const SAID: i32 = 3;

/// The nth record; their lengths make some of them fit a page and others not.
fn record(nth: u64) -> Record {
    if nth > 1 {
        return Record::Decided {
            row: RowId::R1,
            facts: format!("fact {nth} ").repeat(if nth.is_multiple_of(3) { 900 } else { 9 }),
            action: "read again".into(),
            cost: None,
        };
    }
    let sid = Sid::parse("00112233445566aa").unwrap();
    Record::Opened(Box::new(Opened {
        schema: SCHEMA_VERSION,
        offer: Offer::standard(sid, wire::tag("x"), Objective::default()),
        request: "x".into(),
        chat: "http://127.0.0.1:9/".into(),
        workspace: "/nowhere".into(),
        agent: "shell".into(),
        limits: Limits::default(),
    }))
}

/// What the process does whose disk fails: it tells each record that it was told
/// is stored, and the first failure.
#[test]
fn exercise() {
    let Some(folder) = std::env::var_os(FOLDER) else {
        return;
    };
    let folder = PathBuf::from(folder);
    let told = SqliteJournal::create(&folder)
        .map_err(|error| error.to_string())
        .and_then(|journal| store(journal, 0, BEFORE))
        .and_then(|()| {
            SqliteJournal::open(&folder, Access::Write).map_err(|error| error.to_string())
        })
        .and_then(|found| store(found.journal, BEFORE, ALL));
    if let Err(why) = told {
        println!("\nSAID {why}");
        std::process::exit(SAID);
    }
}

fn store(mut journal: SqliteJournal, from: u64, to: u64) -> Result<(), String> {
    let owner = journal.claim().map_err(|error| error.to_string())?;
    for nth in from..to {
        let stored = journal.append(owner, Seq(nth), WallMs(nth), nth, &record(nth + 1));
        let entry = stored.map_err(|error| error.to_string())?;
        println!("\nSTORED {}", entry.seq);
    }
    journal.release(owner).map_err(|error| error.to_string())
}

struct Exercised {
    /// The last record that it was told is stored.
    stored: u64,
    said: Option<String>,
    killed: bool,
    exit: Option<i32>,
    /// The call at which the disk failed, and on what.
    failed_at: Option<String>,
}

/// This test binary as another process that runs one of its tests alone.
fn myself(test: &str, folder: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env(FOLDER, folder);
    command
}

fn run(dir: &Path, as_what: &str, at: u64) -> Exercised {
    let log = dir.join("log");
    let mut command = myself("exercise", &dir.join("state/s"));
    DiskFault::new(dir, as_what, at, &log).preload(&mut command);
    let output = command.output().unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    let told = |word: &str| {
        out.lines()
            .filter_map(|line| line.strip_prefix(word))
            .next_back()
            .map(str::to_owned)
    };
    Exercised {
        stored: told("STORED ").map_or(0, |seq| seq.parse().unwrap()),
        said: told("SAID "),
        killed: output.status.signal() == Some(9),
        exit: output.status.code(),
        failed_at: failed_at(&log),
    }
}

/// What must hold of the journal afterwards, whatever happened before.
fn holds(dir: &Path, ran: &Exercised, name: &str) {
    let folder = dir.join("state/s");
    match SqliteJournal::open(&folder, Access::Write) {
        Ok(Found {
            mut journal,
            entries,
            ..
        }) => {
            let there = entries.len() as u64;
            assert!(
                there == ran.stored || there == ran.stored + 1,
                "{name}: {there} records are there, {} were called stored",
                ran.stored
            );
            for (nth, entry) in entries.iter().enumerate() {
                let nth = nth as u64 + 1;
                assert_eq!(entry.record, record(nth), "{name}: record {nth}");
            }
            let owner = journal.claim().unwrap();
            let next = record(there + 1);
            let entry = journal.append(owner, Seq(there), WallMs(0), 0, &next);
            assert!(entry.is_ok(), "{name}: {entry:?}");
            drop(journal);
            let again = SqliteJournal::open(&folder, Access::Read).unwrap();
            assert_eq!(again.entries.len() as u64, there + 1, "{name}");
        }
        Err(error) => {
            assert_eq!(ran.stored, 0, "{name}: {error}");
            assert!(
                matches!(
                    error,
                    OpenError::NoSession { .. }
                        | OpenError::Gone { .. }
                        | OpenError::Unfinished { .. }
                ),
                "{name}: {error}"
            );
            assert!(!error.remedy().is_empty());
        }
    }
}

/// Every call of the exercise fails in this way, one after the other.
fn sweep(as_what: &str, ends: impl Fn(&Exercised) -> bool) {
    let mut reached = 0;
    for at in 1..CALLS_MAX {
        let dir = tempfile::tempdir().unwrap();
        let ran = run(dir.path(), as_what, at);
        let Some(call) = &ran.failed_at else {
            assert_eq!((ran.exit, ran.stored), (Some(0), ALL), "{:?}", ran.said);
            assert!(reached > 60, "only {reached} calls were reached");
            return;
        };
        reached = at;
        let name = format!("{as_what} at {call}");
        assert!(
            ends(&ran),
            "{name}: exit {:?}, killed {}, {} stored, said {:?}",
            ran.exit,
            ran.killed,
            ran.stored,
            ran.said
        );
        holds(dir.path(), &ran, &name);
    }
    panic!("{as_what}: the exercise never came to its end");
}

/// It went to its end with everything stored, or it said what failed.
fn is_honest(ran: &Exercised) -> bool {
    match (ran.exit, &ran.said) {
        (Some(0), None) => ran.stored == ALL,
        (Some(SAID), Some(why)) => !why.is_empty(),
        (Some(_) | None, Some(_) | None) => false,
    }
}

//= spec J1 type=test
#[test]
fn a_call_that_fails_once_is_said_or_does_no_harm() {
    sweep("eio", is_honest);
}

//= spec J1 type=test
#[test]
fn a_disk_that_is_dead_from_some_call_on_is_said_and_what_was_stored_is_there() {
    sweep("dead", is_honest);
}

//= spec J1 type=test
#[test]
fn a_disk_that_is_full_from_some_call_on_is_said_and_what_was_stored_is_there() {
    sweep("full", is_honest);
    sweep("short", is_honest);
}

//= spec J1 type=test
#[test]
fn a_process_killed_at_any_call_leaves_what_it_called_stored() {
    sweep("kill", |ran| ran.killed);
    sweep("tear", |ran| ran.killed);
}

//= spec J1 type=test
#[test]
fn a_loss_of_power_at_any_call_takes_nothing_that_was_called_stored() {
    sweep("lose", |ran| ran.killed);
    sweep("shuffle", |ran| ran.killed);
}

/// What a process does that syncs one line of two.
#[test]
fn careless() {
    let Some(folder) = std::env::var_os(FOLDER) else {
        return;
    };
    let mut file = fs::File::create(PathBuf::from(&folder).join("lines")).unwrap();
    fs::File::open(&folder).unwrap().sync_all().unwrap();
    file.write_all(b"synced\n").unwrap();
    file.sync_data().unwrap();
    file.write_all(b"not synced\n").unwrap();
    fs::remove_file(PathBuf::from(&folder).join("lines")).unwrap();
}

/// The sweeps above must be able to fail: without a sync a line is lost, and with
/// one it is not.
#[test]
fn the_failing_disk_forgets_what_was_not_synced_and_that_alone() {
    for (as_what, at, left) in [
        ("lose", 1, None),
        ("lose", 2, None),
        ("lose", 3, Some("")),
        ("lose", 4, Some("")),
        ("lose", 5, Some("synced\n")),
        ("lose", 6, Some("synced\n")),
        ("tear", 3, Some("syn")),
        ("tear", 5, Some("synced\nnot s")),
        ("kill", 6, Some("synced\nnot synced\n")),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("f");
        fs::create_dir(&folder).unwrap();
        let log = dir.path().join("log");
        let mut command = myself("careless", &folder);
        DiskFault::new(&folder, as_what, at, &log).preload(&mut command);
        let status = command.output().unwrap().status;
        assert_eq!(status.signal(), Some(9), "{as_what} {at}");
        let found = fs::read_to_string(folder.join("lines")).ok();
        assert_eq!(
            found.as_deref(),
            left,
            "{as_what} {at}: {:?}",
            failed_at(&log)
        );
    }
}
