//! The keys: each names a flag of the command line.

use std::sync::LazyLock;

use protocol::limits::Limits;

/// The table in which limits stand.
pub const LIMITS: &str = "limits";

/// Who may set it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// The person alone: it reaches beyond the project's folder.
    Machine,
    /// A project, too.
    Anywhere,
}

/// What values are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// One line of text.
    Text,
    /// A path; in a file it is seen from the file's own folder, and `~/` is the home.
    Path,
    /// A program: a path, or a name that is looked for on PATH.
    Program,
    /// A browser: an address, or a profile folder.
    Endpoint,
    /// On or off.
    Switch,
    /// One of these.
    Choice(&'static [&'static str]),
    /// A number in this range.
    Number {
        /// The least.
        min: u64,
        /// The greatest.
        max: u64,
    },
}

/// Something that can be set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// The name, unit last.
    pub name: &'static str,
    /// Whether it stands in the table of limits.
    pub is_limit: bool,
    /// What values are taken.
    pub kind: Kind,
    /// Who may set it.
    pub reach: Reach,
    /// What holds where nothing is set, as a file would say it; none where there is nothing
    /// to say.
    pub default: Option<String>,
    /// What it is.
    pub what: &'static str,
}

impl Key {
    /// The name with its table.
    #[must_use]
    pub fn path(&self) -> String {
        if self.is_limit {
            format!("{LIMITS}.{}", self.name)
        } else {
            self.name.to_owned()
        }
    }

    /// The flag, without its dashes in front.
    #[must_use]
    pub fn long(&self) -> String {
        self.name.replace('_', "-")
    }

    /// The flag.
    #[must_use]
    pub fn flag(&self) -> String {
        format!("--{}", self.long())
    }

    /// The variable of the environment.
    #[must_use]
    pub fn variable(&self) -> String {
        format!("BRB_{}", self.name.to_ascii_uppercase())
    }

    /// The value as the flag is given it.
    ///
    /// # Errors
    /// What is wrong with it, as the rest of a sentence.
    pub fn check(&self, said: &str) -> Result<String, String> {
        let one_line = !said.trim().is_empty() && !said.contains(char::is_control);
        match self.kind {
            Kind::Text | Kind::Path | Kind::Program | Kind::Endpoint if one_line => {
                Ok(said.to_owned())
            }
            Kind::Text | Kind::Path | Kind::Program | Kind::Endpoint => {
                Err(format!("{} wants one line of text", self.path()))
            }
            Kind::Switch => match said {
                "true" | "yes" | "on" | "1" => Ok("true".to_owned()),
                "false" | "no" | "off" | "0" => Ok("false".to_owned()),
                _ => Err(format!("{} is true or false, not {said:?}", self.path())),
            },
            Kind::Choice(choices) if choices.contains(&said) => Ok(said.to_owned()),
            Kind::Choice(choices) => Err(format!(
                "{} is one of {}, not {said:?}",
                self.path(),
                choices.join(", ")
            )),
            Kind::Number { min, max } => match said.parse::<u64>() {
                Ok(number) if (min..=max).contains(&number) => Ok(number.to_string()),
                Ok(_) | Err(_) => Err(format!(
                    "{} is a number from {min} to {max}, not {said:?}",
                    self.path()
                )),
            },
        }
    }
}

/// Every key.
#[must_use]
pub fn all() -> &'static [Key] {
    &ALL
}

/// The key of that name, among the limits or outside of them.
pub(super) fn find(name: &str, is_limit: bool) -> Option<&'static Key> {
    let mut keys = all().iter();
    keys.find(|key| key.is_limit == is_limit && key.name == name)
}

static ALL: LazyLock<Vec<Key>> = LazyLock::new(|| {
    let mut keys = vec![
        machine("attach", Kind::Endpoint, None, "a running browser to use"),
        machine(
            "chat",
            Kind::Text,
            Some("https://chatgpt.com/"),
            "the chat page",
        ),
        machine(
            "profile",
            Kind::Path,
            None,
            "the profile of a browser that is started",
        ),
        machine(
            "browser",
            Kind::Program,
            None,
            "the browser program to start",
        ),
        machine("headed", Kind::Switch, Some("false"), "show its window"),
        machine(
            "keep_browser",
            Kind::Switch,
            Some("false"),
            "leave it open at the end",
        ),
        machine(
            "agent",
            Kind::Choice(&["shell", "command"]),
            Some("shell"),
            "who carries plans out",
        ),
        machine("agent_cmd", Kind::Text, None, "the program that does"),
        machine(
            "agent_net",
            Kind::Choice(&["on", "off"]),
            Some("off"),
            "whether that program reaches the network",
        ),
        machine(
            "approve",
            Kind::Choice(&["read-only", "ask", "workspace", "all"]),
            Some("ask"),
            "what of a plan may run",
        ),
        machine(
            "sandbox",
            Kind::Choice(&["require", "off"]),
            Some("require"),
            "whether to go on without a sandbox",
        ),
        machine(
            "state_dir",
            Kind::Path,
            None,
            "where sessions, locks and logs are kept",
        ),
        machine(
            "log",
            Kind::Choice(&["off", "error", "warn", "info", "debug", "trace"]),
            None,
            "how much is logged",
        ),
        Key {
            reach: Reach::Anywhere,
            ..machine(
                "stop_file",
                Kind::Path,
                None,
                "a run ends at the next safe point when this file appears",
            )
        },
    ];
    keys.extend(Limits::ALL.iter().map(|limit| Key {
        name: limit.name,
        is_limit: true,
        kind: Kind::Number {
            min: limit.min,
            max: limit.max,
        },
        reach: Reach::Anywhere,
        default: Some(limit.default.to_string()),
        what: limit.what.trim(),
    }));
    keys
});

fn machine(name: &'static str, kind: Kind, default: Option<&str>, what: &'static str) -> Key {
    Key {
        name,
        is_limit: false,
        kind,
        reach: Reach::Machine,
        default: default.map(ToOwned::to_owned),
        what,
    }
}
