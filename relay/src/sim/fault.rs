//! What can go wrong in a simulated world: one exhaustive enum. What the page and its
//! server do wrong is named by `fixtures`; the rest happens to relay, disk, link, agent
//! and person, which the stand-in knows nothing of.

use std::{fmt, str::FromStr};

use fixtures::{
    fault::FaultKind,
    step::{Message, Phase, Step},
};

macro_rules! own {
    ($($(#[doc = $doc:literal])* $name:ident = $word:literal, [$($phase:ident),+];)+) => {
        /// What goes wrong outside of page and server.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Own {
            $($(#[doc = $doc])* $name,)+
        }

        impl Own {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$name),+];

            /// The name on the command line.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => $word,)+ }
            }

            /// The phases at which it can happen.
            #[must_use]
            pub const fn phases(self) -> &'static [Phase] {
                match self { $(Self::$name => &[$(Phase::$phase),+],)+ }
            }
        }
    };
}

own! {
    /// The relay's process is killed.
    Kill = "kill", [Composing, Submitting, Accepted, Thinking, Streaming, Finishing, Settled];
    /// The link to the browser drops.
    Link = "link-drops", [Load, Composing, Submitting, Accepted, Thinking, Streaming, Finishing, Settled];
    /// The browser lets go of the tab's session.
    Detached = "detached", [Composing, Submitting, Streaming];
    /// The browser is gone.
    Browser = "browser-dies", [Composing, Submitting, Accepted, Thinking, Streaming, Finishing, Settled];
    /// Somebody closes the tab.
    TabClosed = "tab-closed", [Composing, Submitting, Streaming, Settled];
    /// The page's renderer crashes.
    Crash = "renderer-crashes", [Composing, Submitting, Streaming, Settled];
    /// A command's answer never comes, though the command was carried out.
    AnswerLost = "answer-lost", [Load, Composing, Submitting, Finishing];
    /// What an older attachment said comes late.
    Stale = "stale-observation", [Streaming, Settled];
    /// An observation does not parse.
    Malformed = "malformed", [Composing, Submitting, Streaming, Finishing];
    /// A heartbeat is missed and the next one is not.
    BeatMissed = "beat-missed", [Composing, Submitting, Streaming];
    /// The disk reports an error; whether the record is there nobody knows.
    DiskEio = "disk-eio", [Composing, Submitting, Accepted, Settled];
    /// The disk is full: the record is not there.
    DiskFull = "disk-full", [Composing, Submitting, Accepted, Settled];
    /// Power goes while a record is written: its end is missing.
    TornTail = "torn-tail", [Composing, Submitting, Accepted, Settled];
    /// Another relay takes the journal over.
    Fenced = "fenced", [Composing, Submitting, Settled];
    /// The plan's commands fail: settled all the same.
    AgentFails = "agent-fails", [Settled];
    /// The wrapper cannot be spawned.
    AgentNever = "agent-never-starts", [Settled];
    /// The wrapper dies between started and settled, without a record of its end.
    AgentDies = "agent-dies", [Settled];
    /// The plan never ends.
    AgentHangs = "agent-hangs", [Settled];
    /// The relay is killed while the plan runs, and its wrapper goes on.
    AgentOutlives = "agent-outlives", [Settled];
    /// The relay is killed while the plan runs, and its wrapper with it.
    AgentKilledToo = "agent-killed-too", [Settled];
    /// Nobody answers whether the plan may run.
    AskExpires = "ask-expires", [Settled];
    /// A person types into our composer.
    PersonTypes = "person-types", [Composing, Settled];
    /// A person edits the draft that we typed.
    PersonEdits = "person-edits", [Composing];
    /// A person sends a message of their own that quotes our FRAME.
    PersonQuotes = "person-quotes", [Settled, Streaming];
    /// A signal asks for the end.
    Signal = "signal", [Composing, Submitting, Accepted, Thinking, Streaming, Settled];
    /// The remote's acknowledgement names another contract.
    BadAck = "bad-ack", [Accepted];
    /// The remote speaks outside the block.
    Prose = "prose-outside", [Accepted];
    /// The remote answers with two blocks.
    TwoBlocks = "two-blocks", [Accepted];
    /// The remote's FRAME names another round.
    BadFrame = "bad-frame", [Accepted];
    /// A section of the plan is missing.
    NoSection = "missing-section", [Accepted];
    /// The remote answers with prose alone.
    ProseOnly = "prose-only", [Accepted];
    /// The remote answers HELLO or RESUME with a plan.
    PlanEarly = "plan-early", [Accepted];
    /// The remote repeats its last plan to the letter.
    PlanAgain = "plan-again", [Accepted];
    /// The remote is blocked.
    Blocked = "blocked", [Accepted];
    /// The remote thinks for half an hour.
    ThinksLong = "thinks-long", [Accepted];
    /// The remote leaves its fence open.
    OpenFence = "open-fence", [Accepted];
}

/// Everything that can go wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fault {
    /// The page or its server, as `fixtures` names it.
    Page(FaultKind),
    /// Anything else.
    Own(Own),
}

impl Fault {
    /// Everything that the world can play.
    pub fn all() -> Vec<Self> {
        let page = FaultKind::ALL.iter().filter(|kind| is_played(**kind));
        page.map(|kind| Self::Page(*kind))
            .chain(Own::ALL.iter().map(|own| Self::Own(*own)))
            .collect()
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Page(kind) => kind.name(),
            Self::Own(own) => own.name(),
        }
    }

    /// The phases at which it can happen.
    #[must_use]
    pub fn phases(self) -> &'static [Phase] {
        match self {
            Self::Page(kind) => kind.phases(),
            Self::Own(own) => own.phases(),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is no fault, or no place of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoSuchFault(pub String);

impl fmt::Display for NoSuchFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} is no FAULT[@STEP] that can be played", self.0)
    }
}

impl std::error::Error for NoSuchFault {}

impl FromStr for Fault {
    type Err = NoSuchFault;
    fn from_str(name: &str) -> Result<Self, NoSuchFault> {
        let all = Self::all();
        all.into_iter()
            .find(|fault| fault.name() == name)
            .ok_or_else(|| NoSuchFault(name.to_owned()))
    }
}

/// A fault and where it happens, once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placed {
    /// What.
    pub fault: Fault,
    /// Where.
    pub at: At,
}

/// Where a fault happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum At {
    /// At a step of the conversation.
    Step(Step),
    /// Around the n-th effect that the machine wants, counted over all processes:
    /// a kill alone can be put there.
    Effect(u32, Side),
}

/// Before an effect is carried out, or after.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Nothing of it was done.
    Before,
    /// It was done and nobody heard of it.
    After,
}

impl fmt::Display for Placed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.at {
            At::Step(step) => write!(f, "{}@{step}", self.fault),
            At::Effect(nth, Side::Before) => write!(f, "{}@before-{nth}", self.fault),
            At::Effect(nth, Side::After) => write!(f, "{}@after-{nth}", self.fault),
        }
    }
}

impl FromStr for Placed {
    type Err = NoSuchFault;
    fn from_str(text: &str) -> Result<Self, NoSuchFault> {
        let no = || NoSuchFault(text.to_owned());
        let (name, step) = text.split_once('@').unwrap_or((text, "any"));
        let fault: Fault = name.parse()?;
        let effect = |prefix: &str| step.strip_prefix(prefix).and_then(|n| n.parse().ok());
        let at = if let Some(nth) = effect("before-") {
            At::Effect(nth, Side::Before)
        } else if let Some(nth) = effect("after-") {
            At::Effect(nth, Side::After)
        } else {
            let mut step: Step = step.parse().map_err(|_| no())?;
            step.phase = step.phase.or(fault.phases().first().copied());
            if !step
                .phase
                .is_some_and(|phase| fault.phases().contains(&phase))
            {
                return Err(no());
            }
            At::Step(step)
        };
        Ok(Self { fault, at })
    }
}

impl Placed {
    /// Whether it happens at this moment.
    pub fn meets(&self, fault: Fault, message: Message, phase: Phase) -> bool {
        let here = match self.at {
            At::Step(step) => {
                step.phase == Some(phase) && (phase == Phase::Load || step.message.covers(message))
            }
            At::Effect(..) => false,
        };
        here && self.fault == fault
    }
}

/// Whether a fault of the stand-in means anything where observations begin. The others
/// are about finding one's way in a document, which is the observer's own work and is
/// tried in a real browser.
fn is_played(kind: FaultKind) -> bool {
    match kind {
        FaultKind::SlowServer
        | FaultKind::ServerError
        | FaultKind::NoReply
        | FaultKind::StreamPause
        | FaultKind::StreamCut
        | FaultKind::StreamDrop
        | FaultKind::NoDone
        | FaultKind::NoEndMarks
        | FaultKind::SocketOpen
        | FaultKind::CumulativeStream
        | FaultKind::WebSocketReply
        | FaultKind::ContinueGenerating
        | FaultKind::MessageIdChange
        | FaultKind::TwoReplies
        | FaultKind::ThrottleDialog
        | FaultKind::Capacity
        | FaultKind::ForeignUserTurn
        | FaultKind::EditedTurn
        | FaultKind::Regenerate
        | FaultKind::Challenge
        | FaultKind::LoggedOut
        | FaultKind::OldDraft
        | FaultKind::ComposerTruncates
        | FaultKind::ComposerAttaches
        | FaultKind::SendDisabled
        | FaultKind::ComposerRebuilt
        | FaultKind::ClickSwallowed
        | FaultKind::EnterPressed
        | FaultKind::LateEcho
        | FaultKind::UserClamped
        | FaultKind::LateAddress
        | FaultKind::SlowHydration
        | FaultKind::StaleHydration
        | FaultKind::ShellStop
        | FaultKind::Virtualised
        | FaultKind::UnknownLayout
        | FaultKind::NoIdWhileStreaming
        | FaultKind::BarFlash
        | FaultKind::LateRender
        | FaultKind::FirstLetter
        | FaultKind::NoBar
        | FaultKind::DomEmpty
        | FaultKind::EditorVirtualised
        | FaultKind::CopyShort
        | FaultKind::CopyOther
        | FaultKind::FrozenClipboard
        | FaultKind::ReaderCancelled
        | FaultKind::HistoryRefetched
        | FaultKind::RetryCard
        | FaultKind::NavigateAway
        | FaultKind::PageReload
        | FaultKind::RendererLoop
        | FaultKind::DialogOpen => true,
        FaultKind::PreambleThenTool
        | FaultKind::ChallengeScript
        | FaultKind::HiddenComposer
        | FaultKind::UserFormatted
        | FaultKind::HiddenThread
        | FaultKind::OtherLanguage
        | FaultKind::RafRendering
        | FaultKind::TwoSections
        | FaultKind::Remount
        | FaultKind::AnswerNow
        | FaultKind::RetryCardSilent
        | FaultKind::ScreenReaderAlert
        | FaultKind::HiddenStop
        | FaultKind::BeforeUnload => false,
    }
}
