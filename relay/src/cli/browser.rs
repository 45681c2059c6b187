//! Which browser and which tab: options that several commands share.

use std::path::{Path, PathBuf};

use clap::Args;
use protocol::{
    fault::Code,
    limits::Limits,
    page::{Epoch, TargetId},
};
use serde::{Deserialize, Serialize};

use super::failure::Failure;
use crate::place::Place;

/// Where the chat is, unless another page is named.
const CHAT: &str = "https://chatgpt.com/";

const HEADING: &str = "Browser";

/// The browser and the tab.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize)]
#[command(next_help_heading = HEADING)]
pub(super) struct BrowserArgs {
    /// Use a running browser: its debugging port (http://127.0.0.1:9222), its web socket, or its profile folder
    #[arg(long, value_name = "URL", conflicts_with = "launch")]
    attach: Option<String>,
    /// Start a browser with a profile of the relay's own (this is the default)
    #[arg(long)]
    launch: bool,
    /// The chat page, or the address of the conversation to go on in [default: https://chatgpt.com/]
    #[arg(long, value_name = "URL")]
    #[serde(skip)]
    pub chat: Option<String>,
    /// This very tab, by the browser's own id
    #[arg(long, value_name = "ID")]
    #[serde(skip)]
    pub tab: Option<String>,
    /// The profile folder of a browser that is started; never a default profile
    #[arg(long, value_name = "DIR", conflicts_with = "attach")]
    profile: Option<PathBuf>,
    /// The browser program to start; else the first known one on PATH
    // No conflict with --attach: the environment may name one for every command.
    #[arg(
        long,
        value_name = "PROGRAM",
        env = "BRB_BROWSER",
        hide_env_values = true
    )]
    browser: Option<PathBuf>,
    /// Show the window of a browser that is started
    #[arg(long, conflicts_with = "attach")]
    headed: bool,
    /// Leave a browser that was started open at the end
    #[arg(long, conflicts_with = "attach")]
    pub keep_browser: bool,
}

impl BrowserArgs {
    /// Whether a running browser is used.
    pub fn attaches(&self) -> bool {
        self.attach.is_some()
    }

    /// The running browser to use, as it was given.
    pub fn attached_to(&self) -> Option<&str> {
        self.attach.as_deref()
    }

    /// Whether a browser is to be started, said in so many words.
    pub fn launches(&self) -> bool {
        self.launch
    }

    /// Which browser.
    pub fn endpoint(&self, place: &Place) -> Result<cdp::Endpoint, Failure> {
        match &self.attach {
            Some(text) => cdp::Endpoint::parse(text).map_err(|error| {
                Failure::usage(
                    error,
                    "Give http://127.0.0.1:PORT, a ws:// address or a profile folder.",
                )
            }),
            None => Ok(cdp::Endpoint::Launch(cdp::Launch {
                program: self.browser.clone(),
                profile: self.profile_folder(place),
                headless: !self.headed,
                args: Vec::new(),
            })),
        }
    }

    /// The browser program, where one is named.
    pub fn program(&self) -> Option<&Path> {
        self.browser.as_deref()
    }

    /// The profile of a browser that is started.
    pub fn profile_folder(&self, place: &Place) -> PathBuf {
        self.profile.clone().unwrap_or_else(|| place.profile())
    }

    /// The chat's address, checked for what it must at least be.
    pub fn address(&self) -> Result<String, Failure> {
        let chat = self.chat.as_deref().unwrap_or(CHAT);
        check_address(chat)?;
        Ok(chat.to_owned())
    }

    /// The same with paths that hold in any folder.
    pub fn anchored(mut self) -> Result<Self, Failure> {
        let absolute = |path: &std::path::Path| {
            std::path::absolute(path).map_err(|error| {
                Failure::usage(
                    format!("{} names no folder: {error}", path.display()),
                    "Give another one.",
                )
            })
        };
        self.profile = self.profile.as_deref().map(absolute).transpose()?;
        let is_folder = self
            .attach
            .as_ref()
            .is_some_and(|text| !text.is_empty() && !text.contains("://"));
        if let Some(text) = self.attach.as_ref().filter(|_| is_folder) {
            let folder = absolute(std::path::Path::new(text))?;
            self.attach = Some(folder.display().to_string());
        }
        Ok(self)
    }

    /// The same with what was kept where nothing is given. Another browser than the kept one
    /// takes nothing from it; a tab is named for one run alone.
    pub fn or(self, kept: Self) -> Self {
        let kept = match self.attach {
            Some(_) => Self::default(),
            None => kept,
        };
        let launches = self.launch || self.profile.is_some();
        Self {
            attach: self.attach.or(kept.attach.filter(|_| !launches)),
            launch: self.launch || kept.launch,
            chat: self.chat,
            tab: self.tab,
            profile: self.profile.or(kept.profile),
            browser: self.browser.or(kept.browser),
            headed: self.headed || kept.headed,
            keep_browser: self.keep_browser || kept.keep_browser,
        }
    }

    /// The tab named, if one was.
    pub fn target(&self) -> Result<Option<TargetId>, Failure> {
        match &self.tab {
            Some(id) if id.trim().is_empty() => Err(Failure::usage(
                "the tab's id is empty",
                "Leave `--tab` out, or take an id from the browser's own list at /json.",
            )),
            Some(id) => Ok(Some(TargetId(id.clone()))),
            None => Ok(None),
        }
    }
}

/// An address that a browser opens as a page.
pub(super) fn check_address(address: &str) -> Result<(), Failure> {
    let url = reqwest::Url::parse(address);
    let is_page = url.is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    if is_page {
        Ok(())
    } else {
        Err(Failure::usage(
            format!("{address:?} is not the address of a page"),
            "Give the whole address, beginning with https:// or http://.",
        ))
    }
}

/// What the driver is told by a command that only looks.
pub(super) fn looking(
    endpoint: cdp::Endpoint,
    tab: cdp::TabWish,
    limits: &Limits,
    keep_browser: bool,
) -> cdp::Config {
    cdp::Config {
        endpoint,
        tab,
        scripts: crate::scripts::scripts(),
        stream_paths: Vec::new(),
        limits: cdp::Limits {
            call_ms: limits.call_ms,
            attach_ms: limits.attach_ms,
            renderer_ms: limits.renderer_ms,
            ..cdp::Limits::DEFAULT
        },
        last_epoch: Epoch::default(),
        keep_browser,
    }
}

/// Why no attachment came about, as a failure of the command.
pub(super) fn never_attached(code: &str, detail: &str) -> Failure {
    Failure::of(code.parse().unwrap_or(Code::NoBrowser), detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_address_of_a_page_is_one() {
        for good in ["https://chatgpt.com/", "http://127.0.0.1:1/c/x"] {
            assert!(check_address(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "chatgpt.com",
            "file:///etc/passwd",
            "javascript:alert(1)",
            "https://",
        ] {
            assert!(check_address(bad).is_err(), "{bad}");
        }
        assert!(check_address(CHAT).is_ok());
    }
}
