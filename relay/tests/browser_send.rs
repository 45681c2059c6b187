//! The one click, the reply's stream and the page's own copy, in both layouts.
#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm, reason = "tests")]

mod browser_support;

use browser_support::{LAYOUTS, Stage};
use protocol::page::{
    Anchor, Answer, Ask, CallFailure, Click, Look, Refusal, StreamEnd, StreamEvent, TurnId, What,
};

const TEXT: &str = "a first message\n\nwith two lines";

fn copy_offered(look: &Look) -> bool {
    let reply = look.tail.last().and_then(|turn| turn.reply.as_ref());
    reply.is_some_and(|reply| reply.copy)
}

/// Composes and submits into a fresh chat.
async fn send(stage: &mut Stage, text: &str) -> Answer {
    let composed = stage.compose(text, &Anchor::Empty, &[]).await;
    assert!(matches!(composed, Answer::Composed(_)), "{composed:?}");
    stage.submit(text, &Anchor::Empty).await
}

//= spec S3 type=test
#[tokio::test]
async fn the_pages_own_request_and_its_whole_stream_are_seen() {
    for layout in LAYOUTS {
        let mut stage = Stage::set(layout, &[]).await;
        let sent = send(&mut stage, TEXT).await;
        assert_eq!(sent, Answer::Submitted(Click::Passed));
        let stream = stage.ends.stream().await;
        let [
            StreamEvent::Sent { url, body },
            StreamEvent::Status { code: 200 },
            data @ ..,
            end,
        ] = stream.as_slice()
        else {
            panic!("{stream:#?}")
        };
        assert!(url.ends_with("/backend-api/f/conversation"), "{url}");
        let body: serde_json::Value =
            serde_json::from_str(body.as_ref().unwrap().as_str()).unwrap();
        assert_eq!(body["messages"][0]["content"]["parts"][0], TEXT);
        assert_eq!(*end, StreamEvent::End(StreamEnd::Finished));
        let Some(StreamEvent::Data { data: done }) = data.last() else {
            panic!("{data:?}")
        };
        assert_eq!(done.as_str(), "[DONE]");
        assert!(data.len() > 3);
        stage.strike().await;
    }
}

//= spec C7 type=test
#[tokio::test]
async fn a_replys_copy_gives_its_markdown_and_the_clipboard_is_not_touched() {
    for layout in LAYOUTS {
        let mut stage = Stage::set(layout, &[]).await;
        // Had the page written to the clipboard, it would have asked for it here.
        let hello = "# HELLO pi-bridge/1\nS: 9f83a7c1d42e650b";
        assert_eq!(
            send(&mut stage, hello).await,
            Answer::Submitted(Click::Passed)
        );
        stage.reply().await;
        let (_, reply) = stage.anchor().await;
        let turn = reply.unwrap();
        let said = stage.page.turns().turns[1].text.clone();
        for _ in 0..2 {
            // For a moment after a copy the control is another one.
            stage.ends.look(copy_offered).await;
            let copied = stage.ends.ask(Ask::Copy { turn: turn.clone() }).await;
            let Answer::Copied { turn: of, text } = copied else {
                panic!("{copied:?}")
            };
            assert_eq!((of, text.as_str()), (turn.clone(), said.as_str()));
        }
        let answer = stage
            .ends
            .ask(Ask::Copy {
                turn: TurnId("none".to_owned()),
            })
            .await;
        assert_eq!(answer, Answer::Refused(Refusal::NoCopy));
        stage.strike().await;
    }
}

#[tokio::test]
async fn a_copy_that_gives_nothing_fails_at_its_limit() {
    for layout in LAYOUTS {
        let frozen = r#"{"fault":"frozen-clipboard"}"#;
        let mut stage = Stage::set(layout, &[("other.finishing", frozen)]).await;
        send(&mut stage, TEXT).await;
        stage.reply().await;
        let (_, reply) = stage.anchor().await;
        let turn = reply.unwrap();
        let answer = stage.ends.ask(Ask::Copy { turn }).await;
        let limit = "copy_ms".to_owned();
        assert_eq!(answer, Answer::Failed(CallFailure::Timeout { limit }));
        stage.strike().await;
    }
}

//= spec S8 type=test
#[tokio::test]
async fn what_is_already_sent_is_told_and_not_clicked_again() {
    for layout in LAYOUTS {
        // Somebody presses Enter on our finished draft before we click.
        let enter = r#"{"fault":"enter-pressed","ms":1}"#;
        let mut stage = Stage::set(layout, &[("any.composing", enter)]).await;
        let composed = stage.compose(TEXT, &Anchor::Empty, &[]).await;
        // The editor may have been emptied before the text was read back.
        assert!(
            matches!(
                composed,
                Answer::Composed(_)
                    | Answer::Refused(
                        Refusal::ReadBack { .. } | Refusal::AlreadyThere { .. } | Refusal::Busy
                    )
            ),
            "{composed:?}"
        );
        stage.reply().await;
        let (_, answered) = stage.anchor().await;
        assert!(answered.is_some());
        let answer = stage.submit(TEXT, &Anchor::Empty).await;
        let Answer::Refused(Refusal::AlreadyThere { turn: Some(turn) }) = answer else {
            panic!("{answer:?}")
        };
        let moved = stage.compose("another", &Anchor::Empty, &[]).await;
        assert!(
            matches!(moved, Answer::Refused(Refusal::AnchorMoved { .. })),
            "{moved:?}"
        );
        let follow = stage.compose("another", &Anchor::After(turn), &[]).await;
        assert!(
            matches!(follow, Answer::Refused(Refusal::AnchorMoved { .. })),
            "{follow:?}"
        );
        assert_eq!(stage.received(), [TEXT]);
        stage.strike().await;
    }
}

//= spec S4 type=test
#[tokio::test]
async fn a_composer_rebuilt_under_the_click_is_never_called_passed() {
    for layout in LAYOUTS {
        let rebuilt = r#"{"fault":"composer-rebuilt"}"#;
        let mut stage = Stage::set(layout, &[("any.composing", rebuilt)]).await;
        // The press reached the control that was there: no proof of either.
        let answer = send(&mut stage, TEXT).await;
        assert_eq!(answer, Answer::Submitted(Click::Silent), "{layout:?}");
        stage.ends.look(|l| l.composer.draft.chars > 0).await;
        assert_eq!(stage.received(), Vec::<String>::new());
        let again = stage.submit(TEXT, &Anchor::Empty).await;
        assert_eq!(again, Answer::Submitted(Click::Passed));
        stage.reply().await;
        assert_eq!(stage.received(), [TEXT]);
        stage.strike().await;
    }
}

#[tokio::test]
async fn a_click_that_the_page_swallows_has_passed_the_guard() {
    let swallowed = r#"{"fault":"click-swallowed"}"#;
    let mut stage = Stage::set(LAYOUTS[0], &[("any.composing", swallowed)]).await;
    let answer = send(&mut stage, TEXT).await;
    assert_eq!(answer, Answer::Submitted(Click::Passed));
    stage.ends.look(|l| l.composer.draft.chars > 0).await;
    assert_eq!(stage.received(), Vec::<String>::new());
    stage.strike().await;
}

#[tokio::test]
async fn a_send_control_that_stays_disabled_is_refused_at_its_limit() {
    for layout in LAYOUTS {
        let disabled = r#"{"fault":"send-disabled","times":0}"#;
        let mut stage = Stage::set(layout, &[("any.composing", disabled)]).await;
        let answer = send(&mut stage, TEXT).await;
        assert_eq!(answer, Answer::Refused(Refusal::NoSend));
        assert_eq!(stage.clear(&[TEXT]).await, Answer::Done);
        assert_eq!(stage.received(), Vec::<String>::new());
        stage.strike().await;
    }
}

#[tokio::test]
async fn another_text_in_the_composer_is_not_submitted() {
    let mut stage = Stage::set(LAYOUTS[1], &[]).await;
    stage.compose(TEXT, &Anchor::Empty, &[]).await;
    let answer = stage.submit("a first message", &Anchor::Empty).await;
    assert!(
        matches!(answer, Answer::Refused(Refusal::ReadBack { .. })),
        "{answer:?}"
    );
    let gone = Anchor::After(TurnId("00000000-0000-4000-8000-000000000000".to_owned()));
    let answer = stage.submit(TEXT, &gone).await;
    assert_eq!(answer, Answer::Refused(Refusal::AnchorMoved { last: None }));
    assert_eq!(stage.received(), Vec::<String>::new());
    stage.strike().await;
}

#[tokio::test]
async fn a_reply_that_comes_by_web_socket_is_seen_too() {
    let socket = r#"{"fault":"web-socket-reply"}"#;
    let mut stage = Stage::set(LAYOUTS[0], &[("other.streaming", socket)]).await;
    send(&mut stage, TEXT).await;
    let done = |what: &What| match what {
        What::Stream(report) => match &report.event {
            StreamEvent::Data { data } => (data.as_str() == "[DONE]").then_some(()),
            _ => None,
        },
        _ => None,
    };
    let past = stage.ends.past.iter().find_map(|seen| done(&seen.what));
    if past.is_none() {
        stage.ends.until("end in the stream", done).await;
    }
    stage.strike().await;
}
