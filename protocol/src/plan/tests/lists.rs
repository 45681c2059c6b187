use super::*;

fn commands(section: &str) -> Plan {
    read(&changed("- `cargo test`", section)).unwrap()
}

//= spec R11 type=test
#[test]
fn a_plan_may_have_effects_unless_it_names_neither_files_nor_commands() {
    let with = |files: &str, commands: &str, decision: &str| {
        let text = changed("- src/parse.rs :: 空输入返回 Err", files)
            .replacen("- `cargo test`", commands, 1)
            .replacen("continue", decision, 1);
        read(&text).unwrap().may_have_effects()
    };
    for none in ["无", "- 无", "none", "- `NONE`"] {
        assert!(!with(none, none, "continue"), "{none}");
        assert!(with("- a :: b", none, "continue"), "{none}");
        assert!(with(none, "- ls", "need_info"), "{none}");
        assert!(!with("- a :: b", "- ls", "done"), "{none}");
    }
    for some in ["无，只读", "- 无\n- ls", "没有"] {
        assert!(with("无", some, "continue"), "{some}");
    }
}

#[test]
fn commands_are_items_with_their_indented_lines() {
    for (section, expected) in [
        ("无", vec![]),
        ("- `无`", vec![]),
        ("- ls", vec!["ls"]),
        ("-   ls -l  \n- `npm  test`", vec!["ls -l", "npm  test"]),
        ("- `a` && `b`", vec!["`a` && `b`"]),
        ("- echo `date`", vec!["echo `date`"]),
        (
            "- cat > f <<EOF\n    x\n\n\n  y\n  EOF\n- ls",
            vec!["cat > f <<EOF\n  x\n\n\ny\nEOF", "ls"],
        ),
        (
            "- `for x in a; do\n    echo $x\n  done`",
            vec!["for x in a; do\n  echo $x\ndone"],
        ),
        ("-\n  ls", vec!["ls"]),
        ("- make\n\tall", vec!["make\nall"]),
    ] {
        let plan = commands(section);
        assert_eq!(plan.commands, expected, "{section}");
        assert_eq!(plan.stray_lines, [0; 0], "{section}");
    }
}

#[test]
fn lines_of_commands_that_belong_to_no_command_are_named() {
    // The heading COMMANDS stands in line 16 of the block.
    for (section, stray) in [
        ("run the tests", vec![17]),
        ("* ls\n1. ls", vec![17, 18]),
        ("- cat <<EOF\nx\nEOF", vec![18, 19]),
        ("  ls\n- pwd", vec![17]),
        ("-ls", vec![17]),
        ("- cat > README <<EOF\n## Title\n  text", vec![18]),
        ("## Title\n无", vec![]),
    ] {
        let text = changed("- `cargo test`", section);
        let text = text.replace("## COMMANDS\n## Title", "## COMMANDS\n无\n## Title");
        assert_eq!(read(&text).unwrap().stray_lines, stray, "{section}");
    }
    let many = "x\n".repeat(20);
    assert_eq!(commands(&many).stray_lines.len(), 8, "only so many");
}

#[test]
fn files_are_paths_with_notes() {
    let text = changed(
        "- src/parse.rs :: 空输入返回 Err",
        "- `a b.rs` :: 改 :: 两处\n  还有\n- c.rs\nd.rs :: 没有横线",
    );
    let note = |path: &str, note: &str| FileNote {
        path: path.to_owned(),
        note: note.to_owned(),
    };
    assert_eq!(
        read(&text).unwrap().files,
        [note("a b.rs", "改 :: 两处\n还有"), note("c.rs", "")]
    );
}
