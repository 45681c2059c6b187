//! Running text as Markdown: escapes, spans and the edges between them.

use protocol::page::Inline;

use super::longest_run;

/// Where running text stands; it decides what must be escaped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// In a paragraph: a break may stand, a line may begin a block.
    Paragraph,
    /// In a heading: one line.
    Heading,
    /// In a table's cell: one line.
    Cell,
}

/// The Markdown of running text.
pub(super) fn inlines(c: &[Inline], place: Place) -> String {
    let mut out = String::new();
    write(c, place, 0, false, &mut out);
    let lines: Vec<String> = out
        .trim()
        .split('\n')
        .map(|line| match place {
            Place::Paragraph => guarded_start(line.trim_start()),
            Place::Heading | Place::Cell => line.to_owned(),
        })
        .collect();
    let text = lines.join("\n");
    // A break at the end of a block breaks nothing.
    text.trim_end_matches("\\\n").trim_end().to_owned()
}

fn write(c: &[Inline], place: Place, depth: usize, in_link: bool, out: &mut String) {
    let mut after_span = false;
    for (at, inline) in c.iter().enumerate() {
        let next = c.get(at + 1).and_then(first_char);
        let mut swap = depth + usize::from(after_span);
        after_span = false;
        let mut inner = String::new();
        match inline {
            Inline::Text { v } => {
                escape(v, place, in_link, out);
                continue;
            }
            Inline::Unknown { text, .. } => {
                escape(text, place, in_link, out);
                continue;
            }
            Inline::Code { v } => {
                out.push_str(&code(v, place));
                continue;
            }
            Inline::Math { source, display } => {
                // As it is: a page with mathematics reads none of it as Markdown.
                let source = source.split_whitespace().collect::<Vec<_>>().join(" ");
                out.push_str(&if *display {
                    format!("\\[ {source} \\]")
                } else {
                    format!("\\({source}\\)")
                });
                continue;
            }
            Inline::Break => {
                out.push_str(match place {
                    Place::Paragraph => "\\\n",
                    // The one way to say it on one line.
                    Place::Cell | Place::Heading => "<br>",
                });
                continue;
            }
            Inline::Image { src, alt } => {
                let mut text = String::new();
                escape(alt, place, true, &mut text);
                out.push_str(&format!("![{}]({})", text.trim(), destination(src)));
                continue;
            }
            Inline::Link { href, c, title } => {
                write(c, place, depth, true, &mut inner);
                let title = title.as_deref().map(quoted).unwrap_or_default();
                if in_link || inner.trim().is_empty() {
                    out.push_str(&inner);
                } else {
                    out.push_str(&format!("[{}]({}{title})", inner.trim(), destination(href)));
                }
                continue;
            }
            Inline::Emph { c } => {
                write(c, place, depth + 1, in_link, &mut inner);
                span(&inner, ["*", "_"][swap % 2], next, out);
            }
            Inline::Strong { c } => {
                write(c, place, depth + 1, in_link, &mut inner);
                span(&inner, ["**", "__"][swap % 2], next, out);
            }
            Inline::Strike { c } => {
                write(c, place, depth, in_link, &mut inner);
                span(&inner, "~~", next, out);
                swap = 0;
            }
        }
        after_span = swap.is_multiple_of(2);
    }
}

/// A span between delimiters. White space at its edges goes outside; a letter
/// that would keep a delimiter from opening or closing is written by its number.
fn span(inner: &str, delimiter: &str, next: Option<char>, out: &mut String) {
    let text = inner.trim();
    if text.is_empty() {
        out.push_str(inner);
        return;
    }
    let (lead, tail) = (
        inner.len() - inner.trim_start().len(),
        inner.trim_end().len(),
    );
    out.push_str(&inner[..lead]);
    let strict = delimiter.starts_with('_');
    let first = text.chars().next().unwrap_or(' ');
    let last = text.chars().next_back().unwrap_or(' ');
    if (strict || !first.is_alphanumeric()) && ends_in_letter(out) {
        let letter = out.pop().unwrap_or(' ');
        out.push_str(&format!("&#x{:x};", u32::from(letter)));
    }
    out.push_str(delimiter);
    out.push_str(text);
    out.push_str(delimiter);
    out.push_str(&inner[tail..]);
    let blocked = strict || !last.is_alphanumeric();
    if blocked && tail == inner.len() && next.is_some_and(char::is_alphanumeric) {
        // The mark is taken up by `escape`, which then writes the next letter
        // by its number.
        out.push(NUMBERED);
    }
}

/// Asks for the next character to be written by its number.
const NUMBERED: char = '\u{1}';

fn ends_in_letter(out: &str) -> bool {
    out.chars().next_back().is_some_and(char::is_alphanumeric)
}

fn first_char(inline: &Inline) -> Option<char> {
    match inline {
        Inline::Text { v } => v.chars().next(),
        Inline::Unknown { text, .. } => text.chars().next(),
        Inline::Code { .. }
        | Inline::Emph { .. }
        | Inline::Strong { .. }
        | Inline::Strike { .. }
        | Inline::Link { .. }
        | Inline::Image { .. }
        | Inline::Math { .. }
        | Inline::Break => None,
    }
}

fn escape(text: &str, place: Place, in_link: bool, out: &mut String) {
    let numbered = out.ends_with(NUMBERED);
    if numbered {
        out.pop();
    }
    let mut chars = text.chars().enumerate().peekable();
    while let Some((at, c)) = chars.next() {
        if at == 0 && numbered {
            out.push_str(&format!("&#x{:x};", u32::from(c)));
        } else if c == '\u{a0}' {
            out.push(c);
        } else if c.is_whitespace() {
            if !out.ends_with([' ', '\n']) {
                out.push(' ');
            }
        } else if c.is_control() {
            // Not content that a page shows.
        } else {
            // An escaped bracket would begin a formula; a bare one may stand,
            // save in a link's text and where it would make a link.
            if in_link && matches!(c, '[' | ']') {
                out.push_str(&format!("&#x{:x};", u32::from(c)));
                continue;
            }
            let next = chars.peek().map(|(_, next)| *next);
            let links = c == ']' && next.is_none_or(|next| matches!(next, '(' | '[' | ':'));
            let always = links || matches!(c, '\\' | '`' | '*' | '_' | '<' | '&' | '~' | '$' | '|');
            if always || (c == '#' && place == Place::Heading) {
                out.push('\\');
            }
            out.push(c);
        }
    }
}

/// Keeps a line of a paragraph from beginning another block.
fn guarded_start(line: &str) -> String {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    if digits > 0 && line[digits..].starts_with(['.', ')']) {
        return format!("{}\\{}", &line[..digits], &line[digits..]);
    }
    if line.starts_with(['#', '+', '-', '>', '=', ':']) {
        return format!("\\{line}");
    }
    line.to_owned()
}

fn code(text: &str, place: Place) -> String {
    let text = text.replace("\r\n", " ").replace('\n', " ");
    if text.is_empty() {
        return String::new();
    }
    let fence = "`".repeat(longest_run(&text) + 1);
    let blank = text.chars().all(|c| c == ' ');
    let spaced = text.starts_with(' ') && text.ends_with(' ') && !blank;
    let pad = if spaced || text.starts_with('`') || text.ends_with('`') {
        " "
    } else {
        ""
    };
    let text = match place {
        Place::Cell => text.replace('|', "\\|"),
        Place::Paragraph | Place::Heading => text,
    };
    format!("{fence}{pad}{text}{pad}{fence}")
}

fn destination(address: &str) -> String {
    let kept: String = address.chars().filter(|c| !c.is_control()).collect();
    let escaped = kept
        .replace('\\', "\\\\")
        .replace('<', "\\<")
        .replace('>', "\\>")
        .replace('&', "\\&")
        .replace('|', "%7C");
    format!("<{escaped}>")
}

fn quoted(title: &str) -> String {
    let kept: String = title
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    format!(
        " \"{}\"",
        kept.replace('\\', "\\\\")
            .replace('"', "\\\"")
            .replace('&', "\\&")
            .replace('|', "\\|")
    )
}
