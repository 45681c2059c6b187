//! The file and its surroundings: modes, versions, a full and a read-only disk,
//! two processes.

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use protocol::{
    record::{Fenced, Journal, JournalError, Owner, Seq},
    time::WallMs,
};
use rusqlite::Connection;

use super::{Access, HEAD, JOURNAL, OpenError, SqliteJournal, sample, schema};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn the_files_are_their_owners_alone() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("state/s");
    let mut journal = SqliteJournal::create(&folder).unwrap();
    journal.claim().unwrap();
    assert_eq!(mode(&dir.path().join("state")), 0o700);
    assert_eq!(mode(&folder), 0o700);
    for name in [JOURNAL, HEAD, "journal.sqlite3-wal", "journal.sqlite3-shm"] {
        assert_eq!(mode(&folder.join(name)), 0o600, "{name}");
    }
    drop(journal);
    assert!(!folder.join("journal.sqlite3-wal").exists());
}

//= spec J1 type=test
#[test]
fn a_commit_is_synced_and_logged_ahead() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("j");
    let conn = Connection::open(&path).unwrap();
    schema::prepare(&conn).unwrap();
    assert!(schema::use_wal(&conn).unwrap());
    let synchronous: i64 = conn
        .pragma_query_value(None, "synchronous", |row| row.get(0))
        .unwrap();
    assert_eq!(synchronous, 2, "FULL");
}

//= spec J1 type=test
#[test]
fn on_a_full_disk_a_record_is_not_stored_and_nothing_else_is_lost() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("s");
    let mut journal = SqliteJournal::create(&folder).unwrap();
    let owner = journal.claim().unwrap();
    let record = sample::opened();
    journal
        .append(owner, Seq(0), WallMs(0), 0, &record)
        .unwrap();
    journal.fill_up();
    let big = sample::settled_with(&"x".repeat(100_000));
    let refused = journal.append(owner, Seq(1), WallMs(0), 0, &big);
    let Err(JournalError::NotStored { why }) = refused else {
        panic!("{refused:?}");
    };
    assert!(why.contains("full"), "{why}");
    drop(journal);
    let found = SqliteJournal::open(&folder, Access::Write).unwrap();
    assert_eq!(found.entries.len(), 1);
}

#[test]
fn a_state_folder_that_cannot_be_made_is_named_with_a_remedy() {
    // Nobody, not even root, makes a folder there.
    let folder = Path::new("/sys/pi-bridge-test/s");
    let error = SqliteJournal::create(folder).unwrap_err();
    let OpenError::Io { path, .. } = &error else {
        panic!("{error}");
    };
    assert!(path.starts_with("/sys/pi-bridge-test"), "{error}");
    assert!(
        error.remedy().contains("/sys/pi-bridge-test"),
        "{}",
        error.remedy()
    );
}

#[test]
fn a_newer_journal_is_refused_and_an_older_one_is_not_guessed_at() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("s");
    drop(SqliteJournal::create(&folder).unwrap());
    let set = |name: &str, value: u32| {
        let conn = Connection::open(folder.join(JOURNAL)).unwrap();
        conn.pragma_update(None, name, value).unwrap();
    };
    set("user_version", schema::VERSION + 1);
    let error = SqliteJournal::open(&folder, Access::Read).unwrap_err();
    assert!(
        matches!(error, OpenError::Newer { found, known, .. } if (found, known) == (schema::VERSION + 1, schema::VERSION)),
        "{error}"
    );
    set("user_version", 0);
    let error = SqliteJournal::open(&folder, Access::Read).unwrap_err();
    assert!(matches!(error, OpenError::Corrupt { .. }), "{error}");
    set("user_version", schema::VERSION);
    set("application_id", 7);
    let error = SqliteJournal::open(&folder, Access::Read).unwrap_err();
    assert!(matches!(error, OpenError::Corrupt { .. }), "{error}");
}

#[test]
fn two_connections_are_two_owners_and_the_older_one_is_fenced() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("s");
    let mut first = SqliteJournal::create(&folder).unwrap();
    let one = first.claim().unwrap();
    let record = sample::opened();
    first.append(one, Seq(0), WallMs(0), 0, &record).unwrap();
    let mut second = SqliteJournal::open(&folder, Access::Write).unwrap().journal;
    let two = second.claim().unwrap();
    assert_eq!((one, two), (Owner(1), Owner(2)));
    second.append(two, Seq(1), WallMs(0), 0, &record).unwrap();
    assert_eq!(
        first.append(one, Seq(1), WallMs(0), 0, &record),
        Err(JournalError::Fenced(Fenced::Owner { now: two }))
    );
    let three = first.claim().unwrap();
    assert_eq!(
        first.append(three, Seq(1), WallMs(0), 0, &record),
        Err(JournalError::Fenced(Fenced::Seq { now: Seq(2) }))
    );
}

#[test]
fn a_reader_beside_the_writer_sees_what_is_stored_and_writes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("s");
    let mut journal = SqliteJournal::create(&folder).unwrap();
    let owner = journal.claim().unwrap();
    let record = sample::opened();
    let entry = journal
        .append(owner, Seq(0), WallMs(5), 6, &record)
        .unwrap();
    let mut reader = SqliteJournal::open(&folder, Access::Read).unwrap();
    assert_eq!(reader.entries, [entry]);
    assert!(matches!(
        reader.journal.claim(),
        Err(JournalError::NotStored { .. })
    ));
    journal
        .append(owner, Seq(1), WallMs(5), 6, &record)
        .unwrap();
    assert_eq!(reader.journal.entries().unwrap().len(), 2);
}

#[test]
fn a_number_that_the_store_cannot_hold_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let mut journal = SqliteJournal::create(&dir.path().join("s")).unwrap();
    let owner = journal.claim().unwrap();
    let refused = journal.append(owner, Seq(0), WallMs(u64::MAX), 0, &sample::opened());
    assert!(matches!(refused, Err(JournalError::NotStored { .. })));
    assert!(
        journal
            .append(owner, Seq(0), WallMs(0), 0, &sample::opened())
            .is_ok()
    );
}

#[test]
fn a_clock_that_went_back_is_said_and_the_journal_gone_on_with() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("s");
    let mut journal = SqliteJournal::create(&folder).unwrap();
    let owner = journal.claim().unwrap();
    let record = sample::opened();
    // The year 2255.
    let later = WallMs(9_000_000_000_000);
    journal.append(owner, Seq(0), later, 0, &record).unwrap();
    drop(journal);
    let mut found = SqliteJournal::open(&folder, Access::Write).unwrap();
    let said = found.mended.unwrap();
    assert!(said.contains("clock stands before"), "{said}");
    let owner = found.journal.claim().unwrap();
    let next = found
        .journal
        .append(owner, Seq(1), WallMs(0), 0, &sample::settled_with("x"));
    assert!(next.is_ok());
    drop(found);
    let again = SqliteJournal::open(&folder, Access::Write).unwrap();
    assert_eq!((again.entries.len(), again.mended), (2, None));
}
