//! Formulas of a Markdown source, taken out before a CommonMark parser sees what
//! is inside them: a page with mathematics reads none of it as Markdown.

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag};

/// The first of the characters that stand for formulas; no text of a page has them.
const FIRST: u32 = 0xf_0000;
/// Formulas of one text that are taken out; more are left to the parser.
const FORMULAS_MAX: u32 = 0xffff;

/// A source whose formulas are stood for by one character each.
pub(super) struct Taken {
    pub(super) source: String,
    formulas: Vec<String>,
}

/// Takes out what stands between `\(` and `\)`, `\[` and `\]` or two `$$`, outside
/// of code. None where there is nothing of the kind.
pub(super) fn take(source: &str) -> Option<Taken> {
    if !["\\(", "\\[", "$$"]
        .iter()
        .any(|open| source.contains(open))
    {
        return None;
    }
    let code = code_in(source);
    let mut taken = Taken {
        source: String::with_capacity(source.len()),
        formulas: Vec::new(),
    };
    let mut from = 0;
    let mut at = 0;
    while let Some(found) = source[at..].find(['\\', '$']) {
        let open = at + found;
        // Whatever is escaped, it and its back-slash are passed together.
        let next = source[open + 1..].chars().next().map_or(0, char::len_utf8);
        at = open + 1 + next;
        let close = match &source[open..at] {
            "\\(" => "\\)",
            "\\[" => "\\]",
            "$$" => "$$",
            _ => {
                if source.as_bytes()[open] == b'$' {
                    at = open + 1;
                }
                continue;
            }
        };
        let Some(len) = source[at..].find(close) else {
            continue;
        };
        let inside = at..at + len;
        let text = &source[inside.clone()];
        // A paragraph's end ends it, and a table's cell may.
        let broken = text.contains("\n\n") || text.contains('|') || text.trim().is_empty();
        let coded = code
            .iter()
            .any(|code| code.start < inside.end && open < code.end);
        let nth = u32::try_from(taken.formulas.len()).unwrap_or(u32::MAX);
        if broken || coded || nth > FORMULAS_MAX {
            continue;
        }
        let Some(stand_in) = char::from_u32(FIRST + nth) else {
            continue;
        };
        taken.source.push_str(&source[from..open]);
        let one_line = on_one_line(text, quotes_before(source, open));
        if close == "\\)" {
            taken.source.push_str(&format!("\\({stand_in}\\)"));
            taken.formulas.push(one_line);
        } else {
            taken.source.push_str(&format!("\\[{stand_in}\\]"));
            taken.formulas.push(format!(" {one_line} "));
        }
        at = inside.end + close.len();
        from = at;
    }
    taken.source.push_str(&source[from..]);
    (!taken.formulas.is_empty()).then_some(taken)
}

/// In how many quotes the line stands on which a formula begins.
fn quotes_before(source: &str, open: usize) -> usize {
    let line = source[..open].rfind('\n').map_or(0, |at| at + 1);
    let marks = |c: &char| " \t>-+*.)".contains(*c) || c.is_ascii_digit();
    let before = source[line..open].chars().take_while(marks);
    before.filter(|c| *c == '>').count()
}

/// A formula's source without line ends, nor the marks of the quotes that it
/// stands in at the start of its further lines.
fn on_one_line(text: &str, quotes: usize) -> String {
    let mut words = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let mut line = line.trim_start();
        for _ in 0..if at == 0 { 0 } else { quotes } {
            line = line.strip_prefix('>').unwrap_or(line).trim_start();
        }
        words.extend(line.split_whitespace());
    }
    words.join(" ")
}

impl Taken {
    /// A text with its formulas in their places again.
    pub(super) fn put_back(&self, text: &str) -> Option<String> {
        let is_formula = |c: char| u32::from(c) >= FIRST;
        if !text.contains(is_formula) {
            return None;
        }
        let mut out = String::with_capacity(text.len());
        for c in text.chars() {
            let nth = u32::from(c).checked_sub(FIRST);
            match nth.and_then(|nth| self.formulas.get(usize::try_from(nth).ok()?)) {
                Some(formula) => out.push_str(formula),
                None => out.push(c),
            }
        }
        Some(out)
    }
}

#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "the parser's events are foreign; only code matters here"
)]
fn code_in(source: &str) -> Vec<Range<usize>> {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    Parser::new_ext(source, options)
        .into_offset_iter()
        .filter_map(|(event, range)| match event {
            Event::Code(_) | Event::Start(Tag::CodeBlock(_)) => Some(range),
            _ => None,
        })
        .collect()
}
