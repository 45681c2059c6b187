//! Configuration: what holds where the command line says nothing.
//!
//! Environment before project file before user file before the built-in default; a flag
//! outweighs all of them, and is clap's. A value is checked where it is read, so that what
//! is wrong is said with the file and the line it stands in.

mod file;
mod keys;

use std::{
    ffi::OsString,
    fmt,
    path::{Path, PathBuf},
};

pub use keys::{Key, Kind, Reach, all};

/// The user's file, in the configuration folder.
pub const USER_FILE: &str = "config.toml";
/// A project's file, in its folder.
pub const PROJECT_FILE: &str = ".pi-bridge.toml";
/// A configuration file may be this long, in bytes.
pub const FILE_BYTES_MAX: u64 = 65_536;

/// Where a value comes from, the weakest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The user's own file.
    User {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
    },
    /// The project's file.
    Project {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
    },
    /// A variable of the environment.
    Environment {
        /// Its name.
        name: String,
    },
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User { path, line } | Self::Project { path, line } => {
                write!(f, "{}:{line}", path.display())
            }
            Self::Environment { name } => f.write_str(name),
        }
    }
}

impl Origin {
    /// The layer's name, as a program reads it.
    #[must_use]
    pub const fn layer(&self) -> &'static str {
        match self {
            Self::User { .. } => "user",
            Self::Project { .. } => "project",
            Self::Environment { .. } => "environment",
        }
    }
}

/// A value that is set somewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// What it sets.
    pub key: &'static Key,
    /// The value, as the flag would be given it.
    pub value: String,
    /// Where it is set.
    pub origin: Origin,
}

/// What is set outside of the command line: at most one value a key, the one that holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Config {
    settings: Vec<Setting>,
}

/// Why a configuration cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError {
    /// Where: a file with its line, or a variable.
    pub place: String,
    /// What is wrong there.
    pub what: String,
    /// What to do about it.
    pub remedy: String,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.what)
    }
}

impl std::error::Error for ConfigError {}

/// Where configuration is looked for.
#[derive(Debug, Clone)]
pub struct Sources {
    /// The folder that holds the user's file.
    pub user: PathBuf,
    /// The folder that is worked in.
    pub cwd: PathBuf,
    /// The person's home, for a leading `~/`.
    pub home: Option<PathBuf>,
}

impl Sources {
    /// The user's file, whether or not it is there.
    #[must_use]
    pub fn user_file(&self) -> PathBuf {
        self.user.join(USER_FILE)
    }

    /// The project's file: the nearest one from the folder upwards, not beyond the folder
    /// that holds the repository; without a repository the folder's own alone. A file that
    /// somebody else left further up is nobody's configuration.
    #[must_use]
    pub fn project_file(&self) -> Option<PathBuf> {
        let is_there = |folder: &&Path| folder.join(PROJECT_FILE).symlink_metadata().is_ok();
        let root = self.cwd.ancestors().find(|at| at.join(".git").exists());
        let root = root.unwrap_or(&self.cwd);
        let within = self.cwd.ancestors().take_while(|at| at.starts_with(root));
        let mut within = within.filter(is_there);
        within.next().map(|folder| folder.join(PROJECT_FILE))
    }
}

impl Config {
    /// Reads files and environment.
    ///
    /// # Errors
    /// [`ConfigError`]: a file that cannot be read, a key that is not known, a value that
    /// the key does not take, or one that a project may not set.
    pub fn read(
        sources: &Sources,
        environment: impl Fn(&str) -> Option<OsString>,
    ) -> Result<Self, ConfigError> {
        let mut config = Self::default();
        let home = sources.home.as_deref();
        let user = sources.user_file();
        for (key, value, line) in file::read(&user, home)?.unwrap_or_default() {
            let path = user.clone();
            config.set(key, value, Origin::User { path, line });
        }
        if let Some(path) = sources.project_file() {
            for (key, value, line) in file::read(&path, home)?.unwrap_or_default() {
                let origin = Origin::Project {
                    path: path.clone(),
                    line,
                };
                may_be_set_by_a_project(key, &origin, &user)?;
                config.set(key, value, origin);
            }
        }
        for key in all() {
            let name = key.variable();
            let Some(value) = environment(&name).filter(|value| !value.is_empty()) else {
                continue;
            };
            let said = value.to_str().map(ToOwned::to_owned);
            let value = said.ok_or_else(|| "is not text".to_owned());
            let value = value
                .and_then(|said| key.check(&said))
                .map_err(|what| ConfigError {
                    place: name.clone(),
                    what,
                    remedy: "Set the variable to a value that is taken, or unset it.".to_owned(),
                })?;
            config.set(key, value, Origin::Environment { name });
        }
        Ok(config)
    }

    /// A later layer outweighs an earlier one.
    fn set(&mut self, key: &'static Key, value: String, origin: Origin) {
        self.settings.retain(|setting| setting.key != key);
        self.settings.push(Setting { key, value, origin });
    }

    /// What is set, the weightiest last.
    #[must_use]
    pub fn settings(&self) -> &[Setting] {
        &self.settings
    }

    /// What is set for a key.
    #[must_use]
    pub fn get(&self, key: &Key) -> Option<&Setting> {
        self.settings.iter().find(|setting| setting.key == key)
    }
}

/// A project proposes, as the remote does: what reaches beyond its folder is the person's.
fn may_be_set_by_a_project(
    key: &Key,
    origin: &Origin,
    user_file: &Path,
) -> Result<(), ConfigError> {
    match key.reach {
        Reach::Anywhere => Ok(()),
        Reach::Machine => Err(ConfigError {
            place: origin.to_string(),
            what: format!("{} is not for a project to set", key.path()),
            remedy: format!(
                "Take it out; set it in {} if you want it, or give {}.",
                user_file.display(),
                key.flag()
            ),
        }),
    }
}

#[cfg(test)]
mod tests;
