use protocol::page::{Block, Inline};

use super::*;

fn text(v: &str) -> Inline {
    Inline::Text { v: v.into() }
}

fn paragraph(v: &str) -> Block {
    Block::Paragraph { c: vec![text(v)] }
}

fn code(v: &str, partial: bool) -> Block {
    Block::Code {
        lang: Some("text".into()),
        text: v.into(),
        partial,
    }
}

fn relation(a: &str, b: &str) -> Relation {
    form_of_markdown(a).relation(&form_of_markdown(b))
}

//= spec C9 type=test
#[test]
fn line_ends_soft_breaks_and_no_break_spaces_make_no_difference() {
    for (a, b) in [
        ("one\ntwo", "one two"),
        ("one\r\n\r\ntwo", "one\n\ntwo"),
        ("one\u{a0}two", "one two"),
        ("a *b* c", "a _b_ c"),
        ("- a\n- b", "* a\n\n* b"),
        ("```rust\nx\n```", "~~~\nx\n~~~"),
        ("```\na\r\nb\r\n```", "```\na\nb\n```"),
        ("<https://e.org>", "https://e.org"),
        ("a  \nb", "a\\\nb"),
    ] {
        assert_eq!(relation(a, b), Relation::Equal, "{a:?} {b:?}");
    }
}

//= spec C9 type=test
#[test]
fn code_is_compared_to_the_byte() {
    for (a, b) in [
        ("```\na \n```", "```\na\n```"),
        ("```\na\tb\n```", "```\na b\n```"),
        ("```\na\u{a0}b\n```", "```\na b\n```"),
        ("```\na\n\n```", "```\na\n```"),
        ("`a  b`", "`a b`"),
    ] {
        assert_ne!(relation(a, b), Relation::Equal, "{a:?} {b:?}");
    }
}

#[test]
fn structure_counts_and_not_only_letters() {
    for (a, b) in [
        ("# a", "a"),
        ("- a", "a"),
        ("> a", "a"),
        ("*a*", "a"),
        ("a\n\nb", "a b"),
        ("1. a", "2. a"),
        ("[a](x)", "[a](y)"),
        ("a  \nb", "a b"),
    ] {
        assert_ne!(relation(a, b), Relation::Equal, "{a:?} {b:?}");
    }
}

#[test]
fn a_head_is_behind_and_another_text_differs() {
    assert_eq!(relation("one two", "one two three"), Relation::Behind);
    assert_eq!(relation("one\n\ntw", "one\n\ntwo"), Relation::Behind);
    assert_eq!(relation("", "one"), Relation::Behind);
    assert_eq!(relation("```\na\n```", "```\na\nb\n```"), Relation::Behind);
    assert_eq!(
        relation("one two three", "one two"),
        Relation::Differ { at: 1 }
    );
    assert_eq!(relation("one", "other"), Relation::Differ { at: 1 });
}

#[test]
fn what_the_page_shows_equals_its_source() {
    let source = "Plan for *you*:\n\n```text\na\n  b\n```\n\n1. x `y`\n   - z\n";
    let shown = [
        Block::Paragraph {
            c: vec![
                text("Plan for "),
                Inline::Emph {
                    c: vec![text("you")],
                },
                text(":"),
            ],
        },
        code("a\n  b", true),
        Block::List {
            start: Some(1),
            tight: true,
            items: vec![vec![
                Block::Paragraph {
                    c: vec![text("x "), Inline::Code { v: "y".into() }],
                },
                Block::List {
                    start: None,
                    tight: true,
                    items: vec![vec![paragraph("z")]],
                },
            ]],
        },
    ];
    let shown = form_of_blocks(&shown);
    assert_eq!(
        shown.relation(&form_of_markdown(source)),
        Relation::Equal,
        "{:?}\n{:?}",
        shown.pieces,
        form_of_markdown(source).pieces
    );
}

#[test]
fn an_editor_that_keeps_some_lines_is_partial_and_another_block_is_not() {
    let whole = form_of_markdown("```\n1\n2\n3\n4\n```\n\nend");
    let some = |v| form_of_blocks(&[code(v, true), paragraph("end")]).relation(&whole);
    assert_eq!(some("1\n2\n3\n4"), Relation::Equal);
    assert_eq!(some("1\n2"), Relation::Partial);
    assert_eq!(some("2\n4"), Relation::Partial);
    assert!(matches!(some("1\n5"), Relation::Differ { .. }));
    let plain = form_of_blocks(&[code("2\n4", false), paragraph("end")]);
    assert!(matches!(plain.relation(&whole), Relation::Differ { .. }));
}

#[test]
fn mathematics_is_equal_by_its_source_in_either_notation() {
    let shown = form_of_blocks(&[
        Block::Paragraph {
            c: vec![
                text("so "),
                Inline::Math {
                    source: "a_{1}^2".into(),
                    display: false,
                },
            ],
        },
        Block::Math {
            source: "\\frac{a}{b}".into(),
        },
    ]);
    for source in [
        "so \\(a_{1}^2\\)\n\n\\[\n\\frac{a}{b}\n\\]",
        "so $a_{1}^2$\n\n$$\n\\frac{a}{b}\n$$",
    ] {
        let form = form_of_markdown(source);
        assert_eq!(shown.relation(&form), Relation::Equal, "{source}");
    }
}

#[test]
fn a_formula_on_a_line_of_its_own_within_a_paragraph_is_of_that_paragraph() {
    let shown = form_of_blocks(&[Block::Paragraph {
        c: vec![
            text("so "),
            Inline::Math {
                source: "x^2".into(),
                display: true,
            },
            text(" holds"),
        ],
    }]);
    for source in [
        "so \\[ x^2 \\] holds",
        "so\n\\[\nx^2\n\\]\nholds",
        "so $$x^2$$ holds",
    ] {
        let form = form_of_markdown(source);
        assert_eq!(shown.relation(&form), Relation::Equal, "{source}");
    }
}

#[test]
fn a_break_in_a_cell_is_one_whether_the_page_breaks_or_shows_it() {
    let source = "| a |\n|---|\n| x<br>y <br/> z |";
    let cell = |c| {
        let head = vec![vec![text("a")]];
        form_of_blocks(&[Block::Table {
            align: vec![],
            rows: vec![head, vec![c]],
        }])
    };
    let broken = vec![
        text("x"),
        Inline::Break,
        text("y "),
        Inline::Break,
        text(" z"),
    ];
    let literal = vec![text("x<br>y <br/> z")];
    for shown in [cell(broken), cell(literal)] {
        assert_eq!(shown.relation(&form_of_markdown(source)), Relation::Equal);
    }
}

#[test]
fn money_is_not_mathematics() {
    let shown = form_of_blocks(&[paragraph("from $5/$6 to $7")]);
    assert_eq!(
        shown.relation(&form_of_markdown("from $5/$6 to $7")),
        Relation::Equal
    );
}

#[test]
fn a_single_tilde_strikes_nothing_out() {
    let shown = form_of_blocks(&[paragraph("about ~10~20 of them")]);
    assert_eq!(
        shown.relation(&form_of_markdown("about ~10~20 of them")),
        Relation::Equal
    );
    assert_ne!(relation("~~a~~", "~a~"), Relation::Equal);
}
