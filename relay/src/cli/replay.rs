//! `brb replay`: a recording taken through the proof step by step, for a person to read.

use std::{fmt::Write as _, path::PathBuf};

use clap::Args;
use protocol::{
    fault::Code,
    page::Observation,
    reply::{Progress, Verdict},
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{failure::Failure, out, signals};
use crate::{
    agent::quote::one_line,
    output,
    recording::{
        Judged, Recording, RecordingError,
        live::{Stage, play},
        replay::{Step, outcome, steps},
        tell::{held, seen},
    },
};

/// Take a recording through the proof step by step and say what is known after each
///
/// A recording is a folder with a timeline.jsonl and, where somebody wrote it down, an
/// expected.json. What was seen is replayed without a browser; a timeline that only tells what
/// the page does is played on the stand-in page in a browser of its own. What `brb record` wrote
/// tells what was seen and not what the page did: it is replayed and cannot be played.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  brb replay fixtures/recordings/b11-classic\n  brb replay fixtures/recordings/c3-keyed --all\n  brb replay my-recording --live --json\n\nExit: 0 when the verdict is the expected one or none is expected; 1 when it is another; 2 when the\nfolder holds no recording that can be read."
)]
pub(super) struct ReplayArgs {
    /// The recording's folder
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// Play the page in a browser, whether or not something was seen of it
    #[arg(long)]
    live: bool,
    /// When played, divide its times by this; without it, so that it takes some seconds
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    time_scale: Option<u32>,
    /// The browser program that plays it; else the first known one on PATH
    #[arg(
        long,
        value_name = "PROGRAM",
        env = "BRB_BROWSER",
        hide_env_values = true
    )]
    browser: Option<PathBuf>,
    /// Print every step, and not only those after which something else is known
    #[arg(long)]
    all: bool,
    /// JSON lines on stdout, one a step and one for the end
    #[arg(long)]
    pub json: bool,
}

/// The exit when the verdict is not the expected one.
const EXIT_OTHER: u8 = 1;

pub(super) fn main(args: &ReplayArgs) -> Result<u8, Failure> {
    let recording = Recording::load(&args.dir).map_err(|error| unreadable(&error))?;
    let live = args.live || recording.seen.is_empty();
    if live && !recording.tells_the_page() {
        return Err(Failure::usage(
            "the timeline tells nothing of what the page did, so it cannot be played",
            "Leave `--live` out: what was seen is replayed without a browser.",
        ));
    }
    let (seen, end_ms, played) = if live {
        let (seen, judged) = played(args, &recording)?;
        let end_ms = seen.last().map_or(0, |(t_ms, _)| *t_ms);
        (seen, end_ms.max(recording.end_ms()), Some(judged))
    } else {
        (recording.seen.clone(), recording.end_ms(), None)
    };
    let steps = steps(
        &recording.awaiting,
        &seen,
        end_ms,
        capture::Limits::default(),
    );
    let judged = played.or_else(|| outcome(&steps).cloned());
    let differs = recording
        .expected
        .as_ref()
        .zip(judged.as_ref())
        .and_then(|(expected, judged)| expected.differs(judged));
    if args.json {
        for step in &steps {
            out::print_json(&value(step))?;
        }
        out::print_json(&json!({
            "schema_version": output::SCHEMA_VERSION,
            "event": "replayed",
            "recording": recording.name,
            "live": live,
            "verdict": judged.as_ref().map(ToString::to_string),
            "code": judged.as_ref().and_then(code),
            "complete": judged.as_ref().is_some_and(Judged::is_complete),
            "expected": recording.expected.as_ref().map(|_| differs.is_none()),
            "differs": differs,
        }))?;
    } else {
        let mut text = text(&steps, args.all);
        let last = judged.map(|judged| judged.to_string()).unwrap_or_default();
        let _ = writeln!(text, "\nverdict: {}", one_line(&last));
        let _ = match (&recording.expected, &differs) {
            (None, _) => writeln!(text, "expected: nothing is written down"),
            (Some(_), None) => writeln!(text, "expected: this"),
            (Some(_), Some(why)) => writeln!(text, "expected: another: {}", one_line(why)),
        };
        out::print(&text)?;
    }
    Ok(if differs.is_some() { EXIT_OTHER } else { 0 })
}

fn unreadable(error: &RecordingError) -> Failure {
    Failure::usage(
        error,
        "Name a folder with a timeline.jsonl; fixtures/README.md has its format.",
    )
}

/// Plays the page in a browser of its own, with a profile that is gone afterwards.
fn played(
    args: &ReplayArgs,
    recording: &Recording,
) -> Result<(Vec<(u64, Observation)>, Judged), Failure> {
    let profile = tempfile::tempdir().map_err(|error| {
        let help = "Make room in the folder for temporary files, or set TMPDIR.";
        Failure::new(Code::Config, error, help)
    })?;
    let stage = Stage {
        endpoint: cdp::Endpoint::Launch(cdp::Launch {
            program: args.browser.clone(),
            profile: profile.path().join("profile"),
            headless: true,
            args: Vec::new(),
        }),
        scale: args.time_scale.unwrap_or_else(|| recording.scale()),
        limits: capture::Limits::default(),
        keep_browser: false,
    };
    let played = signals::block_on(async {
        let mut told = signals::listen()?;
        tokio::select! {
            played = play(&recording.lines, &recording.awaiting, &stage) => played.map_err(|error| {
                Failure::of(Code::NoBrowser, error)
            }),
            _ = told.recv() => Err(Failure::usage(
                "interrupted while it was played",
                "Run it again, and let it come to its end.",
            )),
        }
    })?;
    let mut seen = Vec::new();
    for line in &played.lines {
        if let fixtures::timeline::What::Observation { observation } = &line.what
            && let Ok(observation) = Observation::deserialize(observation)
        {
            seen.push((line.t_ms, observation));
        }
    }
    Ok((seen, played.judged))
}

fn code(judged: &Judged) -> Option<&'static str> {
    match judged {
        Judged::Verdict(verdict) => verdict.code(),
        Judged::Blocked(_) => Some(Code::Blocker.name()),
    }
}

fn value(step: &Step<'_>) -> Value {
    json!({
        "schema_version": output::SCHEMA_VERSION,
        "event": "step",
        "t_ms": step.t_ms,
        "seen": step.seen.map(seen),
        "final": step.judged.is_final(),
        "complete": step.judged.is_complete(),
        "code": code(&step.judged),
        "held": held(&step.judged),
        "verdict": step.judged.to_string(),
    })
}

/// A step a line: when, what was seen, which parts of the proof hold, what is known.
fn text(steps: &[Step<'_>], all: bool) -> String {
    let mut text = String::from("    t/ms  page end text  seen -> known\n");
    let mut last = None;
    let mut left_out = 0_usize;
    for step in steps {
        let known = without_times(&step.judged);
        if !all && last.as_ref() == Some(&known) {
            left_out += 1;
            continue;
        }
        if left_out > 0 {
            let _ = writeln!(
                text,
                "          … {left_out} more, and nothing else is known"
            );
            left_out = 0;
        }
        let marks = held(&step.judged).map_or_else(
            || "   -   -    -".to_owned(),
            |held| {
                let mark = |holds| if holds { "yes" } else { "no" };
                format!(
                    "{:>4} {:>3} {:>4}",
                    mark(held.page),
                    mark(held.end),
                    mark(held.text)
                )
            },
        );
        let seen = step.seen.map_or_else(|| "the end".to_owned(), seen);
        let line = format!("{:>8} {marks}  {seen}", step.t_ms);
        let _ = writeln!(text, "{}", one_line(&line));
        if last.as_ref() != Some(&known) {
            let _ = writeln!(text, "{:>24}-> {}", "", one_line(&known));
        }
        last = Some(known);
    }
    if left_out > 0 {
        let _ = writeln!(
            text,
            "          … {left_out} more, and nothing else is known"
        );
    }
    text
}

/// What is known, without what changes with each look alone.
fn without_times(judged: &Judged) -> String {
    let Judged::Verdict(Verdict::NotYet(progress)) = judged else {
        return judged.to_string();
    };
    let missing: Vec<_> = progress
        .missing
        .iter()
        .map(|what| {
            let shown = what.to_string();
            shown.split(" (").next().unwrap_or_default().to_owned()
        })
        .collect();
    let want = want(progress);
    format!(
        "not yet, {}; missing: {}{want}",
        progress.phase,
        missing.join(", ")
    )
}

fn want(progress: &Progress) -> String {
    let want = progress.want.as_ref();
    want.map(|want| format!("; wanted: {want}"))
        .unwrap_or_default()
}
