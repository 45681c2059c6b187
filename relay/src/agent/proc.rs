//! Finding and ending processes through `/proc`: descendants, holders of a file, an environment mark.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};

use crate::name;

/// The variable that marks every process started for a session.
pub const MARK: &str = "BRB_SID";

/// How long ending a tree may take before what is left counts as not to be ended.
pub const KILL_MS_MAX: u64 = 5_000;

/// One process, as far as it is needed to name it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    /// Its id in our namespace.
    pub pid: i32,
    /// Its parent's id.
    pub ppid: i32,
    /// Its short name, from outside: data.
    pub name: String,
    /// Whether it has ended and waits to be collected.
    pub zombie: bool,
}

/// Parses `/proc/PID/stat`; the name stands in parentheses and may hold any byte.
fn parse_stat(stat: &str) -> Option<Process> {
    let (head, rest) = stat.rsplit_once(')')?;
    let (pid, name) = head.split_once('(')?;
    let mut fields = rest.split_whitespace();
    let state = fields.next()?;
    Some(Process {
        pid: pid.trim().parse().ok()?,
        ppid: fields.next()?.parse().ok()?,
        name: name.to_owned(),
        zombie: matches!(state, "Z" | "X"),
    })
}

fn pids() -> impl Iterator<Item = i32> {
    fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|e| e.file_name().to_str().and_then(|n| n.parse().ok()))
}

fn read_process(pid: i32) -> Option<Process> {
    let bytes = fs::read(format!("/proc/{pid}/stat")).ok()?;
    parse_stat(&String::from_utf8_lossy(&bytes))
}

/// All descendants of `root` that have not ended, parents before children.
#[must_use]
pub fn descendants(root: i32) -> Vec<Process> {
    let mut rest: Vec<Process> = pids().filter_map(read_process).collect();
    let mut found: Vec<Process> = Vec::new();
    let mut parents = vec![root];
    while let Some(parent) = parents.pop() {
        let mut i = 0;
        while i < rest.len() {
            if rest[i].ppid == parent && rest[i].pid != root {
                let child = rest.swap_remove(i);
                parents.push(child.pid);
                found.push(child);
            } else {
                i += 1;
            }
        }
    }
    found.retain(|p| !p.zombie);
    found
}

/// Sends `signal` to every descendant of `root` once.
pub fn signal_descendants(root: i32, signal: Signal) {
    for p in descendants(root) {
        // It may have ended meanwhile, which is what we want.
        let _ = kill(Pid::from_raw(p.pid), signal);
    }
}

/// Ends every descendant of `root`, again and again until none is left; what is left after
/// [`KILL_MS_MAX`] is returned. `reap` is called between the rounds.
pub fn kill_descendants(root: i32, mut reap: impl FnMut()) -> Vec<Process> {
    let start = Instant::now();
    loop {
        let left = descendants(root);
        if left.is_empty() {
            return left;
        }
        for p in &left {
            // Stopped first, so that a tree that keeps forking cannot outrun the round.
            let _ = kill(Pid::from_raw(p.pid), Signal::SIGSTOP);
        }
        for p in &left {
            let _ = kill(Pid::from_raw(p.pid), Signal::SIGKILL);
        }
        reap();
        if start.elapsed() > Duration::from_millis(KILL_MS_MAX) {
            return left;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The processes that have this very file open.
#[must_use]
pub fn holders_of(path: &Path) -> Vec<Process> {
    let Ok(meta) = fs::metadata(path) else {
        return Vec::new();
    };
    let is_it = |fd: fs::DirEntry| {
        fs::metadata(fd.path()).is_ok_and(|m| m.dev() == meta.dev() && m.ino() == meta.ino())
    };
    pids()
        .filter(|pid| {
            *pid != std::process::id() as i32
                && fs::read_dir(format!("/proc/{pid}/fd")).is_ok_and(|fds| fds.flatten().any(is_it))
        })
        .filter_map(read_process)
        .collect()
}

/// The processes other than this one that hold a name of this machine.
#[must_use]
pub fn holders_of_name(name: &str) -> Vec<Process> {
    let links = name::links(name).unwrap_or_default();
    let holds = |pid: &i32| name::is_any_in(&links, Path::new(&format!("/proc/{pid}/fd")));
    pids()
        .filter(|pid| *pid != std::process::id() as i32 && holds(pid))
        .filter_map(read_process)
        .collect()
}

/// The processes that carry the mark of a session in their environment.
#[must_use]
pub fn marked(sid: &str) -> Vec<Process> {
    let mark = format!("{MARK}={sid}");
    pids()
        .filter(|pid| {
            fs::read(format!("/proc/{pid}/environ"))
                .is_ok_and(|env| env.split(|b| *b == 0).any(|v| v == mark.as_bytes()))
        })
        .filter_map(read_process)
        .filter(|p| !p.zombie)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_parentheses_and_blanks_is_read_whole() {
        let p = parse_stat("12 (a) b (c)) S 7 12 12 0").expect("parses");
        assert_eq!(
            (p.pid, p.ppid, p.name.as_str(), p.zombie),
            (12, 7, "a) b (c)", false)
        );
    }

    #[test]
    fn a_line_cut_short_is_no_process() {
        assert_eq!(parse_stat("12 (sh) S"), None);
        assert_eq!(parse_stat(""), None);
    }
}
