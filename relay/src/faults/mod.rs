//! `brb faults`: the demo's session in a real browser, disturbed once in each run, at
//! each step at which that makes sense. What came of it is held against the matrix.

mod check;
mod child;
mod frames;
mod inject;
mod matrix;
mod measure;
mod one;
mod procs;
mod proxy;
mod reach;
mod report;
mod setting;
mod tab;
mod what;

use std::{fmt, path::PathBuf};

pub use fixtures::server::Layout;
pub use matrix::{Case, Matrix, MatrixError};
pub use one::{Means, Ran};
pub use report::{Summary, figures, head, line};

/// A run that missed its step is made again so often.
const TRIES_MAX: u32 = 3;

/// Why a run could not even be begun.
#[derive(Debug)]
pub struct SettingError(String);

impl SettingError {
    fn of(error: impl fmt::Display) -> Self {
        Self(error.to_string())
    }
}

impl fmt::Display for SettingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the run's setting could not be made: {}", self.0)
    }
}

impl std::error::Error for SettingError {}

/// Which runs are made.
#[derive(Debug, Clone, Default)]
pub struct Choice {
    /// Only these; none: all.
    pub only: Vec<String>,
    /// Only the committed selection.
    pub ci: bool,
    /// The i-th of n parts, from 1.
    pub shard: Option<(usize, usize)>,
}

/// A choice that means nothing.
#[derive(Debug, PartialEq, Eq)]
pub struct NoSuchCase(pub String);

/// The runs that are chosen.
///
/// # Errors
/// [`NoSuchCase`] for a name that no case bears.
pub fn chosen(matrix: &Matrix, choice: &Choice) -> Result<Vec<Case>, NoSuchCase> {
    let unknown = |name: &&String| !matrix.cases.iter().any(|case| case.is_meant(name));
    if let Some(name) = choice.only.iter().find(unknown) {
        return Err(NoSuchCase(name.clone()));
    }
    let meant = |names: &[String], case: &Case| names.iter().any(|name| case.is_meant(name));
    let cases = matrix
        .cases
        .iter()
        .filter(|case| choice.only.is_empty() || meant(&choice.only, case))
        .filter(|case| !choice.ci || meant(&matrix.ci, case));
    let cases = cases.enumerate().filter(|(nth, _)| {
        choice
            .shard
            .is_none_or(|(part, of)| nth % of.max(1) == part.saturating_sub(1))
    });
    Ok(cases.map(|(_, case)| case.clone()).collect())
}

/// Makes one run, again where it missed its step.
///
/// # Errors
/// [`SettingError`] when it cannot be begun.
pub async fn run(case: &Case, means: &Means) -> Result<Ran, SettingError> {
    let mut ran = one::run(case, means).await?;
    for tries in 2..=TRIES_MAX {
        if ran.fired || !ran.violations.is_empty() {
            break;
        }
        ran = one::run(case, means).await?;
        ran.tries = tries;
    }
    Ok(ran)
}

/// Ends whatever a run that was given up has left.
pub fn end_all() {
    procs::kill_marked(&setting::our_marks());
}

/// The browser's program: the one given, or the first known one.
pub fn browser(given: Option<PathBuf>) -> Option<PathBuf> {
    given.or_else(cdp::known_program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shards_make_up_the_whole_and_share_nothing() {
        let matrix = Matrix::committed().unwrap();
        let names = |shard| {
            let choice = Choice {
                shard,
                ..Choice::default()
            };
            let cases = chosen(&matrix, &choice).unwrap();
            cases.iter().map(Case::name).collect::<Vec<_>>()
        };
        let whole = names(None);
        let mut parts: Vec<_> = (1..=3).flat_map(|part| names(Some((part, 3)))).collect();
        assert_eq!(parts.len(), whole.len());
        parts.sort();
        let mut sorted = whole;
        sorted.sort();
        assert_eq!(parts, sorted);
    }

    #[test]
    fn a_name_that_no_case_bears_is_refused() {
        let matrix = Matrix::committed().unwrap();
        let only = |name: &str| {
            let choice = Choice {
                only: vec![name.to_owned()],
                ..Choice::default()
            };
            chosen(&matrix, &choice).map(|cases| cases.len())
        };
        assert_eq!(only("fin"), Ok(11));
        assert_eq!(only("fin@streaming"), Ok(1));
        assert_eq!(only("fin@nowhere"), Err(NoSuchCase("fin@nowhere".into())));
    }
}
