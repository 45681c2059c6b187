//! Replies of the stand-in page in a real browser: what was sent is what is
//! captured, in both layouts, and nothing less.
#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm, reason = "tests")]

mod observe_support;

use std::time::Duration;

use fixtures::server::{CodeForm, Lang, Layout};
use observe_support::{Browser, MESSAGE, PATIENCE, Page, Play, play};
use protocol::page::{Anchor, Ask};
use protocol::reply::{EndWitness, Source, Verdict};

const LAYOUTS: [Layout; 2] = [Layout::Classic, Layout::Keyed];

const PROSE: &str = "# A heading\n\nA paragraph with *emphasis*, **strong**, `in-line \"code\"`, a [link](https://example.org/a?b=c&d=e) and 中文 “quotes”.\nA second line.\n\n- one\n- two\n  1. inner\n  2. more\n\n> quoted\n> text\n\n| a | b |\n|---|---|\n| 1 | `x` |\n\n```python\ndef f():\n    return 1\n\n\nprint(f())\n```\n\nEnd.";

const PLAN: &str = "```text\n# PLAN pi-bridge/1\nFRAME: s=9f83a7c1d42e650b r=1 p=- q=e1db9b58\nDECISION: done\nTASK: x\n\n## GOAL\n全部完成。\n\n## STEPS\n1. 无\n```";

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
}

fn captured(verdict: &Verdict) -> &protocol::reply::Captured {
    match verdict {
        Verdict::Complete(captured) => captured,
        other => panic!("{other}"),
    }
}

//= spec C2 type=test
#[test]
fn what_is_sent_is_what_is_captured_in_both_layouts_and_both_structures_of_code() {
    let browser = Browser::new();
    runtime().block_on(async {
        for layout in LAYOUTS {
            for code in [CodeForm::Editor, CodeForm::Plain] {
                for text in [PROSE, PLAN] {
                    let mut case = Play::new(layout, text, "");
                    case.code = Some(code);
                    let (verdict, _) = play(&browser, &case, PATIENCE).await;
                    let captured = captured(&verdict);
                    assert_eq!(captured.text.as_str(), text, "{layout:?} {code:?}");
                    assert_eq!(captured.end, EndWitness::StreamDone);
                    assert_eq!(captured.agreed, [Source::Stream, Source::Dom]);
                }
            }
        }
    });
}

#[test]
fn another_language_and_the_other_encoding_make_no_difference() {
    let browser = Browser::new();
    runtime().block_on(async {
        for layout in LAYOUTS {
            let mut case = Play::new(
                layout,
                PLAN,
                "[stream]\nmode = \"cumulative\"\nthinking_ms = 300\n",
            );
            case.lang = Lang::Ja;
            let (verdict, _) = play(&browser, &case, PATIENCE).await;
            assert_eq!(captured(&verdict).text.as_str(), PLAN, "{layout:?}");
        }
    });
}

/// Faults under which the reply is captured whole all the same.
#[test]
fn what_goes_wrong_on_the_way_does_not_cost_a_character() {
    let faults = [
        "fault = \"stream-pause\"\nstep = \"any\"\nms = 1500",
        "fault = \"no-done\"\nstep = \"any\"",
        "fault = \"socket-open\"\nstep = \"any\"",
        "fault = \"reader-cancelled\"\nstep = \"any\"",
        "fault = \"preamble-then-tool\"\nstep = \"any\"\nms = 400\ntext = \"Let me look.\"",
        "fault = \"message-id-change\"\nstep = \"any\"",
        "fault = \"no-id-while-streaming\"\nstep = \"any\"",
        "fault = \"remount\"\nstep = \"any\"",
        "fault = \"bar-flash\"\nstep = \"any\"\nat = 30",
        "fault = \"late-render\"\nstep = \"any\"",
        "fault = \"first-letter\"\nstep = \"any\"\nms = 1000",
        "fault = \"late-address\"\nstep = \"any\"\nms = 1000",
        "fault = \"user-clamped\"\nstep = \"any\"\nlen = 30",
        "fault = \"late-echo\"\nstep = \"any\"\nms = 1000",
        "fault = \"raf-rendering\"\nstep = \"any\"",
        "fault = \"answer-now\"\nstep = \"any\"",
        "fault = \"screen-reader-alert\"\nstep = \"any\"\ntext = \"Something went wrong\"",
        "fault = \"hidden-composer\"\nstep = \"load\"",
        "fault = \"hidden-thread\"\nstep = \"load\"",
        "fault = \"hidden-stop\"\nstep = \"load\"",
    ];
    let browser = Browser::new();
    let mut failed = Vec::new();
    runtime().block_on(async {
        for layout in LAYOUTS {
            for fault in faults {
                let case = Play::new(layout, PLAN, "[stream]\nthinking_ms = 200\n")
                    .fault(&format!("[[fault]]\n{fault}\n"));
                let (verdict, _) = play(&browser, &case, Duration::from_secs(20)).await;
                let Verdict::Complete(captured) = &verdict else {
                    failed.push(format!("{layout:?} {fault}: {verdict}"));
                    continue;
                };
                assert_eq!(captured.text.as_str(), PLAN, "{layout:?} {fault}");
            }
        }
    });
    assert!(failed.is_empty(), "{failed:#?}");
}

/// Faults after which no reply, or not the whole of it, can be had: each has its
/// own verdict, at once or when its limit has passed.
#[test]
fn what_cannot_be_proven_says_why() {
    let cases = [
        ("continue-generating", "", "E_TRUNCATED"),
        ("two-replies", "text = \"Another one.\"", "E_INTERFERENCE"),
        (
            "foreign-user-turn",
            "text = \"Never mind.\"\nat = 50",
            "E_INTERFERENCE",
        ),
        ("navigate-away", "", "E_CONVERSATION"),
        ("capacity", "", "E_CAPACITY"),
        ("retry-card", "", "E_PAGE_FAILED"),
        ("retry-card-silent", "", "E_PAGE_FAILED"),
        ("no-bar", "", "E_CAPTURE"),
        ("stream-cut", "", "E_CAPTURE"),
        ("no-reply", "", "E_CAPTURE"),
        ("server-error", "", "E_PAGE_FAILED"),
    ];
    let browser = Browser::new();
    let mut failed = Vec::new();
    runtime().block_on(async {
        for layout in LAYOUTS {
            for (fault, more, code) in cases {
                let step = match fault {
                    "foreign-user-turn" => "any.streaming",
                    "capacity" => "any.accepted",
                    _ => "any",
                };
                let mut case = Play::new(layout, PLAN, "").fault(&format!(
                    "[[fault]]\nfault = \"{fault}\"\nstep = \"{step}\"\n{more}\n"
                ));
                case.limits.reply_streaming_ms = 4_000;
                case.limits.reply_thinking_ms = 4_000;
                let (verdict, _) = play(&browser, &case, Duration::from_secs(15)).await;
                if verdict.code() != Some(code) {
                    failed.push(format!("{layout:?} {fault}: {verdict}"));
                }
            }
        }
    });
    assert!(failed.is_empty(), "{failed:#?}");
}

/// The reply can be had, but not from every source.
#[test]
fn sources_that_are_lacking_or_lie_are_weighed() {
    let cases = [
        ("no-end-marks", "any", "", EndWitness::FenceClosed),
        ("dom-empty", "any", "", EndWitness::StreamDone),
        (
            "editor-virtualised",
            "any",
            "len = 3",
            EndWitness::StreamDone,
        ),
    ];
    let browser = Browser::new();
    let mut failed = Vec::new();
    runtime().block_on(async {
        for layout in LAYOUTS {
            for (fault, step, more, end) in cases {
                let mut case = Play::new(layout, PLAN, "").fault(&format!(
                    "[[fault]]\nfault = \"{fault}\"\nstep = \"{step}\"\n{more}\n"
                ));
                case.code = Some(CodeForm::Editor);
                let (verdict, _) = play(&browser, &case, Duration::from_secs(15)).await;
                let right = matches!(&verdict, Verdict::Complete(captured)
                    if captured.text.as_str() == PLAN
                        && captured.end == end
                        && captured.agreed.contains(&Source::Copy));
                if !right {
                    failed.push(format!("{layout:?} {fault}: {verdict}"));
                }
            }
            // A copy that gives other text, where it is needed, is doubted.
            for fault in ["copy-short", "copy-other"] {
                let mut case = Play::new(layout, PLAN, "").fault(&format!(
                    "[[fault]]\nfault = \"{fault}\"\nstep = \"any\"\n[[fault]]\nfault = \"dom-empty\"\nstep = \"any\"\n"
                ));
                case.limits.reply_streaming_ms = 4_000;
                let (verdict, _) = play(&browser, &case, Duration::from_secs(15)).await;
                if verdict.code() != Some("E_SOURCE_UNCERTAIN") {
                    failed.push(format!("{layout:?} {fault}: {verdict}"));
                }
            }
        }
    });
    assert!(failed.is_empty(), "{failed:#?}");
}

/// The stream breaks off while the server finishes the reply: what the page
/// itself fetches after a reload says so, and is the text.
//= spec C2 type=test
#[test]
fn the_pages_own_data_prove_a_reply_whose_stream_was_lost() {
    let browser = Browser::new();
    let mut failed = Vec::new();
    runtime().block_on(async {
        for layout in LAYOUTS {
            let case = Play::new(layout, PROSE, "")
                .fault("[[fault]]\nfault = \"stream-drop\"\nstep = \"any\"\n");
            let mut page = Page::open(&browser, &case).await;
            let mut evidence = page.send(MESSAGE, Anchor::Empty).await;
            let verdict = page
                .follow(&mut evidence, &case.limits, Duration::from_secs(3))
                .await;
            // A slow page may not have had the stream's head yet, and then says that it failed.
            let waits = matches!(verdict, Verdict::NotYet(_) | Verdict::PageFailed(_));
            assert!(waits, "{verdict}");
            page.ask(Ask::Reload).await;
            let verdict = page.follow(&mut evidence, &case.limits, PATIENCE).await;
            page.close().await;
            let right = matches!(&verdict, Verdict::Complete(captured)
                if captured.text.as_str() == PROSE
                    && captured.end == EndWitness::PageData
                    && captured.agreed == [Source::Data, Source::Reread]);
            if !right {
                failed.push(format!("{layout:?}: {verdict}"));
            }
            // The same without a reload, where the page fetches of itself.
            let case = Play::new(layout, PROSE, "").fault(
                "[[fault]]\nfault = \"no-end-marks\"\nstep = \"any\"\n\
                 [[fault]]\nfault = \"history-refetched\"\nstep = \"any\"\n",
            );
            let (verdict, _) = play(&browser, &case, PATIENCE).await;
            let right = matches!(&verdict, Verdict::Complete(captured)
                if captured.text.as_str() == PROSE && captured.end == EndWitness::PageData);
            if !right {
                failed.push(format!("{layout:?} without a reload: {verdict}"));
            }
        }
    });
    assert!(failed.is_empty(), "{failed:#?}");
}

/// Its frames are decoded like a stream; nothing has to be pressed for it.
#[test]
fn a_reply_by_web_socket_is_proven_by_its_frames() {
    let browser = Browser::new();
    runtime().block_on(async {
        for layout in LAYOUTS {
            for mode in ["delta", "cumulative"] {
                let stream = format!("[stream]\nmode = \"{mode}\"\n");
                let case = Play::new(layout, PROSE, &stream)
                    .fault("[[fault]]\nfault = \"web-socket-reply\"\nstep = \"any\"\n");
                let (verdict, _) = play(&browser, &case, PATIENCE).await;
                let captured = captured(&verdict);
                assert_eq!(captured.text.as_str(), PROSE, "{layout:?} {mode}");
                assert_eq!(captured.end, EndWitness::StreamDone);
                assert_eq!(captured.agreed, [Source::Stream, Source::Dom]);
            }
        }
    });
}

#[test]
fn a_page_that_reloads_in_mid_stream_is_read_again() {
    let browser = Browser::new();
    runtime().block_on(async {
        for layout in LAYOUTS {
            let case = Play::new(layout, PLAN, "[stream]\nframe_chars = 4\nframe_ms = 40\n")
                .fault("[[fault]]\nfault = \"page-reload\"\nstep = \"any.streaming\"\nat = 40\n");
            let (verdict, _) = play(&browser, &case, PATIENCE).await;
            let captured = captured(&verdict);
            assert_eq!(captured.text.as_str(), PLAN, "{layout:?}");
            assert_eq!(captured.agreed, [Source::Copy, Source::Reread]);
        }
    });
}

/// 200,000 characters, of which each takes up to three bytes.
#[test]
fn a_very_long_reply_is_captured_whole() {
    let browser = Browser::new();
    let line = "  - 一行 of the plan, with `code` and more words to fill it.\n";
    let body = line.repeat(200_000 / line.chars().count());
    let text = format!("```text\n{body}```");
    runtime().block_on(async {
        for layout in LAYOUTS {
            let case = Play::new(layout, &text, "[stream]\nframe_chars = 20000\n");
            let (verdict, _) = play(&browser, &case, PATIENCE).await;
            let captured = captured(&verdict);
            assert!(captured.text.as_str() == text, "{layout:?}");
        }
    });
}
