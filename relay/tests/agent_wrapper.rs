//! The wrapper with real processes: go and no go, ends of all kinds, adoption.

mod agent_support;

use agent_support::Place;
use relay::agent::record::CommandEnd;
use relay::agent::{Adopted, Ended, Outcome, adopt};

fn settled(outcome: &Outcome) -> &relay::agent::ExitRecord {
    match outcome {
        Outcome::Settled(record) => record,
        Outcome::NotStarted { .. } | Outcome::InDoubt { .. } => panic!("not settled: {outcome:?}"),
    }
}

//= spec K1 type=test
#[tokio::test]
async fn commands_run_in_order_and_stop_at_the_first_that_fails() {
    let place = Place::bare();
    let record = place
        .settle(&[
            "echo one >> f",
            "cat f; echo two >&2; exit 3",
            "echo no >> f",
        ])
        .await;
    assert_eq!(record.ended, Ended::Settled { ok: false });
    assert_eq!(
        record.commands,
        [CommandEnd::Exit(0), CommandEnd::Exit(3), CommandEnd::NotRun]
    );
    assert_eq!(
        std::fs::read_to_string(place.work().join("f")).expect("ran"),
        "one\n"
    );
    assert!(record.receipt.ends_with("\n    two"), "{}", record.receipt);
    assert_eq!(place.left(), []);
}

//= spec K6 type=test
#[tokio::test]
async fn a_wrapper_that_is_not_released_runs_nothing_and_says_so() {
    let place = Place::bare();
    let order = place.order(&["touch ran"]);
    let mut spawned = place.spawn(&order).await.expect("spawns");
    assert!(!spawned.job_dir.join("exit.json").exists());
    let job_dir = spawned.job_dir.clone();
    spawned.withdraw().await;
    let Adopted::Ended(Outcome::NotStarted { .. }) = adopt(&job_dir, &place.settings) else {
        panic!("it is not started");
    };
    assert!(!place.work().join("ran").exists());
    // What was proved not to have started may be tried again.
    let outcome = place.start(&order).await.outcome().await;
    assert_eq!(settled(&outcome).ended, Ended::Settled { ok: true });
}
