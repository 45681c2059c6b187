//! Which source may be trusted, and when two of them settle it.
//!
//! | source | where from | counts once | counts for nothing |
//! |---|---|---|---|
//! | stream | the event stream of our own request, or one that says that it answers our whole text | its end was seen inside it | events lost or not decoded, attachment ended before it did, our text in two requests |
//! | page data | the conversation, where the page itself fetched it | our whole message is the last of our side in it and the reply is finished there | another conversation, branch or turn than the one shown, over its limit |
//! | copy | the reply's own copy control | the bar stood and nothing was being generated | the shown text changed since, another turn, an older epoch |
//! | DOM | the blocks under the bar | seen after the end | empty while a copy has text; an editor that shows some lines of the same block |
//! | re-read | as DOM, after the document was loaded anew | as DOM | as DOM |
//!
//! Two that agree (C9), one of them from the page after the end, and no other
//! that differs. The text itself is the stream's Markdown, else the data's, else
//! the copy's; rendered text alone is never an answer (W4). That page data are a
//! source of the text as the stream is **(ours: C2 names them as an end only, W4
//! as a source)**. Nothing is ever asked of the page's server.

use protocol::reply::{Disagreement, Source};
use protocol::time::{Millis, SpanMs};

use crate::compare::Relation;
use crate::evidence::{DataTaken, Evidence, Raw};

/// How the sources of a reply stand to one another.
#[derive(Debug)]
pub(crate) struct Agreement<'a> {
    /// The Markdown that is taken, if there is any.
    pub(crate) raw: Option<&'a Raw>,
    /// The sources that agree, the one the text is taken from first.
    pub(crate) agreed: Vec<Source>,
    /// The sources at hand, agreeing or not.
    pub(crate) have: Vec<Source>,
    /// Sources that counted for nothing.
    pub(crate) partial: Vec<Source>,
    /// A source that differs, and for how long it may go on to.
    pub(crate) doubt: Option<Doubt>,
}

/// Two sources that differ.
#[derive(Debug)]
pub(crate) struct Doubt {
    pub(crate) what: Disagreement,
    pub(crate) grace: Grace,
}

/// How long a difference may stand before it counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Grace {
    /// Both were given for good.
    None,
    /// The page may still be rendering anew: the long quiet window.
    LongQuiet,
    /// The page shows a head of the text and may be behind: until it would
    /// count as stalled.
    Stall,
}

impl Agreement<'_> {
    /// Whether two sources settle the text, one of them from the page.
    pub(crate) fn holds(&self) -> bool {
        let from_page = |source: &Source| match source {
            Source::Copy | Source::Dom | Source::Reread => true,
            Source::Stream | Source::Data => false,
        };
        self.doubt.is_none() && self.agreed.len() >= 2 && self.agreed.iter().any(from_page)
    }
}

/// Weighs the sources. `end_at` is when nothing more was known to come; what
/// the page showed before that is no witness. `data` are the page's own data,
/// where they are of this exchange and say that the reply is finished.
//= spec C2
//= spec C3
pub(crate) fn weigh<'a>(
    evidence: &'a Evidence,
    end_at: Option<Millis>,
    data: Option<&'a DataTaken>,
) -> Agreement<'a> {
    let sources = &evidence.sources;
    let stream = sources.raw.as_ref();
    let copy = sources
        .copy()
        .filter(|copy| end_at.is_none_or(|end| copy.at >= end));
    // What the server gave, and how the page's sources stand to it.
    let server = match (stream, data) {
        (Some(raw), _) => Some((Source::Stream, raw)),
        (None, Some(data)) => Some((Source::Data, &data.raw)),
        (None, None) => None,
    };
    let mut agreement = Agreement {
        raw: server.map(|(_, raw)| raw).or(copy.map(|copy| &copy.raw)),
        agreed: Vec::new(),
        have: Vec::new(),
        partial: Vec::new(),
        doubt: None,
    };
    if stream.is_some() {
        agreement.take(Source::Stream);
    }
    if let Some(data) = data {
        agreement.weigh(Source::Data, &data.raw, stream_to(stream, data.to_stream));
    }
    if let Some(copy) = copy {
        let to_server = stream_to(stream, copy.to_stream).or_else(|| {
            data.zip(copy.to_data)
                .map(|(data, to)| (Source::Data, data.raw.form.chars(), to))
        });
        let differs = to_server.filter(|(_, _, relation)| *relation != Relation::Equal);
        let to_other = copy.other.map(|(chars, to)| (Source::Copy, chars, to));
        agreement.weigh(Source::Copy, &copy.raw, differs.or(to_other));
    }
    let shown_as = if evidence.reloaded {
        Source::Reread
    } else {
        Source::Dom
    };
    if let Some(dom) = &sources.dom
        && end_at.is_some_and(|end| dom.at >= end)
    {
        let (other, relation, chars) = match (server, copy) {
            (Some((Source::Data, raw)), _) => (Source::Data, dom.to_data, raw.form.chars()),
            (Some((source, raw)), _) => (source, dom.to_stream, raw.form.chars()),
            (None, Some(copy)) => (Source::Copy, dom.to_copy, copy.raw.form.chars()),
            (None, None) => (Source::Copy, None, 0),
        };
        // A page that shows nothing of a text that is known: not yet rendered,
        // or its layout keeps the text elsewhere.
        let empty = dom.form.is_empty() && agreement.raw.is_some_and(|raw| !raw.form.is_empty());
        let doubt = |grace, at| Doubt {
            what: Disagreement {
                one: other,
                one_chars: chars,
                other: shown_as,
                other_chars: dom.chars,
                at,
            },
            grace,
        };
        match relation {
            _ if empty => agreement.partial.push(shown_as),
            None => agreement.have.push(shown_as),
            Some(Relation::Equal) => agreement.take(shown_as),
            Some(Relation::Partial) => agreement.partial.push(shown_as),
            Some(Relation::Behind) => {
                agreement.have.push(shown_as);
                agreement.doubt.get_or_insert(doubt(Grace::Stall, 0));
            }
            Some(Relation::Differ { at }) => {
                agreement.have.push(shown_as);
                agreement.doubt.get_or_insert(doubt(Grace::LongQuiet, at));
            }
        }
    }
    agreement
}

/// How a source stands to the stream's text, where there is one.
fn stream_to(stream: Option<&Raw>, to: Option<Relation>) -> Option<(Source, u32, Relation)> {
    let (raw, to) = stream.zip(to)?;
    Some((Source::Stream, raw.form.chars(), to))
}

impl Agreement<'_> {
    fn take(&mut self, source: Source) {
        self.have.push(source);
        self.agreed.push(source);
    }

    /// A Markdown source that was given for good: it says what the other one
    /// says, or the text is in doubt at once.
    fn weigh(&mut self, source: Source, raw: &Raw, to: Option<(Source, u32, Relation)>) {
        let differs = to.and_then(|(one, chars, relation)| match relation {
            Relation::Equal => None,
            Relation::Behind | Relation::Partial => Some((one, chars, 0)),
            Relation::Differ { at } => Some((one, chars, at)),
        });
        let Some((one, one_chars, at)) = differs else {
            self.take(source);
            return;
        };
        self.have.push(source);
        let what = Disagreement {
            one,
            one_chars,
            other: source,
            other_chars: raw.form.chars(),
            at,
        };
        self.doubt.get_or_insert(Doubt {
            what,
            grace: Grace::None,
        });
    }
}

impl Doubt {
    /// Whether the difference counts now. `still` is how long the shown text
    /// has been unchanged by live looks, `idle` how long nothing changed at all.
    pub(crate) fn counts(&self, still: SpanMs, idle: SpanMs, limits: &crate::Limits) -> bool {
        match self.grace {
            Grace::None => true,
            Grace::LongQuiet => still >= limits.long_quiet_ms,
            Grace::Stall => idle >= limits.reply_streaming_ms,
        }
    }
}
