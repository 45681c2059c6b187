//! The values that head lines carry: FRAME and checkpoint.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::{
    id::{PlanKey, Qid, Round, Sid, Tag},
    wire,
};

//= spec W5
/// `p`: the key of the last plan that was validated, executed and settled; none
/// is shown as `-`.
pub type Prev = Option<PlanKey>;

/// The last settled plan and its round: `3:a1b2c3d4`, or `0:-` before any.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Checkpoint {
    /// No plan has settled yet.
    #[default]
    Start,
    /// The plan `key` of `round` has settled.
    At {
        /// The round whose plan settled; 1 or later.
        round: Round,
        /// The key of that plan.
        key: PlanKey,
    },
}

impl Checkpoint {
    /// What `p=` says while this checkpoint stands.
    pub fn prev(&self) -> Prev {
        match self {
            Self::Start => None,
            Self::At { key, .. } => Some(key.clone()),
        }
    }

    //= spec W11
    /// The round to go on with: the checkpoint's round and one.
    pub fn next_round(&self) -> Round {
        match self {
            Self::Start => Round::FIRST,
            Self::At { round, .. } => round.next(),
        }
    }
}

impl fmt::Display for Checkpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start => f.write_str("0:-"),
            Self::At { round, key } => write!(f, "{round}:{key}"),
        }
    }
}

/// A text that is not a checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotACheckpoint;

impl fmt::Display for NotACheckpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a checkpoint: wants <round>:<plan key> or 0:-")
    }
}

impl std::error::Error for NotACheckpoint {}

impl FromStr for Checkpoint {
    type Err = NotACheckpoint;
    fn from_str(text: &str) -> Result<Self, NotACheckpoint> {
        if text == "0:-" {
            return Ok(Self::Start);
        }
        let (round, key) = text.split_once(':').ok_or(NotACheckpoint)?;
        Ok(Self::At {
            round: parse_round(round).ok_or(NotACheckpoint)?,
            key: Tag::parse(key).map_err(|_| NotACheckpoint)?,
        })
    }
}

impl TryFrom<String> for Checkpoint {
    type Error = NotACheckpoint;
    fn try_from(text: String) -> Result<Self, NotACheckpoint> {
        text.parse()
    }
}

impl From<Checkpoint> for String {
    fn from(checkpoint: Checkpoint) -> Self {
        checkpoint.to_string()
    }
}

/// A round number as builders write it: from 1, no zero in front.
pub(crate) fn parse_round(text: &str) -> Option<Round> {
    wire::decimal(text).filter(|n| *n >= 1).map(Round)
}

//= spec W6
/// `FRAME: s=… r=… p=… q=…`: which round of which session a message is of.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Frame {
    /// The session.
    pub sid: Sid,
    /// The round.
    pub round: Round,
    /// The last settled plan.
    pub prev: Prev,
    /// The request.
    pub qid: Qid,
}

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            sid,
            round,
            prev,
            qid,
        } = self;
        let prev = prev.as_ref().map_or("-", PlanKey::as_str);
        write!(f, "FRAME: s={sid} r={round} p={prev} q={qid}")
    }
}

/// What of a FRAME line is missing, doubled, not readable or not as expected:
/// `s`, `r`, `p`, `q` in this order, and `other` for a word that is none of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadFrame {
    /// The names, each once; never empty.
    pub fields: Vec<&'static str>,
}

impl fmt::Display for BadFrame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "frame does not fit: {}", self.fields.join(", "))
    }
}

impl std::error::Error for BadFrame {}

impl Frame {
    /// Whether `line` says it is a FRAME line at all.
    pub fn claims(line: &str) -> bool {
        line.starts_with("FRAME:")
    }

    //= spec W6
    /// Reads a FRAME line: runs of spaces and any order of the four keys are
    /// fine, each key must stand there exactly once and nothing besides.
    ///
    /// # Errors
    /// [`BadFrame`] with every field that is not readable.
    pub fn parse(line: &str) -> Result<Self, BadFrame> {
        let raw = Raw::read(line);
        let sid = raw.s.and_then(|v| Sid::parse(v).ok());
        let round = raw.r.and_then(parse_round);
        let prev = raw.p.and_then(parse_prev);
        let qid = raw.q.and_then(|v| Tag::parse(v).ok());
        let fields = raw.names([
            sid.is_some(),
            round.is_some(),
            prev.is_some(),
            qid.is_some(),
        ]);
        match (sid, round, prev, qid) {
            (Some(sid), Some(round), Some(prev), Some(qid)) if fields.is_empty() => Ok(Self {
                sid,
                round,
                prev,
                qid,
            }),
            (_, _, _, _) => Err(BadFrame { fields }),
        }
    }

    //= spec P2
    /// Whether `line` is this very frame.
    ///
    /// # Errors
    /// [`BadFrame`] with every field that is missing, doubled or different.
    pub fn check(&self, line: &str) -> Result<(), BadFrame> {
        let raw = Raw::read(line);
        let fields = raw.names([
            raw.s == Some(self.sid.as_str()),
            raw.r.and_then(parse_round) == Some(self.round),
            raw.p.and_then(parse_prev).as_ref() == Some(&self.prev),
            raw.q == Some(self.qid.as_str()),
        ]);
        if fields.is_empty() {
            Ok(())
        } else {
            Err(BadFrame { fields })
        }
    }
}

fn parse_prev(text: &str) -> Option<Prev> {
    if text == "-" {
        Some(None)
    } else {
        PlanKey::parse(text).ok().map(Some)
    }
}

/// The words of a FRAME line by key; a doubled key counts as none.
#[derive(Default)]
struct Raw<'a> {
    s: Option<&'a str>,
    r: Option<&'a str>,
    p: Option<&'a str>,
    q: Option<&'a str>,
    other: bool,
}

impl<'a> Raw<'a> {
    fn read(line: &'a str) -> Self {
        let mut raw = Self::default();
        let Some(rest) = line.trim_end().strip_prefix("FRAME:") else {
            return raw;
        };
        let mut seen = [false; 4];
        for word in rest.split(' ').filter(|word| !word.is_empty()) {
            let (slot, at) = match word.split_once('=') {
                Some(("s", _)) => (&mut raw.s, 0),
                Some(("r", _)) => (&mut raw.r, 1),
                Some(("p", _)) => (&mut raw.p, 2),
                Some(("q", _)) => (&mut raw.q, 3),
                Some(_) | None => {
                    raw.other = true;
                    continue;
                }
            };
            *slot = if seen[at] { None } else { word.get(2..) };
            seen[at] = true;
        }
        raw
    }

    fn names(&self, good: [bool; 4]) -> Vec<&'static str> {
        let fields = ["s", "r", "p", "q"];
        let bad = fields.into_iter().zip(good).filter(|(_, good)| !good);
        let mut names: Vec<_> = bad.map(|(name, _)| name).collect();
        if self.other {
            names.push("other");
        }
        names
    }
}

#[cfg(test)]
mod tests;
