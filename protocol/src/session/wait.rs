//! A sent message waits for its reply, and never longer than it may.

use super::{
    Session,
    ask::Trouble,
    decide::Move,
    facts::Sign,
    input::{Effect, Pace},
    live::Pause,
};
use crate::{
    fault::Code,
    page::{Ask, Place, Role},
    planted::{self, Bug},
    record::{Judgement, Record, SendRow},
    reply::{CaptureFailure, Phase, Progress, Verdict, Want},
    send::{Located, SendEvidence, SendState, is_ours, locate},
    time::Millis,
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
        if let Some(why) = self.round_over() {
            return Some(self.ask(&Trouble::bare(Sign::Boundary, why)));
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
            self.ask(&Trouble::new(Sign::Conflict, Code::Interference, why))
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
            Verdict::Interference(_) => self.ask(&Trouble::new(
                Sign::Conflict,
                Code::Interference,
                verdict.to_string(),
            )),
            Verdict::OtherPlace { .. } => self.ask(&Trouble::new(
                Sign::Elsewhere,
                Code::Conversation,
                verdict.to_string(),
            )),
            Verdict::CaptureFailed {
                why: CaptureFailure::Layout { .. },
            } => self.fail(Code::Layout, verdict.to_string()),
            Verdict::SourceUncertain(_) => self.reread(Sign::AsIs, Code::SourceUncertain, verdict),
            Verdict::CaptureFailed { .. }
                if planted::is(Bug::RepairOnCapture) && row.intent.message.is_task() =>
            {
                Move::store(Record::Judged {
                    send: row.intent.send,
                    reply: None,
                    judgement: Judgement::Refused { faults: Vec::new() },
                })
            }
            Verdict::CaptureFailed { .. } => self.reread(Sign::AsIs, Code::Capture, verdict),
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
            return self.ask(&Trouble::new(Sign::AsIs, code, verdict.to_string()));
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
    pub(super) fn reread(&self, sign: Sign, code: Code, why: impl ToString) -> Move {
        self.pausing(self.round_end())
            .unwrap_or_else(|| self.ask(&Trouble::new(sign, code, why.to_string())))
    }

    /// The pause before the next read, which was decided, and then that read.
    pub(super) fn pausing(&self, until: Option<Millis>) -> Option<Move> {
        match self.live.pause {
            Pause::Due(pace @ Pace::Read { .. }) => Some(Move::Act(Effect::Pace(pace))),
            Pause::Asked(Pace::Read { .. }) => Some(Move::Wait(until)),
            Pause::Over(Pace::Read { .. }) => Some(Move::Act(Effect::Rewatch)),
            Pause::None
            | Pause::Due(Pace::Reattach { .. })
            | Pause::Asked(Pace::Reattach { .. })
            | Pause::Over(Pace::Reattach { .. }) => None,
        }
    }

    /// The conversation gets its own id once our own turn stands in it.
    //= spec E1
    fn binding(&self, row: &SendRow) -> Option<Move> {
        if self.state.conversation.is_some() {
            return None;
        }
        let look = &self.live.look.as_ref()?.look;
        let (anchor, text) = (&row.intent.anchor, row.intent.text.as_str());
        let shown = locate(&look.tail, look.shows_top(), anchor, text);
        let settled = matches!(shown, Located::Ours { turn: Some(_), .. });
        if row.own.is_none() && !settled {
            return None;
        }
        match &look.place {
            Place::Conversation(id) => Some(Move::store(Record::Bound {
                conversation: id.clone(),
            })),
            Place::Fresh | Place::Transient(_) | Place::Elsewhere => None,
        }
    }

    /// The limit of the round whose reply is awaited, once it is over.
    //= spec RP5
    pub(super) fn round_over(&self) -> Option<&'static str> {
        self.state.in_flight()?;
        let over = self.round_end().is_some_and(|end| end <= self.now());
        over.then_some("the round took longer than round_s")
    }

    fn round_end(&self) -> Option<Millis> {
        self.live
            .round_since
            .map(|since| since + self.limits.round_ms)
    }
}
