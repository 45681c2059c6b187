//! Why a command did not do its work: a stable code, what happened, what to do.

use std::{fmt, io::Write};

use protocol::{
    fault::Code,
    outcome::{Outcome, Signal},
};

use crate::{
    agent::{AgentError, quote::one_line},
    index::Unreadable,
    journal::{OpenError, locks::LockError},
    output::{Event, Finished, Line},
    place::NoHome,
    start::StartError,
    telemetry::NoLog,
};

/// A command that failed before, or without, a session's own end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The stable code; it decides the exit.
    pub code: Code,
    /// What happened.
    pub what: String,
    /// What to do about it.
    pub help: String,
}

impl Failure {
    /// A failure with a remedy of its own.
    pub fn new(code: Code, what: impl fmt::Display, help: impl Into<String>) -> Self {
        Self {
            code,
            what: what.to_string(),
            help: help.into(),
        }
    }

    /// A failure with the remedy that belongs to its code.
    pub fn of(code: Code, what: impl fmt::Display) -> Self {
        Self::new(code, what, code.about().remedy)
    }

    /// Something about the command line or the request.
    pub fn usage(what: impl fmt::Display, help: impl Into<String>) -> Self {
        Self::new(Code::Usage, what, help)
    }

    /// How the process ends.
    pub fn outcome(&self) -> Outcome {
        self.code.outcome()
    }

    /// The process's exit number.
    pub fn exit(&self) -> u8 {
        self.outcome().exit(Signal::Interrupt)
    }

    /// Tells it on stderr, and with `json` as the `finished` event on stdout,
    /// and gives the exit number.
    pub fn told(&self, json: bool) -> u8 {
        // Nobody may be listening; the exit number says it anyway.
        let _ = write!(std::io::stderr().lock(), "{self}");
        if json {
            let end = Finished::before_a_session(self.outcome(), self.code, self.exit());
            let line = Line::bare(Event::Finished(end));
            if let Ok(text) = serde_json::to_string(&line) {
                let _ = writeln!(std::io::stdout().lock(), "{text}");
            }
        }
        self.exit()
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "error[{}]: {}", self.code, one_line(&self.what))?;
        writeln!(f, "  help: {}", one_line(&self.help))
    }
}

impl From<OpenError> for Failure {
    fn from(error: OpenError) -> Self {
        let code = match &error {
            OpenError::NoSession { .. } => Code::Usage,
            OpenError::Gone { .. }
            | OpenError::Unfinished { .. }
            | OpenError::Exists { .. }
            | OpenError::Newer { .. }
            | OpenError::Corrupt { .. }
            | OpenError::Short { .. }
            | OpenError::Io { .. }
            | OpenError::Store { .. } => Code::Journal,
        };
        let help = error.remedy();
        Self::new(code, error, help)
    }
}

impl From<StartError> for Failure {
    fn from(error: StartError) -> Self {
        Self::new(error.code, error.what, sentence(&error.remedy))
    }
}

/// A remedy as a sentence.
fn sentence(remedy: &str) -> String {
    let mut text = remedy.trim_end_matches('.').to_owned();
    if let Some(first) = text.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    text.push('.');
    text
}

impl From<Unreadable> for Failure {
    fn from(error: Unreadable) -> Self {
        match error {
            Unreadable::Journal(error) => error.into(),
            Unreadable::Fold(error) => Self::new(
                Code::Journal,
                error,
                "Put back the session's folder from a copy, or begin a new session.",
            ),
            Unreadable::Empty => Self::new(
                Code::Journal,
                error,
                "Look at the chat before its folder is removed: messages may have been sent.",
            ),
        }
    }
}

impl From<LockError> for Failure {
    fn from(error: LockError) -> Self {
        match &error {
            LockError::Held { .. } => Self::of(Code::Locked, error),
            LockError::Failed { .. } => Self::of(Code::Journal, error),
        }
    }
}

impl From<AgentError> for Failure {
    fn from(error: AgentError) -> Self {
        let code = error.code().parse().unwrap_or(Code::Agent);
        let help = sentence(error.remedy());
        Self::new(code, error, help)
    }
}

impl From<NoHome> for Failure {
    fn from(error: NoHome) -> Self {
        Self::new(
            Code::Journal,
            error,
            "Set HOME, or name a folder with `--state-dir`.",
        )
    }
}

impl From<NoLog> for Failure {
    fn from(error: NoLog) -> Self {
        let help = "Name another file with `--log-file`, or give `--log off`.";
        Self::new(Code::Journal, error, help)
    }
}
