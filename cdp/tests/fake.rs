//! Situations that a real browser cannot be brought into at will.
#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm, reason = "tests")]

mod common;

use cdp::{Config, Control, TabWish};
use common::fake::{Fake, look, value};
use common::{Ends, PATIENCE, config, target};
use protocol::page::{Anchor, Answer, Ask, CallFailure, Click, Loss, Pulse, Refusal, TurnId, What};
use serde_json::json;

fn on(fake: &Fake) -> Config {
    let mut config = config(fake.endpoint(), "http://chat.test/");
    config.tab = TabWish {
        id: Some(target("TAB")),
        ..TabWish::default()
    };
    config
}

async fn attached() -> (Fake, Ends) {
    let fake = Fake::start().await;
    let (ends, _) = Ends::attached(on(&fake)).await;
    (fake, ends)
}

async fn malformed(ends: &mut Ends) -> String {
    ends.until("malformed", |what| match what {
        What::Malformed { source, .. } => Some(source.clone()),
        _ => None,
    })
    .await
}

/// Waits until the driver has made a call of this name.
async fn called(fake: &Fake, what: &str) {
    let made = async {
        while !fake.calls().iter().any(|call| call.contains(what)) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, made)
        .await
        .unwrap_or_else(|_| panic!("no {what} in {:#?}", fake.calls()));
}

#[tokio::test]
async fn our_tab_is_attached_alone_and_nothing_is_asked_of_any_other() {
    let (fake, ends) = attached().await;
    ends.close().await;
    let calls = fake.calls();
    let of = |what: &str| calls.iter().filter(|c| c.starts_with(what)).count();
    assert_eq!(of("Target.attachToTarget"), 1);
    assert_eq!(of("Emulation.setFocusEmulationEnabled"), 1);
    for never in [
        "Target.setDiscoverTargets",
        "Target.setAutoAttach",
        "Target.activateTarget",
        "Target.createTarget",
        "Target.closeTarget",
        "Page.bringToFront",
        "Browser.close",
        "Security.",
    ] {
        assert_eq!(of(never), 0, "{never} was called");
    }
}

#[tokio::test]
async fn a_call_that_is_never_answered_fails_at_its_own_limit() {
    let fake = Fake::start().await;
    fake.mute("brb.read()");
    let mut config = on(&fake);
    config.limits.read_ms = 50;
    let (mut ends, _) = Ends::attached(config).await;
    let limit = "read_ms".to_owned();
    let timeout = Answer::Failed(CallFailure::Timeout { limit });
    assert_eq!(ends.ask(Ask::Read).await, timeout);
    fake.unmute("brb.read()");
    let turns = json!({ "page_ms": 0, "place": "fresh", "turns": [], "whole": true, "idle": true });
    fake.instead("brb.read()", value(turns.to_string()));
    assert!(matches!(ends.ask(Ask::Read).await, Answer::Read(_)));
    ends.close().await;
}

#[tokio::test]
async fn a_detached_session_fails_what_waits_on_it_and_says_whether_the_tab_lives() {
    for (lives, want) in [(true, Loss::Detached), (false, Loss::TabClosed)] {
        let (fake, mut ends) = attached().await;
        fake.mute("brb.read()");
        let waiting = ends.tell(Ask::Read).await;
        let behind = ends.tell(Ask::Read).await;
        called(&fake, "brb.read()").await;
        if !lives {
            fake.instead("Target.getTargets", json!({ "targetInfos": [] }));
        }
        // Another session's end is nothing to us.
        let gone = |session: &str| {
            let params = json!({ "sessionId": session, "targetId": "TAB" });
            json!({ "method": "Target.detachedFromTarget", "params": params }).to_string()
        };
        fake.say(&gone("OTHER"));
        ends.look(|_| true).await;
        fake.say(&gone("S"));
        assert_eq!(
            ends.answer(waiting).await,
            Answer::Failed(CallFailure::Lost)
        );
        // It waited in our queue or in the session's: either way it was not carried out.
        let unheard = ends.answer(behind).await;
        let refused = [
            Answer::Refused(Refusal::Stale),
            Answer::Failed(CallFailure::Lost),
        ];
        assert!(refused.contains(&unheard), "{unheard:?}");
        assert_eq!(ends.loss().await, want);
    }
}

#[tokio::test]
async fn a_crash_fails_what_waits_on_it() {
    let (fake, mut ends) = attached().await;
    fake.mute("brb.read()");
    let waiting = ends.tell(Ask::Read).await;
    called(&fake, "brb.read()").await;
    fake.event("Inspector.targetCrashed", json!({}));
    assert_eq!(
        ends.answer(waiting).await,
        Answer::Failed(CallFailure::Lost)
    );
    assert_eq!(ends.loss().await, Loss::RendererCrashed);
}

#[tokio::test]
async fn a_command_of_another_epoch_is_refused_and_never_carried_out() {
    let (fake, mut ends) = attached().await;
    for epoch in [0, 2] {
        let present = ends.epoch;
        ends.epoch.0 = epoch;
        let call = ends.tell(Ask::Read).await;
        ends.epoch = present;
        assert_eq!(ends.answer(call).await, Answer::Refused(Refusal::Stale));
    }
    assert!(!fake.calls().iter().any(|call| call.contains("brb.read")));
    ends.close().await;
}

#[tokio::test]
async fn what_does_not_parse_is_told_and_the_driver_goes_on() {
    let (fake, mut ends) = attached().await;
    fake.say("this is no JSON");
    assert_eq!(malformed(&mut ends).await, "event");
    fake.say("{\"neither\":\"answer nor event\"}");
    assert_eq!(malformed(&mut ends).await, "event");
    fake.say_bytes(b"\xff\xfe");
    assert_eq!(malformed(&mut ends).await, "event");
    fake.event("Runtime.bindingCalled", json!({ "name": 7 }));
    assert_eq!(malformed(&mut ends).await, "event");
    for payload in ["", "{}", "{\"look\":{\"seq\":\"one\"}}", "[1"] {
        fake.binding(payload);
        assert_eq!(malformed(&mut ends).await, "observer", "{payload}");
    }
    fake.binding(&format!("\"{}\"", "x".repeat(1 << 20)));
    assert_eq!(malformed(&mut ends).await, "observer");
    fake.instead("brb.read()", value("{\"turns\":7}"));
    let answer = ends.ask(Ask::Read).await;
    assert!(
        matches!(answer, Answer::Failed(CallFailure::Malformed { .. })),
        "{answer:?}"
    );
    // Values newer than anything known are no matter.
    fake.event("Network.quantumTunnelOpened", json!({ "anything": [] }));
    fake.binding(&format!("{{\"look\":{}}}", look(1_000)));
    ends.look(|look| look.seq == 1_000).await;
    ends.close().await;
}

#[tokio::test]
async fn a_look_that_was_overtaken_or_comes_from_another_world_says_nothing() {
    let (fake, mut ends) = attached().await;
    let say = |seq: u64| fake.binding(&format!("{{\"look\":{}}}", look(seq)));
    say(500);
    say(499);
    let params = json!({ "name": "brbSay", "executionContextId": 1,
        "payload": format!("{{\"look\":{}}}", look(501)) });
    fake.event("Runtime.bindingCalled", params);
    say(502);
    let mut seen = Vec::new();
    ends.until("look", |what| match what {
        What::Look(look) => {
            seen.push(look.seq);
            (look.seq == 502).then_some(())
        }
        _ => None,
    })
    .await;
    assert!(seen.ends_with(&[500, 502]), "{seen:?}");
    ends.close().await;
}

#[tokio::test]
async fn the_world_of_another_client_is_not_taken_for_ours() {
    let (fake, mut ends) = attached().await;
    let context = json!({ "id": 3, "name": "brb-other", "uniqueId": "u3", "origin": "",
        "auxData": { "frameId": "TAB", "isDefault": false, "type": "isolated" } });
    fake.event(
        "Runtime.executionContextCreated",
        json!({ "context": context }),
    );
    let params = json!({ "name": "brbSay", "executionContextId": 3,
        "payload": format!("{{\"look\":{}}}", look(600)) });
    fake.event("Runtime.bindingCalled", params);
    fake.binding(&format!("{{\"look\":{}}}", look(601)));
    // Their document may go; ours stands.
    fake.event(
        "Runtime.executionContextDestroyed",
        json!({ "executionContextId": 3 }),
    );
    fake.binding(&format!("{{\"look\":{}}}", look(602)));
    let mut seen = Vec::new();
    ends.until("look", |what| match what {
        What::Look(look) => {
            seen.push(look.seq);
            (look.seq == 602).then_some(())
        }
        What::Lost(_) | What::Attached(_) => panic!("{what:?}"),
        _ => None,
    })
    .await;
    assert!(seen.ends_with(&[601, 602]), "{seen:?}");
    ends.close().await;
}

#[tokio::test]
async fn a_submit_clicks_once_between_arming_and_disarming() {
    let (fake, mut ends) = attached().await;
    fake.instead("brbGuard.arm(", value("{\"armed\":{\"x\":1,\"y\":2}}"));
    fake.instead("brbGuard.report()", value("\"passed\""));
    assert_eq!(ends.submit("x").await, Answer::Submitted(Click::Passed));
    let steps: Vec<String> = fake
        .calls()
        .into_iter()
        .filter(|c| c.contains("brbGuard") || c.starts_with("Input."))
        .filter(|c| !c.contains("typeof"))
        .map(|c| {
            c.rsplit(['.', ' '])
                .find(|p| p.len() > 3)
                .unwrap()
                .to_owned()
        })
        .collect();
    assert_eq!(steps.len(), 6, "{steps:?}");
    assert!(steps[0].starts_with("arm("));
    assert_eq!(steps[1..4], ["mouseMoved", "mousePressed", "mouseReleased"]);
    assert!(steps[4].starts_with("report()") && steps[5].starts_with("disarm()"));
    ends.close().await;
}

//= spec S4 type=test
#[tokio::test]
async fn whatever_fails_before_the_first_press_sends_nothing_and_after_it_proves_nothing() {
    // The arming fails: no mouse event, and the guard comes down.
    let fake = Fake::start().await;
    fake.mute("brbGuard.arm(");
    let mut config = on(&fake);
    config.limits.submit_ms = 50;
    let (mut ends, _) = Ends::attached(config.clone()).await;
    let failed = ends.submit("x").await;
    assert!(matches!(failed, Answer::Failed(_)), "{failed:?}");
    called(&fake, "brbGuard.disarm()").await;
    assert!(!fake.calls().iter().any(|c| c.starts_with("Input.")));
    ends.close().await;
    // The press is not answered, or refused: a failure, never a refusal.
    for (mute, instead) in [(true, false), (false, true)] {
        let fake = Fake::start().await;
        let mut config = on(&fake);
        config.limits.submit_ms = 50;
        fake.instead("brbGuard.arm(", value("{\"armed\":{\"x\":1,\"y\":2}}"));
        if mute {
            fake.mute("Input.dispatchMouseEvent");
        }
        if instead {
            let error = json!({ "code": -32000, "message": "no" });
            fake.instead("Input.dispatchMouseEvent", error);
        }
        let (mut ends, _) = Ends::attached(config).await;
        let failed = ends.submit("x").await;
        assert!(matches!(failed, Answer::Failed(_)), "{failed:?}");
        called(&fake, "brbGuard.disarm()").await;
        ends.close().await;
    }
}

#[tokio::test]
async fn a_bound_conversation_travels_with_every_act() {
    let (fake, mut ends) = attached().await;
    let id = "0000-ours".to_owned();
    let bound = protocol::page::ConversationId(id.clone());
    ends.control(Control::Bind(bound)).await;
    let elsewhere = "{\"refused\":{\"other_place\":{\"address\":\"http://chat.test/c/x\"}}}";
    for script in ["brbCompose.paste(", "brbGuard.arm(", "brbGuard.armCopy("] {
        fake.instead(script, value(elsewhere));
    }
    let other = Answer::Refused(Refusal::OtherPlace {
        address: "http://chat.test/c/x".to_owned(),
    });
    assert_eq!(ends.compose("x", &[]).await, other);
    assert_eq!(ends.submit("x").await, other);
    let turn = TurnId("t".to_owned());
    assert_eq!(ends.ask(Ask::Copy { turn }).await, other);
    ends.close().await;
}

#[tokio::test]
async fn insert_is_tried_for_a_short_text_and_never_for_a_long_one() {
    let (fake, mut ends) = attached().await;
    let spoiled = "{\"refused\":{\"read_back\":{\"wanted\":2,\"got\":1,\"line\":1}}}";
    fake.instead("brbCompose.paste(", value(spoiled));
    fake.instead("brbCompose.prepareInsert(", value("\"done\""));
    let typed = "{\"composed\":{\"chars\":4000,\"how\":\"insert\",\"cleared\":false}}";
    fake.instead("brbCompose.readBack(", value(typed));
    let answer = ends.compose(&"字".repeat(4_000), &[]).await;
    assert!(
        matches!(&answer, Answer::Composed(c) if c.how == "insert"),
        "{answer:?}"
    );
    let inserts = |fake: &Fake| {
        let calls = fake.calls();
        calls.iter().filter(|c| *c == "Input.insertText").count()
    };
    assert_eq!(inserts(&fake), 1);
    let answer = ends.compose(&"字".repeat(4_001), &[]).await;
    assert!(
        matches!(answer, Answer::Refused(Refusal::ReadBack { .. })),
        "{answer:?}"
    );
    assert_eq!(inserts(&fake), 1);
    ends.close().await;
}

//= case h5
#[tokio::test]
async fn a_frozen_page_answers_the_constant_alone_and_is_thawed() {
    let fake = Fake::start().await;
    let mut config = on(&fake);
    config.limits.heartbeat_ms = 50;
    config.limits.renderer_ms = 600_000;
    let (mut ends, _) = Ends::attached(config).await;
    fake.mute("setTimeout");
    let beat = |pulse: Pulse| {
        move |what: &What| match what {
            What::Beat(beat) => (beat.renderer == pulse).then_some(()),
            _ => None,
        }
    };
    ends.until("missed beat", beat(Pulse::Missed)).await;
    called(&fake, "Page.setWebLifecycleState").await;
    ends.close().await;
}

#[tokio::test]
async fn a_tab_that_does_not_let_itself_be_armed_is_let_go_of() {
    let fake = Fake::start().await;
    fake.mute("Page.enable");
    let mut config = on(&fake);
    config.limits.call_ms = 100;
    let mut ends = Ends::spawn(config);
    let (code, detail) = ends.never().await;
    assert_eq!(code, "E_RENDERER", "{detail}");
    called(&fake, "Target.detachFromTarget").await;
    // Told to, it tries again.
    fake.unmute("Page.enable");
    ends.control(Control::Attach(None)).await;
    ends.attachment().await;
    ends.close().await;
}

#[tokio::test]
async fn a_page_in_which_the_scripts_do_not_stand_is_an_unknown_layout() {
    let fake = Fake::start().await;
    fake.instead("location.href", json!({ "result": { "type": "object" } }));
    let mut ends = Ends::spawn(on(&fake));
    let (code, detail) = ends.never().await;
    assert_eq!(code, "E_LAYOUT", "{detail}");
}

#[tokio::test]
async fn a_driver_whose_observations_nobody_takes_ends() {
    let (fake, ends) = attached().await;
    let Ends {
        commands,
        observations,
        ..
    } = ends;
    drop(observations);
    let refused = async {
        while commands.send(Control::Attach(None)).await.is_ok() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, refused).await.unwrap();
    assert!(!fake.calls().iter().any(|c| c == "Browser.close"));
}

#[tokio::test]
async fn closing_while_an_attachment_is_being_made_ends_at_once() {
    let fake = Fake::start().await;
    fake.mute("Page.enable");
    let mut config = on(&fake);
    config.limits.call_ms = 600_000;
    config.limits.attach_ms = 600_001;
    let mut ends = Ends::spawn(config);
    called(&fake, "Page.enable").await;
    let early = ends.ask(Ask::Look).await;
    assert_eq!(early, Answer::Refused(Refusal::Stale));
    ends.close().await;
}

#[tokio::test]
async fn an_anchor_travels_as_the_scripts_expect_it() {
    // The scripts compare with `"empty"` and read `anchor.after`.
    assert_eq!(json!(Anchor::Empty), json!("empty"));
    let after = Anchor::After(TurnId("t".to_owned()));
    assert_eq!(json!(after), json!({ "after": "t" }));
}
