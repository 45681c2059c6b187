//! Discovery: the thread is read whole and held against the journal.

use super::{Session, decide::Move};
use crate::{
    fault::Code,
    message,
    page::{Anchor, Ask, Look, Reading, Role, Turn},
    record::Record,
    recovery::RowId,
    send::{Located, SendEvidence, SendState, locate},
};

/// What a complete reading says, held against the journal.
enum Held {
    /// It agrees; the anchor is last.
    Agrees(Anchor),
    /// It agrees, and shows that the send in flight was sent.
    Sent(SendEvidence),
    /// It cannot be squared with the journal.
    Conflict(&'static str),
    /// Another session speaks in this conversation.
    Taken(String),
}

impl Session {
    pub(super) fn discovering(&self) -> Option<Move> {
        let until = self.live.attach_since + self.limits.hydrate_ms;
        let late = self.now() >= until;
        let Some(seen) = self
            .live
            .look
            .as_ref()
            .filter(|seen| is_settled(&seen.look))
        else {
            return Some(if late {
                self.no_page()
            } else {
                Move::Wait(Some(until))
            });
        };
        if self.state.epoch < self.live.epoch {
            let attached = self.live.attached.as_ref()?;
            return Some(Move::store(Record::Attached {
                epoch: self.live.epoch,
                target: attached.target.clone(),
                browser: attached.browser.clone(),
                address: seen.look.address.clone(),
                layout: seen.look.layout.clone().unwrap_or_default(),
            }));
        }
        if self.live.read_in == Some(self.live.epoch) {
            return None;
        }
        let Some(reading) = self
            .live
            .reading
            .as_ref()
            .filter(|reading| self.counts(reading))
        else {
            let why = "the conversation could not be read whole";
            return Some(if late {
                Move::row(RowId::R1, Code::Capture, why).worst_of(self)
            } else {
                Move::Ask(Ask::Read, self.limits.call_ms)
            });
        };
        Some(match self.hold(reading) {
            Held::Agrees(anchor) => Move::store(Record::Read {
                epoch: self.live.epoch,
                turns: u32::try_from(reading.turns.len()).unwrap_or(u32::MAX),
                anchor,
            }),
            Held::Sent(evidence) => self.outcome(SendState::Sent, evidence),
            Held::Conflict(why) => Move::row(RowId::R10, Code::Interference, why).worst_of(self),
            Held::Taken(sid) => Move::fail(
                Code::Usage,
                format!("another session ({sid}) speaks in this conversation; use a fresh chat"),
            ),
        })
    }

    /// An incomplete reading is never evidence of anything.
    //= spec RP3
    fn counts(&self, reading: &Reading) -> bool {
        let busy = !reading.idle && self.state.in_flight().is_none();
        reading.whole && !busy
    }

    fn no_page(&self) -> Move {
        let Some(seen) = &self.live.look else {
            return Move::fail(Code::Layout, "the page showed nothing of a chat in time");
        };
        let look = &seen.look;
        if look.layout.is_none() {
            //= spec C5
            let why = format!(
                "no known layout fits the page (missing: {})",
                join(&look.missing)
            );
            return Move::fail(Code::Layout, why);
        }
        if !look.missing.is_empty() {
            let why = format!("needed marks are missing: {}", join(&look.missing));
            return Move::fail(Code::Layout, why);
        }
        Move::row(
            RowId::R1,
            Code::Capture,
            "the conversation did not appear in time",
        )
        .worst_of(self)
    }

    fn hold(&self, reading: &Reading) -> Held {
        if let Some(row) = self.state.in_flight().filter(|row| row.attempts > 0) {
            let text = row.intent.text.as_str();
            return match locate(&reading.turns, true, &row.intent.anchor, text) {
                Located::Ours { turn, .. } if row.state() != SendState::Sent => {
                    Held::Sent(SendEvidence::OwnTurn { turn })
                }
                Located::Ours { .. } => Held::Agrees(row.intent.anchor.clone()),
                Located::AnchorLast if row.state() == SendState::Sent => {
                    Held::Conflict("a message that was sent is missing from the conversation")
                }
                Located::AnchorLast => Held::Agrees(row.intent.anchor.clone()),
                Located::AnchorUnseen => {
                    Held::Conflict("the turn before our message is missing from the conversation")
                }
                Located::Foreign { .. } => {
                    Held::Conflict("something else stands where our message belongs")
                }
            };
        }
        let anchor = last_settled(&reading.turns);
        match &self.state.anchor {
            Some(known) if *known != anchor => {
                Held::Conflict("the conversation does not end where the journal says")
            }
            Some(_) => Held::Agrees(anchor),
            None => match self.foreign_sid(&reading.turns) {
                Some(sid) => Held::Taken(sid),
                None => Held::Agrees(anchor),
            },
        }
    }

    /// One session per conversation.
    //= spec W5
    fn foreign_sid(&self, turns: &[Turn]) -> Option<String> {
        let ours = self.state.opened.as_ref().map(|opened| opened.sid());
        turns
            .iter()
            .filter(|turn| turn.role == Role::User)
            .filter_map(|turn| message::recognise(Role::User, turn.text.as_str()))
            .map(|head| head.sid().clone())
            .find(|sid| Some(sid) != ours)
            .map(String::from)
    }
}

/// The last turn under a settled id.
//= spec S8
fn last_settled(turns: &[Turn]) -> Anchor {
    turns
        .iter()
        .rev()
        .find_map(|turn| turn.key.settled())
        .map_or(Anchor::Empty, |id| Anchor::After(id.clone()))
}

/// A look that can be relied on: a known layout, whole, with its thread shown.
fn is_settled(look: &Look) -> bool {
    look.layout.is_some() && look.missing.is_empty() && look.hydrated
}

fn join(names: &[String]) -> String {
    if names.is_empty() {
        "nothing it knows".to_owned()
    } else {
        names.join(", ")
    }
}
