//! What happened to the files must be found and said on the next open; nothing
//! damaged is ever taken for a new beginning, or for a shorter session.

use std::{
    fs,
    path::{Path, PathBuf},
};

use protocol::{
    record::{Entry, Journal, Owner, Seq},
    time::WallMs,
};
use rusqlite::Connection;

use super::{Access, HEAD, JOURNAL, OpenError, SqliteJournal, sample};

struct Kept {
    _dir: tempfile::TempDir,
    folder: PathBuf,
    entries: Vec<Entry>,
}

impl Kept {
    fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn wal(&self) -> PathBuf {
        self.file(&format!("{JOURNAL}-wal"))
    }
}

fn fill(journal: &mut SqliteJournal) -> Vec<Entry> {
    let owner = journal.claim().unwrap();
    let records = sample::records().into_iter().enumerate();
    records
        .map(|(nth, record)| {
            let nth = nth as u64;
            journal
                .append(owner, Seq(nth), WallMs(nth), nth, &record)
                .unwrap()
        })
        .collect()
}

/// A session that ended in order: everything lies in the one file.
fn closed() -> Kept {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("s");
    let mut journal = SqliteJournal::create(&folder).unwrap();
    let entries = fill(&mut journal);
    journal.release(Owner(1)).unwrap();
    drop(journal);
    Kept {
        _dir: dir,
        folder,
        entries,
    }
}

/// A session whose process was killed: its last records lie in the log. What a
/// dead process leaves is what lies on the disk while it lives.
fn killed() -> Kept {
    let dir = tempfile::tempdir().unwrap();
    let (alive, folder) = (dir.path().join("alive"), dir.path().join("s"));
    let mut journal = SqliteJournal::create(&alive).unwrap();
    let entries = fill(&mut journal);
    fs::create_dir(&folder).unwrap();
    for file in fs::read_dir(&alive).unwrap() {
        let file = file.unwrap();
        // The index of the log is shared memory and is made anew.
        if !file.file_name().to_string_lossy().ends_with("-shm") {
            fs::copy(file.path(), folder.join(file.file_name())).unwrap();
        }
    }
    Kept {
        _dir: dir,
        folder,
        entries,
    }
}

fn open(folder: &Path) -> Result<Vec<Entry>, OpenError> {
    SqliteJournal::open(folder, Access::Write).map(|found| found.entries)
}

fn flip(path: &Path, at: usize) {
    let mut bytes = fs::read(path).unwrap();
    bytes[at] ^= 0x40;
    fs::write(path, bytes).unwrap();
}

#[test]
fn what_a_killed_process_stored_is_all_there() {
    let kept = killed();
    assert!(fs::metadata(kept.wal()).unwrap().len() > 0);
    assert_eq!(open(&kept.folder).unwrap(), kept.entries);
    assert_eq!(open(&kept.folder).unwrap(), kept.entries);
}

#[test]
fn a_reader_changes_nothing_of_what_a_killed_process_left() {
    let kept = killed();
    let log = fs::read(kept.wal()).unwrap();
    let found = SqliteJournal::open(&kept.folder, Access::Read).unwrap();
    assert_eq!(found.entries, kept.entries);
    drop(found);
    assert_eq!(fs::read(kept.wal()).unwrap(), log);
}

/// Every byte of the file would take minutes; a prime stride meets each page's
/// header, cells and text somewhere over the whole file.
#[test]
fn a_flipped_byte_is_found_or_changes_nothing() {
    let kept = closed();
    let path = kept.file(JOURNAL);
    let whole = fs::read(&path).unwrap();
    let (mut found, mut harmless) = (0, 0);
    for at in (0..whole.len()).step_by(89) {
        flip(&path, at);
        match open(&kept.folder) {
            Err(_) => found += 1,
            Ok(entries) => {
                assert_eq!(entries, kept.entries, "byte {at} changed what was written");
                harmless += 1;
            }
        }
        fs::write(&path, &whole).unwrap();
        let _ = fs::remove_file(kept.wal());
        let _ = fs::remove_file(kept.file(&format!("{JOURNAL}-shm")));
    }
    assert!(found > 20, "{found} found, {harmless} harmless");
    assert_eq!(open(&kept.folder).unwrap(), kept.entries);
}

#[test]
fn a_flipped_byte_of_a_record_names_the_record() {
    let kept = closed();
    let path = kept.file(JOURNAL);
    let bytes = fs::read(&path).unwrap();
    let text = b"1 of 2 commands failed";
    let at = bytes.windows(text.len()).position(|part| part == text);
    flip(&path, at.unwrap());
    let error = open(&kept.folder).unwrap_err();
    let settled = kept
        .entries
        .iter()
        .find(|entry| matches!(entry.record, protocol::record::Record::Settled { .. }));
    let OpenError::Corrupt { seq, .. } = &error else {
        panic!("{error}");
    };
    assert_eq!(*seq, settled.map(|entry| entry.seq));
    assert!(
        error.remedy().contains("never mend it by hand"),
        "{}",
        error.remedy()
    );
}

#[test]
fn a_flipped_byte_of_the_log_loses_no_record_unnoticed() {
    let kept = killed();
    let whole = fs::read(kept.wal()).unwrap();
    let main = fs::read(kept.file(JOURNAL)).unwrap();
    let head = fs::read(kept.file(HEAD)).unwrap();
    let mut found = 0;
    for at in (0..whole.len()).step_by(997) {
        flip(&kept.wal(), at);
        match open(&kept.folder) {
            Err(_) => found += 1,
            Ok(entries) => assert_eq!(entries, kept.entries, "byte {at}"),
        }
        fs::write(kept.file(JOURNAL), &main).unwrap();
        fs::write(kept.wal(), &whole).unwrap();
        fs::write(kept.file(HEAD), &head).unwrap();
        let _ = fs::remove_file(kept.file(&format!("{JOURNAL}-shm")));
    }
    assert!(found > 20, "{found} found");
}

#[test]
fn a_missing_log_is_found() {
    let kept = killed();
    fs::remove_file(kept.wal()).unwrap();
    let error = open(&kept.folder).unwrap_err();
    // Nothing had moved from the log to the file yet: not even the tables.
    assert!(
        matches!(
            error,
            OpenError::Short { .. } | OpenError::Unfinished { .. }
        ),
        "{error}"
    );
}

#[test]
fn a_cut_log_is_found_at_every_length() {
    let kept = killed();
    let whole = fs::read(kept.wal()).unwrap();
    let main = fs::read(kept.file(JOURNAL)).unwrap();
    for len in (0..whole.len()).step_by(4_096 + 24) {
        fs::write(kept.wal(), &whole[..len]).unwrap();
        assert!(open(&kept.folder).is_err(), "cut at {len}");
        fs::write(kept.file(JOURNAL), &main).unwrap();
        let _ = fs::remove_file(kept.file(&format!("{JOURNAL}-shm")));
    }
}

#[test]
fn a_truncated_file_is_found_at_every_page() {
    let kept = closed();
    let path = kept.file(JOURNAL);
    let whole = fs::read(&path).unwrap();
    for len in (0..whole.len())
        .step_by(4_096)
        .chain([1, 15, 16, 100, whole.len() - 1])
    {
        fs::write(&path, &whole[..len]).unwrap();
        let error = open(&kept.folder).unwrap_err();
        assert_eq!(
            matches!(error, OpenError::Unfinished { .. }),
            len == 0,
            "{len}: {error}"
        );
    }
}

fn without_triggers(kept: &Kept, change: &str) {
    let conn = Connection::open(kept.file(JOURNAL)).unwrap();
    let sql = |name: &str| -> String {
        conn.query_row(
            "SELECT sql FROM sqlite_schema WHERE name = ?",
            [name],
            |row| row.get(0),
        )
        .unwrap()
    };
    let triggers = [
        "record_never_changes",
        "record_never_goes",
        "record_comes_last",
    ];
    let kept = triggers.map(sql);
    for name in triggers {
        conn.execute_batch(&format!("DROP TRIGGER {name}")).unwrap();
    }
    conn.execute_batch(change).unwrap();
    for sql in kept {
        conn.execute_batch(&sql).unwrap();
    }
}

#[test]
fn whoever_goes_round_the_triggers_is_found_by_the_chain() {
    for (change, wanted) in [
        ("DELETE FROM record WHERE seq = 1", 1),
        ("DELETE FROM record WHERE seq = 5", 5),
        ("UPDATE record SET at = at + 1 WHERE seq = 3", 3),
        ("UPDATE record SET run_ms = 0 WHERE seq = 4", 4),
        ("UPDATE record SET kind = 'read' WHERE seq = 2", 2),
        (
            "UPDATE record SET body = (SELECT body FROM record WHERE seq = 2) WHERE seq = 15",
            15,
        ),
        ("UPDATE record SET seq = -1 WHERE seq = 1", 1),
        (
            "INSERT INTO record SELECT -1, at, run_ms, kind, body, chain FROM record WHERE seq = 1",
            1,
        ),
    ] {
        let kept = closed();
        without_triggers(&kept, change);
        let error = open(&kept.folder).unwrap_err();
        assert!(
            matches!(&error, OpenError::Corrupt { seq: Some(Seq(at)), .. } if *at == wanted),
            "{change}: {error}"
        );
    }
}

#[test]
fn records_taken_from_the_end_are_missed() {
    let kept = closed();
    without_triggers(&kept, "DELETE FROM record WHERE seq > 9");
    let error = open(&kept.folder).unwrap_err();
    let last = Seq(kept.entries.len() as u64);
    assert!(
        matches!(error, OpenError::Short { last: Seq(9), stored, .. } if stored == last),
        "{error}"
    );
}

#[test]
fn an_older_copy_of_the_file_is_not_gone_on_with() {
    let kept = closed();
    let old = fs::read(kept.file(JOURNAL)).unwrap();
    let mut journal = SqliteJournal::open(&kept.folder, Access::Write)
        .unwrap()
        .journal;
    let owner = journal.claim().unwrap();
    let end = Seq(kept.entries.len() as u64);
    let record = kept.entries[0].record.clone();
    journal.append(owner, end, WallMs(0), 0, &record).unwrap();
    drop(journal);
    fs::write(kept.file(JOURNAL), old).unwrap();
    let error = open(&kept.folder).unwrap_err();
    assert!(matches!(error, OpenError::Short { .. }), "{error}");
}

#[test]
fn a_torn_head_is_written_anew_and_an_old_one_is_brought_up() {
    let kept = closed();
    let head = fs::read(kept.file(HEAD)).unwrap();
    fs::write(kept.file(HEAD), &head[..40]).unwrap();
    let found = SqliteJournal::open(&kept.folder, Access::Write).unwrap();
    assert!(found.mended.is_some());
    drop(found);
    assert_eq!(fs::read(kept.file(HEAD)).unwrap(), head);
    let begin = super::chain::Head::new(Seq(0), super::chain::genesis());
    fs::write(kept.file(HEAD), begin.line()).unwrap();
    assert_eq!(
        SqliteJournal::open(&kept.folder, Access::Write)
            .unwrap()
            .mended,
        None
    );
    assert_eq!(fs::read(kept.file(HEAD)).unwrap(), head);
}

#[test]
fn a_flipped_byte_of_the_head_is_found_and_no_record_is_lost_for_it() {
    let kept = closed();
    let head = fs::read(kept.file(HEAD)).unwrap();
    for at in 0..head.len() {
        for bit in [0x01, 0x40, 0x80] {
            let mut bytes = head.clone();
            bytes[at] ^= bit;
            fs::write(kept.file(HEAD), bytes).unwrap();
            let found = SqliteJournal::open(&kept.folder, Access::Write).unwrap();
            assert!(found.mended.is_some(), "byte {at}, bit {bit}");
            assert_eq!(found.entries, kept.entries, "byte {at}, bit {bit}");
            drop(found);
            assert_eq!(fs::read(kept.file(HEAD)).unwrap(), head);
        }
    }
}

#[test]
fn a_head_of_another_session_does_not_fit() {
    let kept = closed();
    let strange = super::chain::Head::new(Seq(7), [7; 32]);
    fs::write(kept.file(HEAD), strange.line()).unwrap();
    let error = open(&kept.folder).unwrap_err();
    assert!(
        matches!(
            error,
            OpenError::Corrupt {
                seq: Some(Seq(7)),
                ..
            }
        ),
        "{error}"
    );
}

//= spec L1 type=test
#[test]
fn a_journal_in_the_folder_of_another_session_is_refused() {
    let kept = closed();
    let above = kept.folder.parent().unwrap();
    let own = above.join(sample::sid().as_str());
    fs::rename(&kept.folder, &own).unwrap();
    assert_eq!(open(&own).unwrap(), kept.entries);
    let anothers = above.join("00112233445566bb");
    fs::rename(&own, &anothers).unwrap();
    let error = open(&anothers).unwrap_err();
    let said = error.to_string();
    assert!(said.contains("of session 00112233445566aa"), "{said}");
    assert!(matches!(error, OpenError::Corrupt { .. }));
}

#[test]
fn nothing_is_begun_anew_where_a_session_was() {
    let kept = closed();
    assert!(matches!(
        SqliteJournal::create(&kept.folder),
        Err(OpenError::Exists { .. })
    ));
    fs::write(kept.file(JOURNAL), b"").unwrap();
    assert!(matches!(
        open(&kept.folder),
        Err(OpenError::Unfinished { .. })
    ));
    fs::write(kept.file(JOURNAL), b"somebody's notes on something").unwrap();
    assert!(matches!(
        open(&kept.folder),
        Err(OpenError::Corrupt { seq: None, .. })
    ));
    fs::remove_file(kept.file(JOURNAL)).unwrap();
    assert!(matches!(open(&kept.folder), Err(OpenError::Gone { .. })));
    assert!(!kept.file(JOURNAL).exists(), "it was made anew");
    let kept = closed();
    fs::remove_file(kept.file(HEAD)).unwrap();
    assert!(matches!(open(&kept.folder), Err(OpenError::Gone { .. })));
    fs::remove_dir_all(&kept.folder).unwrap();
    assert!(matches!(
        open(&kept.folder),
        Err(OpenError::NoSession { .. })
    ));
}
