//! `brb list`: the sessions that are here.

use std::fmt::Write as _;

use clap::Args;
use protocol::{fault::Code, id::Sid};
use serde_json::{Value, json};

use super::{Common, failure::Failure, out};
use crate::{
    agent::quote::one_line,
    clock,
    index::{self, Listed, Standing, Summary},
    journal::locks::Lock,
    output,
    place::Place,
};

/// List the sessions, the one worked on last first
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  brb list\n  brb list --json")]
pub(super) struct ListArgs {
    /// One JSON object on stdout
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    common: Common,
}

pub(super) fn main(args: &ListArgs) -> Result<u8, Failure> {
    let place = args.common.quiet_place()?;
    let all = index::list(&place).map_err(|error| {
        let what = format!("reading {} failed: {error}", place.state.display());
        Failure::of(Code::Journal, what)
    })?;
    if args.json {
        let sessions: Vec<Value> = all.iter().map(|one| value(one, &place)).collect();
        out::print_json(&json!({
            "schema_version": output::SCHEMA_VERSION,
            "sessions": sessions,
        }))?;
    } else {
        out::print(&text(&all, &place))?;
    }
    Ok(0)
}

fn is_running(one: &Listed, place: &Place) -> bool {
    // Where it cannot be told, nobody is said to be at work.
    matches!(Lock::session_holder(&place.session(&one.sid)), Ok(Some(_)))
}

/// Whether it was killed or interrupted, so that it can be gone on with.
fn goes_on(summary: &Summary) -> bool {
    match summary.standing {
        Standing::Open { .. } => true,
        Standing::Done | Standing::Stopped { .. } => false,
    }
}

fn value(one: &Listed, place: &Place) -> Value {
    let running = is_running(one, place);
    match &one.summary {
        Ok(summary) => {
            let mut value = serde_json::to_value(summary).unwrap_or_default();
            if let Some(fields) = value.as_object_mut() {
                fields.insert("running".to_owned(), running.into());
            }
            value
        }
        Err(error) => json!({
            "sid": one.sid,
            "running": running,
            "code": Code::Journal,
            "error": error.to_string(),
        }),
    }
}

fn text(all: &[Listed], place: &Place) -> String {
    if all.is_empty() {
        return format!(
            "no session yet in {}; begin one with `brb run \"…\"`\n",
            place.state.display()
        );
    }
    let now = clock::wall();
    let mut text = format!(
        "{:<16}  {:<22}  {:>6}  {:<10}  {:<9}  {}\n",
        "SESSION", "STATE", "ROUNDS", "CHECKPOINT", "LAST", "WORKSPACE"
    );
    for one in all {
        let _ = match &one.summary {
            Ok(summary) => {
                let state = if is_running(one, place) {
                    "running".to_owned()
                } else {
                    standing_words(&summary.standing)
                };
                let ago = clock::span(now.0.saturating_sub(summary.last.0));
                writeln!(
                    text,
                    "{}  {state:<22}  {:>6}  {:<10}  {:<9}  {}",
                    one.sid,
                    summary.rounds,
                    summary.checkpoint,
                    format!("{ago} ago"),
                    one_line(&summary.workspace)
                )
            }
            Err(error) => writeln!(text, "{}  {:<22}  {error}", one.sid, "unreadable"),
        };
    }
    let open: Vec<&Sid> = all
        .iter()
        .filter(|one| one.summary.as_ref().is_ok_and(goes_on) && !is_running(one, place))
        .map(|one| &one.sid)
        .collect();
    match open.as_slice() {
        [] => {}
        [sid] => {
            let _ = writeln!(text, "\ncontinue with: brb run --continue {sid}");
        }
        [sid, ..] => {
            let _ = writeln!(
                text,
                "\n{} sessions are open; continue with: brb run --continue {sid}, or another SID",
                open.len()
            );
        }
    }
    let waits = |one: &&Listed| {
        let stopped = |it: &Summary| matches!(it.standing, Standing::Stopped { .. });
        one.summary.as_ref().is_ok_and(stopped) && !is_running(one, place)
    };
    if let Some(one) = all.iter().find(waits) {
        let _ = writeln!(
            text,
            "\nwaits for a person; decide with: brb resume {}",
            one.sid
        );
    }
    text
}

/// Where a session stands, in a few words.
pub(super) fn standing_words(standing: &Standing) -> String {
    match standing {
        Standing::Done => "done".to_owned(),
        Standing::Stopped {
            outcome,
            code: Some(code),
        } => format!("{outcome} ({code})"),
        Standing::Stopped {
            outcome,
            code: None,
        } => format!("{outcome}"),
        Standing::Open { unknown: true, .. } => "open, a send unknown".to_owned(),
        Standing::Open { started: true, .. } => "open, a plan started".to_owned(),
        Standing::Open {
            outcome: Some(outcome),
            ..
        } => format!("open ({outcome})"),
        Standing::Open { outcome: None, .. } => "open".to_owned(),
    }
}
