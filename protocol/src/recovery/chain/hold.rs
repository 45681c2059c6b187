//! The history held against the journal.

use super::Conflict;
use crate::{
    id::SendId,
    message,
    page::{Anchor, Role, Turn, TurnId, TurnKey},
    record::{SendRow, State},
    send::{SendEvidence, SendState, is_ours},
};

/// A history that agrees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// The last settled turn.
    pub anchor: Anchor,
    /// The send in flight, where its turn stands there and was not proven sent.
    pub found: Option<(SendId, Option<TurnId>)>,
}

//= spec RP3
//= spec C6
/// Holds a complete reading against the journal.
///
/// # Errors
/// The first [`Conflict`] from the top.
pub fn hold(turns: &[Turn], state: &State) -> Result<Standing, Conflict> {
    let mut standing = Standing {
        anchor: last_settled(turns),
        found: None,
    };
    let Some(first) = state.sends.first() else {
        return Ok(standing);
    };
    let from = match &first.intent.anchor {
        Anchor::Empty => 0,
        Anchor::After(id) => turns
            .iter()
            .position(|turn| turn.key.settled() == Some(id))
            .map(|at| at + 1)
            .ok_or(Conflict::AnchorMissing)?,
    };
    let mut walk = Walk {
        sends: &state.sends,
        at: None,
        answered: false,
    };
    for turn in &turns[from..] {
        match turn.role {
            Role::Assistant => walk.reply(turn)?,
            Role::User => {
                let row = walk.message(turn, state)?;
                let flying = state.in_flight().map(|row| row.intent.send);
                if flying == Some(row.intent.send) && row.state() != SendState::Sent {
                    standing.found = Some((row.intent.send, turn.key.settled().cloned()));
                }
            }
        }
    }
    walk.end()?;
    Ok(standing)
}

/// Where in the journal the thread has come to.
struct Walk<'a> {
    sends: &'a [SendRow],
    /// The message whose turn stood there last.
    at: Option<usize>,
    /// A reply stood after it.
    answered: bool,
}

impl<'a> Walk<'a> {
    fn present(&self) -> Option<&'a SendRow> {
        self.at.map(|at| &self.sends[at])
    }

    fn reply(&mut self, turn: &Turn) -> Result<(), Conflict> {
        // A placeholder without a settled id is no turn (S8).
        let TurnKey::Settled(id) = &turn.key else {
            return Ok(());
        };
        let Some(row) = self.present() else {
            return Err(Conflict::ForeignTurn);
        };
        if self.answered {
            return Err(Conflict::TwoReplies);
        }
        self.answered = true;
        match &row.reply {
            Some(known) if known != id => Err(Conflict::Regenerated {
                send: row.intent.send,
            }),
            Some(_) | None => Ok(()),
        }
    }

    /// The next send that this turn is; those passed over must not be proven sent.
    fn message(&mut self, turn: &Turn, state: &State) -> Result<&'a SendRow, Conflict> {
        self.leave()?;
        let from = self.at.map_or(0, |at| at + 1);
        for (at, row) in self.sends.iter().enumerate().skip(from) {
            if self.is_it(turn, at, row) {
                if is_attested_not_sent(row) {
                    let send = row.intent.send;
                    return Err(Conflict::AttestedWrongly { send });
                }
                self.at = Some(at);
                self.answered = false;
                return Ok(row);
            }
            if is_proven(row) && !claims_session(turn, state) {
                return Err(Conflict::ForeignTurn);
            }
            if is_proven(row) {
                let send = row.intent.send;
                return Err(Conflict::Missing { send });
            }
        }
        match message::recognise(Role::User, turn.text.as_str()) {
            Some(_) if claims_session(turn, state) => Err(Conflict::NotInJournal),
            Some(_) => Err(Conflict::ForeignSid),
            None => Err(Conflict::ForeignTurn),
        }
    }

    fn is_it(&self, turn: &Turn, at: usize, row: &SendRow) -> bool {
        let same_turn = row.own.is_none() || row.own.as_ref() == turn.key.settled();
        // An equal message that was sent later stands for itself.
        let later = |other: &SendRow| {
            other.intent.text == row.intent.text && other.state() != SendState::NotSent
        };
        let stands_in = is_attested_not_sent(row) && self.sends[at + 1..].iter().any(later);
        same_turn && !stands_in && is_ours(turn, row.intent.text.as_str())
    }

    /// The thread goes on behind a message: its judged reply must have stood there.
    fn leave(&self) -> Result<(), Conflict> {
        match self.present() {
            Some(row) if row.reply.is_some() && !self.answered => Err(Conflict::ReplyMissing {
                send: row.intent.send,
            }),
            Some(_) | None => Ok(()),
        }
    }

    fn end(&self) -> Result<(), Conflict> {
        self.leave()?;
        let rest = &self.sends[self.at.map_or(0, |at| at + 1)..];
        match rest.iter().find(|row| is_proven(row)) {
            Some(row) => Err(Conflict::Missing {
                send: row.intent.send,
            }),
            None => Ok(()),
        }
    }
}

fn claims_session(turn: &Turn, state: &State) -> bool {
    let ours = state.opened.as_ref().map(|opened| opened.sid());
    message::recognise(Role::User, turn.text.as_str()).is_some_and(|head| Some(head.sid()) == ours)
}

/// Whether the page itself showed that it was sent: what only a person says may
/// come late.
fn is_proven(row: &SendRow) -> bool {
    let by_page = matches!(
        &row.outcome,
        Some((
            SendState::Sent,
            SendEvidence::OwnTurn { .. } | SendEvidence::OwnRequest
        ))
    );
    by_page || row.judged.is_some()
}

fn is_attested_not_sent(row: &SendRow) -> bool {
    let not_sent = SendEvidence::Attested {
        state: SendState::NotSent,
    };
    matches!(&row.outcome, Some((_, by)) if *by == not_sent)
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
