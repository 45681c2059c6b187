//! Start a browser of our own: own profile, own port, own process group.

use std::collections::VecDeque;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::{Pid, geteuid};
use tokio::io::{AsyncReadExt, BufReader};
use tokio::process::{Child, ChildStderr, Command};
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::config::Launch;
use crate::error::{BrowserFault, Error, OursFault, bounded};
use crate::limits::Limit;

const PROGRAMS: &[&str] = &[
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "microsoft-edge",
];

/// Folders under the home that hold default profiles.
const DEFAULTS: &[&str] = &[
    ".config/chromium",
    ".config/google-chrome",
    ".config/google-chrome-beta",
    ".config/google-chrome-unstable",
    ".config/microsoft-edge",
    ".config/BraveSoftware",
    "snap/chromium",
    ".var/app/org.chromium.Chromium",
    ".var/app/com.google.Chrome",
];

/// No first-run pages, no crash bubbles, no traffic of its own, and nothing
/// that slows a tab because it is not looked at.
const QUIET: &[&str] = &[
    "--remote-debugging-port=0",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-default-apps",
    "--disable-breakpad",
    "--disable-quic",
    "--hide-crash-restore-bubble",
    "--password-store=basic",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
];

/// Lines of the browser's chatter that are kept for an error's sake.
const CHATTER_LINES: usize = 20;
const CHATTER_LINE_BYTES: usize = 400;

/// A browser that we started.
#[derive(Debug)]
pub(super) struct Started {
    pub ws: String,
    child: Child,
}

/// Makes the profile folder, private to us.
pub(super) fn prepare_profile(profile: &Path) -> Result<(), OursFault> {
    let fault = |why: String| OursFault::Profile {
        path: profile.to_owned(),
        why,
    };
    refuse_default(
        profile,
        std::env::var_os("HOME").map(PathBuf::from).as_deref(),
    )?;
    std::fs::create_dir_all(profile).map_err(|e| fault(e.to_string()))?;
    // By its real path once more: a link may lead into a default profile.
    let real = profile.canonicalize().map_err(|e| fault(e.to_string()))?;
    refuse_default(
        &real,
        std::env::var_os("HOME").map(PathBuf::from).as_deref(),
    )?;
    let meta = std::fs::metadata(&real).map_err(|e| fault(e.to_string()))?;
    if !meta.is_dir() {
        return Err(fault("it is no folder".to_owned()));
    }
    if meta.uid() != geteuid().as_raw() {
        return Err(fault("it belongs to somebody else".to_owned()));
    }
    std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o700))
        .map_err(|e| fault(e.to_string()))
}

fn refuse_default(profile: &Path, home: Option<&Path>) -> Result<(), OursFault> {
    let inside = home.is_some_and(|home| {
        DEFAULTS
            .iter()
            .any(|folder| profile.starts_with(home.join(folder)))
    });
    if inside {
        return Err(OursFault::DefaultProfile {
            path: profile.to_owned(),
        });
    }
    Ok(())
}

fn find_program(wish: &Launch) -> Result<PathBuf, BrowserFault> {
    if let Some(program) = &wish.program {
        return Ok(program.clone());
    }
    known_program().ok_or_else(|| BrowserFault::NoProgram {
        tried: PROGRAMS.join(", "),
    })
}

/// The first known browser program that stands on `PATH`.
pub fn known_program() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    PROGRAMS
        .iter()
        .flat_map(|name| std::env::split_paths(&path).map(move |dir| dir.join(name)))
        .find(|file| file.is_file())
}

/// Starts it and waits until it tells its endpoint.
pub(super) async fn start(wish: &Launch, limit: Limit, exit: Limit) -> Result<Started, Error> {
    let program = find_program(wish)?;
    let mut command = Command::new(&program);
    command
        .arg(format!("--user-data-dir={}", wish.profile.display()))
        .args(QUIET)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        // Its own group, so that a Ctrl-C at our terminal does not reach it.
        .process_group(0);
    if wish.headless {
        command.args(["--headless=new", "--disable-gpu"]);
    }
    if geteuid().is_root() {
        command.arg("--no-sandbox");
    }
    command.args(&wish.args).arg("about:blank");
    let child = command.spawn().map_err(|e| BrowserFault::DidNotStart {
        why: format!("{}: {e}", program.display()),
    })?;
    let mut starting = Starting(Some(child));
    let chatter = Arc::new(Mutex::new(VecDeque::new()));
    let (told, endpoint) = oneshot::channel();
    let stderr = starting.0.as_mut().and_then(|child| child.stderr.take());
    let drained = tokio::spawn(drain(stderr, Arc::clone(&chatter), told));
    let outcome = timeout(limit.span(), endpoint).await;
    let ws = outcome.ok().and_then(Result::ok);
    let Some(child) = starting.0.take() else {
        return Err(not_started("it has no process".to_owned()).into());
    };
    let mut started = Started {
        ws: ws.clone().unwrap_or_default(),
        child,
    };
    if ws.is_some() {
        return Ok(started);
    }
    let how = match started.ended_within(Duration::from_millis(200)).await {
        Some(end) => end,
        None => format!("it told no endpoint within {}", limit.0),
    };
    started.end(false, exit).await;
    drained.abort();
    let last: Vec<String> = chatter
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .drain(..)
        .collect();
    Err(not_started(bounded(format!("{how}; it said: {}", last.join(" | ")))).into())
}

fn not_started(why: String) -> BrowserFault {
    BrowserFault::DidNotStart { why }
}

/// A browser that is starting. Given up before it tells its endpoint, it is
/// killed with its whole group: nobody would ever find it again.
struct Starting(Option<Child>);

impl Drop for Starting {
    fn drop(&mut self) {
        if let Some(group) = self.0.as_ref().and_then(group_of) {
            let _ = killpg(group, Signal::SIGKILL);
        }
    }
}

/// The group's number, which is ours until the child is reaped.
fn group_of(child: &Child) -> Option<Pid> {
    let id = child.id()?;
    i32::try_from(id).ok().map(Pid::from_raw)
}

/// Reads the browser's chatter for as long as it talks, so that it never
/// blocks on a full pipe, and finds its endpoint in it.
async fn drain(
    stderr: Option<ChildStderr>,
    chatter: Arc<Mutex<VecDeque<String>>>,
    told: oneshot::Sender<String>,
) {
    let Some(stderr) = stderr else { return };
    let mut told = Some(told);
    let mut reader = BufReader::new(stderr);
    let mut line: Vec<u8> = Vec::new();
    let mut piece = [0u8; 4096];
    while let Ok(n) = reader.read(&mut piece).await {
        if n == 0 {
            break;
        }
        for &byte in &piece[..n] {
            if byte != b'\n' {
                if line.len() < CHATTER_LINE_BYTES {
                    line.push(byte);
                }
                continue;
            }
            let text = String::from_utf8_lossy(&line).trim().to_owned();
            line.clear();
            if let Some(ws) = text.strip_prefix("DevTools listening on ")
                && let Some(told) = told.take()
            {
                let _ = told.send(ws.to_owned());
            }
            let mut kept = chatter.lock().unwrap_or_else(PoisonError::into_inner);
            if kept.len() == CHATTER_LINES {
                kept.pop_front();
            }
            kept.push_back(text);
        }
    }
}

impl Started {
    /// How it ended, if it does so within a span.
    pub(super) async fn ended_within(&mut self, span: Duration) -> Option<String> {
        match timeout(span, self.child.wait()).await {
            Ok(Ok(status)) => Some(format!("its process ended with {status}")),
            Ok(Err(error)) => Some(format!("its process cannot be waited for: {error}")),
            Err(_) => None,
        }
    }

    /// Sees it ended: waited for where it was asked to close, then its whole
    /// process group is told, then killed.
    pub(super) async fn end(&mut self, asked: bool, limit: Limit) {
        let group = group_of(&self.child);
        if asked && self.ended_within(limit.span()).await.is_some() {
            return;
        }
        let Some(group) = group else { return };
        let _ = killpg(group, Signal::SIGTERM);
        let ended = self.ended_within(limit.span()).await.is_some();
        // Whatever of the group outlived its leader goes too.
        let _ = killpg(group, Signal::SIGKILL);
        if !ended && self.ended_within(limit.span()).await.is_none() {
            tracing::warn!("the browser's process was killed and has not ended");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_default_profile_is_refused_with_everything_in_it() {
        let home = Path::new("/home/me");
        for bad in [
            "/home/me/.config/chromium",
            "/home/me/.config/google-chrome/Default",
            "/home/me/snap/chromium/common/chromium",
        ] {
            assert!(refuse_default(Path::new(bad), Some(home)).is_err(), "{bad}");
        }
        for good in [
            "/home/me/.config/chromium-of-mine",
            "/home/me/.local/state/pi-bridge/profile",
        ] {
            assert!(
                refuse_default(Path::new(good), Some(home)).is_ok(),
                "{good}"
            );
        }
    }

    #[test]
    fn a_profile_folder_is_made_private_even_if_it_was_not() {
        let dir = tempfile::tempdir().unwrap();
        let profile = dir.path().join("a/b");
        std::fs::create_dir_all(&profile).unwrap();
        std::fs::set_permissions(&profile, std::fs::Permissions::from_mode(0o755)).unwrap();
        prepare_profile(&profile).unwrap();
        let mode = std::fs::metadata(&profile).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
    }

    #[test]
    fn a_file_in_the_profiles_place_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("profile");
        std::fs::write(&file, "x").unwrap();
        assert!(matches!(
            prepare_profile(&file),
            Err(OursFault::Profile { .. })
        ));
    }
}
