//! Discovery: the thread is read whole and held against the journal.

use super::{Session, ask::Trouble, decide::Move, facts::Sign};
use crate::{
    fault::Code,
    message,
    page::{Anchor, Ask, Look, Reading, Role, Turn},
    record::{Judgement, Record, SendRow},
    send::{Located, SendEvidence, SendState, locate},
    time::SpanMs,
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
            Held::Conflict(why) => self.conflict(reading, why),
            Held::Taken(sid) => self.fail(
                Code::Usage,
                format!("another session ({sid}) speaks in this conversation; use a fresh chat"),
            ),
        })
    }

    /// A contradiction counts only where two complete readings say the same.
    //= spec RP3
    fn conflict(&self, reading: &Reading, why: &str) -> Move {
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

    /// An incomplete reading is never evidence of anything.
    //= spec RP3
    fn counts(&self, reading: &Reading) -> bool {
        let busy = !reading.idle && self.state.in_flight().is_none();
        reading.whole && !busy
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

    fn hold(&self, reading: &Reading) -> Held {
        if self.is_attested_wrongly(reading) {
            return Held::Conflict("a message that was attested as not sent stands there");
        }
        let last = last_settled(&reading.turns);
        let Some(row) = self.state.in_flight() else {
            return self.hold_quiet(reading, last);
        };
        let text = row.intent.text.as_str();
        match locate(&reading.turns, true, &row.intent.anchor, text) {
            Located::Ours { turn, .. } if row.state() != SendState::Sent => {
                Held::Sent(SendEvidence::OwnTurn { turn })
            }
            Located::Ours { .. } => Held::Agrees(last),
            // What only a person says is awaited: a turn may come late.
            Located::AnchorLast if is_seen(row) => {
                Held::Conflict("a message that was sent is missing from the conversation")
            }
            Located::AnchorLast => Held::Agrees(row.intent.anchor.clone()),
            Located::AnchorUnseen => {
                Held::Conflict("the turn before our message is missing from the conversation")
            }
            Located::Foreign { .. } => {
                Held::Conflict("something else stands where our message belongs")
            }
        }
    }

    /// What a person said was not sent stands in the thread after all. An equal
    /// message of ours that was sent later is known by its turn.
    //= spec M4
    fn is_attested_wrongly(&self, reading: &Reading) -> bool {
        let sends = &self.state.sends;
        let not_sent = SendEvidence::Attested {
            state: SendState::NotSent,
        };
        sends
            .iter()
            .filter(|row| matches!(&row.outcome, Some((_, by)) if *by == not_sent))
            .any(|row| {
                let (anchor, text) = (&row.intent.anchor, row.intent.text.as_str());
                let Located::Ours { turn, .. } = locate(&reading.turns, true, anchor, text) else {
                    return false;
                };
                let equal = |other: &SendRow| {
                    other.intent.send != row.intent.send
                        && (other.own.is_some() && other.own == turn
                            || !other.void && other.intent.text == row.intent.text)
                };
                !sends.iter().any(equal)
            })
    }

    /// Nothing is in flight: the thread ends where the journal says, or with the
    /// reply that failed.
    //= spec S8
    fn hold_quiet(&self, reading: &Reading, last: Anchor) -> Held {
        let Some(known) = &self.state.anchor else {
            return match self.foreign_sid(&reading.turns) {
                Some(sid) => Held::Taken(sid),
                None => Held::Agrees(last),
            };
        };
        if *known == last || self.is_failed_reply(reading, known) {
            return Held::Agrees(last);
        }
        Held::Conflict("the conversation does not end where the journal says")
    }

    /// After our own turn stands one assistant turn, and it was judged as failed.
    fn is_failed_reply(&self, reading: &Reading, known: &Anchor) -> bool {
        let failed = self
            .state
            .sends
            .last()
            .is_some_and(|row| matches!(row.judged, Some(Judgement::Failed { .. })));
        let Anchor::After(own) = known else {
            return false;
        };
        let at = reading
            .turns
            .iter()
            .rposition(|turn| turn.key.settled() == Some(own));
        let after = at.map(|at| &reading.turns[at + 1..]);
        failed && after.is_some_and(|after| matches!(after, [only] if only.role == Role::Assistant))
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

/// Whether the page itself showed that it was sent.
fn is_seen(row: &SendRow) -> bool {
    matches!(
        &row.outcome,
        Some((
            SendState::Sent,
            SendEvidence::OwnTurn { .. } | SendEvidence::OwnRequest
        ))
    )
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

/// Whether two readings show the same turns.
fn alike(one: &Reading, other: &Reading) -> bool {
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
