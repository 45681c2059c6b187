//! A pattern over facts, as data.

use super::facts::{
    Blocker, Boundary, Budget, Chain, Checkpoint, Defect, Fact, Facts, Handshake, Lost, Reply, Run,
    Send, Target,
};

/// Which values of one fact fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Is<T: 'static> {
    /// All of them.
    Any,
    /// One of these.
    In(&'static [T]),
}

impl<T: Fact> Is<T> {
    /// Whether this value fits.
    pub fn fits(self, value: T) -> bool {
        match self {
            Self::Any => true,
            Self::In(values) => values.contains(&value),
        }
    }

    /// `name=value|value`, or nothing where all fit.
    fn text(self) -> Option<String> {
        match self {
            Self::Any => None,
            Self::In(values) => {
                let words: Vec<_> = values.iter().map(T::to_string).collect();
                Some(format!("{}={}", T::NAME, words.join("|")))
            }
        }
    }
}

/// Which facts fit: every one of its matchers must.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(
    missing_docs,
    reason = "each field is the matcher of the fact of its name"
)]
pub struct Pattern {
    pub defect: Is<Defect>,
    pub boundary: Is<Boundary>,
    pub blocker: Is<Blocker>,
    pub run: Is<Run>,
    pub checkpoint: Is<Checkpoint>,
    pub chain: Is<Chain>,
    pub handshake: Is<Handshake>,
    pub target: Is<Target>,
    pub lost: Is<Lost>,
    pub send: Is<Send>,
    pub reply: Is<Reply>,
    pub budget: Is<Budget>,
}

impl Pattern {
    /// Fits everything.
    pub const ANY: Self = Self {
        defect: Is::Any,
        boundary: Is::Any,
        blocker: Is::Any,
        run: Is::Any,
        checkpoint: Is::Any,
        chain: Is::Any,
        handshake: Is::Any,
        target: Is::Any,
        lost: Is::Any,
        send: Is::Any,
        reply: Is::Any,
        budget: Is::Any,
    };

    /// Whether all matchers fit.
    pub fn fits(&self, facts: &Facts) -> bool {
        self.lost.fits(facts.lost)
            && self.chain.fits(facts.chain)
            && self.handshake.fits(facts.handshake)
            && self.target.fits(facts.target)
            && self.run.fits(facts.run)
            && self.send.fits(facts.send)
            && self.reply.fits(facts.reply)
            && self.checkpoint.fits(facts.checkpoint)
            && self.defect.fits(facts.defect)
            && self.boundary.fits(facts.boundary)
            && self.blocker.fits(facts.blocker)
            && self.budget.fits(facts.budget)
    }

    /// As the rendered table shows it; `anything` where all fit.
    pub(super) fn text(&self) -> String {
        let all = [
            self.defect.text(),
            self.boundary.text(),
            self.blocker.text(),
            self.run.text(),
            self.checkpoint.text(),
            self.chain.text(),
            self.handshake.text(),
            self.target.text(),
            self.lost.text(),
            self.send.text(),
            self.reply.text(),
            self.budget.text(),
        ];
        let all: Vec<_> = all.into_iter().flatten().collect();
        if all.is_empty() {
            "anything".to_owned()
        } else {
            all.join(" ")
        }
    }
}
