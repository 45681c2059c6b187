//! What capturing a reply costs: how soon it is proven, what of it the page and
//! the machine pay, and how the same page is read by pollers.
//!
//! `scripts/bench capture [latency|partial|turns|renderer|prove|waiting]…`, in a real
//! browser on the stand-in page. A broken bound ends it non-zero, and so does a
//! part that takes longer than it may.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a bench reads the clock"
)]
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "its result is what it prints"
)]
#![allow(
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "whatever fails here ends the bench, and says where"
)]

mod latency;
#[path = "../../tests/observe_support/mod.rs"]
mod observe_support;
mod page_cost;
mod partial;
mod poller;
mod proof;
#[allow(dead_code, reason = "a part of it is used here")]
#[path = "../../../cdp/tests/common/raw.rs"]
mod raw;
mod stage;
mod waiting;

use std::{
    process::ExitCode,
    time::{Duration, Instant},
};

/// Each part, and how many seconds it may take.
const PARTS: [(&str, u64); 6] = [
    ("latency", 540),
    ("partial", 360),
    ("turns", 120),
    ("renderer", 240),
    ("prove", 60),
    ("waiting", 240),
];

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let is_asked = |part: &str| args.iter().any(|arg| arg == part);
    let all = !PARTS.iter().any(|(part, _)| is_asked(part));
    let wanted = || PARTS.iter().filter(|(part, _)| all || is_asked(part));
    let seconds: u64 = wanted().map(|(_, seconds)| seconds).sum();
    println!("at most {} minutes in all", seconds.div_ceil(60));
    let mut report = Report::default();
    for (part, seconds) in wanted() {
        println!("-- {part}, at most {seconds} s");
        let began = Instant::now();
        let measured = tokio::time::timeout(Duration::from_secs(*seconds), async {
            match *part {
                "latency" => latency::measure(&mut report).await,
                "partial" => partial::measure(&mut report).await,
                "turns" => page_cost::turns(&mut report).await,
                "renderer" => page_cost::renderer(&mut report).await,
                "prove" => proof::measure(&mut report),
                _ => waiting::measure(&mut report).await,
            }
        });
        let outcome = measured.await;
        match outcome {
            Ok(()) => println!("-- {part} took {} s", began.elapsed().as_secs()),
            Err(_) => report.broken.push(format!("{part} took too long")),
        }
    }
    if report.broken.is_empty() {
        return ExitCode::SUCCESS;
    }
    println!("broken: {}", report.broken.join(", "));
    ExitCode::FAILURE
}

/// The bounds that did not hold.
#[derive(Default)]
pub struct Report {
    broken: Vec<String>,
}

impl Report {
    /// Prints a figure beside its bound.
    pub fn at_most(&mut self, what: &str, value: f64, max: f64, unit: &str) {
        self.line(what, value, max, unit, value <= max, "≤");
    }

    /// Prints a figure beside its bound.
    pub fn at_least(&mut self, what: &str, value: f64, min: f64, unit: &str) {
        self.line(what, value, min, unit, value >= min, "≥");
    }

    fn line(&mut self, what: &str, value: f64, bound: f64, unit: &str, holds: bool, sign: &str) {
        let mark = if holds { "" } else { "  BROKEN" };
        println!("{what}: {value:.2} {unit} ({sign} {bound} {unit}){mark}");
        if !holds {
            self.broken.push(what.to_owned());
        }
    }
}

/// The value below which `share` of all lie.
pub fn quantile(all: &[f64], share: f64) -> f64 {
    let mut all = all.to_vec();
    all.sort_by(f64::total_cmp);
    let at = (all.len() as f64 * share).ceil() as usize;
    all.get(at.max(1) - 1).copied().unwrap_or(f64::NAN)
}
