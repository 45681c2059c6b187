//! What the driver is told at its start.

use std::path::PathBuf;

use protocol::page::{Epoch, TargetId};

use crate::Limits;
use crate::error::OursFault;

/// Everything the driver is told at its start.
#[derive(Debug, Clone)]
pub struct Config {
    /// Which browser.
    pub endpoint: Endpoint,
    /// Which tab of it.
    pub tab: TabWish,
    /// The page scripts, opaque here.
    pub scripts: Scripts,
    /// Requests of the page whose path contains one of these concern a
    /// conversation: a POST carries a message out and its reply back, a web
    /// socket carries replies, a GET fetches the conversation's data.
    pub stream_paths: Vec<String>,
    /// The named limits.
    pub limits: Limits,
    /// The last epoch used before; the first attach is one later.
    pub last_epoch: Epoch,
    /// Leave a launched browser running when the driver ends without a word.
    pub keep_browser: bool,
}

/// The scripts that run in the page. They come from `capture`.
#[derive(Debug, Clone, Default)]
pub struct Scripts {
    /// The name of the isolated world they run in. Chromium gives worlds of one name to all
    /// who attach to a tab: each client of a tab has a name of its own, the same one when it
    /// attaches again.
    pub world: String,
    /// Defines `brb` in the isolated world and pushes looks; reads only.
    pub observe: String,
    /// Defines `brbCompose` there.
    pub compose: String,
    /// Defines `brbGuard` there.
    pub submit_guard: String,
    /// Defines `brbCopy` in the page's own world, on demand.
    pub copyhook: String,
}

/// Which browser to use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Endpoint {
    /// A debugging port, e.g. `http://127.0.0.1:9222`.
    Http(String),
    /// The browser's own web socket.
    Ws(String),
    /// The profile folder of a running browser, by its `DevToolsActivePort`.
    Profile(PathBuf),
    /// One started by us, or found again by its profile.
    Launch(Launch),
}

impl Endpoint {
    /// What a person means by the text given with `--attach`.
    ///
    /// # Errors
    /// When it is neither an address with a known scheme nor a folder.
    pub fn parse(text: &str) -> Result<Self, OursFault> {
        if text.starts_with("http://") {
            Ok(Self::Http(text.to_owned()))
        } else if text.starts_with("ws://") {
            Ok(Self::Ws(text.to_owned()))
        } else if text.contains("://") || text.is_empty() {
            Err(OursFault::Endpoint {
                given: text.chars().take(200).collect(),
            })
        } else {
            Ok(Self::Profile(PathBuf::from(text)))
        }
    }
}

/// How to start a browser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    /// The program; none: the first one known that stands on `PATH`.
    pub program: Option<PathBuf>,
    /// Its own profile folder, made with mode 0700. Never a default profile.
    pub profile: PathBuf,
    /// Without a window.
    pub headless: bool,
    /// More arguments, as given by the person.
    pub args: Vec<String>,
}

/// Which tab to use, in this order: `id`, the one at `conversation`, `opened`,
/// a new one at `open_at`. One that merely shares the origin is never used.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TabWish {
    /// This very tab, named by a person.
    pub id: Option<TargetId>,
    /// The exact address of the conversation, where there is one.
    pub conversation: Option<String>,
    /// A tab that this relay opened before. It counts only while no
    /// conversation is known and while it still shows the site of `open_at`.
    pub opened: Option<TargetId>,
    /// The address to open a tab at; none: no tab is opened.
    pub open_at: Option<String>,
    /// Close the tab at the end if it was opened here: it was only looked at.
    pub close_opened: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_is_a_port_a_socket_or_a_folder() {
        assert_eq!(
            Endpoint::parse("http://127.0.0.1:9222"),
            Ok(Endpoint::Http("http://127.0.0.1:9222".into()))
        );
        assert_eq!(
            Endpoint::parse("ws://127.0.0.1:1/devtools/browser/x"),
            Ok(Endpoint::Ws("ws://127.0.0.1:1/devtools/browser/x".into()))
        );
        assert_eq!(
            Endpoint::parse("/home/me/profile"),
            Ok(Endpoint::Profile("/home/me/profile".into()))
        );
        for bad in ["", "https://127.0.0.1:9222", "ftp://x"] {
            assert!(Endpoint::parse(bad).is_err(), "{bad:?}");
        }
    }
}
