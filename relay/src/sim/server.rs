//! The server of a simulated world: the one conversation, its log of turns, and the
//! reply that is being made. What it finally wrote is the truth that captures are held
//! against.

use fixtures::{
    fault::FaultKind,
    step::{Message, Phase},
};
use protocol::{
    message::{self, Head},
    page::{Role, StreamEnd, StreamEvent},
};
use rand::{RngExt as _, rngs::ChaCha8Rng};

use super::{
    check::Violation,
    fault::Fault,
    page::PageEvent,
    stream::{Carrier, Mode},
    world::{Event, World},
};

/// How far a turn is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Made {
    /// All of it is there.
    Whole,
    /// More comes.
    Growing,
    /// It broke off.
    Cut,
    /// It was stopped for its length.
    AtLimit,
}

/// One turn as the server has it.
#[derive(Debug, Clone)]
pub struct ServerTurn {
    /// The server's id.
    pub id: String,
    /// Who wrote it.
    pub role: Role,
    /// As far as it is written.
    pub text: String,
    /// How far that is.
    pub made: Made,
}

/// One line of the server's log: what was taken, and what was finished or cut.
#[derive(Debug, Clone)]
pub struct Line {
    /// Who wrote it.
    pub role: Role,
    /// The whole text.
    pub text: String,
    /// False for a reply that broke off.
    pub finished: bool,
}

/// What happens at the server.
#[derive(Debug, Clone)]
pub enum ServerEvent {
    /// A message of the page arrives.
    Receives(Carrier, String),
    /// The reply begins to think.
    Begins(usize),
    /// So many bytes of it are written.
    Writes(usize, usize),
    /// Nothing more of it comes.
    Finishes(usize),
    /// All of it was there for a while.
    Settles(usize),
}

/// The server.
#[derive(Debug, Clone)]
pub struct Server {
    /// The turns of the branch that is shown, oldest first.
    pub turns: Vec<ServerTurn>,
    /// The log.
    pub log: Vec<Line>,
    /// The conversation, once there is one.
    pub conversation: Option<String>,
    /// The reply being made: its whole text, and how it is carried.
    pub making: Option<Making>,
    /// Every reply that was ever finished or broke off: its id, its text, and how far
    /// it was made.
    pub finals: Vec<(String, String, Made)>,
    /// Every message that was ever taken.
    pub users: Vec<(String, String)>,
    /// Which reply answers which message.
    pub answers: Vec<(String, String)>,
    named: u32,
    salt: u32,
}

/// The reply being made.
#[derive(Debug, Clone)]
pub struct Making {
    /// Which turn.
    pub turn: usize,
    /// Its whole text.
    pub text: String,
    /// How its stream travels.
    pub carrier: Carrier,
}

impl Server {
    /// Nothing was said yet.
    pub fn new(rng: &mut ChaCha8Rng) -> Self {
        Self {
            turns: Vec::new(),
            log: Vec::new(),
            conversation: None,
            making: None,
            finals: Vec::new(),
            users: Vec::new(),
            answers: Vec::new(),
            named: 0,
            salt: rng.random(),
        }
    }

    pub(super) fn id(&mut self, letter: char) -> String {
        self.named += 1;
        format!("{letter}{:04x}-{}", self.salt & 0xffff, self.named)
    }

    /// What this turn is from now on, for good.
    pub(super) fn is_final(&mut self, turn: usize) {
        let made = &self.turns[turn];
        let own = self.turns[..turn]
            .iter()
            .rev()
            .find(|own| own.role == Role::User);
        if let Some(own) = own {
            self.answers.push((own.id.clone(), made.id.clone()));
        }
        let last = (made.id.clone(), made.text.clone(), made.made);
        self.finals.push(last);
    }

    /// Whether a reply is being made.
    pub fn is_busy(&self) -> bool {
        self.making.is_some()
    }
}

/// Which message of ours this text is, as the steps name it.
pub fn message_of(text: &str) -> Message {
    match message::recognise(Role::User, text) {
        Some(Head::Hello { .. }) => Message::Hello,
        Some(Head::Resync { .. }) => Message::Resync,
        Some(Head::Resume(_)) => Message::Resume,
        Some(Head::Round(frame)) => Message::Round(frame.round.0),
        Some(Head::Repair(repair)) => Message::Repair(repair.frame.round.0),
        Some(Head::Hs(_) | Head::Plan(_)) | None => Message::Other,
    }
}

impl World {
    pub(super) fn server_event(&mut self, what: ServerEvent) -> Result<(), Violation> {
        match what {
            ServerEvent::Receives(carrier, text) => self.receives(carrier, text)?,
            ServerEvent::Begins(turn) => self.begins(turn),
            ServerEvent::Writes(turn, bytes) => self.writes(turn, bytes),
            ServerEvent::Finishes(turn) => self.finishes(turn),
            ServerEvent::Settles(turn) => self.settles(turn),
        }
        Ok(())
    }

    fn receives(&mut self, carrier: Carrier, text: String) -> Result<(), Violation> {
        let kind = |kind| Fault::Page(kind);
        if self.hit(kind(FaultKind::ServerError), Phase::Submitting) {
            self.stream(&carrier, StreamEvent::Status { code: 500 });
            self.page_says(PageEvent::Refused);
            return Ok(());
        }
        if self.hit(kind(FaultKind::ThrottleDialog), Phase::Submitting) {
            self.stream(&carrier, StreamEvent::Status { code: 429 });
            self.page_says(PageEvent::Throttled);
            return Ok(());
        }
        if self.hit(kind(FaultKind::Capacity), Phase::Submitting) {
            self.stream(&carrier, StreamEvent::Status { code: 200 });
            self.stream_error(&carrier);
            self.page_says(PageEvent::Refused);
            return Ok(());
        }
        let id = self.server.id('u');
        let head = text.lines().next().unwrap_or_default().to_owned();
        self.say(|| format!("server takes {id}: {head}"));
        self.server.log.push(Line {
            role: Role::User,
            text: text.clone(),
            finished: true,
        });
        self.server.users.push((id.clone(), text.clone()));
        self.server.turns.push(ServerTurn {
            id,
            role: Role::User,
            text: text.clone(),
            made: Made::Whole,
        });
        self.checks.taken(&text)?;
        self.checks.judge.judge(&self.server.log)?;
        let turn = self.server.turns.len() - 1;
        if self.server.conversation.is_none() {
            let id = format!("c{:08x}", self.server.salt);
            self.server.conversation = Some(id);
        }
        self.page_says(PageEvent::Taken(turn));
        self.moment(Phase::Accepted);
        self.page_goes(Phase::Accepted);
        if self.hit(kind(FaultKind::ServerError), Phase::Accepted) {
            self.stream(&carrier, StreamEvent::Status { code: 500 });
            self.page_says(PageEvent::Failed);
            return Ok(());
        }
        if self.hit(kind(FaultKind::NoReply), Phase::Accepted) {
            self.page_says(PageEvent::Silent);
            return Ok(());
        }
        self.stream(&carrier, StreamEvent::Status { code: 200 });
        if self.hit(kind(FaultKind::Capacity), Phase::Accepted) {
            self.stream_error(&carrier);
            self.page_says(PageEvent::Failed);
            return Ok(());
        }
        let slow = match self.hit(kind(FaultKind::SlowServer), Phase::Accepted) {
            true => self.draw(3_000, 60_000),
            false => 0,
        };
        self.replies(carrier, &text, slow);
        Ok(())
    }

    fn replies(&mut self, mut carrier: Carrier, text: &str, slow_ms: u64) {
        let mut wrong = None;
        for own in self.course.said_wrong() {
            if wrong.is_none() && self.hit(Fault::Own(own), Phase::Accepted) {
                wrong = Some(own);
            }
        }
        if self.hit(Fault::Page(FaultKind::CumulativeStream), Phase::Streaming) {
            carrier.mode = Mode::Cumulative;
        }
        if self.hit(Fault::Page(FaultKind::WebSocketReply), Phase::Streaming) {
            carrier.mode = Mode::Socket;
        }
        let says = self.remote.answer(text, wrong, &mut self.rng);
        let id = self.server.id('a');
        self.server.turns.push(ServerTurn {
            id,
            role: Role::Assistant,
            text: String::new(),
            made: Made::Growing,
        });
        let turn = self.server.turns.len() - 1;
        let begin = slow_ms + self.draw(40, 300);
        self.plan(begin, Event::Server(ServerEvent::Begins(turn)));
        let mut at = begin + says.think_ms;
        for end in pieces(&says.text, &mut self.rng) {
            self.plan(at, Event::Server(ServerEvent::Writes(turn, end)));
            at += says.piece_ms;
        }
        self.plan(at, Event::Server(ServerEvent::Finishes(turn)));
        self.server.making = Some(Making {
            turn,
            text: says.text,
            carrier,
        });
    }

    /// The reply being made, if it is still this one.
    pub(super) fn making(&self, turn: usize) -> Option<&Making> {
        self.server
            .making
            .as_ref()
            .filter(|making| making.turn == turn && turn < self.server.turns.len())
    }

    fn begins(&mut self, turn: usize) {
        let Some(carrier) = self.making(turn).map(|making| making.carrier.clone()) else {
            return;
        };
        self.stream_opens(&carrier);
        self.page_says(PageEvent::Reply(turn));
        self.moment(Phase::Thinking);
    }

    fn writes(&mut self, turn: usize, bytes: usize) {
        let Some(making) = self.making(turn) else {
            return;
        };
        let (carrier, whole) = (making.carrier.clone(), making.text.len());
        let before = self.server.turns[turn].text.len();
        let text = making.text[..bytes].to_owned();
        let piece = text[before..].to_owned();
        self.server.turns[turn].text = text;
        self.stream_piece(&carrier, turn, &piece);
        self.page_says(PageEvent::Reply(turn));
        if before == 0 && bytes < whole {
            self.moment(Phase::Streaming);
            self.amid(turn, &carrier);
        }
    }

    pub(super) fn end_making(&mut self, turn: usize, made: Made) {
        self.server.making = None;
        self.server.turns[turn].made = made;
        let text = self.server.turns[turn].text.clone();
        let finished = made == Made::Whole;
        self.server.is_final(turn);
        self.server.log.push(Line {
            role: Role::Assistant,
            text,
            finished,
        });
    }

    fn finishes(&mut self, turn: usize) {
        let Some(making) = self.making(turn) else {
            return;
        };
        let (carrier, text) = (making.carrier.clone(), making.text.clone());
        self.server.turns[turn].text = text;
        if self.hit(Fault::Page(FaultKind::MessageIdChange), Phase::Finishing) {
            self.server.turns[turn].id = self.server.id('a');
        }
        self.end_making(turn, Made::Whole);
        self.moment(Phase::Finishing);
        let kind = |kind| Fault::Page(kind);
        let no_done = self.hit(kind(FaultKind::NoDone), Phase::Finishing);
        let no_marks = self.hit(kind(FaultKind::NoEndMarks), Phase::Finishing);
        let open = self.hit(kind(FaultKind::SocketOpen), Phase::Finishing);
        let cancelled = self.hit(kind(FaultKind::ReaderCancelled), Phase::Finishing);
        if no_marks {
            self.stream(&carrier, StreamEvent::End(StreamEnd::Finished));
        } else {
            self.stream_ends(&carrier, turn, "finished_successfully", !no_done);
            if !open {
                let end = if cancelled {
                    StreamEnd::Failed
                } else {
                    StreamEnd::Finished
                };
                self.stream(&carrier, StreamEvent::End(end));
            }
        }
        self.page_says(PageEvent::Finished(turn));
        let after = self.draw(500, 2_500);
        self.plan(after, Event::Server(ServerEvent::Settles(turn)));
    }
}

/// Where the pieces of a reply end, in bytes.
fn pieces(text: &str, rng: &mut ChaCha8Rng) -> Vec<usize> {
    let many = rng.random_range(2..=4);
    let mut ends: Vec<usize> = (1..many)
        .map(|nth| {
            let mut at = text.len() * nth / many;
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            at
        })
        .filter(|at| *at > 0)
        .collect();
    ends.push(text.len());
    ends.dedup();
    ends
}
