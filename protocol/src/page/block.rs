//! A reply's content as the page shows it: a typed, bounded tree of blocks.
//!
//! The observer names what it finds; `capture` turns the tree into Markdown.
//! What the observer does not know it sends as `unknown` with its text, so
//! that nothing a person would read is dropped in silence.

use serde::{Deserialize, Serialize};

/// A block of a reply, as the observer found it in the page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "t", rename_all = "snake_case")]
pub enum Block {
    /// A paragraph.
    Paragraph {
        /// Its content.
        c: Vec<Inline>,
    },
    /// A heading of level 1 to 6.
    Heading {
        /// The level.
        level: u8,
        /// Its content.
        c: Vec<Inline>,
    },
    /// A list.
    List {
        /// The number of the first item; absent for a bullet list.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        start: Option<u32>,
        /// The items, each a run of blocks.
        items: Vec<Vec<Block>>,
        /// Whether the items stand without blank lines between them.
        tight: bool,
    },
    /// A block quote.
    Quote {
        /// What is quoted.
        c: Vec<Block>,
    },
    /// A code block, in whichever structure the page keeps it.
    Code {
        /// The language named in its header or class, if any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lang: Option<String>,
        /// The exact text.
        text: String,
        /// The page may keep only a part of it in the document (an editor that
        /// virtualises its lines): equal it witnesses, shorter it counts for nothing.
        #[serde(default)]
        partial: bool,
    },
    /// A table; its first row is the head.
    Table {
        /// One for each column.
        align: Vec<Align>,
        /// The rows, each a list of cells.
        rows: Vec<Vec<Vec<Inline>>>,
    },
    /// Display mathematics, by its source.
    Math {
        /// The TeX source.
        source: String,
    },
    /// A thematic break.
    Rule,
    /// An element the observer does not know.
    Unknown {
        /// Its tag name.
        tag: String,
        /// The text in it.
        text: String,
    },
}

/// A column's alignment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Align {
    /// Not stated.
    None,
    /// Left.
    Left,
    /// Centre.
    Center,
    /// Right.
    Right,
}

/// A piece of running text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "t", rename_all = "snake_case")]
pub enum Inline {
    /// Plain text.
    Text {
        /// The text.
        v: String,
    },
    /// Inline code.
    Code {
        /// The exact text.
        v: String,
    },
    /// Emphasis.
    Emph {
        /// Its content.
        c: Vec<Inline>,
    },
    /// Strong emphasis.
    Strong {
        /// Its content.
        c: Vec<Inline>,
    },
    /// Struck-out text.
    Strike {
        /// Its content.
        c: Vec<Inline>,
    },
    /// A link.
    Link {
        /// Where it leads.
        href: String,
        /// Its title.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        /// What is shown.
        c: Vec<Inline>,
    },
    /// An image.
    Image {
        /// Its address.
        src: String,
        /// Its alternative text.
        alt: String,
    },
    /// Mathematics within running text, by its source.
    Math {
        /// The TeX source.
        source: String,
        /// It is set on a line of its own within the paragraph.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        display: bool,
    },
    /// A hard line break.
    Break,
    /// An element the observer does not know.
    Unknown {
        /// Its tag name.
        tag: String,
        /// The text in it.
        text: String,
    },
}
