//! A block tree as Markdown that means the same.
//!
//! For people, recordings and reports. A reply's accepted text never comes from
//! here: what is hashed is the Markdown source that the server or the page's own
//! copy gave (W4).

mod inline;

use protocol::page::{Align, Block, Inline};

use inline::{Place, inlines};

/// The Markdown of a reply's blocks.
//= spec W4
pub fn markdown_of_blocks(blocks: &[Block]) -> String {
    let mut out = written(blocks, false);
    if !out.is_empty() {
        out.push('\n');
    }
    out
}

/// The tags of elements that the observer did not know, each once.
pub fn unknown_tags(blocks: &[Block]) -> Vec<String> {
    let mut tags = Vec::new();
    for block in blocks {
        collect_unknown(block, &mut tags);
    }
    tags.sort();
    tags.dedup();
    tags
}

fn written(blocks: &[Block], tight: bool) -> String {
    let mut out = String::new();
    // Neighbouring lists of one kind would be one list: their markers alternate.
    let mut second = false;
    let mut before: Option<&Block> = None;
    for block in blocks {
        second = match (before, block) {
            (Some(Block::List { start: a, .. }), Block::List { start: b, .. }) => {
                a.is_some() == b.is_some() && !second
            }
            (Some(_) | None, _) => false,
        };
        let text = block_text(block, second);
        if text.is_empty() {
            continue;
        }
        if !out.is_empty() {
            let close = tight && interrupts(block, &text);
            out.push_str(if close { "\n" } else { "\n\n" });
        }
        out.push_str(&text);
        before = Some(block);
    }
    out
}

/// Whether a block may begin right below a paragraph: of lists, one that begins
/// with something and, if it counts, with 1.
fn interrupts(block: &Block, text: &str) -> bool {
    let begins = text.lines().next().is_some_and(|line| line.contains(' '));
    match block {
        Block::List { start, .. } => begins && start.is_none_or(|start| start == 1),
        Block::Paragraph { .. }
        | Block::Heading { .. }
        | Block::Quote { .. }
        | Block::Code { .. }
        | Block::Table { .. }
        | Block::Math { .. }
        | Block::Rule
        | Block::Unknown { .. } => false,
    }
}

fn block_text(block: &Block, second: bool) -> String {
    match block {
        Block::Paragraph { c } => inlines(c, Place::Paragraph),
        Block::Heading { level, c } => {
            let marks = "#".repeat(usize::from((*level).clamp(1, 6)));
            format!("{marks} {}", inlines(c, Place::Heading))
        }
        Block::List {
            start,
            items,
            tight,
        } => list(*start, items, *tight, second),
        Block::Quote { c } => {
            let inner = written(c, false);
            if inner.is_empty() {
                return ">".into();
            }
            let lines = inner.lines().map(|line| {
                if line.is_empty() {
                    ">".to_owned()
                } else {
                    format!("> {line}")
                }
            });
            lines.collect::<Vec<_>>().join("\n")
        }
        Block::Code { lang, text, .. } => fenced(lang.as_deref(), text),
        Block::Table { align, rows } => table(align, rows),
        Block::Math { source } => {
            format!(
                "\\[ {} \\]",
                source.split_whitespace().collect::<Vec<_>>().join(" ")
            )
        }
        // Neither a bullet nor a heading's underline looks like this.
        Block::Rule => "___".into(),
        Block::Unknown { text, .. } => {
            inlines(&[Inline::Text { v: text.clone() }], Place::Paragraph)
        }
    }
}

fn list(start: Option<u32>, items: &[Vec<Block>], tight: bool, second: bool) -> String {
    let mut lines = Vec::new();
    for (at, item) in items.iter().enumerate() {
        let marker = match start {
            None => (if second { "*" } else { "-" }).to_owned(),
            Some(first) => {
                let number = u64::from(first).saturating_add(at as u64).min(999_999_999);
                format!("{number}{}", if second { ')' } else { '.' })
            }
        };
        let inner = written(item, tight);
        let indent = " ".repeat(marker.len() + 1);
        let mut text = marker;
        for (at, line) in inner.lines().enumerate() {
            if at == 0 {
                text.push(' ');
            } else {
                text.push('\n');
                if !line.is_empty() {
                    text.push_str(&indent);
                }
            }
            text.push_str(line);
        }
        lines.push(text);
    }
    lines.join(if tight { "\n" } else { "\n\n" })
}

/// A code block whose fence is longer than any run of back-ticks inside.
fn fenced(lang: Option<&str>, text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    let fence = "`".repeat(longest_run(&text).max(2) + 1);
    let info: String = lang
        .unwrap_or_default()
        .chars()
        .filter(|c| !c.is_control() && *c != '`')
        .collect();
    let info = info.trim().replace(['\\', '&'], "");
    let end = if text.is_empty() { "" } else { "\n" };
    format!("{fence}{info}\n{text}{end}{fence}")
}

/// The longest run of back-ticks in `text`.
pub(crate) fn longest_run(text: &str) -> usize {
    let mut longest = 0;
    let mut run = 0;
    for c in text.chars() {
        run = if c == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

fn table(align: &[Align], rows: &[Vec<Vec<Inline>>]) -> String {
    let Some(columns) = rows.first().map(Vec::len).filter(|columns| *columns > 0) else {
        return String::new();
    };
    let line = |row: &Vec<Vec<Inline>>| {
        let cells = (0..columns).map(|at| {
            row.get(at)
                .map(|cell| inlines(cell, Place::Cell))
                .unwrap_or_default()
        });
        format!("| {} |", cells.collect::<Vec<_>>().join(" | "))
    };
    let marks = (0..columns).map(|at| match align.get(at) {
        Some(Align::Left) => ":--",
        Some(Align::Center) => ":-:",
        Some(Align::Right) => "--:",
        Some(Align::None) | None => "---",
    });
    let mut lines = vec![
        rows.first().map(line).unwrap_or_default(),
        format!("| {} |", marks.collect::<Vec<_>>().join(" | ")),
    ];
    lines.extend(rows.iter().skip(1).map(line));
    lines.join("\n")
}

fn collect_unknown(block: &Block, tags: &mut Vec<String>) {
    match block {
        Block::Paragraph { c } | Block::Heading { c, .. } => unknown_inlines(c, tags),
        Block::List { items, .. } => {
            for block in items.iter().flatten() {
                collect_unknown(block, tags);
            }
        }
        Block::Quote { c } => {
            for block in c {
                collect_unknown(block, tags);
            }
        }
        Block::Table { rows, .. } => {
            for cell in rows.iter().flatten() {
                unknown_inlines(cell, tags);
            }
        }
        Block::Unknown { tag, .. } => tags.push(tag.clone()),
        Block::Code { .. } | Block::Math { .. } | Block::Rule => {}
    }
}

fn unknown_inlines(inlines: &[Inline], tags: &mut Vec<String>) {
    for inline in inlines {
        match inline {
            Inline::Unknown { tag, .. } => tags.push(tag.clone()),
            Inline::Emph { c }
            | Inline::Strong { c }
            | Inline::Strike { c }
            | Inline::Link { c, .. } => unknown_inlines(c, tags),
            Inline::Text { .. }
            | Inline::Code { .. }
            | Inline::Image { .. }
            | Inline::Math { .. }
            | Inline::Break => {}
        }
    }
}
