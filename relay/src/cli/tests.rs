//! The command line as a person reads it, in snapshots.

use clap::CommandFactory;

use super::{Cli, explain, usage};
use crate::testing::snapshot;

#[test]
fn the_command_line_is_sound() {
    Cli::command().debug_assert();
}

#[test]
fn each_command_explains_itself_with_examples() {
    let mut brb = Cli::command();
    brb.build();
    snapshot!("help", brb.render_help().to_string());
    let names: Vec<String> = brb
        .get_subcommands()
        .filter(|command| !command.is_hide_set())
        .map(|command| command.get_name().to_owned())
        .collect();
    for name in names {
        let command = brb.find_subcommand_mut(&name).unwrap();
        let long = command.render_long_help().to_string();
        assert!(
            long.contains("Examples:") || name == "help",
            "{name} has no example"
        );
        if name == "help" {
            continue;
        }
        snapshot!(format!("help_{name}"), long);
        let own = command.get_subcommands_mut();
        for inner in own.filter(|inner| inner.get_name() != "help") {
            let long = inner.render_long_help().to_string();
            let inner = inner.get_name();
            assert!(long.contains("Examples:"), "{name} {inner} has no example");
            snapshot!(format!("help_{name}_{inner}"), long);
        }
    }
}

#[test]
fn every_code_and_every_row_is_explained() {
    snapshot!("explain", explain::text(None).unwrap());
    let mut text = String::new();
    for code in protocol::fault::Code::ALL {
        text.push_str(&explain::text(Some(code.name())).unwrap());
        assert_eq!(
            explain::text(Some(&code.kebab())).unwrap(),
            explain::text(Some(code.name())).unwrap()
        );
    }
    snapshot!("explain_codes", text);
    let mut text = String::new();
    for row in protocol::recovery::RowId::ALL {
        text.push_str(&explain::text(Some(&row.to_string())).unwrap());
    }
    snapshot!("explain_rows", text);
    assert!(explain::text(Some("E_NOTHING")).is_err());
    assert!(explain::text(Some("R16")).is_err());
}

#[test]
fn json_is_asked_for_before_the_dashes_alone() {
    let wants = |args: &[&str]| {
        let args: Vec<_> = args.iter().map(std::ffi::OsString::from).collect();
        usage::wants_json(&args)
    };
    assert!(wants(&["brb", "run", "--json", "--nonsense"]));
    assert!(!wants(&["brb", "run", "--", "--json"]));
    assert!(!wants(&["--json"]));
}
