//! A lost browser, a closed tab, and page faults while a plan runs.

use super::words::{plan, silence};
use super::world::{AgentDoes, ClickDoes, World};
use crate::{
    fault::Code,
    outcome::Outcome,
    page::{AttachCause, Loss, Place, Refusal, What},
    recovery::RowId,
    send::SendState,
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

fn link_gone() -> What {
    What::Lost(Loss::Link {
        detail: "reset".into(),
    })
}

//= spec S4 type=test
#[test]
fn what_was_being_typed_when_the_page_was_lost_is_typed_anew() {
    for loss in [link_gone(), What::Lost(Loss::RendererCrashed)] {
        let mut world = World::answering([plan("done", "b")]);
        world.hold = Some("compose");
        world.attach(AttachCause::First);
        world.run(5);
        assert_eq!(world.effects.last().map(String::as_str), Some("compose"));
        world.hold = None;
        world.observe(loss);
        world.run(20);
        assert_eq!(world.stop().outcome, Outcome::Done, "{:?}", world.effects);
        assert_eq!((world.taken("HELLO"), world.taken("ROUND")), (1, 1));
    }
}

//= spec S4 type=test
#[test]
fn what_a_person_sent_while_it_was_typed_is_not_typed_again() {
    let mut world = World::answering([plan("done", "b")]);
    world.hold = Some("compose");
    world.attach(AttachCause::First);
    world.run(5);
    world.hold = None;
    let text = world
        .session
        .state()
        .in_flight()
        .unwrap()
        .intent
        .text
        .clone();
    world.take(text.as_str());
    world.effects.clear();
    world.observe(link_gone());
    world.run(20);
    assert_eq!(world.session.phase(), Phase::Waiting);
    assert!(!world.effects.contains(&"compose".to_owned()));
    assert_eq!(world.taken("HELLO"), 1);
}

//= spec E1 type=test
#[test]
fn a_conversation_is_bound_as_soon_as_our_turn_has_its_final_id() {
    let mut world = World::answering([silence()]);
    world.remote = vec![silence()];
    world.clicks = vec![ClickDoes::SendUnseen];
    world.attach(AttachCause::First);
    world.run(5);
    let send = world.session.state().in_flight().unwrap().intent.send;
    world.input(Input::RequestSeen(send));
    world.drain();
    let sent = world.session.state().in_flight().unwrap();
    assert_eq!((sent.state(), sent.own.clone()), (SendState::Sent, None));
    assert!(world.session.state().conversation.is_none());
    let text = world.echo.take().unwrap();
    world.show(&text);
    assert!(world.session.state().conversation.is_some());
    assert_eq!(world.session.phase(), Phase::Waiting, "nothing is judged");
}

//= spec E1 type=test
#[test]
fn what_is_gone_with_an_unbound_handshake_in_it_is_reported_as_that() {
    for gone in [browser_gone(), What::Lost(Loss::TabClosed)] {
        let mut world = with_means("done");
        world.clicks = vec![ClickDoes::SendUnseen];
        world.run(3);
        let send = world.session.state().in_flight().unwrap().intent.send;
        world.input(Input::RequestSeen(send));
        world.drain();
        assert!(world.session.state().conversation.is_none());
        world.observe(gone);
        world.run(10);
        let stop = world.stop();
        assert_eq!(
            (stop.row, stop.code),
            (Some(RowId::R0), Some(Code::Conversation))
        );
    }
}

//= spec R5 type=test
#[test]
fn a_browser_that_goes_before_anything_was_dispatched_is_started_anew() {
    for hold in ["read", "compose"] {
        let mut world = with_means("done");
        world.hold = Some(hold);
        world.run(3);
        world.hold = None;
        world.effects.clear();
        world.observe(browser_gone());
        world.run(30);
        let started = world.effects.contains(&"relaunch http://chat".to_owned());
        assert!(started, "{hold}: {:?}", world.effects);
        assert_eq!(world.stop().outcome, Outcome::Done, "{hold}");
        assert_eq!(world.taken("HELLO"), 1);
    }
}

//= spec C6 type=test
#[test]
fn an_edit_of_an_earlier_message_stops_the_run_before_the_next_is_typed() {
    let mut world = World::answering([plan("continue", "a"), plan("done", "b")]);
    world.agent = AgentDoes::Hang;
    world.attach(AttachCause::First);
    world.run(10);
    // Another branch is shown: neither our ROUND nor its reply stands in it.
    world.thread.truncate(2);
    world.user_turn("never mind");
    world.refuse_compose = Some(Refusal::AnchorMoved { last: None });
    let receipt = "ran".into();
    world.input(Input::Agent(AgentReport::Settled { ok: true, receipt }));
    world.run(20);
    let stop = world.stop();
    assert_eq!(
        (stop.row, stop.outcome),
        (Some(RowId::R10), Outcome::Manual)
    );
}

//= spec W13 type=test
#[test]
fn a_message_that_may_have_left_while_it_was_typed_is_not_awaited_for_ever() {
    let mut world = World::new();
    world.patience = Some(10_000);
    world.hold = Some("compose");
    world.attach(AttachCause::First);
    world.run(5);
    world.hold = None;
    // The composer does not answer, and the page stays busy.
    world.busy = true;
    world.refused(Refusal::Busy);
    world.run(400);
    let stop = world.stop();
    assert_eq!(
        (stop.row, stop.outcome),
        (Some(RowId::R13), Outcome::Unknown)
    );
}

//= spec RP8 type=test
//= spec C6 type=test
#[test]
fn another_place_is_no_evidence_about_a_click_that_is_out() {
    let mut world = World::answering([plan("continue", "a")]);
    world.clicks = vec![ClickDoes::Send, ClickDoes::SendSilently];
    world.attach(AttachCause::First);
    world.run(5);
    assert_eq!(world.session.phase(), Phase::Proving);
    world.place = Place::Conversation(crate::page::ConversationId("c2".into()));
    world.thread.clear();
    world.user_turn("another conversation altogether");
    world.observe(What::Lost(Loss::Document));
    world.drain();
    world.attach(AttachCause::Document);
    world.run(5);
    assert_eq!(
        (world.stop().row, world.stop().code, world.stop().outcome),
        (Some(RowId::R0), Some(Code::Conversation), Outcome::Unknown),
        "what left is not known, and nothing here contradicts us"
    );
}

//= spec R5 type=test
#[test]
fn a_page_that_gives_no_answer_after_a_new_start_of_the_browser_is_asked_again() {
    let mut world = with_means("continue");
    world.hold = Some("prepare");
    world.run(20);
    world.hold = Some("relaunch");
    world.observe(browser_gone());
    world.input(Input::Agent(AgentReport::Prepared));
    world.drain();
    world.hold = None;
    world.observe(What::Lost(Loss::NeverAttached {
        code: "E_RENDERER".into(),
        detail: "the page does not answer".into(),
    }));
    world.run(30);
    assert_eq!(world.stop().outcome, Outcome::Done, "{:?}", world.effects);
}
