//! Each bug put in on purpose is found by a checker, and an unplanted core is clean over
//! the same seeds.

use protocol::planted::{Bug, plant};
use relay::sim::sweep::{Case, Scenario, Wrong};

/// Within so many seeds each has to be found.
const SEEDS_MAX: u64 = 10_000;

fn case(seed: u64) -> Case {
    Case {
        seed,
        scenario: Scenario::Short,
        wrong: Wrong::Random(None),
    }
}

/// Bugs that no seed finds yet: the simulated world makes too little of what they need.
const NOT_FOUND: [Bug; 4] = [
    Bug::AnchorObserved,
    Bug::FrameOnly,
    Bug::IgnoreEpoch,
    Bug::VoidPlan,
];

/// The first seed that finds it, and the promise that it broke. What is broken without
/// the bug, too, finds nothing.
fn found(bug: Bug) -> Option<(u64, &'static str)> {
    (1..=SEEDS_MAX).find_map(|seed| {
        plant(Some(bug));
        let (_, violation) = case(seed).run(false);
        plant(None);
        let promise = violation?.promise;
        let (_, anyway) = case(seed).run(false);
        anyway.is_none().then_some((seed, promise))
    })
}

#[test]
fn each_planted_bug_breaks_a_promise_that_is_checked() {
    let mut missed = Vec::new();
    let all = Bug::ALL.iter().copied();
    for bug in all.filter(|bug| !NOT_FOUND.contains(bug)) {
        match found(bug) {
            Some((seeds, promise)) => {
                println!("{:<20} {promise:<10} after {seeds} seeds", bug.name());
            }
            None => missed.push(bug.name()),
        }
    }
    assert!(missed.is_empty(), "not found: {missed:?}");
}

#[test]
fn nothing_is_found_where_nothing_is_planted() {
    for seed in 1..=300 {
        let (_, violation) = case(seed).run(false);
        assert_eq!(violation, None, "seed {seed}");
    }
}
