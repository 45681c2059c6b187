//! Sends: what is typed, clicked once, and proven.

use super::words::{plan, silence};
use super::world::{ClickDoes, SID, World, run};
use crate::{
    fault::Code,
    outcome::Outcome,
    page::{AttachCause, Refusal, What},
    recovery::RowId,
    reply::{CaptureFailure, Verdict},
    send::{SendEvidence, SendState},
    session::Input,
};

//= spec S6 type=test
#[test]
fn a_click_stopped_by_the_guard_is_tried_again_until_the_third() {
    let mut twice = World::answering([plan("done", "b")]);
    twice.clicks = vec![ClickDoes::Stop, ClickDoes::Stop];
    let twice = run(twice);
    assert_eq!(
        (twice.stop().outcome, twice.taken("HELLO")),
        (Outcome::Done, 1)
    );
    let mut thrice = World::new();
    thrice.clicks = vec![ClickDoes::Stop; 3];
    let thrice = run(thrice);
    assert_eq!(thrice.stop().code, Some(Code::Submit));
    assert_eq!((thrice.taken("HELLO"), thrice.draft.as_str()), (0, ""));
}

#[test]
fn a_covered_control_is_tried_again() {
    let mut world = World::answering([plan("done", "b")]);
    world.clicks = vec![ClickDoes::Refuse];
    let world = run(world);
    assert_eq!(
        (world.stop().outcome, world.taken("HELLO")),
        (Outcome::Done, 1)
    );
}

//= spec S4 type=test
#[test]
fn a_swallowed_click_is_proven_not_sent_by_the_unbroken_window() {
    let mut world = World::answering([plan("done", "b")]);
    world.clicks = vec![ClickDoes::Nothing];
    let world = run(world);
    assert_eq!(
        (world.stop().outcome, world.taken("HELLO")),
        (Outcome::Done, 1)
    );
    let evidence = world.session.state().sends[0].outcome.clone();
    assert!(matches!(
        evidence,
        Some((SendState::Sent, SendEvidence::OwnTurn { .. }))
    ));
    assert_eq!(world.session.state().sends[0].attempts, 2);
}

//= spec S4 type=test
#[test]
fn one_missed_heartbeat_and_the_same_window_proves_nothing() {
    let mut world = World::answering([plan("done", "b")]);
    world.clicks = vec![ClickDoes::Nothing];
    world.attach(AttachCause::First);
    world.drain();
    let missed = crate::page::Beat {
        browser: crate::page::Pulse::Alive,
        renderer: crate::page::Pulse::Missed,
    };
    world.observe(What::Beat(missed));
    world.run(400);
    assert_eq!(world.taken("HELLO"), 0);
    assert_eq!(world.session.state().sends[0].state(), SendState::Unknown);
    let submits = world
        .effects
        .iter()
        .filter(|effect| *effect == "submit")
        .count();
    assert_eq!(submits, 1, "never clicked again");
}

//= spec W13 type=test
#[test]
fn an_unknown_send_is_awaited_read_and_given_up_with_its_own_exit() {
    let mut world = World::new();
    world.clicks = vec![ClickDoes::SendSilently];
    world.attach(AttachCause::First);
    world.run(200);
    assert_eq!(world.session.state().sends[0].state(), SendState::Unknown);
    for _ in 0..20 {
        if world.stop.is_some() {
            break;
        }
        let why = CaptureFailure::Deadline {
            limit: "reply_streaming_s".into(),
            missing: vec![],
        };
        world.verdict(Verdict::CaptureFailed { why });
        world.run(3);
    }
    assert_eq!(
        (world.stop().outcome, world.stop().row),
        (Outcome::Unknown, Some(RowId::R13))
    );
    assert!(world.stop().standing);
    let submits = world
        .effects
        .iter()
        .filter(|effect| *effect == "submit")
        .count();
    assert_eq!(submits, 1);
}

//= spec S5 type=test
#[test]
fn an_unknown_rises_to_sent_when_our_turn_appears_late() {
    let mut world = World::answering([plan("done", "b")]);
    world.clicks = vec![ClickDoes::SendSilently];
    world.attach(AttachCause::First);
    world.run(200);
    let hello = world.draft.clone();
    assert_eq!(world.session.state().sends[0].state(), SendState::Unknown);
    world.take(&hello);
    world.run(200);
    assert_eq!(
        (world.stop().outcome, world.taken("HELLO")),
        (Outcome::Done, 1)
    );
}

#[test]
fn a_finished_draft_that_a_person_sent_is_sent_and_not_clicked() {
    let mut world = World::new();
    world.refuse_compose = Some(Refusal::AlreadyThere { turn: None });
    world.attach(AttachCause::First);
    world.run(2);
    assert_eq!(world.session.state().sends[0].state(), SendState::Sent);
    assert!(!world.effects.contains(&"submit".to_owned()));
}

//= spec S7 type=test
#[test]
fn a_foreign_draft_stops_the_run_and_stays() {
    let mut world = World::new();
    world.refuse_compose = Some(Refusal::ForeignDraft { chars: 12 });
    let world = run(world);
    assert_eq!(world.stop().code, Some(Code::Draft));
    assert!(!world.effects.contains(&"clear".to_owned()));
}

//= spec C6 type=test
#[test]
fn a_foreign_turn_in_place_of_ours_stops_the_run() {
    let mut world = World::new();
    world.clicks = vec![ClickDoes::SendSilently];
    world.attach(AttachCause::First);
    world.drain();
    world.user_turn("hello from a person");
    world.look();
    world.run(5);
    assert_eq!(world.stop().row, Some(RowId::R10));
    assert_eq!(
        world.stop().outcome,
        Outcome::Unknown,
        "whether ours left is not known"
    );
}

//= spec W5 type=test
#[test]
fn a_conversation_of_another_session_is_refused() {
    let mut world = World::new();
    let hello = crate::message::hello::build(&super::world::opened().offer);
    world.user_turn(&hello.replace(SID, "0000000000000001"));
    let world = run(world);
    assert_eq!(world.stop().outcome, Outcome::Usage);
    assert_eq!(world.taken("HELLO"), 1, "nothing of ours was typed");
}

#[test]
fn a_signal_before_the_click_clears_our_draft() {
    let mut world = World::new();
    world.attach(AttachCause::First);
    // The page is generating something of its own: nothing is composed yet.
    world.interrupt();
    assert_eq!(
        (world.stop().outcome, world.draft.as_str()),
        (Outcome::Interrupted, "")
    );
}

//= spec L1 type=test
#[test]
fn a_conversation_held_by_another_relay_ends_the_run_before_anything_is_typed() {
    let mut world = World::new();
    world.hold = Some("append attached");
    world.attach(AttachCause::First);
    world.drain();
    world.input(Input::HeldElsewhere("pid 7 holds it".into()));
    world.hold = None;
    world.drain();
    assert_eq!(world.stop().outcome, Outcome::Locked);
    assert!(!world.stop().standing && world.thread.is_empty());
}

#[test]
fn a_composer_that_never_takes_the_text_ends_the_run_and_is_cleared() {
    let mut world = World::new();
    world.refuse_compose = Some(Refusal::ReadBack {
        wanted: 1_061,
        got: 100,
        line: 3,
    });
    let world = run(world);
    assert_eq!(
        (world.stop().code, world.stop().outcome),
        (Some(Code::Compose), Outcome::Manual)
    );
    let composed = world
        .effects
        .iter()
        .filter(|effect| *effect == "compose")
        .count();
    assert_eq!((composed, world.taken("HELLO")), (1, 0));
    assert!(world.effects.contains(&"clear".to_owned()));
}

//= spec S4 type=test
#[test]
fn a_draft_that_a_person_sent_while_it_was_typed_is_not_called_not_sent() {
    let mut world = World::answering([plan("done", "b")]);
    world.hold = Some("compose");
    world.attach(AttachCause::First);
    world.drain();
    world.hold = None;
    let hello = world.session.state().sends[0]
        .intent
        .text
        .as_str()
        .to_owned();
    // Enter is pressed on the finished text; the page generates, and the call is refused.
    world.refused(Refusal::Busy);
    world.drain();
    assert!(world.stop.is_none(), "nothing is known yet");
    world.now = world.now + 50;
    world.take(&hello);
    world.prove();
    world.run(100);
    assert_eq!(
        (world.stop().outcome, world.taken("HELLO")),
        (Outcome::Done, 1)
    );
    assert!(
        !world.effects[..12].contains(&"submit".to_owned()),
        "{:?}",
        world.effects
    );
}

//= spec C6 type=test
#[test]
fn a_message_of_a_person_after_ours_stops_the_run() {
    let mut world = World::answering([silence()]);
    world.attach(AttachCause::First);
    world.run(10);
    world.user_turn("and one more thing");
    // The page shows the newest end alone: ours is no longer in it.
    let mut look = world.picture();
    look.tail = look.tail.split_off(look.tail.len() - 1);
    world.observe(What::Look(Box::new(look)));
    world.drain();
    assert_eq!(
        (world.stop().row, world.stop().code),
        (Some(RowId::R10), Some(Code::Interference))
    );
}

//= spec S4 type=test
//= spec C6 type=test
#[test]
fn a_click_that_was_refused_is_not_sent_whatever_a_person_wrote_meanwhile() {
    let mut world = World::new();
    world.hold = Some("submit");
    world.attach(AttachCause::First);
    world.drain();
    assert!(world.effects.contains(&"submit".to_owned()));
    world.user_turn("hello from a person");
    world.look();
    world.hold = None;
    world.refused(Refusal::AnchorMoved { last: None });
    world.run(5);
    let send = &world.session.state().sends[0];
    assert_eq!(send.state(), SendState::NotSent);
    assert_eq!(
        (world.stop().row, world.stop().outcome),
        (Some(RowId::R10), Outcome::Manual)
    );
}
