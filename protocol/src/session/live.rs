//! The volatile part: what this process saw and waits for. Nothing here
//! survives a restart, and nothing that must survive one is here.

use std::collections::VecDeque;

use super::{
    ask::Decision,
    input::{AgentReport, Effect, Pace},
};
use crate::{
    outcome::Signal,
    page::{Attachment, CallFailure, CallId, Click, Epoch, Look, Loss, Reading, Refusal, TargetId},
    record::{Record, State, Stop},
    recovery::facts::Lost,
    reply::Verdict,
    send::SendKind,
    time::{Millis, Monotone, SpanMs},
};

#[derive(Debug)]
pub(super) struct Live {
    pub clock: Clock,
    pub started_at: Millis,
    /// What earlier processes of the session ran.
    pub ran_before_ms: SpanMs,
    /// The present attachment's epoch; 0 before the first.
    pub epoch: Epoch,
    pub attached: Option<Attachment>,
    /// The tab in which the last message was typed.
    pub typed_in: Option<TargetId>,
    /// When the present attachment, or the wait for one, began.
    pub attach_since: Millis,
    /// Whether anything was attached in this process.
    pub was_attached: bool,
    /// The address at which our conversation was seen last.
    pub address: Option<String>,
    /// How the last attachment ended, until the next one.
    pub loss: Option<Loss>,
    /// The last attachment ended with a renderer that has to be cured.
    pub ill: bool,
    /// The greatest loss of continuity since the last agreed discovery.
    pub gone: Lost,
    pub recovery: Recovery,
    /// What the planner decided last, until it is stored.
    pub decision: Option<Decision>,
    /// The decision that is being carried out: what it does not permit is refused.
    pub course: Option<Decision>,
    /// The control message that the planner decided to send.
    pub declares: Option<Declares>,
    /// Since when the page generates something.
    pub busy_since: Option<Millis>,
    pub look: Option<Seen>,
    pub blocked_since: Option<Millis>,
    pub dialog: Option<String>,
    /// The epoch in which a complete reading was found to agree.
    pub read_in: Option<Epoch>,
    pub reading: Option<Reading>,
    /// The reading before that one, in the same discovery.
    pub reading_before: Option<Reading>,
    /// When the last reading came.
    pub read_at: Option<Millis>,
    /// When reading the thread began, or began anew.
    pub read_since: Millis,
    pub call: Option<Call>,
    pub calls: u64,
    /// What the driver refused or failed last, until it is dealt with.
    pub trouble: Option<(Act, Trouble)>,
    pub trouble_at: Millis,
    /// Our whole text stands in the composer, read back equal in this epoch.
    pub composed: bool,
    /// A draft of ours may stand in the composer.
    pub draft: bool,
    pub submit: Submit,
    pub verdict: Option<Verdict>,
    /// Evidence of the reply to the send in flight is being gathered.
    pub watching: bool,
    /// Copies asked for since the reply last changed.
    pub copies: u32,
    /// When a look was last asked for.
    pub looked_for: Option<Millis>,
    pub pause: Pause,
    pub agent: AgentLive,
    pub sent_at: VecDeque<Millis>,
    pub intended_at: Millis,
    pub round_since: Option<Millis>,
    pub interrupt: Option<(Signal, Millis)>,
    pub held_elsewhere: Option<String>,
    /// What broke of our own.
    pub defect: Option<String>,
    pub storing: Option<Record>,
    pub finished: Option<Stop>,
    pub stale: u64,
}

/// How far the recovery of a loss has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Recovery {
    /// Nothing is lost.
    None,
    /// Something is lost, and the planner has not been asked about it.
    Due,
    /// The conversation is being found and read, as the planner decided.
    Finding,
    /// It was read and agrees; the planner says how to go on.
    Found,
}

/// A control message that takes up the session anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Declares {
    Resume,
    Resync,
}

/// A monotone clock that can also be read.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Clock(Monotone, Millis);

impl Clock {
    pub fn at(&mut self, now: Millis) {
        self.1 = self.0.at(now);
    }

    pub fn now(self) -> Millis {
        self.1
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Seen {
    pub at: Millis,
    pub look: Look,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Call {
    pub id: CallId,
    pub act: Act,
    pub deadline: Millis,
}

/// Which act a call is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    Look,
    Read,
    Compose,
    Submit,
    Clear,
    Copy,
    Other,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Trouble {
    Refused(Refusal),
    Failed(CallFailure),
}

/// The one submit of the send in flight, in this process.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Submit {
    /// Not dispatched by this process.
    None,
    /// Dispatching is stored; the click comes next.
    Due,
    /// The click is out.
    Out,
    /// The click was answered; evidence is awaited.
    Proving(Proving),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Proving {
    pub since: Millis,
    /// What the guard said; none where the call failed or came before us.
    pub click: Option<Click>,
    /// Something broke the unbroken watch that a proof of not-sent needs.
    pub broken: bool,
    /// Our own request was seen.
    pub request: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pause {
    None,
    /// A decision to recover is stored; the pause is due.
    Due(Pace),
    Asked(Pace),
    Over(Pace),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum AgentLive {
    None,
    Preparing,
    Prepared,
    Spawning,
    Ready {
        group: u32,
        kept: Option<String>,
    },
    /// Started by an earlier process; what became of it is being looked for.
    Adopting,
    Running {
        since: Millis,
    },
    Stopping {
        since: Millis,
    },
    /// A report that must be stored next.
    Reported(AgentReport),
}

impl Live {
    /// A process that begins with this much lost.
    pub fn new(now: Millis, state: &State, gone: Lost) -> Self {
        let epoch = state.epoch;
        let mut clock = Clock::default();
        clock.at(now);
        Self {
            clock,
            started_at: now,
            ran_before_ms: state.run_ms,
            epoch,
            attached: None,
            typed_in: state.target.clone(),
            attach_since: now,
            was_attached: false,
            address: None,
            loss: None,
            ill: false,
            gone,
            recovery: match gone {
                Lost::Nothing => Recovery::None,
                Lost::Link | Lost::Page | Lost::Browser | Lost::Relay | Lost::Journal => {
                    Recovery::Due
                }
            },
            decision: None,
            course: None,
            declares: None,
            busy_since: None,
            look: None,
            blocked_since: None,
            dialog: None,
            read_in: None,
            reading: None,
            reading_before: None,
            read_at: None,
            read_since: now,
            call: None,
            calls: 0,
            trouble: None,
            trouble_at: now,
            composed: false,
            draft: false,
            submit: Submit::None,
            verdict: None,
            watching: false,
            copies: 0,
            looked_for: None,
            pause: Pause::None,
            agent: AgentLive::None,
            sent_at: earlier_sends(now, state),
            intended_at: now,
            round_since: None,
            interrupt: None,
            held_elsewhere: None,
            defect: None,
            storing: None,
            finished: None,
            stale: 0,
        }
    }

    /// An effect was given out: what is awaited from here on.
    pub fn acted(&mut self, effect: &Effect) {
        match effect {
            Effect::Prepare(_) => self.agent = AgentLive::Preparing,
            Effect::Spawn(_) => self.agent = AgentLive::Spawning,
            Effect::Adopt(_) => self.agent = AgentLive::Adopting,
            Effect::StopAgent => {
                self.agent = AgentLive::Stopping {
                    since: self.clock.now(),
                }
            }
            Effect::Pace(pace) => self.pause = Pause::Asked(*pace),
            Effect::Rewatch => {
                self.pause = Pause::None;
                self.course = None;
                self.verdict = None;
                self.copies = 0;
                self.read_anew();
                let now = self.clock.now();
                self.busy_since = self.busy_since.map(|_| now);
            }
            Effect::Reattach | Effect::Reopen { .. } | Effect::Relaunch { .. } => {
                self.pause = Pause::None;
                self.loss = None;
                self.attach_since = self.clock.now();
            }
            Effect::Append(_)
            | Effect::Page(_)
            | Effect::Watch { .. }
            | Effect::Unwatch
            | Effect::LetGo => {}
            Effect::Finish(stop) => self.finished = Some(stop.clone()),
        }
    }

    pub fn intended(&mut self, message: SendKind) {
        //= spec RP5
        if message != SendKind::Repair {
            self.round_since = None;
        }
        self.intended_at = self.clock.now();
        self.composed = false;
        self.submit = Submit::None;
        self.verdict = None;
        self.copies = 0;
        self.trouble = None;
        self.declares = None;
    }

    pub fn dispatched(&mut self) {
        self.submit = Submit::Due;
        self.composed = false;
        self.sent_at.push_back(self.clock.now());
        if self.sent_at.len() > SENT_KEPT {
            self.sent_at.pop_front();
        }
        self.round_since.get_or_insert(self.clock.now());
    }

    /// A submit is proven not to have left: what may pass by itself is forgotten,
    /// so that the next attempt can be made.
    //= spec S6
    pub fn not_sent(&mut self) {
        self.submit = Submit::None;
        let passing = matches!(
            self.trouble,
            Some((
                Act::Submit,
                Trouble::Refused(
                    Refusal::Busy
                        | Refusal::NoSend
                        | Refusal::Covered { .. }
                        | Refusal::ReadBack { .. }
                        | Refusal::Stale
                )
            ))
        );
        if passing {
            self.trouble = None;
        }
    }

    pub fn judged(&mut self) {
        self.course = None;
        self.pause = Pause::None;
        self.watching = false;
        self.draft = false;
        self.submit = Submit::None;
        self.verdict = None;
        self.copies = 0;
        self.composed = false;
    }

    /// Nothing is executed any more. What the page owes, it owes from here on: a
    /// stop over the page was held back while the plan ran.
    pub fn agent_ended(&mut self) {
        self.agent = AgentLive::None;
        self.attach_since = self.clock.now();
        self.read_since = self.clock.now();
    }
}

/// When the sends of earlier processes were made, as this one's clock has it: what
/// passed between two processes is not counted, so that a pause is never shorter
/// than it must be.
//= spec S9
fn earlier_sends(now: Millis, state: &State) -> VecDeque<Millis> {
    let ago = |at: &SpanMs| state.run_ms.saturating_sub(*at);
    let sends = state.dispatched_at.iter();
    sends
        .map(|at| Millis(now.0.saturating_sub(ago(at))))
        .collect()
}

/// On top of the driver's own deadline, before an answer counts as lost.
pub(super) const CALL_SLACK_MS: SpanMs = 3_000;

/// Sends whose times are kept: the greatest hourly limit there can be.
const SENT_KEPT: usize = 1_000;
