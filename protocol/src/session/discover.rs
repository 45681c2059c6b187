//! Discovery: the thread is read whole and held against the journal.

use super::{Session, ask::Trouble, decide::Move, facts::Sign};
use crate::{
    fault::Code,
    message,
    page::{Anchor, Ask, Look, Reading, Role, Turn},
    record::Record,
    recovery::chain::{self, Conflict, Standing},
    send::{SendEvidence, SendState},
    time::SpanMs,
};

/// What a complete reading says, held against the journal.
enum Held {
    /// It agrees; the anchor is last.
    Agrees(Anchor),
    /// It agrees, and shows that the send in flight was sent.
    Sent(SendEvidence),
    /// It cannot be squared with the journal.
    Conflict(Conflict),
    /// Another session speaks in this conversation.
    Taken(String),
}

impl Session {
    pub(super) fn discovering(&self) -> Option<Move> {
        let until = self.live.read_since + self.limits.hydrate_ms;
        let Some(seen) = self
            .live
            .look
            .as_ref()
            .filter(|seen| is_settled(&seen.look))
        else {
            return Some(if self.now() >= until {
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
            return Some(self.read_more("the conversation could not be read whole"));
        };
        if self.is_unbound_and_lost() {
            return Some(self.ask(&self.loss_trouble()));
        }
        Some(match self.hold(reading) {
            Held::Agrees(anchor) => Move::store(Record::Read {
                epoch: self.live.epoch,
                turns: u32::try_from(reading.turns.len()).unwrap_or(u32::MAX),
                anchor,
            }),
            Held::Sent(evidence) => self.outcome(SendState::Sent, evidence),
            Held::Conflict(conflict) => self.conflict(reading, &conflict),
            Held::Taken(sid) => self.fail(
                Code::Usage,
                format!("another session ({sid}) speaks in this conversation; use a fresh chat"),
            ),
        })
    }

    /// A contradiction counts only where two complete readings say the same. That
    /// something is missing counts only once the page had all its time to show it
    /// **(ours)**: a thread that comes without its end first reads twice alike, too.
    //= spec RP3
    fn conflict(&self, reading: &Reading, conflict: &Conflict) -> Move {
        let why = conflict.to_string();
        let late = self.now() >= self.live.read_since + self.limits.hydrate_ms;
        if conflict.is_absence() && !late {
            return self.read_more(&why);
        }
        match &self.live.reading_before {
            None => Move::Ask(Ask::Read, self.limits.call_ms),
            Some(before) if self.counts(before) && alike(before, reading) => {
                self.ask(&Trouble::new(Sign::Conflict, Code::Interference, why))
            }
            Some(_) => self.read_more("the conversation reads differently each time"),
        }
    }

    /// Another reading, and when the time for it is over, what the table says.
    //= spec R1
    fn read_more(&self, why: &str) -> Move {
        if self.now() < self.live.read_since + self.limits.hydrate_ms {
            let next = self.live.read_at.map(|at| at + READ_GAP_MS);
            return match next.filter(|next| self.now() < *next) {
                Some(next) => Move::Wait(Some(next)),
                None => Move::Ask(Ask::Read, self.limits.call_ms),
            };
        }
        self.pausing(None)
            .unwrap_or_else(|| self.ask(&Trouble::new(Sign::Partial, Code::Capture, why)))
    }

    /// An incomplete reading, and one of another place, is never evidence of anything.
    //= spec RP3
    fn counts(&self, reading: &Reading) -> bool {
        let busy = !reading.idle && self.state.in_flight().is_none();
        reading.whole && !busy && self.is_elsewhere(&reading.place).is_none()
    }

    fn no_page(&self) -> Move {
        let Some(seen) = &self.live.look else {
            return self.fail(Code::Layout, "the page showed nothing of a chat in time");
        };
        let look = &seen.look;
        if look.layout.is_none() {
            //= spec C5
            let why = format!(
                "no known layout fits the page (missing: {})",
                join(&look.missing)
            );
            return self.fail(Code::Layout, why);
        }
        if !look.missing.is_empty() {
            let why = format!("needed marks are missing: {}", join(&look.missing));
            return self.fail(Code::Layout, why);
        }
        self.read_more("the conversation did not appear in time")
    }

    //= spec RP3
    fn hold(&self, reading: &Reading) -> Held {
        if self.state.sends.is_empty()
            && let Some(sid) = self.foreign_sid(&reading.turns)
        {
            return Held::Taken(sid);
        }
        match chain::hold(&reading.turns, &self.state) {
            Err(conflict) => Held::Conflict(conflict),
            Ok(Standing {
                found: Some((_, turn)),
                ..
            }) => Held::Sent(SendEvidence::OwnTurn { turn }),
            Ok(Standing { anchor, .. }) => Held::Agrees(anchor),
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

/// Between two readings of a thread that does not read whole.
const READ_GAP_MS: SpanMs = 500;

/// Whether two readings show the same turns.
pub(super) fn alike(one: &Reading, other: &Reading) -> bool {
    let same = |(a, b): (&Turn, &Turn)| a.key == b.key && a.role == b.role && a.text == b.text;
    one.place == other.place
        && one.turns.len() == other.turns.len()
        && one.turns.iter().zip(&other.turns).all(same)
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
