//! The form of a Markdown source.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::{
    Form, Kind, Piece,
    build::{Builder, link},
    decoded,
    formula::{self, Taken},
};

/// The form of a reply's raw Markdown.
pub fn form_of_markdown(source: &str) -> Form {
    let source = source.replace("\r\n", "\n");
    let plain = pieces(&source, false, None);
    let mut others = Vec::new();
    let taken = formula::take(&source);
    if let Some(taken) = &taken {
        others.push(pieces(&taken.source, false, Some(taken)));
    }
    if source.contains('$') {
        let source = taken
            .as_ref()
            .map_or(source.as_str(), |taken| &taken.source);
        others.push(pieces(source, true, taken.as_ref()));
        // What looks like money may be just that.
        if taken.is_none() {
            others.push(plain.clone());
        }
    }
    Form::new(plain, others)
}

fn pieces(source: &str, dollars: bool, taken: Option<&Taken>) -> Vec<Piece> {
    let mut builder = Builder::default();
    walk(source, dollars, &mut builder);
    let mut pieces = builder.finish();
    for piece in &mut pieces {
        if let (Piece::Text(text), Some(taken)) = (piece, taken)
            && let Some(whole) = taken.put_back(text)
        {
            *text = whole;
        }
    }
    pieces
}

/// Appends what `source` says as running text, without a paragraph of its own.
pub(super) fn inline_into(source: &str, builder: &mut Builder) {
    let mut inner = Builder::default();
    walk(source, false, &mut inner);
    for piece in inner.finish() {
        match piece {
            Piece::Open(kind) if kind.is_span() => builder.open(kind),
            // The paragraph of the source itself, or blocks that a strange
            // source brings: their text is what counts.
            Piece::Open(_) | Piece::Close | Piece::Rule => {}
            Piece::Text(text) => builder.text(&text),
            Piece::CodeBlock { text, .. } => builder.text(&text),
            inline @ (Piece::Code(_) | Piece::Image { .. } | Piece::Break) => {
                builder.inline(inline);
            }
        }
    }
}

#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "the parser's events are foreign; those not named are never made under these options"
)]
fn walk(source: &str, dollars: bool, builder: &mut Builder) {
    let mut options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    if dollars {
        options |= Options::ENABLE_MATH;
    }
    let mut code: Option<String> = None;
    let mut image: Option<(String, String)> = None;
    let mut html = String::new();
    for (event, range) in Parser::new_ext(source, options).into_offset_iter() {
        if let Some(text) = &mut code {
            match event {
                Event::Text(more) => text.push_str(&more),
                Event::End(TagEnd::CodeBlock) => {
                    let text = code.take().unwrap_or_default();
                    builder.block(Piece::CodeBlock {
                        text: text.strip_suffix('\n').unwrap_or(&text).to_owned(),
                        partial: false,
                    });
                }
                _ => {}
            }
            continue;
        }
        if let Some((alt, _)) = &mut image {
            match event {
                Event::Text(more) | Event::Code(more) => alt.push_str(&more),
                Event::SoftBreak | Event::HardBreak => alt.push(' '),
                Event::End(TagEnd::Image) => {
                    if let Some((alt, src)) = image.take() {
                        builder.inline(Piece::Image { alt, src });
                    }
                }
                _ => {}
            }
            continue;
        }
        match event {
            Event::Start(tag) => match tag {
                Tag::Paragraph => builder.open(Kind::Paragraph),
                Tag::Heading { level, .. } => builder.open(Kind::Heading(level as u8)),
                Tag::BlockQuote(_) => builder.open(Kind::Quote),
                Tag::CodeBlock(_) => code = Some(String::new()),
                Tag::List(start) => builder.open(Kind::List(start)),
                Tag::Item => builder.open(Kind::Item),
                Tag::Table(_) => builder.open(Kind::Table),
                Tag::TableHead | Tag::TableRow => builder.open(Kind::Row),
                Tag::TableCell => builder.open(Kind::Cell),
                Tag::Emphasis => builder.open(Kind::Emph),
                Tag::Strong => builder.open(Kind::Strong),
                // One tilde strikes nothing out in the page.
                Tag::Strikethrough if is_double(source, range.start) => builder.open(Kind::Strike),
                Tag::Strikethrough => builder.text("~"),
                Tag::Link { dest_url, .. } => builder.open(link(&dest_url)),
                Tag::Image { dest_url, .. } => image = Some((String::new(), decoded(&dest_url))),
                _ => {}
            },
            Event::End(tag) => match tag {
                TagEnd::HtmlBlock => {
                    builder.open(Kind::Paragraph);
                    builder.text(&html);
                    builder.close();
                    html.clear();
                }
                TagEnd::Strikethrough if !is_double(source, range.start) => builder.text("~"),
                TagEnd::Paragraph
                | TagEnd::Heading(_)
                | TagEnd::BlockQuote(_)
                | TagEnd::List(_)
                | TagEnd::Item
                | TagEnd::Table
                | TagEnd::TableHead
                | TagEnd::TableRow
                | TagEnd::TableCell
                | TagEnd::Emphasis
                | TagEnd::Strong
                | TagEnd::Strikethrough
                | TagEnd::Link => builder.close(),
                _ => {}
            },
            Event::Text(text) => builder.text(&text),
            Event::Code(text) => builder.inline(Piece::Code(text.into_string())),
            Event::InlineMath(text) => builder.text(&format!("({text})")),
            Event::DisplayMath(text) => builder.text(&format!("[ {text} ]")),
            Event::Html(text) => html.push_str(&text),
            Event::InlineHtml(text) => builder.text(&text),
            Event::SoftBreak => builder.text(" "),
            Event::HardBreak => builder.inline(Piece::Break),
            Event::Rule => builder.block(Piece::Rule),
            _ => {}
        }
    }
}

fn is_double(source: &str, at: usize) -> bool {
    source.get(at..).is_some_and(|rest| rest.starts_with("~~"))
}
