//! The matrix: for each fault and step whether it applies, and what must come of it.
//! It is data, written from the rules before anything ran; the code below only reads it.

use std::{collections::BTreeMap, fmt};

use fixtures::{fault::FaultKind, step::Phase};
use protocol::{outcome::Outcome, recovery::RowId};
use serde::Deserialize;

use super::what::{Act, At, Fault};

/// The committed matrix.
const COMMITTED: &str = include_str!("../../../fixtures/faults/matrix.toml");

/// What must come of a fault.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// The rows taken from the fault on, in their order, repetitions left out; empty
    /// where the planner is not asked.
    pub rows: Vec<RowId>,
    /// Rows that may come between, because the page's timing decides.
    #[serde(default)]
    pub may: Vec<RowId>,
    /// How the run ends: one of these.
    pub outcome: Vec<Outcome>,
    /// The clause that says so.
    pub by: String,
    /// Why, where the clause alone does not tell.
    #[serde(default)]
    pub why: String,
}

impl Expect {
    /// Whether a person is expected to have to decide.
    pub fn is_stop(&self) -> bool {
        !self.outcome.contains(&Outcome::Done)
    }
}

/// Faults from outside that share what is expected.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Acts {
    names: Vec<Act>,
    /// What is expected where nothing else is said.
    usual: Expect,
    /// Steps at which something else is expected.
    #[serde(default)]
    at: BTreeMap<At, Expect>,
    /// Steps at which it does not apply, and why.
    #[serde(default)]
    not: BTreeMap<At, String>,
}

/// Switches of the stand-in that share a phase and what is expected.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Switches {
    names: Vec<FaultKind>,
    phase: Phase,
    steps: Vec<At>,
    ms: Option<u64>,
    place: Option<u8>,
    len: Option<u32>,
    text: Option<String>,
    /// How often; 0 is each time.
    times: Option<u32>,
    usual: Expect,
}

/// A phase of switches that is not played, and why.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LeftOut {
    names: Vec<FaultKind>,
    phase: Phase,
    why: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    /// What `--ci` runs.
    ci: Vec<String>,
    acts: Vec<Acts>,
    switches: Vec<Switches>,
    left_out: Vec<LeftOut>,
}

/// One run to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    /// What goes wrong.
    pub fault: Fault,
    /// When.
    pub at: At,
    /// What must come of it.
    pub expect: Expect,
}

impl Case {
    /// `fault@step`.
    pub fn name(&self) -> String {
        format!("{}@{}", self.fault.name(), self.at)
    }

    /// Whether `only`, as given by a person, means this one.
    pub fn is_meant(&self, only: &str) -> bool {
        match only.split_once('@') {
            None => self.fault.name() == only,
            Some((fault, at)) => self.fault.name() == fault && self.at.name() == at,
        }
    }
}

/// Why the matrix cannot be used. It is ours, so that only a change of it can fail.
#[derive(Debug, PartialEq, Eq)]
pub struct MatrixError(String);

impl fmt::Display for MatrixError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the matrix of faults makes no sense: {}", self.0)
    }
}

impl std::error::Error for MatrixError {}

/// All that the matrix says.
#[derive(Debug)]
pub struct Matrix {
    /// Every run, fault by fault.
    pub cases: Vec<Case>,
    /// The names of those that `--ci` runs.
    pub ci: Vec<String>,
    /// What does not apply: the fault, the step or phase, and why.
    pub not: Vec<(&'static str, String, String)>,
}

impl Matrix {
    /// The committed one.
    ///
    /// # Errors
    /// When it does not read or is not whole.
    pub fn committed() -> Result<Self, MatrixError> {
        Self::parse(COMMITTED)
    }

    fn parse(text: &str) -> Result<Self, MatrixError> {
        let file: File = toml::from_str(text).map_err(|error| MatrixError(error.to_string()))?;
        let mut matrix = Self {
            cases: Vec::new(),
            ci: file.ci,
            not: Vec::new(),
        };
        for acts in file.acts {
            matrix.add_acts(&acts);
        }
        for switches in file.switches {
            matrix.add_switches(&switches)?;
        }
        for LeftOut { names, phase, why } in file.left_out {
            for name in names {
                let phase = phase.name().to_owned();
                matrix.not.push((name.name(), phase, why.clone()));
            }
        }
        matrix.whole()?;
        Ok(matrix)
    }

    fn add_acts(&mut self, acts: &Acts) {
        for act in &acts.names {
            for at in At::ALL {
                if let Some(why) = acts.not.get(&at) {
                    let step = at.name().to_owned();
                    self.not.push((act.name(), step, why.clone()));
                    continue;
                }
                let special = acts.at.get(&at).cloned();
                self.cases.push(Case {
                    fault: Fault::Act(*act),
                    at,
                    expect: special.unwrap_or_else(|| acts.usual.clone()),
                });
            }
        }
    }

    fn add_switches(&mut self, switches: &Switches) -> Result<(), MatrixError> {
        for kind in &switches.names {
            for at in &switches.steps {
                let wrong = || MatrixError(format!("{} at {at}", kind.name()));
                let mut fault = Fault::switch(*kind, switches.phase, *at).ok_or_else(wrong)?;
                if let Some(spec) = fault.spec_mut() {
                    spec.ms = switches.ms;
                    spec.at = switches.place;
                    spec.len = switches.len;
                    spec.text.clone_from(&switches.text);
                    spec.times = switches.times.unwrap_or(spec.times);
                    *spec = spec
                        .clone()
                        .checked()
                        .map_err(|error| MatrixError(error.to_string()))?;
                }
                self.cases.push(Case {
                    fault,
                    at: *at,
                    expect: switches.usual.clone(),
                });
            }
        }
        Ok(())
    }

    /// Every fault and step is spoken of, once; every word of `ci` means something.
    fn whole(&self) -> Result<(), MatrixError> {
        let twice = self.cases.iter().enumerate().find(|(n, case)| {
            let before = &self.cases[..*n];
            before.iter().any(|other| other.name() == case.name())
        });
        if let Some((_, case)) = twice {
            return Err(MatrixError(format!("{} stands there twice", case.name())));
        }
        for act in Act::ALL {
            let told = self.cases.iter().any(|case| case.fault == Fault::Act(*act));
            if !told {
                return Err(MatrixError(format!("{} is missing", act.name())));
            }
        }
        for kind in FaultKind::ALL {
            for phase in kind.phases() {
                let played = self.cases.iter().any(|case| match &case.fault {
                    Fault::Switch(spec) | Fault::AtReload(spec) => {
                        spec.fault == *kind && spec.step.phase == Some(*phase)
                    }
                    Fault::Act(_) => false,
                });
                let left_out = self
                    .not
                    .iter()
                    .any(|(name, at, _)| *name == kind.name() && at == phase.name());
                if !played && !left_out {
                    let what = format!("{} at {} is missing", kind.name(), phase.name());
                    return Err(MatrixError(what));
                }
            }
        }
        let nothing = |name: &&String| !self.cases.iter().any(|case| case.is_meant(name));
        match self.ci.iter().find(nothing) {
            Some(name) => Err(MatrixError(format!("ci: {name} means nothing"))),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn committed() -> Matrix {
        Matrix::committed().unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn the_committed_matrix_is_whole_and_every_case_rests_on_a_clause() {
        let matrix = committed();
        for case in &matrix.cases {
            assert!(!case.expect.by.is_empty(), "{}", case.name());
            assert!(!case.expect.outcome.is_empty(), "{}", case.name());
        }
        for (fault, at, why) in &matrix.not {
            assert!(!why.is_empty(), "{fault} at {at}");
        }
    }

    #[test]
    fn r0_is_expected_only_where_a_clause_names_it() {
        for case in committed().cases {
            let named = ["RP8", "W11", "E1"]
                .iter()
                .any(|clause| case.expect.by.contains(clause));
            assert!(
                !case.expect.rows.contains(&RowId::R0) || named,
                "{}: {}",
                case.name(),
                case.expect.by
            );
        }
    }

    #[test]
    fn a_run_that_ends_in_done_is_expected_to_take_no_stop_row() {
        use RowId::{R0, R10, R11, R12, R13, R14, R15};
        let stops = [R0, R10, R11, R12, R13, R14, R15];
        for case in committed().cases {
            let stopped = case.expect.rows.iter().any(|row| stops.contains(row));
            let alone = case.expect.outcome == [Outcome::Done];
            assert!(!stopped || case.expect.is_stop(), "{}", case.name());
            assert!(alone || case.expect.is_stop(), "{}", case.name());
        }
    }

    #[test]
    fn a_matrix_with_a_hole_is_refused() {
        let whole = COMMITTED.replace("\"detach\"", "\"detach\", \"detach\"");
        assert!(Matrix::parse(&whole).is_err(), "a fault twice");
        let hole = COMMITTED.replacen(", \"detach\"", "", 1);
        let Err(MatrixError(why)) = Matrix::parse(&hole) else {
            panic!("a hole was not seen")
        };
        assert!(why.contains("detach"), "{why}");
    }
}
