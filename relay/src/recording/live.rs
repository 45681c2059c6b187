//! Plays a timeline on the stand-in page in a real browser and judges what the driver
//! and the observer say of it.
//!
//! The clock that the proof sees is the timeline's: host time since the message, times
//! the scale. So seven minutes can pass in seven seconds under unchanged limits. It stands
//! still from each step of the timeline until the page has carried the step out and was
//! looked at, and while a look or a copy is waited for: a verdict does not depend on how
//! fast the machine is, only on what is seen.

mod house;

use std::fmt;

use capture::Limits;
use fixtures::{
    server::{StandinConfig, StandinError, start},
    timeline::Line,
};

use self::house::{House, Span};
use super::{Awaiting, Judged};

/// How a timeline is to be played.
#[derive(Debug, Clone)]
pub struct Stage {
    /// Which browser.
    pub endpoint: cdp::Endpoint,
    /// What the timeline's times are divided by.
    pub scale: u32,
    /// The limits of the proof.
    pub limits: Limits,
    /// Whether the browser stays open, where it was started for this.
    pub keep_browser: bool,
}

/// What a timeline came to in a real page.
#[derive(Debug, Clone)]
pub struct Played {
    /// The first judgement that ended the wait, or else the last one.
    pub judged: Judged,
    /// What was seen and asked for, in the timeline's time.
    pub lines: Vec<Line>,
}

/// Why a timeline could not be played.
#[derive(Debug)]
pub enum PlayError {
    /// The stand-in did not start.
    Standin(StandinError),
    /// The driver ended.
    DriverEnded,
    /// No attachment, no page to type into, or no sight of it, within the time for it.
    NotReady {
        /// What was waited for.
        what: &'static str,
        /// The last thing heard.
        heard: String,
    },
    /// What came out of the page did not parse, which no stand-in brings about.
    Malformed {
        /// What the parser said.
        why: String,
    },
}

impl fmt::Display for PlayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Standin(error) => write!(f, "{error}"),
            Self::DriverEnded => f.write_str("the driver ended"),
            Self::NotReady { what, heard } => {
                write!(f, "not seen in time: {what}; last heard: {heard}")
            }
            Self::Malformed { why } => write!(f, "an observation that does not parse: {why}"),
        }
    }
}

impl std::error::Error for PlayError {}

/// Plays `lines` and judges the reply that they are about.
///
/// # Errors
/// [`PlayError`] where it came to no play at all.
pub async fn play(lines: &[Line], awaiting: &Awaiting, stage: &Stage) -> Result<Played, PlayError> {
    let config = StandinConfig::playing(lines.to_vec(), stage.scale);
    let standin = start(config).await.map_err(PlayError::Standin)?;
    let mut house = House::open(standin, awaiting, stage);
    let result = house.run(Span::of(lines)).await;
    let seen = house.close().await;
    result.map(|judged| Played {
        judged,
        lines: seen,
    })
}
