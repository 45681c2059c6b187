//! Composing on the real editor, in both layouts: exact, or refused.
#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm, reason = "tests")]

mod browser_support;

use browser_support::{LAYOUTS, Stage};
use protocol::page::{Anchor, Answer, Click, Composed, Refusal};

/// Texts that editors are known to spoil.
fn hard_texts() -> Vec<(&'static str, String)> {
    let long: String = (0..1_500)
        .map(|n| {
            format!(
                "第 {n} 行: the quick brown fox 👩‍👩‍👧\t{}\n",
                "x".repeat(n % 20)
            )
        })
        .collect();
    vec![
        ("one word", "word".to_owned()),
        ("blank lines", "a\n\n\nb\n\n\n\nc".to_owned()),
        ("blank edges", "\n\n a \n\n".to_owned()),
        (
            "trailing and leading blanks",
            "  two  \n\ttab\t\n   \n \t \nend   ".to_owned(),
        ),
        (
            "cjk and full-width space",
            "请求：修复\u{3000}加法。\n「引号」".to_owned(),
        ),
        ("emoji", "👩‍👩‍👧‍👦 🏳️‍🌈 👍🏽 e\u{301} 🇩🇪".to_owned()),
        (
            "right to left",
            "שלום \u{202b}עולם\u{202c} مرحبا\u{200f}!\u{200e}".to_owned(),
        ),
        (
            "markdown",
            "# HELLO\n* a\n1. b\n```rust\nlet x = 1;\n```\n> q\n---\n**b** `c` [d](e)".to_owned(),
        ),
        (
            "html",
            "<b>x</b> &amp; &lt; <!-- c --> <script>alert(1)</script>\n<p>&nbsp;</p>".to_owned(),
        ),
        (
            "odd spaces",
            "a\u{a0}b\u{2009}c\u{200b}d\u{feff}e\u{2028}f\u{2029}g\u{85}h".to_owned(),
        ),
        (
            "control characters",
            "a\u{1}b\u{b}c\u{c}d\u{1b}[0me\u{7f}".to_owned(),
        ),
        (
            "five thousand lines",
            "x\n\n".repeat(2_499) + "\tlast but one\nlast  ",
        ),
        ("two equal lines", "same\nsame\nsame".to_owned()),
        (
            "sixty thousand characters",
            long.chars().take(60_000).collect(),
        ),
        (
            "the longest message there is",
            long.repeat(4).chars().take(200_000).collect(),
        ),
    ]
}

//= spec S2 type=test
#[tokio::test]
async fn every_text_is_read_back_equal_and_cleared_again() {
    for layout in LAYOUTS {
        let mut stage = Stage::set(layout, &[]).await;
        for (name, text) in hard_texts() {
            let composed = Answer::Composed(Composed {
                chars: u32::try_from(text.chars().count()).unwrap(),
                how: "paste".to_owned(),
                cleared: false,
            });
            let answer = stage.compose(&text, &Anchor::Empty, &[]).await;
            assert_eq!(answer, composed, "{name} in {layout:?}");
            assert_eq!(stage.clear(&[&text]).await, Answer::Done, "{name}");
        }
        stage.strike().await;
    }
}

#[tokio::test]
async fn what_the_server_receives_is_what_was_composed() {
    for layout in LAYOUTS {
        let mut stage = Stage::set(layout, &[]).await;
        let mut sent = Vec::new();
        for (name, text) in hard_texts() {
            let (anchor, _) = stage.anchor().await;
            // CRLF is what becomes LF, and the only change there is.
            let typed = text.replace('\n', "\r\n");
            let answer = stage.compose(&typed, &anchor, &[]).await;
            assert!(matches!(answer, Answer::Composed(_)), "{name}: {answer:?}");
            let answer = stage.submit(&typed, &anchor).await;
            assert_eq!(answer, Answer::Submitted(Click::Passed), "{name}");
            stage.reply().await;
            sent.push(text);
            assert_eq!(stage.received(), sent, "{name} in {layout:?}");
        }
        stage.strike().await;
    }
}

//= spec S7 type=test
#[tokio::test]
async fn a_foreign_draft_stays_as_it_is() {
    for layout in LAYOUTS {
        let draft = r#"{"fault":"old-draft","text":"mine, not yours"}"#;
        let mut stage = Stage::set(layout, &[("load", draft)]).await;
        stage.ends.look(|l| l.composer.draft.chars == 15).await;
        let refused = Answer::Refused(Refusal::ForeignDraft { chars: 15 });
        let answer = stage.compose("a text", &Anchor::Empty, &["another"]).await;
        assert_eq!(answer, refused);
        assert_eq!(stage.clear(&["a text", "another"]).await, refused);
        let look = stage.ends.look(|_| true).await;
        assert_eq!(look.composer.draft.head.as_str(), "mine, not yours");
        stage.strike().await;
    }
}

//= spec S7 type=test
#[tokio::test]
async fn a_stale_draft_of_ours_is_cleared_before_typing() {
    for layout in LAYOUTS {
        let draft = r##"{"fault":"old-draft","text":"# ROUND pi-bridge/1\n\nFRAME: s"}"##;
        let mut stage = Stage::set(layout, &[("load", draft)]).await;
        stage.ends.look(|l| l.composer.draft.chars == 29).await;
        let ours = "# ROUND pi-bridge/1  \n\n\nFRAME: s=1\nthe rest";
        let answer = stage.compose("# RESUME", &Anchor::Empty, &[ours]).await;
        let Answer::Composed(composed) = answer else {
            panic!("{answer:?}")
        };
        assert!(composed.cleared && composed.chars == 8);
        stage.strike().await;
    }
}

#[tokio::test]
async fn a_composer_that_cuts_the_text_is_found_out_and_left_empty() {
    for layout in LAYOUTS {
        let cut = r#"{"fault":"composer-truncates","len":5000,"times":0}"#;
        let mut stage = Stage::set(layout, &[("any.composing", cut)]).await;
        let text = "0123456789abcde\n".repeat(400);
        let answer = stage.compose(&text, &Anchor::Empty, &[]).await;
        let Answer::Refused(Refusal::ReadBack { wanted, got, line }) = answer else {
            panic!("{answer:?}")
        };
        assert_eq!((wanted, got, line), (6_400, 5_000, 313));
        stage.ends.look(|l| l.composer.draft.chars == 0).await;
        assert_eq!(stage.received(), Vec::<String>::new());
        stage.strike().await;
    }
}

/// What stands in the composer's place then is not ours to take away: nothing is
/// typed beside it, and nothing is ever submitted with it.
#[tokio::test]
async fn a_text_that_becomes_an_attachment_is_noticed_and_nothing_is_sent_with_it() {
    for layout in LAYOUTS {
        let attaches = r#"{"fault":"composer-attaches","len":5000}"#;
        let mut stage = Stage::set(layout, &[("any.composing", attaches)]).await;
        let text = "0123456789abcde\n".repeat(400);
        let answer = stage.compose(&text, &Anchor::Empty, &[]).await;
        assert_eq!(answer, Answer::Refused(Refusal::BecameAttachment));
        let look = stage.ends.look(|l| l.composer.attachments == 1).await;
        assert_eq!(look.composer.draft.chars, 0);
        let answer = stage.submit(&text, &Anchor::Empty).await;
        assert!(matches!(answer, Answer::Refused(_)), "{answer:?}");
        let answer = stage.compose("short", &Anchor::Empty, &[&text]).await;
        assert_eq!(answer, Answer::Refused(Refusal::ForeignDraft { chars: 0 }));
        assert_eq!(stage.received(), Vec::<String>::new());
        stage.strike().await;
    }
}

/// A process that died while it typed: what stands there is the beginning of a
/// text of ours, however short, and the same text is typed anew.
//= spec S7 type=test
#[tokio::test]
async fn a_half_typed_draft_of_ours_is_cleared_and_the_text_typed_whole() {
    let text = "# ROUND pi-bridge/1\nFRAME: s=1\n\n请求：修复加法 👩‍👩‍👧 מימין";
    let half: Vec<usize> = (1..text.len())
        .filter(|at| text.is_char_boundary(*at))
        .step_by(17)
        .collect();
    for (layout, part) in LAYOUTS.into_iter().cycle().zip(half) {
        let draft = serde_json::json!({ "fault": "old-draft", "text": &text[..part] });
        let mut stage = Stage::set(layout, &[("load", &draft.to_string())]).await;
        stage.ends.look(|l| l.composer.draft.chars > 0).await;
        let answer = stage.compose(text, &Anchor::Empty, &[]).await;
        let Answer::Composed(composed) = answer else {
            panic!("{part} bytes: {answer:?}")
        };
        assert!(composed.cleared, "{part} bytes");
        assert_eq!(
            stage.submit(text, &Anchor::Empty).await,
            Answer::Submitted(Click::Passed)
        );
        stage.reply().await;
        assert_eq!(stage.received(), [text], "{part} bytes");
        stage.strike().await;
    }
}

#[tokio::test]
async fn what_cannot_be_typed_is_refused_before_anything_is_touched() {
    let mut stage = Stage::set(LAYOUTS[0], &[]).await;
    for (text, line) in [("a\n\0b", 2), ("a\rb", 1)] {
        let answer = stage.compose(text, &Anchor::Empty, &[]).await;
        assert!(
            matches!(answer, Answer::Refused(Refusal::ReadBack { got: 0, line: l, .. }) if l == line),
            "{answer:?}"
        );
    }
    let long = "x".repeat(200_001);
    let answer = stage.compose(&long, &Anchor::Empty, &[]).await;
    assert_eq!(answer, Answer::Refused(Refusal::TooLong { max: 200_000 }));
    stage.ends.look(|l| l.composer.draft.chars == 0).await;
    stage.strike().await;
}
