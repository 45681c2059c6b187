use proptest::prelude::*;
use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};

use super::*;

/// What a CommonMark parser sees: the top-level fenced blocks with info and
/// content, and whether it sees anything besides.
fn commonmark(text: &str) -> (Vec<(String, String)>, bool) {
    let parser = Parser::new(text);
    let mut other = parser.reference_definitions().iter().next().is_some();
    let (mut blocks, mut depth, mut open) = (vec![], 0_u32, None);
    #[allow(clippy::wildcard_enum_match_arm, reason = "a foreign enum")]
    for event in parser {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) if depth == 0 => {
                open = Some((info.trim().to_owned(), String::new()));
            }
            Event::End(TagEnd::CodeBlock) if open.is_some() => blocks.extend(open.take()),
            Event::Text(text) if open.is_some() => {
                if let Some((_, content)) = &mut open {
                    content.push_str(&text);
                }
            }
            event => {
                other = true;
                match event {
                    Event::Start(_) => depth += 1,
                    Event::End(_) => depth -= 1,
                    _ => {}
                }
            }
        }
    }
    (blocks, other)
}

fn sole(text: &str) -> Option<String> {
    scan(text).sole().map(|block| block.content.to_string())
}

//= spec P1 type=test
#[test]
fn one_closed_block_and_nothing_else() {
    for (text, content) in [
        ("```\na\n```", "a\n"),
        ("```\na\n```\n", "a\n"),
        ("\n \t\n```text x y\na\n\nb\n`````  \t\n\n", "a\n\nb\n"),
        ("~~~ `tick`\n```\n~~~", "```\n"),
        ("````\n```\n````", "```\n"),
        ("   ```\n   a\n     b\n c\n   ```", "a\n  b\nc\n"),
        ("  ```\n\ta\n  ```", "  a\n"),
        ("```\n```", ""),
        ("```\r\na\r\n```\r\n", "a\r\n"),
        ("```\n    ```\n```", "    ```\n"),
        ("```\n``` x\n```", "``` x\n"),
        ("```\n~~~\n```", "~~~\n"),
    ] {
        assert_eq!(sole(text).as_deref(), Some(content), "{text:?}");
    }
}

//= spec P1 type=test
#[test]
fn everything_else_is_not_that() {
    for (text, blocks, open, outside) in [
        ("", 0, false, false),
        ("prose", 0, false, true),
        ("``\na\n``", 0, false, true),
        ("    ```\n    a\n    ```", 0, false, true),
        ("\t```\na\n\t```", 0, false, true),
        ("``` a`b\n", 0, false, true),
        ("```\na", 1, true, false),
        ("```\na\n``", 1, true, false),
        ("```\na\n~~~", 1, true, false),
        ("````\na\n```", 1, true, false),
        ("```\na\n    ```", 1, true, false),
        ("```", 1, true, false),
        ("```\na\n```\nb", 1, false, true),
        ("```\na\n```\n    indented code", 1, false, true),
        ("    indented code\n\n```\na\n```", 1, false, true),
        ("```\na\n```\n[a]: /b", 1, false, true),
        ("```\na\n```\n<!-- c -->", 1, false, true),
        ("```\na\n```\n\u{a0}", 1, false, true),
        ("\u{feff}```\na\n```", 1, true, true),
        ("```\na\n```\n```\nb\n```", 2, false, false),
        ("```\na\n```\n```\nb", 2, true, false),
        ("- ```\n  a\n  ```", 1, false, true),
        ("1. ```\n   a\n   ```", 1, false, true),
        ("> ```\n> a\n> ```", 1, false, true),
        ("> ```\n> a\n", 1, true, true),
        ("> ```\n> a\n\nb", 1, false, true),
        ("- ```\n  a\nb", 1, false, true),
        ("```a\rb\nc\n```", 1, false, true),
        ("```\na\r```\n", 1, true, false),
    ] {
        let scan = scan(text);
        let got = (scan.blocks.len(), scan.is_open(), scan.outside);
        assert_eq!(got, (blocks, open, outside), "{text:?}");
        assert_eq!(scan.sole(), None, "{text:?}");
    }
}

#[test]
fn a_block_inside_a_list_or_a_quote_has_its_own_text() {
    for text in [
        "- ```x\n  a\n  ```",
        "> ```x\n> a\n> ```",
        "1. > ```x\n   > a\n   > ```",
    ] {
        let scan = scan(text);
        assert_eq!(
            (scan.blocks[0].info, &*scan.blocks[0].content),
            ("x", "a\n"),
            "{text:?}"
        );
        assert!(scan.blocks[0].closed && scan.outside);
    }
}

/// Lines that matter to a fence, and some that do not. No tab stands behind a
/// fence: CommonMark allows one, pulldown-cmark 0.13 does not.
fn line() -> impl Strategy<Value = String> {
    let fence = (
        0_usize..5,
        prop_oneof![Just('`'), Just('~')],
        2_usize..6,
        "[ ]{0,2}[a-z`~ ]{0,3}[ ]{0,2}",
    )
        .prop_map(|(indent, mark, len, tail)| {
            format!(
                "{}{}{tail}",
                " ".repeat(indent),
                mark.to_string().repeat(len)
            )
        });
    prop_oneof![
        4 => fence,
        1 => Just(String::new()),
        1 => "[ \t]{1,5}",
        1 => "[ \t]{0,3}[a-z`~]{1,4}",
    ]
}

/// The same, and what opens lists, quotes, HTML and the like.
fn any_line() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => line(),
        1 => "([-*+>]|[0-9]{1,2}[.)]) {0,4}(```|~~~)?[a-z]{0,2}",
        1 => "(\\[a\\]: /b|<div>|</div>|<!--|-->|---|===|    x|\\\\|&amp;)",
        1 => "[ -~é中\t]{0,12}",
    ]
}

fn text_of(line: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    let end = prop_oneof![4 => Just("\n"), 1 => Just("\r\n")];
    let lines = prop::collection::vec((line, end), 0..9);
    (lines, any::<bool>()).prop_map(|(lines, newline)| {
        let mut text: String = lines
            .into_iter()
            .flat_map(|(line, end)| [line, end.to_owned()])
            .collect();
        if !newline {
            text.truncate(text.trim_end_matches(['\n', '\r']).len());
        }
        text
    })
}

/// Line ends as LF, and none at the end: a block cut off by the end of the text
/// ends with or without one.
fn normal(content: &str) -> String {
    content.replace("\r\n", "\n").trim_end().to_owned()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_500))]

    //= spec P1 type=test
    #[test]
    fn one_block_and_nothing_else_is_what_commonmark_says(text in text_of(any_line())) {
        let scan = scan(&text);
        let (blocks, other) = commonmark(&text);
        let alone = blocks.len() == 1 && !other;
        // CommonMark closes a block at the end of the text and does not say so.
        let ours = scan.blocks.len() == 1 && !scan.outside;
        prop_assert_eq!(ours, alone, "{:?}", text);
        if alone {
            prop_assert_eq!(normal(&scan.blocks[0].content), normal(&blocks[0].1), "{:?}", text);
        }
    }

    #[test]
    fn block_by_block_as_commonmark_where_nothing_is_nested(text in text_of(line())) {
        let scan = scan(&text);
        // An indented line is code or goes on with a paragraph: outside, to us.
        let ours: Vec<_> = scan.blocks.iter().map(|b| (b.info.to_owned(), normal(&b.content))).collect();
        let (blocks, _) = commonmark(&text);
        let theirs: Vec<_> = blocks.into_iter().map(|(info, content)| (info, normal(&content))).collect();
        prop_assert_eq!(ours, theirs, "{:?}", text);
    }

    #[test]
    fn any_text_is_scanned(text in any::<String>()) {
        let scan = scan(&text);
        prop_assert_eq!(scan.sole().is_some(), scan.blocks.len() == 1 && !scan.outside && !scan.is_open());
    }

    #[test]
    fn what_is_fenced_is_found_again(body in "[a-z~\n \t中]{0,40}", info in "[a-z]{0,5}") {
        let text = format!("`````{info}\n{body}\n`````");
        prop_assert_eq!(sole(&text), Some(format!("{body}\n")));
    }
}
