//! Both forms over the sample session, and what they must never do.

use std::io;

use protocol::{
    outcome::Outcome,
    page::TurnId,
    record::{Entry, Record, State, Stop},
    reply::{Phase as ReplyPhase, Progress},
    session::Phase,
    time::Millis,
};

use super::{JsonReporter, events, human, stop_words, summary, words};
use crate::{journal::sample, testing::snapshot};

fn walk(mut each: impl FnMut(&Entry, &State)) -> State {
    let mut state = State::default();
    for entry in sample::entries() {
        state.apply(&entry).unwrap();
        each(&entry, &state);
    }
    state
}

fn last_stop(state: &State) -> Stop {
    state.stop.clone().unwrap()
}

fn progress(chars: u32) -> Progress {
    Progress {
        phase: ReplyPhase::Streaming,
        own: Some(TurnId("u1".into())),
        holds: vec![],
        missing: Vec::new(),
        look_by: Millis(0),
        want: None,
        chars,
        changed_at: Millis(0),
    }
}

fn json_of_the_sample() -> String {
    let mut reporter = JsonReporter::new(Vec::new());
    let state = walk(|entry, state| {
        reporter.stored(entry, state);
        if matches!(&entry.record, Record::Outcome { .. }) {
            reporter.progress(Phase::Storing, None, Millis(1));
            reporter.progress(Phase::Waiting, None, Millis(1));
            reporter.progress(Phase::Waiting, None, Millis(2));
            reporter.progress(Phase::Streaming, Some(&progress(14)), Millis(3));
            reporter.progress(Phase::Streaming, Some(&progress(99)), Millis(4));
        }
        if matches!(&entry.record, Record::Judged { .. }) {
            reporter.progress(Phase::Approving, None, Millis(5));
            reporter.progress(Phase::Executing, None, Millis(6));
        }
    });
    reporter.warning(None, "two tabs show \u{1b}[2Jthe conversation");
    reporter.finished(&last_stop(&state), &state, 0);
    String::from_utf8(reporter.into_inner()).unwrap()
}

#[test]
fn the_sample_session_as_json() {
    snapshot!("output_json", json_of_the_sample());
}

#[test]
fn every_line_is_an_object_with_the_version_and_its_event() {
    const EVENTS: [&str; 12] = [
        "started",
        "attached",
        "sent",
        "waiting",
        "reply",
        "plan",
        "approval",
        "executed",
        "checkpoint",
        "recovery",
        "warning",
        "finished",
    ];
    let mut met = std::collections::BTreeSet::new();
    for line in json_of_the_sample().lines() {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(value["schema_version"], 1, "{line}");
        let name = value["event"].as_str().unwrap();
        assert!(EVENTS.contains(&name), "{name}");
        met.insert(name.to_owned());
    }
    assert_eq!(met.len(), 12, "{met:?}");
}

#[test]
fn finished_has_its_fields_and_no_others() {
    let last = json_of_the_sample().lines().last().unwrap().to_owned();
    let value: serde_json::Value = serde_json::from_str(&last).unwrap();
    let fields: Vec<&str> = value
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    let mut wanted = vec![
        "schema_version",
        "event",
        "outcome",
        "code",
        "exit",
        "sid",
        "rounds",
        "messages_sent",
        "repairs",
        "recoveries",
        "row",
        "interrupted",
    ];
    wanted.sort_unstable();
    let mut fields = fields;
    fields.sort_unstable();
    assert_eq!(fields, wanted);
}

#[test]
fn the_sample_session_as_text() {
    let mut text = String::new();
    let state = walk(|entry, state| {
        for told in events(entry, state) {
            if let Some(line) = words::line(&told.event) {
                text.push_str(&line);
                text.push('\n');
            }
        }
    });
    let end = summary(&last_stop(&state), &state, None, 0);
    let mut out = Vec::new();
    human::result(&mut out, &end, Some("/state/journal.sqlite3".as_ref())).unwrap();
    text.push_str("-- stdout\n");
    text.push_str(&String::from_utf8(out).unwrap());
    snapshot!("output_text", text);
}

#[test]
fn nothing_from_page_or_plan_reaches_a_terminal_as_a_control() {
    let mut shown = json_of_the_sample();
    walk(|entry, state| {
        for told in events(entry, state) {
            shown.push_str(&words::line(&told.event).unwrap_or_default());
            shown.push('\n');
        }
    });
    let control = shown.chars().find(|c| c.is_control() && *c != '\n');
    assert_eq!(control, None);
    assert!(!shown.contains("\\u001b"), "an escape survived in the JSON");
}

#[test]
fn the_progress_line_says_round_state_since_when_and_how_much() {
    for (round, phase, since, chars, text) in [
        (None, Phase::Attaching, 0, 0, "attaching to the tab"),
        (Some(2), Phase::Thinking, 999, 0, "round 2: thinking"),
        (
            Some(2),
            Phase::Streaming,
            150_000,
            4_096,
            "round 2: streaming, for 2 min, 4096 characters so far",
        ),
    ] {
        assert_eq!(human::status(round, phase, since, chars), text);
    }
}

/// A reader that went away, as `brb run --json | head -1` makes one.
struct Closed(u32);

impl io::Write for Closed {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        self.0 += 1;
        Err(io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_reader_that_went_away_is_written_to_once_and_never_again() {
    let mut reporter = JsonReporter::new(Closed(0));
    walk(|entry, state| reporter.stored(entry, state));
    assert_eq!(reporter.into_inner().0, 1);
}

#[test]
fn a_stop_says_what_happened_and_what_to_do() {
    let mut text = String::new();
    for outcome in Outcome::WORST_FIRST {
        for code in [None, Some(protocol::fault::Code::Draft)] {
            let stop = Stop {
                outcome,
                code,
                row: None,
                why: "something\u{7} happened".into(),
                standing: false,
                interrupted: false,
                facts: None,
            };
            let (what, help) = stop_words(&stop, &State::default());
            if code.is_none() || outcome == Outcome::Manual {
                text.push_str(&format!("{what}\n  help: {help}\n"));
            }
        }
    }
    snapshot!("output_stops", text);
}

#[test]
fn the_last_row_of_the_run_is_told_where_the_stop_names_none() {
    let last = json_of_the_sample().lines().last().unwrap().to_owned();
    assert!(last.contains("\"row\":\"R3\""), "{last}");
    let state = walk(|_, _| {});
    let end = summary(&last_stop(&state), &state, None, 0);
    assert_eq!((end.row, end.recoveries, end.repairs), (None, 1, 1));
}
