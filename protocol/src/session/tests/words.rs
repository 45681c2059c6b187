//! What the remote says, and how the tests name what the machine does.

use super::world::{Says, opened};
use crate::{
    message::{self, Head},
    page::Ask,
    record::Record,
    session::Effect,
};

/// An effect as the tests name it, without any text.
pub fn name(effect: &Effect) -> String {
    match effect {
        Effect::Append(record) => format!("append {}", record_name(record)),
        Effect::Page(command) => match &command.ask {
            Ask::Look => "look".into(),
            Ask::Read => "read".into(),
            Ask::Survey => "survey".into(),
            Ask::Html { .. } => "html".into(),
            Ask::Compose { .. } => "compose".into(),
            Ask::Submit { .. } => "submit".into(),
            Ask::ClearDraft { .. } => "clear".into(),
            Ask::Copy { .. } => "copy".into(),
            Ask::Reload => "reload".into(),
            Ask::Detach => "detach".into(),
        },
        Effect::Reattach => "reattach".into(),
        Effect::Reopen { address } => format!("reopen {address}"),
        Effect::Relaunch { address } => format!("relaunch {address}"),
        Effect::Watch { send, .. } => format!("watch {send}"),
        Effect::Rewatch => "rewatch".into(),
        Effect::Unwatch => "unwatch".into(),
        Effect::Prepare(_) => "prepare".into(),
        Effect::Spawn(_) => "spawn".into(),
        Effect::LetGo => "let go".into(),
        Effect::Adopt(_) => "adopt".into(),
        Effect::StopAgent => "stop agent".into(),
        Effect::Pace(_) => "pace".into(),
        Effect::Finish(stop) => format!("finish {}", stop.outcome),
    }
}

fn record_name(record: &Record) -> String {
    let json = serde_json::to_value(record).unwrap();
    let kind = json["kind"].as_str().unwrap().to_owned();
    match record {
        Record::Intent(intent) => format!("{kind} {} {}", intent.send, intent.message),
        Record::Outcome { state, .. } => format!("{kind} {state}"),
        Record::Judged { .. } => format!("{kind} {}", json["judgement"]["as"].as_str().unwrap()),
        Record::Stopped(stop) => format!("{kind} {}", stop.outcome),
        Record::Decided { row, .. } => format!("{kind} {row}"),
        Record::Opened(_)
        | Record::Resumed { .. }
        | Record::Attached { .. }
        | Record::Read { .. }
        | Record::Bound { .. }
        | Record::Dispatching { .. }
        | Record::Started { .. }
        | Record::NotStarted { .. }
        | Record::Settled { .. }
        | Record::InDoubt { .. }
        | Record::Lifted { .. }
        | Record::Attested { .. }
        | Record::Abandoned { .. } => kind,
    }
}

/// The acknowledgement that the offer asks for.
pub fn ack(_: &Head) -> String {
    fenced(&message::hs::build(&opened().offer.terms))
}

pub fn fenced(block: &str) -> String {
    format!("```\n{block}\n```")
}

/// A plan with the right FRAME for whatever round is asked.
pub fn plan(decision: &'static str, task: &'static str) -> Says {
    Box::new(move |head| fenced(&plan_text(head, decision, task)))
}

pub fn plan_text(head: &Head, decision: &str, task: &str) -> String {
    let frame = head.frame().expect("a plan answers a round");
    format!(
        "# PLAN pi-bridge/1\n{frame}\nDECISION: {decision}\nTASK: {task}\n\n## GOAL\ngoal\n\n\
         ## STEPS\n1. step\n\n## FILES\n- a.sh :: change\n\n## COMMANDS\n- ls\n\n## RISKS\n无\n\n\
         ## VERIFY\n- ls"
    )
}

/// A reply of two code blocks.
pub fn two_blocks() -> Says {
    Box::new(|head| {
        let plan = fenced(&plan_text(head, "continue", "two"));
        format!("{plan}\n\n```sh\nls\n```")
    })
}

/// No answer at all.
pub fn silence() -> Says {
    Box::new(|_| String::new())
}
