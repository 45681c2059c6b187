//! Puts what was seen into a timeline, thinned out and without what goes without saying.

use std::{io::Write, path::Path};

use fixtures::timeline::{Fault, Line, TimelineError, What as Said, Writer};
use serde_json::Value;

use super::TIMELINE;

/// A look that says what the last one said is kept this often.
const SAME_LOOK_MS: u64 = 10_000;
/// Looks this close to a change are all kept: windows are made of them.
const NEAR_MS: u64 = 2_500;

/// Writes a timeline anew: its lines without what was seen, and what is seen now.
///
/// # Errors
/// If the file cannot be written, or the lines do not make a timeline.
pub fn save(dir: &Path, lines: &[Line], seen: &[Line]) -> Result<(), TimelineError> {
    let is_seen =
        |line: &Line| matches!(line.what, Said::Observation { .. } | Said::Command { .. });
    let end_ms = lines.last().map_or(0, |line| line.t_ms);
    let mut all: Vec<Line> = lines
        .iter()
        .filter(|line| !is_seen(line))
        .cloned()
        .collect();
    let close = all.pop_if(|line| matches!(line.what, Said::End));
    all.extend(thinned(seen));
    // Stable: of one instant the page's own lines come first.
    all.sort_by_key(|line| line.t_ms);
    if let Some(mut close) = close {
        close.t_ms = end_ms.max(all.last().map_or(0, |line| line.t_ms));
        all.push(close);
    }
    let io = |error| TimelineError {
        line: 0,
        fault: Fault::Io(error),
    };
    let mut file = tempfile::NamedTempFile::new_in(dir).map_err(io)?;
    {
        let mut writer = Writer::new(std::io::BufWriter::new(file.as_file_mut()));
        for line in all {
            writer.append(line)?;
        }
    }
    file.as_file_mut().flush().map_err(io)?;
    file.persist(dir.join(TIMELINE))
        .map_err(|error| io(error.error))?;
    Ok(())
}

/// Leaves out looks that say nothing new in a long silence, and counts the rest anew;
/// of answers only those are kept that tell something of the reply.
#[must_use]
pub fn thinned(seen: &[Line]) -> Vec<Line> {
    let tells = |line: &&Line| match &line.what {
        Said::Observation { observation } => {
            let answer = &observation["what"]["answer"]["answer"];
            answer.is_null() || answer["copied"].is_object()
        }
        Said::Begin { .. }
        | Said::Page(_)
        | Said::Command { .. }
        | Said::Message { .. }
        | Said::Stream { .. }
        | Said::Refuse { .. }
        | Said::Html { .. }
        | Said::StreamEnd { .. }
        | Said::Note { .. }
        | Said::End => true,
    };
    let seen: Vec<&Line> = seen.iter().filter(tells).collect();
    let contents: Vec<Option<Value>> = seen.iter().map(|line| content_of(line)).collect();
    let changes: Vec<u64> = (0..seen.len())
        .filter(|at| *at == 0 || contents[*at].is_none() || contents[*at] != contents[at - 1])
        .map(|at| seen[at].t_ms)
        .collect();
    let near = |t_ms: u64| {
        let at = changes.partition_point(|change| *change <= t_ms);
        let before = at.checked_sub(1).map(|at| changes[at]);
        let after = changes.get(at);
        if after.is_none() {
            return true;
        }
        before.is_some_and(|change| t_ms - change <= NEAR_MS)
            || after.is_some_and(|change| change - t_ms <= NEAR_MS)
    };
    let mut kept: Vec<Line> = Vec::new();
    let mut last_ms = 0;
    let mut gone = 0;
    for (line, content) in seen.into_iter().zip(&contents) {
        let is_look = content.is_some();
        if is_look && !near(line.t_ms) && line.t_ms < last_ms + SAME_LOOK_MS {
            gone += 1;
            continue;
        }
        if is_look {
            last_ms = line.t_ms;
        }
        let mut line = line.clone();
        if let Said::Observation { observation } = &mut line.what {
            if observation["what"]["attached"].is_object() {
                gone = 0;
            }
            if let Some(seq) = observation["what"]["look"]["seq"].as_u64() {
                observation["what"]["look"]["seq"] = seq.saturating_sub(gone).into();
            }
            prune(observation);
        }
        kept.push(line);
    }
    kept
}

/// What a look says, without its number and time; none for anything else.
fn content_of(line: &Line) -> Option<Value> {
    let Said::Observation { observation } = &line.what else {
        return None;
    };
    let mut look = observation["what"]["look"].clone();
    let fields = look.as_object_mut()?;
    fields.remove("seq");
    fields.remove("page_ms");
    Some(look)
}

/// Fields of an observation that may be left out where they say nothing.
const MAY_BE_LEFT_OUT: &[&str] = &[
    "missing",
    "blockers",
    "stop",
    "attachments",
    "clamped",
    "reply",
    "blocks",
    "bar",
    "copy",
    "streaming",
    "thinking",
    "interrupted",
    "truncated",
    "error",
    "partial",
    "lang",
    "text",
];

fn prune(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            let is_turn = fields.contains_key("role");
            fields.retain(|key, value| {
                let empty = match value {
                    Value::Null | Value::Bool(false) => true,
                    Value::String(text) => text.is_empty() && is_turn,
                    Value::Array(items) => items.is_empty() && key != "blocks",
                    Value::Number(number) => number.as_u64() == Some(0),
                    Value::Bool(true) | Value::Object(_) => false,
                };
                !(empty && MAY_BE_LEFT_OUT.contains(&key.as_str()))
            });
            fields.values_mut().for_each(prune);
        }
        Value::Array(items) => items.iter_mut().for_each(prune),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
