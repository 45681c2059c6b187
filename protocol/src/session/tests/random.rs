//! Whatever happens, and in whatever order, the promises hold: a session is
//! disturbed at random, killed and restarted, and looked at afterwards.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::{
    words::{plan, two_blocks},
    world::{AgentDoes, ClickDoes, World},
};
use crate::{
    limits::Limits,
    message,
    outcome::Outcome,
    page::{AttachCause, Beat, Loss, PageError, PageErrorKind, Pulse, Role, What},
    record::{Journal, Record},
    reply::{CaptureFailure, Verdict},
    send::SendKind,
    wire::canonical,
};

/// Something that happens to a session.
#[derive(Debug, Clone)]
enum Happens {
    Nothing,
    Click(ClickDoes),
    LateSend,
    MissedBeat,
    LinkDrops,
    Reloads,
    Unproven,
    ForeignTurn,
    Killed,
    KilledBefore(&'static str),
    Agent(AgentDoes),
    Interrupt,
    Fails,
    Lifted,
    Crashes,
}

fn happens() -> impl Strategy<Value = Happens> {
    let click = prop_oneof![
        Just(ClickDoes::Nothing),
        Just(ClickDoes::Stop),
        Just(ClickDoes::SendSilently),
        Just(ClickDoes::Refuse),
        Just(ClickDoes::SendUnseen),
    ];
    let before = prop_oneof![
        Just("append dispatching"),
        Just("append outcome"),
        Just("append judged"),
        Just("append started"),
        Just("append settled"),
        Just("append intent"),
        Just("submit"),
        Just("compose"),
        Just("let go"),
        Just("read"),
    ];
    prop_oneof![
        4 => Just(Happens::Nothing),
        3 => click.prop_map(Happens::Click),
        2 => Just(Happens::LateSend),
        1 => Just(Happens::MissedBeat),
        2 => Just(Happens::LinkDrops),
        2 => Just(Happens::Reloads),
        1 => Just(Happens::Unproven),
        1 => Just(Happens::ForeignTurn),
        3 => Just(Happens::Killed),
        4 => before.prop_map(Happens::KilledBefore),
        1 => prop_oneof![Just(AgentDoes::Fail), Just(AgentDoes::Doubt), Just(AgentDoes::NeverStart)]
            .prop_map(Happens::Agent),
        1 => Just(Happens::Interrupt),
        1 => Just(Happens::Fails),
        2 => Just(Happens::Lifted),
        1 => Just(Happens::Crashes),
    ]
}

fn disturb(world: &mut World, happens: &Happens) {
    match happens {
        Happens::Nothing => {}
        Happens::Click(does) => world.clicks = vec![*does],
        // What the server has is shown at last; or a click of which nothing was
        // heard reaches it after all.
        Happens::LateSend => match world.echo.take() {
            Some(text) => world.show(&text),
            None => {
                let draft = world.draft.clone();
                if message::recognise(Role::User, &draft).is_some() {
                    world.take(&draft);
                }
            }
        },
        Happens::MissedBeat => {
            let beat = Beat {
                browser: Pulse::Alive,
                renderer: Pulse::Missed,
            };
            world.observe(What::Beat(beat));
        }
        Happens::LinkDrops => {
            world.observe(What::Lost(Loss::Link {
                detail: "reset".into(),
            }));
        }
        Happens::Reloads => {
            world.observe(What::Lost(Loss::Document));
            world.attach(AttachCause::Document);
        }
        Happens::Unproven => {
            if let Some(row) = world.session.state().in_flight() {
                let send = row.intent.send;
                let limit = "reply_streaming_s".to_owned();
                let why = CaptureFailure::Deadline {
                    limit,
                    missing: Vec::new(),
                };
                let verdict = Box::new(Verdict::CaptureFailed { why });
                world.input(crate::session::Input::Verdict(send, verdict));
            }
        }
        Happens::ForeignTurn => {
            world.user_turn("a person types here, too");
            world.look();
        }
        Happens::Killed => world.restart(),
        Happens::KilledBefore(effect) => {
            world.hold = Some(effect);
            world.run(30);
            if world.stop.is_none() {
                world.restart();
            }
            world.hold = None;
        }
        Happens::Agent(does) => world.agent = *does,
        Happens::Interrupt => world.interrupt(),
        Happens::Fails => {
            if let Some(row) = world.session.state().in_flight() {
                let send = row.intent.send;
                let (kind, mark) = (PageErrorKind::Failed, "retry".to_owned());
                let verdict = Box::new(Verdict::PageFailed(PageError { kind, mark }));
                world.input(crate::session::Input::Verdict(send, verdict));
            }
        }
        Happens::Lifted => {}
        Happens::Crashes => world.observe(What::Lost(Loss::RendererCrashed)),
    }
    world.drain();
}

/// The judge's rule, over what the server took.
fn nothing_twice(world: &World) {
    let mut unanswered: Vec<String> = Vec::new();
    let mut rounds: BTreeMap<u32, u32> = BTreeMap::new();
    for (role, text) in &world.log {
        match role {
            Role::Assistant => unanswered.clear(),
            Role::User => {
                let text = canonical(text);
                assert!(!unanswered.contains(&text), "sent twice: {text}");
                if text.starts_with("# RESUME ") || text.starts_with("# RESYNC ") {
                    rounds.clear();
                }
                if text.starts_with("# ROUND ") {
                    let head = message::recognise(Role::User, &text).unwrap();
                    let times = rounds.entry(head.frame().unwrap().round.0).or_default();
                    *times += 1;
                    assert_eq!(*times, 1, "a round twice without a RESUME: {text}");
                }
                unanswered.push(text);
            }
        }
    }
}

fn nothing_run_twice(world: &World) {
    let mut started: BTreeMap<String, i32> = BTreeMap::new();
    for entry in world.journal.entries().unwrap() {
        if let Record::Started { plan, .. } = &entry.record {
            *started.entry(plan.to_string()).or_default() += 1;
        }
        if let Record::NotStarted { plan, .. } = &entry.record {
            *started.entry(plan.to_string()).or_default() -= 1;
        }
    }
    assert!(started.values().all(|times| *times <= 1), "{started:?}");
}

/// Every intent after the first names the anchor that stood last, and `p=` of
/// each round is the checkpoint of its moment.
fn chained(world: &World) {
    let mut state = crate::record::State::default();
    for entry in world.journal.entries().unwrap() {
        if let Record::Intent(intent) = &entry.record
            && intent.message == SendKind::Round
        {
            let head = message::recognise(Role::User, intent.text.as_str()).unwrap();
            assert_eq!(head.frame().unwrap().prev, state.checkpoint.prev());
        }
        state.apply(&entry).unwrap();
    }
}

fn play(course: &[Happens]) -> World {
    let mut world = World::answering([
        plan("need_info", "look"),
        two_blocks(),
        plan("continue", "fix"),
        plan("continue", "more"),
        plan("done", "finished"),
    ]);
    world.acknowledges = true;
    world.attach(AttachCause::First);
    world.drain();
    for happens in course {
        if let Some(stop) = world.stop.clone() {
            // A person may look at a stop and lift it; what is not lifted stays.
            if !matches!(happens, Happens::Lifted) {
                continue;
            }
            if stop.standing {
                let (who, why) = ("a person".to_owned(), "looked".to_owned());
                world.record(&Record::Lifted {
                    who,
                    why,
                    limit: None,
                });
            } else if !stop.interrupted {
                continue;
            }
            world.restart();
        }
        disturb(&mut world, happens);
        world.prove();
        world.run(2);
    }
    // The disturbances are over: what can be proven is, and the rest ends.
    world.agent = AgentDoes::Settle;
    world.clicks.clear();
    world.hold = None;
    world.patience = Some(Limits::default().reply_streaming_ms);
    world.drain();
    world.run(STEPS_MAX);
    world
}

/// Wake-ups within which a session that nothing disturbs any more has ended: a
/// second each, over every read that is left.
const STEPS_MAX: u32 = 4_000;

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    //= spec S6 type=test
    //= spec K5 type=test
    #[test]
    fn no_disturbance_sends_or_runs_anything_twice(course in prop::collection::vec(happens(), 0..18)) {
        let world = play(&course);
        nothing_twice(&world);
        nothing_run_twice(&world);
        chained(&world);
        prop_assert!(world.stop.is_some(), "hangs in {:?}: {:?}", world.session.phase(), world.effects);
    }
}

#[test]
fn an_undisturbed_course_ends_in_done() {
    let world = play(&[]);
    assert_eq!(world.stop().outcome, Outcome::Done);
}

#[test]
fn a_kill_before_each_kind_of_effect_sends_and_runs_nothing_twice() {
    let before = [
        "append intent",
        "compose",
        "append dispatching",
        "submit",
        "append outcome",
        "append judged",
        "spawn",
        "append started",
        "let go",
        "append settled",
    ];
    let mut ends: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for effect in before {
        let world = play(&[Happens::Nothing, Happens::KilledBefore(effect)]);
        nothing_twice(&world);
        nothing_run_twice(&world);
        let end = world
            .stop
            .as_ref()
            .map_or("waiting".to_owned(), |stop| stop.outcome.to_string());
        ends.entry(end).or_default().push(effect);
    }
    crate::testing::snapshot!("session_kills", format!("{ends:#?}"));
}
