//! The HTML of a turn as a browser writes it out: tags stay, texts and values go.

use super::Redactor;

/// Attributes whose value says nothing of anybody.
const KEPT: &[&str] = &[
    "class",
    "role",
    "dir",
    "type",
    "hidden",
    "disabled",
    "translate",
    "contenteditable",
    "tabindex",
    "aria-hidden",
    "aria-busy",
    "aria-expanded",
    "data-turn",
    "data-message-author-role",
    "data-is-streaming",
    "data-markdown-text-style",
    "data-state",
    "data-scroll-anchor",
    "data-chatgpt-agent-turn-start",
    "data-user-message-bubble",
    "data-conversation-role",
    "data-message-model-slug",
    "data-math-display",
    "viewbox",
    "width",
    "height",
];
/// Elements whose text is code of the page, and goes altogether.
const GONE: &[&str] = &["script", "style", "template", "noscript", "iframe"];

impl Redactor {
    /// The same elements with nothing to read in them.
    #[must_use]
    pub fn html(&mut self, html: &str) -> String {
        let mut out = String::with_capacity(html.len());
        let mut rest = html;
        while let Some(at) = rest.find('<') {
            out.push_str(&self.entities(&rest[..at]));
            rest = &rest[at..];
            if let Some(comment) = rest.strip_prefix("<!--") {
                rest = comment.find("-->").map_or("", |end| &comment[end + 3..]);
                continue;
            }
            let end = tag_end(rest);
            let tag = &rest[..end];
            rest = &rest[end..];
            let name = name_of(tag);
            if GONE.contains(&name.as_str()) && !tag.starts_with("</") {
                let close = format!("</{name}");
                rest = rest.find(&close).map_or("", |at| {
                    let rest = &rest[at..];
                    &rest[tag_end(rest)..]
                });
                continue;
            }
            self.tag(tag, &name, &mut out);
        }
        out.push_str(&self.entities(rest));
        out
    }

    /// A text, its entities as they are.
    fn entities(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find('&') {
            out.push_str(&self.text(&rest[..at]));
            let entity = rest[at..].find(';').filter(|end| *end <= 8);
            let end = at + entity.map_or(1, |end| end + 1);
            out.push_str(&rest[at..end]);
            rest = &rest[end..];
        }
        out.push_str(&self.text(rest));
        out
    }

    fn tag(&mut self, tag: &str, name: &str, out: &mut String) {
        let close = tag.starts_with("</");
        out.push_str(if close { "</" } else { "<" });
        out.push_str(name);
        if !close {
            let inside = tag.trim_start_matches('<').trim_end_matches('>');
            for (attribute, value) in attributes(inside.get(name.len()..).unwrap_or_default()) {
                let value = if KEPT.contains(&attribute.as_str()) {
                    value.to_owned()
                } else {
                    self.value(value)
                };
                out.push_str(&format!(" {attribute}=\"{value}\""));
            }
        }
        out.push('>');
    }

    /// The value of any other attribute: ids are mapped, marks made of the site's words
    /// and numbers keep their words, all else is text.
    fn value(&mut self, value: &str) -> String {
        let parts: Vec<String> = value
            .split_inclusive([' ', ':'])
            .map(|part| {
                let (word, by) = match part.char_indices().last() {
                    Some((at, last)) if last == ' ' || last == ':' => part.split_at(at),
                    Some(_) | None => (part, ""),
                };
                let (before, id) = match word.len().checked_sub(36) {
                    Some(at) if word.is_char_boundary(at) && super::is_uuid(&word[at..]) => {
                        word.split_at(at)
                    }
                    Some(_) | None => (word, ""),
                };
                let id = if id.is_empty() {
                    String::new()
                } else {
                    self.id(id)
                };
                let known = matches!(
                    before,
                    "turn-" | "" | "user" | "assistant" | "fallback-turn-"
                ) || before.starts_with("conversation-turn-")
                    || before.ends_with("-turn-action-button");
                let before = if known {
                    before.to_owned()
                } else {
                    self.text(before)
                };
                format!("{before}{id}{by}")
            })
            .collect();
        parts.concat()
    }
}

/// Where a tag ends; a value may hold the sign that ends it.
fn tag_end(tag: &str) -> usize {
    let mut quote = None;
    for (at, char) in tag.char_indices() {
        match (quote, char) {
            (None, '"' | '\'') => quote = Some(char),
            (Some(open), _) if open == char => quote = None,
            (None, '>') => return at + 1,
            (None | Some(_), _) => {}
        }
    }
    tag.len()
}

fn name_of(tag: &str) -> String {
    let inside = tag.trim_start_matches(['<', '/']);
    let name = inside
        .chars()
        .take_while(|char| char.is_ascii_alphanumeric() || *char == '-');
    name.collect::<String>().to_ascii_lowercase()
}

/// Names and values, as a browser writes them.
fn attributes(inside: &str) -> Vec<(String, &str)> {
    let mut found = Vec::new();
    let mut rest = inside.trim_start();
    while let Some(at) = rest.find("=\"") {
        let name = rest[..at].trim();
        let value = &rest[at + 2..];
        let end = value.find('"').unwrap_or(value.len());
        let is_name = !name.is_empty()
            && name.len() <= 60
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-_:".contains(&byte));
        if is_name {
            found.push((name.to_ascii_lowercase(), &value[..end]));
        }
        rest = value.get(end + 1..).unwrap_or_default().trim_start();
    }
    found
}
