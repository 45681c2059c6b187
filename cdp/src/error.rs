//! What can stand in the way, sorted by who must act.

use std::fmt;
use std::path::PathBuf;

use protocol::page::{CallFailure, TargetId};

/// Why no attachment came about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// What we were told cannot be right: the caller acts.
    Ours(OursFault),
    /// The browser is not there or not what it should be: the person acts.
    Browser(BrowserFault),
    /// The tab is not there or not one: the person acts.
    Tab(TabFault),
    /// The page in the tab does not answer as a page should.
    Page(PageFault),
}

impl Error {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Ours(_) => "E_CONFIG",
            Self::Browser(_) => "E_NO_BROWSER",
            Self::Tab(TabFault::Gone { .. }) => "E_TAB_GONE",
            Self::Tab(
                TabFault::NoSuch { .. } | TabFault::Several { .. } | TabFault::MayNotOpen,
            ) => "E_NO_TAB",
            Self::Page(PageFault::Dialog) => "E_DIALOG",
            Self::Page(PageFault::Scripts { .. }) => "E_LAYOUT",
            Self::Page(PageFault::Silent { .. } | PageFault::Hung) => "E_RENDERER",
        }
    }
}

/// What we were told cannot be right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OursFault {
    /// The endpoint is neither `http://`, `ws://` nor a folder.
    Endpoint {
        /// What was given.
        given: String,
    },
    /// The endpoint is not on this machine's loopback.
    NotLoopback {
        /// Its host.
        host: String,
    },
    /// The profile is, or lies in, a browser's default profile.
    DefaultProfile {
        /// The folder.
        path: PathBuf,
    },
    /// The profile folder cannot be made or made private.
    Profile {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        why: String,
    },
    /// A relaunch was asked for a browser that is not ours.
    NotLaunched,
}

/// The browser is not there or not what it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BrowserFault {
    /// Nothing listens there.
    Refused {
        /// Where.
        at: String,
        /// What the system said.
        why: String,
    },
    /// Something listens there and does not answer in time.
    Silent {
        /// Where.
        at: String,
        /// The named limit.
        limit: &'static str,
    },
    /// Something answers there and it is not a browser's debugging port.
    NotABrowser {
        /// Where.
        at: String,
        /// What it answered.
        why: String,
    },
    /// `/json/version` is not there: the consent route of Chrome 144 and later.
    NoVersion {
        /// Where.
        at: String,
        /// The status it answered with.
        status: u16,
    },
    /// The profile tells no debugging port.
    NoActivePort {
        /// The folder.
        profile: PathBuf,
        /// What was found instead.
        why: String,
    },
    /// No browser program was found.
    NoProgram {
        /// What was looked for.
        tried: String,
    },
    /// The program ended or stayed mute before it told its endpoint.
    DidNotStart {
        /// The end of what it wrote, bounded.
        why: String,
    },
    /// The link ended while we were attaching.
    Ended {
        /// What was seen of it.
        why: String,
    },
}

/// A tab as the browser lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TabSeen {
    /// The browser's name for it.
    pub id: TargetId,
    /// Its address, without query and fragment.
    pub address: String,
}

/// The tab is not there or not one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TabFault {
    /// No page has the id that was named.
    NoSuch {
        /// The id.
        id: TargetId,
        /// The pages there are.
        seen: Vec<TabSeen>,
    },
    /// Several tabs show the conversation.
    Several {
        /// Them.
        seen: Vec<TabSeen>,
    },
    /// None fits, and none may be opened.
    MayNotOpen,
    /// It went away while we were attaching.
    Gone {
        /// The id.
        id: TargetId,
    },
}

/// The page in the tab does not answer as a page should.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PageFault {
    /// A call to it was not answered, or answered with an error.
    Silent {
        /// Which one and how.
        why: String,
    },
    /// It was hung and neither terminating its script nor a reload cured it.
    Hung,
    /// A JavaScript dialog stands open.
    Dialog,
    /// Our scripts do not stand in it.
    Scripts {
        /// What was seen.
        why: String,
    },
}

macro_rules! wrap {
    ($($from:ident => $variant:ident),*) => {
        $(impl From<$from> for Error {
            fn from(fault: $from) -> Self {
                Self::$variant(fault)
            }
        })*
    };
}
wrap!(OursFault => Ours, BrowserFault => Browser, TabFault => Tab, PageFault => Page);

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ours(fault) => fault.fmt(f),
            Self::Browser(fault) => fault.fmt(f),
            Self::Tab(fault) => fault.fmt(f),
            Self::Page(fault) => fault.fmt(f),
        }
    }
}

impl fmt::Display for OursFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Endpoint { given } => write!(
                f,
                "{given:?} is no endpoint; give http://127.0.0.1:PORT, a ws:// address or a profile folder"
            ),
            Self::NotLoopback { host } => write!(
                f,
                "{host:?} is not this machine; a debugging port is reached on loopback only"
            ),
            Self::DefaultProfile { path } => write!(
                f,
                "{} belongs to a default profile; the relay uses a profile of its own",
                path.display()
            ),
            Self::Profile { path, why } => {
                write!(
                    f,
                    "the profile folder {} cannot be used: {why}",
                    path.display()
                )
            }
            Self::NotLaunched => f.write_str("the browser was not started by this relay"),
        }
    }
}

impl fmt::Display for BrowserFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused { at, why } => write!(f, "nothing listens at {at}: {why}"),
            Self::Silent { at, limit } => write!(f, "{at} did not answer within {limit}"),
            Self::NotABrowser { at, why } => {
                write!(f, "{at} is not a browser's debugging port: {why}")
            }
            Self::NoVersion { at, status } => write!(
                f,
                "{at}/json/version answered {status}; a browser that asks for consent is reached by its profile folder instead"
            ),
            Self::NoActivePort { profile, why } => write!(
                f,
                "no running browser with a debugging port was found by {}: {why}",
                profile.display()
            ),
            Self::NoProgram { tried } => write!(f, "no browser program was found (tried {tried})"),
            Self::DidNotStart { why } => write!(f, "the browser did not start: {why}"),
            Self::Ended { why } => write!(f, "the link ended while attaching: {why}"),
        }
    }
}

impl fmt::Display for TabFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, seen: &[TabSeen]| {
            seen.iter()
                .take(20)
                .try_for_each(|tab| write!(f, "\n  {} {}", tab.id, tab.address))
        };
        match self {
            Self::NoSuch { id, seen } => {
                write!(f, "there is no tab {id}; there are:")?;
                list(f, seen)
            }
            Self::Several { seen } => {
                f.write_str("several tabs show the conversation; name one with --tab:")?;
                list(f, seen)
            }
            Self::MayNotOpen => {
                f.write_str("no tab shows the conversation, and none may be opened")
            }
            Self::Gone { id } => write!(f, "the tab {id} went away"),
        }
    }
}

impl fmt::Display for PageFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Silent { why } => write!(f, "the page does not answer: {why}"),
            Self::Hung => f.write_str("the page is hung and could not be cured"),
            Self::Dialog => f.write_str("a dialog of the page stands open"),
            Self::Scripts { why } => write!(f, "the observer does not stand in the page: {why}"),
        }
    }
}

impl std::error::Error for Error {}
impl std::error::Error for OursFault {}

/// How a single call failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CallError {
    /// Its deadline passed.
    Timeout(&'static str),
    /// The socket ended.
    Closed,
    /// The session on the tab ended.
    Detached,
    /// The renderer died.
    Crashed,
    /// The browser or a script of ours answered with an error.
    Refused(String),
    /// The answer did not parse.
    Malformed(String),
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Timeout(limit) => write!(f, "no answer within {limit}"),
            Self::Closed => f.write_str("the link ended"),
            Self::Detached => f.write_str("the session ended"),
            Self::Crashed => f.write_str("the renderer crashed"),
            Self::Refused(why) => write!(f, "refused: {why}"),
            Self::Malformed(why) => write!(f, "malformed answer: {why}"),
        }
    }
}

impl From<CallError> for CallFailure {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Timeout(limit) => Self::Timeout {
                limit: limit.to_owned(),
            },
            CallError::Closed | CallError::Detached | CallError::Crashed => Self::Lost,
            CallError::Refused(detail) => Self::Refused { detail },
            CallError::Malformed(detail) => Self::Malformed { detail },
        }
    }
}

/// The head of a text that somebody else wrote, for an error's sake.
pub(crate) fn bounded(text: impl fmt::Display) -> String {
    let text = text.to_string();
    match text.char_indices().nth(300) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}
