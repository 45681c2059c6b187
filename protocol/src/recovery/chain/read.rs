//! The history read without a journal: what it proves, and what it leaves open.

use std::collections::BTreeMap;

use super::Conflict;
use crate::{
    fence,
    frame::{Checkpoint, Frame},
    id::{PlanKey, Qid, Round, Sid},
    message::{self, Head, Terms, body},
    page::{Role, Turn, TurnId},
    plan::{self, Decision},
};

/// Markdown sources of replies, from the page's copy or the server's data, by turn.
//= spec W4
pub type Sources = BTreeMap<TurnId, String>;

/// What the history of one session says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct History {
    /// The terms that HELLO, or the last RESYNC, declared.
    pub terms: Terms,
    /// The request's tag.
    pub qid: Qid,
    /// The request, where a ROUND carries it whole.
    pub request: Option<String>,
    /// The stretches between HELLO and each RESUME.
    pub segments: Vec<Segment>,
    /// The last confirmed checkpoint.
    pub checkpoint: Checkpoint,
    /// Whether its key recomputes from the plan's source.
    pub proven: bool,
    /// The last declaration was acknowledged.
    pub acknowledged: bool,
    /// What stands last.
    pub last: Exchange,
    /// A plan that would run stands after the checkpoint, or a reply that nobody
    /// has read: whether it ran is not known.
    pub unconfirmed: bool,
    /// The plan whose decision was `done`.
    pub terminal: Option<(Round, PlanKey)>,
}

/// Rounds between HELLO or a RESUME and the next RESUME.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// The checkpoint at its head.
    pub from: Checkpoint,
    /// Its rounds, in order.
    pub rounds: Vec<Round>,
    /// The plans that a later `p=` or `CK` confirms as settled.
    pub settled: Vec<(Round, PlanKey)>,
}

/// Whether the last of our messages has a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exchange {
    /// It has none yet.
    Open,
    /// It has one.
    Answered,
}

//= spec RP3
/// Reads the history of session `sid`; none where it never said HELLO here.
///
/// # Errors
/// The first [`Conflict`] from the top.
pub fn read(turns: &[Turn], sources: &Sources, sid: &Sid) -> Result<Option<History>, Conflict> {
    let hello = turns.iter().position(|turn| {
        let head = of_user(turn);
        matches!(&head, Some(Head::Hello { terms, .. }) if terms.sid == *sid)
    });
    let Some(hello) = hello else {
        return Ok(None);
    };
    let Some(Head::Hello { terms, qid }) = of_user(&turns[hello]) else {
        return Ok(None);
    };
    let mut reader = Reader {
        sources,
        sid,
        history: History {
            terms,
            qid,
            request: None,
            segments: vec![Segment {
                from: Checkpoint::Start,
                rounds: Vec::new(),
                settled: Vec::new(),
            }],
            checkpoint: Checkpoint::Start,
            proven: true,
            acknowledged: false,
            last: Exchange::Open,
            unconfirmed: false,
            terminal: None,
        },
        next: Round::FIRST,
        frame: None,
        plans: BTreeMap::new(),
    };
    for turn in &turns[hello + 1..] {
        match turn.role {
            Role::User => reader.message(turn)?,
            Role::Assistant => reader.reply(turn)?,
        }
    }
    Ok(Some(reader.history))
}

fn of_user(turn: &Turn) -> Option<Head> {
    match turn.role {
        Role::User => message::recognise(Role::User, turn.text.as_str()),
        Role::Assistant => None,
    }
}

struct Reader<'a> {
    sources: &'a Sources,
    sid: &'a Sid,
    history: History,
    /// The round that the next ROUND must have.
    next: Round,
    /// The frame of the round at hand; none right after a declaration.
    frame: Option<Frame>,
    /// The key of each round's last plan, where its source is at hand.
    plans: BTreeMap<Round, PlanKey>,
}

impl Reader<'_> {
    fn message(&mut self, turn: &Turn) -> Result<(), Conflict> {
        let head = of_user(turn).ok_or(Conflict::ForeignTurn)?;
        if head.sid() != self.sid {
            return Err(Conflict::ForeignSid);
        }
        match head {
            Head::Hello { .. } => return Err(Conflict::SecondHello),
            Head::Resync { terms, .. } => {
                self.history.terms = terms;
                self.history.acknowledged = false;
                self.frame = None;
            }
            Head::Resume(resume) => self.resume(&resume.checkpoint, resume.next)?,
            Head::Round(frame) => self.round(frame, turn)?,
            Head::Repair(repair) => {
                let round = repair.frame.round;
                match &self.frame {
                    Some(frame) if *frame == repair.frame => {}
                    Some(frame) if frame.round == round => {
                        return Err(Conflict::PrevUnmatched { round });
                    }
                    Some(frame) if frame.round > round => {
                        return Err(Conflict::RoundBack { round });
                    }
                    Some(_) | None => return Err(Conflict::RoundJump { round }),
                }
                self.history.unconfirmed = false;
                self.plans.remove(&round);
            }
            Head::Hs(_) | Head::Plan(_) => return Err(Conflict::ForeignTurn),
        }
        self.history.last = Exchange::Open;
        Ok(())
    }

    //= spec R7
    fn resume(&mut self, checkpoint: &Checkpoint, next: Round) -> Result<(), Conflict> {
        if round_of(checkpoint) < round_of(&self.history.checkpoint) {
            return Err(Conflict::CheckpointBack);
        }
        self.confirm(checkpoint);
        self.history.segments.push(Segment {
            from: checkpoint.clone(),
            rounds: Vec::new(),
            settled: Vec::new(),
        });
        self.history.acknowledged = false;
        self.history.unconfirmed = false;
        self.next = next;
        self.frame = None;
        Ok(())
    }

    fn round(&mut self, frame: Frame, turn: &Turn) -> Result<(), Conflict> {
        let round = frame.round;
        let last = self.frame.as_ref().map(|frame| frame.round);
        if last == Some(round) {
            return Err(Conflict::RoundRepeated { round });
        }
        if round < self.next {
            return Err(Conflict::RoundBack { round });
        }
        if round > self.next {
            return Err(Conflict::RoundJump { round });
        }
        let closed = self.history.terminal.is_some();
        if frame.qid != self.history.qid && !closed {
            return Err(Conflict::OtherRequest { round });
        }
        self.settles(&frame)?;
        if let Some(request) = body::request_in(body_of(turn.text.as_str()), &frame.qid) {
            self.history.request = Some(request.to_owned());
        }
        self.history.qid = frame.qid.clone();
        self.history.terminal = None;
        self.history.unconfirmed = false;
        if let Some(segment) = self.history.segments.last_mut() {
            segment.rounds.push(round);
        }
        self.next = round.next();
        self.frame = Some(frame);
        Ok(())
    }

    /// `p=` of a segment's first round is its head's checkpoint; of each later one
    /// the plan of the round before, which is thereby confirmed.
    fn settles(&mut self, frame: &Frame) -> Result<(), Conflict> {
        let round = frame.round;
        let unmatched = Err(Conflict::PrevUnmatched { round });
        let before = match &self.frame {
            None => {
                let same = frame.prev == self.history.checkpoint.prev();
                return if same { Ok(()) } else { unmatched };
            }
            Some(before) => before.clone(),
        };
        match &frame.prev {
            None => unmatched,
            // The plan before the last one cannot be the last that settled.
            Some(key) if Some(key) == before.prev.as_ref() => match self.history.terminal {
                Some(_) => Ok(()),
                None => unmatched,
            },
            Some(key) => {
                self.confirm(&Checkpoint::At {
                    round: before.round,
                    key: key.clone(),
                });
                Ok(())
            }
        }
    }

    //= spec W4
    fn confirm(&mut self, checkpoint: &Checkpoint) {
        let Checkpoint::At { round, key } = checkpoint else {
            return;
        };
        if self.history.checkpoint == *checkpoint {
            return;
        }
        self.history.proven = self.plans.get(round) == Some(key);
        self.history.checkpoint = checkpoint.clone();
        let holds = |segment: &&mut Segment| segment.rounds.contains(round);
        if let Some(segment) = self.history.segments.iter_mut().rev().find(holds) {
            segment.settled.push((*round, key.clone()));
        }
    }

    fn reply(&mut self, turn: &Turn) -> Result<(), Conflict> {
        let Some(id) = turn.key.settled() else {
            return Ok(());
        };
        if self.history.last == Exchange::Answered {
            return Err(Conflict::TwoReplies);
        }
        self.history.last = Exchange::Answered;
        let source = self.sources.get(id).map(String::as_str);
        match (&self.frame, source) {
            (None, Some(text)) => {
                let head = message::recognise(Role::Assistant, text);
                self.history.acknowledged =
                    matches!(head, Some(Head::Hs(terms)) if terms == self.history.terms);
            }
            (None, None) => {}
            (Some(frame), Some(text)) => {
                let (frame, text) = (frame.clone(), text.to_owned());
                self.plan(&frame, &text);
            }
            // What was answered is not known: it may be a plan that ran.
            (Some(_), None) => self.history.unconfirmed = true,
        }
        Ok(())
    }

    fn plan(&mut self, frame: &Frame, text: &str) {
        let scan = fence::scan(text);
        let valid = scan
            .sole()
            .and_then(|block| plan::from_block(&block.content, frame).ok());
        let Some(plan) = valid else {
            return;
        };
        self.plans.insert(frame.round, plan.key.clone());
        match plan.decision {
            Decision::Continue | Decision::NeedInfo => self.history.unconfirmed = true,
            Decision::Done => self.history.terminal = Some((frame.round, plan.key)),
            Decision::Blocked => {}
        }
    }
}

fn round_of(checkpoint: &Checkpoint) -> Option<Round> {
    match checkpoint {
        Checkpoint::Start => None,
        Checkpoint::At { round, .. } => Some(*round),
    }
}

/// What stands below the FRAME of a ROUND.
fn body_of(text: &str) -> &str {
    text.split_once("\n\n").map_or("", |(_, body)| body)
}
