//! The verdict on an awaited reply: is it complete, and how is that known.
//!
//! `capture` reaches it from evidence; the session machine takes it as an
//! input. Every part explains itself by `Display`, without the reply's text.

mod explain;

use serde::{Deserialize, Serialize};

use crate::{
    id::Digest,
    page::{PageError, PageErrorKind, TurnId},
    text::Private,
    time::{Millis, SpanMs},
};

/// What is known of the reply to one send.
//= spec C3
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// All of C2 holds: this is the reply, whole.
    Complete(Captured),
    /// Not proven yet; nothing speaks against waiting.
    NotYet(Progress),
    /// The page offers to continue the reply: an outcome of its own (C8).
    Truncated {
        /// The reply's turn, where it has a settled id.
        turn: Option<TurnId>,
        /// How many characters are shown.
        chars: u32,
    },
    /// The page shows an error on our own turn.
    PageFailed(PageError),
    /// A foreign hand was in the thread (C6).
    Interference(Interference),
    /// The tab shows another conversation, or none.
    OtherPlace {
        /// The address it shows.
        address: String,
    },
    /// Sources taken after the end differ (C3).
    SourceUncertain(Disagreement),
    /// No proof came about before a limit.
    CaptureFailed {
        /// Why.
        why: CaptureFailure,
    },
}

impl Verdict {
    /// Whether no further observation can change this verdict for the better.
    pub fn is_final(&self) -> bool {
        !matches!(self, Self::NotYet(_))
    }

    /// The stable code; none for a complete reply and while waiting.
    pub fn code(&self) -> Option<&'static str> {
        match self {
            Self::Complete(_) | Self::NotYet(_) => None,
            Self::Truncated { .. } => Some("E_TRUNCATED"),
            Self::PageFailed(error) => Some(match error.kind {
                PageErrorKind::Capacity => "E_CAPACITY",
                PageErrorKind::Failed | PageErrorKind::Delivery => "E_PAGE_FAILED",
            }),
            Self::Interference(_) => Some("E_INTERFERENCE"),
            Self::OtherPlace { .. } => Some("E_CONVERSATION"),
            Self::SourceUncertain(_) => Some("E_SOURCE_UNCERTAIN"),
            Self::CaptureFailed { why } => Some(match why {
                CaptureFailure::Layout { .. } => "E_LAYOUT",
                CaptureFailure::Deadline { .. }
                | CaptureFailure::FinishedUnproven { .. }
                | CaptureFailure::Interrupted
                | CaptureFailure::TooLong { .. } => "E_CAPTURE",
            }),
        }
    }
}

/// A reply proven complete.
//= spec C2
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Captured {
    /// The reply's raw Markdown.
    pub text: Private,
    /// Of exactly that text.
    pub digest: Digest,
    /// The reply's turn.
    pub turn: TurnId,
    /// Our own turn, which it answers.
    pub own: TurnId,
    /// How it is known that nothing more comes.
    pub end: EndWitness,
    /// The sources that agree, the one the text was taken from first.
    pub agreed: Vec<Source>,
    /// What a reader should know besides.
    #[serde(default)]
    pub warnings: Vec<Warning>,
}

/// How it is known that nothing more comes.
//= spec C2
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndWitness {
    /// `[DONE]` inside the stream of our own message.
    StreamDone,
    /// A finished status inside the stream of our own message.
    StreamFinished,
    /// The page's own data of the conversation says finished.
    PageData,
    /// The raw Markdown's fence is explicitly closed, over the long quiet window.
    FenceClosed,
}

impl EndWitness {
    /// Whether the server itself said so.
    pub fn is_from_server(self) -> bool {
        match self {
            Self::StreamDone | Self::StreamFinished | Self::PageData => true,
            Self::FenceClosed => false,
        }
    }
}

/// Where a text of the reply was taken from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// Decoded from the stream of our own message.
    Stream,
    /// The data of the conversation that the page itself fetched.
    Data,
    /// What the page's own copy of this reply would have written.
    Copy,
    /// The blocks shown in the page.
    Dom,
    /// The blocks shown after the document was loaded anew.
    Reread,
}

/// Something that a reader of a captured reply should know.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Warning {
    /// Raw citation marks stood in the text; they are kept out of it.
    CitationMarks {
        /// How many.
        count: u32,
    },
    /// The page held elements that the observer does not know.
    UnknownBlock {
        /// The tag name.
        tag: String,
    },
    /// A source counted for nothing because it is known to be partial.
    Partial {
        /// Which.
        source: Source,
    },
}

/// How far a reply has come that is not proven yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// What the page is doing.
    pub phase: Phase,
    /// Our own turn, once it stands under a settled id.
    #[serde(default)]
    pub own: Option<TurnId>,
    /// What of the proof holds, in the order in which it is looked for.
    #[serde(default)]
    pub holds: Vec<Holds>,
    /// What the proof still lacks, in the same order.
    pub missing: Vec<Missing>,
    /// Ask the page for a look at the latest by then: quiet counts by live looks
    /// alone (T1), and the observer is silent while nothing changes.
    pub look_by: Millis,
    /// What the relay can fetch to settle it.
    #[serde(default)]
    pub want: Option<Want>,
    /// How many characters are shown so far.
    pub chars: u32,
    /// When the reply last changed; the start of waiting if it never did.
    pub changed_at: Millis,
}

/// What the page is doing with our message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Nothing is seen of a reply.
    Nothing,
    /// The page shows that the model thinks.
    Thinking,
    /// Text is coming.
    Streaming,
    /// The reply looks finished and is being proven.
    Finishing,
}

/// A part of the proof that holds.
//= spec C2
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Holds {
    /// Our own turn stands in the thread under a settled id.
    OwnTurn,
    /// The one reply to it does.
    Reply,
    /// Nothing is being generated.
    Idle,
    /// The finished-action bar has stood its time on the reply.
    Bar,
    /// The text has been unchanged over the window.
    Quiet,
    /// Nothing more comes.
    End(EndWitness),
    /// A source that agrees with every other one at hand.
    Source(Source),
}

/// A part of the proof that is lacking.
//= spec C2
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Missing {
    /// No look at the page in the present epoch.
    LiveLook,
    /// A page without a blocker.
    Unblocked,
    /// The layout's needed marks.
    Layout {
        /// Their names.
        marks: Vec<String>,
    },
    /// The thread is not rendered yet.
    Hydration,
    /// Our own turn is not in the thread.
    OwnTurn,
    /// Our own turn has no settled id yet.
    OwnTurnSettled,
    /// No assistant turn answers ours.
    Reply,
    /// The reply has no settled id yet.
    ReplySettled,
    /// The stop control still stands in the composer.
    StopGone,
    /// A streaming mark stands on the reply.
    StreamingGone,
    /// A thinking mark stands on the reply.
    ThinkingGone,
    /// The finished-action bar does not stand on the reply.
    Bar,
    /// The bar has not stood long enough.
    BarDebounce {
        /// How long it stood, by live looks.
        have_ms: SpanMs,
        /// How long it must.
        need_ms: SpanMs,
    },
    /// The text has not been unchanged long enough.
    Quiet {
        /// How long it was, by live looks.
        have_ms: SpanMs,
        /// How long it must.
        need_ms: SpanMs,
    },
    /// Nothing shows that no more will come.
    End,
    /// Too few sources agree.
    Agreement {
        /// The sources at hand.
        have: Vec<Source>,
    },
}

/// What would settle an open question, and only the page can give.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Want {
    /// Press the reply's own copy control under the guard.
    Copy {
        /// The reply's turn.
        turn: TurnId,
    },
}

/// A foreign hand in the thread.
//= spec C6
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Interference {
    /// A user turn that is not ours stands after the anchor or after our turn.
    ForeignTurn {
        /// Its settled id, if it has one.
        turn: Option<TurnId>,
    },
    /// Our own turn's text was changed, or another stands in its place.
    Edited {
        /// Our turn.
        turn: TurnId,
    },
    /// The reply was replaced by another one to the same turn.
    Regenerated {
        /// The reply seen first.
        was: TurnId,
        /// The one that stands there now.
        now: TurnId,
    },
    /// More than one reply to one turn.
    TwoReplies {
        /// How many.
        count: u32,
    },
}

/// Two sources that differ although both were taken after the end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Disagreement {
    /// One of them.
    pub one: Source,
    /// Its length in characters.
    pub one_chars: u32,
    /// The other.
    pub other: Source,
    /// Its length in characters.
    pub other_chars: u32,
    /// The first event of the comparison form in which they differ, from 0.
    pub at: u32,
}

/// Why no proof came about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CaptureFailure {
    /// A named limit passed in mid-reply.
    Deadline {
        /// The limit's name.
        limit: String,
        /// What was lacking.
        missing: Vec<Missing>,
    },
    /// The reply looks finished and its proof is lacking.
    FinishedUnproven {
        /// The limit's name.
        limit: String,
        /// What was lacking.
        missing: Vec<Missing>,
    },
    /// The reply was stopped or interrupted.
    Interrupted,
    /// The reply is longer than the named limit.
    TooLong {
        /// The limit in bytes.
        max: u64,
    },
    /// The page's layout is not known, or a needed mark is missing.
    Layout {
        /// What is missing.
        missing: Vec<String>,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    fn captured() -> Captured {
        Captured {
            text: "秘密 plan".into(),
            digest: Digest::of("秘密 plan"),
            turn: TurnId("a1".into()),
            own: TurnId("u1".into()),
            end: EndWitness::StreamDone,
            agreed: vec![Source::Stream, Source::Dom],
            warnings: vec![Warning::CitationMarks { count: 2 }],
        }
    }

    #[test]
    fn a_verdict_explains_itself_without_the_text() {
        let shown = Verdict::Complete(captured()).to_string();
        assert_eq!(
            shown,
            "complete: turn a1 answers u1, 7 characters; end by the stream's [DONE]; \
             agreed: stream, DOM; warnings: 2 citation marks left out"
        );
    }

    #[test]
    fn only_a_waiting_verdict_is_open() {
        let waiting = Verdict::NotYet(Progress {
            phase: Phase::Streaming,
            own: None,
            holds: vec![Holds::OwnTurn, Holds::Source(Source::Stream)],
            missing: vec![Missing::Bar, Missing::End],
            look_by: Millis(2_000),
            want: None,
            chars: 14,
            changed_at: Millis(1_500),
        });
        assert!(!waiting.is_final());
        assert_eq!(waiting.code(), None);
        assert_eq!(
            waiting.to_string(),
            "not yet: streaming, 14 characters, unchanged since 1500 ms; holds: our own turn, \
             stream; missing: the finished-action bar on this turn, an end witness; settled by: \
             the page finishing the reply, the stream's end, page data or a closed fence; look \
             again by 2000 ms"
        );
        assert!(Verdict::Complete(captured()).is_final());
    }

    #[test]
    fn each_failure_has_its_stable_code() {
        let failed = |kind| {
            Verdict::PageFailed(PageError {
                kind,
                mark: "m".into(),
            })
        };
        let lost = |why| Verdict::CaptureFailed { why };
        for (verdict, code) in [
            (failed(PageErrorKind::Capacity), "E_CAPACITY"),
            (failed(PageErrorKind::Delivery), "E_PAGE_FAILED"),
            (lost(CaptureFailure::Interrupted), "E_CAPTURE"),
            (lost(CaptureFailure::Layout { missing: vec![] }), "E_LAYOUT"),
            (
                Verdict::OtherPlace {
                    address: "x".into(),
                },
                "E_CONVERSATION",
            ),
        ] {
            assert_eq!(verdict.code(), Some(code));
            assert!(verdict.is_final());
        }
    }
}
