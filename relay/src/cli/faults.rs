//! `brb faults`: everything goes wrong once, in a real browser.

use std::{io::Write as _, path::PathBuf};

use clap::Args;
use protocol::fault::Code;

use super::{demo::LayoutArg, failure::Failure, signals};
use crate::faults::{self, Choice, Layout, Matrix, Means, NoSuchCase, Summary};

/// Disturb the demo's session in a real browser, once for each fault and step, and see it recover
///
/// Each run starts a relay, a browser and a stand-in of the chat page of its own, takes the session
/// to a step, makes one thing go wrong there, and holds what comes of it against the matrix of what
/// must: the rows taken, the end, nothing sent or run twice, no part of a reply taken, nothing left
/// running. Exit 1 if anything is otherwise.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  brb faults --list                       every fault and step, and what must come of it
  brb faults --only browser-kill@thinking one run
  brb faults --only fin --only reload     two faults at all their steps
  brb faults --ci                         a selection, within four minutes
  brb faults --shard 1/3 --json           a third of everything, as JSON lines")]
pub(super) struct FaultsArgs {
    /// Only this fault, or only at this step; may be given several times
    #[arg(long, value_name = "FAULT[@STEP]")]
    only: Vec<String>,
    /// Only the committed selection
    #[arg(long)]
    ci: bool,
    /// Only the I-th of N parts
    #[arg(long, value_name = "I/N", value_parser = shard)]
    shard: Option<(usize, usize)>,
    /// Which generation of the page is played
    #[arg(long, value_enum, default_value = "classic")]
    layout: LayoutArg,
    /// What file names and the bug in the demo's project follow from
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Say everything as JSON lines, the sum last
    #[arg(long)]
    pub json: bool,
    /// Name the runs and what is expected of them; make none
    #[arg(long)]
    list: bool,
    /// Leave the folder of a run that was not as expected
    #[arg(long)]
    keep: bool,
    /// Fail, too, if recovery took longer than it is meant to
    #[arg(long)]
    measure: bool,
    /// The browser program; else the first known one on PATH
    #[arg(
        long,
        value_name = "PROGRAM",
        env = "BRB_BROWSER",
        hide_env_values = true
    )]
    browser: Option<PathBuf>,
}

fn shard(text: &str) -> Result<(usize, usize), String> {
    let parts = text.split_once('/');
    let numbers = parts.and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
    match numbers {
        Some((i, n)) if i >= 1 && i <= n => Ok((i, n)),
        Some(_) | None => Err("wants I/N, with I from 1 to N".to_owned()),
    }
}

pub(super) fn main(args: FaultsArgs) -> Result<u8, Failure> {
    let matrix = Matrix::committed().map_err(|error| {
        Failure::new(Code::Config, error, "This build is broken; build it again.")
    })?;
    let choice = Choice {
        only: args.only.clone(),
        ci: args.ci,
        shard: args.shard,
    };
    let cases = faults::chosen(&matrix, &choice).map_err(|NoSuchCase(name)| {
        Failure::usage(
            format!("no fault and step is called {name:?}"),
            "See `brb faults --list`.",
        )
    })?;
    if args.list {
        list(&matrix, &cases, args.json);
        return Ok(0);
    }
    let means = Means {
        exe: std::env::current_exe().map_err(|error| {
            Failure::of(
                Code::Agent,
                format!("finding the program itself failed: {error}"),
            )
        })?,
        browser: faults::browser(args.browser)
            .ok_or_else(|| Failure::of(Code::NoBrowser, "no known browser stands on PATH"))?,
        layout: match args.layout {
            LayoutArg::Classic => Layout::Classic,
            LayoutArg::Keyed => Layout::Keyed,
        },
        seed: args.seed,
        keep: args.keep,
    };
    signals::block_on(play(cases, means, args.json, args.measure))
}

async fn play(
    cases: Vec<faults::Case>,
    means: Means,
    json: bool,
    measure: bool,
) -> Result<u8, Failure> {
    let mut stop = signals::listen()?;
    let mut runs = Vec::new();
    if !json {
        say(&faults::head());
    }
    for case in &cases {
        let ran = tokio::select! {
            ran = faults::run(case, &means) => ran,
            signal = stop.recv() => {
                faults::end_all();
                let interrupted = protocol::outcome::Outcome::Interrupted;
                let signal = signal.unwrap_or(protocol::outcome::Signal::Interrupt);
                return Ok(interrupted.exit(signal));
            }
        };
        let ran = ran.map_err(|error| {
            Failure::new(
                Code::Config,
                error,
                "Run `scripts/setup`, which installs what is missing, or `brb doctor`.",
            )
        })?;
        if json {
            say(&format!("{}\n", serde_json::json!(ran)));
        } else {
            say(&faults::line(&ran));
        }
        runs.push(ran);
    }
    let sum = Summary::of(&runs);
    if json {
        let figures = serde_json::json!({
            "figures": sum.figures, "recovered_percent": sum.recovered_percent, "again": sum.again,
        });
        say(&format!("{figures}\n"));
        // Its fields in their own order: who reads this line may compare it as text.
        say(&format!(
            "{}\n",
            serde_json::to_string(&sum).unwrap_or_default()
        ));
    } else {
        say(&sum.told());
    }
    let good = sum.is_clean() && (!measure || sum.is_fast());
    Ok(u8::from(!good))
}

fn list(matrix: &Matrix, cases: &[faults::Case], json: bool) {
    for case in cases {
        let expect = &case.expect;
        if json {
            let line = serde_json::json!({
                "fault": case.fault.name(), "step": case.at, "rows": expect.rows,
                "may": expect.may, "outcome": expect.outcome, "by": expect.by, "why": expect.why,
            });
            say(&format!("{line}\n"));
            continue;
        }
        let rows: Vec<_> = expect.rows.iter().map(ToString::to_string).collect();
        let ends: Vec<_> = expect.outcome.iter().map(ToString::to_string).collect();
        let rows = if rows.is_empty() {
            "-".to_owned()
        } else {
            rows.join(" ")
        };
        say(&format!(
            "{:<44} {rows:<10} {:<18} {}\n",
            case.name(),
            ends.join("|"),
            expect.by
        ));
    }
    if !json {
        for (fault, at, why) in &matrix.not {
            say(&format!("not played: {fault} at {at}: {why}\n"));
        }
    }
}

fn say(text: &str) {
    // Who closed stdout wants no table; the exit number tells it anyway.
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shard_is_one_of_its_parts() {
        assert_eq!(shard("1/1"), Ok((1, 1)));
        assert_eq!(shard("3/3"), Ok((3, 3)));
        for wrong in ["0/3", "4/3", "1", "a/b", "1/0"] {
            assert!(shard(wrong).is_err(), "{wrong}");
        }
    }
}
