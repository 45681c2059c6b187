//! Recordings: a folder with `timeline.jsonl`, `about.md` and, where a person wrote one
//! down, the verdict that is expected.
//!
//! Start at [`Recording::load`]. [`Judge`] takes the observations of a timeline, or of a
//! page that plays it ([`live`]), through `capture::prove` one by one.

mod expected;
mod judge;
pub mod live;
pub mod record;
pub mod redact;
pub mod replay;
mod save;
pub mod tell;

use std::{
    fmt,
    fs::File,
    io::{self, BufReader},
    path::{Path, PathBuf},
};

use fixtures::timeline::{self, Line, TimelineError, What};
use protocol::page::Observation;
use serde::Deserialize;

pub use expected::{Expected, Wanted};
pub use judge::{Awaiting, Judge, Judged};
pub use save::{save, thinned};

/// The timeline's file name.
pub const TIMELINE: &str = "timeline.jsonl";
/// The expected verdict's.
pub const EXPECTED: &str = "expected.json";
/// The description's.
pub const ABOUT: &str = "about.md";
/// The longest `expected.json`, in bytes.
const EXPECTED_BYTES_MAX: u64 = 4 << 20;

/// A recording as it lies on the disk.
#[derive(Debug, Clone)]
pub struct Recording {
    /// The folder's name.
    pub name: String,
    /// Every line of the timeline.
    pub lines: Vec<Line>,
    /// What is awaited.
    pub awaiting: Awaiting,
    /// What was seen, with its time; empty where nobody watched yet.
    pub seen: Vec<(u64, Observation)>,
    /// What it should come to, if somebody wrote it down.
    pub expected: Option<Expected>,
}

/// Why a folder holds no recording that can be used.
#[derive(Debug)]
pub enum RecordingError {
    /// A file of it cannot be read.
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// Its timeline is none.
    Timeline {
        /// The file.
        path: PathBuf,
        /// Where and why.
        error: TimelineError,
    },
    /// An observation in it is none.
    Observation {
        /// The file.
        path: PathBuf,
        /// The line, from 1, blank lines left out.
        line: usize,
        /// What the parser says.
        error: serde_json::Error,
    },
    /// Nobody's reply is awaited in it.
    NoMessage {
        /// The file.
        path: PathBuf,
    },
    /// Its expected verdict is none.
    Expected {
        /// The file.
        path: PathBuf,
        /// What the parser says.
        error: serde_json::Error,
    },
}

impl fmt::Display for RecordingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { path, error } => write!(f, "{}: {error}", path.display()),
            Self::Timeline { path, error } => write!(f, "{}: {error}", path.display()),
            Self::Observation { path, line, error } => {
                let path = path.display();
                write!(f, "{path}: line {line}: not an observation: {error}")
            }
            Self::NoMessage { path } => write!(
                f,
                "{}: no line of the kind `message`, so no reply is awaited",
                path.display()
            ),
            Self::Expected { path, error } => {
                write!(f, "{}: not an expected verdict: {error}", path.display())
            }
        }
    }
}

impl std::error::Error for RecordingError {}

impl Recording {
    /// Reads a recording's folder.
    ///
    /// # Errors
    /// [`RecordingError`], with the file and, within a timeline, the line.
    pub fn load(dir: &Path) -> Result<Self, RecordingError> {
        let path = dir.join(TIMELINE);
        let file = File::open(&path).map_err(|error| RecordingError::Io {
            path: path.clone(),
            error,
        })?;
        let lines =
            timeline::read(BufReader::new(file)).map_err(|error| RecordingError::Timeline {
                path: path.clone(),
                error,
            })?;
        let seen = observations(&lines, &path)?;
        let awaiting = Awaiting::of(&lines).ok_or(RecordingError::NoMessage { path })?;
        let name = dir
            .file_name()
            .map(|name| name.to_string_lossy().into_owned());
        Ok(Self {
            name: name.unwrap_or_default(),
            lines,
            awaiting,
            seen,
            expected: expected(&dir.join(EXPECTED))?,
        })
    }

    /// Whether it says what the page did, so that a page can play it.
    #[must_use]
    pub fn tells_the_page(&self) -> bool {
        self.lines
            .iter()
            .any(|line| matches!(line.what, What::Page(_)))
    }

    /// When the timeline ends.
    #[must_use]
    pub fn end_ms(&self) -> u64 {
        self.lines.last().map_or(0, |line| line.t_ms)
    }
}

/// How long a timeline is played at most, near enough: its clock stands still wherever
/// something of it is waited for, so that nothing is lost by haste.
const PLAYED_MS: u64 = 2_500;
/// The largest scale: under it the windows of a proof are still some milliseconds.
const SCALE_MAX: u64 = 200;

impl Recording {
    /// What the times are divided by when it is played.
    #[must_use]
    pub fn scale(&self) -> u32 {
        let span = self.end_ms().saturating_sub(self.awaiting.sent_ms);
        let scale = span.div_ceil(PLAYED_MS).clamp(1, SCALE_MAX);
        u32::try_from(scale).unwrap_or(1)
    }
}

fn observations(lines: &[Line], path: &Path) -> Result<Vec<(u64, Observation)>, RecordingError> {
    let mut seen = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let What::Observation { observation } = &line.what else {
            continue;
        };
        let observation =
            Observation::deserialize(observation).map_err(|error| RecordingError::Observation {
                path: path.to_owned(),
                line: at + 1,
                error,
            })?;
        seen.push((line.t_ms, observation));
    }
    Ok(seen)
}

fn expected(path: &Path) -> Result<Option<Expected>, RecordingError> {
    let fault = |error| RecordingError::Io {
        path: path.to_owned(),
        error,
    };
    match std::fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(fault(error)),
        Ok(file) if file.len() > EXPECTED_BYTES_MAX => {
            return Err(fault(io::Error::other(format!(
                "over {EXPECTED_BYTES_MAX} bytes"
            ))));
        }
        Ok(_) => {}
    }
    let text = std::fs::read(path).map_err(fault)?;
    serde_json::from_slice(&text)
        .map(Some)
        .map_err(|error| RecordingError::Expected {
            path: path.to_owned(),
            error,
        })
}
