//! Thinking, silence and the page's own words on failure (cases c, i).

use protocol::page::PageErrorKind;
use protocol::reply::{CaptureFailure, Phase, Verdict};
use protocol::time::Millis;

use crate::scene::{PLAN, START, Scene};
use crate::{check, is_complete, ordinary};

fn thinking() -> Scene {
    let mut scene = Scene::new();
    scene.after(40).send();
    scene.reply().thinking = true;
    scene.after(100).see();
    scene
}

#[test]
fn c1_a_thinking_status_is_never_an_answer() {
    let mut scene = thinking();
    scene.reply().chars = 12;
    scene.watch(5_000, 1_000);
    let Verdict::NotYet(progress) = scene.verdict() else {
        panic!("{}", scene.verdict());
    };
    assert_eq!(progress.phase, Phase::Thinking);
    check("c1", &scene, PLAN);
}

#[test]
fn c2_a_true_answer_that_speaks_of_thinking_is_an_answer() {
    let text = "Searching is done. If it says \"answer now\", wait: Thinking failed once.\n";
    let mut scene = ordinary(text);
    scene.after(300).see();
    assert!(is_complete(&scene.verdict()), "{}", scene.verdict());
    check("c2", &scene, text);
}

//= spec C4 type=test
#[test]
fn c3_seven_minutes_of_thinking_are_no_stall() {
    let mut scene = thinking();
    scene.watch(420_000, 1_000);
    assert!(
        matches!(scene.verdict(), Verdict::NotYet(_)),
        "{}",
        scene.verdict()
    );
    scene.after(10).stream_to(PLAN, PLAN.len()).stream_end();
    scene.finish(PLAN).see().after(300).see();
    assert!(is_complete(&scene.verdict()), "{}", scene.verdict());
}

//= spec C4 type=test
#[test]
fn the_liveness_limit_of_thinking_is_its_own() {
    let mut scene = thinking();
    scene.watch(2_399_000, 1_000);
    assert!(matches!(scene.verdict(), Verdict::NotYet(_)));
    scene.watch(1_000, 1_000);
    let Verdict::CaptureFailed {
        why: CaptureFailure::Deadline { limit, .. },
    } = scene.verdict()
    else {
        panic!("{}", scene.verdict());
    };
    assert_eq!(limit, "reply_thinking_s");
}

#[test]
fn a_stop_control_without_any_text_is_thinking_too() {
    let mut scene = Scene::new();
    scene.after(40).send().watch(200_000, 1_000);
    let Verdict::NotYet(progress) = scene.verdict() else {
        panic!("{}", scene.verdict());
    };
    assert_eq!(progress.phase, Phase::Thinking);
}

#[test]
fn i4_a_card_on_our_own_turn_fails_at_once_and_one_on_an_older_turn_is_ignored() {
    let mut scene = ordinary(PLAN);
    scene.look.tail[1].reply.as_mut().unwrap().error = Some(protocol::page::PageError {
        kind: PageErrorKind::Failed,
        mark: "role=alert".into(),
    });
    scene.after(300).see();
    assert!(is_complete(&scene.verdict()), "{}", scene.verdict());
    for (kind, code) in [
        (PageErrorKind::Failed, "E_PAGE_FAILED"),
        (PageErrorKind::Capacity, "E_CAPACITY"),
        (PageErrorKind::Delivery, "E_PAGE_FAILED"),
    ] {
        let mut scene = Scene::new();
        scene.after(40).send().error(kind).after(10).see();
        assert_eq!(scene.verdict().code(), Some(code));
    }
}

#[test]
fn a_stopped_reply_is_interrupted_not_answered() {
    let mut scene = Scene::new();
    scene.after(40).send();
    scene.reply().interrupted = true;
    scene.look.composer.stop = false;
    scene.after(10).see().watch(1_500, 500);
    assert_eq!(
        scene.verdict(),
        Verdict::CaptureFailed {
            why: CaptureFailure::Interrupted
        }
    );
}

#[test]
fn the_round_has_a_limit_that_no_change_extends() {
    let mut scene = thinking();
    scene.after(3_600_000);
    scene.reply().chars += 1;
    scene.see();
    let late = scene.verdict();
    assert_eq!(late.code(), Some("E_CAPTURE"), "{late}");
    assert!(late.to_string().contains("round_s"), "{late}");
}

#[test]
fn read_again_begins_the_deadlines_anew_and_keeps_what_the_server_gave() {
    let mut scene = ordinary(PLAN);
    scene.after(300).see().copied("```text\nother\n```\n");
    assert!(matches!(scene.verdict(), Verdict::SourceUncertain(_)));
    let mut evidence = scene.evidence(&scene.events);
    let limits = capture::Limits::default();
    evidence.read_again(Millis(scene.now()));
    let from = scene.events.len();
    scene.after(10).see().after(300).see();
    for (at, event) in &scene.events[from..] {
        evidence.observe(Millis(*at), event);
    }
    let verdict = capture::prove(&evidence, Millis(scene.now()), &limits);
    assert!(is_complete(&verdict), "{verdict}");
}

#[test]
fn look_by_asks_for_the_look_that_ends_the_window() {
    let mut scene = ordinary(PLAN);
    let look_by = |scene: &Scene| match scene.verdict() {
        Verdict::NotYet(progress) => progress.look_by.0,
        other => panic!("{other}"),
    };
    let seen = scene.now();
    assert_eq!(look_by(&scene), seen + 300);
    scene.after(100).see();
    assert_eq!(look_by(&scene), seen + 300);
    assert!(seen > START);
}
