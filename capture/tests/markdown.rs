//! Block trees become Markdown that means the same: generated trees are read
//! back by a CommonMark parser, and every construct is met.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::cell::RefCell;
use std::collections::BTreeMap;

use capture::compare::{Relation, form_of_blocks, form_of_markdown};
use capture::markdown::{markdown_of_blocks, unknown_tags};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use protocol::page::{Align, Block, Inline};

fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-zA-Z]{1,8}",
        2 => r"[-+*_#>=~`|\\!\[\]()<>&$.:;,'{}^@/\u0022 ]{1,4}",
        1 => "[0-9]{1,3}[.)]",
        1 => "中文|“重点”|émoji 🎉|\u{a0}|&amp;|<br>|https://e\\.org|# |- |1\\. |\\|",
    ]
}

fn text() -> impl Strategy<Value = String> {
    proptest::collection::vec(word(), 1..5).prop_map(|words| words.join(" "))
}

fn code_text() -> impl Strategy<Value = String> {
    "[a-z`~ |\\\\*\t]{1,10}"
}

fn tex() -> impl Strategy<Value = String> {
    "[a-z]{1,2}\\^[0-9]|x_\\{[a-z]\\}|\\\\frac\\{a\\}\\{b\\}|[a-z] \\+ [a-z]"
}

fn inline() -> impl Strategy<Value = Inline> {
    let leaf = prop_oneof![
        5 => text().prop_map(|v| Inline::Text { v }),
        2 => code_text().prop_map(|v| Inline::Code { v }),
        1 => (tex(), any::<bool>()).prop_map(|(source, display)| Inline::Math { source, display }),
        1 => Just(Inline::Break),
        1 => ("[a-z/.:%&()]{1,12}", "[a-z \\[\\]]{0,8}")
            .prop_map(|(src, alt)| Inline::Image { src, alt }),
        1 => text().prop_map(|text| Inline::Unknown { tag: "kbd".into(), text }),
    ];
    leaf.prop_recursive(2, 12, 3, |inner| {
        let c = proptest::collection::vec(inner, 1..3);
        prop_oneof![
            c.clone().prop_map(|c| Inline::Emph { c: spaced(c) }),
            c.clone().prop_map(|c| Inline::Strong { c: spaced(c) }),
            c.clone().prop_map(|c| Inline::Strike { c: spaced(c) }),
            (c, "[a-z/.:%&()#?=]{1,12}").prop_map(|(c, href)| Inline::Link {
                href,
                title: None,
                c: spaced(c),
            }),
        ]
    })
}

/// Spans, code and links with words between them, as a page shows them. What
/// Markdown cannot say (a span that begins with white space, a break at an
/// edge, a link in a link) is left out.
fn spaced(c: Vec<Inline>) -> Vec<Inline> {
    let mut out = vec![Inline::Text { v: "a".into() }];
    for one in c {
        out.push(Inline::Text { v: " ".into() });
        out.push(one);
        out.push(Inline::Text { v: " b".into() });
    }
    out
}

fn without(c: Vec<Inline>, links: bool, breaks: bool) -> Vec<Inline> {
    c.into_iter()
        .filter_map(|one| {
            Some(match one {
                Inline::Break if !breaks => return None,
                Inline::Link { c, .. } if !links => Inline::Emph {
                    c: without(c, false, breaks),
                },
                Inline::Link { href, title, c } => Inline::Link {
                    href,
                    title,
                    c: without(c, false, breaks),
                },
                Inline::Emph { c } => Inline::Emph {
                    c: without(c, links, breaks),
                },
                Inline::Strong { c } => Inline::Strong {
                    c: without(c, links, breaks),
                },
                Inline::Strike { c } => Inline::Strike {
                    c: without(c, links, breaks),
                },
                other @ (Inline::Text { .. }
                | Inline::Code { .. }
                | Inline::Image { .. }
                | Inline::Math { .. }
                | Inline::Break
                | Inline::Unknown { .. }) => other,
            })
        })
        .collect()
}

fn run(breaks: bool) -> impl Strategy<Value = Vec<Inline>> {
    proptest::collection::vec(inline(), 1..4).prop_map(move |c| without(spaced(c), true, breaks))
}

fn block() -> impl Strategy<Value = Block> {
    let cell = run(false).boxed();
    let table = (1usize..4, 1usize..4)
        .prop_flat_map(move |(columns, rows)| {
            let row = proptest::collection::vec(cell.clone(), columns..=columns);
            (
                proptest::collection::vec(
                    prop_oneof![
                        Just(Align::None),
                        Just(Align::Left),
                        Just(Align::Center),
                        Just(Align::Right)
                    ],
                    columns..=columns,
                ),
                proptest::collection::vec(row, rows..=rows),
            )
        })
        .prop_map(|(align, rows)| Block::Table { align, rows });
    let leaf = prop_oneof![
        4 => run(true).prop_map(|c| Block::Paragraph { c }),
        1 => (1u8..7, run(false)).prop_map(|(level, c)| Block::Heading { level, c }),
        2 => (proptest::option::of("[a-z+]{1,5}"), "([a-z`~>#\\- \t|]{0,12}\n?){0,5}").prop_map(
            |(lang, text)| Block::Code { lang, text, partial: false }
        ),
        1 => table,
        1 => tex().prop_map(|source| Block::Math { source }),
        1 => Just(Block::Rule),
        1 => text().prop_map(|text| Block::Unknown { tag: "aside".into(), text }),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        let blocks = proptest::collection::vec(inner, 1..4);
        let items = proptest::collection::vec(blocks.clone(), 1..4);
        prop_oneof![
            blocks.prop_map(|c| Block::Quote { c }),
            (proptest::option::of(0u32..100), items, any::<bool>()).prop_map(
                |(start, items, tight)| Block::List {
                    start,
                    items,
                    tight
                }
            ),
        ]
    })
}

type Counts = BTreeMap<&'static str, u32>;

fn count(blocks: &[Block], counts: &mut Counts) {
    for block in blocks {
        let name = match block {
            Block::Paragraph { c } => {
                count_inlines(c, counts);
                "paragraph"
            }
            Block::Heading { c, .. } => {
                count_inlines(c, counts);
                "heading"
            }
            Block::List { items, start, .. } => {
                for item in items {
                    count(item, counts);
                    if item.iter().any(|one| matches!(one, Block::List { .. })) {
                        *counts.entry("nested list").or_default() += 1;
                    }
                }
                if start.is_some() {
                    "numbers"
                } else {
                    "bullets"
                }
            }
            Block::Quote { c } => {
                count(c, counts);
                "quote"
            }
            Block::Code { .. } => "code block",
            Block::Table { rows, .. } => {
                for cell in rows.iter().flatten() {
                    count_inlines(cell, counts);
                }
                "table"
            }
            Block::Math { .. } => "display math",
            Block::Rule => "rule",
            Block::Unknown { .. } => "unknown block",
        };
        *counts.entry(name).or_default() += 1;
    }
}

fn count_inlines(inlines: &[Inline], counts: &mut Counts) {
    for inline in inlines {
        let name = match inline {
            Inline::Text { .. } => "text",
            Inline::Code { .. } => "code",
            Inline::Emph { c } => {
                count_inlines(c, counts);
                "emphasis"
            }
            Inline::Strong { c } => {
                count_inlines(c, counts);
                "strong"
            }
            Inline::Strike { c } => {
                count_inlines(c, counts);
                "strike"
            }
            Inline::Link { c, .. } => {
                count_inlines(c, counts);
                "link"
            }
            Inline::Image { .. } => "image",
            Inline::Math { .. } => "math",
            Inline::Break => "break",
            Inline::Unknown { .. } => "unknown",
        };
        *counts.entry(name).or_default() += 1;
    }
}

//= spec C9 type=test
#[test]
fn generated_trees_read_back_as_themselves_and_every_construct_is_met() {
    let counts = RefCell::new(Counts::new());
    let config = Config {
        cases: 400,
        failure_persistence: None,
        ..Config::default()
    };
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let blocks = proptest::collection::vec(block(), 1..5);
    runner
        .run(&blocks, |blocks| {
            count(&blocks, &mut counts.borrow_mut());
            let source = markdown_of_blocks(&blocks);
            let relation = form_of_blocks(&blocks).relation(&form_of_markdown(&source));
            prop_assert_eq!(relation, Relation::Equal, "{}", source);
            Ok(())
        })
        .unwrap();
    let counts = counts.into_inner();
    assert_eq!(counts.len(), 21, "{counts:#?}");
    assert!(counts.values().all(|met| *met > 20), "{counts:#?}");
}

#[test]
fn what_a_page_shows_is_written_as_a_person_would() {
    let t = |v: &str| Inline::Text { v: v.into() };
    let p = |v: &str| Block::Paragraph { c: vec![t(v)] };
    let blocks = [
        Block::Heading {
            level: 2,
            c: vec![t("Steps")],
        },
        Block::List {
            start: Some(3),
            tight: true,
            items: vec![
                vec![
                    p("first"),
                    Block::List {
                        start: None,
                        tight: true,
                        items: vec![vec![p("inner")]],
                    },
                ],
                vec![
                    p("second"),
                    Block::Code {
                        lang: Some("sh".into()),
                        text: "echo '```'".into(),
                        partial: false,
                    },
                ],
            ],
        },
        Block::Quote {
            c: vec![p("said"), p("and done")],
        },
        Block::Table {
            align: vec![Align::Left, Align::None],
            rows: vec![
                vec![vec![t("a|b")], vec![t("c")]],
                vec![vec![], vec![t("d")]],
            ],
        },
        p("1. not a list"),
    ];
    let wanted = "## Steps\n\n3. first\n   - inner\n4. second\n\n   ````sh\n   echo '```'\n   ````\n\n> said\n>\n> and done\n\n| a\\|b | c |\n| :-- | --- |\n|  | d |\n\n1\\. not a list\n";
    assert_eq!(markdown_of_blocks(&blocks), wanted);
}

#[test]
fn unknown_elements_are_kept_as_text_and_named_once() {
    let inline = Inline::Unknown {
        tag: "kbd".into(),
        text: "Ctrl".into(),
    };
    let blocks = [
        Block::Paragraph {
            c: vec![inline.clone(), inline],
        },
        Block::Unknown {
            tag: "details".into(),
            text: "hidden *things*".into(),
        },
    ];
    assert_eq!(
        markdown_of_blocks(&blocks),
        "CtrlCtrl\n\nhidden \\*things\\*\n"
    );
    assert_eq!(unknown_tags(&blocks), ["details", "kbd"]);
}
