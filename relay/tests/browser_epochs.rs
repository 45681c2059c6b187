//! The driver on the stand-in page over more than one document and message.
#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm, reason = "tests")]

mod browser_support;

use browser_support::{LAYOUTS, Stage, driver, standin};
use cdp::Control;
use protocol::page::{
    Anchor, Answer, Ask, AttachCause, CallFailure, Click, Loss, Place, Refusal, StreamEvent, What,
};

async fn say(stage: &mut Stage, text: &str, anchor: &Anchor) {
    let composed = stage.compose(text, anchor, &[]).await;
    assert!(matches!(composed, Answer::Composed(_)), "{composed:?}");
    let clicked = stage.submit(text, anchor).await;
    assert_eq!(clicked, Answer::Submitted(Click::Passed));
}

#[tokio::test]
async fn a_bound_conversation_goes_on_over_a_reload_and_no_other_is_typed_into() {
    for layout in LAYOUTS {
        let away = r#"{"fault":"navigate-away"}"#;
        let mut stage = Stage::set(layout, &[("round-2.settled", away)]).await;
        say(&mut stage, "a first message", &Anchor::Empty).await;
        stage.reply().await;
        let Place::Conversation(id) = stage.read().await.place else {
            panic!("no conversation")
        };
        stage.ends.control(Control::Bind(id.clone())).await;
        let (anchor, _) = stage.anchor().await;

        assert_eq!(stage.ends.ask(Ask::Reload).await, Answer::Done);
        assert_eq!(stage.ends.loss().await, Loss::Document);
        assert_eq!(stage.ends.attachment().await.cause, AttachCause::Document);
        stage.ends.look(|l| l.hydrated && l.turns_shown > 0).await;
        assert_eq!(stage.anchor().await.0, anchor, "ids outlive a reload");

        // Recognised by its first line; after its reply the page goes elsewhere.
        let round = "# ROUND pi-bridge/1\nFRAME: s=9f83a7c1d42e650b r=2 p=- q=e1db9b58";
        say(&mut stage, round, &anchor).await;
        stage
            .ends
            .look(|l| l.place != Place::Conversation(id.clone()))
            .await;
        let answer = stage.compose("into another", &Anchor::Empty, &[]).await;
        assert!(
            matches!(answer, Answer::Refused(Refusal::OtherPlace { .. })),
            "{answer:?}"
        );
        assert_eq!(stage.received(), ["a first message", round]);
        stage.strike().await;
    }
}

//= case d13
#[tokio::test]
async fn a_click_into_a_long_task_is_a_failure_and_arrives_once() {
    let busy = r#"{"fault":"renderer-loop","ms":3000}"#;
    let page = standin(LAYOUTS[0], &[("any.submitting", busy)]).await;
    let profile = browser_support::Profile::new();
    let mut config = driver(&page, &profile);
    config.limits.submit_ms = 1_000;
    config.limits.call_ms = 1_000;
    let mut stage = Stage::on(page, profile, config).await;
    let text = "a text";
    let composed = stage.compose(text, &Anchor::Empty, &[]).await;
    assert!(matches!(composed, Answer::Composed(_)), "{composed:?}");
    let answer = stage.submit(text, &Anchor::Empty).await;
    let limit = "submit_ms".to_owned();
    assert_eq!(answer, Answer::Failed(CallFailure::Timeout { limit }));
    stage.reply().await;
    assert_eq!(stage.received(), [text]);
    let seen = stage.ends.past.iter().any(|o| {
        matches!(&o.what, What::Stream(report) if matches!(report.event, StreamEvent::Sent { .. }))
    });
    assert!(seen, "the page's own request is evidence");
    stage.strike().await;
}

#[tokio::test]
async fn a_hidden_second_composer_and_another_language_change_nothing() {
    for layout in LAYOUTS {
        let faults = [
            ("load", r#"{"fault":"hidden-composer"}"#),
            ("load", r#"{"fault":"other-language"}"#),
            ("load", r#"{"fault":"hidden-stop"}"#),
        ];
        let mut stage = Stage::set(layout, &faults).await;
        say(&mut stage, "a text", &Anchor::Empty).await;
        stage.reply().await;
        let (_, reply) = stage.anchor().await;
        let turn = reply.unwrap();
        let copied = stage.ends.ask(Ask::Copy { turn }).await;
        assert!(matches!(copied, Answer::Copied { .. }), "{copied:?}");
        assert_eq!(stage.received(), ["a text"]);
        stage.strike().await;
    }
}
