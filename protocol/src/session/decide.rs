//! What to do next, as a pure function of the fold, the live part and the clock.
//!
//! The order below is the order of the house: an end before anything else, a
//! running plan before the page, the page before the thread, the thread before
//! a send, a send before its reply, and only then what is owed.

use super::{
    Session,
    input::{Effect, Pace},
    live::{AgentLive, Call, Pause, Submit},
    stop_of,
};
use crate::{
    fault::Code,
    outcome::Outcome,
    page::{Ask, BlockerKind, Loss, Place},
    record::{Cost, PlanStage, Record, Stop},
    recovery::RowId,
    send::SendState,
    time::{Millis, SpanMs},
};

/// One move of the machine.
#[derive(Debug, Clone, PartialEq)]
pub enum Move {
    /// Nothing to do before the next input or this instant.
    Wait(Option<Millis>),
    /// Store a record.
    Store(Box<Record>),
    /// Store a stop; the run ends with it.
    Stop(Stop),
    /// Ask the driver, awaiting its answer for this span.
    Ask(Ask, SpanMs),
    /// Give out any other effect.
    Act(Effect),
}

impl Move {
    pub(super) fn store(record: Record) -> Self {
        Self::Store(Box::new(record))
    }

    /// A stop under a code, with the code's own outcome and row.
    pub(super) fn fail(code: Code, why: impl AsRef<str>) -> Self {
        let about = code.about();
        Self::Stop(Stop {
            row: about.row,
            ..stop_of(about.outcome, Some(code), why.as_ref())
        })
    }

    /// A stop at a row of the table.
    pub(super) fn row(row: RowId, code: Code, why: impl AsRef<str>) -> Self {
        let stop = stop_of(Outcome::Manual, Some(code), why.as_ref());
        Self::Stop(Stop {
            row: Some(row),
            ..stop
        })
    }
}

impl Session {
    /// The next move.
    pub(super) fn decide(&self) -> Move {
        self.ending()
            .or_else(|| self.holding())
            .or_else(|| self.answering())
            .or_else(|| self.attaching())
            .or_else(|| self.guarding())
            .or_else(|| self.discovering())
            .or_else(|| self.starting())
            .or_else(|| self.submitting())
            .or_else(|| self.waiting())
            .unwrap_or_else(|| self.owing())
    }

    /// What an end would have to say: the worst of `outcome` and what is open.
    pub(super) fn truth(&self, outcome: Outcome) -> Outcome {
        let unknown = self
            .state
            .in_flight()
            .is_some_and(|row| row.state() == SendState::Unknown);
        let ran = self
            .state
            .plan
            .as_ref()
            .is_some_and(|plan| plan.stage != PlanStage::Accepted);
        let all = [
            Some(outcome),
            unknown.then_some(Outcome::Unknown),
            ran.then_some(Outcome::Manual),
        ];
        Outcome::worst(all.into_iter().flatten()).unwrap_or(outcome)
    }

    fn ending(&self) -> Option<Move> {
        if let Some(by) = &self.live.held_elsewhere {
            let stop = stop_of(Outcome::Locked, Some(Code::Locked), by);
            return Some(Move::Stop(stop));
        }
        if let Some(stop) = self.state.standing_stop() {
            //= spec RP7
            let stop = Stop {
                row: Some(RowId::R14),
                ..stop.clone()
            };
            return Some(Move::Act(Effect::Finish(stop)));
        }
        if let Some((round, _)) = &self.state.terminal {
            let why = format!("the remote declared the goal reached in round {round}");
            return Some(Move::Stop(stop_of(Outcome::Done, None, &why)));
        }
        self.live
            .interrupt
            .map(|(_, since)| self.interrupted(since))
            .unwrap_or(None)
    }

    //= spec RP5
    fn interrupted(&self, since: Millis) -> Option<Move> {
        match &self.live.agent {
            // A plan of an earlier process is looked for first: its agent may live.
            AgentLive::None if self.is_to_be_adopted() => return None,
            AgentLive::Adopting => return None,
            AgentLive::None | AgentLive::Prepared => {}
            AgentLive::Preparing
            | AgentLive::Spawning
            | AgentLive::Ready { .. }
            | AgentLive::Running { .. } => return Some(Move::Act(Effect::StopAgent)),
            // What the agent reports is stored first.
            AgentLive::Stopping { .. } | AgentLive::Reported(_) => return None,
        }
        let until = since + crate::limits::STOP_MS;
        let open = match self.live.submit {
            Submit::Out | Submit::Proving(_) => self
                .state
                .in_flight()
                .is_some_and(|row| row.outcome.is_none()),
            Submit::None | Submit::Due => false,
        };
        if open && self.now() < until && self.live.attached.is_some() {
            return None;
        }
        let unsent = self.live.draft
            && self
                .state
                .in_flight()
                .is_some_and(|row| row.state() == SendState::NotSent);
        if unsent && self.live.attached.is_some() && self.now() < until {
            return Some(match &self.live.call {
                Some(call) => Move::Wait(Some(call.deadline.min(until))),
                None => Move::Ask(
                    Ask::ClearDraft {
                        ours: self.state.drafts(),
                    },
                    self.limits.call_ms,
                ),
            });
        }
        let outcome = self.truth(Outcome::Interrupted);
        let why = if outcome == Outcome::Unknown {
            "the run was asked to end while a submit was unproven"
        } else {
            "the run was asked to end, by a signal or the stop file"
        };
        Some(Move::Stop(Stop {
            interrupted: true,
            ..stop_of(outcome, None, why)
        }))
    }

    /// While a call is out, its answer comes first.
    fn answering(&self) -> Option<Move> {
        self.live
            .call
            .as_ref()
            .map(|call: &Call| Move::Wait(Some(call.deadline)))
    }

    fn attaching(&self) -> Option<Move> {
        match (&self.live.pause, &self.live.lost) {
            (Pause::Due(pace @ Pace::Reattach { .. }), _) => {
                return Some(Move::Act(Effect::Pace(*pace)));
            }
            (Pause::Asked(Pace::Reattach { .. }), _) => return Some(Move::Wait(None)),
            (Pause::Over(Pace::Reattach { .. }), _) => return Some(Move::Act(Effect::Reattach)),
            (_, Some(loss)) => return Some(self.lost(loss)),
            (_, None) => {}
        }
        if self.live.attached.is_some() {
            return None;
        }
        let until = self.live.attach_since + self.limits.attach_ms;
        Some(if self.now() < until {
            Move::Wait(Some(until))
        } else {
            Move::fail(Code::NoTab, "the driver did not attach to a tab in time")
        })
    }

    fn lost(&self, loss: &Loss) -> Move {
        match loss {
            Loss::NeverAttached { code, detail } => {
                Move::fail(code.parse().unwrap_or(Code::NoBrowser), detail)
            }
            // The document changed under a living session: the driver re-arms
            // by itself and reports the new epoch.
            Loss::Document => {
                let until = self.live.attach_since + self.limits.attach_ms;
                if self.now() < until {
                    Move::Wait(Some(until))
                } else {
                    Move::row(
                        RowId::R0,
                        Code::TabGone,
                        "the page went away and did not come back",
                    )
                }
            }
            Loss::Link { .. } | Loss::Detached => self.reattach(),
            Loss::TabClosed => Move::row(RowId::R0, Code::TabGone, "the tab was closed"),
            Loss::RendererCrashed => {
                Move::row(RowId::R0, Code::Renderer, "the page's renderer crashed")
            }
            Loss::RendererHung => Move::row(
                RowId::R0,
                Code::Renderer,
                "the page's renderer answers nothing",
            ),
            Loss::BrowserGone { detail } => {
                let why = format!("the browser is gone: {detail}");
                if self.state.sends.iter().all(|row| row.attempts == 0) {
                    // Nothing was ever sent: there is nothing to decide.
                    return Move::fail(Code::NoBrowser, why);
                }
                Move::row(RowId::R5, Code::NoBrowser, why)
            }
        }
        .worst_of(self)
    }

    fn reattach(&self) -> Move {
        let nth = self.state.budgets.spent(Cost::Reattach);
        //= spec RP4
        let spent = u64::from(nth) >= self.limits.reattach_max
            || u64::from(self.state.budgets.total()) >= self.limits.recoveries_max;
        if spent {
            let why = "the link dropped and every re-attachment is spent";
            return Move::row(RowId::R13, Code::NoBrowser, why);
        }
        match self.live.pause {
            Pause::None | Pause::Over(_) => Move::store(Record::Decided {
                row: RowId::R3,
                facts: "lost=link".to_owned(),
                action: "re-attach".to_owned(),
                cost: Some(Cost::Reattach),
            }),
            Pause::Due(pace) => Move::Act(Effect::Pace(pace)),
            Pause::Asked(_) => Move::Wait(None),
        }
    }

    fn guarding(&self) -> Option<Move> {
        if let Some(kind) = &self.live.dialog {
            let why = format!("a JavaScript dialog ({kind}) stands open in the tab");
            return Some(Move::row(RowId::R0, Code::Dialog, why).worst_of(self));
        }
        let seen = self.live.look.as_ref()?;
        // A click that is out is proven or not before the blocker stops the run.
        if self.proves_yet() {
            return None;
        }
        if let (Some(since), Some(blocker)) = (self.live.blocked_since, seen.look.blockers.first())
        {
            //= spec RP1
            let until = since + self.limits.bar_debounce_ms;
            if self.now() < until {
                return Some(Move::Wait(Some(until)));
            }
            let what = match blocker.kind {
                BlockerKind::Challenge => "the page shows a challenge that wants a person",
                BlockerKind::LoggedOut => "nobody is logged in",
                BlockerKind::RateLimit => "the page says that requests are limited",
                BlockerKind::Account => "the account wants a person's decision",
            };
            let why = format!("{what} ({})", blocker.mark);
            return Some(Move::fail(Code::Blocker, why).worst_of(self));
        }
        self.elsewhere(&seen.look.place)
    }

    /// Within the evidence span after a click whose outcome is not recorded.
    fn proves_yet(&self) -> bool {
        let open = self
            .state
            .in_flight()
            .is_some_and(|row| row.outcome.is_none());
        match &self.live.submit {
            Submit::Out => open,
            Submit::Proving(proving) => {
                open && self.now() < proving.since + self.limits.evidence_ms
            }
            Submit::None | Submit::Due => false,
        }
    }

    //= spec C6
    //= spec RP8
    fn elsewhere(&self, place: &Place) -> Option<Move> {
        let why = match (&self.state.conversation, place) {
            (Some(ours), Place::Conversation(shown)) if ours == shown => return None,
            (Some(_), Place::Conversation(_)) => "the tab shows another conversation",
            (Some(_), Place::Fresh | Place::Elsewhere) => "the tab left the conversation",
            (Some(_), Place::Transient(_))
            | (None, Place::Fresh | Place::Transient(_) | Place::Conversation(_)) => return None,
            (None, Place::Elsewhere) => "the tab shows no chat",
        };
        Some(Move::row(RowId::R0, Code::Conversation, why).worst_of(self))
    }
}

impl Move {
    /// A stop says the worst that is true of the session.
    pub(super) fn worst_of(self, session: &Session) -> Self {
        match self {
            Self::Stop(stop) => {
                let outcome = session.truth(stop.outcome);
                let standing = stop.standing || super::is_standing(outcome);
                Self::Stop(Stop {
                    outcome,
                    standing,
                    ..stop
                })
            }
            Self::Wait(_) | Self::Store(_) | Self::Ask(..) | Self::Act(_) => self,
        }
    }
}
