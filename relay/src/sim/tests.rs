//! The simulated world itself: it repeats exactly, what is placed happens, and an
//! undisturbed session ends well.

use protocol::outcome::Outcome;

use super::{
    fault::{Fault, Placed},
    sweep::{Case, Scenario, Wrong, singles},
};

fn case(seed: u64, wrong: Wrong) -> Case {
    Case {
        seed,
        scenario: Scenario::Short,
        wrong,
    }
}

#[test]
fn an_undisturbed_session_is_done() {
    for seed in 0..20 {
        let (world, violation) = case(seed, Wrong::Nothing).run(false);
        assert_eq!(violation, None, "seed {seed}");
        let ended = world.last_stop().map(|stop| stop.outcome);
        assert_eq!(ended, Some(Outcome::Done), "seed {seed}");
    }
}

#[test]
fn a_seed_repeats_exactly() {
    for seed in 0..10 {
        let run = || {
            let (world, violation) = case(seed, Wrong::Random(None)).run(true);
            (world.trace().to_vec(), world.steps, violation)
        };
        assert_eq!(run(), run(), "seed {seed}");
    }
}

#[test]
fn a_fault_that_does_not_happen_fails_the_run() {
    let never: Placed = "kill@round-40.composing".parse().unwrap();
    let (_, violation) = case(1, Wrong::Placed(vec![never])).run(false);
    assert_eq!(violation.map(|found| found.promise), Some("fault"));
}

#[test]
fn a_place_reads_back_as_it_is_written() {
    for placed in singles(1, Scenario::Short) {
        assert_eq!(placed.to_string().parse(), Ok(placed));
    }
    for no in ["", "kill@load", "no-such-fault", "kill@round-1.dreaming"] {
        assert!(no.parse::<Placed>().is_err(), "{no}");
    }
}

#[test]
fn every_fault_has_a_name_of_its_own() {
    let mut names: Vec<_> = Fault::all().into_iter().map(Fault::name).collect();
    let all = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all);
}
