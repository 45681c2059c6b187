//! One message on its way: composed, dispatched, clicked once, proven.

use super::{
    Session,
    ask::Trouble,
    decide::Move,
    facts::Sign,
    live::{self, Act, Proving, Submit},
};
use crate::{
    fault::Code,
    page::{Anchor, Ask, Click, Refusal},
    planted::{self, Bug},
    record::{Record, SendRow},
    send::{Located, SendEvidence, SendState, locate},
};

impl Session {
    pub(super) fn submitting(&self) -> Option<Move> {
        let row = self.state.in_flight()?;
        match row.state() {
            SendState::Sent => None,
            //= spec S6
            state if state.may_send() => Some(self.composing(row)),
            SendState::NotSent | SendState::Unknown => match &self.live.submit {
                Submit::Due => Some(self.click(row)),
                Submit::Out => Some(Move::Wait(
                    self.live.call.as_ref().map(|call| call.deadline),
                )),
                Submit::Proving(proving) => self.proving(row, proving),
                Submit::None => self.found_dispatched(row),
            },
        }
    }

    fn composing(&self, row: &SendRow) -> Move {
        if let Some((act, trouble)) = &self.live.trouble {
            // Where the page says that the anchor is not last before anything is typed,
            // no later look can say more.
            let moved = matches!(trouble, live::Trouble::Refused(Refusal::AnchorMoved { .. }));
            let untyped = moved && !self.live.draft;
            let wait = (!untyped).then(|| self.unsettled(row)).flatten();
            return wait.unwrap_or_else(|| self.troubled(*act, trouble));
        }
        if u64::from(row.attempts) >= self.limits.send_attempts_max {
            return self.not_sent(
                Sign::AsIs,
                Code::Submit,
                "every attempt was stopped before it left",
            );
        }
        if self.live.composed {
            return Move::store(Record::Dispatching {
                send: row.intent.send,
                attempt: row.attempts + 1,
            });
        }
        if let Some(wait) = self.busy() {
            return wait;
        }
        let ask = Ask::Compose {
            text: row.intent.text.clone(),
            anchor: self.anchor_for(row),
            ours: self.state.drafts(),
        };
        Move::Ask(ask, self.limits.compose_ms)
    }

    /// Typing went wrong: that the message did not leave is proven only by a look
    /// since then that shows the anchor last and the page idle. A person may have
    /// pressed Enter on what stood there.
    //= spec S4
    fn unsettled(&self, row: &SendRow) -> Option<Move> {
        let since = self.live.trouble_at;
        let seen = self.live.look.as_ref().filter(|seen| seen.at > since);
        if let Some(seen) = seen {
            let (tail, from_top) = (&seen.look.tail, seen.look.shows_top());
            match locate(tail, from_top, &row.intent.anchor, row.intent.text.as_str()) {
                Located::Ours { turn, .. } => {
                    return Some(self.outcome(SendState::Sent, SendEvidence::OwnTurn { turn }));
                }
                Located::AnchorLast if seen.look.is_idle() => return None,
                Located::Foreign { .. } if seen.look.is_idle() => return None,
                Located::AnchorLast | Located::AnchorUnseen | Located::Foreign { .. } => {}
            }
        }
        let until = since + self.limits.evidence_ms;
        Some(if self.now() < until {
            Move::Wait(Some(until))
        } else {
            self.outcome(SendState::Unknown, SendEvidence::Nothing)
        })
    }

    /// Something else is being generated: nothing of ours is in flight, so it is
    /// waited for, and not for ever.
    fn busy(&self) -> Option<Move> {
        let idle = self
            .live
            .look
            .as_ref()
            .is_some_and(|seen| seen.look.is_idle());
        let until = self.live.intended_at + self.limits.settle_ms;
        match (idle, self.now() < until) {
            (true, _) => None,
            (false, true) => Some(Move::Wait(Some(until))),
            (false, false) => Some(self.not_sent(
                Sign::AsIs,
                Code::Submit,
                "the page did not become idle in time",
            )),
        }
    }

    /// The only place that submits. The record before it was stored by asking
    /// `may_send()`, and the driver checks anchor and text once more.
    //= spec S2
    //= spec S8
    fn click(&self, row: &SendRow) -> Move {
        let ask = Ask::Submit {
            text: row.intent.text.clone(),
            anchor: self.anchor_for(row),
        };
        Move::Ask(ask, self.limits.submit_ms)
    }

    /// The anchor of the intent, and never what happens to stand last.
    //= spec S8
    fn anchor_for(&self, row: &SendRow) -> Anchor {
        if planted::is(Bug::AnchorObserved)
            && let Some(seen) = &self.live.look
        {
            let turns = seen.look.tail.iter().rev();
            let mut settled = turns.filter_map(|turn| turn.key.settled());
            return settled
                .next()
                .map_or(Anchor::Empty, |id| Anchor::After(id.clone()));
        }
        row.intent.anchor.clone()
    }

    /// What the driver said before anything could have left.
    fn troubled(&self, act: Act, trouble: &live::Trouble) -> Move {
        let refusal = match trouble {
            live::Trouble::Failed(failure) => {
                let why = format!("the message could not be typed: {failure:?}");
                return self.not_sent(Sign::AsIs, Code::Compose, &why);
            }
            live::Trouble::Refused(refusal) => refusal,
        };
        let (sign, code, why) = match refusal {
            Refusal::AlreadyThere { turn } => {
                let evidence = SendEvidence::OwnTurn { turn: turn.clone() };
                return self.outcome(SendState::Sent, evidence);
            }
            Refusal::ForeignDraft { chars } => (
                Sign::AsIs,
                Code::Draft,
                format!("somebody else's draft of {chars} characters stands in the composer"),
            ),
            Refusal::AnchorMoved { .. } => (
                Sign::Conflict,
                Code::Interference,
                "another turn came into the conversation".to_owned(),
            ),
            Refusal::OtherPlace { .. } => (
                Sign::Elsewhere,
                Code::Conversation,
                "the tab shows another conversation".to_owned(),
            ),
            Refusal::ReadBack { wanted, got, line } => (
                Sign::AsIs,
                Code::Compose,
                format!("the composer kept {got} of {wanted} characters (differs at line {line})"),
            ),
            Refusal::TooLong { max } => (
                Sign::AsIs,
                Code::Compose,
                format!("the text is over the composer's limit of {max} characters"),
            ),
            Refusal::BecameAttachment => (
                Sign::AsIs,
                Code::Compose,
                "the page turned the text into an attachment".to_owned(),
            ),
            Refusal::NoComposer => (
                Sign::AsIs,
                Code::Layout,
                "the page has no visible composer".to_owned(),
            ),
            Refusal::NoSend => (
                Sign::AsIs,
                Code::Submit,
                "the send control is missing or disabled".to_owned(),
            ),
            Refusal::Covered { by } => (
                Sign::AsIs,
                Code::Submit,
                format!("the send control is covered by {by}"),
            ),
            Refusal::Busy => (
                Sign::AsIs,
                Code::Submit,
                "the page is generating".to_owned(),
            ),
            Refusal::Blocked => (
                Sign::Blocked,
                Code::Blocker,
                "the page shows a blocker".to_owned(),
            ),
            Refusal::Layout { missing } => (
                Sign::AsIs,
                Code::Layout,
                format!("needed marks are missing: {}", missing.join(", ")),
            ),
            Refusal::NoCopy | Refusal::Stale => (
                Sign::AsIs,
                Code::Submit,
                format!("the driver refused {act:?} as {refusal:?}"),
            ),
        };
        self.not_sent(sign, code, &why)
    }

    /// The end of a send that provably did not leave: our draft is cleared.
    //= spec S9
    fn not_sent(&self, sign: Sign, code: Code, why: &str) -> Move {
        if self.live.draft {
            return Move::Ask(
                Ask::ClearDraft {
                    ours: self.state.drafts(),
                },
                self.limits.call_ms,
            );
        }
        match code.about().row {
            Some(_) => self.ask(&Trouble::new(sign, code, why)),
            None => self.fail(code, why),
        }
    }

    fn proving(&self, row: &SendRow, proving: &Proving) -> Option<Move> {
        let found = self.found(row);
        if let Some(Located::Ours { .. }) = found {
            return self.own_turn(row);
        }
        if proving.request {
            return Some(self.outcome(SendState::Sent, SendEvidence::OwnRequest));
        }
        // That there was no click is known of the click itself, whatever else stands in
        // the thread meanwhile.
        if row.outcome.is_none() {
            if let Some((Act::Submit, live::Trouble::Refused(refusal))) = &self.live.trouble {
                return Some(self.refused_before_click(refusal));
            }
            if let Some(Click::Stopped { hit }) = &proving.click {
                let evidence = SendEvidence::GuardStopped { hit: hit.clone() };
                return Some(self.outcome(SendState::NotSent, evidence));
            }
        }
        if let Some(foreign) = self.own_turn(row) {
            return Some(foreign);
        }
        if row.outcome.is_some() {
            // Recorded unknown: from here on the reply's wait carries it.
            return None;
        }
        let until = proving.since + self.limits.settle_ms;
        if self.now() < until {
            return Some(Move::Wait(Some(until)));
        }
        Some(if self.composer_kept(row, proving) {
            self.outcome(SendState::NotSent, SendEvidence::ComposerKeptText)
        } else {
            self.outcome(SendState::Unknown, SendEvidence::Nothing)
        })
    }

    fn refused_before_click(&self, refusal: &Refusal) -> Move {
        match refusal {
            Refusal::AlreadyThere { turn } => self.outcome(
                SendState::Sent,
                SendEvidence::OwnTurn { turn: turn.clone() },
            ),
            Refusal::Stale
            | Refusal::ForeignDraft { .. }
            | Refusal::AnchorMoved { .. }
            | Refusal::OtherPlace { .. }
            | Refusal::Busy
            | Refusal::NoComposer
            | Refusal::ReadBack { .. }
            | Refusal::TooLong { .. }
            | Refusal::BecameAttachment
            | Refusal::NoSend
            | Refusal::Covered { .. }
            | Refusal::NoCopy
            | Refusal::Blocked
            | Refusal::Layout { .. } => {
                let why = format!("{refusal:?}");
                self.outcome(SendState::NotSent, SendEvidence::RefusedBeforeClick { why })
            }
        }
    }

    /// A send dispatched by an earlier process, or whose click is lost: it is
    /// looked for and never clicked again.
    //= spec S5
    //= spec W13
    fn found_dispatched(&self, row: &SendRow) -> Option<Move> {
        if let Some(found) = self.own_turn(row) {
            return Some(found);
        }
        if row.outcome.is_some() {
            return None;
        }
        let draft = self
            .live
            .look
            .as_ref()
            .map(|seen| &seen.look.composer.draft.head);
        if planted::is(Bug::DraftIsNotSent) && draft == Some(&row.intent.text) {
            return Some(self.outcome(SendState::NotSent, SendEvidence::ComposerKeptText));
        }
        let until = self.live.attach_since + self.limits.settle_ms;
        Some(if self.now() < until {
            Move::Wait(Some(until))
        } else {
            self.outcome(SendState::Unknown, SendEvidence::Nothing)
        })
    }

    /// Our own whole text right after the anchor, in the newest look.
    //= spec S3
    fn own_turn(&self, row: &SendRow) -> Option<Move> {
        match self.found(row)? {
            Located::Ours { turn, .. } => {
                Some(self.outcome(SendState::Sent, SendEvidence::OwnTurn { turn }))
            }
            Located::Foreign { .. } if row.outcome.is_none() => {
                Some(self.outcome(SendState::Unknown, SendEvidence::Nothing))
            }
            Located::Foreign { .. } => {
                let why = "something else stands where our message belongs";
                Some(self.ask(&Trouble::new(Sign::Conflict, Code::Interference, why)))
            }
            Located::AnchorLast | Located::AnchorUnseen => None,
        }
    }

    /// What stands right after the anchor, in the newest look.
    fn found(&self, row: &SendRow) -> Option<Located> {
        let look = &self.live.look.as_ref()?.look;
        let (anchor, text) = (&row.intent.anchor, row.intent.text.as_str());
        Some(locate(&look.tail, look.shows_top(), anchor, text))
    }

    /// The one proof of not-sent that time takes part in, and never alone: the
    /// click returned, nothing left, and our whole text still stands there,
    /// watched without a break. A draft longer than what a look carries cannot
    /// be proven whole and stays unknown **(ours)**.
    //= spec S4
    fn composer_kept(&self, row: &SendRow, proving: &Proving) -> bool {
        if planted::is(Bug::TimeoutIsNotSent) {
            return true;
        }
        let Some(seen) = &self.live.look else {
            return false;
        };
        let draft = &seen.look.composer.draft;
        let text = row.intent.text.as_str();
        let returned = match proving.click {
            Some(Click::Passed | Click::Silent) => true,
            Some(Click::Stopped { .. }) | None => false,
        };
        returned
            && !proving.broken
            && !proving.request
            && self.now().since(seen.at) <= crate::limits::COVERAGE_GAP_MS
            && draft.head.chars() as u64 == u64::from(draft.chars)
            && draft.head.as_str() == text
    }

    pub(super) fn outcome(&self, state: SendState, evidence: SendEvidence) -> Move {
        match self.state.in_flight() {
            Some(row) => Move::store(Record::Outcome {
                send: row.intent.send,
                state,
                evidence,
            }),
            None => Move::Wait(None),
        }
    }
}
