//! Lists of sessions, and what becomes of a list that is not as it was.

use super::*;
use crate::journal::sample;
use protocol::record::{Journal, Record, Seq};

fn place() -> (tempfile::TempDir, Place) {
    let dir = tempfile::tempdir().unwrap();
    let place = Place::find(Some(dir.path().to_owned())).unwrap();
    (dir, place)
}

/// A session with the first `len` records of the sample.
fn session(place: &Place, sid: &str, len: usize) -> SqliteJournal {
    let sid = Sid::parse(sid).unwrap();
    let mut journal = SqliteJournal::create(&place.session(&sid)).unwrap();
    let owner = journal.claim().unwrap();
    let mut records = sample::records();
    if let Some(Record::Opened(opened)) = records.first_mut() {
        opened.offer.terms.sid = sid;
    }
    for (nth, record) in records.iter().take(len).enumerate() {
        let nth = nth as u64;
        let at = WallMs(sample::BEGAN + nth);
        journal.append(owner, Seq(nth), at, nth, record).unwrap();
    }
    journal
}

fn standings(place: &Place) -> Vec<(String, Option<Standing>)> {
    list(place)
        .unwrap()
        .into_iter()
        .map(|listed| {
            (
                listed.sid.to_string(),
                listed.summary.ok().map(|summary| summary.standing),
            )
        })
        .collect()
}

const ONE: &str = "00112233445566aa";
const TWO: &str = "00112233445566bb";

#[test]
fn sessions_are_listed_the_latest_first_with_where_they_stand() {
    let (_dir, place) = place();
    let all = sample::records().len();
    let dispatched = sample::records()
        .iter()
        .position(|record| matches!(record, Record::Dispatching { .. }));
    session(&place, ONE, all);
    session(&place, TWO, dispatched.unwrap() + 1);
    let open = Standing::Open {
        outcome: None,
        unknown: true,
        started: false,
    };
    let wanted = vec![
        (ONE.to_owned(), Some(Standing::Done)),
        (TWO.to_owned(), Some(open)),
    ];
    assert_eq!(standings(&place), wanted);
    assert_eq!(standings(&place), wanted);
}

#[test]
fn a_session_that_went_on_is_read_anew() {
    let (_dir, place) = place();
    let all = sample::records().len();
    let mut journal = session(&place, ONE, all - 1);
    let before = standings(&place);
    let owner = journal.claim().unwrap();
    let stop = Record::Stopped(protocol::record::Stop {
        outcome: Outcome::Manual,
        code: Some(Code::Draft),
        row: None,
        why: "a draft".into(),
        standing: true,
        interrupted: false,
        facts: None,
    });
    let place_of = Seq(all as u64 - 1);
    journal
        .append(owner, place_of, WallMs(0), 0, &stop)
        .unwrap();
    let after = standings(&place);
    assert_ne!(before, after);
    let stopped = Standing::Stopped {
        outcome: Outcome::Manual,
        code: Some(Code::Draft),
    };
    assert_eq!(after, [(ONE.to_owned(), Some(stopped))]);
}

#[test]
fn a_missing_foreign_or_damaged_list_is_made_anew() {
    let (_dir, place) = place();
    session(&place, ONE, sample::records().len());
    let wanted = standings(&place);
    for damage in [
        &b""[..],
        b"somebody's notes",
        b"SQLite format 3\0 and then nothing",
    ] {
        fs::write(place.index(), damage).unwrap();
        assert_eq!(standings(&place), wanted, "{damage:?}");
    }
    let conn = Connection::open(place.index()).unwrap();
    conn.execute("UPDATE session SET summary = '{}'", [])
        .unwrap();
    assert_eq!(standings(&place), wanted);
    conn.pragma_update(None, "user_version", VERSION + 1)
        .unwrap();
    assert_eq!(standings(&place), wanted);
}

#[test]
fn a_damaged_journal_is_listed_as_such_and_hides_no_other() {
    let (_dir, place) = place();
    session(&place, ONE, sample::records().len());
    fs::create_dir(place.state.join(TWO)).unwrap();
    let all = standings(&place);
    assert_eq!(all.len(), 2);
    assert_eq!(all[1], (TWO.to_owned(), None));
}
