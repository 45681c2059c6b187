//! The tab is found: at the start, and again after each loss.

use super::{
    Session,
    ask::Trouble,
    decide::Move,
    facts::Sign,
    input::{BrowserBy, Effect, Pace},
    live::{Pause, Recovery},
};
use crate::{fault::Code, page::Loss, recovery::facts::Lost};

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

    /// No attachment came about in this process at all, or a person's own browser went
    /// before anything was dispatched: the surroundings are not as needed, and nothing
    /// stalled.
    fn never_began(&self) -> Option<Move> {
        match self.live.loss.as_ref()? {
            Loss::NeverAttached { code, detail } if !self.live.was_attached => {
                Some(self.fail(code.parse().unwrap_or(Code::NoBrowser), detail))
            }
            Loss::BrowserGone { .. }
                if self.start.browser == BrowserBy::Person && self.is_untouched() =>
            {
                Some(self.fail(Code::NoBrowser, self.loss_trouble().why))
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

    /// Where the conversation is. Before anything was dispatched any fresh chat is
    /// as good as the first.
    pub(super) fn home(&self) -> Option<String> {
        match &self.state.conversation {
            Some(_) => self.live.address.clone(),
            None if self.is_untouched() => {
                self.state.opened.as_ref().map(|opened| opened.chat.clone())
            }
            None => None,
        }
    }

    /// Nothing was ever dispatched.
    fn is_untouched(&self) -> bool {
        !self.state.sends.iter().any(|row| row.attempts > 0)
    }

    /// How the driver gets an attachment again after this loss.
    fn cure(&self, loss: &Loss) -> Effect {
        let address = self.home();
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
