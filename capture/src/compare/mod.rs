//! The comparison form of texts from the page: do two of them say the same.
//!
//! The form is the event stream of a CommonMark parser (tables and struck-out
//! text included), with text merged, soft breaks and no-break spaces as spaces,
//! and the content of code blocks to the byte after CRLF became LF. What stands
//! in a fence's info string is no part of it **(ours: P1 ignores it as well)**.

mod blocks;
mod build;
mod formula;
mod source;

use std::fmt;

pub use blocks::form_of_blocks;
pub use source::form_of_markdown;

/// A text in comparison form.
//= spec C9
#[derive(Clone, PartialEq, Eq)]
pub struct Form {
    pieces: Vec<Piece>,
    /// Other readings, where there are any: in which mathematics is none of the
    /// Markdown, between back-slashed brackets or dollar signs as well.
    others: Vec<Vec<Piece>>,
    chars: u32,
}

/// One piece of the form.
#[derive(Debug, Clone, Eq)]
pub(crate) enum Piece {
    /// A container or a span begins.
    Open(Kind),
    /// The innermost open one ends.
    Close,
    /// Running text, merged.
    Text(String),
    /// Inline code.
    Code(String),
    /// A code block's content. A partial one stands for any that holds its
    /// lines in order; that never makes two forms equal.
    CodeBlock { text: String, partial: bool },
    /// An image.
    Image { alt: String, src: String },
    /// A hard line break.
    Break,
    /// A thematic break.
    Rule,
}

impl PartialEq for Piece {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Open(a), Self::Open(b)) => a == b,
            (Self::Text(a), Self::Text(b)) | (Self::Code(a), Self::Code(b)) => a == b,
            (Self::CodeBlock { text: a, .. }, Self::CodeBlock { text: b, .. }) => a == b,
            (Self::Image { alt: a, src: s }, Self::Image { alt: b, src: t }) => a == b && s == t,
            (Self::Close, Self::Close) | (Self::Break, Self::Break) | (Self::Rule, Self::Rule) => {
                true
            }
            (
                Self::Open(_)
                | Self::Close
                | Self::Text(_)
                | Self::Code(_)
                | Self::CodeBlock { .. }
                | Self::Image { .. }
                | Self::Break
                | Self::Rule,
                _,
            ) => false,
        }
    }
}

/// What begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    Paragraph,
    Heading(u8),
    List(Option<u64>),
    Item,
    Quote,
    Table,
    Row,
    Cell,
    Emph,
    Strong,
    Strike,
    Link(String),
}

impl Kind {
    /// Whether running text stands directly in it.
    fn holds_text(&self) -> bool {
        match self {
            Self::Paragraph | Self::Heading(_) | Self::Cell => true,
            Self::List(_)
            | Self::Item
            | Self::Quote
            | Self::Table
            | Self::Row
            | Self::Emph
            | Self::Strong
            | Self::Strike
            | Self::Link(_) => false,
        }
    }

    /// Whether it is a span within running text.
    fn is_span(&self) -> bool {
        match self {
            Self::Emph | Self::Strong | Self::Strike | Self::Link(_) => true,
            Self::Paragraph
            | Self::Heading(_)
            | Self::List(_)
            | Self::Item
            | Self::Quote
            | Self::Table
            | Self::Row
            | Self::Cell => false,
        }
    }
}

/// How one text stands to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// They say the same.
    Equal,
    /// The first is a proper head of the second.
    Behind,
    /// They say the same save for code blocks of the first that are known to
    /// be partial and hold some of the lines in order.
    Partial,
    /// They differ.
    Differ {
        /// The first piece that differs, from 0.
        at: u32,
    },
}

impl Form {
    /// How `self` stands to `other`.
    pub fn relation(&self, other: &Self) -> Relation {
        // Dollar signs may be mathematics or money, and what stands between
        // brackets may: equal under one reading of both is equal.
        let mine = self.readings();
        let mut theirs = other.readings();
        if self.pieces == other.pieces || theirs.any(|one| mine.clone().any(|two| one == two)) {
            return Relation::Equal;
        }
        if is_partial_of(&self.pieces, &other.pieces) {
            return Relation::Partial;
        }
        let (mine, whole) = (self.projection(), other.projection());
        if whole.len() > mine.len() && whole.starts_with(mine.trim_end()) {
            return Relation::Behind;
        }
        let at = self
            .pieces
            .iter()
            .zip(&other.pieces)
            .take_while(|(a, b)| a == b)
            .count();
        Relation::Differ {
            at: u32::try_from(at).unwrap_or(u32::MAX),
        }
    }

    /// Its readings with mathematics; its only one where it has none.
    fn readings(&self) -> impl Iterator<Item = &Vec<Piece>> + Clone {
        let only = self.others.is_empty().then_some(&self.pieces);
        self.others.iter().chain(only)
    }

    /// Whether nothing would be seen of it.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    fn new(mut pieces: Vec<Piece>, mut others: Vec<Vec<Piece>>) -> Self {
        // It is kept: what it grew by and did not need is given back.
        pieces.shrink_to_fit();
        others.iter_mut().for_each(Vec::shrink_to_fit);
        let mut form = Self {
            pieces,
            others,
            chars: 0,
        };
        let chars = form.projection().trim().chars().count();
        form.chars = u32::try_from(chars).unwrap_or(u32::MAX);
        form
    }

    /// How many characters of bare text it holds.
    pub fn chars(&self) -> u32 {
        self.chars
    }

    /// Bytes that it holds, by and large.
    pub(crate) fn bytes(&self) -> usize {
        let held = |pieces: &[Piece]| -> usize {
            let texts = pieces.iter().map(|piece| match piece {
                Piece::Text(text) | Piece::Code(text) | Piece::CodeBlock { text, .. } => text.len(),
                Piece::Image { alt, src } => alt.len() + src.len(),
                Piece::Open(Kind::Link(to)) => to.len(),
                Piece::Open(_) | Piece::Close | Piece::Break | Piece::Rule => 0,
            });
            texts.sum::<usize>() + std::mem::size_of_val(pieces)
        };
        held(&self.pieces) + self.others.iter().map(|one| held(one)).sum::<usize>()
    }

    /// The bare text, a line end for each block.
    fn projection(&self) -> String {
        let mut out = String::new();
        let mut open = Vec::new();
        for piece in &self.pieces {
            match piece {
                Piece::Open(kind) => open.push(kind.is_span()),
                Piece::Close => {
                    if open.pop() == Some(false) && !out.ends_with('\n') {
                        out.push('\n');
                    }
                }
                Piece::Text(text) | Piece::Code(text) => out.push_str(text),
                Piece::CodeBlock { text, .. } => {
                    out.push_str(text);
                    out.push('\n');
                }
                Piece::Image { alt, .. } => out.push_str(alt),
                Piece::Break | Piece::Rule => out.push('\n'),
            }
        }
        out
    }
}

impl fmt::Debug for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{} pieces>", self.pieces.len())
    }
}

fn is_partial_of(mine: &[Piece], whole: &[Piece]) -> bool {
    mine.len() == whole.len()
        && mine.iter().zip(whole).all(|(a, b)| match (a, b) {
            (
                Piece::CodeBlock {
                    text,
                    partial: true,
                },
                Piece::CodeBlock { text: all, .. },
            ) => is_some_lines_of(text, all),
            _ => a == b,
        })
}

/// Whether each line of `part` stands in `whole`, in the same order.
fn is_some_lines_of(part: &str, whole: &str) -> bool {
    let mut rest = whole.lines();
    part.lines().all(|line| rest.any(|other| other == line))
}

/// A link's or image's destination without percent signs standing for bytes.
fn decoded(address: &str) -> String {
    let bytes = address.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let hex = bytes
            .get(at + 1..at + 3)
            .and_then(|two| std::str::from_utf8(two).ok())
            .filter(|two| two.bytes().all(|b| b.is_ascii_hexdigit()))
            .and_then(|two| u8::from_str_radix(two, 16).ok());
        match hex {
            Some(value) if *byte == b'%' => {
                out.push(value);
                at += 3;
            }
            Some(_) | None => {
                out.push(*byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests;
