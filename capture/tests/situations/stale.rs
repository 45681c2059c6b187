//! Stale and foreign replies (cases a): only the answer to our own turn.

use protocol::page::{
    Anchor, Block, BlockerKind, ConversationId, Inline, Place, StreamEvent, TurnKey,
};
use protocol::reply::{Interference, Missing, Verdict};

use crate::scene::{OURS, PLAN, Scene, assistant, id, user};
use crate::{check, is_complete, ordinary};

fn missing(scene: &Scene) -> Vec<Missing> {
    match scene.verdict() {
        Verdict::NotYet(progress) => progress.missing,
        other => panic!("{other}"),
    }
}

//= spec C1 type=test
#[test]
fn a1_an_older_turns_bar_is_not_ours() {
    // a0 shows its bar from the start; ours streams.
    let mut scene = Scene::new();
    scene.after(40).send();
    scene.after(100).stream_to(PLAN, 40).show(PLAN, 40).see();
    scene.watch(3_000, 500);
    assert!(missing(&scene).contains(&Missing::Bar));
    check("a1", &scene, PLAN);
}

#[test]
fn a2_another_chat_in_the_same_tab_stops_with_that_reason() {
    let mut scene = ordinary(PLAN);
    scene.look.address = "https://chat.example/c/conv-2".into();
    scene.look.place = Place::Conversation(ConversationId("conv-2".into()));
    scene.after(10).see();
    assert!(matches!(scene.verdict(), Verdict::OtherPlace { .. }));
    // And it stays so when the tab comes back.
    scene.look.place = Place::Conversation(ConversationId("conv-1".into()));
    scene.after(10).see().after(300).see();
    assert!(matches!(scene.verdict(), Verdict::OtherPlace { .. }));
}

#[test]
fn a2_before_binding_another_chat_is_told_by_its_thread() {
    let mut scene = Scene::new();
    scene.conversation = None;
    scene.anchor = Anchor::Empty;
    scene.events.pop();
    scene.look.tail.clear();
    scene.look.place = Place::Transient("WEB:1".into());
    scene
        .see()
        .after(40)
        .send()
        .stream_to(PLAN, 30)
        .show(PLAN, 30)
        .see();
    assert!(matches!(scene.verdict(), Verdict::NotYet(_)));
    scene.look.place = Place::Conversation(ConversationId("conv-9".into()));
    scene.look.tail = vec![user("x1", "hello"), assistant("x2", "hi")];
    scene.after(40).see();
    assert!(
        matches!(scene.verdict(), Verdict::OtherPlace { .. }),
        "{}",
        scene.verdict()
    );
}

//= spec E1 type=test
#[test]
fn a_transient_address_that_becomes_final_under_our_turn_is_the_same_conversation() {
    let mut scene = Scene::new();
    scene.conversation = None;
    scene.anchor = Anchor::Empty;
    scene.events.pop();
    scene.look.tail.clear();
    scene.look.place = Place::Fresh;
    scene.see();
    scene.look.place = Place::Transient("WEB:1".into());
    scene
        .after(40)
        .send()
        .stream_to(PLAN, 30)
        .show(PLAN, 30)
        .see();
    scene.look.place = Place::Conversation(ConversationId("conv-9".into()));
    scene
        .after(40)
        .see()
        .stream_to(PLAN, PLAN.len())
        .stream_end();
    scene.finish(PLAN).see().after(300).see();
    assert!(is_complete(&scene.verdict()), "{}", scene.verdict());
    // From here on any other place is another one.
    scene.look.place = Place::Transient("WEB:2".into());
    scene.after(40).see();
    assert!(matches!(scene.verdict(), Verdict::OtherPlace { .. }));
    scene.events.pop();
    check("e1-transient", &scene, PLAN);
}

#[test]
fn a3_a_thread_that_hydrates_shows_the_previous_answer_first() {
    let mut scene = Scene::new();
    let older = scene.look.tail.clone();
    scene
        .after(40)
        .send()
        .stream_to(PLAN, 40)
        .show(PLAN, 40)
        .see();
    let newer = scene.look.tail.clone();
    scene.after(10).reload();
    scene.look.tail = vec![];
    scene.look.hydrated = false;
    scene.after(100).see();
    assert_eq!(missing(&scene)[0], Missing::Hydration);
    scene.look.hydrated = true;
    scene.look.composer.stop = false;
    scene.look.tail = older;
    scene.after(100).see().watch(1_000, 500);
    assert_eq!(missing(&scene)[0], Missing::OwnTurn);
    scene.look.tail = newer;
    scene.after(100).finish(PLAN).see().after(500).see();
    scene.after(20).copied(PLAN).watch(1_480, 740);
    assert!(is_complete(&scene.verdict()), "{}", scene.verdict());
    check("a3", &scene, PLAN);
}

#[test]
fn a5_a_bare_stop_control_is_no_evidence() {
    let mut scene = Scene::new();
    scene.after(40).send().reload();
    scene.look.tail.clear();
    scene.look.hydrated = false;
    scene.look.composer.stop = true;
    scene.after(100).see().watch(3_000, 1_000);
    assert_eq!(missing(&scene)[0], Missing::Hydration);
}

//= spec C6 type=test
#[test]
fn a7_a_foreign_hand_stops_with_interference() {
    let foreign = |scene: &Scene| match scene.verdict() {
        Verdict::Interference(what) => what,
        other => panic!("{other}"),
    };
    let mut typed = ordinary(PLAN);
    typed.look.tail.push(user("u9", "never mind"));
    typed.after(10).see();
    assert_eq!(
        foreign(&typed),
        Interference::ForeignTurn {
            turn: Some(id("u9"))
        }
    );

    let mut first = Scene::new();
    first.look.tail.push(user("u9", "hello there"));
    first.after(10).see();
    assert_eq!(
        foreign(&first),
        Interference::ForeignTurn {
            turn: Some(id("u9"))
        }
    );

    let mut edited = ordinary(PLAN);
    edited.look.tail[2] = user("u1", "# ROUND pi-bridge/1\nsomething else");
    edited.after(10).see();
    assert_eq!(foreign(&edited), Interference::Edited { turn: id("u1") });

    let mut branch = ordinary(PLAN);
    branch.look.tail.truncate(2);
    branch.look.tail.push(user("u2", "something else"));
    branch.after(10).see();
    assert_eq!(foreign(&branch), Interference::Edited { turn: id("u1") });

    let mut again = ordinary(PLAN);
    again.after(100).see();
    again.look.tail[3].key = TurnKey::Settled(id("a2"));
    again.after(10).see();
    let (was, now) = (id("a1"), id("a2"));
    assert_eq!(foreign(&again), Interference::Regenerated { was, now });

    let mut two = ordinary(PLAN);
    two.reply().choices = 2;
    two.after(10).see();
    assert_eq!(foreign(&two), Interference::TwoReplies { count: 2 });

    let mut both = ordinary(PLAN);
    both.look.tail.push(assistant("a2", "another"));
    both.after(10).see();
    assert_eq!(foreign(&both), Interference::TwoReplies { count: 2 });
}

//= spec C6 type=test
#[test]
fn a_reply_made_again_before_its_window_is_over_is_told_by_id_and_text() {
    // One look alone saw the first reply under its bar.
    let other = PLAN.replace("All of it.", "Something else.");
    let mut scene = ordinary(PLAN);
    let reply = scene.reply();
    (reply.bar, reply.streaming, reply.blocks) = (false, true, None);
    scene.look.tail[3].key = TurnKey::Provisional;
    scene.look.composer.stop = true;
    scene.after(100).show(&other, 50).see();
    scene.look.tail[3].key = TurnKey::Settled(id("a2"));
    scene.after(100).finish(&other).see();
    assert!(
        matches!(
            scene.verdict(),
            Verdict::Interference(Interference::Regenerated { .. })
        ),
        "{}",
        scene.verdict()
    );
    // No look at all saw it: the stream's own id tells.
    let mut unseen = Scene::new();
    unseen.after(40).send();
    unseen.after(100).stream_to(PLAN, PLAN.len()).stream_end();
    unseen.finish(&other);
    unseen.look.tail[3].key = TurnKey::Settled(id("a2"));
    unseen.see().watch(2_000, 500);
    assert!(
        matches!(
            unseen.verdict(),
            Verdict::Interference(Interference::Regenerated { .. })
        ),
        "{}",
        unseen.verdict()
    );
    // The same text under another id is an id that settled.
    let mut settled = ordinary(PLAN);
    settled.look.tail[3].key = TurnKey::Settled(id("a2"));
    settled.after(10).see().after(300).see();
    assert!(is_complete(&settled.verdict()), "{}", settled.verdict());
}

#[test]
fn a_foreign_turn_without_a_settled_id_counts_once_it_stands() {
    let mut scene = ordinary(PLAN);
    let mut turn = user("x", "typed by somebody");
    turn.key = TurnKey::Provisional;
    scene.look.tail.push(turn);
    scene.after(10).see().after(500).see();
    assert!(matches!(scene.verdict(), Verdict::NotYet(_)));
    scene.after(1_000).see();
    assert!(matches!(scene.verdict(), Verdict::Interference(_)));
}

//= spec C1 type=test
#[test]
fn a8_an_assistant_turn_before_ours_is_not_the_answer() {
    let mut scene = Scene::new();
    scene
        .look
        .tail
        .push(assistant("a00", "```text\nan older answer, late\n```\n"));
    scene.after(40).send().watch(2_000, 500);
    scene.look.composer.stop = false;
    scene.see();
    assert_eq!(missing(&scene)[0], Missing::Reply);
    check("a8", &scene, PLAN);
}

#[test]
fn a9_the_same_text_sent_before_is_not_ours() {
    // An equal user turn and its answer stand before the anchor.
    let mut scene = Scene::new();
    scene.look.tail = vec![
        user("u00", OURS),
        assistant("a00", PLAN),
        user("u0", "older"),
        assistant("a0", "older plan"),
    ];
    scene.after(40).see().watch(2_000, 500);
    assert_eq!(missing(&scene)[0], Missing::OwnTurn);
}

#[test]
fn only_the_stream_of_our_own_message_is_read() {
    let mut scene = Scene::new();
    scene.event(StreamEvent::Sent {
        url: "https://chat.example/backend-api/f/conversation".into(),
        body: Some(r##"{"messages":[{"content":{"parts":["# ROUND pi-bridge/1"]}}]}"##.into()),
    });
    scene.stream_to(PLAN, PLAN.len()).stream_end();
    assert!(!scene.evidence(&scene.events).own_request_seen());
    scene.after(40).look.tail.push(user("u1", OURS));
    scene.finish(PLAN).see().after(400).see();
    assert!(missing(&scene).contains(&Missing::End));
}

#[test]
fn our_text_sent_into_another_conversation_is_not_ours() {
    let mut scene = Scene::new();
    let body = serde_json::json!({"messages": [{"content": {"parts": [OURS]}}], "conversation_id": "conv-2"});
    scene.event(StreamEvent::Sent {
        url: "https://chat.example/backend-api/f/conversation".into(),
        body: Some(body.to_string().into()),
    });
    assert!(!scene.evidence(&scene.events).own_request_seen());
    scene.send();
    assert!(scene.evidence(&scene.events).own_request_seen());
}

//= spec S3 type=test
#[test]
fn our_turn_shown_clamped_or_re_formatted_is_ours() {
    let mut scene = ordinary(PLAN);
    let head: String = OURS.chars().take(120).collect();
    scene.look.tail[2].text = format!("{head}…").into();
    scene.look.tail[2].clamped = true;
    scene.after(300).see().see();
    assert!(
        !matches!(scene.verdict(), Verdict::Interference(_)),
        "{}",
        scene.verdict()
    );

    let mut scene = Scene::new();
    let shown = OURS.replace("\n\n## ", "\n\n\n##   ");
    scene.after(40).send();
    scene.events.pop();
    scene.look.tail[2].text = shown.as_str().into();
    scene.see();
    assert_eq!(missing(&scene)[0], Missing::Reply);
}

#[test]
fn a_blocker_or_a_drifted_layout_forbids_any_proof() {
    let mut scene = ordinary(PLAN);
    scene
        .blocker(BlockerKind::RateLimit)
        .after(300)
        .see()
        .watch(3_000, 500);
    assert_eq!(missing(&scene)[0], Missing::Unblocked);
    let mut scene = ordinary(PLAN);
    scene.look.missing = vec!["body".into()];
    scene.after(300).see().watch(3_000, 500);
    assert!(matches!(missing(&scene)[0], Missing::Layout { .. }));
    scene.watch(20_000, 1_000);
    assert_eq!(scene.verdict().code(), Some("E_LAYOUT"));
}

//= spec C3 type=test
#[test]
fn a_shorter_text_never_takes_a_longer_ones_place() {
    let longer = format!("{PLAN}\n```text\nand this\n```\n");
    let mut scene = Scene::new();
    scene.after(40).look.tail.push(user("u1", OURS));
    scene.finish(&longer).see().after(400).see().copied(&longer);
    scene.after(50).reload();
    scene.finish(PLAN).after(100).see().after(400).see();
    scene.copied(PLAN).after(1_500).see();
    assert!(
        matches!(scene.verdict(), Verdict::SourceUncertain(_)),
        "{}",
        scene.verdict()
    );
    check("c3-shorter", &scene, &longer);
}

#[test]
fn a_reply_read_again_after_a_reload_is_proven_by_the_streams_end_and_the_page() {
    let mut scene = ordinary(PLAN);
    scene.after(20).reload();
    scene.after(300).see().after(300).see();
    let Verdict::Complete(captured) = scene.verdict() else {
        panic!("{}", scene.verdict());
    };
    assert_eq!(captured.agreed[1], protocol::reply::Source::Reread);
    check("reread", &scene, PLAN);
}

#[test]
fn g3_a_re_mounted_turn_begins_the_quiet_window_anew() {
    let mut scene = ordinary(PLAN);
    scene.after(200).see();
    let reply = scene.look.tail.pop().unwrap();
    scene.after(10).see();
    scene.look.tail.push(reply);
    scene.after(10).see().after(200).see();
    assert!(!is_complete(&scene.verdict()));
    scene.after(100).see();
    assert!(is_complete(&scene.verdict()), "{}", scene.verdict());
    check("g3", &scene, PLAN);
}

#[test]
fn an_unknown_block_is_kept_and_named() {
    let text = "Intro.\n\nInside.\n";
    let mut scene = ordinary(text);
    let reply = scene.reply();
    reply.blocks = Some(vec![
        Block::Paragraph {
            c: vec![Inline::Text { v: "Intro.".into() }],
        },
        Block::Unknown {
            tag: "aside".into(),
            text: "Inside.".into(),
        },
    ]);
    scene.events.pop();
    scene.see().after(300).see();
    let Verdict::Complete(captured) = scene.verdict() else {
        panic!("{}", scene.verdict());
    };
    assert_eq!(captured.warnings.len(), 1);
}
