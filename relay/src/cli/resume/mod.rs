//! `brb resume`: what a person decides about a session that waits for one.
//!
//! It looks before it asks: the journal, then the page, and changes neither. What is decided
//! is stored under the session's own lock, by a name and with a reason.

mod choose;
mod look;

use std::{
    io::{IsTerminal, stderr, stdin},
    path::Path,
};

use clap::Args;
use protocol::{
    fault::Code,
    id::Sid,
    outcome::{Outcome, Signal},
    record::{PlanStage, Record, State},
    recovery::manual::{Seen, choices},
    send::SendState,
    session::Looked,
};
use serde_json::{Value, json};

use self::choose::{Decided, Wanted};
pub(super) use self::look::lines as seen_lines;
use super::{
    Common,
    browser::BrowserArgs,
    failure::Failure,
    out,
    report::{self, Report},
    run::Kept,
    session, signals,
};
use crate::{
    index::{self, Standing},
    output::{self, continue_words},
    place::Place,
    start::Taken,
};

/// Decide about a session that waits for a person, after a look at journal and page
///
/// It reads the journal, finds the conversation and reads it twice, and changes nothing. Then it
/// prints the report, what the page shows, and the numbered choices that the recovery table
/// leaves. What you choose is stored with your name; what contradicts the page is refused.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  brb resume                                     the session of this folder that waits; asks
  brb resume 00112233 --dry-run                  look, and decide nothing
  brb resume 00112233 --choose lift --why \"logged in again\" --go
  brb resume 00112233 --choose lift=rounds_max=80
  brb resume 00112233 --choose ran=ok:receipt.txt
  brb resume --list

Choices: sent, not-sent, ran=ok:FILE, ran=failed:FILE, did-not-run, run-once, lift[=LIMIT=VALUE],
resync, wait-on[=LIMIT=VALUE], abandon, or a choice's number.

Exit: 0 when something was decided; with nothing decided the exit of the session's own last end.")]
pub(super) struct ResumeArgs {
    /// The session, or the beginning of its id; without one, the one of this folder that waits
    #[arg(value_name = "SID")]
    sid: Option<String>,
    /// Decide this, without being asked
    #[arg(long, value_name = "CHOICE[=ARG]", conflicts_with_all = ["list"])]
    choose: Option<String>,
    /// Who decides; else the name of the user
    #[arg(long, value_name = "NAME")]
    who: Option<String>,
    /// What the decision rests on, in a line
    #[arg(long, value_name = "TEXT")]
    why: Option<String>,
    /// Look and tell what would be stored; store nothing
    #[arg(long)]
    dry_run: bool,
    /// Go on with the session once something is decided
    #[arg(long, conflicts_with = "dry_run")]
    go: bool,
    /// List the sessions that wait for a person
    #[arg(long, conflicts_with_all = ["sid", "go", "dry_run"])]
    list: bool,
    /// One JSON object on stdout
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    browser: BrowserArgs,
    #[command(flatten)]
    common: Common,
}

pub(super) fn main(args: ResumeArgs) -> Result<u8, Failure> {
    let place = args.common.quiet_place()?;
    if args.list {
        return list(&place, args.json);
    }
    let wanted = args.choose.as_deref().map(Wanted::parse).transpose()?;
    let sid = match &args.sid {
        Some(text) => session::find(&place, Some(text))?,
        None => waiting_here(&place)?,
    };
    let taken = Taken::take(&place.state, &sid)?;
    let report = report::of(&place.state, &sid, false)?;
    let go = args.go;
    let again = again(&args, &place, &sid);
    let exit = signals::block_on(resume(args, wanted, taken, report, place))?;
    Ok(match exit {
        Ended::Decided if go => super::exit_of(again),
        Ended::Decided => 0,
        Ended::Nothing(exit) => exit,
    })
}

/// How it ended.
enum Ended {
    /// Something is stored by which the session can be gone on with.
    Decided,
    /// Nothing was decided, or nothing is left to do.
    Nothing(u8),
}

async fn resume(
    args: ResumeArgs,
    wanted: Option<Wanted>,
    mut taken: Taken,
    mut report: Report,
    place: Place,
) -> Result<Ended, Failure> {
    let mut signals = signals::listen()?;
    let own = own_exit(&taken.state);
    if taken.state.is_closed() {
        let said = Said::new(&report, None, own);
        said.print(
            args.json,
            "nothing is left to decide: the session is closed",
        )?;
        return Ok(Ended::Nothing(own));
    }
    // Whoever decides holds the conversation, too: nobody else writes into it meanwhile.
    //= spec L1
    let seat = taken.hold_conversation()?;
    let kept = Kept::read(&taken.folder);
    let looked = look::look(&args.browser, &kept, &place, &taken, &mut signals).await?;
    let folder = report::work_folder(&place.state, &taken.state);
    let seen = Seen {
        located: looked.located.clone(),
        folder,
        trace: report::trace(&place.state, &taken.state),
    };
    let all = choices(&taken.state, &looked.facts, &seen);
    report.looked_at(&looked, &all);
    let mut said = Said::new(&report, Some(&looked), own);
    if !args.json {
        out::print(&format!("{report}"))?;
    }
    let decided = match wanted {
        Some(wanted) => Some(wanted.decide(&all, &taken.state, &args)?),
        None if !args.json && is_terminal() && !args.dry_run => {
            choose::ask(&all, &taken.state, &args, &mut signals).await?
        }
        //= spec M3
        None => None,
    };
    let Some(Decided { choice, records }) = decided else {
        said.print(args.json, "nothing was decided")?;
        return Ok(Ended::Nothing(own));
    };
    said.chosen = Some(choice.word());
    said.records.clone_from(&records);
    if args.dry_run {
        taken.would_decide(&records)?;
        said.next = next_after(&taken.state, &records);
        said.print(args.json, "this would be stored; nothing was")?;
        return Ok(Ended::Nothing(own));
    }
    taken.decide(&records)?;
    drop(seat);
    said.stored = true;
    said.next = continue_words(&taken.state);
    let word = format!("{choice} is stored: {}", choice.means());
    said.print(args.json, &word)?;
    Ok(match said.next {
        Some(_) => Ended::Decided,
        None => Ended::Nothing(0),
    })
}

fn next_after(state: &State, records: &[Record]) -> Option<String> {
    let gone = records
        .iter()
        .any(|record| matches!(record, Record::Abandoned { .. }));
    let sid = state.opened.as_ref().filter(|_| !gone)?.sid();
    Some(format!("brb run --continue {sid}"))
}

fn is_terminal() -> bool {
    stdin().is_terminal() && stderr().is_terminal()
}

/// The exit of the session's own last end: what is open weighs more than how it ended.
fn own_exit(state: &State) -> u8 {
    let unknown = state
        .in_flight()
        .is_some_and(|row| row.state() == SendState::Unknown);
    let doubt = state
        .plan
        .as_ref()
        .is_some_and(|plan| plan.stage != PlanStage::Accepted);
    let all = [
        state.stop.as_ref().map(|stop| stop.outcome),
        unknown.then_some(Outcome::Unknown),
        doubt.then_some(Outcome::Manual),
    ];
    Outcome::worst(all.into_iter().flatten()).map_or(0, |outcome| outcome.exit(Signal::Interrupt))
}

/// What is told at the end.
struct Said {
    value: Value,
    exit: u8,
    chosen: Option<&'static str>,
    records: Vec<Record>,
    stored: bool,
    next: Option<String>,
}

impl Said {
    fn new(report: &Report, looked: Option<&Looked>, exit: u8) -> Self {
        let page = looked.map(look::value);
        Self {
            value: json!({
                "schema_version": output::SCHEMA_VERSION,
                "sid": report.sid,
                "report": report.value(),
                "page": page,
            }),
            exit,
            chosen: None,
            records: Vec::new(),
            stored: false,
            next: None,
        }
    }

    fn print(&self, as_json: bool, word: &str) -> Result<(), Failure> {
        if !as_json {
            let next = match &self.next {
                Some(next) => format!("\n{word}\n  next: {next}\n"),
                None => format!("\n{word}\n"),
            };
            return out::print(&next);
        }
        let mut value = self.value.clone();
        if let Some(fields) = value.as_object_mut() {
            let records: Vec<Record> = self.records.iter().map(Record::without_texts).collect();
            fields.insert("chosen".to_owned(), json!(self.chosen));
            fields.insert("records".to_owned(), json!(records));
            fields.insert("stored".to_owned(), json!(self.stored));
            fields.insert("next".to_owned(), json!(self.next));
            fields.insert("session_exit".to_owned(), json!(self.exit));
            fields.insert("said".to_owned(), json!(word));
        }
        out::print_json(&value)
    }
}

/// The command that goes on, with the same browser and folders.
fn again(args: &ResumeArgs, place: &Place, sid: &Sid) -> Vec<std::ffi::OsString> {
    let mut all: Vec<std::ffi::OsString> = ["brb", "run", "--continue", sid.as_str()]
        .map(Into::into)
        .into();
    all.extend(["--state-dir".into(), place.state.clone().into()]);
    if let Some(attach) = args.browser.attached_to() {
        all.extend(["--attach".into(), attach.into()]);
    }
    if args.json {
        all.push("--json".into());
    }
    all
}

/// Sessions that wait for a person, the one worked on last first.
fn waiting(place: &Place) -> Result<Vec<(Sid, index::Summary)>, Failure> {
    let all = index::list(place).map_err(|error| {
        let what = format!("reading {} failed: {error}", place.state.display());
        Failure::of(Code::Journal, what)
    })?;
    let waits = |standing: &Standing| match standing {
        Standing::Stopped { .. } => true,
        Standing::Open { unknown, .. } => *unknown,
        Standing::Done => false,
    };
    let rows = all
        .into_iter()
        .filter_map(|one| Some((one.sid, one.summary.ok()?)));
    Ok(rows.filter(|(_, it)| waits(&it.standing)).collect())
}

fn waiting_here(place: &Place) -> Result<Sid, Failure> {
    let here = std::env::current_dir().unwrap_or_default();
    let here = std::fs::canonicalize(&here).unwrap_or(here);
    let all = waiting(place)?;
    let of_here: Vec<&Sid> = all
        .iter()
        .filter(|(_, it)| Path::new(&it.workspace) == here)
        .map(|(sid, _)| sid)
        .collect();
    match of_here.as_slice() {
        [sid] => Ok((*sid).clone()),
        [] => Err(Failure::usage(
            format!("no session in {} waits for a person", here.display()),
            "See `brb resume --list` for those of other folders; what was only interrupted goes on with `brb run --continue`.",
        )),
        several => Err(Failure::usage(
            format!(
                "{} sessions in {} wait for a person",
                several.len(),
                here.display()
            ),
            "Name one: `brb resume SID`; `brb resume --list` has them all.",
        )),
    }
}

fn list(place: &Place, as_json: bool) -> Result<u8, Failure> {
    let all = waiting(place)?;
    if as_json {
        let sessions: Vec<Value> = all.iter().map(|(_, it)| json!(it)).collect();
        out::print_json(&json!({
            "schema_version": output::SCHEMA_VERSION,
            "sessions": sessions,
        }))?;
        return Ok(0);
    }
    let mut text = String::new();
    for (sid, it) in &all {
        let standing = super::list::standing_words(&it.standing);
        let folder = crate::agent::quote::one_line(&it.workspace);
        text.push_str(&format!("{sid}  {standing:<28}  {folder}\n"));
    }
    if all.is_empty() {
        text.push_str("no session waits for a person\n");
    } else {
        text.push_str("\ndecide with: brb resume SID\n");
    }
    out::print(&text)?;
    Ok(0)
}
