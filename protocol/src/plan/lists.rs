//! What stands inside the sections that the relay itself reads.

use super::{FileNote, read::Found};
use crate::line::lines;

/// How many stray lines are named.
const STRAY_MAX: usize = 8;

//= spec P4
/// Whether a section says that there is nothing: `无` or `none`, alone or as
/// the only item.
pub(super) fn says_none(body: &str) -> bool {
    // A longer text is not that, however many blanks stand around it.
    let text = body.trim();
    let text = text.strip_prefix("- ").map_or(text, str::trim);
    is_none_word(unquoted(text))
}

fn is_none_word(text: &str) -> bool {
    text == "无" || text.eq_ignore_ascii_case("none")
}

/// Without the one pair of back-ticks around it. Where back-ticks stand inside
/// too, the outer ones are no pair and all of them are kept.
fn unquoted(text: &str) -> &str {
    let inner = text
        .strip_prefix('`')
        .and_then(|rest| rest.strip_suffix('`'));
    inner.filter(|inner| !inner.contains('`')).unwrap_or(text)
}

//= spec P4
/// How many numbered steps a section has: `1. …`, `1) …` or `1、…` with
/// something behind it, indented by three at most.
pub(super) fn numbered(body: &str) -> u32 {
    let steps = body.split('\n').filter(|line| is_numbered(line)).count();
    u32::try_from(steps).unwrap_or(u32::MAX)
}

fn is_numbered(line: &str) -> bool {
    let indent = line.bytes().take_while(|b| *b == b' ').count();
    let rest = &line[indent..];
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    if indent > 3 || !(1..=9).contains(&digits) {
        return false;
    }
    let rest = &rest[digits..];
    let step = rest.strip_prefix(['.', ')', '、']).map(str::trim);
    // "1.5 GB" is a number, not a step.
    step.is_some_and(|step| !step.is_empty() && !step.starts_with(|c: char| c.is_ascii_digit()))
}

/// Reads FILES: `- path :: note`; indented lines go on with the note. Lines of
/// another form are advice too, and nothing hangs on them.
pub(super) fn files(body: &str) -> Vec<FileNote> {
    let mut notes: Vec<FileNote> = Vec::new();
    if says_none(body) {
        return notes;
    }
    for line in body.split('\n') {
        if let Some(item) = line.strip_prefix("- ") {
            let (path, note) = item.split_once(" :: ").unwrap_or((item, ""));
            notes.push(FileNote {
                path: unquoted(path.trim()).to_owned(),
                note: note.trim().to_owned(),
            });
        } else if let (true, Some(last)) = (line.starts_with([' ', '\t']), notes.last_mut()) {
            let more = line.trim();
            if !more.is_empty() {
                if !last.note.is_empty() {
                    last.note.push('\n');
                }
                last.note.push_str(more);
            }
        }
    }
    notes
}

/// Reads COMMANDS: each `- ` line is a command, indented lines below it belong
/// to it without the two columns that the list takes, blank lines between them
/// are kept; one pair of back-ticks around the whole goes. Besides, the numbers
/// of the lines that are neither.
pub(super) fn commands(text: &str, found: &Found<'_>) -> (Vec<String>, Vec<u32>) {
    let (mut items, mut stray): (Vec<String>, Vec<u32>) = (Vec::new(), Vec::new());
    let Some(at) = found.parts.iter().position(|part| part.name == "COMMANDS") else {
        return (items, stray);
    };
    let part = &found.parts[at];
    let body = text.get(part.body.clone()).unwrap_or_default();
    if says_none(body) {
        return (items, stray);
    }
    let mut blanks = 0;
    for (number, line) in (part.line + 1..).zip(lines(body)) {
        let line = line.text;
        if line.trim_start().is_empty() {
            blanks += 1;
            continue;
        }
        let item = line.strip_prefix('-');
        if let Some(item) = item.filter(|item| item.is_empty() || item.starts_with(' ')) {
            items.push(item.trim_start().to_owned());
        } else if let (Some(more), Some(last)) = (indented(line), items.last_mut()) {
            last.extend(std::iter::repeat_n('\n', blanks + 1));
            last.push_str(more);
        } else if stray.len() < STRAY_MAX {
            stray.push(number);
        }
        blanks = 0;
    }
    items.retain_mut(|item| {
        let bare = unquoted(item.trim());
        if bare.len() < item.len() {
            *item = bare.to_owned();
        }
        !item.is_empty()
    });
    // A heading of no section of the contract may be a line of a command that
    // was not indented, a comment in a script for example.
    let cut = found.parts.get(at + 1).filter(|next| !is_known(next.name));
    if let (Some(next), false, true) = (cut, items.is_empty(), stray.len() < STRAY_MAX) {
        stray.push(next.line);
    }
    (items, stray)
}

/// What an indented line says, without the two columns that its list takes.
fn indented(line: &str) -> Option<&str> {
    line.strip_prefix("  ")
        .or_else(|| line.strip_prefix(['\t', ' ']))
}

fn is_known(name: &str) -> bool {
    matches!(
        name,
        "GOAL" | "STEPS" | "FILES" | "COMMANDS" | "RISKS" | "VERIFY" | "NOTES" | "代码块规则"
    )
}
