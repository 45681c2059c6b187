//! What can be checked without a browser.

use std::{
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use protocol::{
    id::Sid,
    record::{PlanStage, State},
    send::SendState,
};

use super::Check;
use crate::{
    agent::{SandboxKind, sandbox},
    index::Standing,
    journal::{Access, SqliteJournal, locks::Lock},
    place::Place,
};

/// Less space than this is said, in bytes.
const SPACE_MIN: u64 = 200 << 20;

pub(super) fn checks(place: &Place) -> Vec<Check> {
    let mut all = vec![state_folder(place)];
    all.extend(journals(place));
    all.push(sandbox());
    all.push(git());
    all.push(locale());
    all
}

fn state_folder(place: &Place) -> Check {
    const NAME: &str = "state";
    let folder = place.state.display().to_string();
    let other = "Name another folder with `--state-dir`.";
    if let Err(error) = place.make_state() {
        return Check::fail(NAME, format!("{folder} cannot be made: {error}"), other);
    }
    if let Err(error) = tempfile::Builder::new()
        .prefix(".doctor")
        .tempfile_in(&place.state)
    {
        return Check::fail(NAME, format!("{folder} cannot be written: {error}"), other);
    }
    let mode = std::fs::metadata(&place.state).map_or(0, |meta| meta.permissions().mode() & 0o777);
    if mode & 0o077 != 0 {
        let found = format!("{folder} is open to others (mode {mode:o})");
        return Check::warn(NAME, found, format!("Run chmod 700 {folder}."));
    }
    match space(&place.state) {
        Some(free) if free < SPACE_MIN => Check::warn(
            NAME,
            format!("{folder} has {} MiB left", free >> 20),
            "Free space: a record that cannot be stored ends the run.",
        ),
        Some(_) | None => Check::ok(NAME, folder),
    }
}

fn space(folder: &Path) -> Option<u64> {
    let stat = nix::sys::statvfs::statvfs(folder).ok()?;
    #[allow(
        clippy::useless_conversion,
        reason = "the widths of these numbers differ between platforms"
    )]
    Some(u64::from(stat.blocks_available()).saturating_mul(u64::from(stat.fragment_size())))
}

fn journals(place: &Place) -> Vec<Check> {
    const NAME: &str = "journals";
    let sids = match place.sessions() {
        Ok(sids) => sids,
        Err(error) => {
            let found = format!("the sessions cannot be listed: {error}");
            return vec![Check::fail(
                NAME,
                found,
                "Mend the rights of the state folder.",
            )];
        }
    };
    let mut all = Vec::new();
    for sid in &sids {
        let folder = place.session(sid);
        match SqliteJournal::open(&folder, Access::Read) {
            Err(error) => {
                let remedy = error.remedy();
                all.push(Check::fail(NAME, format!("{sid}: {error}"), remedy));
            }
            Ok(found) => match protocol::record::fold(&found.entries) {
                Err(error) => all.push(Check::fail(
                    NAME,
                    format!("{sid}: {error}"),
                    "Begin a new session; keep this folder for a report.",
                )),
                Ok(state) => {
                    let running = Lock::session_holder(&folder).is_ok_and(|by| by.is_some());
                    if !running {
                        all.extend(left_open(sid, &state));
                    }
                }
            },
        }
    }
    if all.is_empty() {
        all.push(Check::ok(
            NAME,
            format!("{} read, all as written", sids.len()),
        ));
    }
    all
}

/// What a session needs whose last run was killed, or left a message or a plan unproven,
/// also where a stop stands for another reason.
fn left_open(sid: &Sid, state: &State) -> Vec<Check> {
    const NAME: &str = "sessions";
    let go_on = match Standing::of(state) {
        Standing::Open { .. } => format!("Go on with `brb run --continue {sid}`."),
        Standing::Stopped { .. } => format!("Decide with `brb resume {sid}`."),
        Standing::Done => format!("See `brb status {sid}`."),
    };
    let flying = state.in_flight();
    let mut all = Vec::new();
    if flying.is_some_and(|row| row.state() == SendState::Unknown) {
        all.push(Check::warn(
            NAME,
            format!("{sid}: whether its last message was sent is not known"),
            format!("It is never sent again by itself. {go_on}"),
        ));
    }
    let plan = state.plan.as_ref();
    if plan.is_some_and(|plan| plan.stage != PlanStage::Accepted) {
        all.push(Check::warn(
            NAME,
            format!("{sid}: a plan was started and has not settled"),
            format!("It never runs again by itself. {go_on}"),
        ));
    }
    if state.stop.is_none() && !state.is_closed() && all.is_empty() {
        all.push(Check::warn(
            NAME,
            format!("{sid}: its last run was killed"),
            go_on,
        ));
    }
    all
}

fn sandbox() -> Check {
    const NAME: &str = "sandbox";
    let exe = match std::env::current_exe() {
        Ok(exe) => exe,
        Err(error) => return Check::fail(NAME, format!("{error}"), "Run brb by its path."),
    };
    let detected = sandbox::detect(&exe);
    match detected.kind(None) {
        Some(kind @ (SandboxKind::Bubblewrap | SandboxKind::Landlock)) => {
            Check::ok(NAME, kind.name())
        }
        Some(SandboxKind::Off) | None => {
            let said = |why: Option<String>| why.unwrap_or_default();
            Check::fail(
                NAME,
                format!(
                    "bubblewrap: {}; landlock with seccomp: {}",
                    said(detected.bubblewrap.as_ref().err().map(ToString::to_string)),
                    said(detected.landlock.as_ref().err().map(ToString::to_string)),
                ),
                "Install bubblewrap, or run with `--sandbox off` on a machine you can lose.",
            )
        }
    }
}

fn git() -> Check {
    const NAME: &str = "git";
    let said = Command::new("git")
        .arg("--version")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    match said {
        Ok(said) if said.status.success() => Check::ok(
            NAME,
            String::from_utf8_lossy(&said.stdout).trim().to_owned(),
        ),
        Ok(_) | Err(_) => Check::warn(
            NAME,
            "git does not run, so no plan can be undone",
            "Install git, or run with `--no-undo`.",
        ),
    }
}

fn locale() -> Check {
    const NAME: &str = "locale";
    let named = ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
    match named {
        Some(name) if name.to_ascii_lowercase().replace('-', "").contains("utf8") => {
            Check::ok(NAME, name)
        }
        Some(name) => Check::warn(
            NAME,
            format!("{name} is not UTF-8"),
            "Set LANG to a UTF-8 locale, such as C.UTF-8: plans may hold any character.",
        ),
        None => Check::warn(
            NAME,
            "none is set",
            "Set LANG to a UTF-8 locale, such as C.UTF-8: plans may hold any character.",
        ),
    }
}

/// The first of these programs that stands on PATH.
pub(super) fn on_path(programs: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    programs.iter().find_map(|program| {
        folders
            .iter()
            .map(|folder| folder.join(program))
            .find(|file| file.is_file())
    })
}
