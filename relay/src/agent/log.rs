//! The log of one execution: what the jobs print, raw, in bounded space.

use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

use super::capture::Captured;
use super::keeper::JobEnd;

/// Bytes of one job that go to the log as they come; of the rest only the end is kept.
const LIVE_LEN_MAX: u64 = 256 << 10;
/// Bytes of all jobs together that go to the log.
const LOG_LEN_MAX: u64 = 8 << 20;

#[derive(Debug, Default)]
struct Spent {
    job: u64,
    all: u64,
    cut: u64,
}

/// Writes to stderr, which the wrapper has made the log file.
#[derive(Debug, Default)]
pub struct Log {
    spent: Mutex<Spent>,
}

impl Log {
    /// An empty log.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Opens the section of a job.
    pub fn begin(&self, job: usize, argv: &[String]) {
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        (spent.job, spent.cut) = (0, 0);
        let shown: String = argv.join(" ").chars().take(4096).collect();
        put(&mut spent, format!("== {}: {shown}\n", job + 1).as_bytes());
    }

    /// Takes output as it comes.
    pub fn write(&self, bytes: &[u8]) {
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        let room = LIVE_LEN_MAX.saturating_sub(spent.job);
        let now = usize::try_from(room).unwrap_or(usize::MAX).min(bytes.len());
        put(&mut spent, &bytes[..now]);
        spent.job += now as u64;
        spent.cut += (bytes.len() - now) as u64;
    }

    /// Closes the section, with the end of each stream where something was cut.
    pub fn end(&self, job: usize, end: &JobEnd, streams: [&Captured; 2]) {
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        if spent.cut > 0 {
            let said = format!(
                "\n== {}: {} bytes not in this log; the ends:\n",
                job + 1,
                spent.cut
            );
            put(&mut spent, said.as_bytes());
            for stream in streams {
                put(&mut spent, stream.tail.as_bytes());
            }
        }
        put(
            &mut spent,
            format!("\n== {}: {end:?}\n", job + 1).as_bytes(),
        );
    }
}

fn put(spent: &mut Spent, bytes: &[u8]) {
    if spent.all + bytes.len() as u64 > LOG_LEN_MAX {
        return;
    }
    spent.all += bytes.len() as u64;
    // A full disk costs the log, never the execution.
    let _ = io::stderr().lock().write_all(bytes);
}
