//! The vocabulary: at which step, and what goes wrong there.

use std::fmt;

use fixtures::{
    fault::{FaultKind, FaultSpec},
    step::{Message, Phase, Step},
};
use nix::sys::signal::Signal;
use serde::{Deserialize, Serialize};

use super::proxy::Cut;

/// The round whose steps are disturbed.
pub const ROUND: u32 = 1;

/// A moment of the session, in the order in which they are met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum At {
    /// Attached, and nothing typed.
    BeforeHello,
    /// HELLO stands in the composer; its *dispatching* is not recorded.
    HelloTyped,
    /// The server has HELLO and has said nothing; the conversation has no id yet.
    HelloDispatched,
    /// Half of the acknowledgement is there, and the conversation is bound.
    AckStreaming,
    /// The ROUND stands in the composer; its *dispatching* is not recorded.
    RoundTyped,
    /// The server has the ROUND and has said nothing.
    RoundDispatched,
    /// The reply to the ROUND thinks.
    Thinking,
    /// Half of the plan is there.
    Streaming,
    /// The reply is finished and not yet judged.
    Finished,
    /// The plan's first command runs.
    Executing,
    /// The plan's receipt is recorded; the next message is not dispatched.
    Settled,
}

impl At {
    /// All steps, in their order.
    pub const ALL: [Self; 11] = [
        Self::BeforeHello,
        Self::HelloTyped,
        Self::HelloDispatched,
        Self::AckStreaming,
        Self::RoundTyped,
        Self::RoundDispatched,
        Self::Thinking,
        Self::Streaming,
        Self::Finished,
        Self::Executing,
        Self::Settled,
    ];

    /// The name in the matrix and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::BeforeHello => "before-hello",
            Self::HelloTyped => "hello-typed",
            Self::HelloDispatched => "hello-dispatched",
            Self::AckStreaming => "ack-streaming",
            Self::RoundTyped => "round-typed",
            Self::RoundDispatched => "round-dispatched",
            Self::Thinking => "thinking",
            Self::Streaming => "streaming",
            Self::Finished => "finished",
            Self::Executing => "executing",
            Self::Settled => "settled",
        }
    }

    /// The message of ours that the step belongs to.
    pub const fn message(self) -> Message {
        match self {
            Self::BeforeHello | Self::HelloTyped | Self::HelloDispatched | Self::AckStreaming => {
                Message::Hello
            }
            Self::RoundTyped
            | Self::RoundDispatched
            | Self::Thinking
            | Self::Streaming
            | Self::Finished
            | Self::Executing
            | Self::Settled => Message::Round(ROUND),
        }
    }

    /// The phases of the stand-in in which this step lies.
    pub const fn phases(self) -> &'static [Phase] {
        match self {
            Self::BeforeHello => &[Phase::Load],
            Self::HelloTyped | Self::RoundTyped => &[Phase::Composing],
            Self::HelloDispatched | Self::RoundDispatched => &[Phase::Submitting, Phase::Accepted],
            Self::Thinking => &[Phase::Thinking],
            Self::AckStreaming | Self::Streaming => &[Phase::Streaming],
            Self::Finished => &[Phase::Finishing, Phase::Settled],
            // The page is idle while the plan runs.
            Self::Executing => &[Phase::Settled],
            Self::Settled => &[],
        }
    }
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

macro_rules! acts {
    ($($name:ident = $word:literal, $doc:literal;)+) => {
        /// What is done from outside, at any step.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum Act {
            $(#[doc = $doc] $name,)+
        }

        impl Act {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$name,)+];

            /// The name in the matrix and on the command line.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => $word,)+ }
            }

            /// What happens, in one sentence.
            pub const fn doc(self) -> &'static str {
                match self { $(Self::$name => $doc,)+ }
            }
        }
    };
}

acts! {
    Fin = "fin", "The socket to the browser ends in order.";
    Rst = "rst", "The socket is reset.";
    CloseFrame = "close-frame", "The web socket is closed by a close frame.";
    MidFrame = "mid-frame", "The socket ends in the middle of a frame.";
    BlackHole = "black-hole", "The socket stays open and swallows every byte, both ways.";
    Detach = "detach", "The browser detaches the relay's session from the tab.";
    BrowserTerm = "browser-term", "The browser gets a SIGTERM.";
    BrowserKill = "browser-kill", "The browser is killed.";
    BrowserStop = "browser-stop", "The browser is stopped for four seconds (SIGSTOP, SIGCONT).";
    RendererCrash = "renderer-crash", "The page's renderer crashes.";
    EndlessLoop = "endless-loop", "A script in the page never ends.";
    RendererFreeze = "renderer-freeze", "The page is frozen.";
    TabClosed = "tab-closed", "The tab is closed.";
    Reload = "reload", "The page is loaded anew.";
    AwayAndBack = "away-and-back", "The tab goes to another place and comes back.";
    Alert = "alert", "The page opens an alert.";
    AsksToStay = "asks-to-stay", "The page is loaded anew and asks first (beforeunload).";
    RelayKill = "relay-kill", "The relay is killed, and started again with `brb run --continue`.";
    PersonTypes = "person-types", "A person types into the composer.";
    PersonQuotes = "person-quotes", "A person quotes our own head lines in a message.";
}

/// By which means an act is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// The proxy breaks the connection.
    Cut(Cut),
    /// The browser's process gets a signal.
    Signal(Signal),
    /// Another client of the browser does something to the tab.
    Tab(TabAct),
    /// The relay itself is killed and started again.
    Relay,
    /// Somebody writes from another window.
    OtherWindow,
}

/// What is done to the tab behind the relay's back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TabAct {
    /// Its renderer crashes.
    Crash,
    /// A script never ends.
    Loop,
    /// It is frozen.
    Freeze,
    /// It is closed.
    Close,
    /// It is loaded anew.
    Reload,
    /// It goes elsewhere and comes back.
    Away,
    /// It opens an alert.
    Alert,
    /// It asks before it is loaded anew.
    Ask,
    /// A person types into it.
    Type,
}

impl Act {
    /// By which means.
    pub const fn how(self) -> How {
        match self {
            Self::Fin => How::Cut(Cut::Fin),
            Self::Rst => How::Cut(Cut::Rst),
            Self::CloseFrame => How::Cut(Cut::CloseFrame),
            Self::MidFrame => How::Cut(Cut::MidFrame),
            Self::BlackHole => How::Cut(Cut::BlackHole),
            Self::Detach => How::Cut(Cut::Detach),
            Self::BrowserTerm => How::Signal(Signal::SIGTERM),
            Self::BrowserKill => How::Signal(Signal::SIGKILL),
            Self::BrowserStop => How::Signal(Signal::SIGSTOP),
            Self::RendererCrash => How::Tab(TabAct::Crash),
            Self::EndlessLoop => How::Tab(TabAct::Loop),
            Self::RendererFreeze => How::Tab(TabAct::Freeze),
            Self::TabClosed => How::Tab(TabAct::Close),
            Self::Reload => How::Tab(TabAct::Reload),
            Self::AwayAndBack => How::Tab(TabAct::Away),
            Self::Alert => How::Tab(TabAct::Alert),
            Self::AsksToStay => How::Tab(TabAct::Ask),
            Self::RelayKill => How::Relay,
            Self::PersonTypes => How::Tab(TabAct::Type),
            Self::PersonQuotes => How::OtherWindow,
        }
    }
}

/// What goes wrong in a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// Something done from outside.
    Act(Act),
    /// A switch of the stand-in, set for its step beforehand.
    Switch(FaultSpec),
    /// A switch of the stand-in's page load, set at the step, and a reload there.
    AtReload(FaultSpec),
}

impl Fault {
    /// The name in the matrix and on the command line: a switch that is played at
    /// another phase than its natural one bears that phase.
    pub fn name(&self) -> String {
        let spec = match self {
            Self::Act(act) => return act.name().to_owned(),
            Self::Switch(spec) | Self::AtReload(spec) => spec,
        };
        let (name, natural) = (spec.fault.name(), spec.fault.phases()[0]);
        match spec.step.phase {
            Some(phase) if phase != natural => format!("{name}.{}", phase.name()),
            Some(_) | None => name.to_owned(),
        }
    }

    /// A switch at a step; none where the phase does not lie in it.
    pub fn switch(kind: FaultKind, phase: Phase, at: At) -> Option<Self> {
        let mut spec = FaultSpec::new(at.message(), kind);
        if phase == Phase::Load {
            spec.step = Step::LOAD;
            return Some(if at == At::BeforeHello {
                Self::Switch(spec)
            } else {
                Self::AtReload(spec)
            });
        }
        spec.step = Step::at(at.message(), phase);
        at.phases().contains(&phase).then_some(Self::Switch(spec))
    }

    /// The switch in it, to be filled in.
    pub fn spec_mut(&mut self) -> Option<&mut FaultSpec> {
        match self {
            Self::Act(_) => None,
            Self::Switch(spec) | Self::AtReload(spec) => Some(spec),
        }
    }
}
