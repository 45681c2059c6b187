//! What is due when nothing is in flight: its text, and whether it may go now.

use super::{
    Session, ask::Trouble, decide::Move, facts::Sign, judge::list, live::Declares, stop_of,
};
use crate::{
    fault::Code,
    frame::Checkpoint,
    id::{Digest, Round},
    message::{Body, hello, repair::Repair, resume, resync, round},
    outcome::Outcome,
    page::Anchor,
    planted::{self, Bug},
    record::{Handshake, Intent, Judgement, Opened, Owed, Record},
    send::SendKind,
    text::Private,
    time::Millis,
};

/// The span over which `sends_per_hour` counts.
const HOUR_MS: u64 = 3_600_000;

impl Session {
    pub(super) fn owing(&self) -> Move {
        if let Some(pause) = self.pausing(None) {
            return pause;
        }
        let Some(opened) = &self.state.opened else {
            return self.defect("no session was opened");
        };
        let Some(owed) = self.due() else {
            return self.nothing_owed();
        };
        if let Some(stop) = self.boundary().or_else(|| self.rounds_spent(&owed)) {
            return stop;
        }
        if let Some(first) = self.declaring(&owed) {
            return first;
        }
        if let Some(wait) = self.too_soon() {
            return wait;
        }
        let Some(anchor) = self.state.anchor.clone() else {
            return self.defect("nothing was read before a send");
        };
        self.intend(opened, &owed, anchor)
    }

    /// What the table decided to send, before what the fold says is owed.
    fn due(&self) -> Option<Owed> {
        match self.live.declares {
            Some(Declares::Resume) => Some(Owed::Resume),
            Some(Declares::Resync) => Some(Owed::Resync),
            None => self.state.owed(),
        }
    }

    /// What comes before a RESUME or a RESYNC: the page is idle, the table decided
    /// on the RESYNC, and the very same message is not out without an answer.
    //= spec W11
    //= spec W12
    fn declaring(&self, owed: &Owed) -> Option<Move> {
        if self.is_changed() && self.live.declares.is_none() {
            let why = "this build offers another contract than the one acknowledged";
            return Some(self.ask(&Trouble::new(Sign::AsIs, Code::Contract, why)));
        }
        match owed {
            Owed::Resync if self.live.declares.is_none() => {
                let why = format!("the handshake was not acknowledged: {}", self.last_faults());
                return Some(self.ask(&Trouble::new(Sign::AsIs, Code::Establish, why)));
            }
            Owed::Resync | Owed::Resume => {}
            Owed::Hello
            | Owed::FirstRound
            | Owed::Round(_)
            | Owed::Resumed(_)
            | Owed::Repair { .. } => return None,
        }
        if let Some(since) = self.live.busy_since {
            let until = since + self.limits.reply_streaming_ms;
            let why = "the page did not become idle";
            return Some(if self.now() < until {
                Move::Wait(Some(until))
            } else {
                self.ask(&Trouble::new(Sign::AsIs, Code::Capture, why))
            });
        }
        let opened = self.state.opened.as_ref()?;
        let (message, _, text) = self.text_of(opened, owed)?;
        self.state.is_repeated(&text).then(|| {
            let why = format!("this {message} was made before and nothing answered it");
            self.ask(&Trouble::new(Sign::Repeated, Code::Establish, why))
        })
    }

    fn intend(&self, opened: &Opened, owed: &Owed, anchor: Anchor) -> Move {
        let (message, round, text) = match self.text_of(opened, owed) {
            Some(built) => built,
            None => {
                let why = format!("no message can be built for {owed:?}");
                return self.defect(why);
            }
        };
        if text.chars().count() as u64 > self.limits.message_len_max {
            let why = format!("the {message} is longer than message_len_max");
            return self.fail(Code::Compose, why);
        }
        Move::store(Record::Intent(Box::new(Intent {
            send: self.state.next_send(),
            message,
            round,
            digest: Digest::of(&text),
            text: Private::from(text),
            anchor,
            epoch: self.live.epoch,
            offer: match message {
                SendKind::Hello | SendKind::Resync => self.new_offer().cloned().map(Box::new),
                SendKind::Round | SendKind::Repair | SendKind::Resume => None,
            },
            voids: match message {
                SendKind::Resume | SendKind::Resync => self.state.to_void(),
                SendKind::Hello | SendKind::Round | SendKind::Repair => Vec::new(),
            },
        })))
    }

    /// The only place that composes a message from the fold.
    //= spec W8
    //= spec W9
    fn text_of(&self, opened: &Opened, owed: &Owed) -> Option<(SendKind, Option<Round>, String)> {
        let offer = self.new_offer().unwrap_or(&opened.offer);
        Some(match owed {
            Owed::Hello => (SendKind::Hello, None, hello::build(offer)),
            Owed::Resync => (SendKind::Resync, None, resync::build(offer)),
            Owed::Resume => {
                let next = self.state.checkpoint.next_round();
                let (terms, checkpoint) = (&opened.offer.terms, &self.checkpoint_named());
                (
                    SendKind::Resume,
                    None,
                    resume::build(terms, checkpoint, next),
                )
            }
            Owed::Resumed(next) => {
                let body = Body::Resumed {
                    request: (self.state.checkpoint == Checkpoint::Start)
                        .then(|| opened.request.clone()),
                    known: self.state.known(),
                };
                let frame = self.frame(*next)?;
                (
                    SendKind::Round,
                    Some(*next),
                    round::build(&frame, &body.text()),
                )
            }
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

    /// What a RESUME names: what settled, and never what was merely sent.
    //= spec W11
    fn checkpoint_named(&self) -> Checkpoint {
        let last = self.state.last_task().and_then(|row| row.judged.as_ref());
        match last {
            Some(Judgement::Accepted(plan)) if planted::is(Bug::LastRoundCk) => Checkpoint::At {
                round: plan.round,
                key: plan.key.clone(),
            },
            Some(_) | None => self.state.checkpoint.clone(),
        }
    }

    fn nothing_owed(&self) -> Move {
        if self.state.handshake == Handshake::Refused {
            //= spec H3
            let why = format!("the handshake was not acknowledged: {}", self.last_faults());
            return self.ask(&Trouble::new(Sign::AsIs, Code::Establish, why));
        }
        let last = self
            .state
            .last_standing()
            .and_then(|row| row.judged.as_ref());
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
            Some(Judgement::Failed { code, detail }) => {
                self.ask(&Trouble::new(Sign::AsIs, *code, detail))
            }
            Some(Judgement::Held | Judgement::NotHeld { .. } | Judgement::Accepted(_)) | None => {
                self.defect("nothing is due and nothing is done")
            }
        }
    }

    fn last_faults(&self) -> String {
        match self
            .state
            .last_standing()
            .and_then(|row| row.judged.as_ref())
        {
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
            Owed::Round(next) | Owed::Resumed(next) => *next,
            Owed::Hello | Owed::Resync | Owed::Resume | Owed::Repair { .. } => return None,
        };
        let begun = u64::from(next.0.saturating_sub(self.state.allowed.rounds));
        (begun > self.limits.rounds_max).then(|| {
            let why = format!(
                "round {next} would pass rounds_max ({})",
                self.limits.rounds_max
            );
            self.ask(&Trouble::bare(Sign::Boundary, why))
        })
    }

    /// At least the send gap since the last send, and no more than so many an
    /// hour, over all processes of the session.
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
