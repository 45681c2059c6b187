//! The generations of the chat page, each as data: what its marks are called,
//! how a turn is named, and when that was last known to be true.
//!
//! No selector stands anywhere else. The observer gets this as JSON
//! ([`crate::scripts`]); `brb doctor` prints it beside what the probe found.

mod address;
mod classic;
mod keyed;
mod labels;
mod shared;

use serde::Serialize;

pub use address::{ADDRESSES, Addresses, STREAM_PATHS, conversation_address};
pub use labels::{LABELS, LabelSet};
pub use shared::{CONTENT, Content, PAGE_WIDE, PageWide};

/// One generation of the page.
#[derive(Debug, Serialize)]
pub struct Layout {
    /// Its name in observations and reports.
    pub name: &'static str,
    /// The day from which the page is known to be served like this.
    pub known_since: &'static str,
    /// The day of the newest source.
    pub known_until: &'static str,
    /// Everything the observer looks for.
    pub marks: &'static [Mark],
    /// How a turn tells its role, its ids and its group.
    pub turn: TurnRules,
}

/// One thing that the observer looks for.
#[derive(Debug, Serialize)]
pub struct Mark {
    /// Its name; what a drift report says.
    pub name: MarkName,
    /// A CSS selector list; empty where this layout has no such mark.
    pub select: &'static str,
    /// When it must be there.
    pub need: Need,
    /// The day of the newest source.
    pub seen: &'static str,
    /// Public projects that know it, by short name.
    pub source: &'static str,
    /// How sure that is.
    pub confidence: Confidence,
}

/// When a mark must be in the page.
//= spec C5
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Need {
    /// As soon as the page can be used at all.
    AtOnce,
    /// Once the thread shows a turn of the person's side.
    WithTurn,
    /// Once the thread shows a finished reply.
    WithReply,
    /// It comes and goes.
    Never,
}

/// How sure a fact about the page is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// Several independent recent sources.
    High,
    /// One good source.
    Medium,
    /// Old or inferred.
    Low,
}

/// What a mark is for. The observer knows them by these names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MarkName {
    /// One turn, or one side of it.
    Turn,
    /// One message inside a turn.
    Message,
    /// The text of a message of the person's side.
    UserText,
    /// Shows that a message of the person's side is shown cut.
    UserMore,
    /// The content of an answer.
    Body,
    /// Inside a turn, and not of the answer: thoughts, recaps, preambles.
    Aside,
    /// Inside the answer, and not text: headers, pills, buttons.
    Ornament,
    /// A reply is being streamed.
    Streaming,
    /// The model is thinking, beyond doubt.
    Thinking,
    /// Thinking, while a stop control stands; a label of past thinking otherwise.
    ThinkingWhileBusy,
    /// Prose that was interrupted.
    Interrupted,
    /// The finished-action bar.
    Bar,
    /// The reply's own copy control.
    Copy,
    /// One of several replies to choose from.
    Choice,
    /// An error card.
    Error,
    /// Offers to continue a reply that was cut for its length.
    Continue,
    /// The composer's editor.
    Composer,
    /// The composer's form.
    Form,
    /// The control that sends.
    Send,
    /// The control that stops.
    Stop,
    /// Attachments hanging on the composer.
    Attachment,
    /// Regions that hold threads or composers that are not the main ones.
    Beside,
    /// Something that only a page with older turns left out has.
    Virtual,
}

/// How a turn tells its role, its ids and its group.
#[derive(Debug, Serialize)]
pub struct TurnRules {
    /// Attributes that hold the role (`user`, `assistant`) or end in it after a
    /// colon, on the turn or on a message in it.
    pub role_attributes: &'static [&'static str],
    /// Attributes that hold message ids, on a message or on the turn.
    pub id_attributes: &'static [&'static str],
    /// Attributes that are equal on all parts of one reply; looked for on the
    /// element and around it.
    pub group_attributes: &'static [&'static str],
    /// Attributes whose value tells by [`Addresses::provisional`] that the
    /// whole turn is provisional, whatever ids stand in it.
    pub key_attributes: &'static [&'static str],
    /// Attributes that name the conversation whose thread is rendered.
    pub thread_attributes: &'static [&'static str],
    /// The attribute and value of the first turn of a thread, where turns are
    /// numbered.
    pub first_turn: &'static [(&'static str, &'static str)],
    /// Controls of a turn stand beside it, not in it: each belongs to the turn
    /// before it within the same group.
    pub controls_beside: bool,
}

impl Layout {
    /// The mark of that name.
    pub fn mark(&self, name: MarkName) -> Option<&'static Mark> {
        self.marks.iter().find(|mark| mark.name == name)
    }
}

/// All layouts, in the order in which the probe tries them.
pub const LAYOUTS: &[&Layout] = &[&classic::CLASSIC, &keyed::KEYED];

/// The layout of that name.
pub fn layout(name: &str) -> Option<&'static Layout> {
    LAYOUTS.iter().copied().find(|layout| layout.name == name)
}

impl MarkName {
    /// The name as it stands in observations.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Turn => "turn",
            Self::Message => "message",
            Self::UserText => "user_text",
            Self::UserMore => "user_more",
            Self::Body => "body",
            Self::Aside => "aside",
            Self::Ornament => "ornament",
            Self::Streaming => "streaming",
            Self::Thinking => "thinking",
            Self::ThinkingWhileBusy => "thinking_while_busy",
            Self::Interrupted => "interrupted",
            Self::Bar => "bar",
            Self::Copy => "copy",
            Self::Choice => "choice",
            Self::Error => "error",
            Self::Continue => "continue",
            Self::Composer => "composer",
            Self::Form => "form",
            Self::Send => "send",
            Self::Stop => "stop",
            Self::Attachment => "attachment",
            Self::Beside => "beside",
            Self::Virtual => "virtual",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_layout_knows_each_mark_once() {
        for layout in LAYOUTS {
            let mut names: Vec<_> = layout.marks.iter().map(|mark| mark.name).collect();
            names.sort();
            let all = names.len();
            names.dedup();
            assert_eq!(names.len(), all, "{} names a mark twice", layout.name);
            assert_eq!(all, 23, "{} leaves a mark out", layout.name);
        }
    }

    #[test]
    fn what_a_proof_stands_on_is_needed() {
        for layout in LAYOUTS {
            let need = |name| layout.mark(name).map(|mark| mark.need);
            assert_eq!(need(MarkName::Composer), Some(Need::AtOnce));
            assert_eq!(need(MarkName::UserText), Some(Need::WithTurn));
            assert_eq!(need(MarkName::Body), Some(Need::WithReply));
            for mark in layout.marks {
                if mark.need != Need::Never {
                    assert!(!mark.select.is_empty(), "{:?} cannot be found", mark.name);
                }
            }
        }
    }

    #[test]
    fn a_mark_is_known_to_the_observer_by_its_own_name() {
        for mark in LAYOUTS.iter().flat_map(|layout| layout.marks) {
            let json = serde_json::to_value(mark.name).unwrap();
            assert_eq!(json, mark.name.as_str());
        }
    }
}
