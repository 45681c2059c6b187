//! What `brb faults` prints: a line a run, the figures, the sum.

use std::fmt::Write as _;

use protocol::recovery::RowId;
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
    /// Of the runs that were expected to come back, how many in a hundred did.
    pub recovered_percent: usize,
    /// The figures.
    pub figures: Vec<Spread>,
}

/// In a hundred runs that no person should be needed in, so many must need none.
const RECOVERED_PERCENT_MIN: usize = 95;

impl Summary {
    /// Over all runs.
    pub fn of(runs: &[Ran]) -> Self {
        let count = |such: fn(&Ran) -> bool| runs.iter().filter(|ran| such(ran)).count();
        let recovered = count(|ran| is_as_expected(ran) && !ran.stop_expected);
        let due = count(|ran| !ran.stop_expected);
        Self {
            runs: runs.len(),
            fired: count(|ran| ran.fired),
            recovered,
            stopped_as_expected: count(|ran| is_as_expected(ran) && ran.stop_expected),
            expected_mismatch: count(|ran| ran.mismatch.is_some()),
            violations: count(|ran| !ran.violations.is_empty()),
            recovered_percent: (recovered * 100).checked_div(due).unwrap_or(100),
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
            "{} runs, {} fired, {} recovered ({} % of those that should), {} stopped as expected, \
             {} otherwise than expected, {} with violations",
            self.runs,
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
