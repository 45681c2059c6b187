//! What the documents at the root say of the core is what the core says.

use protocol::{
    outcome::{Outcome, Signal},
    recovery, send,
};

const ARCHITECTURE: &str = include_str!("../../ARCHITECTURE.md");
const README: &str = include_str!("../../README.md");

#[test]
fn the_architecture_shows_the_recovery_table_as_it_is() {
    let block = format!("```text\n{}```\n", recovery::render());
    assert!(
        ARCHITECTURE.contains(&block),
        "ARCHITECTURE.md shows another recovery table than:\n{block}"
    );
}

#[test]
fn the_architecture_shows_what_each_evidence_of_a_send_proves() {
    let block = format!("```text\n{}```\n", send::render());
    assert!(
        ARCHITECTURE.contains(&block),
        "ARCHITECTURE.md shows another table of evidence than:\n{block}"
    );
}

#[test]
fn the_readme_names_every_outcome_with_its_exit() {
    for outcome in Outcome::WORST_FIRST {
        let exit = match outcome {
            Outcome::Interrupted => "130, 143".to_owned(),
            Outcome::Unknown
            | Outcome::Manual
            | Outcome::Defect
            | Outcome::Stopped
            | Outcome::Violation
            | Outcome::Blocked
            | Outcome::Boundary
            | Outcome::Environment
            | Outcome::Locked
            | Outcome::Usage
            | Outcome::Done => outcome.exit(Signal::Interrupt).to_string(),
        };
        let row = format!("| {exit} | {outcome} |");
        assert!(README.contains(&row), "README.md has no line {row}");
    }
}
