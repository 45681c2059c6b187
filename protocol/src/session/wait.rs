//! A sent message waits for its reply, and never longer than it may.

use super::{
    Session,
    decide::Move,
    input::{Effect, Pace},
    live::Pause,
    stop_of,
};
use crate::{
    fault::Code,
    outcome::Outcome,
    page::{Ask, Place, Role},
    record::{Cost, Judgement, Record, SendRow, Stop},
    recovery::RowId,
    reply::{CaptureFailure, Phase, Progress, Verdict, Want},
    send::{SendEvidence, SendState, is_ours},
};

/// Copies asked for at one state of the reply before its proof counts as lost.
const COPIES_MAX: u32 = 3;

impl Session {
    pub(super) fn waiting(&self) -> Option<Move> {
        let row = self.state.in_flight()?;
        if let Some(bind) = self.binding(row) {
            return Some(bind);
        }
        if let Some(foreign) = self.foreign_turn(row) {
            return Some(foreign);
        }
        //= spec RP5
        if self.round_end().is_some_and(|end| end <= self.now()) {
            let why = "the round took longer than round_s";
            let stop = stop_of(self.truth(Outcome::Boundary), None, why);
            return Some(Move::Stop(Stop {
                row: Some(RowId::R14),
                ..stop
            }));
        }
        Some(match &self.live.verdict {
            None => Move::Wait(self.round_end()),
            Some(verdict) => self.weigh(row, verdict),
        })
    }

    /// The last user turn shown must be ours while its reply is awaited, once it
    /// was seen there.
    //= spec C6
    fn foreign_turn(&self, row: &SendRow) -> Option<Move> {
        let seen = match &row.outcome {
            Some((_, SendEvidence::OwnTurn { .. })) => true,
            Some(_) | None => row.own.is_some(),
        };
        let look = &self.live.look.as_ref().filter(|_| seen)?.look;
        let last = look
            .tail
            .iter()
            .rev()
            .find(|turn| turn.role == Role::User)?;
        let id = last.key.settled()?;
        let ours = row.own.as_ref() == Some(id) || is_ours(last, row.intent.text.as_str());
        (!ours).then(|| {
            let why = "a message that is not ours stands in the conversation after ours";
            Move::row(RowId::R10, Code::Interference, why).worst_of(self)
        })
    }

    fn weigh(&self, row: &SendRow, verdict: &Verdict) -> Move {
        match verdict {
            Verdict::Complete(captured) if row.state() != SendState::Sent => {
                let turn = Some(captured.own.clone());
                self.outcome(SendState::Sent, SendEvidence::OwnTurn { turn })
            }
            Verdict::Complete(captured) => self.judge(row, captured),
            Verdict::NotYet(progress) => match &progress.want {
                Some(Want::Copy { turn }) if self.live.copies < COPIES_MAX => {
                    Move::Ask(Ask::Copy { turn: turn.clone() }, self.limits.call_ms)
                }
                Some(Want::Copy { .. }) | None if self.wants_look(progress) => {
                    Move::Ask(Ask::Look, self.limits.call_ms)
                }
                Some(Want::Copy { .. }) | None => {
                    let at = progress.look_by.max(self.now() + 1);
                    Move::Wait(Some(self.round_end().map_or(at, |end| end.min(at))))
                }
            },
            //= spec C8
            Verdict::Truncated { .. } => self.failed(row, Code::Truncated, verdict),
            Verdict::PageFailed(_) => {
                let code = verdict.code().and_then(|code| code.parse().ok());
                self.failed(row, code.unwrap_or(Code::PageFailed), verdict)
            }
            //= spec C6
            Verdict::Interference(_) => {
                Move::row(RowId::R10, Code::Interference, verdict.to_string()).worst_of(self)
            }
            Verdict::OtherPlace { .. } => {
                Move::row(RowId::R0, Code::Conversation, verdict.to_string()).worst_of(self)
            }
            Verdict::CaptureFailed {
                why: CaptureFailure::Layout { .. },
            } => Move::fail(Code::Layout, verdict.to_string()).worst_of(self),
            Verdict::SourceUncertain(_) => self.reread(Code::SourceUncertain, verdict),
            Verdict::CaptureFailed { .. } => self.reread(Code::Capture, verdict),
        }
    }

    /// A quiet window is covered by looks alone: where the page pushes none
    /// because nothing changes, one is asked for when the window is long enough.
    //= spec T1
    fn wants_look(&self, progress: &Progress) -> bool {
        let seen = self.live.look.as_ref().map(|seen| seen.at);
        progress.phase == Phase::Finishing
            && self.now() >= progress.look_by
            && seen.is_none_or(|at| at < progress.look_by)
            && self.live.looked_for.is_none_or(|at| at < progress.look_by)
    }

    /// A reply that failed for good is judged so; what is owed then is nothing.
    fn failed(&self, row: &SendRow, code: Code, verdict: &Verdict) -> Move {
        if row.state() != SendState::Sent {
            return Move::row(RowId::R0, code, verdict.to_string()).worst_of(self);
        }
        Move::store(Record::Judged {
            send: row.intent.send,
            reply: None,
            judgement: Judgement::Failed {
                code,
                detail: verdict.to_string(),
            },
        })
    }

    /// The same round once more: nothing is sent, the page is read again after
    /// a pause, and the reads are counted.
    pub(super) fn reread(&self, code: Code, why: impl ToString) -> Move {
        let row = if code == Code::Capture && self.nothing_seen() {
            RowId::R2
        } else {
            RowId::R1
        };
        match self.live.pause {
            Pause::Due(pace) => return Move::Act(Effect::Pace(pace)),
            Pause::Asked(_) => return Move::Wait(self.round_end()),
            Pause::Over(_) => return Move::Act(Effect::Rewatch),
            Pause::None => {}
        }
        //= spec RP4
        if u64::from(self.state.budgets.spent(Cost::Read)) >= self.limits.reads_max {
            let why = format!("every re-read is spent; last: {}", why.to_string());
            return Move::row(RowId::R13, code, why).worst_of(self);
        }
        Move::store(Record::Decided {
            row,
            facts: format!(
                "reply={}",
                if row == RowId::R2 { "none" } else { "unproven" }
            ),
            action: "read again".to_owned(),
            cost: Some(Cost::Read),
        })
    }

    fn nothing_seen(&self) -> bool {
        let seen = self.live.look.as_ref();
        let newest = seen.and_then(|seen| seen.look.tail.last());
        newest.is_none_or(|turn| turn.reply.is_none())
    }

    /// The conversation gets its own id once our own turn stands in it.
    //= spec E1
    fn binding(&self, row: &SendRow) -> Option<Move> {
        if self.state.conversation.is_some() || row.own.is_none() {
            return None;
        }
        match &self.live.look.as_ref()?.look.place {
            Place::Conversation(id) => Some(Move::store(Record::Bound {
                conversation: id.clone(),
            })),
            Place::Fresh | Place::Transient(_) | Place::Elsewhere => None,
        }
    }

    fn round_end(&self) -> Option<crate::time::Millis> {
        self.live
            .round_since
            .map(|since| since + self.limits.round_ms)
    }

    /// The pause that a stored decision calls for.
    pub(super) fn pause_for(&self, cost: Option<Cost>) -> Pause {
        match cost {
            Some(Cost::Read) => Pause::Due(Pace::Read {
                nth: self.state.budgets.spent(Cost::Read).saturating_sub(1),
            }),
            Some(Cost::Reattach) => Pause::Due(Pace::Reattach {
                nth: self.state.budgets.spent(Cost::Reattach).saturating_sub(1),
            }),
            Some(Cost::Resume | Cost::Resync) | None => Pause::None,
        }
    }
}
