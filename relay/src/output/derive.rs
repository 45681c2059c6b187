//! Records to events.

use protocol::{
    id::SendId,
    page::ConversationId,
    record::{Accepted, Entry, Judgement, Opened, Record, ReplyFacts, State, Stop},
    recovery::RowId,
    send::{SendEvidence, SendKind, SendState},
};

use super::event::{Event, Finished, Judged, Line, SCHEMA_VERSION, Stage};
use crate::agent::quote::one_line;

/// The lines that follow from a stored record. `state` has taken it in already.
pub fn events(entry: &Entry, state: &State) -> Vec<Line> {
    let line = |event| Line {
        schema_version: SCHEMA_VERSION,
        seq: Some(entry.seq),
        at_ms: Some(entry.at),
        event,
    };
    of(&entry.record, state).into_iter().map(line).collect()
}

/// The line that a session begins or goes on with, where its first record was
/// stored before anybody listened.
pub fn opened(state: &State) -> Option<Line> {
    let opened = state.opened.as_ref()?;
    Some(Line::bare(started(opened, state.restarts > 0)))
}

fn of(record: &Record, state: &State) -> Vec<Event> {
    match record {
        Record::Opened(opened) => vec![started(opened, false)],
        Record::Resumed { .. } => state
            .opened
            .iter()
            .map(|opened| started(opened, true))
            .collect(),
        Record::Attached {
            epoch,
            target,
            browser,
            address,
            layout,
        } => vec![Event::Attached {
            epoch: epoch.0,
            target: one_line(&target.0),
            browser: Some(one_line(browser)),
            layout: Some(one_line(layout)),
            address: Some(one_line(address)),
            conversation: state.conversation.as_ref().map(conversation_of),
        }],
        Record::Bound { conversation } => vec![Event::Attached {
            epoch: state.epoch.0,
            target: state
                .target
                .as_ref()
                .map(|target| one_line(&target.0))
                .unwrap_or_default(),
            browser: None,
            layout: None,
            address: None,
            conversation: Some(conversation_of(conversation)),
        }],
        Record::Outcome {
            send,
            state: known,
            evidence,
        } => sent(*send, *known, evidence, state),
        Record::Judged {
            send,
            reply,
            judgement,
        } => judged(*send, reply.as_ref(), judgement, state),
        Record::Started { round, plan, .. } => vec![Event::Executed {
            round: *round,
            plan: plan.clone(),
            state: Stage::Started,
            ok: None,
            receipt_chars: None,
            why: None,
        }],
        Record::NotStarted {
            round, plan, why, ..
        } => vec![Event::Executed {
            round: *round,
            plan: plan.clone(),
            state: Stage::NotStarted,
            ok: None,
            receipt_chars: None,
            why: Some(one_line(why)),
        }],
        Record::InDoubt { round, plan, why } => vec![Event::Executed {
            round: *round,
            plan: plan.clone(),
            state: Stage::InDoubt,
            ok: None,
            receipt_chars: None,
            why: Some(one_line(why)),
        }],
        Record::Settled {
            round,
            plan,
            ok,
            receipt,
        } => vec![
            Event::Executed {
                round: *round,
                plan: plan.clone(),
                state: Stage::Settled,
                ok: Some(*ok),
                receipt_chars: Some(receipt.chars()),
                why: None,
            },
            Event::Checkpoint {
                round: *round,
                plan: plan.clone(),
            },
        ],
        Record::Decided {
            row, facts, action, ..
        } => vec![Event::Recovery {
            row: Some(*row),
            facts: one_line(facts),
            action: one_line(action),
        }],
        Record::Lifted { who, why, .. } => vec![Event::Recovery {
            row: None,
            facts: one_line(why),
            action: format!("the stop was lifted by {}", one_line(who)),
        }],
        Record::Attested { who, why, what } => vec![Event::Recovery {
            row: None,
            facts: one_line(why),
            action: format!("{} attests: {what}", one_line(who)),
        }],
        Record::Abandoned { who, why } => vec![Event::Recovery {
            row: None,
            facts: one_line(why),
            action: format!("the session was given up by {}", one_line(who)),
        }],
        // What is only going to happen is told when it has; the end is told
        // once, by whoever knows the exit.
        Record::Read { .. }
        | Record::Intent(_)
        | Record::Dispatching { .. }
        | Record::Stopped(_) => Vec::new(),
    }
}

fn conversation_of(id: &ConversationId) -> String {
    one_line(&id.0)
}

fn started(opened: &Opened, resumed: bool) -> Event {
    Event::Started {
        sid: opened.sid().clone(),
        qid: opened.qid().clone(),
        resumed,
        chat: one_line(&opened.chat),
        workspace: one_line(&opened.workspace),
        agent: one_line(&opened.agent),
    }
}

fn sent(send: SendId, known: SendState, evidence: &SendEvidence, state: &State) -> Vec<Event> {
    let Some(row) = state.send(send) else {
        return Vec::new();
    };
    vec![Event::Sent {
        send,
        kind: row.intent.message,
        round: row.intent.round,
        attempt: row.attempts,
        state: known,
        evidence: evidence_words(evidence),
        chars: row.intent.text.chars(),
    }]
}

fn evidence_words(evidence: &SendEvidence) -> String {
    match evidence {
        SendEvidence::OwnTurn { turn: Some(turn) } => {
            format!("our own turn {} stands in the thread", one_line(&turn.0))
        }
        SendEvidence::OwnTurn { turn: None } => "our own turn stands in the thread".to_owned(),
        SendEvidence::OwnRequest => "the page's own request was seen".to_owned(),
        SendEvidence::NeverDispatched => "it was never dispatched".to_owned(),
        SendEvidence::GuardStopped { hit } => {
            format!("the guard stopped the click on {}", one_line(hit))
        }
        SendEvidence::RefusedBeforeClick { why } => {
            format!("refused before the click: {}", one_line(why))
        }
        SendEvidence::ComposerKeptText => {
            "the composer kept the whole text over the settle window".to_owned()
        }
        SendEvidence::Attested { state } => format!("a person attests {state}"),
        SendEvidence::Nothing => "nothing is known".to_owned(),
    }
}

fn judged(
    send: SendId,
    reply: Option<&ReplyFacts>,
    judgement: &Judgement,
    state: &State,
) -> Vec<Event> {
    let (judged, faults, code, plan) = match judgement {
        Judgement::Held => (Judged::Held, Vec::new(), None, None),
        Judgement::NotHeld { faults } => (Judged::NotHeld, faults.clone(), None, None),
        Judgement::Accepted(plan) => (Judged::Accepted, Vec::new(), None, Some(plan)),
        Judgement::Refused { faults } => (Judged::Refused, faults.clone(), None, None),
        Judgement::Failed { code, .. } => (Judged::Failed, Vec::new(), Some(*code), None),
    };
    let event = Event::Reply {
        send,
        round: state.send(send).and_then(|row| row.intent.round),
        judged,
        chars: reply.map(|reply| reply.chars),
        digest: reply.map(|reply| reply.digest.clone()),
        end: reply.map(|reply| reply.end),
        agreed: reply.map(|reply| reply.agreed.clone()).unwrap_or_default(),
        faults,
        code,
    };
    std::iter::once(event)
        .chain(plan.map(|plan| accepted(plan)))
        .collect()
}

fn accepted(plan: &Accepted) -> Event {
    Event::Plan {
        round: plan.round,
        plan: plan.key.clone(),
        decision: plan.decision,
        task: one_line(&plan.task),
    }
}

/// What `finished` says of a run that ended with `stop`. `row` is the last row
/// that the planner decided on in this run, for a stop that names none.
pub fn summary(stop: &Stop, state: &State, row: Option<RowId>, exit: u8) -> Finished {
    let count = |held: &dyn Fn(&protocol::record::SendRow) -> bool| {
        let held = state.sends.iter().filter(|row| held(row)).count();
        u32::try_from(held).unwrap_or(u32::MAX)
    };
    Finished {
        outcome: stop.outcome,
        code: stop.code,
        exit,
        sid: state.opened.as_ref().map(|opened| opened.sid().clone()),
        rounds: state.rounds_sent(),
        messages_sent: count(&|row| row.state() == SendState::Sent),
        repairs: count(&|row| row.intent.message == SendKind::Repair),
        recoveries: state.budgets.total(),
        row: stop.row.or(row),
        interrupted: stop.interrupted,
    }
}
