//! One run: the session, disturbed once, and what came of it.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use fixtures::server::Layout;
use nix::sys::signal::Signal;
use protocol::{
    outcome::Outcome,
    record::{Entry, Record},
    recovery::RowId,
    time::WallMs,
};
use serde::Serialize;
use tokio::time::timeout;

use super::{
    SettingError,
    check::{self, Found, Traces},
    child::Relay,
    inject,
    matrix::Case,
    measure::{self, Measured},
    procs,
    reach::Watchpoint,
    setting::Setting,
    what::{At, Fault},
};
use crate::{
    clock::{self, Clock},
    demo::standin,
};

/// One run may take no longer: over it, it hangs.
const RUN_MS: u64 = 150_000;
/// Getting to the step.
const REACH_MS: u64 = 60_000;
/// How long a plan still runs after its run was disturbed.
const PLAN_MS: u64 = 1_000;
/// How long what belongs to a run may take to be gone after it.
const GONE_MS: u64 = 5_000;
/// Between two looks.
const LOOK_MS: u64 = 50;

/// What a run is made with.
#[derive(Debug, Clone)]
pub struct Means {
    /// The program itself.
    pub exe: PathBuf,
    /// The browser's program.
    pub browser: PathBuf,
    /// The page.
    pub layout: Layout,
    /// The seed.
    pub seed: u64,
    /// Leave the folder of a run that was not as expected.
    pub keep: bool,
}

/// What came of a run.
#[derive(Debug, Clone, Serialize)]
pub struct Ran {
    /// The fault.
    pub fault: String,
    /// The step.
    pub step: At,
    /// The fault happened, at that step.
    pub fired: bool,
    /// How often the run was made until it did, or was given up.
    pub tries: u32,
    /// The rows taken from then on.
    pub rows: Vec<RowId>,
    /// The rows that were expected.
    pub expected: Vec<RowId>,
    /// How the run ended.
    pub outcome: Option<Outcome>,
    /// Whether a person was expected to have to decide.
    pub stop_expected: bool,
    /// One sentence on the end.
    pub why: String,
    /// From the fault to the page being seen again, or to the stop.
    pub recovery_ms: Option<u64>,
    /// What it adds to the figures.
    pub measured: Option<Measured>,
    /// Rows or outcome are not those expected.
    pub mismatch: Option<String>,
    /// Everything else.
    #[serde(flatten)]
    pub found: Tally,
    /// What must never be, and was.
    pub violations: Vec<String>,
    /// The folder, where it was left.
    pub kept: Option<PathBuf>,
    /// How long it all took.
    pub took_ms: u64,
}

/// The three counts that must stay zero.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct Tally {
    /// Messages sent twice.
    pub duplicates: usize,
    /// Plans that ran twice.
    pub plans_twice: usize,
    /// Partial or foreign replies taken.
    pub partials: usize,
}

/// The fault as it happened.
#[derive(Debug, Clone, Copy)]
struct Happened {
    /// By the wall clock.
    at: WallMs,
    /// Records before it.
    records: usize,
}

/// Makes one run.
///
/// # Errors
/// [`SettingError`] when it could not even be begun.
pub async fn run(case: &Case, means: &Means) -> Result<Ran, SettingError> {
    let clock = Clock::start();
    let Means { layout, seed, .. } = *means;
    let setting = Setting::make(&case.fault, case.at, layout, seed, &means.browser).await?;
    let watchpoint = match case.fault {
        // It happens by itself; only a plan has to be kept running for it.
        Fault::Switch(_) if case.at != At::Executing => None,
        Fault::Switch(_) | Fault::Act(_) | Fault::AtReload(_) => {
            Some(Watchpoint::set(case.at, &setting))
        }
    };
    let mut relay = Relay::start(&means.exe, &setting).map_err(SettingError::of)?;
    let mut violations = Vec::new();
    let limit = Duration::from_millis(RUN_MS);
    let happened = {
        let course = disturb(case, watchpoint.as_ref(), &mut relay, &means.exe, &setting);
        match timeout(limit, course).await {
            Ok(Ok(happened)) => happened,
            Ok(Err(why)) => {
                violations.push(why);
                None
            }
            Err(_) => {
                violations.push(format!("a hang: not over after {RUN_MS} ms"));
                None
            }
        }
    };
    if !violations.is_empty() {
        relay.stop().await;
    }
    let exit = relay.ended().await.map_err(SettingError::of)?;
    let left = left_running(&setting.mark).await;
    let (entries, state) = relay.journal();
    let turns = setting.standin.turns().turns;
    let judged = match turns.is_empty() {
        true => None,
        false => standin::judge(&setting.log())
            .await
            .map_err(SettingError::of)?,
    };
    let found = check::check(&Traces {
        fault: &case.fault,
        turns: &turns,
        entries: &entries,
        state: &state,
        judged,
        ran: &setting.ran(),
        exit,
        announced: relay.told().exit,
        left: &left,
        workspace: &setting.project(),
        seed,
    });
    let mut ran = told(case, happened, &entries, violations, found);
    drop(watchpoint);
    let clean = ran.fired && ran.mismatch.is_none() && ran.violations.is_empty();
    ran.kept = setting.end(means.keep && !clean).await;
    ran.took_ms = clock.now().0;
    Ok(ran)
}

/// Takes the run to its step, disturbs it there and waits for its end.
async fn disturb(
    case: &Case,
    watchpoint: Option<&Watchpoint>,
    relay: &mut Relay,
    exe: &Path,
    setting: &Setting,
) -> Result<Option<Happened>, String> {
    let Some(watchpoint) = watchpoint else {
        let happened = switched(relay, setting).await;
        relay.over().await;
        return Ok(happened);
    };
    let reaching = watchpoint.reached(relay, setting);
    let reached = timeout(Duration::from_millis(REACH_MS), reaching).await;
    if reached != Ok(true) {
        return Err(format!("{} was never reached", case.at));
    }
    if let Fault::Switch(spec) = &case.fault {
        let happened = switched(relay, setting).await;
        // Its own delay begins when it is taken up.
        let delay = spec.ms.unwrap_or_default() + PLAN_MS;
        tokio::time::sleep(Duration::from_millis(delay)).await;
        watchpoint
            .let_go(setting, true)
            .map_err(|error| error.to_string())?;
        relay.over().await;
        return Ok(happened);
    }
    let (before, _) = relay.journal();
    let stood = watchpoint.stands(relay, setting);
    let (at, after) = inject::inject(&case.fault, relay, exe, setting)
        .await
        .map_err(|error| error.to_string())?;
    let happened = stood.then_some(Happened {
        at,
        records: before.len(),
    });
    if case.at == At::Executing {
        tokio::time::sleep(Duration::from_millis(PLAN_MS)).await;
    }
    watchpoint
        .let_go(setting, !inject::takes_the_answer(&case.fault))
        .map_err(|error| error.to_string())?;
    let ((), ()) = tokio::join!(inject::after(after, relay.over()), relay.over());
    Ok(happened)
}

/// A switch of the stand-in happens by itself.
async fn switched(relay: &Relay, setting: &Setting) -> Option<Happened> {
    while setting.standin.fired(1) == 0 {
        if relay.is_over() {
            return None;
        }
        tokio::time::sleep(Duration::from_millis(LOOK_MS)).await;
    }
    Some(Happened {
        at: clock::wall(),
        records: 0,
    })
}

async fn left_running(mark: &str) -> Vec<String> {
    let mut left = procs::marked(mark);
    let looks = GONE_MS / LOOK_MS;
    for _ in 0..looks {
        if left.is_empty() {
            return Vec::new();
        }
        tokio::time::sleep(Duration::from_millis(LOOK_MS)).await;
        left = procs::marked(mark);
    }
    for (pid, _) in &left {
        procs::signal(*pid, Signal::SIGKILL);
    }
    left.into_iter().map(|(_, line)| line).collect()
}

fn told(
    case: &Case,
    happened: Option<Happened>,
    entries: &[Entry],
    mut violations: Vec<String>,
    found: Found,
) -> Ran {
    let since = &entries[happened
        .map_or(0, |happened| happened.records)
        .min(entries.len())..];
    let stop = check::stop_of(since);
    let rows = rows(since, &case.expect.may);
    let outcome = stop.map(|stop| stop.outcome);
    let mismatch = mismatch(case, &rows, outcome);
    violations.extend(found.violations);
    Ran {
        fault: case.fault.name(),
        step: case.at,
        fired: happened.is_some(),
        tries: 1,
        expected: case.expect.rows.clone(),
        stop_expected: case.expect.is_stop(),
        why: stop.map_or_else(String::new, |stop| stop.why.clone()),
        recovery_ms: happened.and_then(|happened| measure::recovery(happened.at, since)),
        measured: happened.and_then(|happened| measure::of(&case.fault, happened.at, since)),
        rows,
        outcome,
        mismatch,
        found: Tally {
            duplicates: found.duplicates,
            plans_twice: found.twice,
            partials: found.partials,
        },
        violations,
        kept: None,
        took_ms: 0,
    }
}

/// The rows taken, each once where it was taken several times running.
fn rows(since: &[Entry], may: &[RowId]) -> Vec<RowId> {
    let taken = since.iter().filter_map(|entry| {
        if let Record::Decided { row, .. } = &entry.record {
            Some(*row)
        } else if let Record::Stopped(stop) = &entry.record {
            stop.row
        } else {
            None
        }
    });
    let mut rows: Vec<RowId> = taken.filter(|row| !may.contains(row)).collect();
    rows.dedup();
    rows
}

fn mismatch(case: &Case, rows: &[RowId], outcome: Option<Outcome>) -> Option<String> {
    let names = |rows: &[RowId]| match rows {
        [] => "no row".to_owned(),
        rows => rows
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(" "),
    };
    let expect = &case.expect;
    if rows != expect.rows {
        let (taken, due) = (names(rows), names(&expect.rows));
        return Some(format!("{taken} in place of {due} ({})", expect.by));
    }
    match outcome {
        Some(outcome) if expect.outcome.contains(&outcome) => None,
        Some(outcome) => {
            let due: Vec<_> = expect.outcome.iter().map(ToString::to_string).collect();
            Some(format!(
                "{outcome} in place of {} ({})",
                due.join(" or "),
                expect.by
            ))
        }
        None => Some("the run has no end".to_owned()),
    }
}
