mod lists;
mod reply;

use super::*;
use crate::{
    fault::{Action, action_of},
    id::{Round, Sid, Tag},
    testing::snapshot,
};

const FRAME: &str = "FRAME: s=9f83a7c1d42e650b r=2 p=a1b2c3d4 q=e1db9b58";
const FROM_SERVER: EndWitness = EndWitness::StreamDone;
const FROM_FENCE: EndWitness = EndWitness::FenceClosed;

fn frame() -> Frame {
    Frame {
        sid: Sid::parse("9f83a7c1d42e650b").unwrap(),
        round: Round(2),
        prev: Some(Tag::parse("a1b2c3d4").unwrap()),
        qid: Tag::parse("e1db9b58").unwrap(),
    }
}

fn block() -> String {
    format!(
        "# PLAN pi-bridge/1\n{FRAME}\nDECISION: continue\nTASK: fix-parse\n\n\
         ## GOAL\n让 parse 在空输入时返回错误。\n\n\
         ## STEPS\n1. 改 parse\n2. 跑测试\n\n\
         ## FILES\n- src/parse.rs :: 空输入返回 Err\n\n\
         ## COMMANDS\n- `cargo test`\n\n\
         ## RISKS\n- 无\n\n\
         ## VERIFY\n- 测试全绿\n"
    )
}

fn fenced(block: &str) -> String {
    format!("```\n{block}```\n")
}

fn read(block: &str) -> Result<Plan, Vec<Fault>> {
    validate(&fenced(block), &frame(), FROM_SERVER)
}

/// The faults as one line, `E_FRAME (r), E_PARSE (line 3)`.
fn faults(block: &str) -> String {
    shown(read(block))
}

fn shown(result: Result<Plan, Vec<Fault>>) -> String {
    match result {
        Ok(_) => "valid".to_owned(),
        Err(faults) => {
            let all: Vec<_> = faults.iter().map(Fault::to_string).collect();
            all.join(", ")
        }
    }
}

fn changed(from: &str, to: &str) -> String {
    assert!(block().contains(from), "{from:?} is no part of the plan");
    block().replacen(from, to, 1)
}

#[test]
fn a_plan_of_the_contracts_form_is_read_whole() {
    let plan = read(&block()).unwrap();
    assert_eq!(plan.frame, frame());
    assert_eq!(plan.decision, Decision::Continue);
    assert_eq!(plan.task, "fix-parse");
    assert_eq!(plan.steps, 2);
    assert_eq!(plan.commands, ["cargo test"]);
    assert_eq!(plan.stray_lines, [0; 0]);
    let [file] = plan.files.as_slice() else {
        panic!("one file")
    };
    assert_eq!(
        (file.path.as_str(), file.note.as_str()),
        ("src/parse.rs", "空输入返回 Err")
    );
    assert_eq!(plan.section("VERIFY"), Some("- 测试全绿\n"));
    assert_eq!(plan.section("NOTES"), None);
    let names: Vec<_> = plan.sections().map(|(name, _)| name).collect();
    assert_eq!(
        names,
        ["GOAL", "STEPS", "FILES", "COMMANDS", "RISKS", "VERIFY"]
    );
    assert!(plan.may_have_effects());
}

//= spec W4 type=test
#[test]
fn the_key_is_the_tag_of_the_text_inside_the_block_header_included() {
    let plan = read(&block()).unwrap();
    assert_eq!(plan.key, wire::tag(&block()));
    assert_eq!(plan.digest, Digest::of(&block()));
    assert_eq!(plan.text.as_str(), block());
    // What canonical form does away with changes no key; anything else does.
    let spaced = read(&block().replace('\n', " \r\n")).unwrap();
    assert_eq!(spaced.key, plan.key);
    assert_ne!(spaced.digest, plan.digest);
    assert_ne!(
        read(&changed("cargo test", "cargo  test")).unwrap().key,
        plan.key
    );
    // In a history it is taken from the Markdown source.
    assert_eq!(key_in(&fenced(&block())), Some(plan.key.clone()));
    assert_eq!(
        key_in(&format!("  ~~~md\n{}  ~~~", block())),
        Some(plan.key)
    );
    assert_eq!(key_in(&block()), None, "rendered text has no fence");
    assert_eq!(key_in(&format!("```\n{}", block())), None, "left open");
    assert_eq!(key_in(&fenced("# HS pi-bridge/1\n")), None);
}

#[test]
fn a_plan_reads_again_from_the_text_that_was_kept() {
    let plan = read(&block().replace('\n', "\r\n")).unwrap();
    assert_eq!(from_block(plan.text.as_str(), &frame()), Ok(plan));
}

#[test]
fn printing_a_plan_shows_none_of_its_text() {
    let shown = format!("{:?}", read(&block()).unwrap());
    assert!(
        !shown.contains("parse") && !shown.contains("cargo"),
        "{shown}"
    );
}

//= spec P2 type=test
#[test]
fn the_header_is_the_first_line() {
    assert_eq!(faults(&format!("\n\n{}", block())), "valid");
    for bad in [
        "# PLAN pi-bridge/2",
        "# plan pi-bridge/1",
        "## PLAN pi-bridge/1",
        "#PLAN pi-bridge/1",
    ] {
        let got = faults(&changed("# PLAN pi-bridge/1", bad));
        assert!(got.starts_with("E_HEADER"), "{bad}: {got}");
    }
    assert_eq!(
        faults(&changed("# PLAN pi-bridge/1", "# PLAN pi-bridge/10")),
        "E_HEADER"
    );
    assert_eq!(faults(&changed("# PLAN pi-bridge/1\n", "")), "E_HEADER");
}

//= spec P2 type=test
#[test]
fn the_frame_is_the_second_line_and_each_of_its_fields_counts() {
    for (line, what) in [
        (
            "FRAME:  q=e1db9b58   p=a1b2c3d4 s=9f83a7c1d42e650b r=2  ",
            "valid",
        ),
        (
            "\n\nFRAME: s=9f83a7c1d42e650b r=2 p=a1b2c3d4 q=e1db9b58",
            "valid",
        ),
        (
            "FRAME: s=9f83a7c1d42e650c r=2 p=a1b2c3d4 q=e1db9b58",
            "E_FRAME (s)",
        ),
        (
            "FRAME: s=9f83a7c1d42e650b r=1 p=a1b2c3d4 q=e1db9b58",
            "E_FRAME (r)",
        ),
        (
            "FRAME: s=9f83a7c1d42e650b r=3 p=a1b2c3d4 q=e1db9b58",
            "E_FRAME (r)",
        ),
        (
            "FRAME: s=9f83a7c1d42e650b r=2 p=- q=e1db9b58",
            "E_FRAME (p)",
        ),
        (
            "FRAME: s=9f83a7c1d42e650b r=2 p=a1b2c3d4 q=e1db9b59",
            "E_FRAME (q)",
        ),
        ("FRAME: s=9f83a7c1d42e650b r=2 p=a1b2c3d4", "E_FRAME (q)"),
        (
            "FRAME: r=2 r=2 s=9f83a7c1d42e650b p=a1b2c3d4 q=e1db9b58",
            "E_FRAME (r)",
        ),
        (
            "FRAME: s=9f83a7c1d42e650b r=2 p=a1b2c3d4 q=e1db9b58 x=1",
            "E_FRAME (other)",
        ),
        (
            "FRAME: s=<sid> r=<round> p=<prev-plan-key> q=<qid>",
            "E_FRAME (s, r, p, q, other)",
        ),
        ("FRAME:", "E_FRAME (s, r, p, q)"),
    ] {
        let line = line.replace("<prev-plan-key>", "<prev plan key>");
        assert_eq!(faults(&changed(FRAME, &line)), what, "{line}");
    }
    let gone = changed(&format!("{FRAME}\n"), "");
    assert_eq!(faults(&gone), "E_FRAME (FRAME)");
    let late = gone.replace("TASK: fix-parse", &format!("TASK: fix-parse\n{FRAME}"));
    assert_eq!(faults(&late), "E_FRAME (FRAME)", "not in its place");
    let twice = changed(FRAME, &format!("{FRAME}\n{FRAME}"));
    assert_eq!(faults(&twice), "E_PARSE (FRAME)");
}

//= spec P3 type=test
#[test]
fn the_decision_is_one_of_four_in_any_case() {
    for (word, decision) in [
        ("continue", Decision::Continue),
        ("  DONE ", Decision::Done),
        ("Blocked", Decision::Blocked),
        ("need_INFO", Decision::NeedInfo),
    ] {
        let plan = read(&changed("DECISION: continue", &format!("DECISION:{word}"))).unwrap();
        assert_eq!(plan.decision, decision, "{word:?}");
        assert_eq!(Decision::parse(decision.name()), Some(decision));
    }
    for word in [
        "",
        "go",
        "continue | done | blocked | need_info",
        "need-info",
        "continue.",
    ] {
        let got = faults(&changed("DECISION: continue", &format!("DECISION: {word}")));
        assert_eq!(got, "E_DECISION", "{word:?}");
    }
    assert_eq!(faults(&changed("DECISION: continue\n", "")), "E_DECISION");
}

//= spec P4 type=test
#[test]
fn the_required_parts_are_there_and_say_something() {
    for name in ["GOAL", "STEPS", "FILES", "COMMANDS", "RISKS", "VERIFY"] {
        let got = faults(&changed(&format!("## {name}\n"), "## EXTRA\n"));
        assert_eq!(got, format!("E_REQUIRED ({name})"));
    }
    let empty_end = changed("- 测试全绿\n", " \n\n");
    assert_eq!(faults(&empty_end), "E_REQUIRED (VERIFY)", "a heading alone");
    for (from, to, what) in [
        ("TASK: fix-parse", "TASK:  ", "E_REQUIRED (TASK)"),
        ("TASK: fix-parse\n", "", "E_REQUIRED (TASK)"),
        ("让 parse 在空输入时返回错误。", "无", "E_REQUIRED (GOAL)"),
        ("让 parse 在空输入时返回错误。", "", "E_REQUIRED (GOAL)"),
        ("- src/parse.rs :: 空输入返回 Err", "无", "valid"),
        ("- `cargo test`", "None", "valid"),
        ("- 测试全绿", "- none", "valid"),
        ("## VERIFY", "## NOTES\n\n## VERIFY", "valid"),
    ] {
        assert_eq!(faults(&changed(from, to)), what, "{to:?}");
    }
}

//= spec P4 type=test
#[test]
fn to_continue_needs_a_numbered_step_and_the_others_need_none() {
    let steps = "1. 改 parse\n2. 跑测试";
    for (text, what) in [
        ("1) 改", "valid"),
        ("1、改", "valid"),
        ("1.改", "valid"),
        ("   12.  改", "valid"),
        ("先说明\n1. 改", "valid"),
        ("- 改", "E_REQUIRED (STEPS)"),
        ("1.", "E_REQUIRED (STEPS)"),
        ("1.5 GB", "E_REQUIRED (STEPS)"),
        ("    1. 改", "E_REQUIRED (STEPS)"),
        ("无", "E_REQUIRED (STEPS)"),
    ] {
        assert_eq!(faults(&changed(steps, text)), what, "{text:?}");
        let done = changed(steps, text).replace("continue", "done");
        assert_eq!(faults(&done), "valid", "{text:?}");
    }
    assert_eq!(
        read(&changed(steps, "1. a\n说明\n2. b\n\n3) c"))
            .unwrap()
            .steps,
        3
    );
}

//= spec P5 type=test
#[test]
fn nothing_stands_twice_and_nothing_stands_astray() {
    for (from, to, what) in [
        ("## RISKS", "## GOAL\n再说\n\n## RISKS", "E_PARSE (GOAL)"),
        (
            "## RISKS",
            "## MINE\na\n\n## MINE\nb\n\n## RISKS",
            "E_PARSE (line 22)",
        ),
        ("TASK: fix-parse", "TASK: a\nTASK: b", "E_PARSE (TASK)"),
        (
            "TASK: fix-parse",
            "TASK: a\nDECISION: done",
            "E_PARSE (DECISION)",
        ),
        ("TASK: fix-parse", "TASK: a\n说一句", "E_PARSE (line 5)"),
        ("TASK: fix-parse", "TASK: a\n  继续", "E_PARSE (line 5)"),
        ("TASK: fix-parse", "TASK: a\nOWNER: me", "E_PARSE (line 5)"),
        // Inside a section they are content.
        (
            "- 无",
            "- 无\nDECISION: done\nTASK: x\nFRAME: y\n### z",
            "valid",
        ),
    ] {
        assert_eq!(faults(&changed(from, to)), what, "{to:?}");
    }
    let plan = read(&changed("## RISKS", "## 我的一节\nkept\n\n## RISKS")).unwrap();
    assert_eq!(plan.section("我的一节"), Some("kept\n\n"));
}

//= spec P5 type=test
#[test]
fn the_number_of_sections_is_bounded() {
    let more = |count: usize| {
        let extra: String = (0..count).map(|n| format!("## extra {n}\nx\n\n")).collect();
        faults(&format!("{}{extra}", block()))
    };
    assert_eq!(more(64 - 6), "valid");
    assert_eq!(more(64 - 6 + 1), "E_PARSE (sections)");
}

//= spec P6 type=test
#[test]
fn all_faults_are_told_in_the_tables_order() {
    let text = "# PLAN pi-bridge/9\nFRAME: s=x r=2 p=- q=e1db9b58\nhello\nDECISION: x\n\n## GOAL\ng\n## GOAL\n";
    assert_eq!(
        faults(text),
        "E_HEADER, E_FRAME (s, p), E_REQUIRED (TASK, STEPS, FILES, COMMANDS, RISKS, VERIFY), \
         E_DECISION, E_PARSE (GOAL, line 3)"
    );
    let got = read(text).unwrap_err();
    assert!(got.is_sorted_by_key(|fault| fault.code));
    assert_eq!(action_of(&got), Some(Action::Repair));
}

//= spec H2 type=test
#[test]
fn an_acknowledgement_is_no_plan() {
    let got = faults("# HS pi-bridge/1\nTYPE: ack\n");
    assert!(got.starts_with("E_HEADER, E_FRAME (FRAME)"), "{got}");
}

//= spec P8 type=test
#[test]
fn continue_and_need_info_are_carried_out_and_nothing_else() {
    let carried: Vec<_> = [
        Decision::Continue,
        Decision::NeedInfo,
        Decision::Done,
        Decision::Blocked,
    ]
    .map(Decision::is_carried_out)
    .into();
    assert_eq!(carried, [true, true, false, false]);
}

//= spec K5 type=test
#[test]
fn the_body_without_its_frame_is_the_same_in_another_round() {
    let plan = read(&block()).unwrap();
    let later = Frame {
        round: Round(3),
        ..frame()
    };
    let text = changed(FRAME, &later.to_string());
    let again = validate(&fenced(&text), &later, FROM_SERVER).unwrap();
    assert_ne!(again.key, plan.key);
    assert_eq!(again.body_without_frame(), plan.body_without_frame());
    let other = read(&changed("cargo test", "cargo check")).unwrap();
    assert_ne!(other.body_without_frame(), plan.body_without_frame());
    let blanks = read(&block().replace("\n\n", " \n\n\n")).unwrap();
    assert_eq!(blanks.body_without_frame(), plan.body_without_frame());
}

#[test]
fn what_the_remote_is_told_about_each_fault() {
    let mut out = String::new();
    for (what, text) in [
        ("good", block()),
        (
            "done without steps",
            changed("continue", "done").replace("1. 改 parse\n2. 跑测试", "无"),
        ),
        ("empty block", String::new()),
        ("template unfilled", wire::PLAN_CONTRACT.to_owned() + "\n"),
        (
            "prose in the head",
            changed("TASK: fix-parse", "好的\nTASK: fix-parse"),
        ),
        ("old round", changed("r=2", "r=1")),
        ("handshake", "# HS pi-bridge/1\nTYPE: ack\n".to_owned()),
    ] {
        out.push_str(&format!("{what}: {}\n", faults(&text)));
    }
    snapshot!("plan_faults", &out);
}
