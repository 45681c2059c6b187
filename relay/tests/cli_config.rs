//! Configuration as a person meets it: shown, in force, and refused with the place named.

#![allow(clippy::unwrap_used, reason = "these are tests")]

mod cli_support;

use std::fs;

use cli_support::{Brb, snapshot};

/// `brb` with files in its home: the user's configuration, and what else is named.
fn brb(files: &[(&str, &str)]) -> Brb {
    let brb = Brb::new();
    let home = brb.state().parent().unwrap().to_owned();
    for (path, text) in files {
        let path = home.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    brb
}

const USER: &str = ".config/pi-bridge/config.toml";

#[test]
fn what_is_configured_is_shown_with_where_it_stands() {
    let files = [
        (
            USER,
            "approve = \"read-only\"\nbrowser = \"~/bin/chromium\"\n\n[limits]\nrounds_max = 9\n",
        ),
        (".pi-bridge.toml", "[limits]\nrounds_max = 7\n"),
    ];
    let ended = brb(&files).args(&["config", "show", "--origin"]).end();
    assert_eq!(ended.exit, Some(0), "{}", ended.stderr);
    // The columns follow from how long this run's folders are named.
    let lines = ended.stdout.lines();
    let words = lines.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    let said = words.collect::<Vec<_>>().join("\n");
    snapshot("config_show_origin", &ended.without_paths(&said));
    // What is shown can be used as a file.
    let shown = brb(&files[..1]).args(&["config", "show"]).end();
    let value: toml::Table = shown.stdout.parse().unwrap();
    assert_eq!(value["approve"].as_str(), Some("read-only"));
    assert_eq!(value["limits"]["rounds_max"].as_integer(), Some(9));
    let again = brb(&[(USER, &shown.stdout)])
        .args(&["config", "show", "--json"])
        .end();
    assert_eq!(again.exit, Some(0), "{}", again.stderr);
    let json: serde_json::Value = serde_json::from_str(&again.stdout).unwrap();
    let keys = json["keys"].as_array().unwrap();
    let key = |name: &str| keys.iter().find(|key| key["key"] == name).unwrap();
    assert_eq!(key("limits.rounds_max")["value"], 9);
    assert_eq!(key("limits.rounds_max")["layer"], "user");
    assert_eq!(key("headed")["value"], false);
    assert_eq!(key("headed")["layer"], "default");
    assert_eq!(key("attach")["value"], serde_json::Value::Null);
}

#[test]
fn what_is_configured_holds_unless_the_line_says_otherwise() {
    let refused = |files: &[(&str, &str)], args: &[&str]| {
        let ended = brb(files).args(args).end();
        assert!(ended.state_is_untouched());
        ended
    };
    // Nobody can be asked here, and that is what the default would do.
    let run = ["run", "x", "--attach", "nonsense://"];
    refused(&[], &run).is_failure(2, "E_USAGE", "an endpoint of no kind");
    let file = [(
        USER,
        "attach = \"ftp://127.0.0.1:1\"\napprove = \"all\"\nsandbox = \"off\"\n",
    )];
    let ended = refused(&file, &["run", "x"]);
    ended.is_failure(2, "E_USAGE", "the configured endpoint");
    assert!(
        ended.stderr.contains("ftp://127.0.0.1:1"),
        "{}",
        ended.stderr
    );
    let ended = refused(&file, &["run", "x", "--attach", "gopher://"]);
    assert!(ended.stderr.contains("gopher://"), "{}", ended.stderr);
    let limits = [(USER, "approve = \"all\"\n[limits]\nquiet_ms = 1501\n")];
    refused(&limits, &["run", "x"]).is_failure(2, "E_CONFIG", "limits that contradict");
}

#[test]
fn a_file_that_is_wrong_stops_what_would_read_it_and_nothing_else() {
    let file = [(USER, "aprove = \"all\"\n")];
    for args in [
        &["run", "x"][..],
        &["list"],
        &["config", "show"],
        &["login"],
    ] {
        let ended = brb(&file).args(args).end();
        ended.is_failure(2, "E_CONFIG", &args.join(" "));
        assert!(
            ended
                .stderr
                .contains("config.toml:1: there is no key \"aprove\"")
        );
        assert!(ended.state_is_untouched());
    }
    for args in [
        &["--help"][..],
        &["run", "--help"],
        &["explain", "R0"],
        &["--version"],
    ] {
        let ended = brb(&file).args(args).end();
        assert_eq!(ended.exit, Some(0), "{args:?}: {}", ended.stderr);
    }
    let project = [(".pi-bridge.toml", "approve = \"all\"\n")];
    let ended = brb(&project).args(&["run", "x"]).end();
    ended.is_failure(2, "E_CONFIG", "a project that approves");
    // A program reads it as it reads every other end.
    let ended = brb(&file).args(&["run", "x", "--json"]).end();
    let end: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(
        (&end["event"], &end["code"]),
        (&"finished".into(), &"E_CONFIG".into())
    );
}
