//! What no run may do, whatever was done to it: held against the stand-in's log, the
//! journal, the work folder and the machine.

use std::collections::{BTreeMap, BTreeSet};

use fixtures::{
    fault::FaultKind,
    log::{Role, TurnLine},
};
use protocol::{
    frame::Frame,
    message,
    outcome::{Outcome, Signal},
    record::{Entry, Record, State},
    recovery::RowId,
    send::{SendKind, SendState},
    wire,
};

use super::what::{Act, Fault};
use crate::{agent::Approve, demo::checks};

/// Everything that a run left to be looked at.
pub struct Traces<'a> {
    /// What was done to it.
    pub fault: &'a Fault,
    /// The stand-in's log.
    pub turns: &'a [TurnLine],
    /// The journal.
    pub entries: &'a [Entry],
    /// What it folds to.
    pub state: &'a State,
    /// What the judge found, where it is not clean.
    pub judged: Option<String>,
    /// One line for each time that a plan ran.
    pub ran: &'a [String],
    /// The exit number; none where a signal ended the relay.
    pub exit: Option<i32>,
    /// The exit that the relay's last line announced.
    pub announced: Option<u64>,
    /// Processes that were left running.
    pub left: &'a [String],
    /// The work folder.
    pub workspace: &'a std::path::Path,
    /// The seed of project and scenario.
    pub seed: u64,
}

/// What was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// Messages that were sent twice.
    pub duplicates: usize,
    /// Plans that ran twice.
    pub twice: usize,
    /// Replies that were taken though the remote did not finish them so.
    pub partials: usize,
    /// Everything, in words.
    pub violations: Vec<String>,
}

/// Holds a run against everything.
pub fn check(traces: &Traces<'_>) -> Found {
    let mut found = Found::default();
    let twice = sent_twice(traces.turns);
    found.duplicates = twice.len().max(usize::from(traces.judged.is_some()));
    for seen in twice.into_iter().chain(traces.judged.clone()) {
        found.violations.push(format!("a message twice: {seen}"));
    }
    foreign(traces, &mut found.violations);
    plans(traces, &mut found);
    promises(traces, &mut found);
    forbidden(traces, &mut found.violations);
    exit(traces, &mut found.violations);
    for what in traces.left {
        found.violations.push(format!("left running: {what}"));
    }
    found
}

/// The judge's rule once more, in our own words: neither can be wrong alone.
//= spec S6
fn sent_twice(turns: &[TurnLine]) -> Vec<String> {
    let mut seen = Vec::new();
    let mut open: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    let mut rounds: BTreeMap<&str, BTreeSet<(String, u32)>> = BTreeMap::new();
    for turn in turns {
        let place = turn.conversation.as_str();
        if turn.role == Role::Assistant {
            if turn.finished {
                open.remove(place);
            }
            continue;
        }
        if !open
            .entry(place)
            .or_default()
            .insert(wire::canonical(&turn.text))
        {
            seen.push(format!("turn {} repeats an unanswered one", turn.n));
        }
        let mut lines = turn.text.lines();
        let first = lines.next().unwrap_or_default().trim_end();
        if first == "# RESUME pi-bridge/1" {
            rounds.remove(place);
        } else if first == "# ROUND pi-bridge/1"
            && let Ok(frame) = Frame::parse(lines.next().unwrap_or_default())
        {
            let round = (frame.sid.to_string(), frame.round.0);
            if !rounds.entry(place).or_default().insert(round) {
                seen.push(format!(
                    "turn {} is a second round {}",
                    turn.n, frame.round.0
                ));
            }
        }
    }
    seen
}

/// Every message in the log is one of ours, to the letter, but for those that the
/// fault itself wrote.
fn foreign(traces: &Traces<'_>, found: &mut Vec<String>) {
    let written: Vec<&str> = traces
        .state
        .sends
        .iter()
        .map(|row| row.intent.text.as_str())
        .collect();
    let strange = traces
        .turns
        .iter()
        .filter(|turn| turn.role == Role::User && !written.contains(&turn.text.as_str()));
    let expected = match traces.fault {
        Fault::Act(act) => usize::from(*act == Act::PersonQuotes),
        Fault::Switch(spec) | Fault::AtReload(spec) => usize::from(matches!(
            spec.fault,
            FaultKind::ForeignUserTurn | FaultKind::EditedTurn
        )),
    };
    let many = strange.count();
    if many > expected {
        found.push(format!("{many} messages arrived that were not written so"));
    }
}

fn plans(traces: &Traces<'_>, found: &mut Found) {
    let mut times: BTreeMap<&str, usize> = BTreeMap::new();
    for line in traces.ran {
        *times.entry(line).or_default() += 1;
    }
    for (plan, times) in times.into_iter().filter(|(_, times)| *times > 1) {
        found.twice += 1;
        found.violations.push(format!(
            "a plan twice: the one of round and p `{plan}` ran {times} times"
        ));
    }
}

/// The demo's own checks.
fn promises(traces: &Traces<'_>, found: &mut Found) {
    let Some(stop) = stop_of(traces.entries) else {
        return;
    };
    let demo = checks::Traces {
        turns: traces.turns,
        entries: traces.entries,
        state: traces.state,
        stop,
        approve: Approve::Workspace,
        workspace: traces.workspace,
        seed: traces.seed,
        judged: None,
    };
    let mut broken = Vec::new();
    checks::taken_as_given(&demo, &mut broken);
    found.partials = broken.len();
    checks::chained(&demo, &mut broken);
    checks::run_once(&demo, &mut broken);
    if stop.outcome == Outcome::Done {
        checks::left_behind(&demo, &mut broken);
    }
    for violation in broken {
        found
            .violations
            .push(format!("{}: {}", violation.promise, violation.seen));
    }
}

/// The last stop that was recorded.
pub fn stop_of(entries: &[Entry]) -> Option<&protocol::record::Stop> {
    entries.iter().rev().find_map(|entry| {
        if let Record::Stopped(stop) = &entry.record {
            Some(stop)
        } else {
            None
        }
    })
}

/// What the taken row forbids, as far as a message shows it.
fn forbidden(traces: &Traces<'_>, found: &mut Vec<String>) {
    let mut row = None;
    let mut hellos = 0;
    for entry in traces.entries {
        if let Record::Decided { row: taken, .. } = &entry.record {
            row = Some(*taken);
        }
        let Record::Intent(intent) = &entry.record else {
            continue;
        };
        let allowed: &[RowId] = match intent.message {
            SendKind::Hello => {
                hellos += 1;
                continue;
            }
            SendKind::Round | SendKind::Repair => continue,
            SendKind::Resync => &[RowId::R8, RowId::R9],
            SendKind::Resume => &[RowId::R5, RowId::R6, RowId::R7, RowId::R8, RowId::R9],
        };
        if !row.is_some_and(|row| allowed.contains(&row)) {
            let after = row.map_or("no row".to_owned(), |row| row.to_string());
            found.push(format!("forbidden: {} after {after}", intent.message));
        }
    }
    if hellos > 1 {
        found.push(format!("forbidden: HELLO was written {hellos} times"));
    }
    let sids: BTreeSet<String> = traces
        .turns
        .iter()
        .filter(|turn| turn.role == Role::User)
        .filter_map(|turn| message::recognise(protocol::page::Role::User, &turn.text))
        .map(|head| head.sid().to_string())
        .collect();
    if sids.len() > 1 {
        found.push(format!("forbidden: {} sessions in one run", sids.len()));
    }
}

/// The exit says what the journal says, and neither hides an unknown.
fn exit(traces: &Traces<'_>, found: &mut Vec<String>) {
    let Some(stop) = stop_of(traces.entries) else {
        found.push("the journal has no end".to_owned());
        return;
    };
    let due = i32::from(stop.outcome.exit(Signal::Interrupt));
    if traces.exit != Some(due) || traces.announced != u64::try_from(due).ok() {
        found.push(format!(
            "exit {:?}, announced {:?}, due {due}",
            traces.exit, traces.announced
        ));
    }
    let in_flight = traces.state.in_flight().map(|row| row.state());
    let unknown = in_flight == Some(SendState::Unknown);
    if unknown != (stop.outcome == Outcome::Unknown) {
        found.push(format!(
            "the run ends as {} while the send in flight is {in_flight:?}",
            stop.outcome
        ));
    }
    for row in &traces.state.sends {
        let text = row.intent.text.as_str();
        let arrived = traces
            .turns
            .iter()
            .any(|turn| turn.role == Role::User && turn.text == text);
        if arrived && row.state() == SendState::NotSent {
            found.push(format!(
                "{} arrived and is called not sent",
                row.intent.send
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(n: u64, role: Role, text: &str, finished: bool) -> TurnLine {
        TurnLine {
            n,
            at_ms: n,
            conversation: "c".to_owned(),
            role,
            text: text.to_owned(),
            sha256: String::new(),
            finished,
        }
    }

    fn round(n: u64, words: &str) -> TurnLine {
        let frame = "FRAME: s=0011223344556677 r=1 p=- q=e1db9b58";
        let text = format!("# ROUND pi-bridge/1\n{frame}\n\n{words}");
        turn(n, Role::User, &text, true)
    }

    //= spec S6 type=test
    #[test]
    fn a_repeated_message_is_one_without_a_finished_reply_between() {
        let user = |n, text| turn(n, Role::User, text, true);
        let cut = turn(2, Role::Assistant, "y", false);
        let whole = turn(2, Role::Assistant, "y", true);
        let twice = |turns: &[TurnLine]| sent_twice(turns).len();
        assert_eq!(twice(&[user(1, "x"), cut, user(3, "x \n")]), 1);
        assert_eq!(twice(&[user(1, "x"), whole, user(3, "x")]), 0);
    }

    //= spec S6 type=test
    #[test]
    fn a_second_round_of_a_number_wants_a_resume_between() {
        let reply = |n| turn(n, Role::Assistant, "y", true);
        let resume = turn(
            3,
            Role::User,
            "# RESUME pi-bridge/1\nS: 0011223344556677",
            true,
        );
        let twice = |turns: &[TurnLine]| sent_twice(turns).len();
        assert_eq!(twice(&[round(1, "a"), reply(2), round(3, "b")]), 1);
        assert_eq!(twice(&[round(1, "a"), reply(2), resume, round(4, "b")]), 0);
    }
}
