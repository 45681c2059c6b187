//! Text for people: progress and lines on stderr, the result on stdout.

use std::io::Write;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use protocol::{
    fault::Code,
    outcome::Outcome,
    record::{Entry, Record, State, Stop},
    recovery::RowId,
    reply::Progress,
    session::Phase,
    time::Millis,
};

use super::{
    derive::{events, opened, summary},
    event::Event,
    words::{line, phase_words, stop_words},
};
use crate::clock;

/// Tells a run to a person.
pub struct HumanReporter {
    bar: ProgressBar,
    /// stderr is a terminal: lines are told as they come. Elsewhere only
    /// warnings and the end are.
    talks: bool,
    row: Option<RowId>,
    round: Option<u32>,
    since: Option<(Phase, Millis)>,
    journal: Option<std::path::PathBuf>,
}

impl HumanReporter {
    /// A reporter on stderr and stdout. `journal` is named at the end.
    pub fn new(journal: Option<std::path::PathBuf>) -> Self {
        let talks = std::io::IsTerminal::is_terminal(&std::io::stderr());
        let target = if talks {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(None, target);
        if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg}") {
            bar.set_style(style);
        }
        Self {
            bar,
            talks,
            row: None,
            round: None,
            since: None,
            journal,
        }
    }

    /// The session is open; its first record was stored before.
    pub fn opened(&mut self, state: &State) {
        if let Some(text) = opened(state).and_then(|told| line(&told.event)) {
            self.tell(&text);
        }
    }

    /// A record was stored; `state` has taken it in.
    pub fn stored(&mut self, entry: &Entry, state: &State) {
        if let Record::Decided { row, .. } = &entry.record {
            self.row = Some(*row);
        }
        self.round = state
            .last_task()
            .and_then(|row| row.intent.round)
            .map(|round| round.0);
        for told in events(entry, state) {
            if let Some(text) = line(&told.event) {
                self.tell(&text);
            }
        }
    }

    /// The machine stands at `phase`.
    pub fn progress(&mut self, phase: Phase, progress: Option<&Progress>, now: Millis) {
        if phase == Phase::Storing {
            return;
        }
        let since = match self.since {
            Some((shown, since)) if shown == phase => since,
            Some(_) | None => now,
        };
        self.since = Some((phase, since));
        let chars = progress.map_or(0, |progress| progress.chars);
        self.bar
            .set_message(status(self.round, phase, now.since(since), chars));
        self.bar.tick();
    }

    /// While a person is asked, nothing may be drawn over the question.
    pub fn quiet<T>(&self, ask: impl FnOnce() -> T) -> T {
        self.bar.suspend(ask)
    }

    /// The bar, for whoever asks a person in its place.
    pub fn bar(&self) -> ProgressBar {
        self.bar.clone()
    }

    /// Something a reader should know.
    pub fn warning(&mut self, code: Option<Code>, text: &str) {
        let text = crate::agent::quote::one_line(text);
        if let Some(text) = line(&Event::Warning { code, text }) {
            self.say(&text);
        }
    }

    /// The run is over: what went wrong on stderr, the result on stdout.
    pub fn finished(&mut self, stop: &Stop, state: &State, exit: u8) {
        self.bar.finish_and_clear();
        if stop.outcome != Outcome::Done {
            let (what, help) = stop_words(stop, state);
            self.say(&what);
            self.say(&format!("  help: {help}"));
        }
        let end = summary(stop, state, self.row, exit);
        let mut out = std::io::stdout().lock();
        // Who closed stdout wants no result; the exit number tells it anyway.
        let _ = result(&mut out, &end, self.journal.as_deref());
    }

    fn tell(&self, text: &str) {
        if self.talks {
            self.say(text);
        }
    }

    fn say(&self, text: &str) {
        // A closed stderr is no reason to end a run.
        self.bar.suspend(|| {
            let _ = writeln!(std::io::stderr(), "{text}");
        });
    }
}

/// The progress line: round, state, since when, how much of the reply is shown.
pub(super) fn status(round: Option<u32>, phase: Phase, since_ms: u64, chars: u32) -> String {
    let mut text = String::new();
    if let Some(round) = round {
        text.push_str(&format!("round {round}: "));
    }
    text.push_str(phase_words(phase));
    if since_ms >= 1_000 {
        text.push_str(&format!(", for {}", clock::span(since_ms)));
    }
    if chars > 0 {
        text.push_str(&format!(", {chars} characters so far"));
    }
    text
}

/// The result, as it stands on stdout.
pub(super) fn result(
    out: &mut dyn Write,
    end: &super::Finished,
    journal: Option<&std::path::Path>,
) -> std::io::Result<()> {
    if let Some(text) = line(&Event::Finished(end.clone())) {
        writeln!(out, "{text}")?;
    }
    if let Some(sid) = &end.sid {
        writeln!(out, "session: {sid}")?;
    }
    if let Some(journal) = journal {
        writeln!(out, "journal: {}", journal.display())?;
    }
    out.flush()
}
