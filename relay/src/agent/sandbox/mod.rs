//! What keeps an agent inside: which kind, what it shows, and what it does not enforce.
//!
//! Inside stand the work folder, `/usr`, `/bin`, `/lib*`, parts of `/etc`, a private `/tmp` and
//! an empty home; no network and no loopback of the host. The person's home, the browser
//! profile and the state folder are not there.

mod bubblewrap;
mod folder;
mod landlock;
mod seccomp;

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde::{Deserialize, Serialize};

use super::order::{AgentKind, Approve, SandboxKind, Settings};

pub use folder::check_folder;
pub(crate) use folder::{Repository, repository};

/// The parts of `/etc` that programs need to run at all; none holds a secret.
const ETC: &[&str] = &[
    "/etc/alternatives",
    "/etc/bash.bashrc",
    "/etc/ca-certificates",
    "/etc/debian_version",
    "/etc/gitconfig",
    "/etc/group",
    "/etc/host.conf",
    "/etc/hosts",
    "/etc/java",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/locale.alias",
    "/etc/localtime",
    "/etc/mime.types",
    "/etc/nsswitch.conf",
    "/etc/os-release",
    "/etc/passwd",
    "/etc/pki",
    "/etc/protocols",
    "/etc/python3",
    "/etc/services",
    "/etc/shells",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/terminfo",
    "/etc/timezone",
];
/// Added where the network is left open.
const ETC_NET: &[&str] = &["/etc/resolv.conf", "/etc/gai.conf"];
/// The folders of programs and libraries, links on most systems.
const SYSTEM: &[&str] = &[
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32",
];

/// What one execution is put into.
#[derive(Debug, Clone)]
pub struct Shape {
    /// The kind in force.
    pub kind: SandboxKind,
    /// The work folder, canonical.
    pub cwd: PathBuf,
    /// Whether the work folder itself is read-only.
    pub read_only: bool,
    /// Whether the host's network is left open.
    pub net: bool,
    /// Folders shown read-only besides.
    pub visible: Vec<PathBuf>,
    /// What of git is shown read-only.
    pub git: Vec<PathBuf>,
    /// A folder of this execution alone, with `tmp` and `home` in it.
    pub scratch: PathBuf,
    /// `brb`.
    pub exe: PathBuf,
}

impl Shape {
    /// The shape that the rules of the run ask for.
    #[must_use]
    pub fn new(settings: &Settings, kind: SandboxKind, scratch: PathBuf) -> Self {
        Self {
            kind,
            cwd: settings.cwd.clone(),
            read_only: settings.approve == Approve::ReadOnly && kind != SandboxKind::Off,
            net: settings.agent_net && matches!(settings.agent, AgentKind::Command { .. }),
            visible: settings.visible.clone(),
            git: folder::git_places(&settings.cwd),
            scratch,
            exe: settings.exe.clone(),
        }
    }

    /// Program and arguments that start the keeper.
    #[must_use]
    pub fn keeper(&self) -> Vec<String> {
        match self.kind {
            SandboxKind::Bubblewrap => bubblewrap::keeper(self),
            SandboxKind::Landlock | SandboxKind::Off => {
                vec![text(&self.exe), super::KEEP.to_owned()]
            }
        }
    }

    /// What stands before each job's own program and arguments.
    #[must_use]
    pub fn job_prefix(&self) -> Vec<String> {
        let (exe, enter) = match self.kind {
            SandboxKind::Off => return Vec::new(),
            SandboxKind::Bubblewrap if !self.net => return Vec::new(),
            SandboxKind::Bubblewrap => {
                let enter = Enter {
                    files: None,
                    sockets: Sockets::Inet,
                    probe: false,
                };
                (PathBuf::from(bubblewrap::EXE_INSIDE), enter)
            }
            SandboxKind::Landlock => {
                let sockets = if self.net {
                    Sockets::Inet
                } else {
                    Sockets::Nothing
                };
                (
                    self.exe.clone(),
                    Enter {
                        files: Some(landlock::files(self)),
                        sockets,
                        probe: false,
                    },
                )
            }
        };
        // Our own types always become JSON.
        let enter = serde_json::to_string(&enter).unwrap_or_default();
        vec![text(&exe), super::SANDBOX.to_owned(), enter]
    }

    /// `HOME` as the jobs see it.
    #[must_use]
    pub fn home(&self) -> String {
        match self.kind {
            SandboxKind::Bubblewrap => bubblewrap::HOME_INSIDE.to_owned(),
            SandboxKind::Landlock | SandboxKind::Off => text(&self.scratch.join("home")),
        }
    }

    /// `TMPDIR` as the jobs see it.
    #[must_use]
    pub fn tmp(&self) -> String {
        match self.kind {
            SandboxKind::Bubblewrap => "/tmp".to_owned(),
            SandboxKind::Landlock | SandboxKind::Off => text(&self.scratch.join("tmp")),
        }
    }
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// What `brb __sandbox` is told in its first argument.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Enter {
    /// The files of Landlock; `None` where namespaces do that work.
    files: Option<landlock::Files>,
    /// The sockets that seccomp leaves.
    sockets: Sockets,
    /// Whether to say the ABI in force on stdout.
    probe: bool,
}

/// Which sockets a job may make.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Sockets {
    /// None but connected pairs.
    Nothing,
    /// IPv4 and IPv6: the agent's own network.
    Inet,
}

/// `brb __sandbox ENTER PROGRAM ARGS…`: goes in and becomes the program. Returns only on failure.
#[must_use]
#[allow(clippy::print_stderr, reason = "the caller reads why from stderr")]
pub fn main(args: &[String]) -> ExitCode {
    use std::os::unix::process::CommandExt;
    let [enter, program, rest @ ..] = args else {
        return ExitCode::from(125);
    };
    let went_in = serde_json::from_str::<Enter>(enter)
        .map_err(Refusal::of)
        .and_then(|enter| go_in(&enter));
    if let Err(why) = went_in {
        eprintln!("brb: the sandbox could not be entered: {why}");
        return ExitCode::from(125);
    }
    let error = std::process::Command::new(program).args(rest).exec();
    eprintln!("brb: {program}: {error}");
    ExitCode::from(126)
}

#[allow(clippy::print_stdout, reason = "the probe reads the ABI from stdout")]
fn go_in(enter: &Enter) -> Result<(), Refusal> {
    if let Some(files) = &enter.files {
        let abi = landlock::restrict(files, enter.sockets == Sockets::Nothing)?;
        if enter.probe {
            println!("{abi}");
        }
    }
    seccomp::apply(enter.sockets)
}

/// Why a sandbox cannot be had: the words of the kernel, or of bubblewrap.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Refusal(String);

impl Refusal {
    fn of<T: fmt::Display>(said: T) -> Self {
        Self(said.to_string())
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refusal {}

/// What can be had on this machine, and why the other cannot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Detected {
    /// bubblewrap's version, or why not.
    pub bubblewrap: Result<String, Refusal>,
    /// Landlock's ABI with seccomp, or why not.
    pub landlock: Result<u32, Refusal>,
}

impl Detected {
    /// Where `--sandbox off` made the question needless.
    #[must_use]
    pub fn not_asked() -> Self {
        let why = || Refusal::of("not asked for");
        Self {
            bubblewrap: Err(why()),
            landlock: Err(why()),
        }
    }

    /// The kind to use: the wished one where it can be had, else the best there is.
    #[must_use]
    pub fn kind(&self, wished: Option<SandboxKind>) -> Option<SandboxKind> {
        let can = |kind| match kind {
            SandboxKind::Bubblewrap => self.bubblewrap.is_ok(),
            SandboxKind::Landlock => self.landlock.is_ok(),
            SandboxKind::Off => false,
        };
        match wished {
            Some(kind) => Some(kind).filter(|k| can(*k)),
            None => [SandboxKind::Bubblewrap, SandboxKind::Landlock]
                .into_iter()
                .find(|k| can(*k)),
        }
    }
}

/// Tries both kinds for real, by running a program that does nothing. `exe` is `brb`.
#[must_use]
pub fn detect(exe: &Path) -> Detected {
    Detected {
        bubblewrap: bubblewrap::probe(exe),
        landlock: landlock::probe(exe),
    }
}

/// The receipt's first line: what is in force and, plainly, what is not.
#[must_use]
pub fn first_line(shape: &Shape, agent: &AgentKind, detected: &Detected) -> String {
    let profile = agent.profile();
    let folder = if shape.read_only {
        "read-only"
    } else {
        "read-write"
    };
    let net = match (shape.kind, shape.net) {
        (SandboxKind::Bubblewrap | SandboxKind::Landlock, false) => {
            "no network and no loopback of the host"
        }
        (_, true) | (SandboxKind::Off, false) => {
            "network of the host open, its loopback and the browser's debugging port included"
        }
    };
    match shape.kind {
        SandboxKind::Bubblewrap => format!(
            "sandbox: bubblewrap, profile {profile}: work folder {folder}, .git read-only, {net}"
        ),
        SandboxKind::Landlock => format!(
            "sandbox: landlock with seccomp, profile {profile}: work folder {folder}, {net}; not enforced: {}",
            landlock::not_enforced(shape, detected.landlock.as_ref().copied().unwrap_or(0))
        ),
        SandboxKind::Off => format!(
            "sandbox: off, profile {profile}: commands run with all rights of the person, {net}; nothing is enforced"
        ),
    }
}
