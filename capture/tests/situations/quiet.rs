//! The quiet window begins at the last change of the text, and at nothing else.

use capture::Limits;

use crate::scene::{PLAN, Scene, blocks_of};
use crate::{check, is_complete};

/// The server has ended the reply, and the page shows its first `len` characters:
/// at rest, and without its bar yet.
fn without_bar(len: usize) -> Scene {
    let mut scene = Scene::new();
    scene.after(40).send();
    scene.after(100).stream_to(PLAN, whole()).stream_end();
    scene.after(5).show(PLAN, len);
    scene.reply().streaming = false;
    scene.look.composer.stop = false;
    scene.see();
    scene
}

fn whole() -> usize {
    PLAN.chars().count()
}

/// Not complete one millisecond before the window of the text that stood `ago`
/// is over, and complete then.
fn complete_once_quiet_for(scene: &mut Scene, ago: u64) {
    let quiet_ms = Limits::default().quiet_ms;
    scene.after(quiet_ms - ago - 1).see();
    assert!(!is_complete(&scene.verdict()), "{}", scene.verdict());
    scene.after(1).see();
    assert!(is_complete(&scene.verdict()), "{}", scene.verdict());
}

//= spec C2 type=test
#[test]
fn content_that_comes_with_the_bar_is_no_change_of_a_text_that_stood_there() {
    let mut scene = without_bar(whole());
    scene.after(40).finish(PLAN).see();
    complete_once_quiet_for(&mut scene, 40);
    check("content-with-bar", &scene, PLAN);
}

//= spec C2 type=test
#[test]
fn a_text_that_changes_as_the_bar_comes_begins_the_window_anew() {
    let mut scene = without_bar(whole() - 6);
    scene.after(40).finish(PLAN).see();
    complete_once_quiet_for(&mut scene, 0);
}

//= spec C2 type=test
#[test]
fn other_content_under_the_same_fingerprint_begins_the_window_anew() {
    let mut scene = without_bar(whole());
    scene.after(40).finish(PLAN);
    scene.reply().blocks = Some(blocks_of("Another text."));
    scene.see();
    scene.after(20).reply().blocks = Some(blocks_of(PLAN));
    scene.see();
    complete_once_quiet_for(&mut scene, 0);
}

//= spec C2 type=test
#[test]
fn content_that_went_and_comes_back_begins_the_window_anew() {
    for first in [PLAN, "Another text."] {
        let mut scene = without_bar(whole());
        scene.after(40).finish(PLAN);
        scene.reply().blocks = Some(blocks_of(first));
        scene.see();
        scene.after(20).reply().blocks = None;
        scene.see();
        scene.after(20).reply().blocks = Some(blocks_of(PLAN));
        scene.see();
        complete_once_quiet_for(&mut scene, 0);
    }
}
