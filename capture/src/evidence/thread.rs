//! Where our own turn and its reply stand in what one look shows.

use protocol::page::{Anchor, Look, Reply, Role, Turn, TurnId};
use protocol::reply::Interference;
use protocol::send::is_ours;
use protocol::text::Private;

use crate::compare::{Form, Relation, form_of_markdown};

/// What a look shows of our message and its reply.
#[derive(Debug, Clone)]
pub(crate) enum Standing {
    /// Our own turn is not there.
    NoOwn,
    /// Our own turn stands there under no settled id.
    OwnUnsettled,
    /// Our own turn, and nothing after it.
    NoReply { own: TurnId },
    /// Our own turn and the one assistant turn after it.
    Reply {
        own: Option<TurnId>,
        turn: Option<TurnId>,
        reply: Box<Reply>,
    },
    /// Several assistant turns after ours, not all settled: the page is between
    /// two states.
    Unsettled { own: Option<TurnId> },
    /// A user turn without a settled id stands where none should.
    Suspect,
    /// A foreign hand.
    Foreign(Interference),
    /// Another conversation's thread.
    Other,
}

/// What is looked for.
pub(crate) struct Sought<'a> {
    pub(crate) text: &'a Private,
    pub(crate) form: &'a Form,
    pub(crate) anchor: &'a Anchor,
    /// A shown text already known to be ours.
    pub(crate) verified: Option<&'a Private>,
    /// Our own turn, once it was seen settled.
    pub(crate) own: Option<&'a TurnId>,
    /// The look shows a conversation while ours is not bound yet.
    pub(crate) unbound: bool,
}

/// Finds our turn and its reply.
//= spec C1
pub(crate) fn standing(look: &Look, sought: &Sought<'_>) -> Standing {
    let tail = &look.tail;
    let own_at = match sought.own {
        Some(own) => match known(tail, own, sought) {
            Ok(at) => at,
            Err(standing) => return standing,
        },
        None => match first_user_after(look, sought.anchor) {
            None => return Standing::NoOwn,
            Some(at) if is_our_turn(&tail[at], sought) => at,
            Some(at) => return foreign(&tail[at], sought),
        },
    };
    let own = tail[own_at].key.settled().cloned();
    let after = &tail[own_at + 1..];
    if let Some(user) = after
        .iter()
        .find(|turn| turn.role == Role::User && !is_blank(turn))
    {
        return match user.key.settled() {
            Some(_) => Standing::Foreign(Interference::ForeignTurn {
                turn: user.key.settled().cloned(),
            }),
            None => Standing::Suspect,
        };
    }
    let replies: Vec<_> = after
        .iter()
        .filter(|turn| turn.role == Role::Assistant)
        .collect();
    match replies.as_slice() {
        [] => own.map_or(Standing::OwnUnsettled, |own| Standing::NoReply { own }),
        [turn] => match &turn.reply {
            Some(reply) if reply.choices > 1 => Standing::Foreign(Interference::TwoReplies {
                count: reply.choices,
            }),
            Some(reply) => Standing::Reply {
                own,
                turn: turn.key.settled().cloned(),
                reply: Box::new(Reply {
                    blocks: None,
                    ..reply.clone()
                }),
            },
            None => Standing::Unsettled { own },
        },
        several => {
            let settled = several.iter().filter(|turn| turn.key.settled().is_some());
            let count = settled.count();
            if count > 1 {
                let count = u32::try_from(count).unwrap_or(u32::MAX);
                Standing::Foreign(Interference::TwoReplies { count })
            } else {
                Standing::Unsettled { own }
            }
        }
    }
}

/// The text of our own turn as it is shown.
pub(crate) fn own_text<'a>(look: &'a Look, own: &TurnId) -> Option<&'a Private> {
    let turn = look
        .tail
        .iter()
        .rfind(|turn| turn.key.settled() == Some(own))?;
    Some(&turn.text)
}

/// The blocks of the reply that [`standing`] found, where the look has them.
pub(crate) fn reply_blocks(look: &Look) -> Option<&[protocol::page::Block]> {
    let last = look
        .tail
        .iter()
        .rev()
        .find(|turn| turn.role == Role::Assistant)?;
    last.reply.as_ref()?.blocks.as_deref()
}

fn known(tail: &[Turn], own: &TurnId, sought: &Sought<'_>) -> Result<usize, Standing> {
    let at = tail
        .iter()
        .rposition(|turn| turn.key.settled() == Some(own));
    if let Some(at) = at {
        if is_our_turn(&tail[at], sought) {
            return Ok(at);
        }
        // The text may come a moment after its turn.
        return Err(if is_blank(&tail[at]) {
            Standing::NoOwn
        } else {
            Standing::Foreign(Interference::Edited { turn: own.clone() })
        });
    }
    let edited = Interference::Edited { turn: own.clone() };
    let last_user = tail.iter().rev().find(|turn| turn.role == Role::User);
    // Only what stands after the anchor can have taken our turn's place; older
    // turns alone are a thread that is not rendered to its end yet.
    let after_anchor = match sought.anchor {
        Anchor::Empty => 0,
        Anchor::After(id) => match tail.iter().rposition(|turn| turn.key.settled() == Some(id)) {
            Some(at) => at + 1,
            None => tail.len(),
        },
    };
    let foreign = tail.iter().enumerate().any(|(at, turn)| {
        at >= after_anchor
            && turn.role == Role::User
            && turn.key.settled().is_some()
            && !is_blank(turn)
    });
    Err(match last_user {
        Some(_) if foreign && sought.unbound => Standing::Other,
        Some(_) if foreign => Standing::Foreign(edited),
        Some(_) | None => Standing::NoOwn,
    })
}

/// The first user turn after the anchor. An assistant turn before it is the
/// anchor's own business.
fn first_user_after(look: &Look, anchor: &Anchor) -> Option<usize> {
    let tail = &look.tail;
    let start = match anchor {
        Anchor::Empty => (look.turns_shown as usize <= tail.len()).then_some(0)?,
        Anchor::After(id) => {
            1 + tail
                .iter()
                .rposition(|turn| turn.key.settled() == Some(id))?
        }
    };
    (start..tail.len()).find(|at| tail[*at].role == Role::User)
}

fn foreign(turn: &Turn, sought: &Sought<'_>) -> Standing {
    if is_blank(turn) {
        return Standing::NoOwn;
    }
    match turn.key.settled() {
        Some(_) if sought.unbound => Standing::Other,
        Some(id) => Standing::Foreign(Interference::ForeignTurn {
            turn: Some(id.clone()),
        }),
        None => Standing::Suspect,
    }
}

fn is_blank(turn: &Turn) -> bool {
    turn.text.as_str().trim().is_empty()
}

/// Whether a user turn is ours: as it stands, clamped, or shown re-formatted
/// with our head lines.
//= spec S3
fn is_our_turn(turn: &Turn, sought: &Sought<'_>) -> bool {
    if sought.verified == Some(&turn.text) {
        return true;
    }
    let ours = sought.text.as_str();
    is_ours(turn, ours) || is_reformatted(turn.text.as_str(), ours, sought.form)
}

fn is_reformatted(shown: &str, ours: &str, form: &Form) -> bool {
    let head = |text: &str| -> Vec<String> {
        let lines = text.lines().map(|line| line.trim().to_owned());
        lines.filter(|line| !line.is_empty()).take(2).collect()
    };
    let heads_equal = !shown.trim().is_empty() && head(shown) == head(ours);
    heads_equal && form_of_markdown(shown).relation(form) == Relation::Equal
}
