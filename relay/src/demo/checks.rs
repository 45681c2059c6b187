//! What the demo holds against the run afterwards: the stand-in's own log, the
//! journal and the work folder, each against the others.

use std::{collections::BTreeMap, path::Path};

use fixtures::log::{Role, TurnLine};
use protocol::{
    frame::Frame,
    id::{Digest, PlanKey},
    message::{self, Head},
    outcome::Outcome,
    plan,
    record::{Entry, Judgement, Record, ReplyFacts, State, Stop},
    send::SendState,
};

use crate::agent::{Approve, readonly};

/// A promise that the run did not keep.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The promise, in a few words.
    pub promise: &'static str,
    /// What was seen instead.
    pub seen: String,
}

/// What the checks look at.
pub struct Traces<'a> {
    /// The turns that the stand-in received and gave.
    pub turns: &'a [TurnLine],
    /// The journal.
    pub entries: &'a [Entry],
    /// What it folds to.
    pub state: &'a State,
    /// How the run ended.
    pub stop: &'a Stop,
    /// The approval that the run was told to keep.
    pub approve: Approve,
    /// The work folder.
    pub workspace: &'a Path,
    /// The seed of project and scenario.
    pub seed: u64,
    /// What the judge found, where it is not clean.
    pub judged: Option<String>,
}

/// All promises that the run did not keep.
pub fn violations(traces: &Traces<'_>) -> Vec<Violation> {
    let mut found = Vec::new();
    if let Some(seen) = &traces.judged {
        let promise = "a message is sent once";
        found.push(Violation {
            promise,
            seen: seen.clone(),
        });
    }
    typed_as_written(traces, &mut found);
    taken_as_given(traces, &mut found);
    chained(traces, &mut found);
    run_once(traces, &mut found);
    approved(traces, &mut found);
    if traces.stop.outcome == Outcome::Done {
        left_behind(traces, &mut found);
    } else {
        found.push(Violation {
            promise: "the demo ends in done",
            seen: format!("{}: {}", traces.stop.outcome, traces.stop.why),
        });
    }
    found
}

/// Every message in the log is one of ours, to the letter, and none is missing.
fn typed_as_written(traces: &Traces<'_>, found: &mut Vec<Violation>) {
    let promise = "a message arrives as it was written";
    let sent: Vec<_> = traces
        .state
        .sends
        .iter()
        .filter(|row| row.state() == SendState::Sent)
        .collect();
    let received: Vec<_> = traces
        .turns
        .iter()
        .filter(|turn| turn.role == Role::User)
        .collect();
    for turn in &received {
        let whole = sent.iter().any(|row| row.intent.text.as_str() == turn.text);
        if !whole {
            let seen = format!(
                "turn {} of {} characters is none that was written",
                turn.n,
                turn.text.chars().count()
            );
            found.push(Violation { promise, seen });
        }
    }
    if sent.len() > received.len() {
        let seen = format!("{} were sent, {} arrived", sent.len(), received.len());
        found.push(Violation { promise, seen });
    }
}

/// Every reply taken is, to the letter, one that the remote finished.
pub fn taken_as_given(traces: &Traces<'_>, found: &mut Vec<Violation>) {
    let promise = "only a whole reply is taken for the answer";
    let given: Vec<_> = traces
        .turns
        .iter()
        .filter(|turn| turn.role == Role::Assistant && turn.finished)
        .map(|turn| Digest::of(&turn.text))
        .collect();
    for reply in replies(traces.entries) {
        if !given.contains(&reply.digest) {
            let seen = format!(
                "a text of {} characters was taken that the remote did not finish",
                reply.chars
            );
            found.push(Violation { promise, seen });
        }
    }
}

fn replies(entries: &[Entry]) -> impl Iterator<Item = &ReplyFacts> {
    entries.iter().filter_map(|entry| {
        if let Record::Judged { reply, .. } = &entry.record {
            reply.as_ref()
        } else {
            None
        }
    })
}

/// Each ROUND names the plan that had settled before it.
pub fn chained(traces: &Traces<'_>, found: &mut Vec<Violation>) {
    let promise = "each round names the last settled plan";
    let mut state = State::default();
    for entry in traces.entries {
        if let Record::Intent(intent) = &entry.record {
            let head = message::recognise(protocol::page::Role::User, intent.text.as_str());
            let named = head
                .as_ref()
                .and_then(Head::frame)
                .map(|frame| frame.prev.clone());
            if named.is_some_and(|prev| prev != state.checkpoint.prev()) {
                let seen = format!("{} {} does not", intent.message, intent.send);
                found.push(Violation { promise, seen });
            }
        }
        if let Err(error) = state.apply(entry) {
            found.push(Violation {
                promise: "the journal folds",
                seen: error.to_string(),
            });
            return;
        }
    }
}

/// No plan was started twice.
pub fn run_once(traces: &Traces<'_>, found: &mut Vec<Violation>) {
    let mut starts = BTreeMap::new();
    for entry in traces.entries {
        if let Record::Started { plan, .. } = &entry.record {
            *starts.entry(plan.to_string()).or_insert(0_u32) += 1;
        }
    }
    for (plan, times) in starts.into_iter().filter(|(_, times)| *times > 1) {
        let seen = format!("plan {plan} was started {times} times");
        found.push(Violation {
            promise: "a plan runs once",
            seen,
        });
    }
}

/// Nothing ran that the approval in force does not let run.
fn approved(traces: &Traces<'_>, found: &mut Vec<Violation>) {
    if traces.approve != Approve::ReadOnly {
        return;
    }
    let refused = settlements(traces.entries).any(|(_, receipt)| receipt.contains("refused"));
    let frame_of = |text: &str| Frame::parse(text.lines().nth(1).unwrap_or_default()).ok();
    let forbidden = carried_out(traces.entries).into_iter().find_map(|text| {
        let plan = plan::from_block(text, &frame_of(text)?).ok()?;
        plan.commands
            .iter()
            .find(|command| readonly::check(command).is_err())
            .cloned()
    });
    if let (Some(command), false) = (forbidden, refused) {
        let first = command.lines().next().unwrap_or_default();
        let seen = format!("under read-only this ran: {first}");
        found.push(Violation {
            promise: "nothing runs without the policy's leave",
            seen,
        });
    }
}

/// The texts of the plans that settled.
fn carried_out(entries: &[Entry]) -> Vec<&str> {
    let settled: Vec<_> = settlements(entries).map(|(plan, _)| plan).collect();
    let accepted = entries.iter().filter_map(|entry| {
        if let Record::Judged {
            judgement: Judgement::Accepted(plan),
            ..
        } = &entry.record
        {
            Some(plan)
        } else {
            None
        }
    });
    accepted
        .filter(|plan| settled.contains(&&plan.key))
        .map(|plan| plan.text.as_str())
        .collect()
}

/// Every settled plan and its receipt.
fn settlements(entries: &[Entry]) -> impl Iterator<Item = (&PlanKey, &str)> {
    entries.iter().filter_map(|entry| {
        if let Record::Settled { plan, receipt, .. } = &entry.record {
            Some((plan, receipt.as_str()))
        } else {
            None
        }
    })
}

/// The files are what the plans sent in this run make of them: they carry the
/// stand-in's own word, which stands nowhere but in those plans.
pub fn left_behind(traces: &Traces<'_>, found: &mut Vec<Violation>) {
    let promise = "the plans' work is in the folder";
    let Some(nonce) = nonce(traces) else {
        let seen = "no plan carries the run's own word".to_owned();
        found.push(Violation { promise, seen });
        return;
    };
    for (path, content) in fixtures::demo::expected(traces.seed, &nonce) {
        let there = std::fs::read_to_string(traces.workspace.join(&path)).unwrap_or_default();
        if there != content {
            let seen = format!("{path} is not what the plans make of it");
            found.push(Violation { promise, seen });
        }
    }
}

/// The run's own word, out of the plan that carries it.
fn nonce(traces: &Traces<'_>) -> Option<String> {
    const BEFORE: &str = "Fixed in run ";
    traces
        .turns
        .iter()
        .filter(|turn| turn.role == Role::Assistant)
        .find_map(|turn| {
            let (_, after) = turn.text.split_once(BEFORE)?;
            let run: String = after
                .chars()
                .take_while(|c| c.is_alphanumeric() || *c == '-')
                .collect();
            run.split_once('-').map(|(_, nonce)| nonce.to_owned())
        })
}
