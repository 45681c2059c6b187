//! Endpoints that are not what they should be, and browsers that do not start.
#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm, reason = "tests")]

mod common;

use std::os::unix::fs::PermissionsExt;

use cdp::{Control, Endpoint, Launch};
use common::site::Site;
use common::{Ends, Profile, config};
use nix::sys::signal::kill;
use nix::unistd::{Pid, getpgid, getpgrp};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// A server that gives one answer to everything; none: it is never answered.
async fn server(answer: Option<String>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        let mut open = Vec::new();
        while let Ok((mut stream, _)) = listener.accept().await {
            let Some(answer) = &answer else {
                open.push(stream);
                continue;
            };
            let mut head = [0; 4096];
            let _ = stream.read(&mut head).await;
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    port
}

fn http(status: &str, body: &str) -> Option<String> {
    let len = body.len();
    Some(format!(
        "HTTP/1.1 {status}\r\nlocation: http://example.com/\r\ncontent-length: {len}\r\n\r\n{body}"
    ))
}

async fn refusal(endpoint: Endpoint) -> (String, String) {
    let mut config = config(endpoint, "http://chat.test/");
    config.limits.connect_ms = 300;
    config.limits.consent_ms = 300;
    config.limits.call_ms = 300;
    let mut ends = Ends::spawn(config);
    let refusal = ends.never().await;
    ends.close().await;
    refusal
}

#[tokio::test]
async fn an_endpoint_that_is_no_browser_is_named_and_says_why() {
    let far = "{\"webSocketDebuggerUrl\":\"ws://10.0.0.1:1/devtools/browser/x\"}";
    let endless = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nffffff\r\n";
    for (answer, code, why) in [
        (http("200 OK", "<html></html>"), "E_NO_BROWSER", "no JSON"),
        (
            http("200 OK", "{\"Browser\":\"node.js\"}"),
            "E_NO_BROWSER",
            "web socket",
        ),
        (http("404 Not Found", ""), "E_NO_BROWSER", "profile folder"),
        (http("302 Found", ""), "E_NO_BROWSER", "302"),
        (http("200 OK", far), "E_CONFIG", "10.0.0.1"),
        (
            http("200 OK", &"[".repeat(70_000)),
            "E_NO_BROWSER",
            "too long",
        ),
        (
            Some("SSH-2.0-x\r\n".to_owned()),
            "E_NO_BROWSER",
            "is not a browser",
        ),
        (Some(endless.to_owned()), "E_NO_BROWSER", "end of file"),
        (None, "E_NO_BROWSER", "connect_ms"),
    ] {
        let shown = format!("{answer:.60?}");
        let port = server(answer).await;
        let at = format!("http://127.0.0.1:{port}");
        let (got, detail) = refusal(Endpoint::Http(at)).await;
        assert_eq!(got, code, "{shown}: {detail}");
        assert!(detail.contains(why), "{shown}: {detail}");
    }
}

#[tokio::test]
async fn a_socket_that_is_no_browsers_is_named_and_says_why() {
    let port = server(http("400 Bad Request", "")).await;
    let silent = server(None).await;
    let nobody = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let closed = nobody.local_addr().unwrap().port();
    drop(nobody);
    for (port, path, why) in [
        (port, "/devtools/browser/x", "is not a browser"),
        (port, "/devtools/page/x", "one tab's socket"),
        (silent, "/devtools/browser/x", "connect_ms"),
        (closed, "/devtools/browser/x", "nothing listens"),
    ] {
        let url = format!("ws://127.0.0.1:{port}{path}");
        let (code, detail) = refusal(Endpoint::Ws(url)).await;
        assert_eq!(code, "E_NO_BROWSER", "{detail}");
        assert!(detail.contains(why), "{detail}");
    }
    let at = format!("http://127.0.0.1:{closed}");
    let (code, detail) = refusal(Endpoint::Http(at)).await;
    assert!(code == "E_NO_BROWSER" && detail.contains("nothing listens"));
    for far in ["ws://192.0.2.1:9222/devtools/browser/x", "ws://chat.test/x"] {
        assert_eq!(refusal(Endpoint::Ws(far.to_owned())).await.0, "E_CONFIG");
    }
}

#[tokio::test]
async fn a_profile_without_a_running_browser_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let (code, detail) = refusal(Endpoint::Profile(dir.path().to_owned())).await;
    assert!(code == "E_NO_BROWSER" && detail.contains("DevToolsActivePort"));
    for junk in ["", "x\ny", "70000\n/devtools/browser/x", "9222\n"] {
        std::fs::write(dir.path().join("DevToolsActivePort"), junk).unwrap();
        let (code, _) = refusal(Endpoint::Profile(dir.path().to_owned())).await;
        assert_eq!(code, "E_NO_BROWSER", "{junk:?}");
    }
}

/// A program in place of a browser.
fn program(dir: &std::path::Path, script: &str) -> Launch {
    let program = dir.join("program");
    std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    Launch {
        program: Some(program),
        profile: dir.join("profile"),
        headless: true,
        args: Vec::new(),
    }
}

#[tokio::test]
async fn a_program_that_does_not_become_a_browser_is_told_and_ended() {
    let dir = tempfile::tempdir().unwrap();
    let pid_file = dir.path().join("pid");
    let start = async |script: &str, launch_ms: u64| {
        let endpoint = Endpoint::Launch(program(dir.path(), script));
        let mut config = config(endpoint, "http://chat.test/");
        config.limits.launch_ms = launch_ms;
        config.limits.exit_ms = 2_000;
        let mut ends = Ends::spawn(config);
        let (code, detail) = ends.never().await;
        assert_eq!(code, "E_NO_BROWSER", "{detail}");
        ends.close().await;
        detail
    };
    let told = start("echo 'no display' >&2; exit 3", 60_000).await;
    assert!(told.contains("exit status: 3") && told.contains("no display"));
    // One that ignores being asked, floods, and has a child of its own.
    let stubborn = format!(
        "trap '' TERM; echo $$ > {}; yes flood >&2 & while :; do sleep 1; done",
        pid_file.display()
    );
    let told = start(&stubborn, 1_000).await;
    assert!(told.contains("launch_ms"), "{told}");
    let pid = std::fs::read_to_string(&pid_file).unwrap();
    gone(Pid::from_raw(pid.trim().parse().unwrap())).await;
    let nothing = Launch {
        program: Some("/nowhere/chromium".into()),
        ..program(dir.path(), "")
    };
    let (code, detail) = refusal(Endpoint::Launch(nothing)).await;
    assert!(code == "E_NO_BROWSER" && detail.contains("/nowhere/chromium"));
}

#[tokio::test]
async fn a_launch_that_is_given_up_leaves_no_process() {
    let dir = tempfile::tempdir().unwrap();
    let pid_file = dir.path().join("pid");
    let script = format!(
        "echo $$ > {}; while :; do sleep 1; done",
        pid_file.display()
    );
    let launch = program(dir.path(), &script);
    let mut ends = Ends::spawn(config(Endpoint::Launch(launch), "http://chat.test/"));
    let pid = loop {
        if let Ok(pid) = std::fs::read_to_string(&pid_file)
            && let Ok(pid) = pid.trim().parse::<i32>()
        {
            break pid;
        }
        tokio::task::yield_now().await;
    };
    ends.control(Control::Close {
        keep_browser: false,
    })
    .await;
    ends.ended().await;
    gone(Pid::from_raw(pid)).await;
}

#[tokio::test]
async fn a_default_profile_is_never_used() {
    let home = std::path::PathBuf::from(std::env::var_os("HOME").unwrap());
    let launch = Launch {
        program: Some("/bin/false".into()),
        profile: home.join(".config/chromium"),
        headless: true,
        args: Vec::new(),
    };
    let (code, detail) = refusal(Endpoint::Launch(launch)).await;
    assert!(code == "E_CONFIG" && detail.contains("default profile"));
}

#[tokio::test]
async fn a_launched_browser_is_private_its_own_group_found_again_and_closed() {
    let site = Site::start().await;
    let profile = Profile::new();
    let url = site.url("127.0.0.1", "/");
    let (mut ends, first) = Ends::attached(config(profile.launch(), &url)).await;
    let mode = std::fs::metadata(profile.path()).unwrap().permissions();
    assert_eq!(mode.mode() & 0o777, 0o700);
    let pid = Pid::from_raw(profile.pid().unwrap());
    assert_eq!(getpgid(Some(pid)), Ok(pid));
    assert_ne!(pid, getpgrp());

    // A driver that ends without closing it: the next one finds it again.
    ends.control(Control::Close { keep_browser: true }).await;
    ends.ended().await;
    assert!(kill(pid, None).is_ok());
    let mut again = config(profile.launch(), &url);
    again.tab.opened = Some(first.target.clone());
    let (ends, second) = Ends::attached(again).await;
    assert_eq!(second.target, first.target);
    assert_eq!(profile.pid(), Some(pid.as_raw()));
    ends.close().await;
    gone(pid).await;

    // And one that launched it itself closes it.
    let (ends, _) = Ends::attached(config(profile.launch(), &url)).await;
    let pid = Pid::from_raw(profile.pid().unwrap());
    ends.close().await;
    gone(pid).await;
}

/// The whole group of a browser that was closed ends.
async fn gone(pid: Pid) {
    let group = Pid::from_raw(-pid.as_raw());
    let gone = async {
        while kill(group, None).is_ok() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(common::PATIENCE, gone)
        .await
        .expect("nothing of the browser is left");
}
