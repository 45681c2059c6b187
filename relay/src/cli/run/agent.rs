//! Who carries plans out, and within what: the options, and the rules that they make.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use protocol::{fault::Code, limits::Limits};
use serde::{Deserialize, Serialize};

use crate::{
    agent::{self, AgentKind, Approve, SandboxRule, UndoRule},
    cli::{browser::BrowserArgs, failure::Failure},
    place::Place,
};

/// Who carries plans out, and within what.
///
/// What was not given is `None`: a session that is gone on with has its own.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize)]
#[command(next_help_heading = "Agent")]
pub(super) struct AgentArgs {
    /// Who carries plans out: the relay itself, or a program of yours [default: shell]
    #[arg(long, value_enum)]
    agent: Option<AgentArg>,
    /// The program: it gets the plan on stdin, its stdout is the receipt
    #[arg(long, value_name = "CMD")]
    agent_cmd: Option<String>,
    /// The folder in which plans are carried out [default: the current one]
    #[arg(long, value_name = "DIR")]
    #[serde(skip)]
    pub cwd: Option<PathBuf>,
    /// What of a plan may run [default: ask]
    #[arg(long, value_enum)]
    approve: Option<ApproveArg>,
    /// Whether to go on without a sandbox [default: require]
    #[arg(long, value_enum)]
    sandbox: Option<SandboxArg>,
    /// Whether the program reaches the network; commands of plans never do [default: off]
    #[arg(long, value_enum, value_name = "on|off")]
    agent_net: Option<OnOff>,
    /// Begin although the folder has changes that are not committed
    #[arg(long)]
    dirty: bool,
    /// Keep no state of the folder before each plan: nothing can be undone
    #[arg(long)]
    no_undo: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum AgentArg {
    /// The relay itself: the plan's commands, in a sandbox
    Shell,
    /// A program, given with --agent-cmd
    Command,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum ApproveArg {
    /// Only commands of a short list that write nothing
    ReadOnly,
    /// Each command is shown and asked about
    Ask,
    /// All, in a sandbox that ends at the folder
    Workspace,
    /// All, in whatever --sandbox says
    All,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum SandboxArg {
    /// Refuse to run where none can be had
    Require,
    /// Run with all your rights
    Off,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum OnOff {
    On,
    Off,
}

impl AgentArgs {
    /// The same with what was kept where nothing is given.
    pub fn or(self, kept: Self) -> Self {
        Self {
            agent_cmd: self.agent_cmd.or(kept.agent_cmd),
            agent: self.agent.or(kept.agent),
            cwd: self.cwd.or(kept.cwd),
            approve: self.approve.or(kept.approve),
            sandbox: self.sandbox.or(kept.sandbox),
            agent_net: self.agent_net.or(kept.agent_net),
            dirty: self.dirty || kept.dirty,
            no_undo: self.no_undo || kept.no_undo,
        }
    }

    /// Refuses what only a person could answer where there is none.
    pub fn check_terminal(&self, terminal: bool) -> Result<(), Failure> {
        if self.approve.unwrap_or(ApproveArg::Ask) != ApproveArg::Ask || terminal {
            return Ok(());
        }
        Err(Failure::usage(
            "plans are to be approved by a person and there is no terminal",
            "Run in a terminal, or choose `--approve read-only`, `workspace` or `all`.",
        ))
    }

    fn kind(&self) -> Result<AgentKind, Failure> {
        let net = self.agent_net == Some(OnOff::On);
        match (self.agent.unwrap_or(AgentArg::Shell), &self.agent_cmd) {
            (AgentArg::Shell, None) if net => Err(Failure::usage(
                "--agent-net on is for a program of yours, and the plan's commands never reach the network",
                "Drop it, or give `--agent command`.",
            )),
            (AgentArg::Shell, None) => Ok(AgentKind::Shell),
            (AgentArg::Shell, Some(_)) => Err(Failure::usage(
                "--agent-cmd names a program, and --agent is shell",
                "Add `--agent command`, or drop `--agent-cmd`.",
            )),
            (AgentArg::Command, Some(cmd)) if !cmd.trim().is_empty() => {
                Ok(AgentKind::Command { cmd: cmd.clone() })
            }
            (AgentArg::Command, Some(_) | None) => Err(Failure::usage(
                "--agent command needs a program",
                "Name it with `--agent-cmd`.",
            )),
        }
    }

    /// The rules for the agent, in the folder `cwd`.
    pub fn settings(
        &self,
        cwd: PathBuf,
        scaled: &Limits,
        place: &Place,
        browser: &BrowserArgs,
    ) -> Result<agent::Settings, Failure> {
        let kind = self.kind()?;
        let exe = std::env::current_exe().map_err(|error| {
            Failure::of(
                Code::Agent,
                format!("finding the program itself failed: {error}"),
            )
        })?;
        let mut settings = agent::Settings::new(cwd, place.state.clone(), exe);
        settings.agent = kind;
        settings.approve = match self.approve.unwrap_or(ApproveArg::Ask) {
            ApproveArg::ReadOnly => Approve::ReadOnly,
            ApproveArg::Ask => Approve::Ask,
            ApproveArg::Workspace => Approve::Workspace,
            ApproveArg::All => Approve::All,
        };
        settings.sandbox = match self.sandbox.unwrap_or(SandboxArg::Require) {
            SandboxArg::Require => SandboxRule::Require,
            SandboxArg::Off => SandboxRule::Off,
        };
        settings.agent_net = self.agent_net == Some(OnOff::On);
        settings.hidden = vec![browser.profile_folder(place), place.config.clone()];
        settings.dirty = self.dirty;
        settings.undo = if self.no_undo {
            UndoRule::Off
        } else {
            UndoRule::Keep
        };
        settings.limits.agent_ms = scaled.agent_ms;
        settings.limits.ask_ms = scaled.ask_ms;
        settings.limits.stop_grace_ms = scaled.stop_grace_ms;
        Ok(settings)
    }
}
