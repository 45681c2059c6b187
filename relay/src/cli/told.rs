//! A run told to whoever reads: a person, or a program.

use std::{
    io::{Stdout, Write},
    path::PathBuf,
    sync::Arc,
};

use protocol::{
    fault::Code,
    outcome::{Outcome, Signal},
    record::{Entry, State, Stop},
    reply::Progress,
    session::Phase,
    time::Millis,
};
use tokio::sync::Mutex;

use super::TerminalApprover;
use crate::{
    output::{HumanReporter, JsonReporter, stop_words},
    run::{Asked, Reporter},
};

/// The teller of one run.
pub(super) struct Told {
    form: Form,
    /// The session's beginning was told.
    begun: bool,
}

enum Form {
    /// Text and progress.
    Human(Box<HumanReporter>),
    /// JSON lines.
    Json(JsonReporter<Stdout>),
}

impl Told {
    /// JSON lines with `json`, else text; `journal` is named at the end of the text.
    pub fn new(json: bool, journal: Option<PathBuf>) -> Self {
        let form = if json {
            Form::Json(JsonReporter::new(std::io::stdout()))
        } else {
            Form::Human(Box::new(HumanReporter::new(journal)))
        };
        Self { form, begun: false }
    }

    /// The session's beginning, whose record was stored before anybody
    /// listened; told once, before anything else is.
    fn begin(&mut self, state: &State) {
        if std::mem::replace(&mut self.begun, true) {
            return;
        }
        match &mut self.form {
            Form::Human(human) => human.opened(state),
            Form::Json(json) => json.opened(state),
        }
    }

    /// Something a reader should know.
    pub fn warning(&mut self, code: Code, text: &str) {
        match &mut self.form {
            Form::Human(human) => human.warning(Some(code), text),
            Form::Json(json) => json.warning(Some(code), text),
        }
    }

    /// A session whose end is stored already: told once more, and its exit given.
    pub fn over(&mut self, state: &State) -> u8 {
        let Some(stop) = &state.stop else {
            return 0;
        };
        let exit = stop.outcome.exit(Signal::Interrupt);
        self.finished(stop, state, exit);
        exit
    }

    /// Who asks the person, with nothing drawn over the question.
    pub fn approver(&self) -> Asked {
        let bar = match &self.form {
            Form::Human(human) => human.bar(),
            Form::Json(_) => indicatif::ProgressBar::hidden(),
        };
        Arc::new(Mutex::new(Box::new(TerminalApprover::new(bar))))
    }
}

impl Reporter for Told {
    fn stored(&mut self, entry: &Entry, state: &State) {
        self.begin(state);
        match &mut self.form {
            Form::Human(human) => human.stored(entry, state),
            Form::Json(json) => json.stored(entry, state),
        }
    }

    fn progress(&mut self, phase: Phase, progress: Option<&Progress>, now: Millis) {
        match &mut self.form {
            Form::Human(human) => human.progress(phase, progress, now),
            Form::Json(json) => json.progress(phase, progress, now),
        }
    }

    fn finished(&mut self, stop: &Stop, state: &State, exit: u8) {
        self.begin(state);
        match &mut self.form {
            Form::Human(human) => human.finished(stop, state, exit),
            Form::Json(json) => {
                json.finished(stop, state, exit);
                if stop.outcome != Outcome::Done {
                    let (what, help) = stop_words(stop, state);
                    // Who closed stderr wants no words; the exit number tells it anyway.
                    let _ = writeln!(std::io::stderr().lock(), "{what}\n  help: {help}");
                }
            }
        }
    }
}
