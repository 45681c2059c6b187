//! Bugs put in on purpose, to see that the simulator's checkers find them.
//!
//! Only with the feature `planted`, which no normal build has: without it every
//! question here is answered `false` while compiling, and nothing of it is left.

macro_rules! bugs {
    ($($(#[doc = $doc:literal])* $name:ident = $word:literal;)+) => {
        /// A bug that can be put in.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Bug {
            $($(#[doc = $doc])* $name,)+
        }

        impl Bug {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$name),+];

            /// Its name.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => $word,)+ }
            }
        }
    };
}

bugs! {
    /// A send of which it is not known whether it left is made again.
    ResendOnUnknown = "resend-on-unknown";
    /// A submit without evidence in time counts as not sent.
    TimeoutIsNotSent = "timeout-is-not-sent";
    /// Our text in the composer after a restart counts as not sent.
    DraftIsNotSent = "draft-is-not-sent";
    /// The driver is given the turn that stands last, not the one expected there.
    AnchorObserved = "anchor-observed";
    /// A message is ours that has our FRAME, whatever else it says.
    FrameOnly = "frame-only";
    /// A reply is whole when the stop control goes.
    StopGone = "stop-gone";
    /// A reply is whole at the stream's end, whatever the page shows.
    DoneAlone = "done-alone";
    /// What an older attachment says counts.
    IgnoreEpoch = "ignore-epoch";
    /// What stands in the composer is not read back.
    NoReadBack = "no-read-back";
    /// The checkpoint moves when a plan is started.
    CheckpointEarly = "checkpoint-early";
    /// A RESUME names the last round sent as its checkpoint.
    LastRoundCk = "last-round-ck";
    /// The plan of a void send stays accepted.
    VoidPlan = "void-plan";
    /// A plan that says `done` is carried out.
    DoneStarted = "done-started";
    /// A reply that was not captured whole is answered with a REPAIR.
    RepairOnCapture = "repair-on-capture";
    /// A plan that was started before a restart is started once more.
    StartedAgain = "started-again";
    /// A restart gives every budget back.
    BudgetsReset = "budgets-reset";
    /// A restart forgets the stop that stands.
    StopForgotten = "stop-forgotten";
}

#[cfg(feature = "planted")]
mod switch {
    use std::cell::Cell;

    use super::Bug;

    thread_local! {
        static PLANTED: Cell<Option<Bug>> = const { Cell::new(None) };
    }

    /// Puts a bug in, in this thread alone; none takes it out.
    pub fn plant(bug: Option<Bug>) {
        PLANTED.set(bug);
    }

    /// Whether this bug is in.
    pub fn is(bug: Bug) -> bool {
        PLANTED.get() == Some(bug)
    }
}

#[cfg(feature = "planted")]
pub use switch::{is, plant};

/// Whether this bug is in: never in a normal build.
#[cfg(not(feature = "planted"))]
pub const fn is(_: Bug) -> bool {
    false
}
