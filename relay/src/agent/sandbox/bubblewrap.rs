//! The namespaces of bubblewrap: what is not mounted is not there.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use super::{ETC, ETC_NET, Refusal, SYSTEM, Shape, text};
use crate::agent::KEEP;

/// Where `brb` stands inside.
pub(super) const EXE_INSIDE: &str = "/run/brb";
/// The empty home.
pub(super) const HOME_INSIDE: &str = "/home/agent";

const PLACES: &[&str] = &["/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap"];

fn program() -> Option<&'static str> {
    PLACES.iter().copied().find(|p| Path::new(p).is_file())
}

/// Whether the version installed has an option; it came with 0.8.
fn knows(option: &str) -> bool {
    let help = program().and_then(|p| {
        Command::new(p)
            .arg("--help")
            .stdin(Stdio::null())
            .output()
            .ok()
    });
    help.is_some_and(|h| String::from_utf8_lossy(&h.stdout).contains(option))
}

/// Everything but the mounts of one execution.
fn frame(net: bool) -> Vec<String> {
    // As process 1 the keeper cannot be killed from inside, and its end ends all the others;
    // when the wrapper goes, bubblewrap goes, and the keeper with it.
    let mut args: Vec<&str> = vec![
        "--unshare-user",
        "--unshare-ipc",
        "--unshare-pid",
        "--unshare-uts",
        "--unshare-cgroup-try",
        "--die-with-parent",
        "--as-pid-1",
        "--new-session",
        "--cap-drop",
        "ALL",
    ];
    if knows("--disable-userns") {
        args.push("--disable-userns");
    }
    if !net {
        args.push("--unshare-net");
    }
    let mut args: Vec<String> = args.into_iter().map(str::to_owned).collect();
    for dir in SYSTEM {
        match fs::read_link(dir) {
            Ok(target) => args.extend(["--symlink".into(), text(&target), (*dir).into()]),
            Err(_) => args.extend(["--ro-bind-try".into(), (*dir).into(), (*dir).into()]),
        }
    }
    for file in ETC.iter().chain(if net { ETC_NET } else { &[] }) {
        args.extend(["--ro-bind-try".into(), (*file).into(), (*file).into()]);
    }
    args.extend(["--proc", "/proc", "--dev", "/dev"].map(str::to_owned));
    args
}

/// Program and arguments that start the keeper inside.
pub(super) fn keeper(shape: &Shape) -> Vec<String> {
    let mut args = vec![program().unwrap_or("bwrap").to_owned()];
    args.extend(frame(shape.net));
    let mut mount = |how: &str, from: String, to: String| args.extend([how.to_owned(), from, to]);
    mount("--bind", text(&shape.scratch.join("tmp")), "/tmp".into());
    mount(
        "--bind",
        text(&shape.scratch.join("home")),
        HOME_INSIDE.into(),
    );
    // Where the work folder itself stands in there, the link would be in its way.
    if !shape.cwd.starts_with("/var") {
        mount("--symlink", "/tmp".into(), "/var/tmp".into());
    }
    mount("--ro-bind", text(&shape.exe), EXE_INSIDE.into());
    for dir in &shape.visible {
        mount("--ro-bind-try", text(dir), text(dir));
    }
    let work = if shape.read_only {
        "--ro-bind"
    } else {
        "--bind"
    };
    mount(work, text(&shape.cwd), text(&shape.cwd));
    for git in &shape.git {
        mount("--ro-bind", text(git), text(git));
    }
    // What holds the mounts together is not a place to write.
    args.extend(["--remount-ro".into(), "/".into()]);
    args.extend([
        "--chdir".into(),
        text(&shape.cwd),
        "--".into(),
        EXE_INSIDE.into(),
        KEEP.into(),
    ]);
    args
}

/// bubblewrap's version where it works here, else what it said.
pub(super) fn probe(exe: &Path) -> Result<String, Refusal> {
    let program = program().ok_or_else(|| Refusal::of("not installed"))?;
    let version = Command::new(program)
        .arg("--version")
        .output()
        .map_err(Refusal::of)
        .map(|o| String::from_utf8_lossy(&o.stdout).trim().to_owned())?;
    let output = Command::new(program)
        .env_clear()
        .args(frame(false))
        .args([
            "--ro-bind",
            &text(exe),
            EXE_INSIDE,
            "--",
            "/bin/sh",
            "-c",
            ":",
        ])
        .stdin(Stdio::null())
        .output()
        .map_err(Refusal::of)?;
    if output.status.success() {
        return Ok(version);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let why = said.lines().next().unwrap_or("no reason given");
    Err(Refusal::of(format!("{version} does not work here: {why}")))
}
