//! A report as a person reads it.

use std::fmt;

use super::Report;
use crate::{
    agent::quote::{for_terminal, one_line},
    clock,
};

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Report on session {}", self.sid)?;
        self.standing(f)?;
        self.evidence(f)?;
        self.history(f)?;
        if !self.seen.is_empty() {
            writeln!(f, "\nThe page, just now")?;
        }
        for (name, said) in &self.seen {
            writeln!(f, "  {name:<13} {}", one_line(said))?;
        }
        self.decisions(f)?;
        writeln!(f, "\nVersions")?;
        for (name, version) in &self.versions {
            writeln!(f, "  {name:<13} {version}")?;
        }
        Ok(())
    }
}

impl Report {
    fn standing(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\nWhere it stands")?;
        let mut say = |name: &str, value: &str| writeln!(f, "  {name:<13} {value}");
        match &self.stop {
            None => say("ended", "not by a word of its own: it runs, or was killed")?,
            Some(stop) => {
                let code = stop
                    .code
                    .map_or_else(String::new, |code| format!(" ({code})"));
                say(
                    "ended",
                    &format!("{}{code}, exit {}", stop.outcome, stop.exit),
                )?;
                say("because", &stop.why)?;
                if let Some(meaning) = stop.meaning {
                    say("which means", meaning)?;
                }
                if let Some(at) = stop.at {
                    say("at", &clock::shown(at))?;
                }
                let stands = if stop.standing {
                    "until a person lifts it; nothing is sent or run before"
                } else {
                    "no: the session can be gone on with"
                };
                say("stands", stands)?;
            }
        }
        if let Some(row) = &self.row {
            say("row", &format!("{}: {}", row.id, row.failure))?;
            say("its reason", row.why)?;
        }
        if let Some(facts) = self.stop.as_ref().and_then(|stop| stop.facts.as_deref()) {
            say("facts then", facts)?;
        }
        say("facts now", &self.facts_now)
    }

    fn evidence(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\nEvidence")?;
        let mut say = |name: &str, value: &str| writeln!(f, "  {name:<13} {value}");
        say("chat", &self.chat)?;
        if let Some(conversation) = &self.conversation {
            say("conversation", conversation)?;
        }
        if let Some(page) = &self.page {
            say("page", page)?;
        }
        say("checkpoint", &self.checkpoint)?;
        if let Some(plan) = &self.plan {
            say("plan", plan)?;
        }
        if let Some(folder) = &self.folder {
            say("work folder", folder)?;
        }
        say("recoveries", &self.budgets)?;
        for message in &self.messages {
            let round = message
                .round
                .map_or_else(String::new, |r| format!(" of round {r}"));
            let at = message
                .at
                .map_or_else(String::new, |at| format!(", {}", clock::shown(at)));
            writeln!(
                f,
                "  message {:<5} {}{round} is {}: {}{at}; reply: {}",
                message.send.to_string(),
                message.kind,
                message.state,
                message.evidence,
                message.reply
            )?;
        }
        Ok(())
    }

    fn history(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\nWhat happened")?;
        for one in &self.records {
            let ran = one.run_ms as f64 / 1_000.0;
            writeln!(
                f,
                "  {:>4}  {}  {ran:>9.3}  {:<11}  {}",
                one.seq,
                clock::shown(one.at),
                one.kind,
                one.what
            )?;
            if let Some(text) = &one.text {
                f.write_str(&for_terminal(text))?;
            }
        }
        Ok(())
    }

    /// What must not be done and what may be.
    pub fn decisions(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.forbidden.is_empty() {
            writeln!(f, "\nForbidden")?;
        }
        for one in &self.forbidden {
            writeln!(f, "  {}\n      because {}", one.what, one.why)?;
        }
        if self.choices.is_empty() {
            return writeln!(f, "\nNothing is left to decide.");
        }
        writeln!(f, "\nA person may decide, with `brb resume {}`", self.sid)?;
        for one in &self.choices {
            writeln!(f, "  {}  {:<12} {}", one.number, one.choice, one.means)?;
        }
        Ok(())
    }
}
