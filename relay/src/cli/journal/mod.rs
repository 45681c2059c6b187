//! `brb journal`: what stands in a session's journal, read and never changed.
//!
//! It reads beside a relay that is writing, and sees each record once it is stored.

pub(super) mod line;

use clap::{Args, Subcommand};
use protocol::{
    fault::Code,
    id::Sid,
    record::{Entry, FoldError},
};
use serde_json::{Value, json};

use super::{Common, failure::Failure, out, session};
use crate::{
    agent::quote::{for_terminal, one_line},
    clock,
    journal::{Access, Found, OpenError, SqliteJournal},
    output,
};

/// Read a session's journal: its records, whether they are sound, a copy
///
/// Nothing is changed, and a relay that is at work on the session is not disturbed. Requests,
/// messages, plans and receipts stay out, with their lengths in their places, unless --with-text
/// asks for them.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  brb journal show 00112233\n  brb journal verify 00112233\n  brb journal export 00112233 > report.jsonl"
)]
pub(super) struct JournalArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Print the records, one line each
    #[command(
        after_help = "Examples:\n  brb journal show 00112233\n  brb journal show 00112233 --with-text | less\n  brb journal show --json"
    )]
    Show(ReadArgs),
    /// Check every record against the chain, the head and the rules of the fold
    #[command(
        after_help = "Examples:\n  brb journal verify 00112233\n  brb journal verify --json\n\nExit: 0 when all is as it was written; 10 when not, with the first record that is not."
    )]
    Verify(VerifyArgs),
    /// Print the records as JSON lines, for a report or another program
    #[command(
        after_help = "Examples:\n  brb journal export 00112233 > report.jsonl\n  brb journal export 00112233 --with-text > whole.jsonl"
    )]
    Export(ExportArgs),
}

#[derive(Debug, Args)]
struct Which {
    /// The session, or the beginning of its id; without one, the one worked on last
    #[arg(value_name = "SID")]
    sid: Option<String>,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Args)]
struct ReadArgs {
    /// Print requests, messages, plans and receipts, too
    #[arg(long)]
    with_text: bool,
    /// One JSON object on stdout
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    which: Which,
}

#[derive(Debug, Args)]
struct VerifyArgs {
    /// One JSON object on stdout
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    which: Which,
}

#[derive(Debug, Args)]
struct ExportArgs {
    /// Write requests, messages, plans and receipts, too
    #[arg(long)]
    with_text: bool,
    #[command(flatten)]
    which: Which,
}

pub(super) fn main(args: &JournalArgs) -> Result<u8, Failure> {
    match &args.command {
        Command::Show(args) => show(args),
        Command::Verify(args) => verify(args),
        Command::Export(args) => export(args),
    }
}

impl Which {
    fn open(&self) -> Result<(Sid, Result<Found, OpenError>), Failure> {
        let place = self.common.quiet_place()?;
        let sid = session::find(&place, self.sid.as_deref())?;
        let found = SqliteJournal::open(&place.session(&sid), Access::Read);
        Ok((sid, found))
    }

    fn entries(&self, with_text: bool) -> Result<(Sid, Vec<Entry>), Failure> {
        let (sid, found) = self.open()?;
        let mut entries = found?.entries;
        if !with_text {
            for entry in &mut entries {
                entry.record = entry.record.without_texts();
            }
        }
        Ok((sid, entries))
    }
}

fn show(args: &ReadArgs) -> Result<u8, Failure> {
    let (sid, entries) = args.which.entries(args.with_text)?;
    if args.json {
        out::print_json(&json!({
            "schema_version": output::SCHEMA_VERSION,
            "sid": sid,
            "records": entries,
        }))?;
        return Ok(0);
    }
    let mut text = String::new();
    for entry in &entries {
        let (kind, said) = line::of(&entry.record);
        text.push_str(&format!(
            "{:>5}  {}  {:>8}  {kind:<11}  {}\n",
            entry.seq,
            clock::shown(entry.at),
            seconds(entry.run_ms),
            one_line(&said)
        ));
        if args.with_text
            && let Some(body) = line::text_of(&entry.record)
        {
            text.push_str(&for_terminal(body.as_str()));
        }
    }
    out::print(&text)?;
    Ok(0)
}

fn seconds(run_ms: u64) -> String {
    format!("{}.{:03}", run_ms / 1_000, run_ms % 1_000)
}

fn export(args: &ExportArgs) -> Result<u8, Failure> {
    let (_, entries) = args.which.entries(args.with_text)?;
    let mut text = String::new();
    for entry in &entries {
        let mut line = serde_json::to_value(entry).unwrap_or_default();
        if let Some(fields) = line.as_object_mut() {
            let version = output::SCHEMA_VERSION.into();
            fields.insert("schema_version".to_owned(), version);
        }
        text.push_str(&format!("{line}\n"));
    }
    out::print(&text)?;
    Ok(0)
}

fn verify(args: &VerifyArgs) -> Result<u8, Failure> {
    let (sid, found) = args.which.open()?;
    let checked = match found {
        Err(error) => Err((bad_at(&error), Failure::from(error))),
        Ok(found) => match protocol::record::fold(&found.entries) {
            Ok(_) => Ok(found.entries),
            Err(error) => Err((Some(error.seq.0), does_not_fold(&error))),
        },
    };
    match checked {
        Ok(entries) => {
            if args.json {
                out::print_json(&report(&sid, entries.len(), None))?;
            } else {
                out::print(&sound(&sid, &entries))?;
            }
            Ok(0)
        }
        Err((at, failure)) if args.json => {
            out::print_json(&report(&sid, 0, Some((at, &failure))))?;
            Ok(failure.exit())
        }
        Err((_, failure)) => Err(failure),
    }
}

fn sound(sid: &Sid, entries: &[Entry]) -> String {
    let count = entries.len();
    let last = entries.last().map_or_else(String::new, |entry| {
        format!("; the last was stored at {}", clock::shown(entry.at))
    });
    let back = entries
        .windows(2)
        .filter(|pair| matches!(pair, [one, two] if two.at < one.at))
        .count();
    let clock = if back == 0 {
        String::new()
    } else {
        format!(
            "the wall clock went back {back} time(s) between records; nothing is decided by it\n"
        )
    };
    format!("session {sid}: {count} records, all as written, and they fold{last}\n{clock}")
}

fn report(sid: &Sid, records: usize, bad: Option<(Option<u64>, &Failure)>) -> Value {
    json!({
        "schema_version": output::SCHEMA_VERSION,
        "sid": sid,
        "sound": bad.is_none(),
        "records": bad.is_none().then_some(records),
        "first_bad": bad.and_then(|(at, _)| at),
        "what": bad.map(|(_, failure)| &failure.what),
        "help": bad.map(|(_, failure)| &failure.help),
    })
}

fn does_not_fold(error: &FoldError) -> Failure {
    Failure::new(
        Code::Journal,
        error,
        "Begin a new session; keep this folder for a report.",
    )
}

/// The first record that is not as it was written, where that is known.
fn bad_at(error: &OpenError) -> Option<u64> {
    match error {
        OpenError::Corrupt { seq, .. } => seq.map(|seq| seq.0),
        OpenError::Short { last, .. } => Some(last.next().0),
        OpenError::NoSession { .. }
        | OpenError::Gone { .. }
        | OpenError::Unfinished { .. }
        | OpenError::Exists { .. }
        | OpenError::Newer { .. }
        | OpenError::Io { .. }
        | OpenError::Store { .. } => None,
    }
}
