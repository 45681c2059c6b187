//! The options of a run that are kept beside its journal, so that `--continue` needs none.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{AgentArgs, RunArgs};
use crate::{
    cli::{browser::BrowserArgs, failure::Failure},
    start,
};

/// What is kept. Request, chat, folder and limits are not among it: they stand in the journal.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(in crate::cli) struct Kept {
    #[serde(default)]
    pub(super) agent: AgentArgs,
    #[serde(default)]
    pub browser: BrowserArgs,
    #[serde(default)]
    pub stop_file: Option<PathBuf>,
    #[serde(default)]
    pub time_scale: Option<u32>,
}

impl Kept {
    /// What these arguments say, with paths that hold in any folder.
    pub fn of(args: &RunArgs) -> Result<Self, Failure> {
        let here = |path: &Path| {
            std::path::absolute(path).map_err(|error| {
                Failure::usage(
                    format!("{} names no file: {error}", path.display()),
                    "Give another path.",
                )
            })
        };
        let stop_file = args.stop_file.as_deref().map(here).transpose()?;
        Ok(Self {
            agent: args.agent.clone(),
            browser: args.browser.clone().anchored()?,
            stop_file,
            time_scale: args.time_scale,
        })
    }

    /// What a session's folder has kept. What cannot be read is as good as not there: the
    /// careful defaults hold then, and whatever is given anew.
    pub fn read(folder: &Path) -> Self {
        let text = start::kept_options(folder).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// These, and what was kept before where nothing is given.
    pub fn or(self, kept: Self) -> Self {
        Self {
            agent: self.agent.or(kept.agent),
            browser: self.browser.or(kept.browser),
            stop_file: self.stop_file.or(kept.stop_file),
            time_scale: self.time_scale.or(kept.time_scale),
        }
    }

    /// What divides every span.
    pub fn scale(&self) -> u32 {
        self.time_scale.unwrap_or(1)
    }

    /// As it is written.
    pub fn text(&self) -> String {
        // Options are strings, numbers and paths given as text.
        serde_json::to_string(self).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        args: RunArgs,
    }

    fn kept(args: &[&str]) -> Kept {
        let line = Line::try_parse_from([&["brb"], args].concat()).unwrap();
        Kept::of(&line.args).unwrap()
    }

    fn value(kept: &Kept) -> serde_json::Value {
        serde_json::from_str(&kept.text()).unwrap()
    }

    #[test]
    fn what_is_given_anew_outweighs_what_was_kept_and_the_rest_stays() {
        let first = kept(&[
            "x",
            "--approve",
            "workspace",
            "--profile",
            "p",
            "--time-scale",
            "7",
            "--dirty",
        ]);
        let second = kept(&["--continue", "--approve", "read-only", "--headed"]);
        let both = value(&second.or(serde_json::from_str(&first.text()).unwrap()));
        assert_eq!(both["agent"]["approve"], "read-only");
        assert_eq!(both["agent"]["dirty"], true);
        assert_eq!(both["browser"]["headed"], true);
        assert_eq!(both["time_scale"], 7);
        let profile = both["browser"]["profile"].as_str().unwrap();
        assert!(
            profile.starts_with('/') && profile.ends_with("/p"),
            "{profile}"
        );
    }

    #[test]
    fn to_attach_anew_is_not_to_launch_what_was_launched() {
        let first = kept(&["x", "--profile", "p", "--headed"]);
        let second = kept(&["--continue", "--attach", "http://127.0.0.1:9222"]);
        let both = value(&second.or(first));
        assert_eq!(both["browser"]["attach"], "http://127.0.0.1:9222");
        assert_eq!(both["browser"]["profile"], serde_json::Value::Null);
    }

    #[test]
    fn options_that_cannot_be_read_are_the_careful_ones() {
        let folder = tempfile::tempdir().unwrap();
        for text in ["", "{", "[]", "{\"agent\": 7}", "{\"time_scale\": -1}"] {
            std::fs::write(folder.path().join(start::OPTIONS), text).unwrap();
            assert_eq!(
                value(&Kept::read(folder.path())),
                value(&Kept::default()),
                "{text}"
            );
        }
    }
}
