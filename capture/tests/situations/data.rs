//! What the page itself fetches: the conversation's data, and replies that come
//! over a web socket.

use protocol::page::{StreamEnd, StreamEvent, StreamReport, What};
use protocol::reply::{Captured, EndWitness, Missing, Source, Verdict};

use crate::scene::{OURS, PLAN, Scene};
use crate::{check, is_complete};

fn complete(scene: &Scene) -> Captured {
    match scene.verdict() {
        Verdict::Complete(captured) => captured,
        other => panic!("{other}"),
    }
}

fn missing(scene: &Scene) -> Vec<Missing> {
    match scene.verdict() {
        Verdict::NotYet(progress) => progress.missing,
        other => panic!("{other}"),
    }
}

/// The stream is lost in mid-reply by a reload; the page is shown anew.
fn reloaded() -> Scene {
    let mut scene = Scene::new();
    scene.after(40).send();
    scene.after(100).stream_to(PLAN, 40).show(PLAN, 40).see();
    scene.after(60).reload();
    scene
}

//= spec C2 type=test
#[test]
fn the_pages_own_data_end_a_reply_that_the_page_shows_after_a_reload() {
    let mut scene = reloaded();
    scene.after(80).fetched(PLAN, "finished_successfully");
    scene.after(20).finish(PLAN).see();
    scene.after(299).see();
    assert!(!is_complete(&scene.verdict()));
    scene.after(1).see();
    let captured = complete(&scene);
    assert_eq!(captured.end, EndWitness::PageData);
    assert_eq!(captured.agreed, [Source::Data, Source::Reread]);
    assert_eq!(captured.text.as_str(), PLAN);
    check("data-after-reload", &scene, PLAN);
}

#[test]
fn data_of_a_running_reply_end_nothing() {
    let mut scene = reloaded();
    scene.after(80).fetched(PLAN, "in_progress");
    scene.after(20).finish(PLAN).see().watch(3_000, 500);
    assert!(missing(&scene).contains(&Missing::End));
    // Not even a closed fence does, while the data say that this very text goes on.
    scene.copied(PLAN).watch(3_000, 500);
    assert!(missing(&scene).contains(&Missing::End));
    scene.fetched(PLAN, "finished_successfully").after(20).see();
    assert_eq!(complete(&scene).end, EndWitness::PageData);
}

#[test]
fn data_that_say_something_else_than_the_stream_are_doubted() {
    let other = PLAN.replace("fix", "break");
    let mut scene = crate::ordinary(PLAN);
    scene.after(20).fetched(&other, "finished_successfully");
    scene.after(300).see();
    assert_eq!(scene.verdict().code(), Some("E_SOURCE_UNCERTAIN"));
    let mut scene = crate::ordinary(PLAN);
    scene.after(20).fetched(PLAN, "finished_successfully");
    scene.after(300).see();
    let agreed = complete(&scene).agreed;
    assert_eq!(agreed, [Source::Stream, Source::Data, Source::Dom]);
}

#[test]
fn data_of_another_turn_than_the_one_shown_count_for_nothing() {
    let mut scene = reloaded();
    scene.after(80).fetched(PLAN, "finished_successfully");
    scene.finish(PLAN);
    let shown = scene.look.tail.last_mut().unwrap();
    shown.key = protocol::page::TurnKey::Settled(crate::scene::id("a2"));
    scene.see().watch(2_000, 500);
    assert!(missing(&scene).contains(&Missing::End));
}

#[test]
fn a_reply_that_the_data_call_cut_for_its_length_is_truncated() {
    let mut scene = reloaded();
    scene.after(80).fetched(PLAN, "finished_partial_completion");
    scene.after(20).finish(PLAN).see().after(50).see();
    assert_eq!(scene.verdict().code(), Some("E_TRUNCATED"));
}

fn socket(scene: &mut Scene, data: &str) {
    scene.push(What::Stream(StreamReport {
        n: 0,
        request: "socket conv-1".into(),
        event: StreamEvent::Data { data: data.into() },
    }));
}

fn echo(text: &str) -> String {
    serde_json::json!({"type": "input_message", "conversation_id": "conv-1", "input_message": {
        "id": "u1", "author": {"role": "user"},
        "content": {"content_type": "text", "parts": [text]}}})
    .to_string()
}

fn reply_over_socket(scene: &mut Scene, text: &str) {
    let message = serde_json::json!({"message": {"id": "a1", "author": {"role": "assistant"},
        "channel": "final", "recipient": "all", "status": "finished_successfully",
        "end_turn": true, "metadata": {},
        "content": {"content_type": "text", "parts": [text]}}});
    socket(scene, &message.to_string());
    socket(scene, "[DONE]");
}

//= spec C1 type=test
#[test]
fn a_socket_that_says_that_it_answers_our_text_is_our_stream() {
    let mut scene = Scene::new();
    scene.after(40).send().transport(StreamEnd::Finished);
    socket(&mut scene, &echo(OURS));
    scene.after(100).show(PLAN, 30).see();
    scene.after(100);
    reply_over_socket(&mut scene, PLAN);
    scene.after(5).finish(PLAN).see().after(300).see();
    let captured = complete(&scene);
    assert_eq!(captured.end, EndWitness::StreamDone);
    assert_eq!(captured.agreed, [Source::Stream, Source::Dom]);
    check("web-socket-stream", &scene, PLAN);
}

#[test]
fn a_socket_that_answers_another_text_or_does_not_say_is_no_stream_of_ours() {
    for head in [Some(echo("another message")), None] {
        let mut scene = Scene::new();
        scene.after(40).send().transport(StreamEnd::Finished);
        if let Some(head) = &head {
            socket(&mut scene, head);
        }
        reply_over_socket(&mut scene, PLAN);
        scene.after(5).finish(PLAN).see().after(1_000).see();
        assert!(missing(&scene).contains(&Missing::End), "{head:?}");
    }
}

#[test]
fn the_next_reply_on_the_same_socket_begins_anew() {
    let mut scene = Scene::new();
    socket(&mut scene, &echo("the message before"));
    reply_over_socket(&mut scene, "the reply before");
    scene.after(40).send().transport(StreamEnd::Finished);
    socket(&mut scene, &echo(OURS));
    reply_over_socket(&mut scene, PLAN);
    scene.after(5).finish(PLAN).see().after(300).see();
    assert_eq!(complete(&scene).text.as_str(), PLAN);
}

#[test]
fn the_trail_says_what_was_seen_when_on_which_turn_and_by_which_source() {
    use capture::{Origin, Seen};
    let mut scene = reloaded();
    scene.after(80).fetched(PLAN, "finished_successfully");
    scene.after(20).finish(PLAN).see().after(300).see();
    let evidence = scene.evidence(&scene.events);
    let told: Vec<_> = evidence.trail().collect();
    assert!(told.is_sorted_by_key(|trace| trace.at));
    let of = |source| told.iter().rfind(|trace| trace.source == source).unwrap();
    let fetched = of(Origin::Data);
    assert_eq!(fetched.what, Seen::Fetched { finished: true });
    assert_eq!((fetched.page_ms, fetched.epoch.0), (None, 2));
    let bar = of(Origin::Page);
    assert_eq!(bar.what, Seen::Bar(true));
    assert_eq!(bar.turn.as_ref().unwrap().0, "a1");
    // The page's clock began anew with its document.
    assert_eq!(bar.page_ms, Some(100));
    assert_eq!(of(Origin::Driver).what, Seen::Epoch);
}
