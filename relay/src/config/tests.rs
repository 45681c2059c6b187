//! What is configured, and what a file that is wrong is told.

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
};

use super::*;

/// A person's folders, a repository in the home, a folder within it.
struct World {
    home: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        for folder in ["config", "repo/deep", "repo/.git"] {
            fs::create_dir_all(home.path().join(folder)).unwrap();
        }
        Self { home }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.home.path().join(path)
    }

    fn user(self, text: &str) -> Self {
        fs::write(self.at("config/config.toml"), text).unwrap();
        self
    }

    fn project(self, text: &str) -> Self {
        fs::write(self.at("repo/.pi-bridge.toml"), text).unwrap();
        self
    }

    fn sources(&self) -> Sources {
        Sources {
            user: self.at("config"),
            cwd: self.at("repo/deep"),
            home: Some(self.home.path().to_owned()),
        }
    }

    fn read(&self, environment: &[(&str, &str)]) -> Result<Config, ConfigError> {
        Config::read(&self.sources(), |name| {
            let mut all = environment.iter();
            let (_, value) = all.find(|(key, _)| *key == name)?;
            Some(OsString::from(value))
        })
    }

    /// The value of a key, and the layer it comes from.
    fn value(&self, key: &str, environment: &[(&str, &str)]) -> Option<(String, &'static str)> {
        let config = self.read(environment).unwrap();
        let key = all().iter().find(|known| known.path() == key).unwrap();
        let setting = config.get(key)?;
        Some((setting.value.clone(), setting.origin.layer()))
    }

    fn wrong(&self) -> (String, String) {
        let error = self.read(&[]).unwrap_err();
        let home = self.home.path().display().to_string();
        (
            error.to_string().replace(&home, "~"),
            error.remedy.replace(&home, "~"),
        )
    }
}

fn held(value: &str, layer: &'static str) -> Option<(String, &'static str)> {
    Some((value.to_owned(), layer))
}

#[test]
fn the_environment_outweighs_the_project_and_that_the_user() {
    let key = "limits.rounds_max";
    let set = |max: u8| format!("[limits]\nrounds_max = {max}\n");
    assert_eq!(World::new().value(key, &[]), None);
    let world = World::new().user(&set(10));
    assert_eq!(world.value(key, &[]), held("10", "user"));
    let world = world.project(&set(20));
    assert_eq!(world.value(key, &[]), held("20", "project"));
    assert_eq!(
        world.value(key, &[("BRB_ROUNDS_MAX", "30")]),
        held("30", "environment")
    );
    // An empty variable is one that is not set.
    assert_eq!(
        world.value(key, &[("BRB_ROUNDS_MAX", "")]),
        held("20", "project")
    );
}

#[test]
fn a_project_may_not_switch_on_what_reaches_beyond_its_folder() {
    let machine: Vec<_> = all()
        .iter()
        .filter(|key| key.reach == Reach::Machine)
        .collect();
    for name in [
        "attach",
        "chat",
        "profile",
        "approve",
        "sandbox",
        "agent",
        "agent_net",
    ] {
        assert!(machine.iter().any(|key| key.name == name), "{name}");
    }
    for key in machine {
        let value = match key.kind {
            Kind::Switch => "true".to_owned(),
            Kind::Choice(choices) => format!("{:?}", choices[0]),
            Kind::Number { min, .. } => min.to_string(),
            Kind::Text | Kind::Path | Kind::Program | Kind::Endpoint => "\"x\"".to_owned(),
        };
        let text = format!("\n{} = {value}\n", key.name);
        assert!(World::new().user(&text).read(&[]).is_ok(), "{}", key.name);
        let (what, remedy) = World::new().project(&text).wrong();
        let place = format!(
            "~/repo/.pi-bridge.toml:2: {} is not for a project",
            key.name
        );
        assert!(what.starts_with(&place), "{what}");
        assert!(remedy.contains("~/config/config.toml"), "{remedy}");
    }
}

#[test]
fn what_a_file_says_wrongly_is_told_with_its_line_and_what_is_likely_meant() {
    let cases = [
        (
            "aprove = \"ask\"",
            "1: there is no key \"aprove\"",
            "Perhaps approve is meant",
        ),
        (
            "\n\nquiet-ms = 1",
            "3: there is no key",
            "Perhaps limits.quiet_ms is meant",
        ),
        (
            "quiet_ms = 300",
            "1: there is no key",
            "Perhaps limits.quiet_ms is meant",
        ),
        (
            "[limits]\nchat = \"x\"",
            "2: there is no key \"limits.chat\"",
            "Perhaps chat is meant",
        ),
        ("zzzz = 1", "1: there is no key", "See `brb config show`"),
        (
            "[agent]\nx = 1",
            "1: agent wants text in quotation marks",
            "",
        ),
        ("limits = 3", "1: there is no key \"limits\"", ""),
        (
            "approve = \"maybe\"",
            "1: approve is one of read-only, ask, workspace, all",
            "",
        ),
        ("headed = \"true\"", "1: headed wants true or false", ""),
        ("chat = 7", "1: chat wants text in quotation marks", ""),
        ("chat = \"\"", "1: chat wants one line of text", ""),
        ("chat = \"a\\nb\"", "1: chat wants one line of text", ""),
        (
            "[limits]\nrounds_max = 0",
            "2: limits.rounds_max is a number from 1 to",
            "",
        ),
        (
            "[limits]\nrounds_max = -1",
            "2: limits.rounds_max is a number from 1 to",
            "",
        ),
        (
            "[limits]\nrounds_max = 1.5",
            "2: limits.rounds_max wants a number",
            "",
        ),
        (
            "[limits]\nrounds_max = 99999999999999999999999",
            "2: limits.rounds_max is a number",
            "",
        ),
        ("a = ", "1: this is not TOML", ""),
        (
            "headed = true\nheaded = true",
            "2: this is not TOML: duplicate key",
            "",
        ),
    ];
    for (text, wants, remedy) in cases {
        let (what, told) = World::new().user(text).wrong();
        let wants = format!("~/config/config.toml:{wants}");
        assert!(what.starts_with(&wants), "{text}: {what}");
        assert!(told.contains(remedy) && told.len() > 20, "{text}: {told}");
    }
}

#[test]
fn a_variable_that_is_wrong_is_named() {
    let error = World::new().read(&[("BRB_APPROVE", "maybe")]).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("BRB_APPROVE: approve is one of")
    );
    let world = World::new();
    for (said, value) in [
        ("1", "true"),
        ("on", "true"),
        ("no", "false"),
        ("false", "false"),
    ] {
        assert_eq!(
            world.value("headed", &[("BRB_HEADED", said)]),
            held(value, "environment")
        );
    }
    assert!(world.read(&[("BRB_HEADED", "maybe")]).is_err());
}

#[test]
fn paths_of_a_file_are_seen_from_its_folder() {
    let world = World::new().user(
        "profile = \"p\"\nstate_dir = \"~/s\"\nbrowser = \"chromium\"\nattach = \"profiles/x\"\n",
    );
    let at = |path| held(&world.at(path).display().to_string(), "user");
    assert_eq!(world.value("profile", &[]), at("config/p"));
    assert_eq!(world.value("state_dir", &[]), at("s"));
    assert_eq!(world.value("attach", &[]), at("config/profiles/x"));
    assert_eq!(world.value("browser", &[]), held("chromium", "user"));
    let world = World::new().user("browser = \"./chromium\"\nattach = \"http://127.0.0.1:9222\"");
    let program = world.value("browser", &[]).unwrap().0;
    assert!(Path::new(&program).is_absolute(), "{program}");
    assert_eq!(
        world.value("attach", &[]),
        held("http://127.0.0.1:9222", "user")
    );
}

#[test]
fn a_project_ends_at_its_repository() {
    let world = World::new();
    fs::write(world.at(PROJECT_FILE), "[limits]\nrounds_max = 2\n").unwrap();
    assert_eq!(world.sources().project_file(), None);
    fs::write(world.at("repo/.pi-bridge.toml"), "").unwrap();
    assert_eq!(
        world.sources().project_file(),
        Some(world.at("repo/.pi-bridge.toml"))
    );
    fs::write(world.at("repo/deep/.pi-bridge.toml"), "").unwrap();
    assert_eq!(
        world.sources().project_file(),
        Some(world.at("repo/deep/.pi-bridge.toml"))
    );
    // Without a repository the folder's own file alone is meant.
    fs::remove_dir(world.at("repo/.git")).unwrap();
    fs::remove_file(world.at("repo/deep/.pi-bridge.toml")).unwrap();
    assert_eq!(world.sources().project_file(), None);
}

#[test]
fn what_is_no_file_or_too_long_is_refused_and_nothing_waits() {
    let longest = usize::try_from(FILE_BYTES_MAX).unwrap();
    assert!(World::new().user(&"#".repeat(longest)).read(&[]).is_ok());
    let (what, _) = World::new().user(&"#".repeat(longest + 1)).wrong();
    assert!(what.ends_with("it is longer than 65536 bytes"), "{what}");
    let world = World::new();
    fs::create_dir(world.at("config/config.toml")).unwrap();
    assert!(world.wrong().0.ends_with("it is not a file"));
    let world = World::new();
    let pipe = world.at("config/config.toml");
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
    assert!(world.wrong().0.ends_with("it is not a file"));
    let world = World::new();
    fs::write(world.at("config/config.toml"), b"\xff").unwrap();
    assert!(world.wrong().0.ends_with("it is not UTF-8"));
}

#[test]
fn each_key_is_a_flag_of_a_run_and_takes_what_the_flag_takes() {
    let run = crate::cli::command();
    let run = run.find_subcommand("run").unwrap().clone();
    let mut names = std::collections::BTreeSet::new();
    for key in all() {
        assert!(names.insert(key.variable()), "{}", key.path());
        let long = key.long();
        let arg = run
            .get_arguments()
            .find(|arg| arg.get_long() == Some(&long));
        let arg = arg.unwrap_or_else(|| panic!("{long} is no flag"));
        if let Kind::Choice(choices) = key.kind {
            let taken = arg.get_possible_values();
            let taken: Vec<_> = taken.iter().map(|value| value.get_name()).collect();
            assert_eq!(taken, choices, "{long}");
        }
        let takes_none = matches!(arg.get_action(), clap::ArgAction::SetTrue);
        assert_eq!(takes_none, key.kind == Kind::Switch, "{long}");
        let help = arg.get_help().unwrap().to_string();
        let told = help.split_once("[default: ").map(|(_, rest)| rest);
        let told = told.map(|rest| rest.trim_end_matches(']').to_owned());
        if let Some(told) = told.filter(|_| key.kind != Kind::Switch) {
            assert_eq!(key.default, Some(told), "{long}");
        }
    }
}
