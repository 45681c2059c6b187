//! The judge of the server's log: was anything sent twice, and do the rounds follow one
//! another? It sees what the server took and nothing else.

use std::collections::BTreeMap;

use protocol::{
    message::{self, Head},
    page::Role,
    wire::canonical,
};

use super::{Violation, broken};
use crate::sim::server::Line;

/// How far the log was judged.
#[derive(Debug, Clone, Default)]
pub struct Judge {
    seen: usize,
    /// Texts of our side since the last finished reply.
    open: Vec<String>,
    /// Rounds sent since the last RESUME.
    rounds: BTreeMap<u32, u32>,
    /// The last round of the present segment.
    last: Option<u32>,
    /// What the next round after a RESUME has to be.
    next: Option<u32>,
    /// Messages of ours in all.
    pub messages: u32,
}

impl Judge {
    /// Judges what is new in the log.
    pub(in crate::sim) fn judge(&mut self, log: &[Line]) -> Result<(), Violation> {
        let new = &log[self.seen..];
        self.seen = log.len();
        for line in new {
            match line.role {
                Role::Assistant if line.finished => self.open.clear(),
                Role::Assistant => {}
                Role::User => self.user(&line.text)?,
            }
        }
        Ok(())
    }

    //= spec S6
    fn user(&mut self, text: &str) -> Result<(), Violation> {
        let text = canonical(text);
        let first = text.lines().next().unwrap_or_default().to_owned();
        if self.open.contains(&text) {
            return broken("judge", format!("sent twice: {first}"));
        }
        let head = message::recognise(Role::User, &text);
        self.open.push(text);
        self.messages += u32::from(head.is_some());
        match head {
            Some(Head::Round(frame)) => {
                let round = frame.round.0;
                let times = self.rounds.entry(round).or_default();
                *times += 1;
                if *times > 1 {
                    return broken("judge", format!("round {round} twice without a RESUME"));
                }
                self.follows(round)
            }
            Some(Head::Repair(repair)) => match self.last {
                Some(last) if last == repair.frame.round.0 => Ok(()),
                Some(_) | None => broken("RP3", "a REPAIR of another round"),
            },
            Some(Head::Resume(resume)) => {
                self.rounds.clear();
                self.last = None;
                self.next = Some(resume.next.0);
                Ok(())
            }
            Some(Head::Hello { .. } | Head::Resync { .. } | Head::Hs(_) | Head::Plan(_)) | None => {
                Ok(())
            }
        }
    }

    //= spec RP3
    fn follows(&mut self, round: u32) -> Result<(), Violation> {
        let wanted = self
            .next
            .take()
            .or(self.last.map(|last| last + 1))
            .unwrap_or(1);
        self.last = Some(round);
        if round == wanted {
            Ok(())
        } else {
            broken("RP3", format!("round {round} where {wanted} was due"))
        }
    }
}
