//! `brb replay` on recordings as they lie on the disk.

#![allow(clippy::unwrap_used, reason = "these are tests")]

mod cli_support;

use std::path::{Path, PathBuf};

use cli_support::{Brb, Ended};

fn recording(name: &str) -> PathBuf {
    Path::new(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../fixtures/recordings"
    ))
    .join(name)
}

fn replay(dir: &Path, more: &[&str]) -> Ended {
    let dir = dir.to_str().unwrap();
    Brb::new().args(&[&["replay", dir], more].concat()).end()
}

fn copied(of: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for file in ["timeline.jsonl", "expected.json"] {
        std::fs::copy(recording(of).join(file), dir.path().join(file)).unwrap();
    }
    dir
}

#[test]
fn the_expected_verdict_ends_with_zero_and_is_explained() {
    let ended = replay(&recording("b11-classic"), &[]);
    assert_eq!(ended.exit, Some(0), "{}", ended.stderr);
    for words in [
        "reply of 57 characters, bar",
        "two sources that agree",
        "verdict: complete",
        "expected: this",
    ] {
        assert!(ended.stdout.contains(words), "{words}: {}", ended.stdout);
    }
    assert!(
        !ended.stdout.contains("TASK"),
        "a text of the page is printed"
    );
}

#[test]
fn another_verdict_ends_with_one_and_says_why() {
    let dir = copied("b11-classic");
    let expected = r#"{"whole": "x", "verdict": "failed", "code": "E_CAPTURE"}"#;
    std::fs::write(dir.path().join("expected.json"), expected).unwrap();
    let ended = replay(dir.path(), &["--json"]);
    assert_eq!(ended.exit, Some(1), "{}", ended.stderr);
    let last: serde_json::Value =
        serde_json::from_str(ended.stdout.lines().last().unwrap()).unwrap();
    assert_eq!(
        (last["event"].as_str(), last["expected"].as_bool()),
        (Some("replayed"), Some(false))
    );
    assert!(last["differs"].as_str().unwrap().contains("E_CAPTURE"));
}

#[test]
fn what_is_no_recording_is_refused_with_its_line() {
    let dir = copied("b11-classic");
    let timeline = dir.path().join("timeline.jsonl");
    let good = std::fs::read_to_string(&timeline).unwrap();
    let first = good.lines().next().unwrap();
    let cases = [
        ("", "line 1"),
        ("{", "line 1"),
        (
            &format!("{first}\n{{\"t_ms\":0,\"kind\":\"dream\"}}\n"),
            "line 2",
        ),
        (
            &format!("{first}\n{{\"t_ms\":0,\"kind\":\"note\",\"text\":\"\",\"txet\":\"x\"}}\n"),
            "`txet`",
        ),
        (
            &format!("{first}\n{{\"t_ms\":0,\"kind\":\"note\",\"text\":\"\"}}\n"),
            "`message`",
        ),
        (
            &format!("{first}\n{{\"t_ms\":0,\"kind\":\"observation\",\"observation\":{{}}}}\n"),
            "line 2",
        ),
        // Torn in its last line, with a line of ten megabytes, of a form to come, of another tool.
        (&good[..good.len() - 10], "line "),
        (
            &format!(
                "{first}\n{{\"t_ms\":0,\"kind\":\"note\",\"text\":\"{}\"}}\n",
                "x".repeat(10 << 20)
            ),
            "line 2",
        ),
        (&first.replacen('{', "{\"schema_version\":2,", 1), "line 1"),
        ("\u{0}\u{1}PNG", "line 1"),
    ];
    for (text, words) in cases {
        std::fs::write(&timeline, text).unwrap();
        let ended = replay(dir.path(), &[]);
        assert_eq!(ended.exit, Some(2), "{words}: {}", ended.stderr);
        assert!(ended.stderr.contains(words), "{words}: {}", ended.stderr);
    }
    std::fs::write(&timeline, good).unwrap();
    std::fs::write(
        dir.path().join("expected.json"),
        "{\"verdict\":\"complete\"}",
    )
    .unwrap();
    let ended = replay(dir.path(), &[]);
    assert_eq!(ended.exit, Some(2), "{}", ended.stderr);
    assert!(ended.stderr.contains("expected.json"), "{}", ended.stderr);
    assert_eq!(replay(Path::new("/nonexistent"), &[]).exit, Some(2));
    let foreign = replay(Path::new("/usr/bin"), &[]);
    assert_eq!(foreign.exit, Some(2), "{}", foreign.stderr);
}

/// What a session was seen to be says nothing of what its page did.
#[test]
fn a_recording_without_a_page_is_replayed_and_not_played() {
    let dir = copied("b11-classic");
    let timeline = dir.path().join("timeline.jsonl");
    let good = std::fs::read_to_string(&timeline).unwrap();
    let is_page = |line: &&str| line.contains("\"kind\":\"page\"");
    let seen: Vec<&str> = good.lines().filter(|line| !is_page(line)).collect();
    std::fs::write(&timeline, seen.join("\n")).unwrap();
    let ended = replay(dir.path(), &[]);
    assert_eq!(ended.exit, Some(0), "{}", ended.stderr);
    let ended = replay(dir.path(), &["--live"]);
    assert_eq!(ended.exit, Some(2), "{}", ended.stderr);
    assert!(ended.stderr.contains("--live"), "{}", ended.stderr);
}
