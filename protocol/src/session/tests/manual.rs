//! A person decides: what is offered, what follows, and that evidence outranks it.

use super::words::{plan, silence, two_blocks};
use super::world::{AgentDoes, ClickDoes, World};
use crate::{
    limits::Limits,
    outcome::Outcome,
    page::AttachCause,
    record::{Cost, Journal, NewLimit, State, fold},
    recovery::{
        RowId,
        facts::{Chain, Facts},
        manual::{Choice, Choices, Folder, Given, Seen, Trace, choices},
    },
    send::locate,
};

fn state(world: &World) -> State {
    fold(&world.journal.entries().unwrap()).unwrap()
}

/// What a person is offered after a complete reading of the thread.
fn offered(world: &World, chain: Chain) -> Choices {
    let state = state(world);
    let facts = Facts {
        chain,
        ..crate::recovery::tests::quiet()
    };
    let located = state.in_flight().map(|row| {
        let (anchor, text) = (&row.intent.anchor, row.intent.text.as_str());
        locate(&world.thread, true, anchor, text)
    });
    let folder = Folder::Free;
    let trace = Trace::Nothing;
    choices(
        &state,
        &facts,
        &Seen {
            located,
            folder,
            trace,
        },
    )
}

fn words(choices: &[Choice]) -> Vec<&'static str> {
    choices.iter().map(Choice::word).collect()
}

fn choose(world: &mut World, word: &str, limit: Option<NewLimit>) {
    let all = offered(world, Chain::Agrees);
    let choice = all.offered.iter().find(|one| one.word() == word);
    let choice = choice.unwrap_or_else(|| panic!("{word} is not offered: {all:?}"));
    let given = Given {
        who: "a person".into(),
        why: "looked at it".into(),
        receipt: Some((true, "it is done".into())),
        limit,
    };
    for record in choice.records(&state(world), &given).unwrap() {
        world.record(&record);
    }
    world.acknowledges = true;
    world.restart();
    world.run(60);
}

/// A session that ended with ROUND 1 unknown.
fn unknown() -> World {
    let mut world = World::new();
    world.attach(AttachCause::First);
    world.clicks = vec![ClickDoes::Send, ClickDoes::SendSilently];
    world.patience = Some(Limits::default().reply_streaming_ms);
    world.run(2_000);
    assert_eq!(world.stop().outcome, Outcome::Unknown);
    world.remote = vec![plan("continue", "a"), plan("done", "b")];
    world.patience = None;
    world.draft.clear();
    world
}

//= spec M4 type=test
#[test]
fn what_is_not_sent_is_abandoned_and_another_goes_in_its_place() {
    let mut world = unknown();
    let all = offered(&world, Chain::Agrees);
    assert_eq!(
        words(&all.offered),
        ["sent", "not-sent", "wait-on", "lift", "abandon"]
    );
    choose(&mut world, "not-sent", None);
    assert_eq!(world.stop().outcome, Outcome::Done, "{:?}", world.rows());
    assert_eq!((world.taken("RESUME"), world.taken("ROUND")), (1, 2));
    assert!(world.session.state().sends[1].void);
    assert_eq!(world.session.state().budgets.spent(Cost::Resume), 0);
}

//= spec M4 type=test
#[test]
fn evidence_outranks_what_a_person_said() {
    let mut world = unknown();
    let text = state(&world).in_flight().unwrap().intent.text.clone();
    let given = Given {
        who: "a person".into(),
        why: "looked".into(),
        receipt: None,
        limit: None,
    };
    let send = state(&world).in_flight().unwrap().intent.send;
    for record in (Choice::NotSent { send })
        .records(&state(&world), &given)
        .unwrap()
    {
        world.record(&record);
    }
    world.remote.clear();
    world.user_turn(text.as_str());
    world.restart();
    world.run(60);
    assert_eq!(world.stop().row, Some(RowId::R10));
    assert_eq!(world.taken("RESUME"), 0);
}

//= spec M4 type=test
#[test]
fn nothing_is_attested_without_a_complete_reading_or_against_it() {
    let mut world = unknown();
    for chain in [Chain::Unread, Chain::Partial, Chain::Conflicts] {
        let all = offered(&world, chain);
        assert!(
            !words(&all.offered).contains(&"not-sent"),
            "{chain}: {all:?}"
        );
        assert!(!words(&all.offered).contains(&"sent"), "{chain}: {all:?}");
    }
    let text = state(&world).in_flight().unwrap().intent.text.clone();
    world.user_turn(text.as_str());
    let all = offered(&world, Chain::Agrees);
    assert!(!words(&all.offered).contains(&"not-sent"), "{all:?}");
    assert!(all.refused.iter().all(|refused| !refused.why.is_empty()));
}

#[test]
fn what_was_sent_is_awaited() {
    let mut world = unknown();
    let text = state(&world).in_flight().unwrap().intent.text.clone();
    choose(&mut world, "sent", None);
    assert!(world.stop.is_none());
    world.take(text.as_str());
    world.run(60);
    assert_eq!(
        (world.stop().outcome, world.taken("ROUND")),
        (Outcome::Done, 2)
    );
}

fn doubted() -> World {
    let mut world = World::answering([plan("continue", "a")]);
    world.agent = AgentDoes::Doubt;
    world.attach(AttachCause::First);
    world.run(20);
    assert_eq!(world.stop().row, Some(RowId::R11));
    world.agent = AgentDoes::Settle;
    world.remote = vec![plan("done", "b")];
    world
}

//= spec M2 type=test
#[test]
fn a_plan_that_ran_settles_with_the_receipt_given() {
    let mut world = doubted();
    choose(&mut world, "ran", None);
    assert_eq!(world.stop().outcome, Outcome::Done);
    assert_eq!((world.executed.len(), world.taken("ROUND")), (1, 2));
    assert_eq!(world.taken("RESUME"), 0);
    let last = world.thread.iter().rev().nth(1).unwrap().text.as_str();
    assert!(last.contains("it is done"), "{last}");
}

//= spec M4 type=test
//= spec K5 type=test
#[test]
fn a_plan_that_did_not_run_is_void_and_an_equal_one_does_not_run_by_itself() {
    let mut world = doubted();
    world.remote = vec![plan("continue", "a"), plan("done", "b")];
    choose(&mut world, "did-not-run", None);
    // The remote gives the very same body again: it stays accepted.
    assert_eq!(world.stop().row, Some(RowId::R0), "{:?}", world.rows());
    assert_eq!((world.executed.len(), world.taken("RESUME")), (1, 1));
    assert!(words(&offered(&world, Chain::Agrees).offered).contains(&"run-once"));
    choose(&mut world, "run-once", None);
    assert_eq!(world.stop().outcome, Outcome::Done, "{:?}", world.rows());
    assert_eq!(world.executed.len(), 2);
}

//= spec K6 type=test
#[test]
fn nothing_is_attested_of_a_plan_while_something_works_in_its_folder() {
    let world = doubted();
    let by = "pid 7".to_owned();
    let seen = Seen {
        located: None,
        folder: Folder::Held { by },
        trace: Trace::Nothing,
    };
    let all = choices(&state(&world), &crate::recovery::tests::quiet(), &seen);
    assert_eq!(words(&all.offered), ["abandon"]);
    assert!(all.refused[0].why.starts_with("pid 7"), "{all:?}");
}

//= spec M4 type=test
#[test]
fn what_the_wrapper_recorded_is_not_contradicted_by_a_person() {
    let world = doubted();
    let facts = Facts {
        chain: Chain::Agrees,
        ..crate::recovery::tests::quiet()
    };
    for (trace, left) in [
        (Trace::Nothing, &["ran", "did-not-run"][..]),
        (Trace::Began, &["ran"]),
        (Trace::NotStarted, &["did-not-run"]),
    ] {
        let seen = Seen {
            located: None,
            folder: Folder::Free,
            trace,
        };
        let all = choices(&state(&world), &facts, &seen);
        let said = |word: &&str| word.starts_with("ran") || word.starts_with("did");
        let words: Vec<&str> = words(&all.offered).into_iter().filter(said).collect();
        assert_eq!(words, left, "{trace:?}");
    }
}

//= spec M2 type=test
#[test]
fn a_lifted_refusal_resumes_without_a_budget() {
    for says in ["blocked", "violation"] {
        let mut world = match says {
            "blocked" => World::answering([plan("blocked", "x")]),
            _ => World::answering([two_blocks(), two_blocks(), two_blocks()]),
        };
        world.attach(AttachCause::First);
        world.run(40);
        assert!(world.stop().standing);
        world.remote = vec![plan("done", "b")];
        choose(&mut world, "lift", None);
        assert_eq!(
            world.stop().outcome,
            Outcome::Done,
            "{says}: {:?}",
            world.rows()
        );
        assert_eq!(world.taken("RESUME"), 1, "{says}");
        assert_eq!(world.session.state().budgets.spent(Cost::Resume), 0);
    }
}

//= spec M2 type=test
#[test]
fn a_lifted_boundary_is_allowed_once_more_or_as_the_person_says() {
    for limit in [None, Some(3)] {
        let mut world = World::with(Limits {
            rounds_max: 1,
            ..Limits::default()
        });
        world
            .remote
            .extend([plan("continue", "a"), plan("done", "b")]);
        world.attach(AttachCause::First);
        world.run(40);
        assert_eq!(world.stop().outcome, Outcome::Boundary);
        let limit = limit.map(|value| NewLimit {
            name: "rounds_max".into(),
            value,
        });
        choose(&mut world, "lift", limit);
        assert_eq!(world.stop().outcome, Outcome::Done, "{:?}", world.rows());
    }
}

#[test]
fn an_abandoned_session_does_nothing_more() {
    let mut world = unknown();
    choose(&mut world, "abandon", None);
    assert_eq!(world.stop().row, Some(RowId::R14));
    assert_eq!(offered(&world, Chain::Agrees), Choices::default());
}

//= spec RP8 type=test
#[test]
fn a_person_may_have_the_contract_declared_anew() {
    let mut world = World::answering([silence()]);
    world.attach(AttachCause::First);
    world.run(10);
    world.verdict(crate::reply::Verdict::Truncated {
        turn: None,
        chars: 4,
    });
    assert_eq!(world.stop().row, Some(RowId::R0));
    world.remote = vec![plan("done", "b")];
    choose(&mut world, "resync", None);
    assert_eq!(world.stop().outcome, Outcome::Done, "{:?}", world.rows());
    assert_eq!((world.taken("RESYNC"), world.taken("RESUME")), (1, 1));
}

/// HELLO's reply was cut, and the RESUME that followed the lift was attested not to have
/// been sent: the session stands where it stood, and the table is asked again.
//= spec M4 type=test
//= spec RP8 type=test
#[test]
fn a_message_that_was_not_sent_leaves_the_failed_reply_before_it_standing() {
    let mut world = World::new();
    world.remote = vec![silence()];
    world.attach(AttachCause::First);
    world.run(10);
    world.verdict(crate::reply::Verdict::Truncated {
        turn: None,
        chars: 4,
    });
    assert_eq!(world.stop().row, Some(RowId::R0));
    world.clicks = vec![ClickDoes::SendSilently; 3];
    world.patience = Some(Limits::default().reply_streaming_ms);
    choose(&mut world, "lift", None);
    world.run(2_000);
    assert_eq!(world.stop().outcome, Outcome::Unknown, "{:?}", world.rows());
    assert_eq!(world.taken("RESUME"), 0);
    world.patience = None;
    world.clicks.clear();
    world.draft.clear();
    world.remote = vec![plan("done", "b")];
    choose(&mut world, "not-sent", None);
    // The RESUME that was not sent is made again: it is due as it was before.
    assert_eq!(world.stop().outcome, Outcome::Done, "{:?}", world.rows());
    assert_eq!((world.taken("HELLO"), world.taken("RESUME")), (1, 1));
}
