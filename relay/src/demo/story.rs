//! What happened, round by round, told from the journal alone.

use std::fmt::Write as _;

use protocol::{
    frame::Checkpoint,
    record::{Entry, Judgement, Record, State},
    send::SendKind,
};
use serde::Serialize;

/// One message and what came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Step {
    /// `HELLO`, `ROUND` and so on.
    pub message: SendKind,
    /// The round, for a task send.
    pub round: Option<u32>,
    /// Characters typed.
    pub chars: u64,
    /// What the reply was judged to be.
    pub reply: String,
    /// What became of the plan.
    pub plan: Option<String>,
    /// The checkpoint after it.
    pub checkpoint: String,
}

/// The whole session as steps.
pub fn steps(entries: &[Entry]) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut state = State::default();
    for entry in entries {
        if state.apply(entry).is_err() {
            break;
        }
        if let Record::Intent(intent) = &entry.record {
            steps.push(Step {
                message: intent.message,
                round: intent.round.map(|round| round.0),
                chars: intent.text.chars() as u64,
                reply: "no reply".to_owned(),
                plan: None,
                checkpoint: state.checkpoint.to_string(),
            });
        }
        let Some(step) = steps.last_mut() else {
            continue;
        };
        if let Record::Judged { judgement, .. } = &entry.record {
            step.reply = judged(judgement);
        }
        if let Record::Settled { ok, .. } = &entry.record {
            let how = if *ok {
                "carried out, every command ended with 0"
            } else {
                "carried out, a command failed"
            };
            step.plan = Some(how.to_owned());
            step.checkpoint = state.checkpoint.to_string();
        }
        if let Record::InDoubt { why, .. } = &entry.record {
            step.plan = Some(format!("in doubt: {why}"));
        }
    }
    steps
}

fn judged(judgement: &Judgement) -> String {
    let list = |faults: &[protocol::fault::Fault]| {
        faults
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(", ")
    };
    match judgement {
        Judgement::Held => "acknowledged".to_owned(),
        Judgement::NotHeld { faults } => format!("not acknowledged: {}", list(faults)),
        Judgement::Accepted(plan) => {
            format!("{} ({}), plan {}", plan.decision, plan.task, plan.key)
        }
        Judgement::Refused { faults } => format!("refused: {}", list(faults)),
        Judgement::Failed { code, detail } => format!("failed: {code}, {detail}"),
    }
}

/// The steps as lines for people.
pub fn told(steps: &[Step]) -> String {
    let mut out = String::new();
    for step in steps {
        let name = match step.round {
            Some(round) => format!("{} {round}", step.message),
            None => step.message.to_string(),
        };
        // Writing to a String cannot fail.
        let _ = writeln!(
            out,
            "  {name:<9} {:>5} characters → {}",
            step.chars, step.reply
        );
        if let Some(plan) = &step.plan {
            let _ = writeln!(out, "  {:<9} {plan}", "");
        }
    }
    out
}

/// The checkpoints in their order: `0:- → 1:a1b2c3d4 → …`.
pub fn chain(steps: &[Step]) -> String {
    let mut chain = vec![Checkpoint::Start.to_string()];
    for step in steps {
        if chain.last() != Some(&step.checkpoint) {
            chain.push(step.checkpoint.clone());
        }
    }
    chain.join(" → ")
}
