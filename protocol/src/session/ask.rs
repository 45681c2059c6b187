//! The planner is asked: the facts give the row, the trouble gives code and reason.
//!
//! It is asked at a start with a loss, after a loss, after a failed wait, and for
//! whatever the ordinary path cannot take any further. Every stop that names a
//! row and every recovery comes from here.

use super::{Session, decide::Move, facts::Sign, stop_of};
use crate::{
    fault::Code,
    outcome::Outcome,
    page::Loss,
    record::{Record, Stop},
    recovery::{
        self, Action, Cost, Facts, RowId,
        facts::{Boundary, Budget, Lost},
    },
};

/// What the ordinary path cannot take any further.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Trouble {
    /// What it says about the facts.
    pub sign: Sign,
    /// The stable code, where there is one.
    pub code: Option<Code>,
    /// One sentence for a person.
    pub why: String,
}

impl Trouble {
    pub fn new(sign: Sign, code: Code, why: impl Into<String>) -> Self {
        Self {
            sign,
            code: Some(code),
            why: why.into(),
        }
    }

    pub fn bare(sign: Sign, why: impl Into<String>) -> Self {
        Self {
            sign,
            code: None,
            why: why.into(),
        }
    }
}

/// A recovery that the table decided on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decision {
    /// The row.
    pub row: RowId,
    /// The facts that met it.
    pub facts: Facts,
    /// What it does about them.
    pub action: Action,
}

impl Decision {
    /// As it is stored.
    //= spec RP2
    pub(super) fn record(&self) -> Record {
        Record::Decided {
            row: self.row,
            facts: self.facts.to_string(),
            action: self.action.to_string(),
            cost: self.action.cost(&self.facts),
        }
    }
}

impl Session {
    //= spec RP1
    /// Asks the planner and gives what follows: a stop, a recovery to store, or
    /// nothing while a plan that runs has to settle first.
    pub(super) fn ask(&self, trouble: &Trouble) -> Move {
        let facts = self.facts(trouble.sign);
        let row = recovery::plan(&facts);
        let action = row.action(&facts);
        if action.stops() {
            return Move::Stop(self.stop_at(row.id, &facts, trouble));
        }
        if action == Action::Hold {
            return Move::Wait(None);
        }
        Move::Decide(Decision {
            row: row.id,
            facts,
            action,
        })
    }

    /// The stop that a trouble leads to, where nothing can be stored any more.
    pub(super) fn stop_for(&self, trouble: &Trouble) -> Stop {
        let facts = self.facts(trouble.sign);
        self.stop_at(recovery::plan(&facts).id, &facts, trouble)
    }

    //= spec RP7
    fn stop_at(&self, row: RowId, facts: &Facts, trouble: &Trouble) -> Stop {
        if row == RowId::R14 && facts.boundary == Boundary::Asked {
            return self.interrupted_stop();
        }
        // Whatever met it last: where the conversation can never be found, that is why.
        //= spec E1
        let unbound = row == RowId::R0 && self.is_unbound();
        let named = unbound.then(|| self.loss_trouble());
        let trouble = named.as_ref().unwrap_or(trouble);
        let code = trouble.code;
        let own = code.map(|code| code.about().outcome);
        let outcome = match row {
            RowId::R15 => own.unwrap_or(Outcome::Defect),
            RowId::R14 => Outcome::Boundary,
            RowId::R12 => Outcome::Stopped,
            RowId::R0
            | RowId::R1
            | RowId::R2
            | RowId::R3
            | RowId::R4
            | RowId::R5
            | RowId::R6
            | RowId::R7
            | RowId::R8
            | RowId::R9
            | RowId::R10
            | RowId::R11
            | RowId::R13 => Outcome::Manual,
        };
        // What the planner was asked about is not what stops the run then.
        let limit = self.limit_hit().filter(|_| row == RowId::R14);
        let spent = row == RowId::R13 && facts.budget == Budget::Spent;
        let why = match recovery::cost(facts) {
            Some(cost) if spent => format!("{}; last: {}", spent_words(cost), trouble.why),
            Some(_) | None => trouble.why.clone(),
        };
        let why = match limit {
            Some(limit) if limit != why => format!("{limit}; last: {why}"),
            Some(_) | None => why,
        };
        Stop {
            row: Some(row),
            facts: Some(facts.to_string()),
            ..stop_of(self.truth(outcome), code, &why)
        }
    }

    /// What a person is told of the loss that the planner is asked about.
    pub(super) fn loss_trouble(&self) -> Trouble {
        if self.is_unbound() {
            let why =
                "a handshake may stand in a conversation that never got an address of its own";
            return Trouble::new(Sign::AsIs, Code::Conversation, why);
        }
        let (code, why) = match &self.live.loss {
            None => return Trouble::bare(Sign::AsIs, lost_words(self.live.gone)),
            Some(Loss::Document) => {
                return Trouble::bare(Sign::AsIs, lost_words(Lost::Page));
            }
            Some(Loss::Link { detail }) => {
                (Code::NoBrowser, format!("the link dropped ({detail})"))
            }
            Some(Loss::Detached) => (
                Code::NoBrowser,
                "the browser let go of the tab's session".into(),
            ),
            Some(Loss::TabClosed) => (Code::TabGone, "the tab was closed".into()),
            Some(Loss::RendererCrashed) => (Code::Renderer, "the page's renderer crashed".into()),
            Some(Loss::RendererHung) => {
                (Code::Renderer, "the page's renderer answers nothing".into())
            }
            Some(Loss::BrowserGone { detail }) => {
                (Code::NoBrowser, format!("the browser is gone: {detail}"))
            }
            Some(Loss::NeverAttached { code, detail }) => {
                (code.parse().unwrap_or(Code::NoBrowser), detail.clone())
            }
        };
        Trouble::new(Sign::AsIs, code, why)
    }
}

fn spent_words(cost: Cost) -> &'static str {
    match cost {
        Cost::Reattach => "every re-attachment is spent",
        Cost::Read => "every re-read is spent",
        Cost::Resume => "every RESUME is spent",
        Cost::Resync => "every RESYNC is spent",
    }
}

fn lost_words(lost: Lost) -> &'static str {
    match lost {
        Lost::Nothing => "nothing was lost",
        Lost::Link => "the link dropped",
        Lost::Page => "the page was loaded anew",
        Lost::Browser => "the browser was started anew",
        Lost::Relay => "the relay was started anew",
        Lost::Journal => "the journal was lost",
    }
}
