//! Situations, each told as it happens.

use super::world::{
    AgentDoes, ClickDoes, SID, World, ack, fenced, plan, plan_text, silence, two_blocks,
};
use crate::{
    fault::Code,
    limits::Limits,
    outcome::Outcome,
    page::{AttachCause, Blocker, BlockerKind, Loss, Place, Refusal, What},
    record::{Journal, JournalError, Record, State, fold},
    recovery::RowId,
    reply::{CaptureFailure, Verdict},
    send::{SendEvidence, SendState},
    session::{Input, Session},
    time::Millis,
};

fn run(mut world: World) -> World {
    world.attach(AttachCause::First);
    world.run(400);
    world
}

#[test]
fn a_request_goes_from_hello_to_done() {
    let world = run(World::answering([
        plan("need_info", "look"),
        plan("continue", "fix"),
        plan("done", "finished"),
    ]));
    assert_eq!(world.stop().outcome, Outcome::Done);
    assert_eq!((world.taken("HELLO"), world.taken("ROUND")), (1, 3));
    assert_eq!(world.executed.len(), 2);
    let state = world.session.state();
    assert_eq!(state.checkpoint.to_string().split(':').next(), Some("2"));
    assert_eq!(state.terminal.as_ref().map(|(round, _)| round.0), Some(3));
    crate::testing::snapshot!("session_happy_path", world.effects.join("\n"));
}

//= spec W8 type=test
#[test]
fn the_request_travels_in_round_one_and_the_receipt_in_round_two() {
    let world = run(World::answering([plan("continue", "a"), plan("done", "b")]));
    let texts: Vec<_> = world.thread.iter().map(|turn| turn.text.as_str()).collect();
    assert!(!texts[0].contains(super::world::REQUEST), "never in HELLO");
    assert!(
        texts[2].ends_with("## 用户请求\n修复 calc.sh"),
        "{}",
        texts[2]
    );
    assert!(texts[4].contains("## 上轮执行回执\nran 1"), "{}", texts[4]);
    assert!(
        !texts[4].contains(super::world::REQUEST),
        "once for each qid"
    );
}

//= spec K4 type=test
#[test]
fn the_next_round_names_the_settled_plan() {
    let world = run(World::answering([plan("continue", "a"), plan("done", "b")]));
    let round_2 = world.thread[4].text.as_str();
    assert!(
        round_2.contains(&format!("p={} ", world.executed[0])),
        "{round_2}"
    );
}

//= spec P7 type=test
#[test]
fn a_broken_plan_is_repaired_in_the_same_round_and_nothing_runs() {
    let world = run(World::answering([
        two_blocks(),
        plan("continue", "a"),
        plan("done", "b"),
    ]));
    assert_eq!(world.stop().outcome, Outcome::Done);
    assert_eq!((world.taken("ROUND"), world.taken("REPAIR")), (2, 1));
    assert_eq!(world.executed.len(), 1);
    let repair = world.thread[4].text.as_str();
    assert!(
        repair.contains("ERR: E_BLOCKS") && repair.contains(" r=1 "),
        "{repair}"
    );
}

//= spec P7 type=test
#[test]
fn the_second_repair_is_the_last() {
    let good = run(World::answering([
        two_blocks(),
        two_blocks(),
        plan("done", "b"),
    ]));
    assert_eq!(
        (good.stop().outcome, good.taken("REPAIR")),
        (Outcome::Done, 2)
    );
    let bad = run(World::answering([
        two_blocks(),
        two_blocks(),
        two_blocks(),
        plan("done", "b"),
    ]));
    assert_eq!(
        (bad.stop().outcome, bad.taken("REPAIR")),
        (Outcome::Violation, 2)
    );
    assert_eq!(bad.stop().code, Some(Code::Blocks));
    assert!(bad.stop().standing);
    assert!(bad.executed.is_empty());
}

#[test]
fn repairs_are_counted_anew_in_each_round() {
    let world = run(World::answering([
        two_blocks(),
        two_blocks(),
        plan("continue", "a"),
        two_blocks(),
        two_blocks(),
        plan("done", "b"),
    ]));
    assert_eq!(
        (world.stop().outcome, world.taken("REPAIR")),
        (Outcome::Done, 4)
    );
}

//= spec H2 type=test
#[test]
fn a_plan_in_answer_to_hello_is_refused_and_resync_follows_once() {
    let mut world = World::new();
    let as_plan = |_: &_| {
        fenced(&format!(
            "# PLAN pi-bridge/1\nFRAME: s={SID} r=1 p=- q=e1db9b58\nDECISION: continue\nTASK: x\n\n\
             ## GOAL\ng\n\n## STEPS\n1. s\n\n## FILES\n无\n\n## COMMANDS\n- rm -r x\n\n## RISKS\n无\n\n## VERIFY\n无"
        ))
    };
    world.remote = vec![Box::new(as_plan), Box::new(ack)];
    world.remote.push(plan("done", "b"));
    let world = run(world);
    assert_eq!(world.stop().outcome, Outcome::Done);
    assert_eq!((world.taken("HELLO"), world.taken("RESYNC")), (1, 1));
    assert!(world.executed.is_empty());
    assert!(world.effects.contains(&"append decided R8".to_owned()));
}

//= spec H3 type=test
#[test]
fn a_handshake_refused_twice_gives_up() {
    let mut world = World::new();
    world.remote = vec![Box::new(|_| "no".into()), Box::new(|_| "no".into())];
    world.remote.push(plan("done", "b"));
    let world = run(world);
    assert_eq!(
        (world.stop().outcome, world.stop().row),
        (Outcome::Manual, Some(RowId::R13))
    );
    assert_eq!(world.stop().code, Some(Code::Establish));
    assert_eq!((world.taken("RESYNC"), world.taken("ROUND")), (1, 0));
}

//= spec P8 type=test
#[test]
fn blocked_stops_without_a_checkpoint_and_stands() {
    let world = run(World::answering([plan("blocked", "needs-a-human")]));
    assert_eq!(world.stop().outcome, Outcome::Blocked);
    assert!(world.stop().standing && world.executed.is_empty());
    assert_eq!(world.session.state().checkpoint.to_string(), "0:-");
}

#[test]
fn an_agent_that_fails_settles_and_is_reported() {
    let mut world = World::answering([plan("continue", "a"), plan("done", "b")]);
    world.agent = AgentDoes::Fail;
    let world = run(world);
    assert_eq!(world.stop().outcome, Outcome::Done);
    assert_eq!(world.taken("ROUND"), 2);
}

//= spec R11 type=test
#[test]
fn an_execution_in_doubt_gives_up_and_runs_nothing_again() {
    let mut world = World::answering([plan("continue", "a"), plan("continue", "b")]);
    world.agent = AgentDoes::Doubt;
    let world = run(world);
    assert_eq!(
        (world.stop().outcome, world.stop().row),
        (Outcome::Manual, Some(RowId::R11))
    );
    assert_eq!((world.executed.len(), world.taken("ROUND")), (1, 1));
    assert_eq!(world.session.state().checkpoint.to_string(), "0:-");
}

//= spec K1 type=test
#[test]
fn an_agent_that_never_starts_is_tried_three_times() {
    let mut world = World::answering([plan("continue", "a")]);
    world.agent = AgentDoes::NeverStart;
    let world = run(world);
    assert_eq!(world.stop().code, Some(Code::Agent));
    let spawns = world
        .effects
        .iter()
        .filter(|effect| *effect == "spawn")
        .count();
    assert_eq!(spawns, 3);
    assert_eq!(
        world
            .session
            .state()
            .plan
            .as_ref()
            .map(|plan| plan.not_started),
        Some(2)
    );
}

//= spec P9 type=test
#[test]
fn an_approval_that_nobody_gives_leaves_the_plan_accepted() {
    let mut world = World::answering([plan("continue", "a")]);
    world.agent = AgentDoes::LetAskExpire;
    let world = run(world);
    assert_eq!(world.stop().outcome, Outcome::Manual);
    assert!(world.session.state().plan.is_some());
    assert!(!world.effects.contains(&"spawn".to_owned()));
}

//= spec K5 type=test
#[test]
fn a_plan_text_that_ran_before_is_not_started_again() {
    let first = plan("continue", "same");
    let mut world = World::answering([first]);
    // The remote repeats round 1's plan word by word: its FRAME is wrong for
    // round 2, so it is refused long before it could be started.
    world.remote.push(Box::new(|head| {
        let text = plan_text(head, "continue", "same");
        let old = format!(" r=1 p=- q={}", head.frame().unwrap().qid);
        fenced(&text.replace(
            &text[text.find(" r=").unwrap()..text.find("\nDECISION").unwrap()],
            &old,
        ))
    }));
    world.remote.push(plan("done", "b"));
    let world = run(world);
    assert_eq!((world.executed.len(), world.taken("REPAIR")), (1, 1));
    assert_eq!(world.stop().outcome, Outcome::Done);
}

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

//= spec RP7 type=test
#[test]
fn a_standing_stop_meets_every_start_again() {
    let world = run(World::answering([plan("blocked", "x")]));
    let entries = world.journal.entries().unwrap();
    let state: State = fold(&entries).unwrap();
    let mut again = Session::new(Millis(5), state, Limits::default());
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
