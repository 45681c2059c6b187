//! `brb status`: where one session stands, from its journal.

use std::fmt::Write as _;

use clap::Args;
use protocol::{
    frame::Checkpoint,
    record::{Entry, PlanStage, SendRow, State},
    send::SendState,
};
use serde_json::{Value, json};

use super::{Common, failure::Failure, list::standing_words, out, session};
use crate::{
    agent::quote::one_line,
    clock,
    index::{self, Standing},
    journal::locks::{Holder, Lock},
    output::{self, continue_words, stop_words},
};

/// Say where a session stands: messages, checkpoint, what is open, what to do
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  brb status              the session worked on last\n  brb status 00112233 --json"
)]
pub(super) struct StatusArgs {
    /// The session, or the beginning of its id; without one, the one worked on last
    #[arg(value_name = "SID")]
    sid: Option<String>,
    /// One JSON object on stdout
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    common: Common,
}

pub(super) fn main(args: &StatusArgs) -> Result<u8, Failure> {
    let place = args.common.quiet_place()?;
    let sid = session::find(&place, args.sid.as_deref())?;
    let folder = place.session(&sid);
    let (entries, state) = index::read(&folder)?;
    let holder = Lock::session_holder(&folder)?;
    let undoable = kept(&state, &sid);
    let found = Found {
        journal: place.journal(&sid).display().to_string(),
        entries,
        state,
        holder,
        undoable,
    };
    if args.json {
        out::print_json(&found.value())?;
    } else {
        out::print(&found.text())?;
    }
    Ok(0)
}

fn kept(state: &State, sid: &protocol::id::Sid) -> Vec<u32> {
    // Where git does not answer there is nothing to undo.
    let folder = state
        .opened
        .as_ref()
        .map(|opened| opened.workspace.as_ref());
    folder
        .and_then(|folder| crate::agent::undo::rounds(folder, sid.as_str()).ok())
        .unwrap_or_default()
}

/// A session as it was found.
pub(super) struct Found {
    pub journal: String,
    pub entries: Vec<Entry>,
    pub state: State,
    pub holder: Option<Option<Holder>>,
    pub undoable: Vec<u32>,
}

fn checkpoint(state: &State) -> String {
    match &state.checkpoint {
        Checkpoint::Start => "0:-".to_owned(),
        Checkpoint::At { round, key } => format!("{round}:{key}"),
    }
}

/// What came of a message's reply.
pub(super) fn judged(row: &SendRow) -> &'static str {
    use protocol::record::Judgement;
    match &row.judged {
        _ if row.void => "void",
        None => "open",
        Some(Judgement::Held) => "acknowledged",
        Some(Judgement::NotHeld { .. }) => "not acknowledged",
        Some(Judgement::Accepted(_)) => "plan accepted",
        Some(Judgement::Refused { .. }) => "refused",
        Some(Judgement::Failed { .. }) => "failed",
    }
}

/// How far the open plan has come.
pub(super) fn plan_words(state: &State) -> Option<String> {
    let row = state.plan.as_ref()?;
    let (round, key) = (row.accepted.round, &row.accepted.key);
    Some(match &row.stage {
        PlanStage::Accepted => format!("{key} of round {round} is accepted and not started"),
        PlanStage::Started { group, .. } => {
            format!(
                "{key} of round {round} was started (process group {group}) and has not settled"
            )
        }
        PlanStage::InDoubt => format!("it cannot be told how far {key} of round {round} ran"),
    })
}

impl Found {
    pub fn value(&self) -> Value {
        let state = &self.state;
        let messages: Vec<Value> = state
            .sends
            .iter()
            .map(|row| {
                json!({
                    "send": row.intent.send,
                    "kind": row.intent.message,
                    "round": row.intent.round,
                    "attempts": row.attempts,
                    "state": row.state(),
                    "chars": row.intent.text.chars(),
                    "reply": judged(row),
                })
            })
            .collect();
        json!({
            "schema_version": output::SCHEMA_VERSION,
            "sid": state.opened.as_ref().map(|opened| opened.sid()),
            "running": self.holder.is_some(),
            "holder": self.holder.as_ref().and_then(Option::as_ref),
            "standing": Standing::of(state),
            "stop": state.stop,
            "chat": state.opened.as_ref().map(|opened| &opened.chat),
            "conversation": state.conversation,
            "workspace": state.opened.as_ref().map(|opened| &opened.workspace),
            "agent": state.opened.as_ref().map(|opened| &opened.agent),
            "rounds": state.rounds_sent(),
            "checkpoint": checkpoint(state),
            "plan": plan_words(state),
            "messages": messages,
            "continue": continue_words(state).filter(|_| self.holder.is_none()),
            "undoable_rounds": self.undoable,
            "records": self.entries.len(),
            "run_ms": state.run_ms,
            "journal": self.journal,
        })
    }

    pub fn text(&self) -> String {
        let state = &self.state;
        let mut text = String::new();
        let mut say = |name: &str, value: String| {
            let _ = writeln!(text, "{name:<13} {value}");
        };
        if let Some(opened) = &state.opened {
            say("session", opened.sid().to_string());
            say("title", one_line(opened.offer.objective.as_str()));
            let chars = opened.request.chars();
            say(
                "request",
                format!("{chars} characters, tag {}", opened.qid()),
            );
            say("chat", one_line(&opened.chat));
            say("workspace", one_line(&opened.workspace));
            say("agent", one_line(&opened.agent));
        }
        if let Some(id) = &state.conversation {
            say("conversation", one_line(&id.0));
        }
        say("state", self.state_words());
        say("rounds", state.rounds_sent().to_string());
        say("checkpoint", checkpoint(state));
        if let Some(plan) = plan_words(state) {
            say("plan", plan);
        }
        if !self.undoable.is_empty() {
            let rounds: Vec<String> = self.undoable.iter().map(ToString::to_string).collect();
            say("can be undone", format!("rounds {}", rounds.join(", ")));
        }
        say("run time", clock::span(state.run_ms));
        if let (Some(first), Some(last)) = (self.entries.first(), self.entries.last()) {
            say("opened", clock::shown(first.at));
            say(
                "last record",
                format!("{} at {}", last.seq, clock::shown(last.at)),
            );
        }
        say("journal", self.journal.clone());
        self.messages(&mut text);
        self.advice(&mut text);
        text
    }

    fn state_words(&self) -> String {
        match &self.holder {
            Some(Some(by)) => format!("running: {by}"),
            Some(None) => "running".to_owned(),
            None => standing_words(&Standing::of(&self.state)),
        }
    }

    fn messages(&self, text: &mut String) {
        if self.state.sends.is_empty() {
            text.push_str("\nno message was typed yet\n");
            return;
        }
        let _ = writeln!(
            text,
            "\n{:<5} {:<7} {:>5} {:>8} {:>10}  {:<9} REPLY",
            "SEND", "KIND", "ROUND", "ATTEMPTS", "CHARACTERS", "STATE"
        );
        for row in &self.state.sends {
            let round = row
                .intent
                .round
                .map_or_else(String::new, |round| round.to_string());
            let _ = writeln!(
                text,
                "{:<5} {:<7} {:>5} {:>8} {:>10}  {:<9} {}",
                row.intent.send.to_string(),
                row.intent.message.word(),
                round,
                row.attempts,
                row.intent.text.chars(),
                row.state().to_string(),
                judged(row)
            );
        }
    }

    fn advice(&self, text: &mut String) {
        let state = &self.state;
        let unknown = state
            .in_flight()
            .is_some_and(|row| row.state() == SendState::Unknown);
        if unknown && self.holder.is_none() {
            text.push_str(
                "\nWhether the last message was sent is not known: it counts as sent and is never sent again by itself.\n",
            );
        }
        let killed = state.stop.is_none() && self.holder.is_none();
        if let Some(command) = continue_words(state).filter(|_| killed) {
            let _ = writeln!(
                text,
                "\nIts last run ended without a word.\n  help: Go on with `{command}`."
            );
        }
        if let Some(stop) = &state.stop
            && !state.is_closed()
        {
            let (what, help) = stop_words(stop, state);
            let _ = writeln!(text, "\n{what}\n  help: {help}");
        }
    }
}
