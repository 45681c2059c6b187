//! Recoveries: after each loss the table says how to go on, and the machine does
//! that and nothing else.

use super::words::{plan, silence};
use super::world::{ClickDoes, World};
use crate::{
    fault::Code,
    id::SendId,
    limits::Limits,
    message::Word,
    outcome::Outcome,
    page::{AttachCause, Loss, PageError, PageErrorKind, Place, What},
    record::{Journal, Record},
    recovery::RowId,
    reply::Verdict,
    send::SendKind,
    session::{Phase, Start},
};

/// A world that waits for the reply to round 1 and has none.
fn waiting() -> World {
    let mut world = World::answering([silence()]);
    world.attach(AttachCause::First);
    world.run(10);
    assert_eq!(world.session.phase(), Phase::Waiting);
    world
}

fn fails(world: &mut World) {
    world.verdict(Verdict::PageFailed(PageError {
        kind: PageErrorKind::Failed,
        mark: "retry".into(),
    }));
}

fn lift(world: &mut World) {
    world.record(&Record::Lifted {
        who: "a person".into(),
        why: "looked at it".into(),
        limit: None,
    });
}

fn intents(world: &World) -> Vec<(SendKind, Vec<SendId>)> {
    let entries = world.journal.entries().unwrap();
    let mut all = Vec::new();
    for entry in entries {
        if let Record::Intent(intent) = entry.record {
            all.push((intent.message, intent.voids));
        }
    }
    all
}

//= spec R6 type=test
#[test]
fn a_relay_that_restarts_while_a_reply_is_awaited_reads_on_and_sends_nothing() {
    let mut world = World::answering([plan("done", "b")]);
    world.hold = Some("append judged accepted");
    world.attach(AttachCause::First);
    world.run(10);
    world.restart();
    world.run(5);
    world.prove();
    world.run(10);
    assert_eq!(world.stop().outcome, Outcome::Done);
    assert_eq!(world.taken("ROUND"), 1);
    assert_eq!(world.rows(), ["R6 discover", "R6 read and wait"]);
}

//= spec R6 type=test
#[test]
fn a_restart_before_hello_sends_it() {
    let mut world = World::answering([plan("done", "b")]);
    world.restart();
    world.run(20);
    assert_eq!(world.stop().outcome, Outcome::Done);
    assert_eq!(world.rows(), ["R6 discover", "R6 send what is owed"]);
}

//= spec W11 type=test
//= spec W12 type=test
//= spec W9 type=test
#[test]
fn a_failed_reply_that_a_person_lifted_is_resumed_from_the_checkpoint() {
    let mut world = waiting();
    fails(&mut world);
    assert_eq!(
        (world.stop().row, world.stop().code),
        (Some(RowId::R0), Some(Code::PageFailed))
    );
    lift(&mut world);
    world.remote = vec![Box::new(super::words::ack), plan("done", "b")];
    world.restart();
    world.run(30);
    assert_eq!(world.stop().outcome, Outcome::Done, "{:?}", world.effects);
    assert_eq!(
        (
            world.taken("RESUME"),
            world.taken("ROUND"),
            world.taken("HELLO")
        ),
        (1, 2, 1)
    );
    assert_eq!(intents(&world)[2], (SendKind::Resume, vec![SendId(2)]));
    assert!(world.session.state().sends[1].void);
    let texts: Vec<_> = world.thread.iter().map(|turn| turn.text.as_str()).collect();
    let resume = texts
        .iter()
        .find(|text| text.starts_with("# RESUME"))
        .unwrap();
    assert!(resume.ends_with("CK: 0:-\nNEXT: 1"), "{resume}");
    let round = texts
        .iter()
        .rev()
        .find(|text| text.starts_with("# ROUND"))
        .unwrap();
    assert!(
        round.contains("## 用户请求\n修复 calc.sh\n\n## 上轮执行回执\n"),
        "{round}"
    );
    assert_eq!(world.rows()[1..], ["R6 discover", "R6 RESUME when idle"]);
}

//= spec W11 type=test
#[test]
fn a_resume_that_is_out_without_an_answer_is_not_made_again() {
    let mut world = waiting();
    fails(&mut world);
    lift(&mut world);
    world.restart();
    world.run(10);
    assert_eq!(world.taken("RESUME"), 1);
    fails(&mut world);
    assert_eq!(world.stop().row, Some(RowId::R0));
    lift(&mut world);
    world.restart();
    world.run(10);
    assert_eq!(world.stop().row, Some(RowId::R0), "{:?}", world.rows());
    assert_eq!(world.taken("RESUME"), 1);
}

//= spec W12 type=test
#[test]
fn a_resume_waits_until_the_page_is_idle() {
    let mut world = waiting();
    fails(&mut world);
    lift(&mut world);
    world.restart_held("append decided R6");
    world.busy = true;
    world.restart();
    world.run(60);
    assert_eq!(world.taken("RESUME"), 0);
    world.busy = false;
    world.run(60);
    assert_eq!(world.taken("RESUME"), 1, "{:?}", world.rows());
}

//= spec RP4 type=test
#[test]
fn a_resume_that_was_decided_and_not_made_is_not_paid_for_twice() {
    let mut world = waiting();
    fails(&mut world);
    lift(&mut world);
    for _ in 0..4 {
        world.restart_held("append intent");
        world.run(10);
        lift_nothing(&world);
    }
    let budgets = &world.session.state().budgets;
    assert_eq!(budgets.spent(crate::record::Cost::Resume), 1);
}

fn lift_nothing(world: &World) {
    assert!(world.stop.is_none(), "{:?}", world.stop);
}

//= spec R9 type=test
//= spec W12 type=test
#[test]
fn another_contract_is_declared_before_anything_else_and_voids_what_waits() {
    let mut world = World::answering([plan("continue", "old")]);
    world.hold = Some("prepare");
    world.attach(AttachCause::First);
    world.run(20);
    assert!(world.session.state().plan.is_some());
    let mut offer = super::world::opened().offer;
    offer.capabilities.push(Word::parse("net.read").unwrap());
    offer.terms.cap = crate::wire::CapTag::of(&offer.capabilities, &offer.denials);
    world.start = Start {
        offer: Some(offer.clone()),
        ..Start::default()
    };
    let hs = super::words::fenced(&crate::message::hs::build(&offer.terms));
    let again = hs.clone();
    world.remote = vec![
        Box::new(move |_| hs.clone()),
        Box::new(move |_| again.clone()),
        plan("done", "new"),
    ];
    world.restart();
    world.run(40);
    assert_eq!(world.stop().outcome, Outcome::Done, "{:?}", world.rows());
    assert!(world.executed.is_empty(), "the old plan never ran");
    let kinds: Vec<_> = intents(&world).into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(
        kinds[2..],
        [SendKind::Resync, SendKind::Resume, SendKind::Round]
    );
    assert_eq!(intents(&world)[2].1, vec![SendId(2)]);
    assert_eq!(world.rows(), ["R9 discover", "R9 RESYNC when idle"]);
}

//= spec R4 type=test
#[test]
fn a_reloaded_page_is_read_and_the_same_round_goes_on() {
    let mut world = waiting();
    world.observe(What::Lost(Loss::Document));
    world.attach(AttachCause::Document);
    world.run(5);
    assert_eq!(world.rows(), ["R4 discover"]);
    assert_eq!(world.session.phase(), Phase::Waiting);
    assert_eq!(world.taken("ROUND"), 1);
}

//= spec R4 type=test
#[test]
fn a_hung_renderer_is_cured_and_one_that_is_not_is_given_up() {
    let mut world = waiting();
    world.observe(What::Lost(Loss::RendererHung));
    world.run(5);
    assert_eq!(world.session.phase(), Phase::Waiting);
    assert!(world.effects.contains(&"reattach".to_owned()));
    world.observe(What::Lost(Loss::RendererHung));
    world.hold = Some("reattach");
    world.drain();
    world.observe(What::Lost(Loss::NeverAttached {
        code: "E_RENDERER".into(),
        detail: "it answers nothing".into(),
    }));
    world.drain();
    assert_eq!(
        (world.stop().row, world.stop().code),
        (Some(RowId::R0), Some(Code::Renderer))
    );
}

//= spec R3 type=test
#[test]
fn a_browser_that_refuses_the_link_for_a_while_is_asked_again() {
    let mut world = waiting();
    world.hold = Some("reattach");
    world.observe(What::Lost(Loss::Link {
        detail: "reset".into(),
    }));
    world.drain();
    world.observe(What::Lost(Loss::NeverAttached {
        code: "E_NO_BROWSER".into(),
        detail: "refused".into(),
    }));
    world.hold = None;
    world.run(5);
    assert_eq!(world.session.phase(), Phase::Waiting);
    assert_eq!(world.rows().len(), 2);
}

//= spec E1 type=test
#[test]
fn a_hello_of_an_unbound_conversation_is_never_guessed_at() {
    let mut world = World::answering([silence()]);
    world.clicks = vec![ClickDoes::SendUnseen];
    world.attach(AttachCause::First);
    world.drain();
    world.observe(What::Lost(Loss::Document));
    world.attach(AttachCause::Document);
    world.run(5);
    assert_eq!(
        (world.stop().row, world.stop().outcome),
        (Some(RowId::R0), Outcome::Unknown)
    );
    assert_eq!(world.stop().code, Some(Code::Conversation));
}

//= spec E1 type=test
#[test]
fn a_hello_of_an_unbound_conversation_is_the_reason_even_where_nothing_is_shown() {
    let mut world = World::answering([silence()]);
    world.clicks = vec![ClickDoes::SendUnseen];
    world.attach(AttachCause::First);
    world.drain();
    world.tab = "T2";
    world.whole = false;
    world.restart();
    world.run(60);
    let stop = world.stop();
    assert_eq!(
        (stop.row, stop.code),
        (Some(RowId::R0), Some(Code::Conversation))
    );
}

//= spec R1 type=test
#[test]
fn a_thread_that_never_reads_whole_is_read_again_and_then_given_up() {
    let mut world = waiting();
    world.whole = false;
    world.observe(What::Lost(Loss::Document));
    world.attach(AttachCause::Document);
    world.run(2_000);
    assert_eq!(world.stop().row, Some(RowId::R13), "{:?}", world.rows());
    assert_eq!(world.stop().code, Some(Code::Capture));
    let rows = world.rows();
    assert_eq!(rows[0], "R4 discover");
    assert_eq!(rows.iter().filter(|row| row.starts_with("R1 ")).count(), 6);
}

fn reads(world: &World) -> usize {
    let reads = world.effects.iter().filter(|effect| *effect == "read");
    reads.count()
}

//= spec RP3 type=test
#[test]
fn a_contradiction_is_read_twice_before_it_counts() {
    let mut world = waiting();
    world.user_turn("by the way");
    world.effects.clear();
    world.observe(What::Lost(Loss::Document));
    world.attach(AttachCause::Document);
    world.run(5);
    assert_eq!(world.stop().row, Some(RowId::R10));
    assert_eq!(reads(&world), 2);
}

//= spec RP3 type=test
#[test]
fn what_is_missing_counts_only_once_the_page_had_its_time_to_show_it() {
    let mut world = waiting();
    let late = world.thread.pop().unwrap();
    world.effects.clear();
    world.observe(What::Lost(Loss::Document));
    world.attach(AttachCause::Document);
    let began = world.now;
    world.run(5);
    assert!(world.stop.is_none() && reads(&world) > 2, "read again");
    let mut shown = waiting();
    let turn = shown.thread.pop().unwrap();
    assert_eq!(turn, late);
    shown.observe(What::Lost(Loss::Document));
    shown.attach(AttachCause::Document);
    shown.run(5);
    shown.thread.push(turn);
    shown.run(5);
    assert!(shown.stop.is_none(), "it came");
    assert_eq!(shown.session.phase(), Phase::Waiting);

    world.run(200);
    assert_eq!(world.stop().row, Some(RowId::R10), "it never came");
    assert!(world.now.since(began) >= Limits::default().hydrate_ms);
}

//= spec RP8 type=test
#[test]
fn another_place_after_a_restart_is_given_up_before_anything_is_read() {
    let mut world = waiting();
    world.place = Place::Fresh;
    world.restart();
    world.run(5);
    assert_eq!(
        (world.stop().row, world.stop().code),
        (Some(RowId::R0), Some(Code::Conversation))
    );
}

//= spec RP7 type=test
#[test]
fn a_decision_names_its_facts() {
    let mut world = waiting();
    world.restart();
    world.run(5);
    let facts = world.decisions().into_iter().map(|(_, facts)| facts).next();
    assert_eq!(
        facts.as_deref(),
        Some(
            "defect=no boundary=clear blocker=none run=none checkpoint=proven chain=unread \
             handshake=held target=unseen lost=relay send=sent reply=none budget=left"
        )
    );
}

//= spec RP1 type=test
/// Whatever the taken row does not permit is refused, even when it is asked for.
#[test]
fn a_taken_row_refuses_what_it_forbids() {
    use crate::recovery::{self, Action, Deed, facts::Lost};
    let mut table = Vec::new();
    for row in &recovery::TABLE {
        for case in row.cases {
            let allowed: Vec<_> = Deed::ALL
                .into_iter()
                .filter(|deed| recovery::permits(row.id, case.act, *deed))
                .map(|deed| format!("{deed:?}"))
                .collect();
            let (act, allowed) = (case.act.to_string(), allowed.join(", "));
            let line = format!("{:<4} {act:<42} {allowed}", row.id);
            table.push(line.trim_end().to_owned());
        }
    }
    crate::testing::snapshot!("recovery_deeds", table.join("\n"));
    for (row, action) in [
        (RowId::R3, Action::Reattach),
        (RowId::R4, Action::Discover),
        (RowId::R2, Action::Read),
        (RowId::R1, Action::ReadAgain),
    ] {
        let mut world = World::answering([plan("continue", "a"), plan("done", "b")]);
        world.hold = Some("append intent #3");
        world.attach(AttachCause::First);
        world.run(20);
        // The record is offered once more under a course that does not permit it.
        let record = world.session.live.storing.take().unwrap();
        let facts = crate::recovery::facts::Facts {
            lost: Lost::Nothing,
            ..crate::recovery::tests::quiet()
        };
        world.session.live.course = Some(crate::session::Decision { row, facts, action });
        world.session.store(record);
        world.hold = None;
        world.drain();
        assert_eq!(
            (world.stop().row, world.stop().outcome),
            (Some(RowId::R15), Outcome::Defect),
            "{row}"
        );
        assert_eq!(world.taken("ROUND"), 1);
    }
}
