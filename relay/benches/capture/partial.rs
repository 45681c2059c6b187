//! Timelines on which a text stands still and is not whole: who takes a part of it?

use std::time::Duration;

use fixtures::{
    fault::FaultSpec,
    server::{Layout, StandinConfig, start},
};
use protocol::{page::Anchor, reply::Verdict};

use crate::Report;
use crate::observe_support::{Browser, MESSAGE, PATIENCE, Page, Play};
use crate::poller::{CYCLES, EQUALITY, poll, shown};
use crate::stage::Beside;

const REPEATS: usize = 4;
const STREAM: &str = "[stream]\nframe_chars = 6\nframe_ms = 15\n";

pub async fn measure(report: &mut Report) {
    let browser = Browser::new();
    let timelines = [
        (
            "a pause of 4 s in mid-word",
            "[[fault]]\nfault = \"stream-pause\"\nstep = \"any\"\nms = 4000\n",
            4,
        ),
        (
            "rendered by animation frames, tab in the background",
            "[[fault]]\nfault = \"raf-rendering\"\nstep = \"any\"\n",
            4,
        ),
    ];
    let text = "Forty words are in this reply. ".repeat(14);
    let text = text.trim();
    let mut theirs = 0;
    for (name, fault, _) in timelines {
        let play = Play::new(Layout::Classic, text, STREAM).fault(fault);
        let (mut ours, mut taken) = (0, [0, 0]);
        for _ in 0..REPEATS {
            ours += usize::from(!captured_whole(&browser, &play, text).await);
            for (nth, partial) in polled(&browser, &play).await.into_iter().enumerate() {
                taken[nth] += usize::from(partial);
            }
        }
        theirs += taken[0] + taken[1];
        println!(
            "{name}, {REPEATS} times: partial texts taken by the pollers {} and {}",
            taken[0], taken[1]
        );
        report.at_most("  partial texts taken by us", ours as f64, 0.0, "");
    }
    report.at_least(
        "partial texts taken by pollers in all",
        theirs as f64,
        1.0,
        "",
    );
}

async fn captured_whole(browser: &Browser, play: &Play, text: &str) -> bool {
    let mut page = Page::open(browser, play).await;
    page.until_look("the page", |look| look.hydrated).await;
    let mut front = Beside::page(browser, &page).await;
    // Another tab is in front of ours.
    let other = front.raw.open("about:blank").await;
    let mut evidence = page.send(MESSAGE, Anchor::Empty).await;
    let verdict = page.follow(&mut evidence, &play.limits, PATIENCE).await;
    let params = serde_json::json!({ "targetId": other });
    front.raw.call(None, "Target.closeTarget", params).await;
    page.close().await;
    matches!(verdict, Verdict::Complete(captured) if captured.text.as_str() == text)
}

/// The pollers alone on such a page: nobody emulates focus for them.
async fn polled(browser: &Browser, play: &Play) -> [bool; 2] {
    let mut config = StandinConfig::new(play.scenario.clone());
    config.layout = play.layout;
    config.faults = Vec::<FaultSpec>::new();
    let standin = start(config).await.unwrap();
    let mut raw = crate::raw::Raw::of(&browser.profile()).await;
    let target = raw.open(&standin.url).await;
    let mut beside = Beside { raw, target };
    let ready = "document.querySelector('.ProseMirror[contenteditable=\"true\"]') !== null";
    for _ in 0..200 {
        if beside.eval(ready).await == true {
            break;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    beside.send(MESSAGE).await;
    // Somebody turns to another tab.
    let other = beside.raw.open("about:blank").await;
    let one = poll(browser, &standin.url, 0, CYCLES);
    let two = poll(browser, &standin.url, 0, EQUALITY);
    let (one, two) = tokio::join!(one, two);
    // What the reply is once it is looked at again.
    let front = serde_json::json!({ "targetId": beside.target });
    beside
        .raw
        .call(None, "Target.activateTarget", front.clone())
        .await;
    tokio::time::sleep(Duration::from_millis(6_000)).await;
    let (_, whole) = shown(&mut beside).await;
    let partial = [one, two].map(|took| took.is_some_and(|took| took.text != whole));
    beside.raw.call(None, "Target.closeTarget", front).await;
    let other = serde_json::json!({ "targetId": other });
    beside.raw.call(None, "Target.closeTarget", other).await;
    standin.shutdown().await;
    partial
}
