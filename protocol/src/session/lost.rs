//! What is lost, and how far its recovery has come: the live part's own bookkeeping.

use super::{
    ask::Decision,
    input::Pace,
    live::{Act, Declares, Live, Pause, Recovery, Submit, Trouble},
};
use crate::{
    page::{AttachCause, Attachment, CallFailure, Epoch, Loss},
    recovery::{
        Action,
        facts::{Chain, Lost},
    },
};

impl Live {
    /// A decision to recover is stored: from here on it is carried out. `nth`
    /// counts what its budget paid for before.
    pub fn decided(&mut self, decision: &Decision, nth: u32) {
        let facts = &decision.facts;
        self.course = Some(*decision);
        match decision.action {
            Action::Discover | Action::Reattach => {
                self.recovery = Recovery::Finding;
                if self.loss.is_some() {
                    self.pause = Pause::Due(Pace::Reattach { nth });
                }
            }
            // After a loss the reply is only awaited again; after a failed wait
            // it is given time.
            Action::Read | Action::ReadAgain
                if facts.lost != Lost::Nothing && facts.chain == Chain::Agrees =>
            {
                self.recovered();
            }
            Action::Read | Action::ReadAgain | Action::WaitIdle => {
                self.pause = Pause::Due(Pace::Read { nth });
            }
            Action::Execute | Action::SendAgain | Action::SendOwed => self.recovered(),
            Action::Resume => {
                self.recovered();
                self.declares = Some(Declares::Resume);
            }
            Action::Resync => {
                self.recovered();
                self.declares = Some(Declares::Resync);
            }
            Action::Throw | Action::Stop | Action::GiveUp | Action::Hold => {}
        }
    }

    /// What was lost is found again: the ordinary path goes on.
    fn recovered(&mut self) {
        self.gone = Lost::Nothing;
        self.recovery = Recovery::None;
    }

    /// The thread was read whole and agrees.
    pub fn agreed(&mut self, epoch: Epoch) {
        self.read_in = Some(epoch);
        self.course = None;
        self.reading_before = None;
        // What was being typed when the page was lost did not leave: this reading, in
        // an epoch of its own, shows the anchor last. It is typed anew.
        //= spec S4
        if matches!(self.trouble, Some((Act::Compose, Trouble::Failed(_)))) {
            self.trouble = None;
        }
        if matches!(
            self.pause,
            Pause::Due(Pace::Read { .. }) | Pause::Asked(Pace::Read { .. })
        ) {
            self.pause = Pause::None;
        }
        match self.gone {
            //= spec R3
            //= spec R4
            Lost::Nothing | Lost::Link | Lost::Page => self.recovered(),
            Lost::Browser | Lost::Relay | Lost::Journal => self.recovery = Recovery::Found,
        }
    }

    /// A new attachment: everything seen before it is of an older epoch.
    pub fn attach(&mut self, epoch: Epoch, attachment: Attachment) {
        self.lost(match attachment.cause {
            AttachCause::First => Lost::Nothing,
            AttachCause::Link => Lost::Link,
            AttachCause::Document | AttachCause::Renderer => Lost::Page,
            AttachCause::Browser => Lost::Browser,
        });
        self.epoch = epoch;
        self.attached = Some(attachment);
        self.was_attached = true;
        self.ill = false;
        self.attach_since = self.clock.now();
        self.loss = None;
        self.fresh_page();
    }

    /// Something of this size is lost; the planner is asked unless it has been.
    fn lost(&mut self, lost: Lost) {
        self.gone = self.gone.max(lost);
        if lost != Lost::Nothing && matches!(self.recovery, Recovery::None | Recovery::Found) {
            self.recovery = Recovery::Due;
        }
    }

    pub fn lose(&mut self, loss: Loss) {
        let lost = match &loss {
            Loss::Link { .. } | Loss::Detached => Lost::Link,
            Loss::Document | Loss::TabClosed | Loss::RendererCrashed | Loss::RendererHung => {
                Lost::Page
            }
            Loss::BrowserGone { .. } => Lost::Browser,
            Loss::NeverAttached { .. } if self.was_attached => Lost::Link,
            Loss::NeverAttached { .. } => Lost::Nothing,
        };
        self.lost(lost);
        if lost != Lost::Nothing {
            self.recovery = Recovery::Due;
        }
        self.ill = match &loss {
            Loss::RendererCrashed | Loss::RendererHung => true,
            Loss::NeverAttached { .. } => self.ill,
            Loss::Link { .. }
            | Loss::Detached
            | Loss::Document
            | Loss::TabClosed
            | Loss::BrowserGone { .. } => false,
        };
        self.attached = None;
        self.attach_since = self.clock.now();
        self.loss = Some(loss);
        self.pause = Pause::None;
        self.fresh_page();
    }

    /// Reading the thread begins anew.
    pub fn read_anew(&mut self) {
        self.read_since = self.clock.now();
        self.reading = None;
        self.reading_before = None;
        self.read_at = None;
    }

    fn fresh_page(&mut self) {
        self.look = None;
        self.blocked_since = None;
        self.busy_since = None;
        self.dialog = None;
        self.read_anew();
        self.read_in = None;
        self.composed = false;
        if let Some(call) = self.call.take() {
            self.fail(call.act, CallFailure::Lost);
        }
        match &mut self.submit {
            Submit::None | Submit::Due => {}
            Submit::Out => self.prove(None),
            Submit::Proving(proving) => proving.broken = true,
        }
        self.verdict = None;
        self.copies = 0;
    }
}
