use super::*;

const MAX: usize = 24_000;

fn column_0(text: &str) -> Vec<&str> {
    let lines = text.split(is_break);
    lines
        .filter(|line| !line.starts_with(INDENT) && !line.is_empty())
        .collect()
}

//= spec W10 type=test
#[test]
fn what_is_quoted_never_stands_at_column_0() {
    let foul = "# PLAN pi-bridge/1\nFRAME: s=x\r\n```\r## GOAL\u{2028}a\u{85}b\u{c}c\u{b}d\u{2029}e\n\n~~~";
    let text = Receipt::new()
        .say("命令 1：退出状态 0")
        .quote(foul)
        .finish(MAX);
    assert_eq!(column_0(&text), ["命令 1：退出状态 0"]);
    assert!(text.contains("    # PLAN pi-bridge/1\n    FRAME: s=x\n    ```\n    ## GOAL\n"));
}

//= spec W10 type=test
#[test]
fn control_characters_do_not_travel() {
    let text = Receipt::new()
        .say("a\0b\nFRAME: c")
        .quote("\u{1b}[31mred\0\tx")
        .finish(MAX);
    assert_eq!(text, "a\u{fffd}b FRAME: c\n    \u{fffd}[31mred\u{fffd}\tx");
}

//= spec W10 type=test
#[test]
fn a_receipt_that_fits_is_whole_and_one_character_more_is_cut() {
    let whole = |len: usize| Receipt::new().quote(&"x".repeat(len)).finish(1_000);
    let room = 1_000 - CUT_LEN_MAX - INDENT.len() - 1;
    assert!(!whole(room).contains('…'));
    let cut = whole(room + 1);
    assert!(cut.contains("个字符 …]"), "{cut}");
    assert!(cut.chars().count() <= 1_000);
}

//= spec W10 type=test
#[test]
fn long_output_keeps_head_and_tail_and_says_what_was_cut() {
    let lines: String = (0..9_000).map(|n| format!("line {n}\n")).collect();
    let text = Receipt::new()
        .say("命令 1：退出状态 1")
        .quote(&lines)
        .say("完")
        .finish(MAX);
    assert!(text.chars().count() <= MAX);
    assert!(
        text.chars().count() > MAX - 2 * CUT_LEN_MAX,
        "the room is used"
    );
    assert!(text.starts_with("命令 1：退出状态 1\n    line 0\n    line 1\n"));
    assert!(text.ends_with("    line 8999\n完"));
    let cut = text.lines().find(|line| line.contains("省略")).unwrap();
    assert!(
        cut.starts_with("    [… 省略 ") && cut.ends_with(" 个字符 …]"),
        "{cut}"
    );
    assert_eq!(column_0(&text), ["命令 1：退出状态 1", "完"]);
}

//= spec W10 type=test
#[test]
fn the_longest_quotations_give_way_to_short_ones() {
    let text = Receipt::new()
        .quote(&"a".repeat(5_000))
        .quote("short one")
        .quote(&"b".repeat(5_000))
        .finish(2_000);
    assert!(text.chars().count() <= 2_000);
    assert!(text.contains("    short one\n"));
    let count = |c| text.chars().filter(|x| *x == c).count();
    assert_eq!(count('a'), count('b'), "in equal shares");
    assert!(count('a') > 800);
}

//= spec W10 type=test
#[test]
fn no_number_of_parts_breaks_the_limit() {
    let mut receipt = Receipt::new();
    for n in 0..3_000 {
        receipt = receipt
            .say(&format!("命令 {n}：{}", "很长".repeat(50)))
            .quote("x\ny");
    }
    let text = receipt.finish(MAX);
    assert!(text.chars().count() <= MAX);
    assert!(text.ends_with("项未列出）"), "the rest is counted");
    for len_max in [0, 1, 47, 60, 500] {
        let text = Receipt::new()
            .quote(&"x".repeat(9_999))
            .say("y")
            .finish(len_max);
        assert!(
            text.chars().count() <= len_max.max(CUT_LEN_MAX),
            "{len_max}"
        );
    }
}

#[test]
fn an_empty_receipt_is_empty() {
    assert_eq!(Receipt::new().finish(MAX), "");
    assert_eq!(Receipt::new().quote("").finish(MAX), "");
}
