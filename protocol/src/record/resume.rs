//! What a RESUME or a RESYNC rests on: what it makes void, what is known besides.

use super::{Judgement, SendRow, State};
use crate::{
    id::SendId,
    message::body::{Known, Later},
    send::{SendKind, SendState},
    wire::canonical,
};

impl State {
    /// The task sends that did not lead to a settled plan: what a RESUME or a
    /// RESYNC made now would make void.
    //= spec W12
    pub fn to_void(&self) -> Vec<SendId> {
        self.unsettled_tasks().map(|row| row.intent.send).collect()
    }

    /// What is known of the plans after the checkpoint, for the ROUND after a RESUME.
    //= spec W9
    pub fn known(&self) -> Known {
        let after = self.sends.iter().rev().take_while(|row| !row.settled);
        let mut later = Later::Nothing;
        for row in after.filter(|row| row.intent.message.is_task() && was_out(row)) {
            let doubted = match &row.judged {
                Some(Judgement::Accepted(plan)) => self.doubted.contains(&plan.body),
                Some(
                    Judgement::Held
                    | Judgement::NotHeld { .. }
                    | Judgement::Refused { .. }
                    | Judgement::Failed { .. },
                )
                | None => false,
            };
            later = match later {
                Later::Nothing | Later::DidNotRun if doubted => Later::MayHaveRun,
                Later::Nothing => Later::DidNotRun,
                known @ (Later::DidNotRun | Later::MayHaveRun) => known,
            };
        }
        Known {
            checkpoint: self.checkpoint.clone(),
            receipt: self.receipt.clone(),
            later,
        }
    }

    /// Whether any ROUND of this session was sent, or may have been.
    //= spec W12
    pub fn is_any_round_out(&self) -> bool {
        self.sends
            .iter()
            .any(|row| row.intent.message == SendKind::Round && was_out(row))
    }

    /// Whether a message of this very text was sent, or may have been, and no
    /// reply was finished since.
    //= spec W11
    pub fn is_repeated(&self, text: &str) -> bool {
        let text = canonical(text);
        let equal = |row: &SendRow| was_out(row) && canonical(row.intent.text.as_str()) == text;
        self.sends
            .iter()
            .rposition(equal)
            .is_some_and(|at| !self.sends[at..].iter().any(is_answered))
    }

    fn unsettled_tasks(&self) -> impl Iterator<Item = &SendRow> {
        let from = self.sends.iter().rposition(|row| row.settled);
        let after = &self.sends[from.map_or(0, |at| at + 1)..];
        after
            .iter()
            .filter(|row| row.intent.message.is_task() && !row.void)
    }
}

fn was_out(row: &SendRow) -> bool {
    row.state() != SendState::NotSent
}

fn is_answered(row: &SendRow) -> bool {
    match &row.judged {
        Some(
            Judgement::Held
            | Judgement::NotHeld { .. }
            | Judgement::Accepted(_)
            | Judgement::Refused { .. },
        ) => true,
        Some(Judgement::Failed { .. }) | None => false,
    }
}
