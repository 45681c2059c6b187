//! A run told to whoever reads: a person, or a program.

use std::{io::Stdout, path::PathBuf, sync::Arc};

use protocol::{
    record::{Entry, State, Stop},
    reply::Progress,
    session::Phase,
    time::Millis,
};
use tokio::sync::Mutex;

use super::TerminalApprover;
use crate::{
    output::{HumanReporter, JsonReporter},
    run::{Asked, Reporter},
};

/// The teller of one run.
pub(super) enum Told {
    /// Text and progress.
    Human(HumanReporter),
    /// JSON lines.
    Json(JsonReporter<Stdout>),
}

impl Told {
    /// JSON lines with `json`, else text; `journal` is named at the end of the text.
    pub fn new(json: bool, journal: Option<PathBuf>) -> Self {
        if json {
            Self::Json(JsonReporter::new(std::io::stdout()))
        } else {
            Self::Human(HumanReporter::new(journal))
        }
    }

    /// Who asks the person, with nothing drawn over the question.
    pub fn approver(&self) -> Asked {
        let bar = match self {
            Self::Human(human) => human.bar(),
            Self::Json(_) => indicatif::ProgressBar::hidden(),
        };
        Arc::new(Mutex::new(Box::new(TerminalApprover::new(bar))))
    }
}

impl Reporter for Told {
    fn stored(&mut self, entry: &Entry, state: &State) {
        match self {
            Self::Human(human) => human.stored(entry, state),
            Self::Json(json) => json.stored(entry, state),
        }
    }

    fn progress(&mut self, phase: Phase, progress: Option<&Progress>, now: Millis) {
        match self {
            Self::Human(human) => human.progress(phase, progress, now),
            Self::Json(json) => json.progress(phase, progress, now),
        }
    }

    fn finished(&mut self, stop: &Stop, state: &State, exit: u8) {
        match self {
            Self::Human(human) => human.finished(stop, state, exit),
            Self::Json(json) => json.finished(stop, state, exit),
        }
    }
}
