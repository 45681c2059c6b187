//! What typing a message costs, and how soon `sent` is durable.
//!
//! `scripts/bench compose`, in a real browser on the stand-in page, both layouts:
//! composing with its read-back against one paste alone and against
//! `Input.insertText`, and from the mounting of our turn to the record *sent*. A
//! broken bound ends it non-zero.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a bench reads the clock"
)]
#![allow(clippy::print_stdout, reason = "its result is what it prints")]
#![allow(
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "whatever fails here ends the bench, and says where"
)]

#[path = "../tests/browser_support/mod.rs"]
mod browser_support;
#[path = "../../cdp/tests/common/raw.rs"]
#[allow(dead_code, reason = "a part of it is used here")]
mod raw;

use std::{
    path::Path,
    process::{Command, ExitCode, Stdio},
    time::{Duration, Instant},
};

use browser_support::{Ends, LAYOUTS, Profile, Stage, driver};
use fixtures::{
    scenario::Scenario,
    server::{Layout, StandinConfig, start},
};
use protocol::{
    page::{Anchor, Answer},
    record::Record,
    send::SendState,
};
use raw::Raw;
use relay::journal::{Access, SqliteJournal};
use serde_json::Value;

/// Composing and reading back against one paste alone.
const PASTE_RATIO_MAX: f64 = 3.0;
/// How many times longer `Input.insertText` must take, at 60,000 characters.
const INSERT_RATIO_MIN: f64 = 10.0;
/// From the turn's mounting to the record, at the 95th percentile.
const SENT_MS_MAX: f64 = 300.0;

const REPEATS: usize = 5;
const ROUNDS: usize = 12;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let mut within = true;
    for layout in LAYOUTS {
        within &= composing(layout).await;
    }
    let mut waits = Vec::new();
    for layout in LAYOUTS {
        waits.extend(sent(layout).await);
    }
    waits.sort_by(f64::total_cmp);
    let p95 = waits[(waits.len() * 95).div_ceil(100) - 1];
    let verdict = verdict(p95 <= SENT_MS_MAX);
    within &= p95 <= SENT_MS_MAX;
    println!(
        "from the turn's mounting to sent: p50 {:.0} ms, p95 {p95:.0} ms of {} messages (≤ {SENT_MS_MAX}){verdict}",
        waits[waits.len() / 2],
        waits.len()
    );
    if within {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn verdict(within: bool) -> &'static str {
    if within { "" } else { "  BROKEN" }
}

fn median(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}

fn text_of(chars: usize) -> String {
    let lines = (0..).map(|n| format!("第 {n} 行: the quick brown fox jumps over the lazy dog\n"));
    let mut text = String::new();
    let mut left = chars;
    for line in lines {
        let part: String = line.chars().take(left).collect();
        left -= part.chars().count();
        text.push_str(&part);
        if left == 0 {
            return text;
        }
    }
    text
}

/// One paste of the same paragraphs, with nothing round it.
const PASTE: &str = r#"((text) => {
  const editor = document.querySelector('.ProseMirror[contenteditable="true"]');
  editor.focus();
  const html = text.split("\n").map((line, n) =>
    (n === 0 ? '<p data-pm-slice="1 1 []">' : "<p>") + line + "</p>").join("");
  const clipboardData = new DataTransfer();
  clipboardData.setData("text/html", html);
  const began = performance.now();
  editor.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
  return performance.now() - began;
})"#;

async fn composing(layout: Layout) -> bool {
    let mut stage = Stage::set(layout, &[]).await;
    let mut raw = Raw::of(&stage.profile.path()).await;
    let pages = raw.pages().await;
    let ours = |page: &&Value| {
        let url = page["url"].as_str().unwrap_or_default();
        url.starts_with(&stage.page.url)
    };
    let target = pages.iter().find(ours).unwrap()["targetId"]
        .as_str()
        .unwrap();
    let (mut within, mut composed) = (true, Vec::new());
    for chars in [60_000, 200_000] {
        let text = text_of(chars);
        let (mut ours, mut pastes) = (Vec::new(), Vec::new());
        for _ in 0..REPEATS {
            let began = Instant::now();
            let answer = stage.compose(&text, &Anchor::Empty, &[]).await;
            ours.push(began.elapsed().as_secs_f64() * 1_000.0);
            assert!(matches!(answer, Answer::Composed(_)), "{answer:?}");
            assert_eq!(stage.clear(&[&text]).await, Answer::Done);
            let paste = format!("{PASTE}({})", Value::from(text.as_str()));
            pastes.push(raw.eval(target, &paste).await.as_f64().unwrap());
            assert_eq!(stage.clear(&[&text]).await, Answer::Done);
        }
        let (ours, paste) = (median(ours), median(pastes));
        let ratio = ours / paste;
        within &= ratio <= PASTE_RATIO_MAX;
        println!(
            "{layout:?}, {chars} characters: composed and read back in {ours:.0} ms, one paste {paste:.0} ms: {ratio:.2} (≤ {PASTE_RATIO_MAX}){}",
            verdict(ratio <= PASTE_RATIO_MAX)
        );
        composed.push((text, ours));
    }
    // Last, because what it leaves is often not the text, and not ours to clear.
    let (text, ours) = &composed[0];
    let insert = inserted(&mut raw, target, text).await;
    let ratio = insert / ours;
    within &= ratio >= INSERT_RATIO_MIN;
    println!(
        "{layout:?}, {} characters: Input.insertText takes {insert:.0} ms: {ratio:.1} times as long (≥ {INSERT_RATIO_MIN}){}",
        text.chars().count(),
        verdict(ratio >= INSERT_RATIO_MIN)
    );
    stage.strike().await;
    within
}

async fn inserted(raw: &mut Raw, target: &str, text: &str) -> f64 {
    let focus = r#"document.querySelector('.ProseMirror[contenteditable="true"]').focus()"#;
    raw.eval(target, focus).await;
    let session = raw.session(target).await;
    let params = serde_json::json!({ "text": text });
    let began = Instant::now();
    raw.call(Some(&session), "Input.insertText", params).await;
    began.elapsed().as_secs_f64() * 1_000.0
}

// --- until sent is durable ------------------------------------------------------------

/// Notes, by the wall clock of the page, when each of our turns appears.
const WATCH: &str = r#"(() => {
  const shown = () => document.querySelectorAll('[data-message-author-role="user"], [data-user-message-bubble]').length;
  if (!globalThis.benchMounts) {
    globalThis.benchMounts = [];
    new MutationObserver(() => {
      const now = performance.timeOrigin + performance.now();
      while (benchMounts.length < shown()) benchMounts.push(now);
    }).observe(document, { subtree: true, childList: true });
  }
  return benchMounts;
})()"#;

fn scenario() -> Scenario {
    let plan = |decision: &str, step: &str| {
        format!(
            "```text\n# PLAN pi-bridge/1\nFRAME: {{frame}}\nDECISION: {decision}\nTASK: step\n\n## GOAL\nGo on.\n\n## STEPS\n1. {step}\n\n## FILES\n- 无\n\n## COMMANDS\n- 无\n\n## RISKS\n- 无\n\n## VERIFY\n- 无\n```\n"
        )
    };
    let text = format!(
        "name = \"many\"\nabout = \"Many short rounds.\"\n[[reply]]\non = \"round\"\ntimes = {}\ntext = '''\n{}'''\n[[reply]]\non = \"round\"\ntext = '''\n{}'''\n",
        ROUNDS - 1,
        plan("continue", "Go on."),
        plan("done", "无")
    );
    Scenario::from_toml(&text).expect("a scenario")
}

/// For each message of a run, how long after its turn's mounting `sent` was stored.
async fn sent(layout: Layout) -> Vec<f64> {
    let mut config = StandinConfig::new(scenario());
    config.layout = layout;
    let page = start(config).await.expect("the stand-in starts");
    let profile = Profile::new();
    let (mut ends, _) = Ends::attached(driver(&page, &profile)).await;
    ends.control(cdp::Control::Close { keep_browser: true })
        .await;
    ends.ended().await;
    let mut raw = Raw::of(&profile.path()).await;
    let before = raw.pages().await;
    let dir = tempfile::tempdir().unwrap();
    let work = dir.path().join("work");
    std::fs::create_dir(&work).unwrap();
    let mut run = Command::new(env!("CARGO_BIN_EXE_brb"))
        .args(["run", "go on", "--json", "--approve", "all", "--no-undo"])
        .args(["--chat", &page.url, "--attach"])
        .arg(format!("http://127.0.0.1:{}", raw.port))
        .env("BRB_STATE_DIR", dir.path().join("state"))
        .current_dir(&work)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut mounts: Vec<f64> = Vec::new();
    let ended = loop {
        if let Some(status) = run.try_wait().unwrap() {
            break status;
        }
        let pages = raw.pages().await;
        let new = pages.iter().find(|now| {
            let is = |one: &&Value| one["targetId"] == now["targetId"];
            before.iter().find(is).is_none()
        });
        if let Some(target) = new.and_then(|page| page["targetId"].as_str()) {
            let seen = raw.eval(target, WATCH).await;
            let seen: Vec<f64> = seen
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_f64)
                .collect();
            if seen.len() > mounts.len() {
                mounts = seen;
            }
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    assert!(ended.success(), "the run ended with {ended}");
    let waits = waits(&dir.path().join("state"), &mounts);
    page.shutdown().await;
    waits
}

fn waits(state: &Path, mounts: &[f64]) -> Vec<f64> {
    let mut folders = std::fs::read_dir(state)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let folder = folders
        .find(|path| path.join("journal.head").exists())
        .unwrap();
    let found = SqliteJournal::open(&folder, Access::Read).unwrap();
    #[allow(clippy::cast_precision_loss, reason = "milliseconds of this century")]
    let stored = found
        .entries
        .iter()
        .filter_map(|entry| match &entry.record {
            Record::Outcome {
                state: SendState::Sent,
                ..
            } => Some(entry.at.0 as f64),
            Record::Outcome { .. } => panic!("a message was not sent"),
            _ => None,
        });
    // What the network proved before the turn was shown did not wait at all.
    let waits: Vec<f64> = stored
        .zip(mounts)
        .map(|(at, mount)| (at - mount).max(0.0))
        .collect();
    assert_eq!(waits.len(), ROUNDS + 1, "{mounts:?}");
    waits
}
