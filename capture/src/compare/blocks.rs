//! The form of a block tree that the observer sent.

use protocol::page::{Block, Inline};

use super::{
    Form, Kind, Piece,
    build::{Builder, link},
    decoded,
    source::inline_into,
};

/// The form of what the page shows.
pub fn form_of_blocks(blocks: &[Block]) -> Form {
    let build = |raw| {
        let mut builder = Builder::default();
        for block in blocks {
            block_into(block, raw, &mut builder);
        }
        builder.finish()
    };
    let pieces = build(Math::Bracketed);
    let raw = build(Math::Raw);
    let others = if raw == pieces { vec![] } else { vec![raw] };
    Form::new(pieces, others)
}

/// How a formula's source is read: as the Markdown source between `\(` and
/// `\)`, which a CommonMark parser reads as text, or as mathematics.
#[derive(Clone, Copy)]
enum Math {
    Bracketed,
    Raw,
}

fn block_into(block: &Block, math: Math, builder: &mut Builder) {
    match block {
        Block::Paragraph { c } => {
            builder.open(Kind::Paragraph);
            inlines_into(c, math, builder);
            builder.close();
        }
        Block::Heading { level, c } => {
            builder.open(Kind::Heading(*level));
            inlines_into(c, math, builder);
            builder.close();
        }
        Block::List { start, items, .. } => {
            builder.open(Kind::List(start.map(u64::from)));
            for item in items {
                builder.open(Kind::Item);
                for block in item {
                    block_into(block, math, builder);
                }
                builder.close();
            }
            builder.close();
        }
        Block::Quote { c } => {
            builder.open(Kind::Quote);
            for block in c {
                block_into(block, math, builder);
            }
            builder.close();
        }
        Block::Code { text, partial, .. } => builder.block(Piece::CodeBlock {
            text: text.replace("\r\n", "\n"),
            partial: *partial,
        }),
        Block::Table { rows, .. } => {
            let columns = rows.first().map_or(0, Vec::len);
            builder.open(Kind::Table);
            for row in rows {
                builder.open(Kind::Row);
                for cell in row.iter().take(columns) {
                    builder.open(Kind::Cell);
                    inlines_into(cell, math, builder);
                    builder.close();
                }
                builder.close();
            }
            builder.close();
        }
        Block::Math { source } => {
            builder.open(Kind::Paragraph);
            match math {
                Math::Bracketed => inline_into(&format!("\\[ {} \\]", one_line(source)), builder),
                Math::Raw => builder.text(&format!("[ {} ]", one_line(source))),
            }
            builder.close();
        }
        Block::Rule => builder.block(Piece::Rule),
        Block::Unknown { text, .. } => {
            builder.open(Kind::Paragraph);
            builder.text(text);
            builder.close();
        }
    }
}

fn inlines_into(inlines: &[Inline], math: Math, builder: &mut Builder) {
    for inline in inlines {
        let mut span = |kind, c: &[Inline]| {
            builder.open(kind);
            inlines_into(c, math, builder);
            builder.close();
        };
        match inline {
            Inline::Text { v } => builder.text(v),
            Inline::Code { v } => builder.inline(Piece::Code(v.clone())),
            Inline::Emph { c } => span(Kind::Emph, c),
            Inline::Strong { c } => span(Kind::Strong, c),
            Inline::Strike { c } => span(Kind::Strike, c),
            Inline::Link { href, c, .. } => span(link(href), c),
            Inline::Image { src, alt } => builder.inline(Piece::Image {
                alt: alt.clone(),
                src: decoded(src),
            }),
            Inline::Math {
                source,
                display: true,
            } => match math {
                Math::Bracketed => inline_into(&format!("\\[ {} \\]", one_line(source)), builder),
                Math::Raw => builder.text(&format!("[ {} ]", one_line(source))),
            },
            Inline::Math { source, .. } => match math {
                Math::Bracketed => inline_into(&format!("\\({}\\)", one_line(source)), builder),
                Math::Raw => builder.text(&format!("({})", one_line(source))),
            },
            Inline::Break => builder.inline(Piece::Break),
            Inline::Unknown { text, .. } => builder.text(text),
        }
    }
}

/// A formula's source without line ends, which could begin blocks.
fn one_line(source: &str) -> String {
    source.split_whitespace().collect::<Vec<_>>().join(" ")
}
