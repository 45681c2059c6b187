//! The composer of receipts: what happened, with everything quoted as data.

use std::fmt::Write as _;

/// What quoted lines begin with.
const INDENT: &str = "    ";

/// The most that the line about a cut has, in characters.
const CUT_LEN_MAX: usize = 48;

/// How many parts are kept; further ones are counted and left out.
const PARTS_MAX: usize = 400;

/// How many characters of one quotation are kept until it is known how much
/// room there is; no receipt is as long.
const QUOTE_LEN_MAX: usize = 50_000;

//= spec W10
/// A receipt in the making.
///
/// Whoever writes it says things in words of their own and quotes everything
/// that comes from commands, files or the agent. A quotation is an indented
/// block: whatever it holds, no line of it begins at column 0, so none can be
/// taken for a heading or a head line.
#[derive(Debug, Clone, Default)]
pub struct Receipt {
    parts: Vec<Part>,
    left_out: usize,
}

#[derive(Debug, Clone)]
enum Part {
    Said(String),
    Quoted(String),
}

impl Receipt {
    /// An empty receipt.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one line of our own words. Line breaks in it become spaces.
    pub fn say(mut self, line: &str) -> Self {
        let line = line.split(is_break).collect::<Vec<_>>().join(" ");
        self.push(Part::Said(
            line.trim().replace(char::is_control, "\u{fffd}"),
        ));
        self
    }

    /// Adds foreign text as data.
    pub fn quote(mut self, text: &str) -> Self {
        // The middle of what never fits can go at once.
        let text = clip(text, QUOTE_LEN_MAX, "");
        self.push(Part::Quoted(indented(&text)));
        self
    }

    fn push(&mut self, part: Part) {
        if self.parts.len() < PARTS_MAX {
            self.parts.push(part);
        } else {
            self.left_out += 1;
        }
    }

    //= spec W10
    /// The text: at most `len_max` characters (`receipt_len_max` of
    /// [`crate::limits::Limits`]). Where it would have more, the longest
    /// quotations lose their middle, and say how much.
    pub fn finish(self, len_max: usize) -> String {
        let quoted = self.parts.iter().filter_map(|part| match part {
            Part::Quoted(text) => Some(text.chars().count()),
            Part::Said(_) => None,
        });
        let mut lens: Vec<_> = quoted.collect();
        let all: usize = self.parts.iter().map(|part| part.len() + 1).sum();
        let others = all - lens.iter().sum::<usize>();
        let room = len_max.saturating_sub(others + CUT_LEN_MAX);
        let share = fair_share(&mut lens, room);
        let mut out = String::new();
        for part in &self.parts {
            match part {
                Part::Said(line) => out.push_str(line),
                Part::Quoted(text) => out.push_str(&clip(text, share, INDENT)),
            }
            out.push('\n');
        }
        if self.left_out > 0 {
            // Writing to a String cannot fail.
            let _ = writeln!(out, "（另有 {} 项未列出）", self.left_out);
        }
        clip(out.trim_end(), len_max, INDENT)
    }
}

impl Part {
    fn len(&self) -> usize {
        match self {
            Self::Said(text) | Self::Quoted(text) => text.chars().count(),
        }
    }
}

/// The greatest length such that no text longer than it makes all of them
/// together longer than `room`.
fn fair_share(lens: &mut [usize], room: usize) -> usize {
    lens.sort_unstable();
    let mut room = room;
    let mut left = lens.len();
    for len in lens.iter() {
        let share = room / left;
        if *len > share {
            return share;
        }
        room -= len;
        left -= 1;
    }
    usize::MAX
}

fn is_break(c: char) -> bool {
    matches!(
        c,
        '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

/// Every line behind an indentation; whatever a page may take for a line break
/// is one, other control characters become replacement characters.
fn indented(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    for line in text.trim_end().split(is_break) {
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(INDENT);
        out.extend(line.chars().map(|c| match c {
            '\t' => '\t',
            c if c.is_control() => '\u{fffd}',
            c => c,
        }));
    }
    out
}

/// At most `len_max` characters of `text`: its head and its tail, and between
/// them how many were cut. Both sides of the cut stand behind `indent`.
fn clip(text: &str, len_max: usize, indent: &str) -> String {
    let len = text.chars().count();
    if len <= len_max {
        return text.to_owned();
    }
    let keep = len_max.saturating_sub(CUT_LEN_MAX + indent.len());
    let (head, tail) = (keep / 2, keep - keep / 2);
    let at = |chars: usize| {
        let found = text.char_indices().nth(chars);
        found.map_or(text.len(), |(at, _)| at)
    };
    let cut = len - head - tail;
    let (head, tail) = (&text[..at(head)], &text[at(len - tail)..]);
    format!(
        "{}\n{indent}[… 省略 {cut} 个字符 …]\n{indent}{tail}",
        head.trim_end()
    )
}

#[cfg(test)]
mod tests;
