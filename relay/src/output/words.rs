//! Events and phases in words, for people.

use protocol::{
    fault::Fault,
    outcome::Outcome,
    record::{State, Stop},
    send::{SendKind, SendState},
    session::Phase,
};

use super::event::{Event, Judged, Stage};
use crate::agent::quote::one_line;

/// What the machine is doing, in words.
pub const fn phase_words(phase: Phase) -> &'static str {
    match phase {
        Phase::Attaching => "attaching to the tab",
        Phase::Looking => "looking at the page",
        Phase::Reading => "reading the thread",
        Phase::Owing => "preparing the next message",
        Phase::Composing => "typing",
        Phase::Submitting => "submitting",
        Phase::Proving => "proving that it was sent",
        Phase::Waiting => "waiting for the reply",
        Phase::Thinking => "thinking",
        Phase::Streaming => "streaming",
        Phase::Finishing => "proving that the reply is whole",
        Phase::Pausing => "pausing before the next try",
        Phase::Approving => "waiting for approval",
        Phase::Spawning => "starting the agent",
        Phase::Executing => "carrying out the plan",
        Phase::Stopping => "stopping the agent",
        Phase::Storing => "storing",
        Phase::Stopped => "over",
    }
}

/// The event as one line of text; none for what is not worth one.
pub(super) fn line(event: &Event) -> Option<String> {
    let said = match event {
        Event::Started {
            sid,
            resumed,
            workspace,
            agent,
            ..
        } => {
            let began = if *resumed { "goes on" } else { "begins" };
            format!("session {sid} {began} in {workspace}, agent {agent}")
        }
        Event::Attached {
            browser: Some(browser),
            layout: Some(layout),
            ..
        } => format!("attached to {browser}, layout {layout}"),
        Event::Attached {
            conversation: Some(id),
            ..
        } => format!("the conversation is {id}"),
        Event::Attached { .. } | Event::Waiting { .. } | Event::Approval { .. } => return None,
        Event::Sent {
            kind,
            round,
            attempt,
            state,
            evidence,
            chars,
            ..
        } => {
            let name = message(*kind, round.map(|round| round.0));
            let nth = match attempt {
                0 | 1 => String::new(),
                nth => format!(", attempt {nth}"),
            };
            match state {
                SendState::Sent => format!("{name} sent ({chars} characters{nth})"),
                SendState::NotSent => format!("{name} not sent{nth}: {evidence}"),
                SendState::Unknown => format!(
                    "{name} may or may not have been sent{nth}; it counts as sent and is never sent again"
                ),
            }
        }
        Event::Reply {
            round,
            judged,
            chars,
            faults,
            code,
            ..
        } => {
            let of = round.map_or_else(String::new, |round| format!("round {round}: "));
            let chars = chars.map_or_else(String::new, |chars| format!(" ({chars} characters)"));
            match judged {
                Judged::Held => format!("{of}the handshake is acknowledged"),
                Judged::NotHeld => {
                    format!("{of}the handshake is not acknowledged: {}", listed(faults))
                }
                Judged::Refused => format!("{of}the reply is no valid plan: {}", listed(faults)),
                Judged::Failed => {
                    let code = code.map_or("", |code| code.name());
                    format!("{of}the reply failed: {code}")
                }
                Judged::Accepted => format!("{of}the reply is whole{chars}"),
            }
        }
        Event::Plan {
            round,
            plan,
            decision,
            task,
        } => format!("round {round}: plan {plan}, {decision}: {task}"),
        Event::Executed {
            round,
            state,
            ok,
            why,
            ..
        } => {
            let why = why.as_deref().unwrap_or("");
            match (state, ok) {
                (Stage::Started, _) => format!("round {round}: the plan is being carried out"),
                (Stage::NotStarted, _) => format!("round {round}: the plan was not started: {why}"),
                (Stage::InDoubt, _) => {
                    format!("round {round}: it cannot be told how far the plan ran: {why}")
                }
                (Stage::Settled, Some(true)) => format!("round {round}: carried out"),
                (Stage::Settled, Some(false) | None) => {
                    format!("round {round}: carried out, with a failure")
                }
            }
        }
        Event::Checkpoint { round, plan } => format!("checkpoint {round}:{plan}"),
        Event::Recovery {
            row: Some(row),
            facts,
            action,
        } => format!("recovery {row}: {action} ({facts})"),
        Event::Recovery {
            row: None,
            facts,
            action,
        } => format!("{action}: {facts}"),
        Event::Warning { code, text } => match code {
            Some(code) => format!("warning[{code}]: {text}"),
            None => format!("warning: {text}"),
        },
        Event::Finished(end) => format!(
            "{}: {}, {}, {}, {}",
            end.outcome,
            counted(end.rounds, "round"),
            counted(end.messages_sent, "message"),
            counted(end.repairs, "repair"),
            match end.recoveries {
                1 => "1 recovery".to_owned(),
                n => format!("{n} recoveries"),
            }
        ),
    };
    Some(said)
}

fn counted(number: u32, name: &str) -> String {
    match number {
        1 => format!("1 {name}"),
        n => format!("{n} {name}s"),
    }
}

fn message(kind: SendKind, round: Option<u32>) -> String {
    match (kind, round) {
        (SendKind::Round, Some(round)) => format!("round {round}"),
        (SendKind::Repair, Some(round)) => format!("round {round}: REPAIR"),
        (kind, _) => kind.word().to_owned(),
    }
}

fn listed(faults: &[Fault]) -> String {
    let said: Vec<String> = faults.iter().map(ToString::to_string).collect();
    one_line(&said.join("; "))
}

/// The command that goes on with a session, where a run ended for a reason that a person
/// mends outside of it.
//= spec RP7
pub fn continue_words(state: &State) -> Option<String> {
    let opened = state.opened.as_ref()?;
    let over = state.is_closed() || state.standing_stop().is_some();
    (!over).then(|| format!("brb run --continue {}", opened.sid()))
}

/// The end of a run that is not `done`: what happened and what to do about it.
pub fn stop_words(stop: &Stop, state: &State) -> (String, String) {
    let label = match stop.code {
        Some(code) => code.name(),
        None => stop.outcome.name(),
    };
    let help = match stop.code {
        Some(code) => code.about().remedy,
        None => outcome_remedy(stop.outcome),
    };
    let help = match continue_words(state) {
        Some(command) if !stop.standing => format!("{help} Go on with `{command}`."),
        Some(_) | None => for_session(help, state),
    };
    (format!("error[{label}]: {}", one_line(&stop.why)), help)
}

/// The remedy with this very session's name in it; where it names no command, with the one
/// by which a person decides.
fn for_session(help: &str, state: &State) -> String {
    const RESUME: &str = "`brb resume`";
    let Some(opened) = state.opened.as_ref().filter(|_| !state.is_closed()) else {
        return help.to_owned();
    };
    let named = format!("`brb resume {}`", opened.sid());
    if help.contains(RESUME) {
        return help.replace(RESUME, &named);
    }
    match state.standing_stop() {
        Some(_) => format!("{help} Then decide with {named}."),
        None => help.to_owned(),
    }
}

const fn outcome_remedy(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Done => "Nothing is left to do.",
        Outcome::Defect => "Report this with the log; the journal is left as it is.",
        Outcome::Usage => "Run the command with `--help`.",
        Outcome::Blocked => {
            "Read the conversation for what is asked for, do it, then lift the stop with `brb resume`."
        }
        Outcome::Manual => "Read what happened, then decide with `brb resume`.",
        Outcome::Unknown => {
            "Look into the conversation whether the message stands there; it is never sent again by itself; then decide with `brb resume`."
        }
        Outcome::Stopped => "Settle it by hand in the tab, then lift the stop with `brb resume`.",
        Outcome::Boundary => {
            "Lift the stop with `brb resume`, with a new limit or the old one once more."
        }
        Outcome::Locked => "Let the other relay end or stop it, then start again.",
        Outcome::Violation => {
            "Read what was wrong with the replies, then lift the stop with `brb resume`."
        }
        Outcome::Environment => "Run `brb doctor`.",
        Outcome::Interrupted => "What was decided is kept.",
    }
}
