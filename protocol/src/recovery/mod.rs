//! The planner: from typed facts to exactly one row of the recovery table.
//!
//! It is asked at a start, after a failed wait and after a loss; never for the
//! attempts of one send, a REPAIR or the ordinary path.

pub mod action;
pub mod chain;
mod deed;
pub mod facts;
pub mod manual;
pub mod pattern;
pub mod row;
pub mod table;
mod terms;

use std::fmt::Write as _;

pub use action::{Action, Cost};
pub use deed::{Deed, permits};
pub use facts::Facts;
pub use row::RowId;
pub use table::{Row, TABLE};

use facts::Budget;

//= spec RP1
/// The one row for these facts.
///
/// A pure function: the stop rows come first, R1 to R9 are disjoint by
/// themselves, R0 takes the rest.
pub fn plan(facts: &Facts) -> &'static Row {
    let found = TABLE.iter().find(|row| row.fits(facts));
    found.expect("the last row fits everything")
}

//= spec RP4
//= spec R13
/// What the row that these facts meet would cost, were there budget left: what
/// the caller has to look up before it can state the fact `budget`. None where
/// its action is free; then `budget` is `left`.
///
/// The budget itself is folded from the journal and keyed by the checkpoint it
/// started from, so that neither RESUME nor a restart fills it again.
pub fn cost(facts: &Facts) -> Option<Cost> {
    let facts = Facts {
        budget: Budget::Left,
        ..*facts
    };
    plan(&facts).action(&facts).cost(&facts)
}

impl Row {
    /// Whether the row is for these facts; an earlier row may be, too.
    pub fn fits(&self, facts: &Facts) -> bool {
        self.when.iter().any(|pattern| pattern.fits(facts))
    }

    /// What to do about these facts.
    pub fn action(&self, facts: &Facts) -> Action {
        let case = self.cases.iter().find(|case| case.when.fits(facts));
        case.expect("the last case of a row fits everything").act
    }
}

impl RowId {
    /// The row of that name.
    pub fn row(self) -> &'static Row {
        let found = TABLE.iter().find(|row| row.id == self);
        found.expect("every id has its row")
    }
}

/// The table as text: in snapshots, in ARCHITECTURE.md, in `brb explain`.
pub fn render() -> String {
    let mut out = String::new();
    for row in &TABLE {
        render_row(row, &mut out);
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

fn render_row(row: &Row, out: &mut String) {
    // Writing to a String cannot fail.
    let _ = writeln!(out, "{:<4} {}", row.id, row.failure);
    for (at, pattern) in row.when.iter().enumerate() {
        let label = if at == 0 { "when" } else { "or" };
        let _ = writeln!(out, "     {label:<6} {}", pattern.text());
    }
    for (at, case) in row.cases.iter().enumerate() {
        let label = if at == 0 { "do" } else { "" };
        let _ = match (row.cases.len(), at + 1 == row.cases.len()) {
            (1, _) => writeln!(out, "     {label:<6} {}", case.act),
            (_, true) => writeln!(out, "     {label:<6} else: {}", case.act),
            (_, false) => writeln!(out, "     {label:<6} {}: {}", case.when.text(), case.act),
        };
    }
    let _ = writeln!(out, "     never  {}", row.never.join(", "));
    let _ = writeln!(out, "     why    {}\n", row.why);
}

#[cfg(test)]
pub(crate) mod tests;
