//! Fidelity of the text (cases f): sources are weighed, and what differs is said.

use protocol::page::{Block, Inline};
use protocol::reply::{Source, Verdict, Warning};

use crate::scene::{PLAN, Scene};
use crate::{check, is_complete, ordinary};

fn captured(scene: &Scene) -> protocol::reply::Captured {
    match scene.verdict() {
        Verdict::Complete(captured) => captured,
        other => panic!("{other}"),
    }
}

#[test]
fn f1_f2_code_in_either_structure_is_the_same_text() {
    for partial in [true, false] {
        let mut scene = ordinary(PLAN);
        if let Some(Block::Code { partial: it, .. }) = scene
            .reply()
            .blocks
            .as_mut()
            .and_then(|blocks| blocks.first_mut())
        {
            *it = partial;
        }
        scene.events.pop();
        scene.see().after(300).see();
        assert_eq!(captured(&scene).text.as_str(), PLAN);
    }
}

//= spec W4 type=test
#[test]
fn f3_prose_of_every_kind_agrees_with_its_source() {
    let text = "Use `cargo *test*` and *see*:\n\n- one\n  - two\n";
    let t = |v: &str| Inline::Text { v: v.into() };
    let item = |v: &str| Block::Paragraph { c: vec![t(v)] };
    let mut scene = ordinary(text);
    scene.reply().blocks = Some(vec![
        Block::Paragraph {
            c: vec![
                t("Use "),
                Inline::Code {
                    v: "cargo *test*".into(),
                },
                t(" and "),
                Inline::Emph { c: vec![t("see")] },
                t(":"),
            ],
        },
        Block::List {
            start: None,
            tight: true,
            items: vec![vec![
                item("one"),
                Block::List {
                    start: None,
                    tight: true,
                    items: vec![vec![item("two")]],
                },
            ]],
        },
    ]);
    scene.events.pop();
    scene.see().after(300).see();
    assert_eq!(captured(&scene).text.as_str(), text);
}

#[test]
fn f4_citation_marks_are_kept_out_and_told() {
    let raw = "See it\u{e200}cite\u{e202}turn0search1\u{e201} there.\n";
    let clean = "See it there.\n";
    let mut scene = Scene::new();
    scene.after(40).send();
    scene
        .after(100)
        .stream_to(raw, raw.chars().count())
        .stream_end();
    scene.finish(clean).see().after(300).see();
    let captured = captured(&scene);
    assert_eq!(captured.text.as_str(), clean);
    assert_eq!(captured.warnings, [Warning::CitationMarks { count: 1 }]);
    check("f4", &scene, clean);
}

#[test]
fn f5_mathematics_counts_once_by_its_source() {
    let text = "So \\(x^2\\) it is.\n";
    let t = |v: &str| Inline::Text { v: v.into() };
    let mut scene = ordinary(text);
    scene.reply().blocks = Some(vec![Block::Paragraph {
        c: vec![
            t("So "),
            Inline::Math {
                source: "x^2".into(),
                display: false,
            },
            t(" it is."),
        ],
    }]);
    scene.events.pop();
    scene.see().after(300).see();
    assert_eq!(captured(&scene).text.as_str(), text);
}

//= spec C3 type=test
#[test]
fn f6_a_copy_with_extra_notes_makes_the_source_uncertain() {
    let mut scene = ordinary(PLAN);
    scene
        .after(250)
        .see()
        .copied(&format!("{PLAN}\nInternal note.\n"));
    let Verdict::SourceUncertain(what) = scene.verdict() else {
        panic!("{}", scene.verdict());
    };
    assert_eq!((what.one, what.other), (Source::Stream, Source::Copy));
    scene.after(300).see();
    assert!(matches!(scene.verdict(), Verdict::SourceUncertain(_)));
    check("f6", &scene, PLAN);
}

//= spec C3 type=test
#[test]
fn a_copy_that_gives_half_makes_the_source_uncertain() {
    let mut scene = ordinary(PLAN);
    scene.after(250).see().copied(&PLAN[..PLAN.len() / 2]);
    assert!(matches!(scene.verdict(), Verdict::SourceUncertain(_)));
}

#[test]
fn f7_two_code_blocks_are_both_captured() {
    let text = format!("{PLAN}\n```sh\nls\n```\n");
    let mut scene = ordinary(&text);
    scene.after(300).see();
    assert_eq!(captured(&scene).text.as_str(), text);
    check("f7", &scene, &text);
}

//= spec C3 type=test
#[test]
fn another_text_in_the_page_is_doubted_after_the_long_quiet() {
    let mut scene = ordinary(PLAN);
    scene.finish("```text\nsomething else\n```\n").see();
    scene.after(1_499).see();
    assert!(
        matches!(scene.verdict(), Verdict::NotYet(_)),
        "{}",
        scene.verdict()
    );
    scene.after(1).see();
    assert!(matches!(scene.verdict(), Verdict::SourceUncertain(_)));
}

#[test]
fn an_editor_that_shows_some_lines_counts_for_nothing() {
    let mut scene = ordinary(PLAN);
    scene.reply().blocks = Some(vec![Block::Code {
        lang: None,
        text: "# PLAN pi-bridge/1\nDECISION: continue".into(),
        partial: true,
    }]);
    scene.events.pop();
    scene.see().after(300).see();
    assert!(!is_complete(&scene.verdict()));
    scene.copied(PLAN);
    let captured = captured(&scene);
    assert_eq!(captured.agreed, [Source::Stream, Source::Copy]);
    assert_eq!(
        captured.warnings,
        [Warning::Partial {
            source: Source::Dom
        }]
    );
    check("editor-partial", &scene, PLAN);
}

#[test]
fn a_copy_of_another_turn_or_in_mid_reply_is_no_source() {
    let mut scene = ordinary(PLAN);
    scene
        .after(250)
        .see()
        .copied_of("a0", "other")
        .after(50)
        .see();
    assert!(is_complete(&scene.verdict()), "{}", scene.verdict());
    let mut early = Scene::new();
    early
        .after(40)
        .send()
        .stream_to(PLAN, 30)
        .show(PLAN, 30)
        .see();
    early
        .copied("half")
        .stream_to(PLAN, PLAN.len())
        .stream_end();
    early.finish(PLAN).see().after(300).see();
    assert!(is_complete(&early.verdict()), "{}", early.verdict());
}
