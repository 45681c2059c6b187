//! A page that lies: forged reports, and words that look like blockers and are none.
#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm, reason = "tests")]

mod observe_support;
#[allow(dead_code, reason = "shared with the driver's own tests")]
#[path = "../../cdp/tests/common/raw.rs"]
mod raw;

use std::time::Duration;

use fixtures::server::Layout;
use observe_support::{Browser, MESSAGE, PATIENCE, Page, Play};
use protocol::page::{Anchor, Ask, BlockerKind};
use protocol::reply::Verdict;
use raw::Raw;
use serde_json::json;

fn block_on(work: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.unwrap().block_on(work);
}

async fn beside(browser: &Browser, page: &Page) -> (Raw, String) {
    let mut raw = Raw::of(&browser.profile()).await;
    let pages = raw.pages().await;
    let url = page.standin.url.trim_end_matches('/').to_owned();
    let mut pages = pages.iter();
    let shown = pages.find(|one| one["url"].as_str().unwrap().starts_with(&url));
    let target = shown.unwrap()["targetId"].as_str().unwrap().to_owned();
    (raw, target)
}

/// The page finds no binding of ours, and what it says by one of the same name
/// is not heard: not even where another client gave it one.
#[test]
fn a_forged_report_of_the_page_is_not_heard() {
    let browser = Browser::new();
    block_on(async {
        for layout in [Layout::Classic, Layout::Keyed] {
            let case = Play::new(
                layout,
                "```text\nall of it\n```",
                "[stream]\nframe_chars = 4\nframe_ms = 60\n",
            );
            let mut page = Page::open(&browser, &case).await;
            let mut evidence = page.send(MESSAGE, Anchor::Empty).await;
            let (mut raw, target) = beside(&browser, &page).await;
            let found =
                "typeof brbSay + typeof brb + typeof brbGuard + typeof brbCompose + typeof brbCopy";
            assert_eq!(raw.eval(&target, found).await, json!("undefined".repeat(5)));
            let session = raw.session(&target).await;
            let binding = json!({ "name": "brbSay" });
            raw.call(Some(&session), "Runtime.enable", json!({})).await;
            raw.call(Some(&session), "Runtime.addBinding", binding)
                .await;
            let mut look = page.looks.last().unwrap().1.clone();
            look.seq += 1_000;
            look.address = "https://forged.example/".into();
            let said = json!({ "look": look }).to_string();
            for payload in [said.as_str(), "{", "{\"look\":{}}"] {
                let call = format!("brbSay({}); typeof brbSay", json!(payload));
                assert_eq!(raw.eval(&target, &call).await, json!("function"));
            }
            let verdict = page.follow(&mut evidence, &case.limits, PATIENCE).await;
            let Verdict::Complete(captured) = &verdict else {
                panic!("{layout:?}: {verdict}");
            };
            assert_eq!(captured.text.as_str(), "```text\nall of it\n```");
            assert!(
                page.looks
                    .iter()
                    .all(|(_, look)| !look.address.contains("forged"))
            );
            page.close().await;
        }
    });
}

/// What stands in a dialog counts where eyes can read it and the page itself
/// says it, in whichever language.
#[test]
fn only_what_the_page_itself_shows_in_a_dialog_blocks() {
    let dialogs = [
        (
            "<h2>Too many requests</h2><p>Wait a little.</p>",
            Some(BlockerKind::RateLimit),
        ),
        ("<h2>Trop de requêtes</h2>", Some(BlockerKind::RateLimit)),
        ("<p>您的账号已被停用</p>", Some(BlockerKind::Account)),
        (
            "<p>Tu cuenta ha sido suspendida.</p>",
            Some(BlockerKind::Account),
        ),
        // For screen readers alone, hidden, quoted, typed.
        (
            "<p>Share</p><span class=\"sr-only\">Too many requests</span>",
            None,
        ),
        ("<p>Share</p><p hidden>Too many requests</p>", None),
        (
            "<p>Share</p><blockquote>Too many requests</blockquote>",
            None,
        ),
        (
            "<p>Share</p><div class=\"markdown\" data-markdown-text-style=\"assistant-message\">Too many requests</div>",
            None,
        ),
        (
            "<p>Feedback</p><textarea>Too many requests</textarea>",
            None,
        ),
    ];
    let browser = Browser::new();
    let mut failed = Vec::new();
    block_on(async {
        for layout in [Layout::Classic, Layout::Keyed] {
            let case = Play::new(layout, "ok", "");
            let mut page = Page::open(&browser, &case).await;
            page.until_look("the page", |look| look.hydrated).await;
            let (mut raw, target) = beside(&browser, &page).await;
            for (inside, wanted) in &dialogs {
                let show = format!(
                    "document.querySelector('[data-test]')?.remove();\
                     document.body.insertAdjacentHTML('beforeend', {})",
                    json!(format!(
                        "<div data-test role=\"dialog\" style=\"width:300px;height:200px\">{inside}</div>"
                    ))
                );
                raw.eval(&target, &show).await;
                page.looks.clear();
                page.ask(Ask::Look).await;
                while page.next(Duration::from_millis(300)).await.is_some() {}
                let look = &page.looks.last().unwrap().1;
                let found = capture::guard::decide(look).map(|blocker| blocker.kind);
                if found != *wanted {
                    failed.push(format!("{layout:?} {inside}: {found:?}"));
                }
            }
            page.close().await;
        }
    });
    assert!(failed.is_empty(), "{failed:#?}");
}
