//! The outer form of a plan: header, FRAME, fields, sections.

use std::ops::Range;

use super::{Decision, Section, lists};
use crate::{
    fault::{Code, Fault},
    frame::Frame,
    line::{Line, lines, trim_end},
    wire::HEADER_PLAN,
};

/// The sections that must be there, in the contract's order.
const REQUIRED: [&str; 6] = ["GOAL", "STEPS", "FILES", "COMMANDS", "RISKS", "VERIFY"];

/// How many sections are read; more are a fault **(ours)**, so that reading
/// stays linear.
const SECTIONS_MAX: usize = 64;

/// How many misplaced lines are named.
const STRAY_MAX: usize = 8;

/// A section as it stands in the text.
pub(super) struct Part<'a> {
    pub(super) name: &'a str,
    /// The number of its heading's line, from 1.
    pub(super) line: u32,
    pub(super) body: Range<usize>,
}

/// What one pass over the text found.
#[derive(Default)]
pub(super) struct Found<'a> {
    header: bool,
    /// What is wrong with FRAME; empty when nothing is.
    frame: Vec<&'static str>,
    decision: Option<&'a str>,
    pub(super) task: Option<&'a str>,
    pub(super) parts: Vec<Part<'a>>,
    /// Fields and sections that stand twice.
    twice: Vec<String>,
    /// Lines that fit nowhere.
    stray: Vec<String>,
}

impl<'a> Found<'a> {
    //= spec P2
    //= spec P5
    /// Reads header, FRAME and fields, and cuts the rest into sections.
    pub(super) fn in_text(text: &'a str, expected: &Frame) -> Self {
        let mut found = Self {
            frame: vec!["FRAME"],
            ..Self::default()
        };
        // Which line with content comes next: the header, FRAME, a field.
        let mut place = 0;
        let mut frame_seen = false;
        let mut in_section = false;
        for (number, line) in (1_u32..).zip(lines(text)) {
            let Line { start, next, .. } = line;
            if in_section && !line.text.starts_with("## ") {
                continue;
            }
            let line = trim_end(line.text);
            if line.is_empty() {
                continue;
            }
            if place == 0 {
                place = 1;
                found.header = line == HEADER_PLAN;
                if found.header || line.starts_with("# ") {
                    continue;
                }
            }
            if let Some(name) = line.strip_prefix("## ") {
                found.open_section(name.trim(), number, start..next);
                in_section = true;
            } else if Frame::claims(line) && !frame_seen {
                // Anywhere but in its place it counts as missing.
                if place == 1 {
                    found.frame = expected
                        .check(line)
                        .err()
                        .map_or_else(Vec::new, |e| e.fields);
                }
                frame_seen = true;
            } else {
                found.field(line, number, frame_seen);
            }
            place = 2;
        }
        if let Some(last) = found.parts.last_mut() {
            last.body.end = text.len();
        }
        found
    }

    fn open_section(&mut self, name: &'a str, line: u32, heading: Range<usize>) {
        if let Some(last) = self.parts.last_mut() {
            last.body.end = last.body.end.max(heading.start);
        }
        if self.parts.len() == SECTIONS_MAX {
            // The last one kept goes on to the end; the plan is refused anyway.
            note(&mut self.stray, "sections".to_owned());
            return;
        }
        if self.parts.iter().any(|part| part.name == name) {
            let known = REQUIRED.contains(&name) || name == "NOTES";
            // A name of the remote's own is not repeated, its line is.
            let shown = if known {
                name.to_owned()
            } else {
                format!("line {line}")
            };
            note(&mut self.twice, shown);
        }
        self.parts.push(Part {
            name,
            line,
            body: heading.end..heading.end,
        });
    }

    fn field(&mut self, line: &'a str, number: u32, frame_seen: bool) {
        let slot = match line.split_once(':') {
            Some(("DECISION", value)) => Some((&mut self.decision, value, "DECISION")),
            Some(("TASK", value)) => Some((&mut self.task, value, "TASK")),
            Some(_) | None => None,
        };
        match slot {
            Some((slot @ None, value, _)) => *slot = Some(value.trim()),
            Some((Some(_), _, name)) => note(&mut self.twice, name.to_owned()),
            None if frame_seen && Frame::claims(line) => {
                note(&mut self.twice, "FRAME".to_owned());
            }
            None => note(&mut self.stray, format!("line {number}")),
        }
    }

    pub(super) fn section<'t>(&self, text: &'t str, name: &str) -> Option<&'t str> {
        let part = self.parts.iter().find(|part| part.name == name)?;
        text.get(part.body.clone())
    }

    pub(super) fn owned_sections(&self) -> Vec<Section> {
        let parts = self.parts.iter().map(|part| Section {
            name: part.name.to_owned(),
            body: part.body.clone(),
        });
        parts.collect()
    }

    //= spec P2
    //= spec P3
    //= spec P4
    //= spec P5
    //= spec P6
    /// The decision and all faults, in the table's order.
    pub(super) fn judge(&self, text: &str) -> (Option<Decision>, Vec<Fault>) {
        let mut faults = Vec::new();
        if !self.header {
            faults.push(Fault::bare(Code::Header));
        }
        if !self.frame.is_empty() {
            faults.push(Fault::of(Code::Frame, self.frame.iter().copied()));
        }
        let decision = self.decision.and_then(Decision::parse);
        let mut missing = Vec::new();
        if self.task.is_none_or(str::is_empty) {
            missing.push("TASK");
        }
        missing.extend(REQUIRED.into_iter().filter(|name| {
            let body = self.section(text, name).unwrap_or_default();
            // A heading with nothing below it is no section (ours): a reply cut
            // off after its last heading looks like that.
            let empty = body.trim_start().is_empty();
            let says_nothing = *name == "GOAL" && lists::says_none(body);
            let no_step = *name == "STEPS"
                && decision == Some(Decision::Continue)
                && lists::numbered(body) == 0;
            empty || says_nothing || no_step
        }));
        if !missing.is_empty() {
            faults.push(Fault::of(Code::Required, missing));
        }
        if decision.is_none() {
            faults.push(Fault::bare(Code::Decision));
        }
        let misplaced: Vec<_> = self.twice.iter().chain(&self.stray).cloned().collect();
        if !misplaced.is_empty() {
            faults.push(Fault::of(Code::Parse, misplaced));
        }
        (decision, faults)
    }
}

/// Adds a name once, and only so many of them.
fn note(names: &mut Vec<String>, name: String) {
    if names.len() < STRAY_MAX && !names.contains(&name) {
        names.push(name);
    }
}
