//! What must not stand in the page: a dialog, a blocker, another place.

use super::{Session, ask::Trouble, decide::Move, facts::Sign, live::Submit};
use crate::{
    fault::Code,
    page::{BlockerKind, Place},
};

impl Session {
    pub(super) fn guarding(&self) -> Option<Move> {
        if let Some(kind) = self.live.dialog.as_ref().filter(|_| !self.proves_yet()) {
            let why = format!("a JavaScript dialog ({kind}) stands open in the tab");
            return Some(self.ask(&Trouble::new(Sign::AsIs, Code::Dialog, why)));
        }
        let seen = self.live.look.as_ref()?;
        // Another place proves nothing of a click that is out.
        if let Some(why) = self.is_elsewhere(&seen.look.place) {
            return Some(self.ask(&Trouble::new(Sign::Elsewhere, Code::Conversation, why)));
        }
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
            return Some(self.ask(&Trouble::new(Sign::Blocked, Code::Blocker, why)));
        }
        None
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

    /// Why this is not the place of the session, if it is not.
    //= spec C6
    //= spec RP8
    pub(super) fn is_elsewhere(&self, place: &Place) -> Option<&'static str> {
        match (&self.state.conversation, place) {
            (Some(ours), Place::Conversation(shown)) if ours == shown => None,
            (Some(_), Place::Conversation(_)) => Some("the tab shows another conversation"),
            (Some(_), Place::Fresh | Place::Elsewhere) => Some("the tab left the conversation"),
            (Some(_), Place::Transient(_))
            | (None, Place::Fresh | Place::Transient(_) | Place::Conversation(_)) => None,
            (None, Place::Elsewhere) => Some("the tab shows no chat"),
        }
    }
}
