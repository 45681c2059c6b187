//! Timelines that are too long to keep as recordings, and what a tab in the background
//! shows: played by the stand-in in Chromium.
#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm, reason = "tests")]

mod observe_support;
#[path = "../../cdp/tests/common/raw.rs"]
#[allow(dead_code, reason = "a part of it is used")]
mod raw;

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use fixtures::server::{Layout, StandinConfig, start};
use fixtures::timeline::{Line, What};
use observe_support::{Browser, PATIENCE, Page, Play};
use protocol::page::{Epoch, TargetId};
use protocol::reply::Verdict;
use raw::Raw;
use relay::recording::live::{Stage, play};
use relay::recording::{Awaiting, Judged};
use serde_json::{Value, json};

const LAYOUTS: [Layout; 2] = [Layout::Classic, Layout::Keyed];
const CONVERSATION: &str = "c0000000-0000-4000-8000-000000000001";

fn id(kind: char, n: usize) -> String {
    format!("{kind}0000000-0000-4000-8000-{n:012}")
}

/// `turns` finished turns, our message, and `reply` in two pieces.
fn timeline(layout: Layout, turns: usize, reply: &str) -> Vec<Line> {
    let mut lines = vec![json!({
        "t_ms": 0, "kind": "begin", "layout": layout, "source": "made", "about": "long",
        "conversation": CONVERSATION,
    })];
    let mut add = |t_ms: u64, mut line: Value| {
        line["t_ms"] = t_ms.into();
        lines.push(line);
    };
    for n in 1..=turns / 2 {
        add(
            0,
            json!({"kind": "page", "do": "turn", "turn": format!("u{n}"), "role": "user",
            "id": id('b', n), "text": format!("Message {n}.")}),
        );
        add(
            0,
            json!({"kind": "page", "do": "turn", "turn": format!("a{n}"), "role": "assistant",
            "id": id('a', n), "text": format!("Answer *{n}*."), "bar": true}),
        );
    }
    add(
        1_000,
        json!({"kind": "message", "text": "What now?", "anchor": id('a', turns / 2)}),
    );
    add(
        1_020,
        json!({"kind": "page", "do": "turn", "turn": "u", "role": "user", "id": id('d', 1)}),
    );
    add(1_020, json!({"kind": "page", "do": "stop", "on": true}));
    add(
        1_100,
        json!({"kind": "page", "do": "turn", "turn": "a", "role": "assistant",
        "id": id('d', 2), "text": "", "streaming": true}),
    );
    let message = |text: &str, status: &str| {
        let event = json!({"message": {"id": id('d', 2), "author": {"role": "assistant"},
            "content": {"content_type": "text", "parts": [text]}, "status": status,
            "end_turn": status == "finished_successfully", "recipient": "all",
            "channel": "final", "metadata": {}}, "conversation_id": CONVERSATION, "error": null});
        json!({"kind": "stream", "data": format!("data: {event}\n\n")})
    };
    let half: String = reply.chars().take(reply.chars().count() / 2).collect();
    add(1_400, message(&half, "in_progress"));
    add(
        1_410,
        json!({"kind": "page", "do": "set", "turn": "a", "text": half}),
    );
    add(2_400, message(reply, "finished_successfully"));
    add(2_400, json!({"kind": "stream", "data": "data: [DONE]\n\n"}));
    add(
        2_410,
        json!({"kind": "page", "do": "set", "turn": "a", "text": reply, "streaming": false,
        "bar": true}),
    );
    add(2_410, json!({"kind": "page", "do": "stop", "on": false}));
    add(2_420, json!({"kind": "stream-end", "how": "closed"}));
    add(6_000, json!({"kind": "end"}));
    lines
        .into_iter()
        .map(|line| serde_json::from_value(line).unwrap())
        .collect()
}

/// One at a time: each keeps a core of its own busy.
static TURN: Mutex<()> = Mutex::new(());

fn captured(lines: &[Line]) -> String {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let browser = Browser::new();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let stage = Stage {
        endpoint: browser.endpoint(),
        scale: 1,
        limits: capture::Limits::default(),
        keep_browser: true,
    };
    let awaiting = Awaiting::of(lines).unwrap();
    let played = runtime.block_on(play(lines, &awaiting, &stage)).unwrap();
    match played.judged {
        Judged::Verdict(Verdict::Complete(captured)) => captured.text.as_str().to_owned(),
        other => panic!("{other}"),
    }
}

#[test]
fn the_newest_turn_of_two_thousand_is_captured() {
    let reply = "```text\n# PLAN pi-bridge/1\nTASK: the last one\n```";
    for layout in LAYOUTS {
        let lines = timeline(layout, 2_000, reply);
        let acts = lines
            .iter()
            .filter(|line| matches!(line.what, What::Page(_)));
        assert!(acts.count() > 2_000);
        assert_eq!(captured(&lines), reply, "{layout:?}");
    }
}

/// What a tab shows of the reply, and whether it is hidden.
const SHOWN: &str = r#"(() => {
  const bodies = [...document.querySelectorAll(".markdown, [data-markdown-text-style]")];
  return {
    hidden: document.visibilityState === "hidden",
    replies: bodies.length,
    chars: bodies.length ? bodies.at(-1).textContent.length : 0,
  };
})()"#;

/// A tab in the background that draws by animation frames stands still: what it shows is
/// not the reply of the moment. From the relay's attachment on it draws as if it were
/// looked at.
//= spec C2 type=test
#[test]
fn a_background_tab_that_draws_by_frames_stands_still_until_it_is_attached() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let browser = Browser::new();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let reply = "word ".repeat(40);
    runtime.block_on(async {
        for layout in LAYOUTS {
            let mut lines = timeline(layout, 2, reply.trim_end());
            let frames = json!({"t_ms": 1_000, "kind": "page", "do": "frames", "on": true});
            let sent = |line: &Line| matches!(line.what, What::Message { .. });
            let at = lines.iter().position(sent).unwrap() + 1;
            lines.insert(at, serde_json::from_value(frames).unwrap());
            let standin = start(StandinConfig::playing(lines, 2)).await.unwrap();
            // The first driver starts the browser; its tab stands in front.
            let mut front = Page::open(&browser, &Play::new(layout, "x", "")).await;
            front
                .until_look("a page", |look| look.layout.is_some())
                .await;
            let mut raw = Raw::of(&browser.profile()).await;
            let before = raw.pages().await;
            let address = format!("{}c/{CONVERSATION}", standin.url);
            let behind = json!({"url": address, "background": true});
            let tab = raw.call(None, "Target.createTarget", behind).await["targetId"].clone();
            let tab = tab.as_str().unwrap().to_owned();
            let in_front = json!({"targetId": before[0]["targetId"]});
            raw.call(None, "Target.activateTarget", in_front).await;
            let mut shown = shows(&mut raw, &tab, |shown| shown["replies"] == 1).await;
            assert_eq!(shown["hidden"], true, "{layout:?}: {shown}");
            standin.begin();
            // A second after the reply's end the tab has drawn nothing of it.
            standin.until(Duration::from_millis(3_500)).await;
            shown = raw.eval(&tab, SHOWN).await;
            assert_eq!(shown["replies"], 1, "{layout:?}: {shown}");
            let (mut config, keep_browser) = (driver(&browser), true);
            config.tab.id = Some(TargetId(tab.clone()));
            let (commands, mut observations) = cdp::spawn(config);
            let whole = |shown: &Value| shown["replies"] == 2 && shown["chars"] == 199;
            shown = shows(&mut raw, &tab, whole).await;
            assert_eq!(shown["chars"], 199, "{layout:?}: {shown}");
            commands
                .send(cdp::Control::Close { keep_browser })
                .await
                .unwrap();
            while observations.recv().await.is_some() {}
            front.close().await;
            standin.shutdown().await;
        }
    });
}

/// Looks until it is as wanted, and gives what was seen then.
async fn shows(raw: &mut Raw, tab: &str, wanted: impl Fn(&Value) -> bool) -> Value {
    let until = Instant::now() + PATIENCE;
    loop {
        let shown = raw.eval(tab, SHOWN).await;
        if wanted(&shown) {
            return shown;
        }
        assert!(Instant::now() < until, "still {shown}");
    }
}

fn driver(browser: &Browser) -> cdp::Config {
    cdp::Config {
        endpoint: browser.endpoint(),
        tab: cdp::TabWish::default(),
        scripts: relay::scripts::scripts(),
        stream_paths: Vec::new(),
        limits: cdp::Limits::DEFAULT,
        last_epoch: Epoch(0),
        keep_browser: true,
    }
}
