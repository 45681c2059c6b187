//! A HELLO of an earlier process, in a conversation without an address: found again
//! where it stands whole in the tab it was typed in, and nowhere else.

use super::words::plan;
use super::world::World;
use crate::{outcome::Outcome, page::AttachCause, recovery::RowId, send::SendState};

/// A world whose relay died over HELLO, at the effect `at`.
fn died_at(at: &'static str) -> World {
    let mut world = World::answering([plan("done", "a")]);
    world.hold = Some(at);
    world.attach(AttachCause::First);
    world.run(20);
    let state = world.session.state();
    assert!(state.conversation.is_none() && state.sends[0].attempts == 1);
    world
}

//= spec E1 type=test
#[test]
fn a_hello_that_stands_whole_in_its_tab_is_sent_and_the_session_goes_on() {
    for at in ["append outcome", "append bound"] {
        let mut world = died_at(at);
        world.restart();
        world.prove();
        world.run(60);
        world.prove();
        world.run(60);
        assert_eq!(world.stop().outcome, Outcome::Done, "{at}");
        assert_eq!((world.taken("HELLO"), world.taken("ROUND")), (1, 1), "{at}");
    }
}

//= spec E1 type=test
//= spec W13 type=test
#[test]
fn a_hello_that_does_not_stand_there_is_given_up_and_nothing_is_typed() {
    let mut world = died_at("submit");
    world.effects.clear();
    world.restart();
    world.run(60);
    assert_eq!(world.stop().outcome, Outcome::Unknown);
    assert_eq!(world.stop().row, Some(RowId::R0));
    assert_eq!(
        world.session.state().sends[0].state(),
        SendState::Unknown,
        "never by time"
    );
    assert!(!world.effects.iter().any(|effect| effect == "compose"));
}

//= spec E1 type=test
#[test]
fn another_tab_proves_nothing_whatever_it_shows() {
    let mut world = died_at("append outcome");
    world.effects.clear();
    world.tab = "T2";
    world.restart();
    world.run(60);
    assert_eq!(world.stop().row, Some(RowId::R0));
    assert!(!world.effects.iter().any(|effect| effect == "compose"));
}
