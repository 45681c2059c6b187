//! The texts of the reply that are at hand, and how they stand to one another.
//!
//! Forms are computed when a source changes, so that a proof only compares.

use protocol::fence;
use protocol::id::Digest;
use protocol::page::{Block, ConversationId, StreamEvent, StreamReport, TurnId};
use protocol::reply::Warning;
use protocol::text::Private;
use protocol::time::Millis;

use super::data::{self, Told};
use super::stream::OwnStream;
use super::weight;
use crate::compare::{Form, Relation, form_of_blocks, form_of_markdown};
use crate::limits::{COPIES_MAX, FORM_BYTES_MAX, TEXT_BYTES_MAX, TURNS_MAX};
use crate::markdown::unknown_tags;

/// Every source of the reply's text.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sources {
    pub(crate) stream: OwnStream,
    /// When the server's end was seen.
    pub(crate) end_at: Option<Millis>,
    pub(crate) raw: Option<Raw>,
    /// What the page's own data say of the reply.
    pub(crate) data: Option<DataTaken>,
    /// A text over its limit was given: it is no source.
    pub(crate) too_long: bool,
    pub(crate) copies: Vec<CopyTaken>,
    pub(crate) dom: Option<Dom>,
    blocks: u64,
    /// The longest copy given for each turn, in characters.
    copied: Vec<(TurnId, u32)>,
    /// The longest text shown under each turn's bar, in characters.
    shown: Vec<(TurnId, u32)>,
}

/// What the page's own data say of the reply.
#[derive(Debug, Clone)]
pub(crate) struct DataTaken {
    /// When exactly this was fetched first.
    pub(crate) at: Millis,
    told: Told,
    pub(crate) raw: Raw,
    /// How the stream's text stands to it.
    pub(crate) to_stream: Option<Relation>,
}

/// A Markdown source.
#[derive(Debug, Clone)]
pub(crate) struct Raw {
    pub(crate) text: Private,
    /// Of exactly that text.
    pub(crate) digest: Digest,
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
    /// How it stands to the stream's text, and to the page data's.
    pub(crate) to_stream: Option<Relation>,
    pub(crate) to_data: Option<Relation>,
    /// How the first other copy stands to it that says something else.
    pub(crate) other: Option<(u32, Relation)>,
}

/// What the page shows of the finished reply.
#[derive(Debug, Clone)]
pub(crate) struct Dom {
    pub(crate) turn: Option<TurnId>,
    blocks: Vec<Block>,
    bytes: usize,
    pub(crate) form: Form,
    pub(crate) chars: u32,
    pub(crate) unknown: Vec<String>,
    /// The last look that showed exactly this.
    pub(crate) at: Millis,
    /// How it stands to the stream's text, the page data's, the last copy's.
    pub(crate) to_stream: Option<Relation>,
    pub(crate) to_data: Option<Relation>,
    pub(crate) to_copy: Option<Relation>,
}

impl Dom {
    /// The blocks as they are shown.
    pub(crate) fn blocks(&self) -> &[Block] {
        &self.blocks
    }
}

impl DataTaken {
    /// Whether it is of this exchange and says that the reply is finished.
    pub(crate) fn ends(&self, own: Option<&TurnId>, turn: Option<&TurnId>) -> bool {
        self.told.finished && self.is_of(own, turn)
    }

    /// Whether it says that the reply is finished, whichever turn is shown.
    pub(crate) fn is_finished(&self) -> bool {
        self.told.finished
    }

    /// Whether it says that the server stopped the reply for its length.
    pub(crate) fn is_truncated(&self, own: Option<&TurnId>, turn: Option<&TurnId>) -> bool {
        self.told.truncated && self.is_of(own, turn)
    }

    /// Whether it says that this very text is not finished.
    pub(crate) fn is_unfinished(&self, text: &Raw) -> bool {
        !self.told.finished && self.raw.form.relation(&text.form) == Relation::Equal
    }

    fn is_of(&self, own: Option<&TurnId>, turn: Option<&TurnId>) -> bool {
        own == Some(&self.told.own) && turn == Some(&self.told.turn)
    }
}

impl Raw {
    pub(crate) fn new(text: &str) -> Self {
        let (text, citations) = without_citations(text);
        Self {
            form: form_of_markdown(&text),
            chars: u32::try_from(text.chars().count()).unwrap_or(u32::MAX),
            fence_closed: ends_in_closed_fence(&text),
            digest: Digest::of(&text),
            text: text.into(),
            citations,
        }
    }

    fn bytes(&self) -> usize {
        self.text.as_str().len() + self.form.bytes()
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
        if let StreamEvent::Fetched { url, body } = &report.event {
            return self.take_data(now, body.as_str(), url, ours, conversation);
        }
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
                self.raw = text.and_then(|text| self.raw_of(&text));
                self.relate();
            }
        }
        taken
    }

    /// A Markdown source, unless it is over what is kept of one.
    fn raw_of(&mut self, text: &str) -> Option<Raw> {
        let raw = (text.len() <= TEXT_BYTES_MAX).then(|| Raw::new(text));
        let raw = raw.filter(|raw| raw.form.bytes() <= FORM_BYTES_MAX);
        self.too_long |= raw.is_none();
        raw
    }

    /// Takes data in that the page fetched; true where they are of our reply.
    fn take_data(
        &mut self,
        now: Millis,
        body: &str,
        url: &str,
        ours: &str,
        conversation: Option<&ConversationId>,
    ) -> bool {
        let Some(told) = data::read(body, url, ours, conversation) else {
            return false;
        };
        let known = self.data.as_ref().map(|data| &data.told);
        if known == told.as_ref() {
            return told.is_some();
        }
        let raw = told
            .as_ref()
            .and_then(|told| Some((told.clone(), self.raw_of(&told.text)?)));
        self.data = raw.map(|(mut told, raw)| {
            told.text.clear();
            DataTaken {
                at: now,
                told,
                raw,
                to_stream: None,
            }
        });
        self.relate();
        self.data.is_some()
    }

    /// Bytes that are held, by and large: texts, forms, what is shown, streams.
    pub(crate) fn bytes(&self) -> usize {
        let raws = [self.raw.as_ref(), self.data.as_ref().map(|data| &data.raw)];
        let raws = raws.into_iter().flatten();
        let raws = raws.chain(self.copies.iter().map(|copy| &copy.raw));
        let texts: usize = raws.map(Raw::bytes).sum();
        texts + self.stream.held() + self.dom.as_ref().map_or(0, |dom| dom.bytes)
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
            return self.no_dom();
        };
        if let Some(dom) = &mut self.dom
            && dom.blocks == blocks
            && dom.turn.as_ref() == turn
        {
            dom.at = now;
            return self.blocks;
        }
        let (form, tree) = (form_of_blocks(blocks), weight::of_blocks(blocks));
        if form.bytes() > FORM_BYTES_MAX || tree > FORM_BYTES_MAX {
            return self.no_dom();
        }
        // The very first blocks of a text that stood there change nothing of it: its
        // fingerprint covers all of it. Any others may, also where none stood between.
        if self.dom.is_some() || self.blocks > 0 {
            self.blocks += 1;
        }
        if let Some(turn) = turn {
            raise(&mut self.shown, turn, form.chars());
        }
        self.dom = Some(Dom {
            turn: turn.cloned(),
            chars: form.chars(),
            bytes: form.bytes() + tree,
            form,
            unknown: unknown_tags(blocks),
            blocks: blocks.to_vec(),
            at: now,
            to_stream: None,
            to_data: None,
            to_copy: None,
        });
        self.relate();
        self.blocks
    }

    /// Nothing is shown that counts; returns the version of the blocks.
    fn no_dom(&mut self) -> u64 {
        if self.dom.take().is_some() {
            self.blocks += 1;
        }
        self.blocks
    }

    pub(crate) fn take_copy(&mut self, now: Millis, turn: &TurnId, print: &str, text: &Private) {
        let Some(raw) = self.raw_of(text.as_str()) else {
            return;
        };
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
                to_data: None,
                other: None,
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
        let mut moved = false;
        for copy in &mut self.copies {
            let outdated = copy.print != print || Some(&copy.turn) != turn;
            moved |= outdated != copy.outdated;
            copy.outdated = outdated;
        }
        if moved {
            self.relate();
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
        if let Some(data) = &mut self.data {
            data.to_stream = stream.map(|form| data.raw.form.relation(form));
        }
        let data = self.data.as_ref().map(|data| &data.raw.form);
        for at in 0..self.copies.len() {
            let form = &self.copies[at].raw.form;
            let others = self.copies.iter().enumerate();
            let other = others
                .filter(|(other, copy)| *other != at && !copy.outdated)
                .map(|(_, copy)| (copy.raw.form.chars(), copy.raw.form.relation(form)))
                .find(|(_, relation)| *relation != Relation::Equal);
            let to_stream = stream.map(|stream| form.relation(stream));
            let to_data = data.map(|data| form.relation(data));
            let copy = &mut self.copies[at];
            (copy.other, copy.to_stream, copy.to_data) = (other, to_stream, to_data);
        }
        let copy = self.copies.iter().rfind(|copy| !copy.outdated);
        if let Some(dom) = &mut self.dom {
            dom.to_stream = stream.map(|form| dom.form.relation(form));
            dom.to_data = data.map(|form| dom.form.relation(form));
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
