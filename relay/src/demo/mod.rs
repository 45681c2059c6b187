//! `brb demo`: the main job from end to end on an embedded default. A stand-in
//! of the chat page plays the remote, a real browser shows it, the relay does
//! what it always does, and afterwards its word is held against the stand-in's.

pub(crate) mod checks;
pub(crate) mod project;
pub(crate) mod standin;
mod story;

use std::{fmt, io, path::PathBuf};

use protocol::{
    id::Sid,
    limits::Limits,
    message::Objective,
    outcome::{Outcome, Signal},
    record::{Entry, Stop},
};
use serde::Serialize;
use tokio::sync::mpsc;

pub use checks::Violation;
pub use story::Step;

use crate::{
    agent::{self, Approve, UndoRule},
    journal::{Access, SqliteJournal},
    run::{self, Asked, Ending, Reporter},
    sabotage::Break,
    start::{self, Setup, StartError},
};

/// The scenario that the stand-in plays.
const SCENARIO: &str = include_str!("../../../fixtures/scenarios/demo.toml");

/// How the demo is run.
#[derive(Debug, Clone)]
pub struct DemoOptions {
    /// `classic` or `keyed`.
    pub layout: String,
    /// What project, bug and session id follow from.
    pub seed: u64,
    /// The session's id, drawn from the seed by the caller.
    pub sid: Sid,
    /// Show the browser's window.
    pub headed: bool,
    /// Leave the temporary folder.
    pub keep: bool,
    /// Take one guard away.
    pub sabotage: Option<Break>,
    /// Send ourselves a SIGINT after this record.
    pub interrupt_at: Option<u64>,
    /// The limits.
    pub limits: Limits,
    /// The program itself, to re-enter.
    pub exe: PathBuf,
    /// The browser program; none: the first one known.
    pub browser: Option<PathBuf>,
}

/// How the demo ended.
#[derive(Debug, Serialize)]
pub struct DemoReport {
    /// The session.
    pub sid: String,
    /// The layout played.
    pub layout: String,
    /// The seed.
    pub seed: u64,
    /// How the run ended.
    pub outcome: Outcome,
    /// One sentence on it.
    pub why: String,
    /// Message by message.
    pub steps: Vec<Step>,
    /// The chain of checkpoints.
    pub chain: String,
    /// The judge's word over the stand-in's log.
    pub judge: String,
    /// Where the journal is, if it was kept.
    pub journal: Option<PathBuf>,
    /// The promises that were not kept.
    pub violations: Vec<Broken>,
    /// How many records the journal has.
    pub records: usize,
    /// The guard that was taken away.
    pub sabotage: Option<String>,
    /// The exit number.
    pub exit: u8,
}

/// A promise that was not kept.
#[derive(Debug, Serialize)]
pub struct Broken {
    /// The promise.
    pub promise: &'static str,
    /// What was seen instead.
    pub seen: String,
}

/// Why the demo could not be run at all.
#[derive(Debug)]
pub enum DemoError {
    /// The session could not be opened.
    Start(StartError),
    /// The temporary folder, the project or the stand-in.
    Setting(String),
}

impl fmt::Display for DemoError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start(error) => error.fmt(f),
            Self::Setting(what) => write!(f, "the demo's setting could not be made: {what}"),
        }
    }
}

impl std::error::Error for DemoError {}

fn setting(error: impl fmt::Display) -> DemoError {
    DemoError::Setting(error.to_string())
}

/// Runs the demo.
///
/// # Errors
/// [`DemoError`] when it cannot be run at all; a run that ends badly is a report.
pub async fn run(
    options: DemoOptions,
    asked: Asked,
    signals: mpsc::Receiver<Signal>,
    reporter: &mut (dyn Reporter + Send),
) -> Result<DemoReport, DemoError> {
    let home = tempfile::Builder::new()
        .prefix("brb-demo-")
        .tempdir()
        .map_err(setting)?;
    let place = Place::make(home.path(), options.seed).map_err(setting)?;
    let scenario = format!("{SCENARIO}{}", options.sabotage.map_or("", Break::trap));
    std::fs::write(&place.scenario, scenario).map_err(setting)?;
    let arguments = [
        format!("--layout={}", options.layout),
        "--port=0".to_owned(),
        format!("--scenario={}", place.scenario.display()),
        format!("--seed={}", options.seed),
    ];
    let standin = standin::Standin::start(&options.exe, &arguments, place.log.clone())
        .await
        .map_err(setting)?;
    let setup = setup(&options, &place, &standin.url);
    let ran = relay(setup, &options, asked, signals, reporter).await;
    let report = match ran {
        Ok((ending, entries)) => tell(&options, &place, &standin, ending, &entries).await,
        Err(error) => Err(error),
    };
    standin.end().await;
    let mut report = report?;
    if options.keep {
        // The folder stays, so that a person can look at it.
        let _ = home.keep();
    } else {
        report.journal = None;
    }
    Ok(report)
}

/// Lays the demo's project, scenario and request out in a folder that is there, and does
/// nothing more: for whoever plays it by `brb standin` and `brb run`.
///
/// # Errors
/// [`DemoError`] when a file or git refuses.
pub fn lay_out(home: &std::path::Path, seed: u64) -> Result<(), DemoError> {
    let place = Place::make(home, seed).map_err(setting)?;
    std::fs::write(&place.scenario, SCENARIO).map_err(setting)?;
    std::fs::write(home.join("request.txt"), fixtures::demo::request(seed)).map_err(setting)
}

/// Where everything of the demo lies.
struct Place {
    workspace: PathBuf,
    state: PathBuf,
    profile: PathBuf,
    scenario: PathBuf,
    log: PathBuf,
}

impl Place {
    fn make(home: &std::path::Path, seed: u64) -> io::Result<Self> {
        let place = Self {
            workspace: home.join("project"),
            state: home.join("state"),
            profile: home.join("profile"),
            scenario: home.join("scenario.toml"),
            log: home.join("standin.jsonl"),
        };
        for folder in [&place.workspace, &place.state] {
            std::fs::create_dir(folder)?;
        }
        project::make(&place.workspace, seed).map_err(io::Error::other)?;
        Ok(place)
    }
}

fn setup(options: &DemoOptions, place: &Place, url: &str) -> Setup {
    let mut agent = agent::Settings::new(
        place.workspace.clone(),
        place.state.clone(),
        options.exe.clone(),
    );
    // With the approval guard taken away everything runs, whatever was declared.
    agent.approve = match options.sabotage {
        Some(Break::Approval) => Approve::All,
        Some(Break::Send | Break::Capture | Break::ReadBack) | None => Approve::Workspace,
    };
    agent.undo = UndoRule::Keep;
    agent.hidden = vec![place.profile.clone()];
    agent.limits.agent_ms = options.limits.agent_ms;
    Setup {
        sid: options.sid.clone(),
        request: fixtures::demo::request(options.seed),
        objective: Objective::default(),
        chat: url.to_owned(),
        endpoint: cdp::Endpoint::Launch(cdp::Launch {
            program: options.browser.clone(),
            profile: place.profile.clone(),
            headless: !options.headed,
            args: Vec::new(),
        }),
        tab: None,
        agent,
        limits: options.limits.clone(),
        time_scale: 1,
        state_dir: place.state.clone(),
        keep_browser: false,
        stop_file: None,
        terminal: false,
        options: None,
        sabotage: options.sabotage,
        interrupt_at: options.interrupt_at,
    }
}

async fn relay(
    setup: Setup,
    options: &DemoOptions,
    asked: Asked,
    signals: mpsc::Receiver<Signal>,
    reporter: &mut (dyn Reporter + Send),
) -> Result<(Ending, Vec<Entry>), DemoError> {
    let folder = setup.state_dir.join(options.sid.as_str());
    let (parts, held) = start::begin(setup, asked, signals).map_err(DemoError::Start)?;
    let ending = run::run(parts, reporter).await;
    drop(held);
    let found = SqliteJournal::open(&folder, Access::Read).map_err(setting)?;
    Ok((ending, found.entries))
}

async fn tell(
    options: &DemoOptions,
    place: &Place,
    standin: &standin::Standin,
    ending: Ending,
    entries: &[Entry],
) -> Result<DemoReport, DemoError> {
    let turns = standin.turns().map_err(setting)?;
    // Where nothing arrived there is nothing to judge.
    let judged = match turns.is_empty() {
        true => None,
        false => standin.judge().await.map_err(setting)?,
    };
    let approve = match options.sabotage {
        Some(Break::Approval) => Approve::ReadOnly,
        Some(Break::Send | Break::Capture | Break::ReadBack) | None => Approve::Workspace,
    };
    let violations = checks::violations(&checks::Traces {
        turns: &turns,
        entries,
        state: &ending.state,
        stop: &ending.stop,
        approve,
        workspace: &place.workspace,
        seed: options.seed,
        judged: judged.clone(),
    });
    let steps = story::steps(entries);
    let exit = exit(&ending, &violations);
    let Stop { outcome, why, .. } = ending.stop;
    Ok(DemoReport {
        sid: options.sid.to_string(),
        layout: options.layout.clone(),
        seed: options.seed,
        outcome,
        why,
        chain: story::chain(&steps),
        steps,
        judge: judged.unwrap_or_else(|| match turns.len() {
            0 => "no message arrived".to_owned(),
            many => format!("clean: no message arrived twice in {many} turns"),
        }),
        journal: Some(
            place
                .state
                .join(options.sid.as_str())
                .join(crate::journal::JOURNAL),
        ),
        violations: violations
            .into_iter()
            .map(|violation| Broken {
                promise: violation.promise,
                seen: violation.seen,
            })
            .collect(),
        records: entries.len(),
        sabotage: options.sabotage.map(|sabotage| format!("{sabotage:?}")),
        exit,
    })
}

/// A broken promise is a defect of ours, unless the run itself says worse.
fn exit(ending: &Ending, violations: &[Violation]) -> u8 {
    match ending.exit() {
        0 if violations.is_empty() => 0,
        0 => Outcome::Defect.exit(Signal::Interrupt),
        worse => worse,
    }
}

impl DemoReport {
    /// The report for people.
    pub fn told(&self) -> String {
        let mut out = format!(
            "\nWhat happened, message by message (layout {}, seed {}, session {}):\n{}",
            self.layout,
            self.seed,
            self.sid,
            story::told(&self.steps)
        );
        out.push_str(&format!("\nCheckpoints: {}\n", self.chain));
        out.push_str(&format!(
            "Judge over the stand-in's own log: {}\n",
            self.judge
        ));
        if let Some(journal) = &self.journal {
            out.push_str(&format!("Journal: {}\n", journal.display()));
        }
        if let Some(sabotage) = &self.sabotage {
            out.push_str(&format!("Taken away on purpose: the guard {sabotage}\n"));
        }
        for violation in &self.violations {
            out.push_str(&format!(
                "VIOLATED: {} ({})\n",
                violation.promise, violation.seen
            ));
        }
        out.push_str(&format!("Ended: {}, {}\n", self.outcome, self.why));
        out
    }
}
