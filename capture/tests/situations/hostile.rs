//! Hostile observations: never a panic, never complete but with the whole text.

use proptest::prelude::*;
use protocol::page::{
    Answer, CallId, Epoch, Look, Observation, StreamEnd, StreamEvent, StreamReport, TurnId,
    TurnKey, What,
};
use protocol::reply::Verdict;

use crate::scene::{Event, PLAN, Scene, assistant, id, user};
use crate::{is_complete, ordinary};

//= spec C5 type=test
#[test]
fn what_an_older_epoch_says_is_dropped() {
    let mut scene = ordinary(PLAN);
    scene.after(20).relink();
    let dropped = scene.evidence(&scene.events).dropped();
    let (_, mut stale) = scene.events[scene.events.len() - 3].clone();
    stale.epoch = Epoch(1);
    scene.events.push((scene.now(), stale));
    assert_eq!(scene.evidence(&scene.events).dropped(), dropped + 1);
    assert!(matches!(scene.verdict(), Verdict::NotYet(_)));
}

#[test]
fn looks_out_of_order_are_dropped() {
    let mut scene = ordinary(PLAN);
    let old = scene.events[1].clone();
    scene.after(300).see();
    scene.events.push(old);
    assert!(is_complete(&scene.verdict()), "{}", scene.verdict());
    assert_eq!(scene.evidence(&scene.events).dropped(), 1);
}

#[test]
fn lost_looks_and_what_does_not_parse_begin_the_windows_anew() {
    let mut scene = ordinary(PLAN);
    scene.after(200).push(What::Malformed {
        source: "observer".into(),
        len: 9,
        why: "x".into(),
    });
    scene.after(100).see();
    assert!(!is_complete(&scene.verdict()));
    scene.after(300).see();
    assert!(is_complete(&scene.verdict()));
}

#[test]
fn a_stream_with_a_gap_has_no_text() {
    let mut scene = Scene::new();
    scene.after(40).send();
    scene.stream_to(PLAN, 30).transport(StreamEnd::Gap);
    scene.stream_to(PLAN, PLAN.len()).stream_end();
    scene.finish(PLAN).see().after(300).see();
    let Verdict::NotYet(progress) = scene.verdict() else {
        panic!("{}", scene.verdict());
    };
    assert!(progress.want.is_some());
    scene.copied(PLAN).after(20).see();
    assert!(is_complete(&scene.verdict()), "{}", scene.verdict());
}

#[test]
fn our_text_in_two_requests_makes_the_stream_no_source() {
    let mut scene = ordinary(PLAN);
    let sent = scene
        .events
        .iter()
        .find(|(_, event)| matches!(&event.what, What::Stream(_)))
        .cloned()
        .unwrap();
    let What::Stream(mut report) = sent.1.what else {
        unreachable!()
    };
    report.request = "req-2".into();
    scene.push(What::Stream(report));
    scene.after(300).see();
    assert!(!is_complete(&scene.verdict()));
    assert!(!is_complete(&scene.verdict_late()));
}

//= spec C3 type=test
#[test]
fn ten_megabytes_from_any_side_are_no_answer_and_fill_no_memory() {
    let flood = "x y z w ".repeat((10 << 20) / 8);
    let held = |scene: &Scene| {
        for (at, _) in scene.events.iter().enumerate().rev().take(4) {
            assert!(!is_complete(&scene.verdict_of(&scene.events[..=at])));
        }
        assert!(!is_complete(&scene.verdict_late()));
        let evidence = scene.evidence(&scene.events);
        assert!(evidence.held_bytes() <= capture::EVIDENCE_BYTES_MAX);
        evidence.held_bytes()
    };
    // By the stream, by the page's data, by copies, and by several of them.
    let mut stream = Scene::new();
    stream
        .after(40)
        .send()
        .stream_to(&flood, flood.len())
        .stream_end();
    stream.finish("x").see().after(300).see();
    held(&stream);
    let mut data = Scene::new();
    data.after(40)
        .send()
        .reload()
        .fetched(&flood, "finished_successfully");
    data.finish("x").see().after(300).see();
    held(&data);
    let mut copies = Scene::new();
    copies.after(40).send().transport(StreamEnd::Finished);
    copies.finish("x").see();
    for nth in 0..6 {
        copies.copied(&format!("{nth}{flood}"));
    }
    copies.after(300).see();
    held(&copies);
    // Just under what is kept of one text, as often as may be.
    let text = |nth: usize| format!("{nth}{}", &flood[..capture::TEXT_BYTES_MAX - 8]);
    let mut full = Scene::new();
    full.after(40)
        .send()
        .stream_to(&text(0), usize::MAX)
        .stream_end();
    full.finish("x").see();
    full.fetched(&text(1), "finished_successfully");
    for nth in 2..7 {
        full.copied(&text(nth));
    }
    full.after(300).see();
    assert!(held(&full) > capture::TEXT_BYTES_MAX);
}

/// An ordinary reply under a name of so many bytes.
fn named(bytes: usize) -> Scene {
    let mut scene = ordinary(PLAN);
    scene.after(300).see();
    for (_, observation) in &mut scene.events {
        if let What::Look(look) = &mut observation.what {
            for turn in &mut look.tail {
                if turn.key == TurnKey::Settled(id("a1")) {
                    turn.key = TurnKey::Settled(TurnId("a".repeat(bytes)));
                }
            }
        }
    }
    scene
}

//= spec C1 type=test
#[test]
fn a_name_as_long_as_names_are_is_one_and_a_longer_one_is_not_kept() {
    let longest = named(capture::NAME_BYTES_MAX);
    assert!(is_complete(&longest.verdict()), "{}", longest.verdict());
    let over = named(capture::NAME_BYTES_MAX + 1);
    assert!(!is_complete(&over.verdict()));
    assert!(!is_complete(&over.verdict_late()));
    let kept = format!("{:?}", over.evidence(&over.events));
    assert!(!kept.contains("aaaaaaaa"), "{kept}");
}

fn damage(at: usize, kind: u8, value: u64, scene: &Scene) -> Vec<Event> {
    let mut events = scene.events.clone();
    let at = at % events.len();
    let time = events[at].0;
    let report = |event| {
        What::Stream(StreamReport {
            n: 0,
            request: "req-1".into(),
            event,
        })
    };
    let junk = |data: &str| report(StreamEvent::Data { data: data.into() });
    let epoch = events[at].1.epoch;
    let look = events
        .iter()
        .rev()
        .find_map(|(_, event)| match &event.what {
            What::Look(look) => Some(look.as_ref().clone()),
            _ => None,
        });
    let changed = |change: &dyn Fn(&mut Look)| {
        let mut look = look.clone().unwrap();
        look.seq += value % 3;
        change(&mut look);
        What::Look(Box::new(look))
    };
    let what = match kind {
        0 => junk("[DONE]"),
        1 => junk(r#"{"v": "more"}"#),
        2 => junk(r#"{"p": "/message/content/parts/0", "o": "replace", "v": "short"}"#),
        3 => junk(r#"{"p": "/message/content", "o": "append", "v": [1, {"a": null}]}"#),
        4 => junk(r#"[[[["v"]]]]"#),
        5 => report(StreamEvent::End(StreamEnd::Overflow)),
        6 => What::Answer {
            call: CallId(value),
            answer: Answer::Copied {
                turn: id("a1"),
                text: "```\nforged\n```".into(),
            },
        },
        7 => changed(&|look| look.page_ms = value),
        8 => changed(&|look| look.seq = value),
        9 => changed(&|look| look.tail.clear()),
        10 => changed(&|look| look.tail.push(user("x", ""))),
        11 => changed(&|look| look.tail.push(assistant("a9", "forged"))),
        12 => changed(&|look| {
            for turn in &mut look.tail {
                turn.key = TurnKey::Provisional;
            }
        }),
        13 => changed(&|look| {
            if let Some(reply) = look.tail.last_mut().and_then(|turn| turn.reply.as_mut()) {
                reply.blocks = Some(vec![]);
                reply.chars = u32::MAX;
            }
        }),
        _ => changed(&|look| look.tail.reverse()),
    };
    let epoch = if value.is_multiple_of(7) {
        Epoch(epoch.0 + 1)
    } else {
        epoch
    };
    events.insert(at, (time, Observation { epoch, what }));
    events
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn forged_and_misplaced_observations_never_make_another_text_complete(
        hits in proptest::collection::vec((0usize..64, 0u8..15, any::<u64>()), 1..5),
    ) {
        let mut scene = ordinary(PLAN);
        scene.after(300).see().after(200).see();
        for (at, kind, value) in hits {
            scene.events = damage(at, kind, value, &scene);
            for end in 0..=scene.events.len() {
                let verdict = scene.verdict_of(&scene.events[..end]);
                if let Verdict::Complete(captured) = &verdict {
                    prop_assert_eq!(captured.text.as_str(), PLAN, "{}", verdict);
                }
                let _ = verdict.to_string();
            }
            let late = scene.verdict_late();
            if let Verdict::Complete(captured) = &late {
                prop_assert_eq!(captured.text.as_str(), PLAN);
            }
        }
    }

    #[test]
    fn any_stream_payload_is_taken_without_a_panic(pieces in proptest::collection::vec(".{0,60}", 0..12)) {
        let mut scene = Scene::new();
        scene.after(40).send();
        for piece in &pieces {
            scene.data(piece);
        }
        prop_assert!(!is_complete(&scene.verdict()));
    }

    #[test]
    fn any_deltas_are_taken_without_a_panic(
        ops in proptest::collection::vec(("(/message)?(/[a-z0-9]{1,8}){0,3}", "append|replace|add|remove|truncate|patch|zz", any::<i64>()), 0..20),
    ) {
        let mut scene = Scene::new();
        scene.after(40).send().stream_to(PLAN, 20);
        for (p, o, v) in &ops {
            scene.data(&serde_json::json!({"p": p, "o": o, "v": v}).to_string());
        }
        prop_assert!(!is_complete(&scene.verdict()));
    }
}
