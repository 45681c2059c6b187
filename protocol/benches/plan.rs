//! How fast a reply is scanned and validated, and whether that is linear.
//!
//! `scripts/bench plan`: MB/s for a reply of 64 KiB and one of 8 MiB, for
//! one long section and for many short lines, and the ratio of the two, all in
//! one run. A broken bound ends it non-zero.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a bench reads the clock"
)]
#![allow(clippy::print_stdout, reason = "its result is what it prints")]

use std::{hint::black_box, process::ExitCode, time::Instant};

use protocol::{
    fence,
    frame::Frame,
    id::{Round, Sid, Tag},
    plan,
    reply::EndWitness,
};

const SMALL: usize = 64 * 1024;
const LARGE: usize = 8 * 1024 * 1024;
/// How many bytes each measurement goes through.
const WORK: usize = 64 * 1024 * 1024;

/// What a large reply of ordinary lines must reach, in MB/s.
const SPEED_MIN: f64 = 200.0;
/// How much slower the large reply may be, byte for byte. What grows with the
/// square of the length would be 128 times slower; caches alone cost up to two.
const RATIO_MAX: f64 = 4.0;

fn main() -> ExitCode {
    let frame = Frame {
        sid: Sid::from_bytes([7; 8]),
        round: Round(3),
        prev: None,
        qid: Tag::parse("e1db9b58").expect("eight digits"),
    };
    println!("{:<28} {:>12} {:>12} {:>8}", "", "64 KiB", "8 MiB", "ratio");
    let mut within = true;
    for (what, line, section, speed_min) in [
        ("notes, lines of 72", &"x".repeat(72), "NOTES", SPEED_MIN),
        (
            "notes, Chinese",
            &"方案里的一行字，".repeat(6),
            "NOTES",
            SPEED_MIN,
        ),
        (
            "commands, lines of 72",
            &format!("- {}", "x".repeat(70)),
            "COMMANDS",
            SPEED_MIN,
        ),
        ("notes, lines of 3", &"abc".to_owned(), "NOTES", 0.0),
        (
            "back-ticks in every line",
            &"``` x` ~~~".to_owned(),
            "NOTES",
            0.0,
        ),
    ] {
        let speed = |len| {
            let reply = reply(&frame, section, line, len);
            measure(&reply, |text| {
                let plan = plan::validate(text, &frame, EndWitness::StreamDone);
                assert!(black_box(plan).is_ok());
            })
        };
        let what = format!("validate: {what}");
        within &= report(&what, speed(SMALL), speed(LARGE), speed_min);
    }
    let scan = |len| {
        let text = "~~~\n".repeat(len / 4);
        measure(&text, |text| {
            black_box(fence::scan(text));
        })
    };
    within &= report("scan: fences alone", scan(SMALL), scan(LARGE), 0.0);
    println!(
        "bounds: ordinary lines at least {SPEED_MIN} MB/s at 8 MiB, every ratio at most {RATIO_MAX}"
    );
    if within {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Prints one line and says whether it is within its bounds.
fn report(what: &str, small: f64, large: f64, speed_min: f64) -> bool {
    let ratio = small / large;
    let within = large >= speed_min && ratio <= RATIO_MAX;
    let word = if within { "" } else { "  OVER its bound" };
    println!("{what:<34} {small:>6.0} MB/s {large:>7.0} MB/s {ratio:>8.2}{word}");
    within
}

/// The best of several runs, in MB/s.
fn measure(text: &str, mut run: impl FnMut(&str)) -> f64 {
    let times = (WORK / text.len()).max(1);
    let clock = Clock::start();
    let best = (0..5).map(|_| {
        let start = clock.seconds();
        for _ in 0..times {
            run(black_box(text));
        }
        (clock.seconds() - start) / f64::from(u32::try_from(times).unwrap_or(u32::MAX))
    });
    let seconds = best.fold(f64::INFINITY, f64::min);
    #[allow(clippy::cast_precision_loss, reason = "a length far below 2^52")]
    let megabytes = text.len() as f64 / 1e6;
    megabytes / seconds
}

/// The processor time of this thread where the system tells it, so that what
/// else runs on the machine does not count; else the time of the clock.
struct Clock(Instant);

impl Clock {
    fn start() -> Self {
        Self(Instant::now())
    }

    fn seconds(&self) -> f64 {
        let stat = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
        let nanos = stat.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
        nanos.map_or_else(|| self.0.elapsed().as_secs_f64(), |nanos| nanos / 1e9)
    }
}

fn reply(frame: &Frame, section: &str, line: &str, len: usize) -> String {
    let mut out = format!("````\n# PLAN pi-bridge/1\n{frame}\nDECISION: continue\nTASK: bench\n");
    for name in [
        "GOAL", "STEPS", "FILES", "COMMANDS", "RISKS", "VERIFY", "NOTES",
    ] {
        out.push_str(&format!("\n## {name}\n"));
        if name == section {
            while out.len() < len {
                out.push_str(line);
                out.push('\n');
            }
        } else {
            out.push_str(if name == "STEPS" { "1. x\n" } else { "- x\n" });
        }
    }
    out.push_str("````\n");
    out
}
