//! The tab is found: at the start, and again after each loss.

use super::{
    Session,
    ask::Trouble,
    decide::Move,
    facts::Sign,
    input::{Effect, Pace},
    live::{Pause, Recovery},
};
use crate::{fault::Code, page::Loss, record::SendRow, recovery::facts::Lost};

impl Session {
    /// The planner is asked for every loss before anything is done about it.
    pub(super) fn attaching(&self) -> Option<Move> {
        if let Some(end) = self.never_began() {
            return Some(end);
        }
        match self.live.recovery {
            Recovery::Due => return Some(self.ask(&self.loss_trouble())),
            Recovery::Finding => {
                if let Some(next) = self.finding() {
                    return Some(next);
                }
            }
            Recovery::None | Recovery::Found => {}
        }
        if self.live.attached.is_some() {
            return None;
        }
        let until = self.live.attach_since + self.limits.attach_ms;
        if self.now() < until {
            return Some(Move::Wait(Some(until)));
        }
        if self.live.loss == Some(Loss::Document) {
            let why = "the page went away and did not come back";
            return Some(self.ask(&Trouble::new(Sign::Gone, Code::TabGone, why)));
        }
        let why = "the driver did not attach to a tab in time";
        Some(self.fail(Code::NoTab, why))
    }

    /// No attachment came about in this process at all, or the browser went before
    /// anything was sent: the surroundings are not as needed, and nothing stalled.
    fn never_began(&self) -> Option<Move> {
        match self.live.loss.as_ref()? {
            Loss::NeverAttached { code, detail } if !self.live.was_attached => {
                Some(self.fail(code.parse().unwrap_or(Code::NoBrowser), detail))
            }
            Loss::BrowserGone { .. } if !self.state.sends.iter().any(was_dispatched) => {
                let trouble = self.loss_trouble();
                Some(self.fail(Code::NoBrowser, trouble.why))
            }
            Loss::NeverAttached { .. }
            | Loss::BrowserGone { .. }
            | Loss::Link { .. }
            | Loss::Document
            | Loss::Detached
            | Loss::TabClosed
            | Loss::RendererCrashed
            | Loss::RendererHung => None,
        }
    }

    /// What the driver has to be asked for, so that there is something to read.
    fn finding(&self) -> Option<Move> {
        let loss = self.live.loss.as_ref()?;
        match (loss, self.live.pause) {
            // The driver comes back by itself, in a new epoch.
            (Loss::Document, _) => None,
            (_, Pause::Due(pace @ Pace::Reattach { .. })) => Some(Move::Act(Effect::Pace(pace))),
            (_, Pause::Asked(Pace::Reattach { .. })) => Some(Move::Wait(None)),
            (loss, Pause::None | Pause::Due(_) | Pause::Asked(_) | Pause::Over(_)) => {
                Some(Move::Act(self.cure(loss)))
            }
        }
    }

    /// How the driver gets an attachment again after this loss.
    fn cure(&self, loss: &Loss) -> Effect {
        let address = self.live.address.clone();
        let browser = self.live.gone == Lost::Browser;
        match (loss, address) {
            (Loss::TabClosed, Some(address)) => Effect::Reopen { address },
            (Loss::BrowserGone { .. }, Some(address)) => Effect::Relaunch { address },
            (Loss::NeverAttached { .. }, Some(address)) if browser => Effect::Relaunch { address },
            (
                Loss::TabClosed
                | Loss::BrowserGone { .. }
                | Loss::NeverAttached { .. }
                | Loss::Link { .. }
                | Loss::Document
                | Loss::Detached
                | Loss::RendererCrashed
                | Loss::RendererHung,
                _,
            ) => Effect::Reattach,
        }
    }
}

fn was_dispatched(row: &SendRow) -> bool {
    row.attempts > 0
}
