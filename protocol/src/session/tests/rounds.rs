//! Rounds: handshake, plans, repairs, execution.

use super::words::{ack, fenced, plan, plan_text, silence, two_blocks};
use super::world::{AgentDoes, SID, World, run};
use crate::{
    fault::Code,
    outcome::Outcome,
    page::AttachCause,
    recovery::RowId,
    reply::{Phase, Progress, Verdict},
    session::Input,
    time::Millis,
};

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

//= spec T1 type=test
#[test]
fn a_look_is_asked_for_when_the_quiet_window_is_long_enough_and_not_before() {
    let mut world = World::answering([silence()]);
    world.attach(AttachCause::First);
    world.run(10);
    world.effects.clear();
    let look_by = world.now + 250;
    world.verdict(Verdict::NotYet(Progress {
        phase: Phase::Finishing,
        own: None,
        holds: vec![],
        missing: Vec::new(),
        look_by,
        want: None,
        chars: 3,
        changed_at: world.now,
    }));
    world.now = Millis(look_by.0 - 1);
    world.input(Input::Tick);
    world.drain();
    assert_eq!(world.effects, Vec::<String>::new());
    world.now = look_by;
    world.input(Input::Tick);
    world.drain();
    assert_eq!(world.effects.first().map(String::as_str), Some("look"));
}
