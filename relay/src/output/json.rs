//! One JSON object a line, on stdout.

use std::io::{self, Write};

use protocol::{
    id::{PlanKey, Round, SendId},
    record::{Entry, Record, State, Stop},
    recovery::RowId,
    reply::Progress,
    session::Phase,
    time::Millis,
};

use super::{
    derive::{events, opened, summary},
    event::{Event, Line},
};
use crate::agent::quote::one_line;

/// Tells a run as JSON lines.
pub struct JsonReporter<W> {
    out: W,
    /// Nobody reads any more; the run goes on without a word.
    closed: bool,
    shown: Option<Phase>,
    row: Option<RowId>,
    send: Option<SendId>,
    round: Option<Round>,
    plan: Option<PlanKey>,
}

impl<W: Write> JsonReporter<W> {
    /// A reporter that writes to `out`, a line at a time.
    pub fn new(out: W) -> Self {
        Self {
            out,
            closed: false,
            shown: None,
            row: None,
            send: None,
            round: None,
            plan: None,
        }
    }

    /// Gives back what was written to.
    pub fn into_inner(self) -> W {
        self.out
    }

    /// The session is open; its first record was stored before.
    pub fn opened(&mut self, state: &State) {
        if let Some(line) = opened(state) {
            self.write(&line);
        }
    }

    /// A record was stored; `state` has taken it in.
    pub fn stored(&mut self, entry: &Entry, state: &State) {
        if let Record::Decided { row, .. } = &entry.record {
            self.row = Some(*row);
        }
        let flying = state.in_flight();
        self.send = flying.map(|row| row.intent.send);
        let plan = state.plan.as_ref().map(|row| &row.accepted);
        self.plan = plan.map(|plan| plan.key.clone());
        self.round = plan
            .map(|plan| plan.round)
            .or_else(|| flying.and_then(|row| row.intent.round));
        for line in events(entry, state) {
            self.write(&line);
        }
    }

    /// The machine stands at `phase`; told when it begins to wait for something.
    pub fn progress(&mut self, phase: Phase, progress: Option<&Progress>, _now: Millis) {
        let waits = match phase {
            Phase::Proving
            | Phase::Waiting
            | Phase::Thinking
            | Phase::Streaming
            | Phase::Finishing
            | Phase::Pausing
            | Phase::Approving => true,
            Phase::Storing => return,
            Phase::Attaching
            | Phase::Looking
            | Phase::Reading
            | Phase::Owing
            | Phase::Composing
            | Phase::Submitting
            | Phase::Spawning
            | Phase::Executing
            | Phase::Stopping
            | Phase::Stopped => false,
        };
        if self.shown.replace(phase) == Some(phase) || !waits {
            return;
        }
        let event = if phase == Phase::Approving {
            Event::Approval {
                round: self.round,
                plan: self.plan.clone(),
            }
        } else {
            Event::Waiting {
                state: phase,
                send: self.send,
                round: self.round,
                chars: progress.map_or(0, |progress| progress.chars),
            }
        };
        self.write(&Line::bare(event));
    }

    /// Something a reader should know.
    pub fn warning(&mut self, code: Option<protocol::fault::Code>, text: &str) {
        self.write(&Line::bare(Event::Warning {
            code,
            text: one_line(text),
        }));
    }

    /// The run is over.
    pub fn finished(&mut self, stop: &Stop, state: &State, exit: u8) {
        let end = summary(stop, state, self.row, exit);
        self.write(&Line::bare(Event::Finished(end)));
    }

    /// Writes one line and hands it on at once.
    pub fn write(&mut self, line: &Line) {
        if !self.closed {
            self.closed = self.try_write(line).is_err();
        }
    }

    fn try_write(&mut self, line: &Line) -> io::Result<()> {
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        self.out.write_all(&text)?;
        self.out.flush()
    }
}
