use super::*;

//= spec P1 type=test
#[test]
fn exactly_one_block_and_nothing_beside_it() {
    let one = fenced(&block());
    let other = "```sh\ncargo test\n```\n";
    for (reply, what) in [
        (one.clone(), "valid"),
        (format!("\n \t\n{one}\n\n"), "valid"),
        (
            one.replace("```\n# PLAN", "   `````markdown x\n# PLAN")
                .replace("```\n", "`````\n"),
            "valid",
        ),
        (format!("好的：\n{one}"), "E_BLOCKS"),
        (format!("{one}完"), "E_BLOCKS"),
        (format!("    indented code\n\n{one}"), "E_BLOCKS"),
        (format!("{one}{other}"), "E_BLOCKS"),
        (format!("{other}{one}"), "E_BLOCKS"),
        (format!("- {}", one.replace('\n', "\n  ")), "E_BLOCKS"),
        (block(), "E_BLOCKS"),
        (String::new(), "E_BLOCKS"),
    ] {
        assert_eq!(
            shown(validate(&reply, &frame(), FROM_SERVER)),
            what,
            "{reply}"
        );
        assert_eq!(
            shown(validate(&reply, &frame(), FROM_FENCE)),
            what,
            "{reply}"
        );
    }
}

//= spec P1 type=test
#[test]
fn an_open_fence_is_our_own_doubt_unless_the_server_said_the_end() {
    let open = format!("```\n{}", block());
    let cut = &open[..open.find("## RISKS").unwrap()];
    for reply in [open.as_str(), cut, &format!("prose\n{open}"), "```"] {
        let got = validate(reply, &frame(), FROM_FENCE).unwrap_err();
        assert_eq!(got, [Fault::bare(Code::Capture)], "{reply}");
        assert_eq!(action_of(&got), Some(Action::Recover));
        let got = validate(reply, &frame(), FROM_SERVER).unwrap_err();
        assert_eq!(got[0], Fault::bare(Code::Blocks), "{reply}");
        assert_eq!(action_of(&got), Some(Action::Repair));
    }
    assert_eq!(
        shown(validate(cut, &frame(), FROM_SERVER)),
        "E_BLOCKS, E_REQUIRED (RISKS, VERIFY)"
    );
}

//= spec P6 type=test
#[test]
fn of_several_blocks_the_first_plan_tells_its_faults_too() {
    let bad = fenced(&changed("TASK: fix-parse", "TASK:").replace("continue", "go on"));
    let shell = "```sh\ncargo test\n```\n";
    for (reply, what) in [
        (
            format!("{shell}{bad}"),
            "E_BLOCKS, E_REQUIRED (TASK), E_DECISION",
        ),
        (
            format!("{bad}{}", fenced(&block())),
            "E_BLOCKS, E_REQUIRED (TASK), E_DECISION",
        ),
        (format!("{}{bad}", fenced(&block())), "E_BLOCKS"),
        (format!("{shell}{shell}"), "E_BLOCKS"),
        ("no block".to_owned(), "E_BLOCKS"),
        (
            format!("prose\n{shell}"),
            "E_BLOCKS, E_HEADER, E_FRAME (FRAME), \
             E_REQUIRED (TASK, GOAL, STEPS, FILES, COMMANDS, RISKS, VERIFY), E_DECISION, \
             E_PARSE (line 1)",
        ),
    ] {
        assert_eq!(
            shown(validate(&reply, &frame(), FROM_SERVER)),
            what,
            "{reply}"
        );
    }
}
