//! The loop's pure part: the machine, the evidence on the awaited reply and the pause
//! that was asked for. It waits for nothing and touches nothing; the loop around it
//! gives it what happened and carries out what it wants.

use protocol::{
    limits::Limits,
    page::Observation,
    record::State,
    reply::Progress,
    session::{Effect, Input, Pace, Phase, Session, Start},
    time::{Millis, SpanMs},
};

use super::watch::Watch;
use crate::sabotage::Break;

/// At least this often the loop looks about, whatever happens.
pub const LOOK_MS: SpanMs = 500;
/// A verdict that stays open is asked for again no sooner than this.
const LOOK_MS_MIN: SpanMs = 10;

/// The machine with what it needs to see.
pub struct Core {
    session: Session,
    watch: Option<Watch>,
    /// When the pause asked for is over.
    paced_at: Option<Millis>,
    limits: Limits,
    sabotage: Option<Break>,
}

/// When to wake at the latest, and what for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Due {
    /// When.
    pub at: Millis,
    /// Whether the pause that was asked for is over then.
    pub paced: bool,
}

impl Core {
    /// A machine that goes on from this state.
    pub fn new(
        now: Millis,
        state: State,
        limits: Limits,
        start: Start,
        sabotage: Option<Break>,
    ) -> Self {
        Self {
            session: Session::new(now, state, limits.clone(), start),
            watch: None,
            paced_at: None,
            limits,
            sabotage,
        }
    }

    /// The machine.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Everything durable that is true.
    pub fn state(&self) -> &State {
        self.session.state()
    }

    /// Where the machine stands.
    pub fn phase(&self) -> Phase {
        self.session.phase()
    }

    /// How far the awaited reply is, while it is not proven.
    pub fn progress(&self) -> Option<&Progress> {
        self.watch.as_ref().and_then(Watch::progress)
    }

    /// When to wake at the latest.
    pub fn due(&self, now: Millis) -> Due {
        let wakes = [
            self.session.next_wake(),
            self.watch
                .as_ref()
                .and_then(Watch::look_by)
                .map(|at| at.max(now + LOOK_MS_MIN)),
            self.paced_at,
        ];
        let look = now + LOOK_MS;
        let at = wakes.into_iter().flatten().min().unwrap_or(look).min(look);
        Due {
            at,
            paced: self.paced_at.is_some_and(|paced| paced <= at),
        }
    }

    /// Gives the machine an input.
    pub fn input(&mut self, now: Millis, input: Input) {
        self.session.handle(now, input);
    }

    /// The instant that was due came.
    pub fn woken(&mut self, now: Millis, due: Due) {
        if due.paced {
            self.paced_at = None;
            self.input(now, Input::Paced);
        } else {
            self.input(now, Input::Tick);
        }
    }

    /// Takes what the driver reports: as evidence first, then as an input.
    pub fn observed(&mut self, now: Millis, observation: Observation) {
        let seen = self
            .watch
            .as_mut()
            .and_then(|watch| watch.observe(now, &observation));
        self.input(now, Input::Observed(Box::new(observation)));
        if let Some(send) = seen {
            self.input(now, Input::RequestSeen(send));
        }
    }

    /// The verdict is asked for after everything that happened, and given to
    /// the machine when it changed.
    pub fn weigh(&mut self, now: Millis) {
        let Some((send, verdict)) = self.watch.as_mut().and_then(|watch| watch.weigh(now)) else {
            return;
        };
        tracing::debug!(%send, %verdict, "verdict");
        self.input(now, Input::Verdict(send, Box::new(verdict)));
    }

    /// The next effect that somebody else has to carry out; `pause` draws the length
    /// of a pause.
    pub fn poll_effect(
        &mut self,
        now: Millis,
        mut pause: impl FnMut(Pace) -> SpanMs,
    ) -> Option<Effect> {
        loop {
            match self.session.poll_effect()? {
                Effect::Watch { send, text, anchor } => {
                    let conversation = self.state().conversation.clone();
                    let (limits, sabotage) = (&self.limits, self.sabotage);
                    let watch = Watch::new(now, send, text, anchor, conversation, limits, sabotage);
                    self.watch = Some(watch);
                }
                Effect::Rewatch => {
                    if let Some(watch) = &mut self.watch {
                        watch.again(now);
                    }
                }
                Effect::Unwatch => self.watch = None,
                Effect::Pace(pace) => self.paced_at = Some(now + pause(pace)),
                other @ (Effect::Append(_)
                | Effect::Page(_)
                | Effect::Reattach
                | Effect::Reopen { .. }
                | Effect::Relaunch { .. }
                | Effect::Prepare(_)
                | Effect::Spawn(_)
                | Effect::LetGo
                | Effect::Adopt(_)
                | Effect::StopAgent
                | Effect::Finish(_)) => return Some(other),
            }
        }
    }
}
