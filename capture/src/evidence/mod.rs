//! What was seen of one awaited reply: when, in which epoch, on which turn, by
//! which source. It only grows; a verdict is computed from it ([`crate::prove`]).
//!
//! Everything taken in is hostile: out of order, from an old epoch, oversized,
//! contradicting. It may delay a proof or forbid it; it never makes one.

#[cfg(test)]
mod bounds;
mod data;
mod decode;
mod observe;
mod sources;
mod steady;
mod stream;
mod thread;
mod trail;
mod weight;

use protocol::id::SendId;
use protocol::page::{Anchor, ConversationId, Epoch, TurnId};
use protocol::reply::Interference;
use protocol::text::Private;
use protocol::time::{Millis, Monotone};

use crate::compare::{Form, form_of_markdown};
pub(crate) use sources::{DataTaken, Raw, Sources, warnings};
pub(crate) use steady::Steady;
pub(crate) use thread::Standing;
use trail::Trail;
pub use trail::{Origin, Seen, Trace};

/// A reply that is awaited.
#[derive(Debug, Clone, PartialEq)]
pub struct Awaited {
    /// Which send it answers.
    pub send: SendId,
    /// Our whole message.
    pub text: Private,
    /// The turn after which it was sent.
    pub anchor: Anchor,
    /// The conversation, where it is bound already (E1).
    pub conversation: Option<ConversationId>,
    /// When waiting began. Evidence must be gathered from before the submit:
    /// the page's own request is seen within milliseconds of it.
    pub since: Millis,
}

/// Everything seen of one awaited reply. Each text, list and name in it has a
/// limit of its own, and so has the whole: [`EVIDENCE_BYTES_MAX`].
///
/// [`EVIDENCE_BYTES_MAX`]: crate::EVIDENCE_BYTES_MAX
#[derive(Debug, Clone)]
pub struct Evidence {
    pub(crate) awaited: Awaited,
    own_form: Form,
    own_text: Option<Private>,
    clock: Monotone,
    epoch: Option<Epoch>,
    /// The document was loaded anew while we waited: what the page shows now
    /// was read again.
    pub(crate) reloaded: bool,
    pub(crate) own: Option<TurnId>,
    pub(crate) conversation: Option<ConversationId>,
    pub(crate) other_place: Option<String>,
    pub(crate) interference: Option<Interference>,
    suspect_since: Option<Millis>,
    /// The number of the last report of a stream in this epoch.
    streamed: Option<u64>,
    /// The reply that looked finished once, by its settled id.
    finished: Option<TurnId>,
    /// The reply that stood under its bar once the server had ended it: its id
    /// and its text's fingerprint.
    ended: Option<(TurnId, String)>,
    pub(crate) live: Option<Live>,
    pub(crate) sources: Sources,
    pub(crate) changed_at: Millis,
    pub(crate) deadlines_from: Millis,
    dropped: u32,
    /// The page's clock at its last look.
    page_ms: Option<u64>,
    /// The turn of the reply as last shown.
    reply_turn: Option<TurnId>,
    trail: Trail,
}

/// What the looks of the present epoch show.
#[derive(Debug, Clone)]
pub(crate) struct Live {
    pub(crate) seq: u64,
    pub(crate) at: Millis,
    pub(crate) sight: Sight,
    /// The reply's shown text, and since when it is unchanged.
    pub(crate) text: Option<Steady<Shown>>,
    /// The bar on the reply, and since when it stands.
    pub(crate) bar: Option<Steady<Option<TurnId>>>,
    /// Since when a needed mark is missing, or the layout unknown.
    pub(crate) drifted: Option<Steady<Vec<String>>>,
}

/// What the last look shows.
#[derive(Debug, Clone)]
pub(crate) enum Sight {
    /// A blocker stands: nothing else counts.
    Blocked,
    /// The layout is not known, or a needed mark is missing.
    Drifted(Vec<String>),
    /// The thread is not rendered.
    Bare,
    /// The thread, and whether a stop control stands in the composer.
    Thread { standing: Standing, stop: bool },
}

/// The identity of what is shown of a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) turn: Option<TurnId>,
    pub(crate) print: String,
    pub(crate) chars: u32,
    /// Grows whenever the blocks differ from those before.
    pub(crate) blocks: u64,
}

impl Evidence {
    /// Nothing seen yet.
    pub fn new(awaited: Awaited) -> Self {
        let since = awaited.since;
        Self {
            own_form: form_of_markdown(awaited.text.as_str()),
            own_text: None,
            clock: Monotone::default(),
            epoch: None,
            reloaded: false,
            own: None,
            conversation: awaited.conversation.clone(),
            other_place: None,
            interference: None,
            suspect_since: None,
            streamed: None,
            finished: None,
            ended: None,
            live: None,
            sources: Sources::default(),
            changed_at: since,
            deadlines_from: since,
            dropped: 0,
            page_ms: None,
            reply_turn: None,
            trail: Trail::default(),
            awaited,
        }
    }

    /// Which send the awaited reply answers.
    pub fn send(&self) -> SendId {
        self.awaited.send
    }

    /// Whether the page's own request was seen with our whole text and, where
    /// the conversation is known, with its id (S3).
    pub fn own_request_seen(&self) -> bool {
        self.sources.stream.is_known()
    }

    /// The last instant that is known of.
    pub(crate) fn latest(&self) -> Millis {
        let mut clock = self.clock;
        clock.at(Millis(0))
    }

    /// What was seen, oldest first; bounded.
    pub fn trail(&self) -> impl Iterator<Item = &Trace> {
        self.trail.iter()
    }

    /// Bytes that are held, by and large; never over [`EVIDENCE_BYTES_MAX`].
    ///
    /// [`EVIDENCE_BYTES_MAX`]: crate::EVIDENCE_BYTES_MAX
    pub fn held_bytes(&self) -> usize {
        let ours = self.awaited.text.as_str().len() + self.own_form.bytes();
        ours + self.own_text.as_ref().map_or(0, |text| text.as_str().len()) + self.sources.bytes()
    }

    /// How many observations were dropped: of an older epoch, or out of order.
    pub fn dropped(&self) -> u32 {
        self.dropped
    }

    /// The reply is to be read once more: deadlines begin anew, and what the
    /// page gave so far is taken again. What the server gave stays.
    pub fn read_again(&mut self, now: Millis) {
        let now = self.clock.at(now);
        self.sources.forget_page();
        self.deadlines_from = now;
        self.changed_at = now;
        if let Some(live) = &mut self.live {
            live.text = None;
            live.bar = None;
            live.drifted = None;
        }
        self.note(now, Seen::ReadAgain);
    }

    fn note(&mut self, at: Millis, what: Seen) {
        let source = what.origin();
        let by_page = matches!(source, Origin::Page | Origin::Copy);
        let turn = match &what {
            Seen::OwnTurn(own) => Some(own.clone()),
            Seen::Epoch | Seen::Lost | Seen::Interference | Seen::ReadAgain => None,
            Seen::Text { .. }
            | Seen::Bar(_)
            | Seen::End(_)
            | Seen::Fetched { .. }
            | Seen::Copy { .. } => self.reply_turn.clone(),
        };
        self.trail.push(Trace {
            at,
            page_ms: self.page_ms.filter(|_| by_page),
            epoch: self.epoch.unwrap_or_default(),
            turn,
            source,
            what,
        });
    }
}
