//! Which processes belong to a run: its browser, and whatever it left.

use std::{
    fs,
    path::{Path, PathBuf},
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};

/// A process, as `/proc` shows it.
struct Proc {
    pid: Pid,
    dir: PathBuf,
}

impl Proc {
    fn all() -> Vec<Self> {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        entries
            .filter_map(|entry| {
                let pid = entry.file_name().to_str()?.parse().ok()?;
                Some(Self {
                    pid: Pid::from_raw(pid),
                    dir: entry.path(),
                })
            })
            .collect()
    }

    /// The words of its command line; none where it has just gone.
    fn words(&self) -> Vec<String> {
        let line = fs::read(self.dir.join("cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0)
            .filter(|word| !word.is_empty())
            .map(|word| String::from_utf8_lossy(word).into_owned())
            .collect()
    }

    fn has_environ(&self, such: impl Fn(&[u8]) -> bool) -> bool {
        let environ = fs::read(self.dir.join("environ")).unwrap_or_default();
        environ.split(|byte| *byte == 0).any(such)
    }

    /// A process that has ended and was not waited for holds nothing.
    fn is_over(&self) -> bool {
        let stat = fs::read_to_string(self.dir.join("stat")).unwrap_or_default();
        let state = stat
            .rsplit_once(") ")
            .and_then(|(_, rest)| rest.chars().next());
        matches!(state, None | Some('Z' | 'X'))
    }
}

/// The browser's own process: the one on this profile that is none of its helpers.
pub fn browser(profile: &Path) -> Option<Pid> {
    let on_profile = format!("--user-data-dir={}", profile.display());
    Proc::all()
        .into_iter()
        .find(|proc| {
            let words = proc.words();
            let shell = words.first().is_some_and(|first| first.ends_with("sh"));
            !shell
                && words.contains(&on_profile)
                && !words.iter().any(|word| word.starts_with("--type="))
        })
        .map(|proc| proc.pid)
}

/// Command lines of what carries this mark in its environment, ourselves excepted.
pub fn marked(mark: &str) -> Vec<(Pid, String)> {
    found(|var| var == mark.as_bytes())
}

/// Kills whatever carries a mark that begins like this.
pub fn kill_marked(beginning: &str) {
    for (pid, _) in found(|var| var.starts_with(beginning.as_bytes())) {
        signal(pid, Signal::SIGKILL);
    }
}

fn found(such: impl Fn(&[u8]) -> bool) -> Vec<(Pid, String)> {
    let own = std::process::id();
    Proc::all()
        .into_iter()
        .filter(|proc| u32::try_from(proc.pid.as_raw()) != Ok(own))
        .filter(|proc| proc.has_environ(&such) && !proc.is_over())
        .map(|proc| {
            let line = proc.words().join(" ");
            (proc.pid, line.chars().take(120).collect())
        })
        .collect()
}

/// Signals one process; that it is gone already is no fault here.
pub fn signal(pid: Pid, signal: Signal) {
    let _ = kill(pid, signal);
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn what_carries_the_mark_is_found_until_it_has_ended() {
        let mark = format!("BRB_FAULTS_TEST={}", std::process::id());
        let (name, value) = mark.split_once('=').unwrap();
        let mut child = Command::new("sleep")
            .arg("60")
            .env(name, value)
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let pid = Pid::from_raw(i32::try_from(child.id()).unwrap());
        let found = marked(&mark);
        signal(pid, Signal::SIGKILL);
        child.wait().unwrap();
        assert_eq!(found, [(pid, "sleep 60".to_owned())]);
        assert_eq!(marked(&mark), []);
    }

    #[test]
    fn no_browser_runs_on_a_profile_that_nobody_uses() {
        assert_eq!(browser(Path::new("/nowhere/at/all")), None);
    }
}
