//! The code-block scanner: which fenced blocks a reply has, and whether
//! anything stands beside them.
//!
//! CommonMark's rules for fences at the top level of a text. Lists, quotes,
//! HTML, paragraphs and indented code are all one thing here, *outside*
//! **(ours)**: whatever their inner structure, they stand beside the one block
//! and the reply is refused. A fence on the line that opens a list item or a
//! quote is followed to its end, only so that its closing fence is not taken
//! for an opening one.
//!
//! Whether a text is exactly one closed block and nothing else is decided as a
//! CommonMark parser decides it, with two stricter readings: a link definition,
//! which shows nothing, is outside, and a line ends at LF only (W2), so a lone
//! CR never ends a fence's line.
//!
//! One pass, linear in the text.

use std::borrow::Cow;

use crate::line::{Line, lines};

//= spec P1
/// A fenced block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block<'a> {
    /// The info string, trimmed; it decides nothing.
    pub info: &'a str,
    /// The lines inside, each with its line end, without the fence's own
    /// indentation; borrowed unless indentation had to go.
    pub content: Cow<'a, str>,
    /// Whether a closing fence stands there, or the list item or quote around
    /// it ends; the end of the text closes nothing.
    pub closed: bool,
}

/// What a text is made of.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Scan<'a> {
    /// The fenced blocks, in order.
    pub blocks: Vec<Block<'a>>,
    /// Whether anything but blanks stands outside them.
    pub outside: bool,
}

impl<'a> Scan<'a> {
    //= spec P1
    /// The one closed block, where the text is exactly that.
    pub fn sole(&self) -> Option<&Block<'a>> {
        match self.blocks.as_slice() {
            [block] if block.closed && !self.outside => Some(block),
            _ => None,
        }
    }

    /// Whether the last block was left open.
    pub fn is_open(&self) -> bool {
        self.blocks.last().is_some_and(|block| !block.closed)
    }
}

/// An opening fence.
#[derive(Clone, Copy)]
struct Fence {
    mark: u8,
    len: usize,
    indent: usize,
    /// Set where it stands on the line that opens a list item or a quote.
    inside: Option<Container>,
}

/// The innermost list item or quote around a fence.
#[derive(Clone, Copy)]
enum Container {
    Item,
    Quote,
}

impl Fence {
    /// The fence and its info string, where `line` opens a block.
    fn opens(line: &str) -> Option<(Self, &str)> {
        let (mut at, mut inside) = (0, None);
        // As many steps as the line has markers.
        loop {
            let spaces = line[at..].bytes().take_while(|b| *b == b' ').count();
            if spaces > 3 {
                return None;
            }
            at += spaces;
            match line.as_bytes().get(at)? {
                b'`' | b'~' => break,
                _ => {
                    let (len, container) = marker(&line[at..])?;
                    at += len;
                    inside = Some(container);
                }
            }
        }
        let mark = *line.as_bytes().get(at)?;
        let rest = &line[at..];
        let len = rest.bytes().take_while(|b| *b == mark).count();
        let info = rest.get(len..)?;
        let fits = len >= 3 && !(mark == b'`' && info.contains('`'));
        let fence = Self {
            mark,
            len,
            indent: at,
            inside,
        };
        fits.then_some((fence, info.trim_matches([' ', '\t'])))
    }

    fn closes(self, line: &str) -> bool {
        let bytes = line.as_bytes();
        let (blank, indent_max): (fn(u8) -> bool, _) = match self.inside {
            None => (|b| b == b' ', 3),
            Some(Container::Item | Container::Quote) => {
                (|b| matches!(b, b' ' | b'>'), self.indent + 3)
            }
        };
        let indent = bytes.iter().take_while(|b| blank(**b)).count();
        if indent > indent_max || bytes.get(indent) != Some(&self.mark) {
            return false;
        }
        let rest = bytes.get(indent..).unwrap_or_default();
        let len = rest.iter().take_while(|b| **b == self.mark).count();
        let tail = rest.get(len..).unwrap_or_default();
        len >= self.len && tail.iter().all(|b| matches!(b, b' ' | b'\t'))
    }

    /// Whether `line` no longer belongs to the list item or quote around.
    fn is_left_by(self, line: &str) -> bool {
        let bytes = line.as_bytes();
        let blanks = bytes.iter().take_while(|b| **b == b' ').count();
        match self.inside {
            None => false,
            Some(Container::Item) => blanks < self.indent && !line.trim().is_empty(),
            Some(Container::Quote) => bytes.get(blanks) != Some(&b'>'),
        }
    }

    /// Appends `line` without as much indentation as the fence had. A tab that
    /// is used up in part leaves the rest of its columns as spaces.
    fn append_unindented(self, line: &str, out: &mut String) {
        let nested = self.inside.is_some();
        let goes = |b: u8| matches!(b, b' ' | b'\t') || (nested && b == b'>');
        let mut column = 0;
        for (at, byte) in line.bytes().enumerate() {
            if column >= self.indent || !goes(byte) {
                out.push_str(line.get(at..).unwrap_or_default());
                return;
            }
            if byte == b'\t' {
                // At the top level the indentation is 3 at most and the first
                // tab stop stands at 4.
                out.extend(std::iter::repeat_n(
                    ' ',
                    4_usize.saturating_sub(self.indent),
                ));
                column += 4;
            } else {
                column += 1;
            }
        }
    }
}

/// The length of the marker that opens a list item or a quote here.
fn marker(text: &str) -> Option<(usize, Container)> {
    let bytes = text.as_bytes();
    match bytes.first()? {
        b'>' => Some((1, Container::Quote)),
        b'-' | b'*' | b'+' if bytes.get(1) == Some(&b' ') => Some((2, Container::Item)),
        b'0'..=b'9' => {
            let digits = bytes.iter().take_while(|b| b.is_ascii_digit()).count();
            let ends = matches!(bytes.get(digits), Some(b'.' | b')'));
            let item = digits <= 9 && ends && bytes.get(digits + 1) == Some(&b' ');
            item.then_some((digits + 2, Container::Item))
        }
        _ => None,
    }
}

/// Reads `text` once.
pub fn scan(text: &str) -> Scan<'_> {
    let mut scan = Scan::default();
    let mut open: Option<(Fence, &str, usize)> = None;
    for Line {
        text: line,
        start: at,
        next,
    } in lines(text)
    {
        let line = line.strip_suffix('\r').unwrap_or(line);
        if let Some((fence, info, start)) = open {
            let closed = fence.closes(line);
            let left = !closed && fence.is_left_by(line);
            if closed || left {
                scan.blocks.push(block(fence, info, &text[start..at], true));
                open = None;
            }
            if !left {
                continue;
            }
        }
        match Fence::opens(line) {
            Some((fence, info)) => {
                scan.outside |= fence.inside.is_some() || info.contains('\r');
                open = Some((fence, info, next));
            }
            None => scan.outside |= !line.bytes().all(|b| matches!(b, b' ' | b'\t')),
        }
    }
    if let Some((fence, info, start)) = open {
        scan.blocks.push(block(fence, info, &text[start..], false));
    }
    scan
}

fn block<'a>(fence: Fence, info: &'a str, inside: &'a str, closed: bool) -> Block<'a> {
    let content = if fence.indent == 0 {
        Cow::Borrowed(inside)
    } else {
        let mut out = String::with_capacity(inside.len());
        for line in inside.split_inclusive('\n') {
            fence.append_unindented(line, &mut out);
        }
        Cow::Owned(out)
    };
    Block {
        info,
        content,
        closed,
    }
}

#[cfg(test)]
mod tests;
