//! The code-block scanner: which fenced blocks a reply has, and whether
//! anything stands beside them.
//!
//! CommonMark's rules for fences at the top level of a text, and no more. A
//! fence inside a list item or a quote always has that list or quote around
//! it, which is content beside a block: the reply is refused whatever the
//! inner structure. So lists, quotes, HTML, indented code and paragraphs are
//! all one thing here, *outside* **(ours)**; an indented code block is outside
//! too, never a second block. Whether a text is exactly one closed block and
//! nothing else is decided as a CommonMark parser decides it, with two stricter
//! readings: a link definition, which shows nothing, is outside, and a line
//! ends at LF only (W2), so a lone CR never ends a fence's line.
//!
//! One pass, linear in the text.

use std::borrow::Cow;

//= spec P1
/// A fenced block at the top level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block<'a> {
    /// The info string, trimmed; it decides nothing.
    pub info: &'a str,
    /// The lines inside, each with its line end, without the fence's own
    /// indentation; borrowed unless indentation had to go.
    pub content: Cow<'a, str>,
    /// Whether a closing fence stands there; the end of the text closes nothing.
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
}

impl Fence {
    /// The fence and its info string, where `line` opens a block.
    fn opens(line: &str) -> Option<(Self, &str)> {
        let indent = line.bytes().take_while(|b| *b == b' ').count();
        let rest = line.get(indent..)?;
        let mark = *rest.as_bytes().first()?;
        if indent > 3 || !matches!(mark, b'`' | b'~') {
            return None;
        }
        let len = rest.bytes().take_while(|b| *b == mark).count();
        let info = rest.get(len..)?;
        let fits = len >= 3 && !(mark == b'`' && info.contains('`'));
        fits.then_some((Self { mark, len, indent }, info.trim_matches([' ', '\t'])))
    }

    fn closes(self, line: &str) -> bool {
        let bytes = line.as_bytes();
        let indent = bytes.iter().take_while(|b| **b == b' ').count();
        if indent > 3 || bytes.get(indent) != Some(&self.mark) {
            return false;
        }
        let rest = bytes.get(indent..).unwrap_or_default();
        let len = rest.iter().take_while(|b| **b == self.mark).count();
        let tail = rest.get(len..).unwrap_or_default();
        len >= self.len && tail.iter().all(|b| matches!(b, b' ' | b'\t'))
    }

    /// Appends `line` without as much indentation as the fence had. A tab that
    /// is used up in part leaves the rest of its columns as spaces.
    fn append_unindented(self, line: &str, out: &mut String) {
        let mut column = 0;
        for (at, byte) in line.bytes().enumerate() {
            if column >= self.indent || !matches!(byte, b' ' | b'\t') {
                out.push_str(line.get(at..).unwrap_or_default());
                return;
            }
            if byte == b' ' {
                column += 1;
            } else {
                // The indentation is 3 at most, the first tab stop stands at 4.
                out.extend(std::iter::repeat_n(' ', 4 - self.indent));
                column = 4;
            }
        }
    }
}

/// Reads `text` once.
pub fn scan(text: &str) -> Scan<'_> {
    let mut scan = Scan::default();
    let mut open: Option<(Fence, &str, usize)> = None;
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let next = at + rest.find('\n').map_or(rest.len(), |lf| lf + 1);
        let line = &text[at..next];
        let line = line.strip_suffix('\n').unwrap_or(line);
        let line = line.strip_suffix('\r').unwrap_or(line);
        match open {
            Some((fence, info, start)) => {
                if fence.closes(line) {
                    scan.blocks.push(block(fence, info, &text[start..at], true));
                    open = None;
                }
            }
            None => match Fence::opens(line) {
                Some((fence, info)) => {
                    scan.outside |= info.contains('\r');
                    open = Some((fence, info, next));
                }
                None => scan.outside |= !line.bytes().all(|b| matches!(b, b' ' | b'\t')),
            },
        }
        at = next;
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
