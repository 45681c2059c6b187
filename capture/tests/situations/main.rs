//! Situations from the field and their verdicts, each named by its case.
//!
//! Every one is also tried without its end, without each single event, and with
//! each neighbouring pair swapped: what is complete must be whole.

#![allow(
    clippy::wildcard_enum_match_arm,
    clippy::unwrap_used,
    reason = "a situation names the one outcome it expects"
)]

mod data;
mod fidelity;
mod hostile;
mod liveness;
mod partial;
mod quiet;
mod scene;
mod stale;

use protocol::reply::Verdict;
use protocol::time::Millis;
use scene::{Event, START, Scene};

/// Snapshots live at the root of the repository.
fn settings() -> insta::Settings {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(concat!(env!("CARGO_MANIFEST_DIR"), "/../snapshots/capture"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings
}

/// The course of verdicts, a line for each change of what is missing.
fn course(scene: &Scene) -> String {
    let mut lines = Vec::new();
    let mut last = String::new();
    for end in 1..=scene.events.len() {
        let verdict = scene.verdict_of(&scene.events[..end]);
        let shown = match &verdict {
            Verdict::NotYet(progress) => {
                let missing: Vec<_> = progress.missing.iter().map(ToString::to_string).collect();
                let want = progress.want.as_ref();
                let want = want
                    .map(|want| format!("; wanted: {want}"))
                    .unwrap_or_default();
                format!("{}; missing: {}{want}", progress.phase, missing.join(", "))
            }
            final_one => final_one.to_string(),
        };
        if shown != last {
            lines.push(format!("{:>7} {shown}", scene.events[end - 1].0 - START));
            last = shown;
        }
    }
    lines.push(format!("   late {}", scene.verdict_late()));
    lines.join("\n")
}

fn is_complete(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Complete(_))
}

/// Checks a situation: its course as a snapshot; nothing complete before its
/// last event, whatever the hour; and under every small damage, complete only
/// with the whole text.
fn check(case: &str, scene: &Scene, whole: &str) {
    settings().bind(|| insta::assert_snapshot!(case, course(scene)));
    let events = &scene.events;
    for end in 0..events.len() {
        let evidence = scene.evidence(&events[..end]);
        for later in [0, 5_000, 100_000_000] {
            let now = Millis(scene.now() + later);
            let verdict = capture::prove(&evidence, now, &capture::Limits::default());
            assert!(
                !is_complete(&verdict),
                "{case}: complete after {end} events"
            );
        }
    }
    for at in 0..events.len() {
        let mut without = events.clone();
        without.remove(at);
        only_whole(case, scene, &without, whole, &format!("without {at}"));
        if at + 1 < events.len() {
            let mut swapped = events.clone();
            let (one, two) = (swapped[at].0, swapped[at + 1].0);
            swapped.swap(at, at + 1);
            (swapped[at].0, swapped[at + 1].0) = (one, two);
            only_whole(case, scene, &swapped, whole, &format!("swapped {at}"));
        }
    }
}

fn only_whole(case: &str, scene: &Scene, events: &[Event], whole: &str, how: &str) {
    for end in 0..=events.len() {
        if let Verdict::Complete(captured) = scene.verdict_of(&events[..end]) {
            assert_eq!(captured.text.as_str(), whole, "{case} {how}");
        }
    }
}

/// The ordinary reply: thinks, streams, finishes; proven at its last event.
fn ordinary(text: &str) -> Scene {
    let mut scene = Scene::new();
    scene.after(40).send();
    scene.reply().thinking = true;
    scene.after(200).see();
    let len = text.chars().count();
    for part in [len / 4, len / 2, len * 3 / 4] {
        scene
            .after(100)
            .stream_to(text, part)
            .show(text, part)
            .see();
    }
    scene.after(100).stream_to(text, len).stream_end();
    scene.after(5).finish(text).see();
    scene
}
