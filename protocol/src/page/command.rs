//! What the driver can be asked to do, and its answers.

use serde::{Deserialize, Serialize};

use super::{CallId, Epoch, Reading, Survey, TurnId};
use crate::text::Private;

/// One act asked of the driver. It is refused unless its epoch is the present one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PageCommand {
    /// Pairs it with its answer.
    pub call: CallId,
    /// The attachment it was decided in.
    pub epoch: Epoch,
    /// What to do.
    pub ask: Ask,
}

/// The turn that must be the last of the thread.
//= spec S8
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Anchor {
    /// The thread has no turn.
    Empty,
    /// This settled turn is the last one.
    After(TurnId),
}

/// What to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ask {
    /// Report one look now.
    Look,
    /// Read the whole thread. Answered by [`Answer::Read`].
    Read,
    /// Look for every mark of every layout, for people. Answered by
    /// [`Answer::Survey`].
    Survey,
    /// Give the HTML of a turn, for a recording. Answered by [`Answer::Html`].
    Html {
        /// Which turn.
        turn: TurnId,
    },
    /// Put a text into the composer and read it back. Touches nothing unless
    /// the page is idle, the anchor is last, and the draft is empty or ours.
    /// Answered by [`Answer::Composed`] or [`Answer::Refused`].
    Compose {
        /// The whole text.
        text: Private,
        /// What must be last.
        anchor: Anchor,
        /// Texts of ours whose prefixes may be cleared from the composer (S7).
        ours: Vec<Private>,
    },
    /// Check anchor, text and control in one evaluation, arm the guard, and
    /// click once. Answered by [`Answer::Submitted`] or [`Answer::Refused`].
    Submit {
        /// The whole text that must stand in the composer.
        text: Private,
        /// What must be last.
        anchor: Anchor,
    },
    /// Empty the composer if what stands in it is a prefix of one of ours.
    ClearDraft {
        /// Texts of ours.
        ours: Vec<Private>,
    },
    /// Press the reply's own copy control under the guard and take the text
    /// that the page would have written to the clipboard.
    Copy {
        /// The reply's turn.
        turn: TurnId,
    },
    /// Load the tab's document anew.
    Reload,
    /// Let go of the tab. The last command of an orderly end.
    Detach,
}

impl Ask {
    /// Its name, without any text.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Look => "look",
            Self::Survey => "survey",
            Self::Html { .. } => "html",
            Self::Read => "read",
            Self::Compose { .. } => "compose",
            Self::Submit { .. } => "submit",
            Self::ClearDraft { .. } => "clear",
            Self::Copy { .. } => "copy",
            Self::Reload => "reload",
            Self::Detach => "detach",
        }
    }
}

/// What came of a command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// It was done; nothing more to say.
    Done,
    /// The whole thread.
    Read(Reading),
    /// Every mark of every layout.
    Survey(Survey),
    /// The HTML of a turn.
    Html {
        /// Which turn.
        turn: TurnId,
        /// Its elements, one after the other.
        html: Private,
    },
    /// The text stands in the composer, read back equal.
    Composed(Composed),
    /// The click was carried out.
    Submitted(Click),
    /// What the page's own copy would have put on the clipboard.
    Copied {
        /// The reply's turn.
        turn: TurnId,
        /// The text.
        text: Private,
    },
    /// The page was not touched in any way that could send.
    Refused(Refusal),
    /// The call failed; for a submit this proves nothing.
    Failed(CallFailure),
}

/// The text stands in the composer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Composed {
    /// Its length in characters, as read back.
    pub chars: u32,
    /// How it was put there: `paste` or `insert`.
    pub how: String,
    /// A draft of ours stood there and was cleared first.
    pub cleared: bool,
}

/// What the guard saw of the one click.
//= spec S4
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Click {
    /// The trusted click reached the send control.
    Passed,
    /// The guard stopped it: it would have hit something else. Proof of not-sent.
    Stopped {
        /// What it would have hit.
        hit: String,
    },
    /// The click was dispatched and the guard reported nothing.
    Silent,
}

/// Why the driver did not act. Each is a proof that this call sent nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// The command belongs to an older epoch.
    Stale,
    /// Somebody else's draft stands in the composer.
    ForeignDraft {
        /// Its length in characters.
        chars: u32,
    },
    /// Something else stands last in the thread.
    AnchorMoved {
        /// What stands last, where it has a settled id.
        last: Option<TurnId>,
    },
    /// Our own whole text already stands right after the anchor: it is sent.
    AlreadyThere {
        /// The turn, where it has a settled id.
        turn: Option<TurnId>,
    },
    /// Another conversation is shown.
    OtherPlace {
        /// The address.
        address: String,
    },
    /// The page is generating.
    Busy,
    /// No visible composer.
    NoComposer,
    /// The composer did not take the text exactly.
    ReadBack {
        /// How many characters were typed.
        wanted: u32,
        /// How many were read back.
        got: u32,
        /// The first differing line, counted from 1.
        line: u32,
    },
    /// The text is over what this page's composer takes.
    TooLong {
        /// The limit in characters.
        max: u32,
    },
    /// The page turned the text into an attachment.
    BecameAttachment,
    /// No send control, or it stayed disabled until its limit.
    NoSend,
    /// The control that was found is covered by something else.
    Covered {
        /// What covers it.
        by: String,
    },
    /// The reply has no copy control, or the turn is not in the document.
    NoCopy,
    /// A blocker stands on the page.
    Blocked,
    /// The layout is not known, or a needed mark is missing.
    Layout {
        /// What is missing.
        missing: Vec<String>,
    },
}

/// How a call failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallFailure {
    /// Its deadline passed.
    Timeout {
        /// The named limit.
        limit: String,
    },
    /// The attachment ended before the answer.
    Lost,
    /// The browser or the page answered with an error.
    Refused {
        /// What it said, bounded.
        detail: String,
    },
    /// The answer did not parse.
    Malformed {
        /// What the parser said, bounded.
        detail: String,
    },
}
