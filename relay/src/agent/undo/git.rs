//! git's plumbing, called so that nothing a repository or a person configured can run.
//!
//! A plan may have written into the work folder, its `.gitattributes` included, and under
//! Landlock into `.git` as well. So no hook, filter, pager, monitor, external diff or transport
//! is ever reached from here: files go in and out as raw bytes, and what a configuration names
//! is overridden by name.

use std::ffi::OsString;
use std::io::Write;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::agent::error::{AgentError, io_err};
use crate::agent::sandbox::{Repository, repository};

/// Longest output that is taken from git, in bytes.
const OUTPUT_LEN_MAX: u64 = 256 << 20;
const LOOK_MS: u64 = 5;

const OVERRIDES: &[&str] = &[
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "core.pager=cat",
    "core.attributesFile=/dev/null",
    "core.excludesFile=/dev/null",
    "core.autocrlf=false",
    "core.safecrlf=false",
    "core.quotePath=false",
    "core.commitGraph=false",
    "commit.gpgSign=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "protocol.allow=never",
    "submodule.recurse=false",
    "diff.external=",
    "diff.ignoreSubmodules=all",
];

/// A repository as one run of git sees it.
#[derive(Debug)]
pub(super) struct Git {
    cwd: PathBuf,
    repository: Repository,
    work_tree: PathBuf,
    index: Option<PathBuf>,
    filters: Vec<String>,
    until: Instant,
}

impl Git {
    /// The repository that `cwd` is in. It is found by us and named to git, which would ask the
    /// configuration.
    pub(super) fn open(cwd: &Path, limit: Duration) -> Result<Self, AgentError> {
        let no_repository = || AgentError::NoRepository(cwd.to_owned());
        // Anything by that name ends the search, so that nothing inside is mistaken for it.
        let has = |a: &&Path| a.join(".git").symlink_metadata().is_ok();
        let work_tree = cwd.ancestors().find(has).ok_or_else(no_repository)?;
        let mut git = Self {
            cwd: cwd.to_owned(),
            repository: repository(work_tree).ok_or_else(no_repository)?,
            work_tree: work_tree.to_owned(),
            index: None,
            filters: Vec::new(),
            until: Instant::now() + limit,
        };
        match git.run(&["rev-parse", "--git-dir"], b"") {
            Err(AgentError::Git { .. }) => return Err(no_repository()),
            other => other?,
        };
        git.filters = git.named_filters()?;
        Ok(git)
    }

    /// The same with an index of its own.
    pub(super) fn with_index(&mut self, index: PathBuf) {
        self.index = Some(index);
    }

    /// The drivers that the repository's own configuration names, all to be overridden.
    fn named_filters(&self) -> Result<Vec<String>, AgentError> {
        let list = self.run(
            &["config", "--list", "--includes", "--name-only", "-z"],
            b"",
        )?;
        let mut over = Vec::new();
        for name in list.split(|b| *b == 0).map(String::from_utf8_lossy) {
            let Some((section, key)) = name.rsplit_once('.') else {
                continue;
            };
            let driver = section.starts_with("filter.") || section.starts_with("diff.");
            if driver && matches!(key, "clean" | "smudge" | "process" | "textconv" | "command") {
                over.push(format!("{name}="));
            } else if driver && key == "required" {
                over.push(format!("{name}=false"));
            }
        }
        Ok(over)
    }

    /// Runs one plumbing command to its end, within the limit, and returns what it printed.
    pub(super) fn run(&self, args: &[&str], input: &[u8]) -> Result<Vec<u8>, AgentError> {
        let mut command = Command::new("git");
        command
            .current_dir(&self.cwd)
            .env_clear()
            .args(["--no-pager", "--literal-pathspecs"]);
        command.args(OVERRIDES.iter().flat_map(|o| ["-c", o]));
        command.args(self.filters.iter().flat_map(|o| ["-c", o.as_str()]));
        // Both said, so that no configuration moves them.
        command
            .arg("--git-dir")
            .arg(&self.repository.git_dir)
            .arg("--work-tree")
            .arg(&self.work_tree);
        let path = std::env::var_os("PATH").unwrap_or_else(|| OsString::from("/usr/bin:/bin"));
        command.args(args).envs([("PATH", path)]).envs([
            ("HOME", "/nonexistent"),
            ("LC_ALL", "C"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_ATTR_NOSYSTEM", "1"),
            ("GIT_OPTIONAL_LOCKS", "0"),
            ("GIT_NO_LAZY_FETCH", "1"),
            ("GIT_NO_REPLACE_OBJECTS", "1"),
            ("GIT_ALLOW_PROTOCOL", "none"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("GIT_EDITOR", "false"),
            ("GIT_AUTHOR_NAME", "pi-bridge"),
            ("GIT_AUTHOR_EMAIL", "pi-bridge@localhost"),
            ("GIT_COMMITTER_NAME", "pi-bridge"),
            ("GIT_COMMITTER_EMAIL", "pi-bridge@localhost"),
        ]);
        command.env("GIT_COMMON_DIR", &self.repository.common_dir);
        if let Some(index) = &self.index {
            command.env("GIT_INDEX_FILE", index);
        }
        self.finish(command, args, input)
    }

    fn finish(
        &self,
        mut command: Command,
        args: &[&str],
        input: &[u8],
    ) -> Result<Vec<u8>, AgentError> {
        use std::io::Read;
        let failed = |said: &str| AgentError::Git {
            command: args.first().copied().unwrap_or_default().to_owned(),
            said: said.chars().take(400).collect(),
        };
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(io_err("starting git"))?;
        let (stdin, stdout, stderr) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let mut code = None;
        let (out, err) = std::thread::scope(|scope| {
            // git that does not read its input says why itself.
            scope.spawn(move || stdin.map(|mut pipe| pipe.write_all(input)));
            let out = scope.spawn(move || {
                let mut bytes = Vec::new();
                let _ = stdout.map(|s| s.take(OUTPUT_LEN_MAX).read_to_end(&mut bytes));
                bytes
            });
            let err = scope.spawn(move || {
                let mut bytes = Vec::new();
                let _ = stderr.map(|s| s.take(1 << 16).read_to_end(&mut bytes));
                bytes
            });
            while code.is_none() {
                code = child.try_wait().ok().flatten();
                if code.is_none() && Instant::now() >= self.until {
                    let _ = child.kill();
                    let _ = child.wait();
                    break;
                }
                std::thread::sleep(Duration::from_millis(LOOK_MS));
            }
            (
                out.join().unwrap_or_default(),
                err.join().unwrap_or_default(),
            )
        });
        match code {
            None => Err(failed("it did not end in time")),
            Some(code) if code.success() && (out.len() as u64) < OUTPUT_LEN_MAX => Ok(out),
            Some(_) => Err(failed(String::from_utf8_lossy(&err).trim())),
        }
    }
}

/// A path as git prints it: any bytes.
pub(super) fn path(bytes: Vec<u8>) -> PathBuf {
    PathBuf::from(OsString::from_vec(bytes))
}

/// Without the line feed at the end.
pub(super) fn trim(mut bytes: Vec<u8>) -> Vec<u8> {
    while bytes.last() == Some(&b'\n') {
        bytes.pop();
    }
    bytes
}
