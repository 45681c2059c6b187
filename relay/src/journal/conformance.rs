//! What every journal must do, whatever it is kept in: the model in memory and
//! the one on the disk are put through the same turns and must answer alike.

use proptest::prelude::*;
use protocol::{
    record::{Entry, Fenced, Journal, JournalError, MemoryJournal, Owner, Seq},
    time::WallMs,
};

use super::{Access, SqliteJournal, sample};

fn on_disk() -> (tempfile::TempDir, SqliteJournal) {
    let dir = tempfile::tempdir().unwrap();
    let journal = SqliteJournal::create(&dir.path().join("s")).unwrap();
    (dir, journal)
}

fn with_each(check: impl Fn(&mut dyn Journal)) {
    check(&mut MemoryJournal::default());
    check(&mut crate::sim::disk());
    check(&mut on_disk().1);
}

fn append(journal: &mut dyn Journal, owner: Owner, at: u64) -> Result<Entry, JournalError> {
    journal.append(owner, Seq(at), WallMs(at), at, &sample::opened())
}

#[test]
fn what_was_appended_is_read_back_in_order() {
    with_each(|journal| {
        let owner = journal.claim().unwrap();
        let mut stored = Vec::new();
        for (nth, record) in sample::records().iter().enumerate() {
            let nth = nth as u64;
            let at = WallMs(1_000 - nth);
            let entry = journal.append(owner, Seq(nth), at, nth, record).unwrap();
            assert_eq!((entry.seq, entry.at), (Seq(nth + 1), at));
            stored.push(entry);
        }
        assert_eq!(journal.entries().unwrap(), stored);
    });
}

#[test]
fn a_second_owner_fences_the_first_off() {
    with_each(|journal| {
        let first = journal.claim().unwrap();
        append(journal, first, 0).unwrap();
        let second = journal.claim().unwrap();
        assert!(second > first);
        let refused = append(journal, first, 1);
        let fenced = Fenced::Owner { now: second };
        assert_eq!(refused, Err(JournalError::Fenced(fenced)));
        assert_eq!(journal.renew(first), Err(JournalError::Fenced(fenced)));
        assert_eq!(journal.renew(second), Ok(()));
        assert!(append(journal, second, 1).is_ok());
        assert_eq!(journal.entries().unwrap().len(), 2);
    });
}

#[test]
fn a_record_goes_to_the_place_that_its_writer_believes_in_or_nowhere() {
    with_each(|journal| {
        let owner = journal.claim().unwrap();
        append(journal, owner, 0).unwrap();
        for place in [0, 2] {
            let fenced = Fenced::Seq { now: Seq(1) };
            let refused = append(journal, owner, place);
            assert_eq!(refused, Err(JournalError::Fenced(fenced)), "{place}");
        }
        assert_eq!(journal.entries().unwrap().len(), 1);
    });
}

#[test]
fn who_gave_the_journal_back_writes_no_more() {
    with_each(|journal| {
        let owner = journal.claim().unwrap();
        journal.release(owner).unwrap();
        for refused in [append(journal, owner, 0).map(|_| ()), journal.renew(owner)] {
            let fenced = matches!(refused, Err(JournalError::Fenced(Fenced::Owner { .. })));
            assert!(fenced, "{refused:?}");
        }
        let next = journal.claim().unwrap();
        journal.release(owner).unwrap();
        assert!(append(journal, next, 0).is_ok());
    });
}

#[derive(Debug, Clone)]
enum Turn {
    Claim,
    /// By the nth newest owner.
    Release(u64),
    /// By the nth newest owner.
    Renew(u64),
    /// By the nth newest owner, that far from the end, the record of that number.
    Append(u64, i8, usize),
}

fn turns() -> impl Strategy<Value = Vec<Turn>> {
    let turn = prop_oneof![
        2 => Just(Turn::Claim),
        1 => (0..3_u64).prop_map(Turn::Release),
        1 => (0..3_u64).prop_map(Turn::Renew),
        6 => (prop_oneof![4 => Just(0), 1 => 1..4_u64], prop_oneof![5 => Just(0), 1 => -2..3_i8], any::<usize>())
            .prop_map(|(owner, off, which)| Turn::Append(owner, off, which)),
    ];
    prop::collection::vec(turn, 1..24)
}

type Said = (Option<Owner>, Option<Result<Option<Entry>, JournalError>>);

fn play(journal: &mut dyn Journal, turn: &Turn, newest: u64) -> Said {
    let records = sample::records();
    match turn {
        Turn::Claim => (Some(journal.claim().unwrap()), None),
        Turn::Release(back) => {
            journal
                .release(Owner(newest.saturating_sub(*back)))
                .unwrap();
            (None, None)
        }
        Turn::Renew(back) => {
            let said = journal.renew(Owner(newest.saturating_sub(*back)));
            (None, Some(said.map(|()| None)))
        }
        Turn::Append(back, off, which) => {
            let end = journal.entries().unwrap().len() as u64;
            let said = journal.append(
                Owner(newest.saturating_sub(*back)),
                Seq(end.saturating_add_signed(i64::from(*off))),
                WallMs(end),
                end,
                &records[which % records.len()],
            );
            (None, Some(said.map(Some)))
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn both_journals_answer_alike_and_hold_the_same(turns in turns()) {
        let mut model = MemoryJournal::default();
        let (dir, mut disk) = on_disk();
        let mut newest = 0;
        for turn in &turns {
            let said = play(&mut model, turn, newest);
            prop_assert_eq!(&play(&mut disk, turn, newest), &said);
            newest = said.0.map_or(newest, |owner| owner.0);
        }
        let held = model.entries().unwrap();
        prop_assert_eq!(&disk.entries().unwrap(), &held);
        drop(disk);
        let again = SqliteJournal::open(&dir.path().join("s"), Access::Write).unwrap();
        prop_assert_eq!(&again.entries, &held);
        prop_assert_eq!(again.mended, None);
    }
}
