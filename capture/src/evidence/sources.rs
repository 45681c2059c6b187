//! The texts of the reply that are at hand, and how they stand to one another.
//!
//! Forms are computed when a source changes, so that a proof only compares.

use protocol::fence;
use protocol::page::{Block, ConversationId, StreamReport, TurnId};
use protocol::reply::Warning;
use protocol::text::Private;
use protocol::time::Millis;

use super::stream::OwnStream;
use crate::compare::{Form, Relation, form_of_blocks, form_of_markdown};
use crate::markdown::unknown_tags;

/// Different copies of one reply kept; more of them prove nothing more.
const COPIES_MAX: usize = 4;
/// Turns whose longest copy is kept: ours has one reply, or a few ids of it.
const TURNS_MAX: usize = 16;

/// Every source of the reply's text.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sources {
    pub(crate) stream: OwnStream,
    /// When the server's end was seen.
    pub(crate) end_at: Option<Millis>,
    pub(crate) raw: Option<Raw>,
    pub(crate) copies: Vec<CopyTaken>,
    pub(crate) dom: Option<Dom>,
    blocks: u64,
    /// The longest copy given for each turn, in characters.
    copied: Vec<(TurnId, u32)>,
    /// The longest text shown under each turn's bar, in characters.
    shown: Vec<(TurnId, u32)>,
}

/// A Markdown source.
#[derive(Debug, Clone)]
pub(crate) struct Raw {
    pub(crate) text: String,
    /// Its length in characters.
    pub(crate) chars: u32,
    /// Its last fence is explicitly closed and only blanks follow.
    pub(crate) fence_closed: bool,
    pub(crate) citations: u32,
    pub(crate) form: Form,
}

/// What the page's own copy gave.
#[derive(Debug, Clone)]
pub(crate) struct CopyTaken {
    pub(crate) turn: TurnId,
    pub(crate) at: Millis,
    pub(crate) raw: Raw,
    /// What was shown when it was taken.
    print: String,
    /// Another text is shown now.
    outdated: bool,
    /// How the stream's text stands to it.
    pub(crate) to_stream: Option<Relation>,
}

/// What the page shows of the finished reply.
#[derive(Debug, Clone)]
pub(crate) struct Dom {
    pub(crate) turn: Option<TurnId>,
    blocks: Vec<Block>,
    pub(crate) form: Form,
    pub(crate) chars: u32,
    pub(crate) unknown: Vec<String>,
    /// The last look that showed exactly this.
    pub(crate) at: Millis,
    /// How it stands to the stream's text, and to the last copy's.
    pub(crate) to_stream: Option<Relation>,
    pub(crate) to_copy: Option<Relation>,
}

impl CopyTaken {
    /// Whether the text it was taken of is still the one shown.
    pub(crate) fn is_current(&self) -> bool {
        !self.outdated
    }
}

impl Raw {
    pub(crate) fn new(text: &str) -> Self {
        let (text, citations) = without_citations(text);
        Self {
            form: form_of_markdown(&text),
            chars: u32::try_from(text.chars().count()).unwrap_or(u32::MAX),
            fence_closed: ends_in_closed_fence(&text),
            text,
            citations,
        }
    }
}

impl Sources {
    /// Takes a stream report in; true where it is of our own message's stream.
    pub(crate) fn take_stream(
        &mut self,
        now: Millis,
        report: &StreamReport,
        ours: &str,
        conversation: Option<&ConversationId>,
    ) -> bool {
        let taken = self.stream.take(report, ours, conversation);
        if taken {
            self.end_at = match self.stream.end() {
                Some(_) => self.end_at.or(Some(now)),
                None => None,
            };
            // The text is read once it is whole; pieces of it prove nothing.
            let text = self.end_at.and_then(|_| self.stream.text());
            let known = self.raw.as_ref().map(|raw| raw.text.as_str());
            if text.as_deref() != known {
                self.raw = text.map(|text| Raw::new(&text));
                self.relate();
            }
        }
        taken
    }

    /// Whether the server's end was seen just now.
    pub(crate) fn ended_now(&self, now: Millis) -> bool {
        self.end_at == Some(now)
    }

    /// Takes the blocks of a look in; returns their version.
    pub(crate) fn take_dom(
        &mut self,
        now: Millis,
        turn: Option<&TurnId>,
        blocks: Option<&[Block]>,
        stop: bool,
    ) -> u64 {
        let Some(blocks) = blocks.filter(|_| !stop) else {
            if self.dom.take().is_some() {
                self.blocks += 1;
            }
            return self.blocks;
        };
        if let Some(dom) = &mut self.dom
            && dom.blocks == blocks
            && dom.turn.as_ref() == turn
        {
            dom.at = now;
            return self.blocks;
        }
        self.blocks += 1;
        let form = form_of_blocks(blocks);
        if let Some(turn) = turn {
            raise(&mut self.shown, turn, form.chars());
        }
        self.dom = Some(Dom {
            turn: turn.cloned(),
            chars: form.chars(),
            form,
            unknown: unknown_tags(blocks),
            blocks: blocks.to_vec(),
            at: now,
            to_stream: None,
            to_copy: None,
        });
        self.relate();
        self.blocks
    }

    pub(crate) fn take_copy(&mut self, now: Millis, turn: &TurnId, print: &str, text: &Private) {
        let raw = Raw::new(text.as_str());
        self.copies.retain(|copy| !copy.outdated);
        if let Some(same) = self
            .copies
            .iter_mut()
            .find(|copy| copy.turn == *turn && copy.raw.text == raw.text)
        {
            same.at = now;
        } else if self.copies.len() < COPIES_MAX {
            self.copies.push(CopyTaken {
                turn: turn.clone(),
                at: now,
                raw,
                print: print.to_owned(),
                outdated: false,
                to_stream: None,
            });
        }
        self.relate();
    }

    /// A copy was given, whatever the page's state: nothing shorter may be taken
    /// for that turn's reply (C3).
    pub(crate) fn candidate(&mut self, turn: &TurnId, text: &Private) {
        let chars = without_citations(text.as_str()).0.chars().count();
        raise(
            &mut self.copied,
            turn,
            u32::try_from(chars).unwrap_or(u32::MAX),
        );
    }

    /// The longest copy given for a turn, in characters.
    pub(crate) fn longest_copied(&self, turn: &TurnId) -> u32 {
        longest_of(&self.copied, turn)
    }

    /// The longest text shown under a turn's bar, in characters.
    pub(crate) fn longest_shown(&self, turn: &TurnId) -> u32 {
        longest_of(&self.shown, turn)
    }

    /// What is shown now: a copy of another text is of another state of the reply.
    pub(crate) fn shown(&mut self, turn: Option<&TurnId>, print: &str) {
        for copy in &mut self.copies {
            copy.outdated = copy.print != print || Some(&copy.turn) != turn;
        }
    }

    /// The page is read anew; what it gave before counts no more, except that
    /// nothing shorter may replace it (C3).
    pub(crate) fn forget_page(&mut self) {
        self.copies.clear();
        self.dom = None;
        self.blocks += 1;
    }

    /// The copy that counts: the last one of the text as shown now.
    pub(crate) fn copy(&self) -> Option<&CopyTaken> {
        self.copies.iter().rfind(|copy| !copy.outdated)
    }

    fn relate(&mut self) {
        let stream = self.raw.as_ref().map(|raw| &raw.form);
        for copy in &mut self.copies {
            copy.to_stream = stream.map(|form| copy.raw.form.relation(form));
        }
        let copy = self.copies.iter().rfind(|copy| !copy.outdated);
        if let Some(dom) = &mut self.dom {
            dom.to_stream = stream.map(|form| dom.form.relation(form));
            dom.to_copy = copy.map(|copy| dom.form.relation(&copy.raw.form));
        }
    }
}

/// Whether the last fenced block is explicitly closed and only blanks follow:
/// without its last line the block would stand open.
//= spec C2
fn ends_in_closed_fence(text: &str) -> bool {
    let text = text.trim_end();
    let Some((before, _)) = text.rsplit_once('\n') else {
        return false;
    };
    let (whole, without) = (fence::scan(text), fence::scan(before));
    !whole.is_open() && without.is_open() && whole.blocks.len() == without.blocks.len()
}

fn raise(list: &mut Vec<(TurnId, u32)>, turn: &TurnId, chars: u32) {
    if let Some((_, longest)) = list.iter_mut().find(|(known, _)| known == turn) {
        *longest = chars.max(*longest);
    } else if list.len() < TURNS_MAX {
        list.push((turn.clone(), chars));
    }
}

fn longest_of(list: &[(TurnId, u32)], turn: &TurnId) -> u32 {
    let known = list.iter().find(|(known, _)| known == turn);
    known.map_or(0, |(_, longest)| *longest)
}

/// A text without the page's raw citation marks, and how many there were: runs
/// from U+E200 to U+E201, and stray marks of that kind.
fn without_citations(text: &str) -> (String, u32) {
    if !text.contains(['\u{e200}', '\u{e201}', '\u{e202}']) {
        return (text.to_owned(), 0);
    }
    let mut out = String::with_capacity(text.len());
    let mut count = 0;
    let mut rest = text;
    while let Some(at) = rest.find(['\u{e200}', '\u{e201}', '\u{e202}']) {
        out.push_str(&rest[..at]);
        count += 1;
        let marked = &rest[at..];
        // A mark closes on its own line; an open one takes nothing else along.
        let line = marked.find('\n').unwrap_or(marked.len());
        let end = marked[..line].find('\u{e201}').unwrap_or(0);
        let skip = marked[end..].chars().next().map_or(0, char::len_utf8);
        rest = &marked[end + skip..];
    }
    out.push_str(rest);
    (out, count)
}

/// The warnings that go with an accepted text.
pub(crate) fn warnings(raw: &Raw, unknown: &[String]) -> Vec<Warning> {
    let mut warnings = Vec::new();
    if raw.citations > 0 {
        warnings.push(Warning::CitationMarks {
            count: raw.citations,
        });
    }
    warnings.extend(
        unknown
            .iter()
            .map(|tag| Warning::UnknownBlock { tag: tag.clone() }),
    );
    warnings
}
