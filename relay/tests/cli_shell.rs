//! What a shell and a manual reader are given, tried with the shell itself.

#![allow(clippy::unwrap_used, reason = "these are tests")]

mod cli_support;

use std::process::Command;

use cli_support::Brb;

/// What bash offers for a line, by the script that `brb` printed.
fn offered(line: &[&str]) -> String {
    let script = Brb::new().args(&["completions", "bash"]).end();
    assert_eq!(script.exit, Some(0), "{}", script.stderr);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("brb");
    std::fs::write(&path, script.stdout).unwrap();
    let (words, last) = (line.join(" "), line.len() - 1);
    // As the shell calls it: the command, the word that is begun, the one before it.
    let ask = format!(
        "set -e; . {}; COMP_WORDS=({words}); COMP_CWORD={last}; COMPREPLY=(); _brb brb '{}' '{}'; echo \"${{COMPREPLY[*]}}\"",
        path.display(),
        line[last],
        line[last - 1],
    );
    let said = Command::new("bash")
        .args(["--norc", "-c", &ask])
        .output()
        .unwrap();
    assert!(
        said.status.success(),
        "{}",
        String::from_utf8_lossy(&said.stderr)
    );
    String::from_utf8(said.stdout).unwrap()
}

#[test]
fn bash_completes_commands_options_and_values() {
    let commands = offered(&["brb", "re"]);
    for name in ["record", "replay", "report", "resume"] {
        assert!(
            commands.split_whitespace().any(|word| word == name),
            "{commands}"
        );
    }
    assert!(offered(&["brb", "run", "--appr"]).contains("--approve"));
    let values = offered(&["brb", "run", "--approve", "w"]);
    assert_eq!(values.trim(), "workspace");
}

#[test]
fn each_shell_has_a_script_and_no_other_word_is_one() {
    for (shell, mark) in [("zsh", "#compdef brb"), ("fish", "complete -c brb")] {
        let ended = Brb::new().args(&["completions", shell]).end();
        assert_eq!(ended.exit, Some(0), "{}", ended.stderr);
        assert!(ended.stdout.contains(mark), "{shell}");
    }
    let ended = Brb::new().args(&["completions", "tcsh"]).end();
    ended.is_failure(2, "E_USAGE", "a shell that is not known");
}

#[test]
fn every_command_has_a_page_in_the_manual() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("man/man1");
    let path = out.to_str().unwrap();
    let ended = Brb::new().args(&["man", "--out", path]).end();
    assert_eq!(ended.exit, Some(0), "{}", ended.stderr);
    let command = relay::cli::command();
    for inner in command
        .get_subcommands()
        .filter(|inner| !inner.is_hide_set())
    {
        let page = out.join(format!("brb-{}.1", inner.get_name()));
        let text = std::fs::read_to_string(&page).unwrap();
        assert!(text.contains("Examples:"), "{}", page.display());
    }
    assert!(Brb::new().args(&["man"]).end().stdout.contains(".TH brb 1"));
    let ended = Brb::new().args(&["man", "--out", "/dev/null/x"]).end();
    ended.is_failure(2, "E_USAGE", "a folder that cannot be");
}
