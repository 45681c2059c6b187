//! Partial replies (cases b): nothing short of the whole is ever taken.

use protocol::page::{StreamEnd, TurnKey};
use protocol::reply::{CaptureFailure, EndWitness, Missing, Source, Verdict, Want};

use crate::scene::{OURS, PLAN, Scene};
use crate::{check, is_complete, ordinary};

fn complete(scene: &Scene) -> protocol::reply::Captured {
    match scene.verdict() {
        Verdict::Complete(captured) => captured,
        other => panic!("{other}"),
    }
}

//= spec C2 type=test
#[test]
fn an_ordinary_reply_is_complete_after_the_quiet_window_and_not_before() {
    let mut scene = ordinary(PLAN);
    scene.after(299).see();
    assert!(!is_complete(&scene.verdict()), "{}", scene.verdict());
    scene.after(1).see();
    let captured = complete(&scene);
    assert_eq!(captured.text.as_str(), PLAN);
    assert_eq!(captured.end, EndWitness::StreamDone);
    assert_eq!(captured.agreed, [Source::Stream, Source::Dom]);
    assert_eq!(captured.own.0, "u1");
    assert_eq!(captured.turn.0, "a1");
}

//= spec C2 type=test
#[test]
fn the_ordinary_course() {
    let mut scene = ordinary(PLAN);
    scene.after(300).see();
    check("ordinary", &scene, PLAN);
}

#[test]
fn b1_a_pause_in_mid_word_is_no_end() {
    let mut scene = Scene::new();
    scene.after(40).send();
    scene.after(100).stream_to(PLAN, 60).show(PLAN, 60).see();
    scene.watch(20_000, 1_000);
    assert!(!is_complete(&scene.verdict()));
    scene.after(100).stream_to(PLAN, PLAN.len()).stream_end();
    scene.after(5).finish(PLAN).see();
    scene.after(300).see();
    assert_eq!(complete(&scene).text.as_str(), PLAN);
    check("b1", &scene, PLAN);
}

#[test]
fn b2_a_bar_that_flashes_is_no_bar() {
    let mut scene = Scene::new();
    scene.after(40).send();
    scene.reply().thinking = true;
    scene.after(100).see();
    // Thinking ends, the bar flashes, the answer begins.
    scene.finish("");
    scene.after(10).see();
    scene.after(150).see();
    let reply = scene.reply();
    reply.bar = false;
    reply.copy = false;
    reply.blocks = None;
    scene.look.composer.stop = true;
    scene.after(1).show(PLAN, 10).see();
    scene.after(100).stream_to(PLAN, PLAN.len()).stream_end();
    scene.after(5).finish(PLAN).see();
    scene.after(300).see();
    assert_eq!(complete(&scene).text.as_str(), PLAN);
    check("b2", &scene, PLAN);
}

#[test]
fn the_bar_must_stand_its_time_and_one_millisecond_less_is_not_enough() {
    let limits = capture::Limits::default();
    assert!(limits.bar_debounce_ms < limits.quiet_ms);
    let mut scene = ordinary(PLAN);
    scene.after(limits.bar_debounce_ms - 1).see();
    let lacking = |scene: &Scene| match scene.verdict() {
        Verdict::NotYet(progress) => progress.missing,
        other => panic!("{other}"),
    };
    let is_bar = |what: &Missing| matches!(what, Missing::BarDebounce { .. });
    assert!(lacking(&scene).iter().any(is_bar));
    scene.after(1).see();
    assert!(!lacking(&scene).iter().any(is_bar));
}

#[test]
fn b3_a_single_letter_for_eight_seconds_is_no_answer() {
    let mut scene = Scene::new();
    scene.after(40).send();
    scene.after(100).stream_to(PLAN, 1).show(PLAN, 1);
    scene.reply().streaming = false;
    scene.look.composer.stop = false;
    scene.see().watch(8_000, 1_000);
    assert!(matches!(scene.verdict(), Verdict::NotYet(_)));
    check("b3", &scene, PLAN);
}

#[test]
fn b4_a_deadline_in_mid_reply_saves_nothing() {
    let mut scene = Scene::new();
    scene.after(40).send();
    scene.after(100).stream_to(PLAN, 60).show(PLAN, 60).see();
    scene.watch(119_000, 1_000);
    assert!(matches!(scene.verdict(), Verdict::NotYet(_)));
    scene.watch(1_000, 1_000);
    let Verdict::CaptureFailed {
        why: CaptureFailure::Deadline { limit, .. },
    } = scene.verdict()
    else {
        panic!("{}", scene.verdict());
    };
    assert_eq!(limit, "reply_streaming_s");
}

#[test]
fn b5_a_reply_whose_bar_never_comes_is_finished_and_unproven() {
    let mut scene = ordinary(PLAN);
    let reply = scene.reply();
    reply.bar = false;
    reply.copy = false;
    reply.blocks = None;
    scene.events.pop();
    scene.see().watch(5_000, 1_000);
    let Verdict::CaptureFailed {
        why: CaptureFailure::FinishedUnproven { missing, .. },
    } = scene.verdict_late()
    else {
        panic!("{}", scene.verdict_late());
    };
    assert!(missing.contains(&Missing::Bar), "{missing:?}");
    check("b5", &scene, PLAN);
}

#[test]
fn b6_an_empty_dom_counts_for_nothing_where_stream_and_copy_agree() {
    let mut scene = ordinary(PLAN);
    let print = scene.reply();
    print.chars = 0;
    print.blocks = Some(vec![]);
    scene.events.pop();
    scene.see().after(300).see();
    let Verdict::NotYet(progress) = scene.verdict() else {
        panic!("{}", scene.verdict());
    };
    assert!(matches!(progress.want, Some(Want::Copy { .. })));
    scene.after(30).copied(PLAN);
    let captured = complete(&scene);
    assert_eq!(captured.agreed, [Source::Stream, Source::Copy]);
    assert_eq!(captured.text.as_str(), PLAN);
    check("b6", &scene, PLAN);
}

#[test]
fn b7_a_reply_that_is_done_within_80_ms_waits_for_our_own_turn() {
    let mut scene = Scene::new();
    scene.after(40).send();
    scene.look.tail[2].key = TurnKey::Provisional;
    scene.events.pop();
    scene.see();
    scene.after(40).stream_to(PLAN, PLAN.len()).stream_end();
    scene.finish(PLAN).see();
    scene.after(400).see();
    assert!(!is_complete(&scene.verdict()), "{}", scene.verdict());
    scene.look.tail[2].key = TurnKey::Settled(crate::scene::id("u1"));
    scene.after(10).see();
    assert_eq!(complete(&scene).text.as_str(), PLAN);
    check("b7", &scene, PLAN);
}

//= spec C8 type=test
#[test]
fn b8_an_offer_to_continue_is_an_outcome_of_its_own() {
    let half = &PLAN[..PLAN.len() / 2];
    let mut scene = ordinary(half);
    scene.reply().truncated = true;
    scene.after(300).see();
    assert!(matches!(scene.verdict(), Verdict::Truncated { .. }));
}

//= spec C8 type=test
#[test]
fn b8_the_stream_tells_of_the_cut_where_no_label_does() {
    let half = &PLAN[..PLAN.len() / 2];
    let mut scene = Scene::new();
    scene.after(40).send();
    scene.after(100).stream_to(half, half.len());
    scene.data(r#"{"p":"","o":"patch","v":[{"p":"/message/status","o":"replace","v":"finished_partial_completion"}]}"#);
    scene.data("[DONE]").finish(half).see().watch(2_000, 500);
    assert!(matches!(scene.verdict(), Verdict::Truncated { .. }));
    assert!(matches!(scene.verdict_late(), Verdict::Truncated { .. }));
}

#[test]
fn b9_a_fence_that_the_page_closed_is_open_in_the_source() {
    let cut = &PLAN[..PLAN.find("All of").unwrap()];
    let mut scene = mid_stream(cut);
    scene.watch(1_500, 500).after(20).copied(cut);
    scene.watch(10_000, 1_000);
    assert!(matches!(scene.verdict(), Verdict::NotYet(_)));
    check("b9", &scene, PLAN);
}

/// Attached in mid-stream: nothing of the stream is seen; the reply finishes.
fn mid_stream(text: &str) -> Scene {
    let mut scene = Scene::new();
    scene
        .after(40)
        .look
        .tail
        .push(crate::scene::user("u1", OURS));
    scene.look.composer.stop = true;
    scene.show(text, 20).see();
    scene.after(500).finish(text).see();
    scene
}

//= spec C2 type=test
#[test]
fn attached_in_mid_stream_a_closed_fence_over_the_long_quiet_is_an_end() {
    let mut scene = mid_stream(PLAN);
    scene.after(400).see();
    let Verdict::NotYet(progress) = scene.verdict() else {
        panic!("{}", scene.verdict());
    };
    assert!(matches!(progress.want, Some(Want::Copy { .. })));
    scene.after(20).copied(PLAN);
    scene.after(1_079).see();
    assert!(!is_complete(&scene.verdict()), "{}", scene.verdict());
    scene.after(1).see();
    let captured = complete(&scene);
    assert_eq!(captured.end, EndWitness::FenceClosed);
    assert_eq!(captured.agreed, [Source::Copy, Source::Dom]);
    check("mid-stream", &scene, PLAN);
}

#[test]
fn prose_after_the_fence_is_no_end_without_the_stream() {
    let text = format!("{PLAN}\nAnd so");
    let mut scene = mid_stream(&text);
    scene.after(400).see().copied(&text).watch(5_000, 500);
    assert!(matches!(scene.verdict(), Verdict::NotYet(_)));
    assert!(!is_complete(&scene.verdict_late()));
}

#[test]
fn b10_the_quiet_window_begins_at_the_last_render() {
    let part: String = PLAN.chars().take(PLAN.len() * 4 / 5).collect();
    let mut scene = Scene::new();
    scene.after(40).send();
    scene.after(100).stream_to(PLAN, PLAN.len()).stream_end();
    scene.finish(&part).see().watch(1_000, 100);
    assert!(
        matches!(scene.verdict(), Verdict::NotYet(_)),
        "{}",
        scene.verdict()
    );
    scene.finish(PLAN).see();
    scene.after(299).see();
    assert!(!is_complete(&scene.verdict()));
    scene.after(1).see();
    assert_eq!(complete(&scene).text.as_str(), PLAN);
    check("b10", &scene, PLAN);
}

#[test]
fn b11_a_tab_that_renders_late_is_waited_for_and_doubted_in_the_end() {
    let part: String = PLAN.chars().take(PLAN.len() / 3).collect();
    let mut scene = Scene::new();
    scene.after(40).send();
    scene.after(100).stream_to(PLAN, PLAN.len()).stream_end();
    scene.finish(&part).see().watch(9_000, 1_000);
    assert!(
        matches!(scene.verdict(), Verdict::NotYet(_)),
        "{}",
        scene.verdict()
    );
    let mut stuck = scene.clone();
    scene.finish(PLAN).see().after(300).see();
    assert_eq!(complete(&scene).text.as_str(), PLAN);
    check("b11", &scene, PLAN);
    stuck.watch(112_000, 1_000);
    assert!(
        matches!(stuck.verdict(), Verdict::SourceUncertain(_)),
        "{}",
        stuck.verdict()
    );
}

#[test]
fn b12_a_reader_cancelled_at_done_or_a_socket_left_open_is_complete() {
    for end in [Some(StreamEnd::Failed), Some(StreamEnd::Finished), None] {
        let mut scene = ordinary(PLAN);
        if let Some(end) = end {
            scene.transport(end);
        }
        scene.after(300).see();
        assert_eq!(complete(&scene).text.as_str(), PLAN);
    }
}

#[test]
fn a_finished_status_is_an_end_without_done() {
    let mut scene = Scene::new();
    scene.after(40).send();
    scene
        .after(100)
        .stream_to(PLAN, PLAN.len())
        .finished_status();
    scene.finish(PLAN).see().after(300).see();
    assert_eq!(complete(&scene).end, EndWitness::StreamFinished);
    check("no-done", &scene, PLAN);
}

#[test]
fn b13_a_stream_cut_on_the_server_is_no_end() {
    let cut = &PLAN[..PLAN.len() * 2 / 3];
    let mut scene = Scene::new();
    scene.after(40).send();
    scene
        .after(100)
        .stream_to(PLAN, cut.len())
        .transport(StreamEnd::Failed);
    scene
        .finish(cut)
        .see()
        .watch(2_000, 500)
        .copied(cut)
        .watch(3_000, 500);
    assert!(
        matches!(scene.verdict(), Verdict::NotYet(_)),
        "{}",
        scene.verdict()
    );
    assert!(!is_complete(&scene.verdict_late()));
    check("b13", &scene, PLAN);
}

#[test]
fn b13_a_stream_that_broke_off_forbids_the_closed_fence_as_an_end() {
    // Cut right behind the fence: what is stored looks like a whole plan.
    let more = format!("{PLAN}\nOne more thing.\n");
    let mut scene = Scene::new();
    scene.after(40).send();
    scene
        .after(100)
        .stream_to(&more, PLAN.chars().count())
        .transport(StreamEnd::Failed);
    scene
        .finish(PLAN)
        .see()
        .watch(2_000, 500)
        .copied(PLAN)
        .watch(3_000, 500);
    assert!(
        matches!(scene.verdict(), Verdict::NotYet(_)),
        "{}",
        scene.verdict()
    );
}

#[test]
fn a_stream_still_open_is_waited_for_however_finished_the_page_looks() {
    let mut scene = Scene::new();
    scene.after(40).send();
    scene.after(100).stream_to(PLAN, PLAN.chars().count());
    scene
        .finish(PLAN)
        .see()
        .watch(2_000, 500)
        .copied(PLAN)
        .watch(3_000, 500);
    let Verdict::NotYet(progress) = scene.verdict() else {
        panic!("{}", scene.verdict());
    };
    assert!(progress.missing.contains(&Missing::End));
    assert_eq!(
        progress.want, None,
        "nothing is pressed while the stream may tell"
    );
}

#[test]
fn a_reply_that_came_by_web_socket_is_proven_by_copy_and_dom() {
    let mut scene = Scene::new();
    scene.after(40).send().transport(StreamEnd::Finished);
    scene.after(100).show(PLAN, 30).see();
    scene.after(100).finish(PLAN).see().after(300).see();
    scene.after(20).copied(PLAN);
    scene.after(1_180).see();
    assert_eq!(complete(&scene).end, EndWitness::FenceClosed);
    check("web-socket", &scene, PLAN);
}
