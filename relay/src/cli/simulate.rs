//! `brb simulate`: many sessions in virtual time.

use std::io::Write as _;

use clap::Args;
use nix::sys::resource::{UsageWho, getrusage};
use protocol::fault::Code;
use serde_json::json;

use super::failure::Failure;
use crate::sim::{
    fault::{Fault, Placed},
    sweep::{Case, Found, Scenario, Tally, Wrong, singles},
};

/// Run many sessions in virtual time, everything around the core made up and able to go wrong
#[derive(Debug, Args)]
#[command(hide = true)]
pub(super) struct SimulateArgs {
    /// So many seeds
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    seeds: u64,
    /// The first seed
    #[arg(long, value_name = "S", default_value_t = 1)]
    from: u64,
    /// Only sessions of this shape
    #[arg(long, value_name = "NAME", value_parser = scenario)]
    scenario: Option<Scenario>,
    /// FAULT: among others at random; FAULT@STEP: this alone, may be given several times
    #[arg(long, value_name = "FAULT[@STEP]")]
    fault: Vec<String>,
    /// Every single fault at every step, in place of random ones
    #[arg(long)]
    singles: bool,
    /// Nothing goes wrong
    #[arg(long)]
    calm: bool,
    /// Say what happened in the first session
    #[arg(long)]
    trace: bool,
    /// The sum as one JSON line alone
    #[arg(long)]
    pub json: bool,
}

fn scenario(name: &str) -> Result<Scenario, String> {
    let found = Scenario::ALL.into_iter().find(|one| one.name() == name);
    found.ok_or_else(|| "wants short or eight".to_owned())
}

/// Violations told in full; more of them tell nothing more.
const TOLD_MAX: usize = 20;

pub(super) fn main(args: &SimulateArgs) -> Result<u8, Failure> {
    let cases = cases(args)?;
    let began = busy_s();
    let mut tally = Tally {
        seeds: args.seeds,
        ..Tally::default()
    };
    let mut found = Vec::new();
    let mut out = std::io::stdout().lock();
    let mut say = |line: &str| {
        // Whoever reads it may be gone; the sessions are run all the same.
        let _ = writeln!(out, "{line}");
    };
    for (nth, case) in cases.iter().enumerate() {
        let traced = args.trace && nth == 0;
        let (world, violation) = case.run(traced);
        tally.take(&world, violation.as_ref());
        for line in world.trace() {
            say(line);
        }
        if args.singles && !args.json {
            let stop = world.last_stop();
            let ended = stop.map_or("?".to_owned(), |stop| {
                format!("{} {:?} {}", stop.outcome, stop.row, stop.why)
            });
            say(&format!("{case}: {ended}"));
        }
        if let Some(violation) = violation {
            let step = world.steps;
            let case = case.clone();
            found.push(Found {
                case,
                step,
                violation,
            });
        }
    }
    for one in found.iter().take(TOLD_MAX) {
        say(&format!(
            "VIOLATED {} | seed {} step {} | {} | repeat: scripts/simulate {} --trace",
            one.violation,
            one.case.seed,
            one.step,
            env!("CARGO_PKG_VERSION"),
            one.case
        ));
    }
    let secs = (busy_s() - began).max(0.001);
    let mut sum = json!(tally);
    sum["sessions_per_second_core"] = json!((tally.sessions as f64 / secs).round());
    say(&sum.to_string());
    Ok(u8::from(!found.is_empty()))
}

fn cases(args: &SimulateArgs) -> Result<Vec<Case>, Failure> {
    let no = |error: crate::sim::fault::NoSuchFault| {
        Failure::new(
            Code::Usage,
            error,
            "See relay/src/sim/fault.rs for their names.",
        )
    };
    let placed: Vec<Placed> = args
        .fault
        .iter()
        .filter(|fault| fault.contains('@'))
        .map(|fault| fault.parse())
        .collect::<Result<_, _>>()
        .map_err(no)?;
    let among = args.fault.iter().find(|fault| !fault.contains('@'));
    let among: Option<Fault> = among.map(|name| name.parse()).transpose().map_err(no)?;
    let mut cases = Vec::new();
    for seed in args.from..args.from.saturating_add(args.seeds) {
        let scenario = args.scenario.unwrap_or(match seed % 4 {
            0 => Scenario::Short,
            _ => Scenario::Eight,
        });
        if args.singles {
            let all = singles(seed, scenario).into_iter();
            let all = all.filter(|placed| among.is_none_or(|fault| placed.fault == fault));
            cases.extend(all.map(|placed| Case {
                seed,
                scenario,
                wrong: Wrong::Placed(vec![placed]),
            }));
            continue;
        }
        let wrong = if args.calm {
            Wrong::Nothing
        } else if placed.is_empty() {
            Wrong::Random(among)
        } else {
            Wrong::Placed(placed.clone())
        };
        cases.push(Case {
            seed,
            scenario,
            wrong,
        });
    }
    Ok(cases)
}

/// Seconds for which this process kept a core busy: what others do on the machine does
/// not count.
fn busy_s() -> f64 {
    getrusage(UsageWho::RUSAGE_SELF).map_or(0.0, |usage| {
        let user = usage.user_time();
        user.tv_sec() as f64 + user.tv_usec() as f64 / 1e6
    })
}
