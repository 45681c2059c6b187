//! What is wrong with the command line or the request is said before anything
//! is touched: a stable code, an exit, two sentences, and no panic.

#![allow(clippy::unwrap_used, reason = "these are tests")]

mod cli_support;

use cli_support::{Brb, Ended};

/// A run that asks nobody, with a state folder of its own.
fn run(args: &[&str]) -> Ended {
    let all = [&["run", "--approve", "all", "--sandbox", "off"], args].concat();
    Brb::new().args(&all).end()
}

#[test]
fn what_cannot_be_used_is_refused_with_usage() {
    let cases: &[(&str, &[&str])] = &[
        ("no request", &[]),
        ("an empty request", &[""]),
        ("a blank request", &[" \n\t "]),
        ("a lone carriage return", &["one\rtwo"]),
        ("two sources", &["x", "--request-file", "/dev/null"]),
        (
            "a file that is not there",
            &["--request-file", "/nonexistent/request"],
        ),
        ("an empty file", &["--request-file", "/dev/null"]),
        ("an unknown flag", &["x", "--frobnicate"]),
        ("a flag misspelt", &["x", "--atach", "http://127.0.0.1:1"]),
        (
            "attach and launch",
            &["x", "--attach", "http://127.0.0.1:1", "--launch"],
        ),
        (
            "attach and headed",
            &["x", "--attach", "http://127.0.0.1:1", "--headed"],
        ),
        (
            "attach and profile",
            &["x", "--attach", "http://127.0.0.1:1", "--profile", "/p"],
        ),
        (
            "an endpoint of no kind",
            &["x", "--attach", "ftp://127.0.0.1:1"],
        ),
        ("a chat that is no address", &["x", "--chat", "chatgpt.com"]),
        (
            "a chat that is a file",
            &["x", "--chat", "file:///etc/passwd"],
        ),
        ("an empty tab", &["x", "--tab", ""]),
        ("a program without its agent", &["x", "--agent-cmd", "true"]),
        ("an agent without its program", &["x", "--agent", "command"]),
        ("an agent that is not known", &["x", "--agent", "magic"]),
        ("a network for the shell", &["x", "--agent-net", "on"]),
        ("a title of two lines", &["x", "--title", "one\ntwo"]),
        (
            "an approval that is not known",
            &["x", "--approve", "maybe"],
        ),
        ("a limit below its range", &["x", "--rounds-max", "0"]),
        ("a limit above its range", &["x", "--rounds-max", "10001"]),
        ("a limit that is no number", &["x", "--round-s", "soon"]),
        ("a time scale of nothing", &["x", "--time-scale", "0"]),
    ];
    for (name, args) in cases {
        let ended = run(args);
        ended.is_failure(2, "E_USAGE", name);
        assert_eq!(ended.stdout, "", "{name}");
        assert!(ended.state_is_untouched(), "{name}: something was opened");
    }
}

#[test]
fn a_request_that_is_too_long_is_refused_wherever_it_comes_from() {
    let long = "x".repeat(170_001);
    let all = ["run", "-", "--approve", "all", "--sandbox", "off"];
    let ended = Brb::new().args(&all).stdin(long.as_bytes()).end();
    ended.is_failure(2, "E_USAGE", "stdin");
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("request");
    std::fs::write(&file, long).unwrap();
    run(&["--request-file", &file.display().to_string()]).is_failure(2, "E_USAGE", "file");
    let ended = run(&["four", "--request-len-max", "3"]);
    ended.is_failure(2, "E_USAGE", "argument");
    assert!(ended.stderr.contains("4 characters"), "{}", ended.stderr);
}

#[test]
fn limits_that_contradict_each_other_are_a_matter_of_configuration() {
    run(&["x", "--quiet-ms", "5000"]).is_failure(2, "E_CONFIG", "quiet over long quiet");
}

#[test]
fn nobody_is_asked_where_there_is_no_terminal() {
    let ended = Brb::new().args(&["run", "x", "--approve", "ask"]).end();
    ended.is_failure(2, "E_USAGE", "approve ask");
    let ended = Brb::new().args(&["run", "x"]).end();
    ended.is_failure(2, "E_USAGE", "approve by default");
}

#[test]
fn bytes_that_are_no_text_are_refused() {
    for (name, bytes) in [
        ("not UTF-8", &b"fix \xff"[..]),
        ("a NUL", b"fix\0it"),
        ("nothing", b""),
        ("a lone CR", b"a\rb"),
    ] {
        let all = ["run", "-", "--approve", "all", "--sandbox", "off"];
        let ended = Brb::new().args(&all).stdin(bytes).end();
        ended.is_failure(2, "E_USAGE", name);
    }
}

#[test]
fn with_json_the_end_is_told_on_stdout_too() {
    for args in [
        &["run", "", "--json", "--approve", "all"][..],
        &["run", "x", "--json", "--frobnicate"],
        &["run", "--json"],
    ] {
        let ended = Brb::new().args(args).end();
        ended.is_failure(2, "E_USAGE", &format!("{args:?}"));
        let lines: Vec<&str> = ended.stdout.lines().collect();
        assert_eq!(lines.len(), 1, "{}", ended.stdout);
        let end: serde_json::Value = serde_json::from_str(lines[0]).unwrap();
        let wanted = serde_json::json!({
            "schema_version": 1, "event": "finished", "outcome": "usage", "code": "E_USAGE",
            "exit": 2, "sid": null, "rounds": 0, "messages_sent": 0, "repairs": 0,
            "recoveries": 0, "row": null, "interrupted": false,
        });
        assert_eq!(end, wanted);
    }
}

#[test]
fn other_commands_refuse_what_makes_no_sense() {
    let cases: &[(&str, &[&str])] = &[
        ("no command", &[]),
        ("an unknown command", &["frobnicate"]),
        ("a session that is not there", &["status", "00112233"]),
        ("no session at all", &["status"]),
        ("a diff of nothing", &["diff", "0011223344556677", "1"]),
        ("an undo of nothing", &["undo", "0011223344556677", "1"]),
        ("an undo without a round", &["undo", "0011223344556677"]),
        (
            "a round that is no number",
            &["undo", "0011223344556677", "one"],
        ),
        ("a path for a session", &["status", "../../etc"]),
        ("a code that is none", &["explain", "E_NOTHING"]),
        (
            "a scenario that is none",
            &["standin", "--scenario", "nothing"],
        ),
        ("a layout that is none", &["standin", "--layout", "nothing"]),
        ("a port that is none", &["standin", "--port", "65536"]),
        ("a login at no page", &["login", "--chat", "nowhere"]),
    ];
    for (name, args) in cases {
        Brb::new().args(args).end().is_failure(2, "E_USAGE", name);
    }
}

#[test]
fn a_port_in_use_is_said() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let ended = Brb::new().args(&["standin", "--port", &port]).end();
    ended.is_failure(2, "E_USAGE", "a port in use");
    assert!(ended.stderr.contains(&port), "{}", ended.stderr);
}

#[test]
fn a_state_folder_that_cannot_be_made_is_said() {
    let all = [
        "run",
        "x",
        "--approve",
        "all",
        "--sandbox",
        "off",
        "--state-dir",
        "/sys/brb-test",
    ];
    let ended = Brb::new().args(&all).end();
    ended.is_failure(10, "E_JOURNAL", "a state folder under /sys");
    assert!(ended.stderr.contains("/sys/brb-test"), "{}", ended.stderr);
}

#[test]
fn the_texts_of_errors_are_what_they_were() {
    let mut text = String::new();
    for args in [
        &["run", "", "--approve", "all"][..],
        &["run", "x", "--approve", "ask"],
        &["run", "x", "--frobnicate"],
        &["run", "x", "--atach", "y"],
        &["run", "x", "--attach", "http://127.0.0.1:1", "--launch"],
        &["run", "x", "--rounds-max", "0"],
        &["run", "x", "--agent", "command"],
        &["explain", "E_NOTHING"],
        &["status", "00112233"],
        &["standin", "--scenario", "nothing"],
        &["frobnicate"],
        &[],
    ] {
        let ended = Brb::new().args(args).end();
        text.push_str(&format!(
            "$ brb {}\n{}\n",
            args.join(" "),
            ended.without_paths(&ended.stderr)
        ));
    }
    cli_support::snapshot("errors", &text);
}

/// A run on a folder of its own, which must be refused before a browser is touched.
fn run_in(folder: &std::path::Path) -> Ended {
    let cwd = folder.display().to_string();
    run(&["x", "--cwd", &cwd, "--chat", "http://127.0.0.1:1/"])
}

#[test]
fn a_work_folder_that_cannot_be_kept_is_refused_before_a_browser_is_touched() {
    let folder = tempfile::tempdir().unwrap();
    run_in(folder.path()).is_failure(2, "E_USAGE", "no repository");
    for args in [
        &["init", "--quiet"][..],
        &["commit", "--quiet", "--allow-empty", "-m", "x"],
    ] {
        let git = std::process::Command::new("git")
            .args(["-c", "user.name=t", "-c", "user.email=t@localhost"])
            .args(args)
            .current_dir(folder.path())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .status();
        assert!(git.unwrap().success());
    }
    std::fs::write(folder.path().join("new"), "not committed").unwrap();
    let dirty = run_in(folder.path());
    dirty.is_failure(2, "E_USAGE", "a file that git does not know");
    assert!(dirty.stderr.contains("--dirty"), "{}", dirty.stderr);
}
