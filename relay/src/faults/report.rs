//! What `brb faults` prints: a line a run, the figures, the sum.

use std::fmt::Write as _;

use protocol::{outcome::Outcome, recovery::RowId};
use serde::Serialize;

use super::{
    measure::{self, Spread},
    one::Ran,
};

/// The head of the table.
pub fn head() -> String {
    row([
        "fault", "step", "fired", "rows", "expected", "outcome", "recovery", "dup", "twice",
        "part", "verdict",
    ])
}

/// One run as a line of the table, with what is wrong with it below.
pub fn line(ran: &Ran) -> String {
    let outcome = ran
        .outcome
        .map_or("-".to_owned(), |outcome| outcome.to_string());
    let recovery = ran
        .recovery_ms
        .map_or("-".to_owned(), |ms| format!("{ms} ms"));
    let mut out = row([
        &ran.fault,
        ran.step.name(),
        if ran.fired { "yes" } else { "NO" },
        &names(&ran.rows),
        &names(&ran.expected),
        &outcome,
        &recovery,
        &ran.found.duplicates.to_string(),
        &ran.found.plans_twice.to_string(),
        &ran.found.partials.to_string(),
        if is_clean(ran) { "ok" } else { "WRONG" },
    ]);
    // Writing to a String cannot fail.
    for wrong in ran.mismatch.iter().chain(&ran.violations) {
        let _ = writeln!(out, "    {wrong}");
    }
    if !is_clean(ran) && !ran.why.is_empty() {
        let _ = writeln!(out, "    it ended because {}", ran.why);
    }
    if ran.tries > 1 {
        let _ = writeln!(out, "    it reached its step at try {}", ran.tries);
    }
    if let Some(kept) = &ran.kept {
        let _ = writeln!(out, "    left to look at: {}", kept.display());
    }
    out
}

fn row(cells: [&str; 11]) -> String {
    let [
        fault,
        step,
        fired,
        rows,
        expected,
        outcome,
        recovery,
        dup,
        twice,
        part,
        verdict,
    ] = cells;
    format!(
        "{fault:<26} {step:<16} {fired:<5} {rows:<10} {expected:<10} {outcome:<11} {recovery:>9} {dup:>3} {twice:>5} {part:>4}  {verdict}\n"
    )
}

fn names(rows: &[RowId]) -> String {
    match rows {
        [] => "-".to_owned(),
        rows => rows
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(" "),
    }
}

fn is_clean(ran: &Ran) -> bool {
    ran.fired && ran.mismatch.is_none() && ran.violations.is_empty()
}

/// The figures over all runs, with what they are meant to stay under.
pub fn figures(runs: &[Ran]) -> Vec<Spread> {
    measure::spreads(runs.iter().filter_map(|ran| ran.measured))
}

/// The last line.
#[derive(Debug, Clone, Serialize)]
pub struct Summary {
    /// Runs made.
    pub runs: usize,
    /// Runs whose fault happened at its step.
    pub fired: usize,
    /// Runs that came back by themselves and ended in done.
    pub recovered: usize,
    /// Runs in which a person was expected to have to decide, and does.
    pub stopped_as_expected: usize,
    /// Runs that took other rows, or ended otherwise, than expected.
    pub expected_mismatch: usize,
    /// Runs that did what no run may.
    pub violations: usize,
    /// Of the runs in which a row is taken that is no stop, how many in a hundred end
    /// in done without a person.
    #[serde(skip)]
    pub recovered_percent: usize,
    /// Runs that missed their step at first and were made again.
    #[serde(skip)]
    pub again: usize,
    /// The figures.
    #[serde(skip)]
    pub figures: Vec<Spread>,
}

/// In a hundred runs that no person should be needed in, so many must need none.
const RECOVERED_PERCENT_MIN: usize = 95;

impl Summary {
    /// Over all runs.
    pub fn of(runs: &[Ran]) -> Self {
        let count = |such: fn(&Ran) -> bool| runs.iter().filter(|ran| such(ran)).count();
        let recovered = count(is_recovered);
        // A run in which nothing was lost would make recovery look better than it is.
        let due = count(|ran| !ran.stop_expected && !ran.expected.is_empty());
        let came_back = count(|ran| is_recovered(ran) && !ran.expected.is_empty());
        Self {
            runs: runs.len(),
            fired: count(|ran| ran.fired),
            recovered,
            stopped_as_expected: count(|ran| is_as_expected(ran) && ran.stop_expected),
            expected_mismatch: count(|ran| ran.mismatch.is_some()),
            violations: count(|ran| !ran.violations.is_empty()),
            recovered_percent: (came_back * 100).checked_div(due).unwrap_or(100),
            again: count(|ran| ran.tries > 1),
            figures: figures(runs),
        }
    }

    /// Whether everything was as it must be.
    pub fn is_clean(&self) -> bool {
        self.fired == self.runs
            && self.expected_mismatch == 0
            && self.violations == 0
            && self.recovered_percent >= RECOVERED_PERCENT_MIN
    }

    /// Whether every figure stays under its target.
    pub fn is_fast(&self) -> bool {
        self.figures.iter().all(Spread::is_met)
    }

    /// For people.
    pub fn told(&self) -> String {
        let mut out = String::new();
        // Writing to a String cannot fail.
        for one in &self.figures {
            let _ = writeln!(
                out,
                "{:<52} p50 {:>6} ms  p95 {:>6} ms  meant ≤ {:>6} ms  ({} runs)",
                one.figure.what(),
                one.p50_ms,
                one.p95_ms,
                one.target_ms,
                one.runs
            );
        }
        let _ = writeln!(
            out,
            "{} runs ({} made again), {} fired, {} recovered ({} % of those with a row that should), \
             {} stopped as expected, {} otherwise than expected, {} with violations",
            self.runs,
            self.again,
            self.fired,
            self.recovered,
            self.recovered_percent,
            self.stopped_as_expected,
            self.expected_mismatch,
            self.violations
        );
        out
    }
}

fn is_as_expected(ran: &Ran) -> bool {
    ran.fired && ran.mismatch.is_none()
}

/// It went on by itself to its end, whichever way it took.
fn is_recovered(ran: &Ran) -> bool {
    ran.fired && !ran.stop_expected && ran.outcome == Some(Outcome::Done)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::faults::what::At;

    fn ran(expected: &[RowId], outcome: Outcome) -> Ran {
        Ran {
            fault: "fin".to_owned(),
            step: At::Thinking,
            fired: true,
            tries: 1,
            rows: expected.to_vec(),
            expected: expected.to_vec(),
            outcome: Some(outcome),
            stop_expected: false,
            why: String::new(),
            recovery_ms: None,
            measured: None,
            mismatch: None,
            found: crate::faults::one::Tally::default(),
            violations: Vec::new(),
            kept: None,
            took_ms: 1,
        }
    }

    #[test]
    fn the_last_line_holds_the_six_counts_and_nothing_else() {
        let sum = Summary::of(&[ran(&[RowId::R3], Outcome::Done)]);
        assert_eq!(
            serde_json::to_string(&sum).unwrap(),
            "{\"runs\":1,\"fired\":1,\"recovered\":1,\"stopped_as_expected\":0,\
             \"expected_mismatch\":0,\"violations\":0}"
        );
        assert!(sum.is_clean());
    }

    #[test]
    fn recovery_below_nineteen_in_twenty_fails_and_runs_without_a_row_do_not_help() {
        let lost = |outcome| ran(&[RowId::R3], outcome);
        let mut runs: Vec<Ran> = (0..19).map(|_| lost(Outcome::Done)).collect();
        runs.push(lost(Outcome::Manual));
        assert_eq!(Summary::of(&runs).recovered_percent, 95);
        assert!(Summary::of(&runs).is_clean());
        runs.push(lost(Outcome::Manual));
        runs.extend((0..100).map(|_| ran(&[], Outcome::Done)));
        assert_eq!(Summary::of(&runs).recovered_percent, 90);
        assert!(!Summary::of(&runs).is_clean());
    }

    #[test]
    fn what_did_not_fire_ended_otherwise_or_did_wrong_is_not_clean() {
        let spoiled: [fn(&mut Ran); 3] = [
            |ran| ran.fired = false,
            |ran| ran.mismatch = Some("R4 in place of R3".to_owned()),
            |ran| ran.violations.push("a message twice".to_owned()),
        ];
        for spoil in spoiled {
            let mut one = ran(&[RowId::R3], Outcome::Done);
            spoil(&mut one);
            assert!(!Summary::of(&[one.clone()]).is_clean());
            assert!(line(&one).contains("WRONG"));
        }
    }

    #[test]
    fn a_run_that_was_made_again_says_so() {
        let mut one = ran(&[RowId::R3], Outcome::Done);
        one.tries = 2;
        assert!(line(&one).contains("at try 2"));
        assert_eq!(Summary::of(&[one]).again, 1);
    }
}
