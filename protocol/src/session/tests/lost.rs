//! A lost browser, a closed tab, and page faults while a plan runs.

use super::words::{plan, silence};
use super::world::{AgentDoes, World};
use crate::{
    fault::Code,
    outcome::Outcome,
    page::{AttachCause, Loss, Place, What},
    recovery::RowId,
    session::{AgentReport, BrowserBy, Input, Phase, Start, TabBy},
};

/// A world that waits for the reply to round 1 and has none.
fn waiting() -> World {
    let mut world = World::answering([silence()]);
    world.attach(AttachCause::First);
    world.run(10);
    world
}

/// A world whose relay launched the browser and opened the tab itself.
fn with_means(decision: &'static str) -> World {
    let mut world = World::answering([plan(decision, "a"), plan("done", "b")]);
    world.start = Start {
        lost: crate::recovery::facts::Lost::Relay,
        offer: None,
        browser: BrowserBy::Relay,
        tab: TabBy::Relay,
    };
    world.restart();
    world
}

fn browser_gone() -> What {
    What::Lost(Loss::BrowserGone {
        detail: "killed".into(),
    })
}

//= spec R5 type=test
#[test]
fn our_own_browser_is_started_anew_and_the_round_goes_on() {
    let mut world = with_means("continue");
    world.hold = Some("prepare");
    world.run(20);
    world.hold = None;
    world.effects.clear();
    world.observe(browser_gone());
    world.input(Input::Agent(AgentReport::Prepared));
    world.run(30);
    assert_eq!(world.stop().outcome, Outcome::Done, "{:?}", world.effects);
    assert!(
        world
            .effects
            .contains(&"relaunch http://chat/c/c1".to_owned())
    );
    let rows = world.rows();
    assert!(rows.contains(&"R5 discover".to_owned()), "{rows:?}");
    assert!(
        rows.contains(&"R5 execute the accepted plan once".to_owned()),
        "{rows:?}"
    );
    assert_eq!((world.executed.len(), world.taken("HELLO")), (1, 1));
}

//= spec R5 type=test
#[test]
fn a_browser_of_a_person_is_not_started_for_them() {
    let mut world = waiting();
    world.observe(browser_gone());
    world.drain();
    assert_eq!(
        (world.stop().row, world.stop().code),
        (Some(RowId::R0), Some(Code::NoBrowser))
    );
}

//= spec RP8 type=test
#[test]
fn a_closed_tab_is_opened_again_by_its_address_where_the_relay_had_opened_it() {
    let mut world = with_means("continue");
    world.hold = Some("prepare");
    world.run(20);
    world.hold = None;
    world.observe(What::Lost(Loss::TabClosed));
    world.input(Input::Agent(AgentReport::Prepared));
    world.run(30);
    assert_eq!(world.stop().outcome, Outcome::Done, "{:?}", world.effects);
    assert!(
        world
            .effects
            .contains(&"reopen http://chat/c/c1".to_owned())
    );
    let mut theirs = waiting();
    theirs.observe(What::Lost(Loss::TabClosed));
    theirs.drain();
    assert_eq!(
        (theirs.stop().row, theirs.stop().code),
        (Some(RowId::R0), Some(Code::TabGone))
    );
}

//= spec W12 type=test
//= spec RP1 type=test
#[test]
fn while_a_plan_runs_the_page_is_found_again_and_nothing_is_sent() {
    let mut world = World::answering([plan("continue", "a"), plan("done", "b")]);
    world.agent = AgentDoes::Hang;
    world.attach(AttachCause::First);
    world.run(10);
    assert_eq!(world.session.phase(), Phase::Executing);
    world.effects.clear();
    world.observe(What::Lost(Loss::Link {
        detail: "reset".into(),
    }));
    world.run(5);
    assert_eq!(
        world.effects,
        [
            "append decided R3",
            "pace",
            "reattach",
            "append attached",
            "read",
            "append read"
        ]
    );
    // A stop over the page waits until the agent has settled.
    world.observe(What::Lost(Loss::TabClosed));
    world.run(5);
    assert!(world.stop.is_none());
    let receipt = "ran".into();
    world.input(Input::Agent(AgentReport::Settled { ok: true, receipt }));
    world.run(5);
    assert_eq!(world.stop().row, Some(RowId::R0));
    assert_eq!(
        world
            .session
            .state()
            .checkpoint
            .to_string()
            .split(':')
            .next(),
        Some("1")
    );
}

//= spec RP7 type=test
#[test]
fn another_place_does_not_stop_what_runs() {
    let mut world = World::answering([plan("continue", "a"), plan("done", "b")]);
    world.agent = AgentDoes::Hang;
    world.attach(AttachCause::First);
    world.run(10);
    world.place = Place::Conversation(crate::page::ConversationId("c2".into()));
    world.look();
    world.run(5);
    assert!(world.stop.is_none(), "another place, while the plan runs");
    let receipt = "ran".into();
    world.input(Input::Agent(AgentReport::Settled { ok: true, receipt }));
    world.run(5);
    assert_eq!(
        (world.stop().row, world.stop().code),
        (Some(RowId::R0), Some(Code::Conversation))
    );
}
