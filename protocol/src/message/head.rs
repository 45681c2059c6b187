//! Which of our messages a turn of the history is, by its head lines alone.

use super::{
    Terms, hello, hs,
    lines::Lines,
    repair::{self, Repair},
    resume::{self, Resume},
    round,
};
use crate::{
    fence,
    frame::Frame,
    id::{Qid, Sid},
    page::Role,
    wire::{HEADER_PLAN, HEADER_RESYNC},
};

//= spec W6
/// The head of a message of this protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Head {
    /// HELLO: what it offers, and the request it names.
    Hello {
        /// Session, versions, tags and required features.
        terms: Terms,
        /// The request.
        qid: Qid,
    },
    /// RESYNC: the same, declared anew.
    Resync {
        /// Session, versions, tags and required features.
        terms: Terms,
        /// The request.
        qid: Qid,
    },
    /// ROUND.
    Round(Frame),
    /// RESUME.
    Resume(Resume),
    /// REPAIR.
    Repair(Repair),
    /// The acknowledgement, with the features it names.
    Hs(Terms),
    /// A plan, which may be invalid below its FRAME.
    Plan(Frame),
}

impl Head {
    /// The session that the message belongs to.
    pub fn sid(&self) -> &Sid {
        match self {
            Self::Hello { terms, .. } | Self::Resync { terms, .. } | Self::Hs(terms) => &terms.sid,
            Self::Resume(resume) => &resume.terms.sid,
            Self::Round(frame) | Self::Plan(frame) => &frame.sid,
            Self::Repair(repair) => &repair.frame.sid,
        }
    }

    /// The frame, where the message has one.
    pub fn frame(&self) -> Option<&Frame> {
        match self {
            Self::Round(frame) | Self::Plan(frame) => Some(frame),
            Self::Repair(repair) => Some(&repair.frame),
            Self::Hello { .. } | Self::Resync { .. } | Self::Resume(_) | Self::Hs(_) => None,
        }
    }

    /// The message's name on the wire.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Hello { .. } => "HELLO",
            Self::Resync { .. } => "RESYNC",
            Self::Round(_) => "ROUND",
            Self::Resume(_) => "RESUME",
            Self::Repair(_) => "REPAIR",
            Self::Hs(_) => "HS",
            Self::Plan(_) => "PLAN",
        }
    }
}

//= spec W6
/// The head of the message that this turn is, if it is one of ours.
///
/// Only the first line and the fixed head lines count, and only in the right
/// role: what stands in a body, or in the wrong side's turn, is content. An
/// assistant's message is read inside its single, closed code block; prose
/// beside the block makes a plan invalid (P1) but not unrecognisable, because
/// whoever reads a history must see every plan that stands there **(ours)**.
pub fn recognise(role: Role, text: &str) -> Option<Head> {
    match role {
        Role::User => user(text),
        Role::Assistant => {
            let scan = fence::scan(text);
            match scan.blocks.as_slice() {
                [block] if block.closed => assistant(&block.content),
                _ => None,
            }
        }
    }
}

fn user(text: &str) -> Option<Head> {
    let lines = Lines::of(text);
    let mut rest = lines.clone();
    if rest.next()? == HEADER_RESYNC {
        let (terms, qid) = hello::head(&mut rest)?;
        return Some(Head::Resync { terms, qid });
    }
    if let Some((terms, qid)) = hello::head(&mut lines.clone()) {
        return Some(Head::Hello { terms, qid });
    }
    round::head(&mut lines.clone())
        .map(Head::Round)
        .or_else(|| resume::parse(text).map(Head::Resume))
        .or_else(|| repair::parse(text).map(Head::Repair))
}

fn assistant(block: &str) -> Option<Head> {
    let mut lines = Lines::of(block);
    if lines.next()? == HEADER_PLAN {
        return Frame::parse(lines.next()?).ok().map(Head::Plan);
    }
    hs::parse(block).map(Head::Hs)
}

#[cfg(test)]
mod tests;
