//! What one look at the page shows: thread, composer, marks.
//!
//! The observer (in an isolated world of the page) writes these as JSON. Field
//! names are short where they repeat; every list and text has a bound there.

use serde::{Deserialize, Serialize};

use super::{Block, ConversationId, TurnId};
use crate::text::Private;

/// The newest end of the thread, the composer and the page-wide marks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Look {
    /// Counts the looks of one document from 1; a jump tells of lost ones.
    pub seq: u64,
    /// The page's own clock, in milliseconds since the document began.
    pub page_ms: u64,
    /// The tab's address.
    pub address: String,
    /// Which place of the site that address is.
    pub place: Place,
    /// The layout that the probe recognised; none: fail closed.
    pub layout: Option<String>,
    /// Needed marks that the probe did not find, by name.
    #[serde(default)]
    pub missing: Vec<String>,
    /// The thread of this address is rendered; false for an empty shell.
    pub hydrated: bool,
    /// Visible blockers.
    #[serde(default)]
    pub blockers: Vec<Blocker>,
    /// The composer.
    pub composer: Composer,
    /// How many turns stand in the document.
    pub turns_shown: u32,
    /// The last few turns, oldest first: back to the last user turn but one, and
    /// at least to the turn before the last one.
    pub tail: Vec<Turn>,
}

impl Look {
    /// Whether the tail is the whole of what the document shows, from its first turn.
    pub fn shows_top(&self) -> bool {
        self.tail.len() as u64 == u64::from(self.turns_shown)
    }

    /// Whether nothing is being generated and the composer can take a text.
    pub fn is_idle(&self) -> bool {
        self.composer.present && !self.composer.stop
    }
}

/// The whole thread, read on demand.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// The page's own clock.
    pub page_ms: u64,
    /// Which place was read.
    pub place: Place,
    /// The turns, oldest first.
    pub turns: Vec<Turn>,
    /// Nothing is missing: the thread is hydrated and no turn is virtualised
    /// away or still provisional.
    pub whole: bool,
    /// Nothing is being generated.
    pub idle: bool,
}

/// Which place of the site an address is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// A fresh chat that has no conversation yet.
    Fresh,
    /// A conversation under an id that the page made up and will replace.
    Transient(String),
    /// A conversation under its own id.
    Conversation(ConversationId),
    /// Anything else.
    Elsewhere,
}

/// Who wrote a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The person's side: ours, or a foreign hand.
    User,
    /// The model's side.
    Assistant,
}

/// How a turn is named in the page at this moment.
//= spec C1
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnKey {
    /// Under the server's id.
    Settled(TurnId),
    /// Under an id the page made up, or under none. Neither recorded nor compared.
    Provisional,
}

impl TurnKey {
    /// The settled id, if there is one.
    pub fn settled(&self) -> Option<&TurnId> {
        match self {
            Self::Settled(id) => Some(id),
            Self::Provisional => None,
        }
    }
}

/// One message in the page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    /// Its name.
    pub key: TurnKey,
    /// Who wrote it.
    pub role: Role,
    /// A user turn's text as shown; empty for an assistant turn.
    #[serde(default)]
    pub text: Private,
    /// The shown text is only a head of the real one (the page clamps it, or
    /// it passed the observer's bound).
    #[serde(default)]
    pub clamped: bool,
    /// An assistant turn's marks and content.
    #[serde(default)]
    pub reply: Option<Reply>,
}

/// What the page shows of an assistant turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// How many characters of answer are shown.
    pub chars: u32,
    /// Changes whenever the shown text changes.
    pub print: String,
    /// The content; sent only while the finished-action bar stands, or when asked for.
    #[serde(default)]
    pub blocks: Option<Vec<Block>>,
    /// The finished-action bar stands on this very turn.
    #[serde(default)]
    pub bar: bool,
    /// The reply's own copy control stands on this very turn.
    #[serde(default)]
    pub copy: bool,
    /// A streaming mark stands on or in this turn.
    #[serde(default)]
    pub streaming: bool,
    /// A thinking mark stands on or in this turn.
    #[serde(default)]
    pub thinking: bool,
    /// Marked as stopped or interrupted.
    #[serde(default)]
    pub interrupted: bool,
    /// "Continue generating" is offered.
    #[serde(default)]
    pub truncated: bool,
    /// How many alternative replies the page offers to choose from; 1 as a rule.
    #[serde(default = "one")]
    pub choices: u32,
    /// An error card stands on this turn.
    #[serde(default)]
    pub error: Option<PageError>,
}

fn one() -> u32 {
    1
}

/// An error that the page shows on a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageError {
    /// Which kind.
    pub kind: PageErrorKind,
    /// The mark by which it was recognised.
    pub mark: String,
}

/// Kinds of errors on a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PageErrorKind {
    /// "Something went wrong", with a retry control.
    Failed,
    /// The model is at capacity.
    Capacity,
    /// The message's delivery timed out.
    Delivery,
}

/// Something that stops the relay as long as it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blocker {
    /// Which kind.
    pub kind: BlockerKind,
    /// The mark by which it was recognised.
    pub mark: String,
}

/// Kinds of blockers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BlockerKind {
    /// A challenge page that wants a human.
    Challenge,
    /// Nobody is logged in.
    LoggedOut,
    /// Requests are limited.
    RateLimit,
    /// The account is stopped or wants a decision.
    Account,
}

/// The composer at this moment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Composer {
    /// The visible composer was found.
    pub present: bool,
    /// What stands in it.
    #[serde(default)]
    pub draft: Draft,
    /// The send control.
    pub send: Control,
    /// A visible stop control: something is being generated.
    #[serde(default)]
    pub stop: bool,
    /// Attachments hang on it.
    #[serde(default)]
    pub attachments: u32,
}

/// What stands in the composer.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Draft {
    /// How many characters, line breaks included.
    pub chars: u32,
    /// Its head, bounded.
    pub head: Private,
}

/// A control's state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Control {
    /// Not in the page, or not visible.
    Absent,
    /// There, and it would not act.
    Disabled,
    /// There, and it would act.
    Enabled,
}
