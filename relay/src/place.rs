//! Where things lie: state, configuration, cache, each in the person's own
//! folders, as the XDG base directories say.

use std::{
    fmt, fs, io,
    path::{Path, PathBuf},
};

use etcetera::BaseStrategy;
use protocol::id::Sid;

use crate::journal::JOURNAL;

/// The name of our folder within each of the person's.
const NAME: &str = "pi-bridge";

/// The folders of this person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Sessions, locks, logs, the relay's own browser profile.
    pub state: PathBuf,
    /// Configuration.
    pub config: PathBuf,
    /// What can be made anew at any time.
    pub cache: PathBuf,
}

/// The person's folders cannot be found: there is no home.
#[derive(Debug)]
pub struct NoHome;

impl fmt::Display for NoHome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the home folder cannot be found, so there is no state folder")
    }
}

impl std::error::Error for NoHome {}

impl Place {
    /// The folders of this person, with `state` in place of the usual one.
    ///
    /// # Errors
    /// [`NoHome`].
    pub fn find(state: Option<PathBuf>) -> Result<Self, NoHome> {
        let base = etcetera::choose_base_strategy().map_err(|_| NoHome)?;
        let usual = || base.state_dir().unwrap_or_else(|| base.data_dir());
        Ok(Self {
            state: state.unwrap_or_else(|| usual().join(NAME)),
            config: base.config_dir().join(NAME),
            cache: base.cache_dir().join(NAME),
        })
    }

    /// Makes the state folder, for its owner alone, where it is not there yet.
    ///
    /// # Errors
    /// What the file system says.
    pub fn make_state(&self) -> io::Result<()> {
        crate::journal::make_folder(&self.state)
    }

    /// The folder of one session.
    #[must_use]
    pub fn session(&self, sid: &Sid) -> PathBuf {
        self.state.join(sid.as_str())
    }

    /// The journal of one session.
    #[must_use]
    pub fn journal(&self, sid: &Sid) -> PathBuf {
        self.session(sid).join(JOURNAL)
    }

    /// The log of one session.
    #[must_use]
    pub fn log(&self, sid: &Sid) -> PathBuf {
        self.state.join("logs").join(format!("{sid}.log"))
    }

    /// The list of sessions, made from their journals; never the truth.
    #[must_use]
    pub fn index(&self) -> PathBuf {
        self.state.join("index.sqlite3")
    }

    /// The profile of the browser that the relay starts itself.
    #[must_use]
    pub fn profile(&self) -> PathBuf {
        self.state.join("profile")
    }

    /// The sessions that have a folder here, in no order that means anything.
    ///
    /// # Errors
    /// What the file system says; a state folder that is not there has none.
    pub fn sessions(&self) -> io::Result<Vec<Sid>> {
        let entries = match fs::read_dir(&self.state) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut sids = Vec::new();
        for entry in entries {
            if let Some(sid) = sid_of(&entry?.path()) {
                sids.push(sid);
            }
        }
        sids.sort_unstable();
        Ok(sids)
    }
}

/// The session whose folder this is, by its name.
fn sid_of(path: &Path) -> Option<Sid> {
    Sid::parse(path.file_name()?.to_str()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_folder_that_is_given_takes_the_place_of_the_usual_one_alone() {
        let usual = Place::find(None).unwrap();
        let given = Place::find(Some("/somewhere".into())).unwrap();
        assert!(usual.state.ends_with("pi-bridge"));
        assert_eq!(given.state, Path::new("/somewhere"));
        assert_eq!((given.config, given.cache), (usual.config, usual.cache));
    }

    #[test]
    fn only_folders_named_by_a_sid_are_sessions() {
        let dir = tempfile::tempdir().unwrap();
        let place = Place::find(Some(dir.path().to_owned())).unwrap();
        assert_eq!(place.sessions().unwrap(), []);
        for name in [
            "0011223344556677",
            "logs",
            "001122334455667",
            "0011223344556677x",
            "0000000000000001",
        ] {
            fs::create_dir(dir.path().join(name)).unwrap();
        }
        let sids: Vec<String> = place
            .sessions()
            .unwrap()
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(sids, ["0000000000000001", "0011223344556677"]);
        let none = Place::find(Some(dir.path().join("none"))).unwrap();
        assert_eq!(none.sessions().unwrap(), []);
    }
}
