//! What the page pays: reading the newest turn of a long thread, and a renderer's
//! time with us attached.

use std::time::Duration;

use fixtures::{
    scenario::Scenario,
    server::{Layout, StandinConfig, start},
};
use protocol::page::What;
use serde_json::json;

use crate::observe_support::{Browser, Page, Play};
use crate::stage::Beside;
use crate::{Report, quantile};

/// The newest turn of 2,000 against that of 20.
const TURNS_RATIO_MAX: f64 = 1.5;
/// A renderer's processor time with us attached against without.
const RENDERER_RATIO_MAX: f64 = 1.1;
const STREAMS: usize = 8;

/// A conversation of so many turns, made without a browser.
async fn conversation(url: &str, exchanges: usize) -> String {
    let client = reqwest::Client::new();
    let url = format!("{}backend-api/f/conversation", with_slash(url));
    let mut conversation = None;
    for nth in 0..exchanges {
        let body = json!({"action": "next", "conversation_id": conversation, "messages": [{
            "id": format!("00000000-0000-4000-8000-{nth:012}"), "author": {"role": "user"},
            "content": {"content_type": "text", "parts": [format!("Message {nth}")]}}]});
        let answer = client.post(&url).body(body.to_string()).send().await;
        let text = answer.unwrap().text().await.unwrap();
        if conversation.is_none() {
            let at = text.find("\"conversation_id\":\"").unwrap() + 19;
            conversation = Some(text[at..at + 36].to_owned());
        }
    }
    conversation.unwrap()
}

fn with_slash(url: &str) -> String {
    format!("{}/", url.trim_end_matches('/'))
}

/// The newest turn as the observer reads it, in the page's own time: a push
/// after a change, and a whole look.
const READ: &str = r#"(async () => {
  const times = { push: [], look: [] };
  for (let at = 0; at < 60; at += 1) {
    for (const way of ["push", "look"]) {
      const began = performance.now();
      way === "push" ? brb.page.newest() : brb.look();
      times[way].push(performance.now() - began);
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const median = (all) => all.sort((a, b) => a - b)[all.length >> 1];
  return [median(times.push), median(times.look)];
})()"#;

pub async fn turns(report: &mut Report) {
    let browser = Browser::new();
    for layout in [Layout::Classic, Layout::Keyed] {
        let scenario = "name = \"long\"\n[stream]\nframe_chars = 4000\nframe_ms = 0\nfirst_ms = 0\n\
            [[reply]]\non = \"any\"\ntext = '''\nA reply of a few words and `code`.\n\n- one\n- two\n'''\n";
        let mut figures = Vec::new();
        for turns in [20, 2_000] {
            let mut config = StandinConfig::new(Scenario::from_toml(scenario).unwrap());
            config.layout = layout;
            let standin = start(config).await.unwrap();
            let id = conversation(&standin.url, turns / 2).await;
            let mut play = Play::new(layout, "ok", "");
            play.limits = capture::Limits::default();
            let url = format!("{}c/{id}", with_slash(&standin.url));
            let mut page = Page::at(&browser, standin, &url).await;
            let wanted = u32::try_from(turns).unwrap();
            page.until_look("the thread", |look| {
                look.hydrated && look.turns_shown == wanted
            })
            .await;
            let mut beside = Beside::of(&browser, &url).await;
            let told = beside.raw.eval_ours(&beside.target, READ).await;
            let (push, look) = (told[0].as_f64().unwrap(), told[1].as_f64().unwrap());
            println!(
                "{layout:?}, {turns} turns: newest turn {push:.2} ms, a whole look {look:.2} ms"
            );
            figures.push((push, look));
            page.close().await;
        }
        let ratio = |of: fn(&(f64, f64)) -> f64| of(&figures[1]) / of(&figures[0]).max(0.05);
        report.at_most(
            &format!("{layout:?}: newest turn, 2,000 turns against 20"),
            ratio(|one| one.0),
            TURNS_RATIO_MAX,
            "×",
        );
        println!(
            "{layout:?}: a whole look, 2,000 turns against 20: {:.2} ×",
            ratio(|one| one.1)
        );
    }
}

pub async fn renderer(report: &mut Report) {
    let browser = Browser::new();
    // About 2,000 tokens, one in each event.
    let text = "word ".repeat(2_000);
    let play = Play::new(
        Layout::Classic,
        text.trim(),
        "[stream]\nframe_chars = 5\nframe_ms = 1\nfirst_ms = 20\n",
    );
    let (mut with, mut without) = (Vec::new(), Vec::new());
    // One to warm up, then in turns.
    for nth in 0..=STREAMS {
        for attached in [false, true] {
            let spent = stream(&browser, &play, attached).await;
            if nth > 0 {
                if attached { &mut with } else { &mut without }.push(spent);
            }
        }
    }
    let (with, without) = (quantile(&with, 0.5), quantile(&without, 0.5));
    println!(
        "a stream of 2,000 tokens, {STREAMS} times each: {without:.0} ms of the renderer's processor without us, {with:.0} ms with us (medians)"
    );
    report.at_most(
        "renderer's processor time, with us against without",
        with / without,
        RENDERER_RATIO_MAX,
        "×",
    );
}

/// Processor milliseconds of the renderers over one reply.
async fn stream(browser: &Browser, play: &Play, attached: bool) -> f64 {
    // The driver opens the tab either way, so that both are the same kind of tab.
    let mut page = Page::open(browser, play).await;
    page.until_look("the page", |look| look.hydrated).await;
    let mut beside = Beside::page(browser, &page).await;
    // Rendering goes on as if looked at in both.
    let session = beside.raw.session(&beside.target).await;
    let on = json!({ "enabled": true });
    beside
        .raw
        .call(Some(&session), "Emulation.setFocusEmulationEnabled", on)
        .await;
    if !attached {
        page.let_go().await;
        // The observer of a driver that has gone would still look: a fresh document.
        beside
            .raw
            .call(Some(&session), "Page.enable", json!({}))
            .await;
        beside
            .raw
            .call(Some(&session), "Page.reload", json!({}))
            .await;
        tokio::time::sleep(Duration::from_millis(700)).await;
    }
    let done = "document.querySelector('section[data-turn=\"assistant\"] [data-testid=\"copy-turn-action-button\"]') !== null";
    let before = beside.renderer_s().await;
    beside.send("Go on.").await;
    for _ in 0..400 {
        if attached {
            while let Some(observation) = page.next(Duration::from_millis(50)).await {
                if let What::Look(_) = observation.what {
                    break;
                }
            }
        } else {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        if beside.eval(done).await == true {
            break;
        }
    }
    let spent = (beside.renderer_s().await - before) * 1_000.0;
    let tab = json!({ "targetId": beside.target });
    beside.raw.call(None, "Target.closeTarget", tab).await;
    page.close().await;
    spent
}
