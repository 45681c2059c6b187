//! A plan that an earlier process started: found again, settled or in doubt, and
//! never run twice.

use super::words::plan;
use super::world::{AgentDoes, World};
use crate::{
    outcome::Outcome, page::AttachCause, record::PlanStage, recovery::RowId, session::AgentReport,
    session::Input, session::Phase, text::Private,
};

/// A world whose relay died with a plan of round 1 started, at the effect `at`.
fn died_at(at: &'static str, agent: AgentDoes) -> World {
    let mut world = World::answering([plan("continue", "a"), plan("done", "b")]);
    world.agent = agent;
    world.hold = Some(at);
    world.attach(AttachCause::First);
    world.run(60);
    let stage = world.session.state().plan.as_ref().map(|plan| &plan.stage);
    assert!(
        matches!(stage, Some(PlanStage::Started { .. })),
        "{stage:?}: {:?}",
        world.effects
    );
    world.effects.clear();
    world
}

fn count(world: &World, name: &str) -> usize {
    world.effects.iter().filter(|one| *one == name).count()
}

//= spec K1 type=test
#[test]
fn an_exit_record_that_the_wrapper_left_settles_the_plan() {
    let mut world = died_at("append settled", AgentDoes::Settle);
    world.restart();
    world.run(60);
    assert_eq!(world.stop().outcome, Outcome::Done);
    assert_eq!((count(&world, "adopt"), count(&world, "spawn")), (1, 0));
    assert_eq!((world.executed.len(), world.taken("ROUND")), (1, 2));
}

//= spec K1 type=test
#[test]
fn a_wrapper_that_lives_is_awaited_and_nothing_is_sent_meanwhile() {
    let mut world = died_at("nothing", AgentDoes::Hang);
    world.restart();
    world.drain();
    assert_eq!(world.session.phase(), Phase::Executing);
    world.run(30);
    assert!(world.stop.is_none(), "its end is awaited");
    assert_eq!((count(&world, "compose"), count(&world, "spawn")), (0, 0));
    world.agent = AgentDoes::Settle;
    let receipt = Private::from("ran at last");
    world.input(Input::Agent(AgentReport::Settled { ok: true, receipt }));
    world.run(60);
    assert_eq!(world.stop().outcome, Outcome::Done);
    assert_eq!((world.executed.len(), count(&world, "adopt")), (1, 1));
}

//= spec K6 type=test
#[test]
fn a_plan_whose_wrapper_was_never_let_go_is_started_once_more_and_runs_once() {
    let mut world = died_at("let go", AgentDoes::Settle);
    assert!(world.executed.is_empty());
    world.restart();
    world.run(60);
    assert_eq!(world.stop().outcome, Outcome::Done);
    assert_eq!((count(&world, "adopt"), count(&world, "spawn")), (1, 1));
    assert_eq!(world.executed.len(), 1);
}

//= spec K4 type=test
//= spec K5 type=test
#[test]
fn a_plan_that_left_no_word_is_in_doubt_and_never_run_again() {
    let mut world = died_at("append in_doubt", AgentDoes::Doubt);
    for _ in 0..2 {
        world.restart();
        world.run(60);
        assert_eq!(world.stop().outcome, Outcome::Manual);
        assert!(world.executed.len() == 1 && count(&world, "spawn") == 0);
    }
    assert_eq!(count(&world, "adopt"), 1, "looked for once, then recorded");
    assert_eq!(world.stop().row, Some(RowId::R14), "the stop stands");
}

//= spec RP5 type=test
#[test]
fn a_signal_before_the_wrapper_is_found_stops_it_and_tells_the_truth() {
    let mut world = died_at("nothing", AgentDoes::Hang);
    world.restart_held("adopt");
    world.interrupt();
    assert!(world.stop.is_none(), "first it is looked for");
    world.input(Input::Agent(AgentReport::Alive));
    world.drain();
    assert_eq!(count(&world, "stop agent"), 1);
    assert_eq!(world.stop().outcome, Outcome::Manual);
    assert!(world.stop().interrupted);
}

#[test]
fn a_plan_accepted_and_not_started_runs_once_after_a_restart() {
    for hold in ["prepare", "spawn"] {
        let mut world = World::answering([plan("continue", "a"), plan("done", "b")]);
        world.hold = Some(hold);
        world.attach(AttachCause::First);
        world.run(60);
        assert!(world.executed.is_empty(), "{hold}");
        world.restart();
        world.run(60);
        assert_eq!(world.stop().outcome, Outcome::Done, "{hold}");
        assert_eq!(world.executed.len(), 1, "{hold}");
        assert_eq!(count(&world, "adopt"), 0, "{hold}");
    }
}
