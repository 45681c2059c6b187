//! What the observer says of the stand-in page besides replies: blockers,
//! layouts, hydration, threads that leave turns out.
#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm, reason = "tests")]

mod observe_support;

use fixtures::server::{Lang, Layout};
use observe_support::{Browser, MESSAGE, PATIENCE, Page, Play, last_settled};
use protocol::page::{Anchor, Ask, BlockerKind, Place, Role};
use protocol::reply::Verdict;

const LAYOUTS: [Layout; 2] = [Layout::Classic, Layout::Keyed];

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
}

fn faulty(layout: Layout, fault: &str) -> Play {
    Play::new(layout, "ok", "").fault(&format!("[[fault]]\n{fault}\n"))
}

//= spec R12 type=test
#[test]
fn i1_i2_only_a_visible_challenge_or_a_real_log_in_blocks() {
    let browser = Browser::new();
    runtime().block_on(async {
        for layout in LAYOUTS {
            for lang in [Lang::En, Lang::Ja] {
                let mut case = faulty(layout, "fault = \"logged-out\"\nstep = \"load\"");
                case.lang = lang;
                let mut page = Page::open(&browser, &case).await;
                let look = page
                    .until_look("logged out", |look| !look.blockers.is_empty())
                    .await;
                assert_eq!(look.blockers[0].kind, BlockerKind::LoggedOut);
                assert!(capture::guard::decide(&look).is_some());
                page.close().await;
            }
            let case = faulty(layout, "fault = \"challenge\"\nstep = \"load\"");
            let mut page = Page::open(&browser, &case).await;
            let look = page
                .until_look("challenge", |look| !look.blockers.is_empty())
                .await;
            assert_eq!(look.blockers[0].kind, BlockerKind::Challenge);
            page.close().await;

            let case = faulty(layout, "fault = \"challenge-script\"\nstep = \"load\"");
            let mut page = Page::open(&browser, &case).await;
            let look = page
                .until_look("idle", |look| look.hydrated && look.is_idle())
                .await;
            assert!(look.blockers.is_empty(), "{:?}", look.blockers);
            assert_eq!(look.place, Place::Fresh);
            page.close().await;
        }
    });
}

#[test]
fn i3_too_many_requests_is_a_typed_blocker_and_a_word_in_a_reply_is_none() {
    let browser = Browser::new();
    runtime().block_on(async {
        for layout in LAYOUTS {
            for lang in [Lang::En, Lang::Ja] {
                let mut case = faulty(layout, "fault = \"throttle-dialog\"\nstep = \"any\"");
                case.lang = lang;
                let mut page = Page::open(&browser, &case).await;
                page.send(MESSAGE, Anchor::Empty).await;
                let look = page
                    .until_look("the dialog", |look| !look.blockers.is_empty())
                    .await;
                assert_eq!(look.blockers[0].kind, BlockerKind::RateLimit);
                page.close().await;
            }
            let text =
                "Too many requests. Log in. Just a moment... We've temporarily limited access.";
            let case = Play::new(layout, text, "");
            let mut page = Page::open(&browser, &case).await;
            let mut evidence = page.send(MESSAGE, Anchor::Empty).await;
            let verdict = page.follow(&mut evidence, &case.limits, PATIENCE).await;
            assert!(matches!(verdict, Verdict::Complete(_)), "{verdict}");
            page.close().await;
        }
    });
}

//= spec C5 type=test
#[test]
fn an_unknown_layout_is_none_and_says_so() {
    let browser = Browser::new();
    runtime().block_on(async {
        for layout in LAYOUTS {
            let case = faulty(layout, "fault = \"unknown-layout\"\nstep = \"load\"");
            let mut page = Page::open(&browser, &case).await;
            let look = page.until_look("any look", |look| look.seq > 1).await;
            assert_eq!(look.layout, None);
            assert!(!look.hydrated && !look.is_idle());
            assert!(capture::drift::missing(&look).is_some());
            page.close().await;
        }
    });
}

#[test]
fn both_layouts_are_recognised_with_no_mark_missing() {
    let browser = Browser::new();
    runtime().block_on(async {
        for (layout, name) in [(Layout::Classic, "classic"), (Layout::Keyed, "keyed")] {
            let case = Play::new(layout, "```\nx\n```", "");
            let mut page = Page::open(&browser, &case).await;
            let mut evidence = page.send(MESSAGE, Anchor::Empty).await;
            let verdict = page.follow(&mut evidence, &case.limits, PATIENCE).await;
            assert!(matches!(verdict, Verdict::Complete(_)), "{verdict}");
            for (_, look) in page.looks.iter().filter(|(_, look)| look.hydrated) {
                assert_eq!(look.layout.as_deref(), Some(name));
                assert!(look.missing.is_empty(), "{:?}", look.missing);
            }
            page.close().await;
        }
    });
}

#[test]
fn a_draft_is_read_exactly() {
    let browser = Browser::new();
    runtime().block_on(async {
        for layout in LAYOUTS {
            let text = "Dear all,\\n\\n  about *it*";
            let case = faulty(
                layout,
                &format!("fault = \"old-draft\"\nstep = \"load\"\ntext = \"{text}\""),
            );
            let mut page = Page::open(&browser, &case).await;
            let look = page
                .until_look("the draft", |look| look.composer.draft.chars > 0)
                .await;
            let draft = &look.composer.draft;
            assert_eq!(draft.head.as_str(), "Dear all,\n\n  about *it*");
            assert_eq!(draft.chars, 23);
            page.close().await;
        }
    });
}

#[test]
fn a5_an_empty_shell_is_not_hydrated_whatever_it_shows() {
    let browser = Browser::new();
    runtime().block_on(async {
        for layout in LAYOUTS {
            let case = Play::new(layout, "answer", "").fault(
                "[[fault]]\nfault = \"slow-hydration\"\nstep = \"load\"\nms = 1500\n\
                 [[fault]]\nfault = \"shell-stop\"\nstep = \"load\"\n",
            );
            let mut page = Page::open(&browser, &case).await;
            let mut evidence = page.send(MESSAGE, Anchor::Empty).await;
            let verdict = page.follow(&mut evidence, &case.limits, PATIENCE).await;
            assert!(matches!(verdict, Verdict::Complete(_)), "{verdict}");
            page.ask(Ask::Reload).await;
            let shell = page
                .until_look("the shell", |look| look.composer.stop && look.seq < 40)
                .await;
            assert!(!shell.hydrated && shell.tail.is_empty());
            let full = page.until_look("the thread", |look| look.hydrated).await;
            assert_eq!(full.tail.len(), 2);
            assert!(matches!(full.place, Place::Conversation(_)));
            page.close().await;
        }
    });
}

/// Six exchanges, then a reload under `fault`.
async fn long_thread(browser: &Browser, layout: Layout, fault: &str) -> Page {
    let long = "A line that fills the thread.\n\n".repeat(12);
    let case = Play::new(layout, long.trim(), "[stream]\nframe_chars = 400\n")
        .fault(&format!("[[fault]]\n{fault}\n"));
    let mut page = Page::open(browser, &case).await;
    let mut anchor = Anchor::Empty;
    for nth in 0..6 {
        let mut evidence = page.send(&format!("Message {nth}"), anchor).await;
        let verdict = page.follow(&mut evidence, &case.limits, PATIENCE).await;
        let Verdict::Complete(captured) = verdict else {
            panic!("{verdict}");
        };
        anchor = Anchor::After(captured.turn);
    }
    page.ask(Ask::Reload).await;
    page.until_look("the shell", |look| !look.hydrated).await;
    page.until_look("the thread", |look| look.hydrated).await;
    page
}

#[test]
fn g1_older_turns_that_are_left_out_are_mounted_for_a_reading() {
    let browser = Browser::new();
    runtime().block_on(async {
        for layout in LAYOUTS {
            let fault = "fault = \"virtualised\"\nstep = \"load\"\ntimes = 0";
            let mut page = long_thread(&browser, layout, fault).await;
            let reading = page.read().await;
            assert_eq!(reading.turns.len(), 12, "{layout:?}");
            assert!(reading.whole && reading.idle);
            assert_eq!(reading.turns[0].text.as_str(), "Message 0");
            assert!(last_settled(&reading.turns).is_some());
            let blocks = reading.turns[1].reply.as_ref().unwrap().blocks.as_ref();
            assert_eq!(blocks.unwrap().len(), 12);
            page.close().await;
        }
    });
}

#[test]
fn i4_an_error_card_on_an_older_turn_is_that_turns_alone() {
    let browser = Browser::new();
    runtime().block_on(async {
        for layout in LAYOUTS {
            let fault = "fault = \"retry-card\"\nstep = \"load\"\ntimes = 0";
            let mut page = long_thread(&browser, layout, fault).await;
            let reading = page.read().await;
            let failed: Vec<_> = reading
                .turns
                .iter()
                .enumerate()
                .filter(|(_, turn)| {
                    turn.reply
                        .as_ref()
                        .is_some_and(|reply| reply.error.is_some())
                })
                .map(|(at, turn)| (at, turn.role))
                .collect();
            assert_eq!(failed, [(1, Role::Assistant)]);
            let look = page.looks.last().unwrap().1.clone();
            let newest = look.tail.last().unwrap().reply.as_ref().unwrap();
            assert_eq!(newest.error, None);
            page.close().await;
        }
    });
}
