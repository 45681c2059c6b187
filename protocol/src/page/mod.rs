//! What the page can say and be told: the port between the driver and the core.
//!
//! An [`Observation`] is a fact about the page at a moment, in an [`Epoch`]; a
//! [`PageCommand`] asks the driver for one act and is answered once. The
//! simulator holds the same two ends that the driver holds.
//!
//! Everything here is data from outside: bounded by whoever sends it, parsed
//! with serde, and turned into [`What::Malformed`] where it does not parse.

mod block;
mod command;
mod look;
mod stream;
mod survey;

pub use block::{Align, Block, Inline};
pub use command::{Anchor, Answer, Ask, CallFailure, Click, Composed, PageCommand, Refusal};
pub use look::{
    Blocker, BlockerKind, Composer, Control, Draft, Look, PageError, PageErrorKind, Place, Reading,
    Reply, Role, Turn, TurnKey,
};
pub use stream::{StreamEnd, StreamEvent, StreamReport};
pub use survey::{MarkSeen, SelfTest, Survey, TestState};

use std::fmt;

use serde::{Deserialize, Serialize};

/// One attachment to one document of the tab. Grows by one with each attach,
/// reload or navigation; what an older epoch says is stale.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Epoch(pub u32);

impl fmt::Display for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "e{}", self.0)
    }
}

/// Pairs a command with its one answer.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct CallId(pub u64);

macro_rules! name {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub String);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

name!(
    /// A turn's settled id: the one the server gave it, stable over a reload.
    TurnId
);
name!(
    /// A conversation's settled id: the last part of its own address.
    ConversationId
);
name!(
    /// The browser's name for a tab.
    TargetId
);

/// One fact about the page, in the epoch in which it was seen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// The attachment that saw it.
    pub epoch: Epoch,
    /// What was seen.
    pub what: What,
}

/// What the driver reports.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// The driver is attached to our tab and the observer stands in the page.
    Attached(Attachment),
    /// The newest end of the thread, the composer and the page-wide marks.
    Look(Box<Look>),
    /// A piece of the event stream of a message that the page itself sent.
    Stream(StreamReport),
    /// A command's one answer.
    Answer {
        /// Which command.
        call: CallId,
        /// What came of it.
        answer: Answer,
    },
    /// Which heartbeats are alive; sent when that changes.
    Beat(Beat),
    /// The attachment ended; nothing more comes in this epoch.
    Lost(Loss),
    /// A JavaScript dialog stands open: page calls wait behind it.
    Dialog {
        /// `alert`, `confirm`, `prompt` or `beforeunload`.
        kind: String,
        /// Its text, bounded.
        message: String,
    },
    /// Something came that does not parse. A fact of its own, never skipped.
    Malformed {
        /// Where it came from: `observer`, `stream`, `answer`, `event`.
        source: String,
        /// Its size in bytes.
        len: u64,
        /// What the parser said, bounded.
        why: String,
    },
}

/// A fresh attachment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attachment {
    /// Why there is a new epoch.
    pub cause: AttachCause,
    /// The tab.
    pub target: TargetId,
    /// Product and version, e.g. `Chrome/156.0.8078.114`.
    pub browser: String,
    /// The tab's address at that moment.
    pub address: String,
}

/// Why an epoch began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttachCause {
    /// The first of this process.
    First,
    /// The link to the browser had dropped.
    Link,
    /// The document was loaded anew (reload or navigation).
    Document,
    /// The renderer had crashed or was cured.
    Renderer,
    /// The browser was started again.
    Browser,
}

/// How an attachment ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Loss {
    /// The socket ended or fell silent; browser and tab may well live.
    Link {
        /// What the socket said.
        detail: String,
    },
    /// The document went away (reload or navigation); a new epoch follows.
    Document,
    /// The browser detached our session and the tab still exists.
    Detached,
    /// The tab is gone.
    TabClosed,
    /// The renderer process died.
    RendererCrashed,
    /// The renderer answers nothing while the browser does.
    RendererHung,
    /// The browser process is gone.
    BrowserGone {
        /// What was seen of its end.
        detail: String,
    },
    /// No attachment came about at all.
    NeverAttached {
        /// The stable code of what stood in the way, e.g. `E_NO_BROWSER`.
        code: String,
        /// One sentence of what happened.
        detail: String,
    },
}

/// The state of the two heartbeats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beat {
    /// The browser answers over the socket.
    pub browser: Pulse,
    /// The page's renderer answers.
    pub renderer: Pulse,
}

/// Whether a heartbeat is alive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pulse {
    /// The last one was answered in time.
    Alive,
    /// At least one was missed, not yet enough to call it dead.
    Missed,
}
