//! `brb record` beside a session on the stand-in page: what it writes holds a proof of the
//! reply and nothing that anybody wrote.
#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm, reason = "tests")]

mod observe_support;
#[path = "../../cdp/tests/common/raw.rs"]
#[allow(dead_code, reason = "a part of it is used")]
mod raw;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use fixtures::server::Layout;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use observe_support::{Browser, PATIENCE, Page, Play};
use protocol::page::Anchor;
use protocol::reply::Verdict;
use raw::Raw;
use relay::recording::replay::outcome;
use relay::recording::{Judged, Recording};

const MESSAGE: &str = "Tell canarymessage.\n\nIts second canarymessage line, with 4711 numbers.";
const REPLY: &str = "# Canaryreply\n\nThe *canaryreply* is `canaryreply 4711`.\n\n1. one\n12. twelve\n\n```sh\ncanaryreply --now\n```\n\nDone 終了.";
/// Planted where nothing may be taken from.
const PLANT: &str = r#"(() => {
  document.cookie = "session=canarycookie; path=/";
  localStorage.setItem("token", "canarystore");
  const plain = window.fetch;
  window.fetch = (url, options = {}) =>
    plain(url, { ...options, headers: { ...options.headers, authorization: "Bearer canaryheader" } });
  const title = document.createElement("a");
  title.textContent = "canarytitle";
  title.href = "/c/canarytitle";
  document.querySelector("nav").append(title);
  return true;
})()"#;
const CANARIES: &[&str] = &[
    "canary",
    "4711",
    "Login issue",
    "Groceries",
    "P. Person",
    "終了",
    "127.0.0.1",
];

struct Recorder(Child);

impl Recorder {
    /// Starts and is attached.
    fn start(profile: &Path, tab: &str, out: &Path) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_brb"))
            .args(["record", "--attach"])
            .arg(profile)
            .args(["--tab", tab, "--seconds", "300", "--out"])
            .arg(out)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        stderr.read_line(&mut line).unwrap();
        assert!(line.contains("recording"), "{line}");
        Self(child)
    }

    fn end(mut self) -> i32 {
        kill(
            Pid::from_raw(i32::try_from(self.0.id()).unwrap()),
            Signal::SIGINT,
        )
        .unwrap();
        self.0.wait().unwrap().code().unwrap()
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        let _ = self.0.kill();
    }
}

#[test]
fn a_recording_proves_the_reply_and_holds_nothing_that_anybody_wrote() {
    let browser = Browser::new();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        for layout in [Layout::Classic, Layout::Keyed] {
            let out = tempfile::tempdir().unwrap();
            let dir = out.path().join("seen");
            let mut page = Page::open(&browser, &Play::new(layout, REPLY, "")).await;
            page.until_look("an idle page", |look| {
                look.layout.is_some() && look.is_idle()
            })
            .await;
            let mut raw = Raw::of(&browser.profile()).await;
            let pages = raw.pages().await;
            let ours = pages
                .iter()
                .find(|one| one["url"] == page.standin.url.as_str());
            let tab = ours.unwrap()["targetId"].as_str().unwrap().to_owned();
            assert_eq!(raw.eval(&tab, PLANT).await, true);
            let (profile, to) = (browser.profile(), dir.clone());
            let recorder =
                tokio::task::spawn_blocking(move || Recorder::start(&profile, &tab, &to))
                    .await
                    .unwrap();
            let mut evidence = page.send(MESSAGE, Anchor::Empty).await;
            let limits = capture::Limits::default();
            let verdict = page.follow(&mut evidence, &limits, PATIENCE).await;
            assert!(
                matches!(verdict, Verdict::Complete(_)),
                "{layout:?}: {verdict}"
            );
            // The recorder has its own looks, one a second.
            for _ in 0..3 {
                page.until_look("a later look", |look| look.is_idle()).await;
            }
            let code = tokio::task::spawn_blocking(move || recorder.end())
                .await
                .unwrap();
            page.close().await;
            assert_eq!(code, 0, "{layout:?}");
            let mut all = String::new();
            for entry in std::fs::read_dir(&dir).unwrap() {
                all.push_str(&std::fs::read_to_string(entry.unwrap().path()).unwrap());
            }
            for canary in CANARIES {
                assert!(
                    !all.to_lowercase().contains(&canary.to_lowercase()),
                    "{layout:?}: {canary} in\n{all}"
                );
            }
            assert!(all.contains("\"kind\":\"html\""), "{layout:?}");
            let recording = Recording::load(&dir).unwrap();
            let steps = recording.steps();
            let Some(Judged::Verdict(Verdict::Complete(captured))) = outcome(&steps) else {
                panic!("{layout:?}: {}", steps.last().unwrap().judged);
            };
            let redacted = relay::recording::redact::Redactor::default().text(REPLY);
            assert_eq!(captured.text.as_str(), redacted, "{layout:?}");
        }
    });
}
