//! A look for a person: read twice alike, nothing changed, nothing claimed without a reading.

use super::words::silence;
use super::world::{ClickDoes, World};
use crate::{
    limits::Limits,
    outcome::Outcome,
    page::{
        Answer, Ask, AttachCause, Attachment, ConversationId, Epoch, Look, Loss, Observation,
        Place, Reading, TargetId, What,
    },
    record::{Journal, State, fold},
    recovery::facts::{Chain, Lost, Target},
    send::Located,
    session::{Input, Looked, Review, Start},
    time::Millis,
};

/// More than any look may take.
const STEPS_MAX: u32 = 400;

fn state(world: &World) -> State {
    fold(&world.journal.entries().unwrap()).unwrap()
}

/// A session that ended with ROUND 1 unknown.
fn unknown() -> World {
    let mut world = World::answering([silence()]);
    world.attach(AttachCause::First);
    world.clicks = vec![ClickDoes::Send, ClickDoes::SendSilently];
    world.patience = Some(Limits::default().reply_streaming_ms);
    world.run(2_000);
    assert_eq!(world.stop().outcome, Outcome::Unknown);
    world.draft.clear();
    world
}

fn seen(what: What) -> Input {
    let epoch = Epoch(90);
    Input::Observed(Box::new(Observation { epoch, what }))
}

/// A look at the page of that world; `nth` gives each reading.
fn look_with(world: &World, mut nth: impl FnMut(u32) -> Reading) -> (Looked, Vec<&'static str>) {
    let mut now = Millis(5_000_000);
    let mut review = Review::new(now, &state(world), Limits::default(), Start::default());
    review.handle(
        now,
        seen(What::Attached(Attachment {
            cause: AttachCause::First,
            target: TargetId("another".into()),
            browser: "Chrome/156".into(),
            address: "http://chat".into(),
        })),
    );
    let mut asked = Vec::new();
    let mut readings = 0;
    for _ in 0..STEPS_MAX {
        review.handle(now, seen(What::Look(Box::new(picture(world)))));
        while let Some(command) = review.poll(now) {
            asked.push(command.ask.name());
            if command.ask == Ask::Read {
                readings += 1;
                let answer = Answer::Read(nth(readings));
                let call = command.call;
                review.handle(now, seen(What::Answer { call, answer }));
            }
        }
        if review.is_over() {
            break;
        }
        now = Millis(now.0 + 500);
        review.handle(now, Input::Tick);
    }
    assert!(review.is_over(), "the look has an end");
    (review.looked(), asked)
}

fn picture(world: &World) -> Look {
    world.picture()
}

fn reading(world: &World, whole: bool) -> Reading {
    Reading {
        page_ms: 0,
        place: world.place.clone(),
        turns: world.thread.clone(),
        whole,
        idle: true,
    }
}

//= spec M1 type=test
//= spec RP3 type=test
#[test]
fn the_thread_is_read_twice_and_nothing_else_is_asked_of_the_page() {
    let world = unknown();
    let before = state(&world);
    let (looked, asked) = look_with(&world, |_| reading(&world, true));
    assert_eq!(asked, ["read", "read"]);
    assert_eq!((looked.facts.chain, looked.why), (Chain::Agrees, None));
    assert_eq!(looked.facts.lost, Lost::Relay);
    assert_eq!(looked.located, Some(Located::AnchorLast));
    let page = looked.page.unwrap();
    assert_eq!(page.turns, Some(world.thread.len() as u32));
    assert_eq!(state(&world), before, "a look stores nothing");
}

//= spec M4 type=test
#[test]
fn a_message_that_stands_there_is_seen() {
    let mut world = unknown();
    let text = state(&world).in_flight().unwrap().intent.text.clone();
    world.user_turn(text.as_str());
    let (looked, _) = look_with(&world, |_| reading(&world, true));
    assert_eq!(looked.facts.chain, Chain::Agrees);
    assert!(matches!(looked.located, Some(Located::Ours { .. })));
}

//= spec RP3 type=test
#[test]
fn what_is_not_whole_or_reads_otherwise_each_time_is_no_reading() {
    let world = unknown();
    let (looked, _) = look_with(&world, |_| reading(&world, false));
    assert_eq!(looked.facts.chain, Chain::Partial);
    assert_eq!(looked.located, None);
    let (looked, _) = look_with(&world, |nth| {
        let mut reading = reading(&world, true);
        let last = reading.turns.last_mut().unwrap();
        last.text = format!("{nth}").as_str().into();
        reading
    });
    assert_eq!(looked.facts.chain, Chain::Partial);
    assert!(looked.why.unwrap().contains("differently"));
}

//= spec RP3 type=test
#[test]
fn a_contradiction_and_another_place_are_said() {
    let mut world = unknown();
    world.user_turn("somebody else's words");
    let (looked, _) = look_with(&world, |_| reading(&world, true));
    assert_eq!(looked.facts.chain, Chain::Conflicts);
    let mut world = unknown();
    world.place = Place::Conversation(ConversationId("other".into()));
    let (looked, asked) = look_with(&world, |_| reading(&world, true));
    assert_eq!(looked.facts.target, Target::Elsewhere);
    assert_eq!(asked, [""; 0]);
}

#[test]
fn without_a_page_nothing_is_known_of_it_and_the_reason_is_said() {
    let world = unknown();
    let now = Millis(0);
    let mut review = Review::new(now, &state(&world), Limits::default(), Start::default());
    let loss = Loss::NeverAttached {
        code: "E_NO_BROWSER".into(),
        detail: "nothing listens there".into(),
    };
    review.handle(now, seen(What::Lost(loss)));
    assert_eq!(review.poll(now), None);
    assert!(review.is_over());
    let looked = review.looked();
    assert_eq!((looked.facts.chain, looked.page), (Chain::Unread, None));
    assert_eq!(looked.why.as_deref(), Some("nothing listens there"));
    assert_eq!(looked.code, Some(crate::fault::Code::NoBrowser));
}
