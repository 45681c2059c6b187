//! What a report says, out of a session's records.

use std::{collections::BTreeMap, path::Path};

use protocol::{
    frame::Checkpoint,
    id::SendId,
    outcome::Signal,
    record::{Entry, PlanStage, Record, SCHEMA_VERSION, State, Stop},
    recovery::{
        RowId,
        manual::{Choice, Choices, Folder, Refused, Seen, Trace, choices},
    },
    session::{Looked, facts_alone},
    time::{SpanMs, WallMs},
    wire,
};
use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    agent::{self, Ended, ExitRecord, lock, quote::one_line, record::CommandEnd},
    cli::journal::line,
    clock, output,
};

/// A report, without the texts of the session unless they were asked for.
#[derive(Debug, Serialize)]
pub(in crate::cli) struct Report {
    schema_version: u32,
    pub sid: String,
    made_at: WallMs,
    pub versions: BTreeMap<&'static str, String>,
    pub stop: Option<StopSaid>,
    pub row: Option<RowSaid>,
    /// As they are now, from the journal alone.
    pub facts_now: String,
    pub messages: Vec<Message>,
    pub plan: Option<String>,
    pub checkpoint: String,
    pub folder: Option<String>,
    pub budgets: String,
    pub page: Option<String>,
    pub chat: String,
    pub conversation: Option<String>,
    pub forbidden: Vec<Forbidden>,
    pub choices: Vec<Offered>,
    pub records: Vec<Line>,
    /// What the page showed just now, where it was looked at.
    pub seen: Vec<(&'static str, String)>,
}

/// How the last run ended.
#[derive(Debug, Serialize)]
pub(in crate::cli) struct StopSaid {
    pub outcome: String,
    pub exit: u8,
    pub code: Option<&'static str>,
    pub meaning: Option<&'static str>,
    pub why: String,
    pub standing: bool,
    pub at: Option<WallMs>,
    pub facts: Option<String>,
}

/// The row of the table, in its words.
#[derive(Debug, Serialize)]
pub(in crate::cli) struct RowSaid {
    pub id: RowId,
    pub failure: &'static str,
    pub why: &'static str,
}

/// What must not be done.
#[derive(Debug, Serialize)]
pub(in crate::cli) struct Forbidden {
    pub what: String,
    pub why: String,
}

/// What may be chosen.
#[derive(Debug, Serialize)]
pub(in crate::cli) struct Offered {
    pub number: usize,
    pub choice: &'static str,
    pub about: Choice,
    pub means: &'static str,
}

/// One message and what its state rests on.
#[derive(Debug, Serialize)]
pub(in crate::cli) struct Message {
    pub send: SendId,
    pub kind: String,
    pub round: Option<u32>,
    pub state: String,
    pub evidence: String,
    pub at: Option<WallMs>,
    pub reply: String,
}

/// One record, in the order of time.
#[derive(Debug, Serialize)]
pub(in crate::cli) struct Line {
    pub seq: u64,
    pub at: WallMs,
    pub run_ms: SpanMs,
    pub kind: &'static str,
    pub what: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

impl Report {
    /// The report on what these records say.
    pub fn new(state_dir: &Path, entries: &[Entry], state: &State, with_text: bool) -> Self {
        let opened = state.opened.as_ref();
        let limits = opened
            .map(|opened| opened.limits.clone())
            .unwrap_or_default();
        let facts = facts_alone(state, &limits);
        let folder = work_folder(state_dir, state);
        let seen = Seen {
            located: None,
            folder: folder.clone(),
            trace: trace(state_dir, state),
        };
        let stop = state.stop.as_ref();
        let row = stop.and_then(|stop| stop.row);
        let (offered, forbidden) = offer(&choices(state, &facts, &seen), row);
        Self {
            schema_version: output::SCHEMA_VERSION,
            sid: opened.map_or_else(String::new, |opened| opened.sid().to_string()),
            made_at: clock::wall(),
            versions: versions(entries, state),
            stop: stop.map(|stop| stop_said(stop, entries, with_text)),
            row: row.map(|id| RowSaid {
                id,
                failure: id.row().failure,
                why: id.row().why,
            }),
            facts_now: facts.to_string(),
            messages: messages(entries, state),
            plan: plan(state),
            checkpoint: checkpoint(state),
            folder: match folder {
                Folder::Free => None,
                Folder::Held { by } => Some(format!("{by} works in it")),
            },
            budgets: budgets(state),
            page: last_reading(entries),
            chat: opened.map_or_else(String::new, |opened| opened.chat.clone()),
            conversation: state.conversation.as_ref().map(|id| id.0.clone()),
            forbidden,
            choices: offered,
            records: entries.iter().map(|one| said(one, with_text)).collect(),
            seen: Vec::new(),
        }
    }

    /// The same after a look at the page: facts, choices and what is refused are of now.
    pub fn looked_at(&mut self, looked: &Looked, all: &Choices) {
        self.facts_now = looked.facts.to_string();
        self.seen = crate::cli::resume::seen_lines(looked);
        let row = self.row.as_ref().map(|row| row.id);
        (self.choices, self.forbidden) = offer(all, row);
    }

    /// As one JSON value.
    pub fn value(&self) -> Value {
        serde_json::to_value(self).unwrap_or_else(|error| json!({"error": error.to_string()}))
    }
}

/// What may be chosen, numbered, and what must not be done: the row's list, and each choice
/// that is refused with its reason.
fn offer(all: &Choices, row: Option<RowId>) -> (Vec<Offered>, Vec<Forbidden>) {
    let offered = all.offered.iter().zip(1..).map(|(about, number)| Offered {
        number,
        choice: about.word(),
        means: about.means(),
        about: about.clone(),
    });
    let mut forbidden = Vec::new();
    for row in row.into_iter().map(RowId::row) {
        forbidden.extend(row.never.iter().map(|never| Forbidden {
            what: (*never).to_owned(),
            why: row.why.to_owned(),
        }));
    }
    let refused = |Refused { choice, why }: &Refused| Forbidden {
        what: format!("to choose {choice}"),
        why: why.clone(),
    };
    forbidden.extend(all.refused.iter().map(refused));
    (offered.collect(), forbidden)
}

/// Whether anything of a plan still works in the session's folder.
//= spec K6
pub(in crate::cli) fn work_folder(state_dir: &Path, state: &State) -> Folder {
    let Some(opened) = &state.opened else {
        return Folder::Free;
    };
    match lock::holder(state_dir, Path::new(&opened.workspace)) {
        Ok(None) => Folder::Free,
        Ok(Some(by)) => Folder::Held { by: by.to_string() },
        // A folder that is gone holds nobody.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Folder::Free,
        Err(error) => Folder::Held {
            by: format!("perhaps something (its lock cannot be read: {error})"),
        },
    }
}

/// What the wrapper's own record says of the open plan.
//= spec M4
pub(in crate::cli) fn trace(state_dir: &Path, state: &State) -> Trace {
    let (Some(opened), Some(plan)) = (&state.opened, &state.plan) else {
        return Trace::Nothing;
    };
    let (sid, accepted) = (opened.sid().as_str(), &plan.accepted);
    let (round, key) = (accepted.round.0, accepted.key.as_str());
    let job_dir = agent::job_dir(state_dir, sid, round, key);
    // One that cannot be read says nothing; that it cannot is why the plan is in doubt.
    let Ok(Some(record)) = ExitRecord::load(&job_dir) else {
        return Trace::Nothing;
    };
    let ran = |end: &CommandEnd| match end {
        CommandEnd::Exit(_) | CommandEnd::Signal(_) | CommandEnd::Cut => true,
        CommandEnd::SpawnFailed(_) | CommandEnd::Refused(_) | CommandEnd::NotRun => false,
    };
    match record.ended {
        Ended::NotStarted { .. } => Trace::NotStarted,
        Ended::Settled { .. } => Trace::Began,
        Ended::Killed { .. } | Ended::Broken { .. } if record.commands.iter().any(ran) => {
            Trace::Began
        }
        Ended::Killed { .. } | Ended::Broken { .. } => Trace::Nothing,
    }
}

fn versions(entries: &[Entry], state: &State) -> BTreeMap<&'static str, String> {
    let mut all = BTreeMap::from([
        ("brb", env!("CARGO_PKG_VERSION").to_owned()),
        ("wire", wire::WIRE_ID.to_owned()),
        ("journal", SCHEMA_VERSION.to_string()),
    ]);
    if let Some(opened) = &state.opened {
        all.insert("agent", one_line(&opened.agent));
    }
    for entry in entries {
        if let Record::Resumed { version } = &entry.record {
            all.insert("taken over by", version.clone());
        }
        if let Record::Attached {
            browser, layout, ..
        } = &entry.record
        {
            all.insert("browser", one_line(browser));
            all.insert("layout", one_line(layout));
        }
    }
    all
}

fn stop_said(stop: &Stop, entries: &[Entry], with_text: bool) -> StopSaid {
    // A reason may end with the label that the remote gave: that is reply text.
    let told = if with_text {
        stop.clone()
    } else {
        stop.without_label()
    };
    let last = entries.iter().rev();
    let at = last
        .filter(|entry| matches!(entry.record, Record::Stopped(_)))
        .map(|entry| entry.at)
        .next();
    StopSaid {
        outcome: stop.outcome.to_string(),
        exit: stop.outcome.exit(Signal::Interrupt),
        code: stop.code.map(|code| code.name()),
        meaning: stop.code.map(|code| code.about().what),
        why: one_line(&told.why),
        standing: stop.standing,
        at,
        facts: stop.facts.clone(),
    }
}

fn messages(entries: &[Entry], state: &State) -> Vec<Message> {
    let is_of = |record: &Record, send: SendId| matches!(record, Record::Outcome { send: of, .. } | Record::Dispatching { send: of, .. } if *of == send);
    let when = |send: SendId| {
        let last = entries.iter().rev().find(|it| is_of(&it.record, send));
        last.map(|entry| entry.at)
    };
    let rows = state.sends.iter();
    rows.map(|row| Message {
        send: row.intent.send,
        kind: row.intent.message.word().to_owned(),
        round: row.intent.round.map(|round| round.0),
        state: row.state().to_string(),
        evidence: match &row.outcome {
            Some((_, evidence)) => line::rests_on(evidence),
            None if row.attempts == 0 => "the click was never made".to_owned(),
            None => "the click may have been made; what came of it was not stored".to_owned(),
        },
        at: when(row.intent.send),
        reply: crate::cli::status::judged(row).to_owned(),
    })
    .collect()
}

fn plan(state: &State) -> Option<String> {
    let said = crate::cli::status::plan_words(state)?;
    let doubt = state.plan.as_ref().map(|plan| &plan.stage);
    Some(match doubt {
        Some(PlanStage::InDoubt | PlanStage::Started { .. }) => {
            format!("{said}; look at the work folder (`brb diff`) before anything is said of it")
        }
        Some(PlanStage::Accepted) | None => said,
    })
}

fn checkpoint(state: &State) -> String {
    match &state.checkpoint {
        Checkpoint::Start => "none: no plan has run to its end".to_owned(),
        Checkpoint::At { round, key } => {
            format!("plan {key} of round {round} ran to its end; nothing before it is done again")
        }
    }
}

fn budgets(state: &State) -> String {
    use protocol::record::Cost;
    let spent = |cost| state.budgets.spent(cost);
    format!(
        "re-attach {}, read {}, RESUME {}, RESYNC {} spent since the checkpoint; {} in all",
        spent(Cost::Reattach),
        spent(Cost::Read),
        spent(Cost::Resume),
        spent(Cost::Resync),
        state.budgets.total()
    )
}

fn last_reading(entries: &[Entry]) -> Option<String> {
    let is_read = |entry: &&Entry| matches!(entry.record, Record::Read { .. });
    let entry = entries.iter().rev().find(is_read)?;
    let Record::Read { turns, epoch, .. } = &entry.record else {
        return None;
    };
    let at = clock::shown(entry.at);
    Some(format!(
        "read whole for the last time at {at} with {turns} turns, in epoch {epoch}"
    ))
}

fn said(entry: &Entry, with_text: bool) -> Line {
    let (kind, what) = line::of(&entry.record);
    let text = line::text_of(&entry.record).filter(|_| with_text);
    Line {
        seq: entry.seq.0,
        at: entry.at,
        run_ms: entry.run_ms,
        kind,
        what: one_line(&what),
        text: text.map(|text| text.as_str().to_owned()),
    }
}
