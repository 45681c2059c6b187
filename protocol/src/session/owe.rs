//! What is due when nothing is in flight: its text, and whether it may go now.

use super::{Session, decide::Move, judge::list, stop_of};
use crate::{
    fault::Code,
    id::{Digest, Round},
    message::{Body, hello, repair::Repair, resync, round},
    outcome::Outcome,
    page::Anchor,
    record::{Cost, Handshake, Intent, Judgement, Opened, Owed, Record, Stop},
    recovery::RowId,
    send::SendKind,
    text::Private,
    time::Millis,
};

/// The span over which `sends_per_hour` counts.
const HOUR_MS: u64 = 3_600_000;

impl Session {
    pub(super) fn owing(&self) -> Move {
        let Some(opened) = &self.state.opened else {
            return Move::Stop(stop_of(Outcome::Defect, None, "no session was opened"));
        };
        let Some(owed) = self.state.owed() else {
            return self.nothing_owed();
        };
        if let Some(stop) = self.boundary().or_else(|| self.rounds_spent(&owed)) {
            return stop;
        }
        if let (Owed::Resync, Some(first)) = (&owed, self.pay_for_resync()) {
            return first;
        }
        if let Some(wait) = self.too_soon() {
            return wait;
        }
        let Some(anchor) = self.state.anchor.clone() else {
            return Move::Stop(stop_of(
                Outcome::Defect,
                None,
                "nothing was read before a send",
            ));
        };
        self.intend(opened, &owed, anchor)
    }

    fn intend(&self, opened: &Opened, owed: &Owed, anchor: Anchor) -> Move {
        let (message, round, text) = match self.text_of(opened, owed) {
            Some(built) => built,
            None => {
                let why = format!("no message can be built for {owed:?}");
                return Move::Stop(stop_of(Outcome::Defect, None, &why));
            }
        };
        if text.chars().count() as u64 > self.limits.message_len_max {
            let why = format!("the {message} is longer than message_len_max");
            return Move::fail(Code::Compose, why);
        }
        Move::store(Record::Intent(Box::new(Intent {
            send: self.state.next_send(),
            message,
            round,
            digest: Digest::of(&text),
            text: Private::from(text),
            anchor,
            epoch: self.live.epoch,
            voids: Vec::new(),
        })))
    }

    /// The only place that composes a message from the fold.
    //= spec W8
    //= spec W9
    fn text_of(&self, opened: &Opened, owed: &Owed) -> Option<(SendKind, Option<Round>, String)> {
        Some(match owed {
            Owed::Hello => (SendKind::Hello, None, hello::build(&opened.offer)),
            Owed::Resync => (SendKind::Resync, None, resync::build(&opened.offer)),
            Owed::FirstRound => {
                let body = Body::Request(opened.request.clone()).text();
                let frame = self.frame(Round::FIRST)?;
                (
                    SendKind::Round,
                    Some(Round::FIRST),
                    round::build(&frame, &body),
                )
            }
            Owed::Round(next) => {
                let body = Body::Receipt(self.state.receipt.clone()?).text();
                (
                    SendKind::Round,
                    Some(*next),
                    round::build(&self.frame(*next)?, &body),
                )
            }
            Owed::Repair { round, faults } => {
                let repair = Repair::of(self.frame(*round)?, faults)?;
                (SendKind::Repair, Some(*round), repair.build())
            }
        })
    }

    fn nothing_owed(&self) -> Move {
        if self.state.handshake == Handshake::Refused {
            //= spec H3
            let why = format!("the handshake was not acknowledged: {}", self.last_faults());
            return Move::row(RowId::R13, Code::Establish, why);
        }
        let last = self.state.sends.last().and_then(|row| row.judged.as_ref());
        match last {
            Some(Judgement::Refused { faults }) => {
                //= spec P7
                let code = faults.first().map(|fault| fault.code);
                let why = format!(
                    "the plan still breaks the form after every REPAIR: {}",
                    list(faults)
                );
                Move::Stop(stop_of(Outcome::Violation, code, &why))
            }
            Some(Judgement::Failed { code, detail }) => Move::row(RowId::R0, *code, detail),
            Some(Judgement::Held | Judgement::NotHeld { .. } | Judgement::Accepted(_)) | None => {
                Move::Stop(stop_of(
                    Outcome::Defect,
                    None,
                    "nothing is due and nothing is done",
                ))
            }
        }
    }

    fn last_faults(&self) -> String {
        match self.state.sends.last().and_then(|row| row.judged.as_ref()) {
            Some(Judgement::NotHeld { faults } | Judgement::Refused { faults }) => list(faults),
            Some(Judgement::Held | Judgement::Accepted(_) | Judgement::Failed { .. }) | None => {
                "no reason recorded".to_owned()
            }
        }
    }

    //= spec RP5
    fn rounds_spent(&self, owed: &Owed) -> Option<Move> {
        let next = match owed {
            Owed::FirstRound => Round::FIRST,
            Owed::Round(next) => *next,
            Owed::Hello | Owed::Resync | Owed::Repair { .. } => return None,
        };
        (u64::from(next.0) > self.limits.rounds_max).then(|| {
            let why = format!(
                "round {next} would pass rounds_max ({})",
                self.limits.rounds_max
            );
            let stop = stop_of(Outcome::Boundary, None, &why);
            Move::Stop(Stop {
                row: Some(RowId::R14),
                ..stop
            })
        })
    }

    /// A RESYNC is decided by the table and counted before it is made.
    //= spec RP4
    fn pay_for_resync(&self) -> Option<Move> {
        let spent = u64::from(self.state.budgets.spent(Cost::Resync));
        if self.live.resync_paid {
            return None;
        }
        if spent >= self.limits.resync_max {
            let why = format!("the handshake was not acknowledged: {}", self.last_faults());
            return Some(Move::row(RowId::R13, Code::Establish, why));
        }
        Some(Move::store(Record::Decided {
            row: RowId::R8,
            facts: "handshake=unproven".to_owned(),
            action: "RESYNC".to_owned(),
            cost: Some(Cost::Resync),
        }))
    }

    /// At least the send gap since the last send, and no more than so many an
    /// hour. Times of sends do not outlive the process **(ours)**.
    //= spec S9
    fn too_soon(&self) -> Option<Move> {
        let now = self.now();
        let sent = &self.live.sent_at;
        let gap = sent.back().map(|last| *last + self.limits.send_gap_ms);
        let per_hour = usize::try_from(self.limits.sends_per_hour).unwrap_or(usize::MAX);
        let hour = (sent.len() >= per_hour)
            .then(|| sent.get(sent.len() - per_hour).map(|at| *at + HOUR_MS))
            .flatten();
        let until: Option<Millis> = gap.max(hour);
        until
            .filter(|until| now < *until)
            .map(|until| Move::Wait(Some(until)))
    }
}
