//! Ends and recoveries: signals, stops, losses, boundaries.

use super::words::{plan, silence};
use super::world::{AgentDoes, World, run};
use crate::{
    fault::Code,
    limits::Limits,
    outcome::Outcome,
    page::{AttachCause, Blocker, BlockerKind, Loss, Place, What},
    record::{Journal, JournalError, Record, State, fold},
    recovery::RowId,
    reply::{CaptureFailure, Verdict},
    send::SendState,
    session::{Input, Session, Start},
    time::Millis,
};

#[test]
fn a_blocker_stops_the_run_before_anything_is_typed() {
    let mut world = World::new();
    world.attach(AttachCause::First);
    world.storing = false;
    let mut look = world.picture();
    look.blockers = vec![Blocker {
        kind: BlockerKind::Challenge,
        mark: "#challenge-form".into(),
    }];
    let mut world = World::new();
    world.epoch = crate::page::Epoch(1);
    world.observe(What::Attached(crate::page::Attachment {
        cause: AttachCause::First,
        target: crate::page::TargetId("T".into()),
        browser: "b".into(),
        address: "a".into(),
    }));
    world.observe(What::Look(Box::new(look.clone())));
    world.now = world.now + 300;
    world.observe(What::Look(Box::new(look)));
    world.drain();
    assert_eq!(
        (world.stop().outcome, world.stop().row),
        (Outcome::Stopped, Some(RowId::R12))
    );
    assert!(world.thread.is_empty());
}

//= spec R3 type=test
#[test]
fn a_dropped_link_is_attached_again_and_the_round_goes_on() {
    let mut world = World::answering([silence()]);
    world.attach(AttachCause::First);
    world.run(10);
    world.observe(What::Lost(Loss::Link {
        detail: "reset".into(),
    }));
    world.drain();
    assert!(world.effects.contains(&"append decided R3".to_owned()));
    assert_eq!(
        world
            .session
            .state()
            .budgets
            .spent(crate::record::Cost::Reattach),
        1
    );
    world.run(3);
    assert_eq!(world.taken("ROUND"), 1, "nothing is sent twice");
    assert_eq!(world.session.phase(), crate::session::Phase::Waiting);
}

#[test]
fn a_link_that_keeps_dropping_is_given_up() {
    let mut world = World::answering([silence()]);
    world.attach(AttachCause::First);
    world.run(10);
    for _ in 0..6 {
        world.observe(What::Lost(Loss::Link {
            detail: "reset".into(),
        }));
        world.drain();
    }
    assert_eq!(world.stop().row, Some(RowId::R13));
}

#[test]
fn another_conversation_in_our_tab_stops_the_run() {
    let mut world = World::answering([silence()]);
    world.attach(AttachCause::First);
    world.run(10);
    world.place = Place::Conversation(crate::page::ConversationId("c2".into()));
    world.look();
    world.drain();
    assert_eq!(world.stop().code, Some(Code::Conversation));
}

#[test]
fn a_stale_observation_changes_a_counter_and_nothing_else() {
    let mut world = World::answering([silence()]);
    world.attach(AttachCause::First);
    world.run(10);
    let before = (world.session.state().clone(), world.session.phase());
    world.epoch = crate::page::Epoch(0);
    world.observe(What::Lost(Loss::TabClosed));
    world.drain();
    assert_eq!(
        (world.session.state().clone(), world.session.phase()),
        before
    );
    assert_eq!(world.session.stale(), 1);
}

//= spec J1 type=test
#[test]
fn a_record_that_cannot_be_stored_forbids_its_act() {
    let mut world = World::new();
    world.storing = false;
    world.attach(AttachCause::First);
    world.drain();
    let why = "no space left".to_owned();
    world.input(Input::NotStored(JournalError::NotStored { why }));
    world.drain();
    assert_eq!(
        (world.stop().code, world.stop().row),
        (Some(Code::Journal), Some(RowId::R15))
    );
    assert!(!world.effects.iter().any(|effect| effect == "compose"));
}

//= spec RP5 type=test
#[test]
fn the_round_before_the_boundary_is_sent_and_the_next_is_not() {
    let limits = Limits {
        rounds_max: 2,
        ..Limits::default()
    };
    let mut world = World::with(limits);
    world.remote.extend([
        plan("continue", "a"),
        plan("continue", "b"),
        plan("continue", "c"),
    ]);
    let world = run(world);
    assert_eq!(
        (world.stop().outcome, world.stop().row),
        (Outcome::Boundary, Some(RowId::R14))
    );
    assert_eq!((world.taken("ROUND"), world.executed.len()), (2, 2));
    assert!(world.stop().standing);
}

//= spec RP5 type=test
#[test]
fn a_signal_while_nothing_is_open_ends_at_once() {
    let mut world = World::answering([silence()]);
    world.attach(AttachCause::First);
    world.run(10);
    world.interrupt();
    assert_eq!(world.stop().outcome, Outcome::Interrupted);
    assert!(world.stop().interrupted && !world.stop().standing);
}

#[test]
fn a_signal_while_a_plan_runs_stops_the_agent_and_tells_the_worst() {
    let mut world = World::answering([plan("continue", "a")]);
    world.agent = AgentDoes::Hang;
    world.attach(AttachCause::First);
    world.run(10);
    assert_eq!(world.session.phase(), crate::session::Phase::Executing);
    world.interrupt();
    world.run(5);
    assert_eq!(world.stop().outcome, Outcome::Manual);
    assert!(world.stop().standing);
}

//= spec RP7 type=test
#[test]
fn a_standing_stop_meets_every_start_again() {
    let world = run(World::answering([plan("blocked", "x")]));
    let entries = world.journal.entries().unwrap();
    let state: State = fold(&entries).unwrap();
    let mut again = Session::new(Millis(5), state, Limits::default(), Start::default());
    let effect = again.poll_effect();
    let Some(crate::session::Effect::Finish(stop)) = effect else {
        panic!("went on with {effect:?}");
    };
    assert_eq!(
        (stop.outcome, stop.row),
        (Outcome::Blocked, Some(RowId::R14))
    );
    assert_eq!(again.poll_effect(), None);
}

#[test]
fn a_reply_that_cannot_be_proven_is_read_again_and_then_given_up() {
    let mut world = World::answering([silence()]);
    world.attach(AttachCause::First);
    world.run(10);
    let mut reads = 0;
    while world.stop.is_none() {
        assert!(reads < 20, "unbounded");
        let why = CaptureFailure::Deadline {
            limit: "reply_streaming_s".into(),
            missing: vec![],
        };
        world.verdict(Verdict::CaptureFailed { why });
        reads += 1;
    }
    assert_eq!(reads, 7, "six reads and the one that finds them spent");
    assert_eq!(
        (world.stop().outcome, world.stop().row),
        (Outcome::Manual, Some(RowId::R13))
    );
    assert_eq!(
        (world.taken("ROUND"), world.taken("REPAIR")),
        (1, 0),
        "no REPAIR on our own fault"
    );
}

#[test]
fn records_after_the_end_are_not_made() {
    let world = run(World::answering([plan("done", "b")]));
    let last = world.journal.entries().unwrap().pop().unwrap();
    assert!(matches!(last.record, Record::Stopped(ref stop) if stop.outcome == Outcome::Done));
}

#[test]
fn an_accepted_plan_waits_for_the_page_before_it_is_started() {
    let mut world = World::answering([plan("continue", "a"), plan("done", "b")]);
    world.hold = Some("prepare");
    world.attach(AttachCause::First);
    world.run(10);
    world.observe(What::Lost(Loss::Link {
        detail: "reset".into(),
    }));
    world.input(Input::Agent(crate::session::AgentReport::Prepared));
    world.hold = None;
    world.drain();
    let at = |name: &str| world.effects.iter().position(|effect| effect == name);
    assert!(
        at("reattach").unwrap() < at("spawn").unwrap(),
        "{:?}",
        world.effects
    );
    world.run(50);
    assert_eq!(world.stop().outcome, Outcome::Done);
}

fn alert() -> What {
    What::Dialog {
        kind: "alert".into(),
        message: "Still there?".into(),
    }
}

//= spec RP8 type=test
#[test]
fn a_dialog_while_a_message_is_typed_stops_the_run_at_once() {
    let mut world = World::new();
    world.hold = Some("compose");
    world.attach(AttachCause::First);
    world.run(10);
    assert!(world.stop.is_none(), "the call is out");
    world.observe(alert());
    world.drain();
    assert_eq!(
        (world.stop().row, world.stop().code, world.stop().outcome),
        (Some(RowId::R0), Some(Code::Dialog), Outcome::Manual)
    );
}

//= spec S5 type=test
#[test]
fn a_dialog_over_a_click_that_is_out_waits_for_its_evidence_and_not_longer() {
    let clicked = || {
        let mut world = World::new();
        world.hold = Some("submit");
        world.attach(AttachCause::First);
        for _ in 0..20 {
            if !world.effects.contains(&"submit".to_owned()) {
                world.run(1);
            }
        }
        world.observe(alert());
        world.drain();
        assert!(
            world.stop.is_none(),
            "the page's own request may be seen yet"
        );
        world
    };
    let mut seen = clicked();
    let send = seen.session.state().sends[0].intent.send;
    seen.input(Input::RequestSeen(send));
    seen.drain();
    assert_eq!(seen.stop().code, Some(Code::Dialog));
    assert_eq!(seen.session.state().sends[0].state(), SendState::Sent);

    let mut unseen = clicked();
    let limits = Limits::default();
    let call = limits.submit_ms + crate::session::live::CALL_SLACK_MS;
    unseen.now = unseen.now + call;
    unseen.input(Input::Tick);
    unseen.drain();
    assert!(unseen.stop.is_none(), "the evidence span begins");
    unseen.now = unseen.now + (limits.evidence_ms - 1);
    unseen.input(Input::Tick);
    unseen.drain();
    assert!(unseen.stop.is_none(), "one millisecond is left");
    unseen.now = unseen.now + 1;
    unseen.input(Input::Tick);
    unseen.drain();
    assert_eq!(
        (unseen.stop().code, unseen.stop().outcome),
        (Some(Code::Dialog), Outcome::Unknown)
    );
}

//= spec RP5 type=test
#[test]
fn a_session_whose_time_is_spent_is_not_recovered() {
    let lost_at = |ran_ms: u64| {
        let limits = Limits {
            run_ms: 600_000,
            ..Limits::default()
        };
        let mut world = World::with(limits);
        world.remote.push(silence());
        world.attach(AttachCause::First);
        world.run(10);
        world.now = Millis(1_000) + ran_ms;
        world.observe(What::Lost(Loss::Link {
            detail: "reset".into(),
        }));
        world.hold = Some("reattach");
        world.drain();
        world
    };
    let before = lost_at(599_999);
    assert_eq!(before.rows(), ["R3 re-attach, then discover"]);
    assert!(before.stop.is_none());
    let spent = lost_at(600_000);
    assert_eq!(
        (spent.stop().row, spent.stop().outcome),
        (Some(RowId::R14), Outcome::Boundary)
    );
    assert!(spent.stop().why.contains("run_s"), "{}", spent.stop().why);
}

//= spec RP5 type=test
//= spec R14 type=test
#[test]
fn a_loss_while_a_plan_runs_after_the_time_is_spent_waits_for_it_and_recovers_nothing() {
    let limits = Limits {
        run_ms: 600_000,
        ..Limits::default()
    };
    let mut world = World::with(limits);
    world.remote.push(plan("continue", "a"));
    world.agent = AgentDoes::Hang;
    world.attach(AttachCause::First);
    world.run(10);
    assert_eq!(world.session.phase(), crate::session::Phase::Executing);
    world.now = Millis(601_000);
    world.observe(What::Lost(Loss::Link {
        detail: "reset".into(),
    }));
    world.drain();
    assert_eq!(world.rows(), Vec::<String>::new(), "nothing is recovered");
    assert!(world.stop.is_none(), "the plan settles first");
    world.input(Input::Agent(crate::session::AgentReport::Settled {
        ok: true,
        receipt: "done".into(),
    }));
    world.drain();
    assert_eq!(
        (world.stop().outcome, world.stop().row),
        (Outcome::Boundary, Some(RowId::R14))
    );
    assert!(world.stop().why.contains("run_s"), "{}", world.stop().why);
}

//= spec R15 type=test
#[test]
fn what_breaks_of_our_own_stops_the_run_and_nothing_is_recovered() {
    let mut world = World::answering([silence()]);
    world.attach(AttachCause::First);
    world.run(10);
    world.effects.clear();
    world.input(Input::Defect("a part of the relay ended by itself".into()));
    world.observe(What::Lost(Loss::Link {
        detail: "it went with it".into(),
    }));
    world.drain();
    assert_eq!(
        (world.stop().outcome, world.stop().row),
        (Outcome::Defect, Some(RowId::R15))
    );
    assert!(world.stop().standing);
    assert_eq!(world.rows(), ["R15 stop"]);
    let state = fold(&world.journal.entries().unwrap()).unwrap();
    let mut again = Session::new(Millis(5), state, Limits::default(), Start::default());
    let Some(crate::session::Effect::Finish(stop)) = again.poll_effect() else {
        panic!("went on");
    };
    assert_eq!(stop.row, Some(RowId::R14), "until a person lifts it");
}

//= spec R15 type=test
//= spec J1 type=test
#[test]
fn a_break_while_a_record_is_being_stored_counts_it_as_not_stored() {
    let mut world = World::new();
    world.storing = false;
    world.attach(AttachCause::First);
    world.drain();
    world.input(Input::Defect("the journal's part broke".into()));
    world.drain();
    assert_eq!(world.stop().row, Some(RowId::R15));
    assert!(!world.effects.iter().any(|effect| effect == "compose"));
}
