//! Every recording of a case of the field: the verdict that a person wrote down, and what
//! no damage to a timeline may bring about.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::path::Path;
use std::sync::Mutex;

use capture::Limits;
use protocol::page::Observation;
use protocol::reply::Verdict;
use relay::recording::replay::outcome;
use relay::recording::tell::held;
use relay::recording::{Judge, Judged, Recording};

/// Past every limit.
const LATE_MS: u64 = 100_000_000;

/// Groups of cases that have to be there, in both layouts.
const CASES: &[&str] = &[
    "a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8", "a9", "b1", "b2", "b3", "b4", "b5", "b6", "b7",
    "b8", "b9", "b10", "b11", "b12", "b13", "c1", "c2", "c3", "c4", "c5", "c6", "f1", "f2", "f3",
    "f4", "f5", "f6", "f7", "g1", "g3", "i1", "i2", "i3", "i4", "i5", "i6",
];
/// Pages that have to be there besides: drawn by frames, in time and never; the reader
/// cancelled at `[DONE]`; the socket left open after it; the stream cut; the reply by web
/// socket; ten minutes of silence.
const PAGES: &[&str] = &[
    "b11-frames",
    "b11-never",
    "b12",
    "b12-open",
    "b12-no-done",
    "b13",
    "b13-fence",
    "ws",
    "silence",
];

fn all() -> Vec<Recording> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/recordings");
    let entries = std::fs::read_dir(Path::new(root)).unwrap();
    let mut dirs: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    dirs.sort();
    let load = |dir: &std::path::PathBuf| {
        assert!(
            dir.join("about.md").exists(),
            "{} says nothing",
            dir.display()
        );
        Recording::load(dir).unwrap_or_else(|error| panic!("{error}"))
    };
    dirs.iter().map(load).collect()
}

/// Tries each recording, on as many threads as there are; gives all that went wrong.
fn each(check: impl Fn(&Recording) -> Vec<String> + Sync) {
    let all = all();
    let queue = Mutex::new(all.iter());
    let faults = Mutex::new(Vec::new());
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let Some(recording) = queue.lock().unwrap().next() else {
                        return;
                    };
                    let found = check(recording);
                    faults.lock().unwrap().extend(found);
                }
            });
        }
    });
    let faults = faults.into_inner().unwrap();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_case_is_there_in_both_layouts() {
    let names: Vec<_> = all().into_iter().map(|one| one.name).collect();
    for case in CASES {
        for layout in ["classic", "keyed"] {
            let is_it = |name: &String| {
                let rest = name
                    .strip_prefix(case)
                    .and_then(|rest| rest.strip_prefix('-'));
                rest.is_some_and(|rest| rest.ends_with(layout))
            };
            assert!(names.iter().any(is_it), "{case} in {layout}");
        }
    }
    for page in PAGES {
        for layout in ["classic", "keyed"] {
            assert!(names.contains(&format!("{page}-{layout}")), "{page}");
        }
    }
    // Only this layout numbers its turns.
    assert!(names.contains(&"g2-classic".to_owned()));
}

#[test]
fn every_recording_comes_to_its_expected_verdict() {
    each(|recording| {
        let Some(expected) = &recording.expected else {
            return vec![format!("{}: nothing is expected", recording.name)];
        };
        let steps = recording.steps();
        let differs = expected.differs(outcome(&steps).unwrap());
        differs
            .map(|why| format!("{}: {why}", recording.name))
            .into_iter()
            .collect()
    });
}

/// A verdict that is reached at the very last line could not be too early.
#[test]
fn at_least_five_events_follow_the_first_witness() {
    each(|recording| {
        let steps = recording.steps();
        let witness = steps.iter().position(|step| {
            held(&step.judged).is_some_and(|held| held.page || held.end || held.text)
        });
        let after = witness.map_or(usize::MAX, |at| {
            recording.seen.len() - (at + 1).min(recording.seen.len())
        });
        (after < 5)
            .then(|| format!("{}: {after} events after the first witness", recording.name))
            .into_iter()
            .collect()
    });
}

//= spec C2 type=test
//= spec C3 type=test
#[test]
fn no_proper_prefix_is_ever_complete_however_late_it_is() {
    each(|recording| {
        let mut judge = Judge::new(&recording.awaiting, Limits::default());
        let mut faults = Vec::new();
        for end in 0..=recording.seen.len() {
            if end > 0 {
                let (t_ms, observation) = &recording.seen[end - 1];
                judge.observe(*t_ms, observation);
                if judge.judge(*t_ms).is_complete() {
                    // From here on it is the whole.
                    break;
                }
            }
            let now = end.checked_sub(1).map_or(0, |at| recording.seen[at].0);
            for later in [0, 5_000, 130_000, LATE_MS] {
                if judge.judge(now + later).is_complete() {
                    faults.push(format!(
                        "{}: complete {later} ms after {end} events",
                        recording.name
                    ));
                }
            }
        }
        faults
    });
}

/// Takes the rest of a timeline in and says where it is complete with anything but the
/// whole text.
fn only_whole<'a>(
    recording: &Recording,
    mut judge: Judge,
    rest: impl Iterator<Item = &'a (u64, Observation)>,
    how: &str,
) -> Option<String> {
    let whole = &recording.expected.as_ref()?.whole;
    let mut now = 0;
    let wrong = |judged: &Judged| match judged {
        Judged::Verdict(Verdict::Complete(captured)) if captured.text.as_str() != whole => {
            Some(format!("{}: complete with a part, {how}", recording.name))
        }
        Judged::Verdict(_) | Judged::Blocked(_) => None,
    };
    for (t_ms, observation) in rest {
        now = now.max(*t_ms);
        judge.observe(*t_ms, observation);
        if let Some(fault) = wrong(&judge.judge(now)) {
            return Some(fault);
        }
    }
    wrong(&judge.judge(now + LATE_MS))
}

//= spec C2 type=test
#[test]
fn without_any_single_event_complete_means_the_whole_text() {
    each(|recording| {
        let mut judge = Judge::new(&recording.awaiting, Limits::default());
        let mut faults = Vec::new();
        for (at, (t_ms, observation)) in recording.seen.iter().enumerate() {
            let rest = recording.seen[at + 1..].iter();
            let how = format!("without event {at}");
            faults.extend(only_whole(recording, judge.clone(), rest, &how));
            judge.observe(*t_ms, observation);
        }
        faults
    });
}

//= spec C2 type=test
#[test]
fn with_any_two_neighbours_swapped_complete_means_the_whole_text() {
    each(|recording| {
        let mut judge = Judge::new(&recording.awaiting, Limits::default());
        let mut faults = Vec::new();
        for (at, pair) in recording.seen.windows(2).enumerate() {
            let (first, second) = (&pair[0], &pair[1]);
            let swapped = [(first.0, second.1.clone()), (second.0, first.1.clone())];
            let rest = swapped.iter().chain(&recording.seen[at + 2..]);
            let how = format!("with events {at} and {} swapped", at + 1);
            faults.extend(only_whole(recording, judge.clone(), rest, &how));
            judge.observe(first.0, &first.1);
        }
        faults
    });
}
