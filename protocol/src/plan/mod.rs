//! The plan: what the remote answers to a ROUND, read and validated.
//!
//! [`validate`] takes a complete reply; [`from_block`] takes the text that was
//! accepted once before, as the journal keeps it.

mod lists;
mod read;

use std::{fmt, ops::Range};

use serde::{Deserialize, Serialize};

use crate::{
    fault::{Code, Fault},
    fence,
    frame::Frame,
    id::{Digest, PlanKey},
    planted::{self, Bug},
    reply::EndWitness,
    text::Private,
    wire::{self, HEADER_PLAN},
};

/// What the remote decided.
//= spec P3
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// The plan is to be carried out, then reported.
    Continue,
    /// The goal is reached; nothing is carried out.
    Done,
    /// It depends on something that pi cannot do; nothing is carried out.
    Blocked,
    /// Something has to be found out first; the plan gathers it.
    NeedInfo,
}

impl Decision {
    //= spec P3
    /// Reads the value of DECISION: blanks around it and case do not matter.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let all = [Self::Continue, Self::Done, Self::Blocked, Self::NeedInfo];
        all.into_iter()
            .find(|decision| decision.name().eq_ignore_ascii_case(text))
    }

    /// The word on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Continue => "continue",
            Self::Done => "done",
            Self::Blocked => "blocked",
            Self::NeedInfo => "need_info",
        }
    }

    //= spec P8
    /// Whether the agent carries such a plan out, so that it settles.
    pub fn is_carried_out(self) -> bool {
        match self {
            Self::Continue | Self::NeedInfo => true,
            Self::Done => planted::is(Bug::DoneStarted),
            Self::Blocked => false,
        }
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A line of FILES: `- path :: what is to change`. Advice, never an order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileNote {
    /// The path as the remote wrote it; it may be anything.
    pub path: String,
    /// What is to change.
    pub note: String,
}

/// A section and the lines that belong to it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Section {
    name: String,
    body: Range<usize>,
}

/// A valid plan of the round it was asked for.
#[derive(Clone, PartialEq, Eq)]
pub struct Plan {
    /// The round's frame, which the plan repeats.
    pub frame: Frame,
    /// What the remote decided.
    pub decision: Decision,
    /// TASK.
    pub task: String,
    /// How many numbered steps STEPS has.
    pub steps: u32,
    /// FILES, one note a line.
    pub files: Vec<FileNote>,
    /// COMMANDS, in order, each as a shell is to get it.
    pub commands: Vec<String>,
    /// Numbers (from 1, within the block) of lines of COMMANDS that belong to
    /// no command, at most eight of them; also the heading that cuts COMMANDS
    /// off where it is none of the contract's. Whoever runs `commands` without
    /// reading the plan must refuse a plan that has any **(ours)**: half a
    /// here-document is not what was asked for.
    pub stray_lines: Vec<u32>,
    /// The plan key, taken once from the text accepted.
    pub key: PlanKey,
    /// Of exactly [`Self::text`].
    pub digest: Digest,
    /// The text inside the code block, its line ends made LF.
    pub text: Private,
    sections: Vec<Section>,
    has_effects: bool,
}

impl Plan {
    /// What stands in the section of that name.
    pub fn section(&self, name: &str) -> Option<&str> {
        let found = self.sections.iter().find(|section| section.name == name)?;
        self.text.as_str().get(found.body.clone())
    }

    //= spec P5
    /// All sections in their order, those that the contract does not know too.
    pub fn sections(&self) -> impl Iterator<Item = (&str, &str)> {
        let text = self.text.as_str();
        let parts = self.sections.iter();
        parts.map(|part| {
            let body = text.get(part.body.clone()).unwrap_or_default();
            (part.name.as_str(), body)
        })
    }

    //= spec R11
    /// Whether carrying it out may change anything: every plan that is carried
    /// out, unless FILES and COMMANDS are both `无` **(ours: the strict
    /// reading)**.
    pub fn may_have_effects(&self) -> bool {
        self.has_effects
    }

    //= spec K5
    /// Of the canonical text without its FRAME line: equal for two plans that
    /// ask for the same thing in different rounds.
    pub fn body_without_frame(&self) -> Digest {
        let text = self.text.as_str();
        let mut lines = text.split_inclusive('\n');
        let mut out = String::with_capacity(text.len());
        for line in lines.by_ref() {
            if Frame::claims(line) {
                break;
            }
            out.push_str(line);
        }
        out.extend(lines);
        Digest::of(&wire::canonical(&out))
    }
}

impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plan")
            .field("frame", &self.frame.to_string())
            .field("decision", &self.decision)
            .field("key", &self.key)
            .field("steps", &self.steps)
            .field("files", &self.files.len())
            .field("commands", &self.commands.len())
            .field("stray_lines", &self.stray_lines)
            .field("text", &self.text)
            .finish_non_exhaustive()
    }
}

//= spec P1
//= spec P6
//= spec H2
/// The plan that `reply` is, if it is one of the round `frame`.
///
/// # Errors
/// All its faults in the table's order; what they ask for is
/// [`crate::fault::action_of`]. A fence left open makes our own capture
/// doubtful (`E_CAPTURE`, alone, since what is missing explains every other
/// fault) unless the server itself said that nothing more comes. An
/// acknowledgement in place of a plan is `E_HEADER`.
pub fn validate(reply: &str, frame: &Frame, end: EndWitness) -> Result<Plan, Vec<Fault>> {
    let scan = fence::scan(reply);
    if scan.is_open() && !end.is_from_server() {
        return Err(vec![Fault::bare(Code::Capture)]);
    }
    if let Some(block) = scan.sole() {
        return from_block(&block.content, frame);
    }
    let mut faults = vec![Fault::bare(Code::Blocks)];
    let shown = match scan.blocks.as_slice() {
        [only] => Some(only),
        several => several.iter().find(|block| has_header(&block.content)),
    };
    if let Some(Err(more)) = shown.map(|block| from_block(&block.content, frame)) {
        faults.extend(more);
    }
    Err(faults)
}

//= spec W4
/// The key of the plan that stands in a reply's Markdown source, valid or not:
/// what a history is checked against. None where the reply is not one closed
/// block with a plan's header. Rendered text has no business here.
pub fn key_in(markdown: &str) -> Option<PlanKey> {
    let scan = fence::scan(markdown);
    match scan.blocks.as_slice() {
        [block] if block.closed && has_header(&block.content) => Some(wire::tag(&block.content)),
        _ => None,
    }
}

fn has_header(block: &str) -> bool {
    let first = block.lines().map(str::trim_end).find(|l| !l.is_empty());
    first == Some(HEADER_PLAN)
}

//= spec P6
/// The plan that the text inside a code block is.
///
/// # Errors
/// All its faults in the table's order.
pub fn from_block(block: &str, frame: &Frame) -> Result<Plan, Vec<Fault>> {
    let text = if memchr::memmem::find(block.as_bytes(), b"\r\n").is_some() {
        block.replace("\r\n", "\n")
    } else {
        block.to_owned()
    };
    let found = read::Found::in_text(&text, frame);
    let (decision, faults) = found.judge(&text);
    let decision = match decision {
        Some(decision) if faults.is_empty() => decision,
        Some(_) | None => return Err(faults),
    };
    let body = |name| found.section(&text, name).unwrap_or_default();
    let (commands, stray_lines) = lists::commands(&text, &found);
    //= spec W4
    let key = wire::tag(&text);
    let has_effects = decision.is_carried_out()
        && !(lists::says_none(body("FILES")) && lists::says_none(body("COMMANDS")));
    Ok(Plan {
        frame: frame.clone(),
        decision,
        task: found.task.unwrap_or_default().to_owned(),
        steps: lists::numbered(body("STEPS")),
        files: lists::files(body("FILES")),
        commands,
        stray_lines,
        key,
        digest: Digest::of(&text),
        sections: found.owned_sections(),
        has_effects,
        text: text.into(),
    })
}

#[cfg(test)]
mod tests;
