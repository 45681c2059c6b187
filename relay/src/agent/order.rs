//! What the relay hands to an agent: one plan as plain data, and the rules of the run.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::error::AgentError;

/// Most commands one plan may have; a longer plan is refused whole.
pub const COMMANDS_MAX: usize = 256;
/// Longest order read from a pipe, in bytes.
pub const ORDER_LEN_MAX: u64 = 8 << 20;

/// One accepted plan, as the agent needs it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// The session, hex digits.
    pub sid: String,
    /// The round the plan belongs to, from 1.
    pub round: u32,
    /// The plan's key, hex digits.
    pub plan_key: String,
    /// The whole text of the plan, header included.
    pub plan_text: String,
    /// The lines of COMMANDS, in order; empty when the plan has none.
    pub commands: Vec<String>,
    /// The lines of FILES: advice, shown and never acted on.
    pub files: Vec<String>,
}

impl Order {
    /// The folder that holds everything the execution of this plan leaves behind.
    #[must_use]
    pub fn job_dir(&self, state_dir: &Path) -> PathBuf {
        job_dir(state_dir, &self.sid, self.round, &self.plan_key)
    }

    /// Refuses what could not have come from an accepted plan.
    ///
    /// # Errors
    /// [`AgentError::BadOrder`], naming the field.
    pub fn check(&self) -> Result<(), AgentError> {
        let hex =
            |s: &str| !s.is_empty() && s.len() <= 64 && s.bytes().all(|b| b.is_ascii_hexdigit());
        if !hex(&self.sid) {
            return Err(AgentError::BadOrder("sid is not hex"));
        }
        if !hex(&self.plan_key) {
            return Err(AgentError::BadOrder("plan key is not hex"));
        }
        if self.round == 0 {
            return Err(AgentError::BadOrder("rounds count from 1"));
        }
        Ok(())
    }
}

/// The folder that holds everything the execution of a plan leaves behind.
#[must_use]
pub fn job_dir(state_dir: &Path, sid: &str, round: u32, plan_key: &str) -> PathBuf {
    state_dir
        .join(sid)
        .join("agent")
        .join(format!("{round}-{plan_key}"))
}

/// Who carries plans out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AgentKind {
    /// The relay itself: COMMANDS, one after the other, by `/bin/sh -c`.
    Shell,
    /// Any program: the plan on its stdin, the receipt from its stdout.
    Command {
        /// The program and its arguments, for `/bin/sh -c`.
        cmd: String,
    },
}

impl AgentKind {
    /// The profile's name, as the receipt's first line says it.
    #[must_use]
    pub fn profile(&self) -> &'static str {
        match self {
            Self::Shell => "shell",
            Self::Command { .. } => "agent",
        }
    }
}

/// `--approve`: what of a plan may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Approve {
    /// Only commands of a short list that cannot write; the work folder is read-only.
    ReadOnly,
    /// A person is shown each command and says yes, no, or yes to the rest of the plan.
    Ask,
    /// Everything, without asking, but only inside a sandbox that ends at the work folder.
    Workspace,
    /// Everything, without asking, in whatever `--sandbox` says, `off` included.
    All,
}

/// `--sandbox`: whether to go on without one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SandboxRule {
    /// Refuse to run where none can be had.
    Require,
    /// Run with all rights of the person.
    Off,
}

/// What keeps an agent inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SandboxKind {
    /// Namespaces by bubblewrap.
    Bubblewrap,
    /// Landlock for files, seccomp for sockets.
    Landlock,
    /// Nothing.
    Off,
}

impl SandboxKind {
    /// The name a person reads.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Bubblewrap => "bubblewrap",
            Self::Landlock => "landlock with seccomp",
            Self::Off => "off",
        }
    }
}

/// Whether the work folder's state is kept before a plan's first command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UndoRule {
    /// Kept as a git ref; a work folder without git is refused.
    Keep,
    /// `--no-undo`: nothing is kept, nothing can be undone.
    Off,
}

/// The named limits, in milliseconds. `--time-scale` has been applied before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// The wall limit of one plan's execution.
    pub agent_ms: u64,
    /// How long a person is waited for.
    pub ask_ms: u64,
    /// From the polite signal to the hard one.
    pub stop_grace_ms: u64,
    /// How long processes left in the background may still end by themselves.
    pub leftover_grace_ms: u64,
    /// How long the wrapper may take to get ready.
    pub ready_ms: u64,
    /// How long keeping the work folder's state may take.
    pub keep_ms: u64,
    /// How long a ready wrapper waits to be let go.
    pub go_ms: u64,
}

const KEEP_MS: u64 = 120_000;
const GO_MS: u64 = 300_000;
// The wrapper waits while the work folder's state is kept and *started* is stored.
const _: () = assert!(GO_MS >= 2 * KEEP_MS);

impl Default for Limits {
    fn default() -> Self {
        Self {
            agent_ms: 1_800_000,
            ask_ms: 600_000,
            stop_grace_ms: 3_000,
            leftover_grace_ms: 1_000,
            ready_ms: 10_000,
            keep_ms: KEEP_MS,
            go_ms: GO_MS,
        }
    }
}

/// The rules of a run, the same for all its plans.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// The work folder.
    pub cwd: PathBuf,
    /// Where the relay keeps its state; agents never see it.
    pub state_dir: PathBuf,
    /// The program to re-enter as wrapper, keeper and sandbox: `brb` itself.
    pub exe: PathBuf,
    /// Who carries plans out.
    pub agent: AgentKind,
    /// What of a plan may run.
    pub approve: Approve,
    /// Whether to go on without a sandbox.
    pub sandbox: SandboxRule,
    /// Insist on one kind; `None` takes the best there is.
    pub sandbox_kind: Option<SandboxKind>,
    /// Profile `agent` only: whether the network of the host is left open.
    pub agent_net: bool,
    /// More folders shown read-only, by the person's own configuration.
    pub visible: Vec<PathBuf>,
    /// Folders that must never be shown: the browser profile, and the like.
    pub hidden: Vec<PathBuf>,
    /// Names of the person's variables handed through, by their own configuration.
    pub env_pass: Vec<String>,
    /// Whether the work folder's state is kept.
    pub undo: UndoRule,
    /// `--dirty`: uncommitted changes are accepted at the start.
    pub dirty: bool,
    /// The named limits.
    pub limits: Limits,
}

impl Settings {
    /// The careful defaults for a work folder and a state folder.
    #[must_use]
    pub fn new(cwd: PathBuf, state_dir: PathBuf, exe: PathBuf) -> Self {
        Self {
            cwd,
            state_dir,
            exe,
            agent: AgentKind::Shell,
            approve: Approve::Ask,
            sandbox: SandboxRule::Require,
            sandbox_kind: None,
            agent_net: false,
            visible: Vec::new(),
            hidden: Vec::new(),
            env_pass: Vec::new(),
            undo: UndoRule::Keep,
            dirty: false,
            limits: Limits::default(),
        }
    }
}

/// What policy or person said to one command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It may run.
    Run,
    /// It is refused, which is part of the execution (P9).
    Refused {
        /// `policy` or `person`.
        by: String,
        /// The reason, one clause.
        why: String,
    },
    /// It stands behind a refused one and was not asked about.
    Behind,
}
