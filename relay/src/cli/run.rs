//! `brb run`: one request, relayed to its end.

use std::{
    io::{IsTerminal, stderr, stdin},
    path::PathBuf,
};

use clap::{Args, ValueEnum};
use protocol::{fault::Code, limits::Limits, message::Objective};

use super::{
    Common, browser::BrowserArgs, failure::Failure, limits::LimitFlags, request, signals,
    told::Told,
};
use crate::{
    agent::{self, AgentKind, Approve, SandboxRule, UndoRule},
    ids,
    place::Place,
    run,
    start::{self, Setup},
};

/// Relay a request to the model behind the chat page and carry its plans out, round by round
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  brb run \"Fix the failing test\"                       start a browser, ask before each command
  brb run --request-file task.md --approve workspace   no questions; the sandbox ends at the folder
  git diff | brb run - --approve read-only             the request from stdin
  brb run \"Go on\" --attach http://127.0.0.1:9222 --chat https://chatgpt.com/c/…
  brb run \"Tidy up\" --agent command --agent-cmd \"my-agent --plan -\"")]
pub(super) struct RunArgs {
    /// What is to be done; `-` reads it from stdin
    #[arg(value_name = "REQUEST", required_unless_present = "request_file")]
    request: Option<String>,
    /// Read the request from a file
    #[arg(long, value_name = "FILE", conflicts_with = "request")]
    request_file: Option<PathBuf>,
    /// A short neutral label for the conversation; the request itself is not in it
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// Tell everything as JSON lines on stdout
    #[arg(long)]
    pub json: bool,
    /// End at the next safe point when this file appears
    #[arg(long, value_name = "FILE")]
    stop_file: Option<PathBuf>,
    /// Divide every span of time; for tests
    #[arg(long, value_name = "N", default_value_t = 1, hide = true, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    time_scale: u32,
    #[command(flatten)]
    browser: BrowserArgs,
    #[command(flatten)]
    agent: AgentArgs,
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    limits: LimitFlags,
}

/// Who carries plans out, and within what.
#[derive(Debug, Args)]
#[command(next_help_heading = "Agent")]
struct AgentArgs {
    /// Who carries plans out: the relay itself, or a program of yours
    #[arg(long, value_enum, default_value = "shell")]
    agent: AgentArg,
    /// The program: it gets the plan on stdin, its stdout is the receipt
    #[arg(long, value_name = "CMD")]
    agent_cmd: Option<String>,
    /// The folder in which plans are carried out
    #[arg(long, value_name = "DIR", default_value = ".")]
    cwd: PathBuf,
    /// What of a plan may run
    #[arg(long, value_enum, default_value = "ask")]
    approve: ApproveArg,
    /// Whether to go on without a sandbox
    #[arg(long, value_enum, default_value = "require")]
    sandbox: SandboxArg,
    /// Whether the program reaches the network; commands of plans never do
    #[arg(long, value_enum, value_name = "on|off", default_value = "off")]
    agent_net: OnOff,
    /// Begin although the folder has changes that are not committed
    #[arg(long)]
    dirty: bool,
    /// Keep no state of the folder before each plan: nothing can be undone
    #[arg(long)]
    no_undo: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum AgentArg {
    /// The relay itself: the plan's commands, in a sandbox
    Shell,
    /// A program, given with --agent-cmd
    Command,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SandboxArg {
    /// Refuse to run where none can be had
    Require,
    /// Run with all your rights
    Off,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OnOff {
    On,
    Off,
}

pub(super) fn main(args: RunArgs) -> Result<u8, Failure> {
    let common = args.common.clone();
    let (json, place) = (args.json, common.place()?);
    let setup = resolve(args, &place)?;
    place.make_state().map_err(|source| {
        Failure::from(crate::journal::OpenError::Io {
            path: place.state.clone(),
            doing: "making the state folder",
            source,
        })
    })?;
    common.log_to(Some(place.log(&setup.sid)))?;
    let journal = place.journal(&setup.sid);
    signals::block_on(relay(setup, Told::new(json, Some(journal))))
}

async fn relay(setup: Setup, mut told: Told) -> Result<u8, Failure> {
    let signals = signals::listen()?;
    let sid = setup.sid.clone();
    let (parts, held) = start::begin(setup, told.approver(), signals)?;
    tracing::info!(%sid, version = env!("CARGO_PKG_VERSION"), "session opened");
    let ending = run::run(parts, &mut told).await;
    tracing::info!(%sid, outcome = %ending.stop.outcome, exit = ending.exit(), "run over");
    drop(held);
    Ok(ending.exit())
}

fn resolve(args: RunArgs, place: &Place) -> Result<Setup, Failure> {
    let limits = args.limits.limits()?;
    let agent = args.agent.kind()?;
    let objective = objective(args.title.as_deref())?;
    let endpoint = args.browser.endpoint(place)?;
    let (chat, tab) = (args.browser.address()?, args.browser.target()?);
    let from = match (&args.request, &args.request_file) {
        (_, Some(path)) => request::From::File(path),
        (Some(text), None) if text != "-" => request::From::Argument(text),
        (Some(_) | None, None) => request::From::Stdin,
    };
    let request = request::read(from, limits.request_len_max)?;
    let terminal = stdin().is_terminal() && stderr().is_terminal();
    if args.agent.approve == ApproveArg::Ask && !terminal {
        return Err(Failure::usage(
            "plans are to be approved by a person and there is no terminal",
            "Run in a terminal, or choose `--approve read-only`, `workspace` or `all`.",
        ));
    }
    let scaled = limits.scaled(args.time_scale);
    let settings = args.agent.settings(agent, &scaled, place, &args.browser)?;
    Ok(Setup {
        sid: ids::sid(),
        request,
        objective,
        chat,
        endpoint,
        tab,
        agent: settings,
        limits,
        time_scale: args.time_scale,
        state_dir: place.state.clone(),
        keep_browser: args.browser.keep_browser,
        stop_file: args.stop_file,
        terminal,
        sabotage: None,
        interrupt_at: None,
    })
}

//= spec W8
fn objective(title: Option<&str>) -> Result<Objective, Failure> {
    match title {
        None => Ok(Objective::default()),
        Some(title) => Objective::parse(title).map_err(|error| {
            Failure::usage(
                format!("the title cannot be used: {error}"),
                "Give one line of at most 200 characters, without blanks around it.",
            )
        }),
    }
}

impl AgentArgs {
    fn kind(&self) -> Result<AgentKind, Failure> {
        match (self.agent, &self.agent_cmd) {
            (AgentArg::Shell, None) if self.agent_net == OnOff::On => Err(Failure::usage(
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

    fn settings(
        &self,
        kind: AgentKind,
        scaled: &Limits,
        place: &Place,
        browser: &BrowserArgs,
    ) -> Result<agent::Settings, Failure> {
        let exe = std::env::current_exe().map_err(|error| {
            Failure::of(
                Code::Agent,
                format!("finding the program itself failed: {error}"),
            )
        })?;
        let mut settings = agent::Settings::new(self.cwd.clone(), place.state.clone(), exe);
        settings.agent = kind;
        settings.approve = match self.approve {
            ApproveArg::ReadOnly => Approve::ReadOnly,
            ApproveArg::Ask => Approve::Ask,
            ApproveArg::Workspace => Approve::Workspace,
            ApproveArg::All => Approve::All,
        };
        settings.sandbox = match self.sandbox {
            SandboxArg::Require => SandboxRule::Require,
            SandboxArg::Off => SandboxRule::Off,
        };
        settings.agent_net = self.agent_net == OnOff::On;
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
