//! The command line with what is configured put beneath it: a configured value becomes the
//! default of its flag, so that whatever is said on the line outweighs it.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use clap::{ArgMatches, Command, CommandFactory, FromArgMatches, parser::ValueSource};
use protocol::fault::Code;

use super::{Cli, failure::Failure};
use crate::{
    config::{Config, ConfigError, Key, Origin, Setting, Sources},
    place::Place,
};

/// Why there is nothing to run.
pub(super) enum Unsettled {
    /// The command line does not parse, or asks for help.
    Line(clap::Error),
    /// The configuration cannot be used.
    Config(Failure),
}

impl From<clap::Error> for Unsettled {
    fn from(error: clap::Error) -> Self {
        Self::Line(error)
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        let remedy = error.remedy.clone();
        Self::new(Code::Config, error, remedy)
    }
}

/// The keys that hold for a session that is gone on with; everything else it keeps itself.
const FOR_ANY_SESSION: [&str; 2] = ["state_dir", "log"];

/// Parses a command line, with the configuration where the command takes any of it.
pub(super) fn parse(args: Vec<OsString>) -> Result<Cli, Unsettled> {
    let said = Cli::command().try_get_matches_from(&args)?;
    let mut command = Cli::command();
    command.build();
    let line = Line::of(&command, &said);
    if !crate::config::all().iter().any(|key| line.takes(key)) {
        return Ok(Cli::from_arg_matches(&said)?);
    }
    let config = read(line.cwd()).map_err(Unsettled::Config)?;
    let settled = line.settled(&config);
    let path: Vec<String> = line.path.iter().map(ToString::to_string).collect();
    let matches = beneath(Cli::command(), &path, &settled).try_get_matches_from(&args)?;
    Ok(Cli::from_arg_matches(&matches)?)
}

/// Where configuration is looked for by a command that works in this folder.
pub(super) fn sources(cwd: Option<&Path>) -> Result<Sources, Failure> {
    let place = Place::find(None)?;
    let cwd = std::path::absolute(cwd.unwrap_or(Path::new("."))).map_err(|error| {
        Failure::usage(
            format!("the current folder cannot be told: {error}"),
            "Change into a folder that is there.",
        )
    })?;
    Ok(Sources {
        user: place.config,
        cwd,
        home: std::env::var_os("HOME").map(PathBuf::from),
    })
}

/// What is configured for a command that works in this folder.
pub(super) fn read(cwd: Option<&Path>) -> Result<Config, Failure> {
    Ok(Config::read(&sources(cwd)?, |name| std::env::var_os(name))?)
}

/// What was said on the command line, of the innermost command.
struct Line<'a> {
    path: Vec<&'a str>,
    command: &'a Command,
    matches: &'a ArgMatches,
}

impl<'a> Line<'a> {
    fn of(command: &'a Command, matches: &'a ArgMatches) -> Self {
        let mut line = Self {
            path: Vec::new(),
            command,
            matches,
        };
        while let Some((name, matches)) = line.matches.subcommand() {
            let Some(command) = line.command.find_subcommand(name) else {
                break;
            };
            line.path.push(command.get_name());
            line.command = command;
            line.matches = matches;
        }
        line
    }

    fn id(&self, key: &Key) -> Option<&clap::Id> {
        let long = key.long();
        let mut args = self.command.get_arguments();
        let arg = args.find(|arg| arg.get_long() == Some(long.as_str()))?;
        Some(arg.get_id())
    }

    fn takes(&self, key: &Key) -> bool {
        self.id(key).is_some() && (!self.goes_on() || FOR_ANY_SESSION.contains(&key.name))
    }

    fn is_said(&self, id: &str) -> bool {
        let source = self.matches.try_get_raw(id).ok().flatten();
        source.is_some() && self.matches.value_source(id) == Some(ValueSource::CommandLine)
    }

    fn goes_on(&self) -> bool {
        self.is_said("go_on")
    }

    fn cwd(&self) -> Option<&Path> {
        let cwd = self.matches.try_get_one::<PathBuf>("cwd").ok().flatten();
        cwd.map(PathBuf::as_path)
    }

    /// Whether two of the command's flags exclude each other.
    fn exclude(&self, one: &str, other: &str) -> bool {
        let excludes = |one: &str, other: &str| {
            let arg = self.command.get_arguments().find(|arg| arg.get_id() == one);
            arg.is_some_and(|arg| {
                let conflicts = self.command.get_arg_conflicts_with(arg);
                conflicts.iter().any(|arg| arg.get_id() == other)
            })
        };
        excludes(one, other) || excludes(other, one)
    }

    /// What of the configuration holds beside what was said: nothing that a flag on the
    /// line, or a weightier setting, excludes.
    fn settled<'c>(&self, config: &'c Config) -> Vec<&'c Setting> {
        let mut held: Vec<(&'c Setting, &clap::Id)> = Vec::new();
        for setting in config.settings().iter().rev() {
            let Some(id) = self.id(setting.key).filter(|_| self.takes(setting.key)) else {
                continue;
            };
            let mut all = self.command.get_arguments().map(clap::Arg::get_id);
            let excluded = all.any(|other| {
                self.is_said(other.as_str()) && self.exclude(id.as_str(), other.as_str())
            }) || held.iter().any(|(weightier, other)| {
                is_on(weightier) && self.exclude(id.as_str(), other.as_str())
            });
            if !excluded && self.has_a_program(setting, config) {
                held.push((setting, id));
            }
        }
        held.into_iter().map(|(setting, _)| setting).collect()
    }

    /// What belongs to a program of one's own holds only where one carries plans out.
    fn has_a_program(&self, setting: &Setting, config: &Config) -> bool {
        if !matches!(setting.key.name, "agent_cmd" | "agent_net") {
            return true;
        }
        let said = self.matches.try_get_raw("agent").ok().flatten();
        let said = said.and_then(|mut raw| raw.next()?.to_str());
        let mut all = config.settings().iter();
        let configured = all.find(|other| other.key.name == "agent");
        let agent = said.or(configured.map(|setting| setting.value.as_str()));
        agent.is_some_and(|agent| agent != "shell")
    }
}

fn is_on(setting: &Setting) -> bool {
    setting.value != "false"
}

/// The command with each configured value as the default of its flag.
fn beneath(command: Command, path: &[String], settings: &[&Setting]) -> Command {
    match path.split_first() {
        Some((name, rest)) => command.mut_subcommand(name, |inner| beneath(inner, rest, settings)),
        None => command.mut_args(|arg| {
            let long = arg.get_long().unwrap_or_default();
            let setting = settings.iter().find(|setting| setting.key.long() == long);
            match setting {
                Some(setting) => arg.default_value(setting.value.clone()),
                None => arg,
            }
        }),
    }
}

/// Where a value comes from, for a person.
pub(super) fn origin_of(setting: Option<&Setting>) -> String {
    match setting.map(|setting| &setting.origin) {
        None => "default".to_owned(),
        Some(origin @ (Origin::User { .. } | Origin::Project { .. })) => origin.to_string(),
        Some(origin @ Origin::Environment { .. }) => format!("the variable {origin}"),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// What this text configures for the user.
    fn configured(text: &str) -> Config {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(crate::config::USER_FILE), text).unwrap();
        let sources = Sources {
            user: folder.path().to_owned(),
            cwd: folder.path().to_owned(),
            home: None,
        };
        Config::read(&sources, |_| None).unwrap()
    }

    /// What holds for these arguments of `brb`, with this configured for the user.
    fn settled(args: &[&str], text: &str) -> BTreeMap<&'static str, String> {
        let config = configured(text);
        let said = Cli::command()
            .try_get_matches_from([&["brb"], args].concat())
            .unwrap();
        let mut command = Cli::command();
        command.build();
        let line = Line::of(&command, &said);
        let held = line.settled(&config);
        held.iter()
            .map(|setting| (setting.key.name, setting.value.clone()))
            .collect()
    }

    fn names(args: &[&str], text: &str) -> Vec<&'static str> {
        settled(args, text).into_keys().collect()
    }

    #[test]
    fn what_the_line_excludes_does_not_hold() {
        let text = "attach = \"http://127.0.0.1:1\"\napprove = \"all\"\n";
        assert_eq!(names(&["run", "x"], text), ["approve", "attach"]);
        for flag in [&["--launch"][..], &["--headed"], &["--profile", "p"]] {
            let args = [&["run", "x"], flag].concat();
            assert_eq!(names(&args, text), ["approve"], "{flag:?}");
        }
        let text = "headed = true\nprofile = \"p\"\nkeep_browser = true\n";
        let args = ["run", "x", "--attach", "http://127.0.0.1:1"];
        assert_eq!(names(&args, text), [""; 0]);
    }

    #[test]
    fn two_settings_that_exclude_each_other_do_not_both_hold() {
        let text = "attach = \"http://127.0.0.1:1\"\nheaded = true\n";
        assert_eq!(names(&["run", "x"], text).len(), 1);
        // What is off excludes nothing.
        let text = "headed = false\nattach = \"http://127.0.0.1:1\"\n";
        assert!(names(&["run", "x"], text).contains(&"attach"));
    }

    #[test]
    fn a_program_holds_only_where_one_carries_plans_out() {
        let text = "agent = \"command\"\nagent_cmd = \"my-agent\"\nagent_net = \"on\"\n";
        assert_eq!(
            names(&["run", "x"], text),
            ["agent", "agent_cmd", "agent_net"]
        );
        assert_eq!(names(&["run", "x", "--agent", "shell"], text), ["agent"]);
        let text = "agent_cmd = \"my-agent\"\n";
        assert_eq!(names(&["run", "x"], text), [""; 0]);
        assert_eq!(
            names(&["run", "x", "--agent", "command"], text),
            ["agent_cmd"]
        );
    }

    #[test]
    fn a_session_that_is_gone_on_with_keeps_what_it_was_opened_with() {
        let text = "approve = \"all\"\nlog = \"debug\"\n[limits]\nrounds_max = 3\n";
        assert_eq!(names(&["run", "x"], text), ["approve", "log", "rounds_max"]);
        assert_eq!(names(&["run", "--continue"], text), ["log"]);
    }

    #[test]
    fn a_command_takes_only_what_it_has_a_flag_for() {
        let text = "approve = \"all\"\nlog = \"debug\"\n";
        assert_eq!(names(&["list"], text), ["log"]);
        assert_eq!(
            names(&["journal", "show", "0011223344556677"], text),
            ["log"]
        );
        assert_eq!(names(&["explain"], text), [""; 0]);
    }

    #[test]
    fn a_flag_outweighs_what_is_configured() {
        let held = |args: &[&str]| {
            let config = configured("[limits]\nrounds_max = 3\n");
            let settings: Vec<_> = config.settings().iter().collect();
            let command = beneath(Cli::command(), &["run".to_owned()], &settings);
            let matches = command.try_get_matches_from([&["brb", "run", "x"], args].concat());
            let matches = matches.unwrap();
            let (_, matches) = matches.subcommand().unwrap();
            *matches.get_one::<u64>("rounds_max").unwrap()
        };
        assert_eq!(held(&[]), 3);
        assert_eq!(held(&["--rounds-max", "4"]), 4);
    }
}
