//! A look at the page for a person who has to decide: the thread is found and read twice as a
//! run would do it, and nothing follows from it.
//!
//! The machine itself does the reading, over a copy of the state in which nothing stands in
//! the way of it; what it would store stays in memory. What it would do next, a look does not.

use super::{Effect, Input, Session, Start, discover::alike, facts::Sign};
use crate::{
    fault::Code,
    limits::Limits,
    page::{Ask, PageCommand, Reading, Role},
    record::{Budgets, Entry, Record, State, Stop},
    recovery::{
        Facts, RowId,
        facts::{Chain, Lost},
    },
    send::{Located, locate},
    time::{Millis, WallMs},
};

/// Complete readings of one look at the most, until two are alike.
const READINGS_MAX: u32 = 5;

/// The machine of one look.
#[derive(Debug)]
pub struct Review {
    session: Session,
    truth: State,
    before: Option<Reading>,
    readings: u32,
    end: Option<End>,
}

/// How the look ended.
#[derive(Debug)]
struct End {
    sign: Sign,
    why: Option<(Option<Code>, String)>,
}

/// What a look found.
//= spec M1
#[derive(Debug, Clone, PartialEq)]
pub struct Looked {
    /// The facts of this moment, the reading among them.
    pub facts: Facts,
    /// Where the message in flight stands; none without a complete reading.
    pub located: Option<Located>,
    /// What of the page was seen; none where no page was to be had.
    pub page: Option<PageSeen>,
    /// Why there is no complete reading that agrees, where there is none.
    pub why: Option<String>,
    /// The stable code that belongs to it.
    pub code: Option<Code>,
}

/// What a person is told of the page, without its texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageSeen {
    /// Product and version of the browser.
    pub browser: String,
    /// The tab's address.
    pub address: String,
    /// The layout, where it is known.
    pub layout: Option<String>,
    /// Turns of the last complete reading; none without one.
    pub turns: Option<u32>,
    /// Who wrote the last of them.
    pub last: Option<Role>,
    /// Whether something is being generated.
    pub busy: bool,
    /// Characters of the draft that stands in the composer.
    pub draft_chars: u32,
    /// Marks of what asks for a person.
    pub blockers: Vec<String>,
}

impl Review {
    /// A look at the page of this session.
    #[must_use]
    pub fn new(now: Millis, state: &State, limits: Limits, start: Start) -> Self {
        let mut free = state.clone();
        free.stop = None;
        free.plan = None;
        free.terminal = None;
        free.abandoned = false;
        free.budgets = Budgets::default();
        let start = Start {
            lost: Lost::Nothing,
            ..start
        };
        Self {
            session: Session::new(now, free, limits, start),
            truth: state.clone(),
            before: None,
            readings: 0,
            end: None,
        }
    }

    /// Takes what the driver reports, or that time passed.
    pub fn handle(&mut self, now: Millis, input: Input) {
        if self.end.is_none() {
            self.session.handle(now, input);
        }
    }

    /// When to call [`Review::handle`] with a tick at the latest.
    #[must_use]
    pub fn next_wake(&self) -> Option<Millis> {
        self.session.next_wake()
    }

    /// What to ask the driver; never anything that changes the page.
    //= spec M1
    pub fn poll(&mut self, now: Millis) -> Option<PageCommand> {
        while self.end.is_none() {
            match self.session.poll_effect()? {
                Effect::Page(command) => match command.ask {
                    Ask::Look | Ask::Read => return Some(command),
                    Ask::Survey
                    | Ask::Html { .. }
                    | Ask::Compose { .. }
                    | Ask::Submit { .. }
                    | Ask::ClearDraft { .. }
                    | Ask::Copy { .. }
                    | Ask::Reload
                    | Ask::Detach => self.ended(Sign::AsIs, "the page would have to be touched"),
                },
                Effect::Append(record) => self.appended(now, &record),
                Effect::Reattach | Effect::Reopen { .. } | Effect::Relaunch { .. } => {
                    self.ended(Sign::AsIs, "the page went away while it was read");
                }
                Effect::Pace(_) | Effect::Rewatch | Effect::Finish(_) => {
                    self.ended(Sign::Partial, "the conversation could not be read whole");
                }
                Effect::Watch { .. } | Effect::Unwatch => {}
                Effect::Prepare(_)
                | Effect::Spawn(_)
                | Effect::LetGo
                | Effect::Adopt(_)
                | Effect::StopAgent => {
                    self.ended(Sign::AsIs, "a plan would have to be carried out");
                }
            }
        }
        None
    }

    /// Ends the look from outside: no page is to be had, or the time for it is over.
    pub fn give_up(&mut self, code: Option<Code>, why: &str) {
        self.end.get_or_insert(End {
            sign: Sign::AsIs,
            why: Some((code, why.to_owned())),
        });
    }

    fn ended(&mut self, sign: Sign, why: &str) {
        let why = Some((None, why.to_owned()));
        self.end.get_or_insert(End { sign, why });
    }

    fn appended(&mut self, now: Millis, record: &Record) {
        match record {
            Record::Attached { .. } | Record::Bound { .. } | Record::Outcome { .. } => {
                self.keep(now, record);
            }
            Record::Read { .. } => self.read(now, record),
            Record::Decided { row, .. } => {
                let sign = if *row == RowId::R1 {
                    Sign::Partial
                } else {
                    Sign::AsIs
                };
                self.ended(sign, "the conversation could not be read whole");
            }
            Record::Stopped(stop) => self.stopped(stop),
            Record::Opened(_)
            | Record::Resumed { .. }
            | Record::Intent(_)
            | Record::Dispatching { .. }
            | Record::Judged { .. }
            | Record::Started { .. }
            | Record::NotStarted { .. }
            | Record::Settled { .. }
            | Record::InDoubt { .. }
            | Record::Lifted { .. }
            | Record::Attested { .. }
            | Record::Abandoned { .. } => {
                self.ended(Sign::AsIs, "the page shows what a run would have to judge");
            }
        }
    }

    /// Applies a record in memory, as if it were stored.
    fn keep(&mut self, now: Millis, record: &Record) {
        let state = self.session.state();
        let entry = Entry {
            seq: state.seq.next(),
            at: WallMs(0),
            run_ms: state.run_ms,
            record: record.clone(),
        };
        self.session.handle(now, Input::Stored(Box::new(entry)));
    }

    /// A reading agrees; it counts once another one says the same.
    //= spec RP3
    fn read(&mut self, now: Millis, record: &Record) {
        let reading = self.session.live.reading.take();
        let same = match (&self.before, &reading) {
            (Some(before), Some(reading)) => alike(before, reading),
            (None, _) | (_, None) => false,
        };
        self.readings += 1;
        if same {
            self.session.live.reading = reading;
            self.end = Some(End {
                sign: Sign::AsIs,
                why: None,
            });
            self.keep(now, record);
            return;
        }
        if self.readings >= READINGS_MAX {
            self.session.live.reading = reading;
            return self.ended(
                Sign::Partial,
                "the conversation reads differently each time",
            );
        }
        self.before = reading;
        self.session.live.storing = None;
        self.session.live.read_anew();
        self.session.handle(now, Input::Tick);
    }

    fn stopped(&mut self, stop: &Stop) {
        let sign = match (stop.row, stop.code) {
            (Some(RowId::R10), _) => Sign::Conflict,
            (Some(RowId::R12), _) => Sign::Blocked,
            (Some(RowId::R15), _) => Sign::Defect,
            (Some(RowId::R1 | RowId::R13), _) => Sign::Partial,
            (_, Some(Code::Conversation)) => Sign::Elsewhere,
            (_, Some(Code::TabGone)) => Sign::Gone,
            (
                Some(
                    RowId::R0
                    | RowId::R2
                    | RowId::R3
                    | RowId::R4
                    | RowId::R5
                    | RowId::R6
                    | RowId::R7
                    | RowId::R8
                    | RowId::R9
                    | RowId::R11
                    | RowId::R14,
                )
                | None,
                _,
            ) => Sign::AsIs,
        };
        let why = Some((stop.code, stop.why.clone()));
        self.end.get_or_insert(End { sign, why });
    }

    /// Whether the look is over.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.end.is_some()
    }

    /// What was found; a look that is not over is given up here.
    #[must_use]
    pub fn looked(mut self) -> Looked {
        self.give_up(None, "the look ended before the conversation was read");
        let (sign, said) = match self.end.take() {
            Some(End { sign, why }) => (sign, why),
            None => (Sign::AsIs, None),
        };
        let whole = self.session.live.reading.clone().filter(|it| it.whole);
        let page = self.page(whole.as_ref());
        let counts = said.is_none() || sign == Sign::Conflict;
        let located = whole.filter(|_| counts).and_then(|reading| {
            let row = self.truth.in_flight()?;
            let (anchor, text) = (&row.intent.anchor, row.intent.text.as_str());
            Some(locate(&reading.turns, true, anchor, text))
        });
        // From here on it is asked as the next run will have to ask: with the true state,
        // and nothing remembered.
        self.session.state = self.truth;
        self.session.live.gone = Lost::Relay;
        let facts = self.session.facts(sign);
        let (code, why) = match said {
            Some((code, why)) => (code, Some(why)),
            None => (None, None),
        };
        if facts.chain == Chain::Agrees && self.session.is_unbound_and_lost() {
            //= spec E1
            let why = "what was typed has no address, and this tab shows nothing of it";
            return Looked {
                facts: Facts {
                    chain: Chain::Unread,
                    ..facts
                },
                located: None,
                page,
                why: Some(why.to_owned()),
                code: Some(Code::Conversation),
            };
        }
        Looked {
            facts,
            located,
            page,
            why,
            code,
        }
    }

    fn page(&self, whole: Option<&Reading>) -> Option<PageSeen> {
        let live = &self.session.live;
        let attached = live.attached.as_ref()?;
        let look = live.look.as_ref().map(|seen| &seen.look);
        let turns = whole.map(|reading| reading.turns.len());
        Some(PageSeen {
            browser: attached.browser.clone(),
            address: look.map_or(&attached.address, |look| &look.address).clone(),
            layout: look.and_then(|look| look.layout.clone()),
            turns: turns.map(|turns| u32::try_from(turns).unwrap_or(u32::MAX)),
            last: whole.and_then(|reading| Some(reading.turns.last()?.role)),
            busy: look.is_some_and(|look| look.composer.stop),
            draft_chars: look.map_or(0, |look| look.composer.draft.chars),
            blockers: look.map_or_else(Vec::new, |look| {
                look.blockers.iter().map(|it| it.mark.clone()).collect()
            }),
        })
    }
}

/// The facts of a session that nobody looks at: from its journal alone.
//= spec RP6
#[must_use]
pub fn facts_alone(state: &State, limits: &Limits) -> Facts {
    let session = Session::new(Millis(0), state.clone(), limits.clone(), Start::default());
    Facts {
        lost: Lost::Relay,
        ..session.facts(Sign::AsIs)
    }
}
