//! Builds a form piece by piece and keeps it normal.

use super::{Kind, Piece, decoded};

/// Collects pieces: merges text, squeezes white space, gives list items and
/// quotes the paragraph that a tight list leaves out.
#[derive(Default)]
pub(super) struct Builder {
    out: Vec<Piece>,
    open: Vec<Open>,
}

struct Open {
    kind: Kind,
    at: usize,
    implied: bool,
}

impl Builder {
    /// Opens a container or span.
    pub(super) fn open(&mut self, kind: Kind) {
        if kind.is_span() {
            self.need_text_holder();
        } else {
            self.close_implied();
        }
        self.push_open(kind, false);
    }

    /// Closes the innermost explicit one.
    pub(super) fn close(&mut self) {
        self.close_implied();
        self.close_last();
    }

    /// Running text.
    pub(super) fn text(&mut self, text: &str) {
        if self.open.iter().all(|open| !open.kind.holds_text()) {
            if text.trim().is_empty() {
                return;
            }
            self.need_text_holder();
        }
        self.append_text(text);
    }

    /// A piece within running text.
    pub(super) fn inline(&mut self, piece: Piece) {
        self.need_text_holder();
        if piece == Piece::Break {
            self.trim_end();
        }
        let mut piece = piece;
        if let Piece::Image { alt, .. } = &mut piece {
            *alt = alt.split_whitespace().collect::<Vec<_>>().join(" ");
        }
        self.out.push(piece);
    }

    /// A piece that stands on its own.
    pub(super) fn block(&mut self, piece: Piece) {
        self.close_implied();
        self.out.push(piece);
    }

    /// The finished pieces. A line break that is written as an element is one,
    /// whether the page broke the line there or shows the element's letters
    /// **(ours)**: in a table's cell Markdown knows no other.
    pub(super) fn finish(mut self) -> Vec<Piece> {
        while !self.open.is_empty() {
            self.close_last();
        }
        let written = |piece: &Piece| matches!(piece, Piece::Text(text) if text.contains("<br"));
        if !self.out.iter().any(written) {
            return self.out;
        }
        let mut anew = Self::default();
        for piece in self.out {
            match piece {
                Piece::Open(kind) => anew.open(kind),
                Piece::Close => anew.close(),
                Piece::Text(text) => anew.text_with_breaks(&text),
                Piece::CodeBlock { .. } | Piece::Rule => anew.block(piece),
                Piece::Code(_) | Piece::Image { .. } | Piece::Break => anew.inline(piece),
            }
        }
        while !anew.open.is_empty() {
            anew.close_last();
        }
        anew.out
    }

    fn text_with_breaks(&mut self, text: &str) {
        let mut rest = text;
        while let Some(at) = rest.find("<br") {
            let after = &rest[at + 3..];
            let tag = after.trim_start_matches([' ', '/']);
            match tag.strip_prefix('>') {
                Some(next) if after.len() - tag.len() <= 2 => {
                    self.text(&rest[..at]);
                    self.inline(Piece::Break);
                    rest = next;
                }
                Some(_) | None => {
                    self.text(&rest[..at + 3]);
                    rest = after;
                }
            }
        }
        self.text(rest);
    }

    fn push_open(&mut self, kind: Kind, implied: bool) {
        self.open.push(Open {
            kind: kind.clone(),
            at: self.out.len(),
            implied,
        });
        self.out.push(Piece::Open(kind));
    }

    fn need_text_holder(&mut self) {
        if self.open.iter().all(|open| !open.kind.holds_text()) {
            self.push_open(Kind::Paragraph, true);
        }
    }

    fn close_implied(&mut self) {
        while self.open.last().is_some_and(|open| open.implied) {
            self.close_last();
        }
    }

    fn close_last(&mut self) {
        let Some(Open { kind, at, .. }) = self.open.pop() else {
            return;
        };
        if kind.holds_text() {
            self.trim_end();
            // A break at the end of a block breaks nothing.
            while self.out.last() == Some(&Piece::Break) {
                self.out.pop();
                self.trim_end();
            }
        }
        // What shows nothing is not there: an empty span or paragraph.
        let empty = self.out.len() == at + 1;
        if empty && (kind.is_span() || kind == Kind::Paragraph) {
            self.out.truncate(at);
            return;
        }
        if let Kind::Link(to) = &kind
            && let [Piece::Text(shown)] = &self.out[at + 1..]
            && is_bare(shown, to)
        {
            // An address that is a link to itself is text.
            let shown = shown.clone();
            self.out.truncate(at);
            self.append_text(&shown);
            return;
        }
        self.out.push(Piece::Close);
    }

    /// Text with white space squeezed; none at the start of a block or after a
    /// break, where it would not be seen.
    fn append_text(&mut self, text: &str) {
        let mut squeezed = String::with_capacity(text.len());
        let mut space = self.ends_in_space();
        for c in text.chars() {
            if c.is_whitespace() {
                if !space {
                    squeezed.push(' ');
                }
                space = true;
            } else {
                squeezed.push(c);
                space = false;
            }
        }
        if squeezed.is_empty() {
            return;
        }
        if let Some(Piece::Text(last)) = self.out.last_mut() {
            last.push_str(&squeezed);
        } else {
            self.out.push(Piece::Text(squeezed));
        }
    }

    /// Whether white space added now would not be seen: at a block's start,
    /// after a break, or after other white space, across the edges of spans.
    fn ends_in_space(&self) -> bool {
        for piece in self.out.iter().rev() {
            match piece {
                Piece::Text(text) => return text.ends_with(' '),
                Piece::Open(kind) if kind.is_span() => {}
                Piece::Close => {}
                Piece::Break | Piece::Rule | Piece::CodeBlock { .. } | Piece::Open(_) => {
                    return true;
                }
                Piece::Code(_) | Piece::Image { .. } => return false,
            }
        }
        true
    }

    /// Takes white space off the end of the running text, also from inside
    /// spans that end there.
    fn trim_end(&mut self) {
        let mut at = self.out.len();
        while at > 0 {
            at -= 1;
            match &mut self.out[at] {
                Piece::Close => {}
                Piece::Text(text) => {
                    let kept = text.trim_end().len();
                    text.truncate(kept);
                    if text.is_empty() {
                        self.out.remove(at);
                    }
                    return;
                }
                Piece::Open(_)
                | Piece::Code(_)
                | Piece::CodeBlock { .. }
                | Piece::Image { .. }
                | Piece::Break
                | Piece::Rule => return,
            }
        }
    }
}

/// The kind of a link to `to`.
pub(super) fn link(to: &str) -> Kind {
    Kind::Link(decoded(to))
}

fn is_bare(shown: &str, to: &str) -> bool {
    let bare = |text: &str| {
        let text = text.strip_prefix("mailto:").unwrap_or(text);
        text.trim_end_matches('/').to_owned()
    };
    bare(shown) == bare(to) || format!("http://{}", bare(shown)) == bare(to)
}
