//! The chat page of a simulated world, as far as an observer sees it: thread, composer,
//! marks, and what becomes of them when the server says something or a person acts.

use fixtures::{fault::FaultKind, step::Phase};
use protocol::page::{
    Blocker, BlockerKind, Epoch, PageError, PageErrorKind, Place, Reply, Role, StreamEvent, Turn,
    TurnId, TurnKey, What,
};
use serde_json::json;

use super::{
    fault::Fault,
    server::ServerEvent,
    stream::{Carrier, Mode},
    view::print_of,
    world::{Event, World},
};

/// What happens in a document.
#[derive(Debug, Clone)]
pub enum PageEvent {
    /// The server took our message as this turn of its.
    Taken(usize),
    /// The server did not take it.
    Refused,
    /// The server said that there were too many.
    Throttled,
    /// The server took it and fails to answer.
    Failed,
    /// The server took it and says nothing.
    Silent,
    /// The reply goes on.
    Reply(usize),
    /// The connection failed.
    Cut(usize),
    /// The reply was stopped for its length.
    AtLimit(usize),
    /// The reply is whole.
    Finished(usize),
    /// Its last part is rendered at last.
    Rendered(usize),
    /// A bar that showed for a moment goes.
    BarGoes(usize),
    /// The thread is rendered anew from the server's.
    Rebuilt,
    /// A turn gets the server's id.
    Settled(usize),
    /// Our own turn is shown at last.
    Echo(usize, String),
    /// The address becomes the conversation's own.
    Address,
    /// The thread appears.
    Hydrated,
    /// Somebody presses Enter in the composer.
    Enter,
    /// The send control can be pressed.
    SendEnabled,
    /// Something changed, and the observer reports it.
    Look,
    /// Nothing changed since that look.
    Net(u64),
    /// A person closes the dialog.
    DialogCloses,
    /// A blocker goes.
    Unblocked,
}

/// One turn as it is shown.
#[derive(Debug, Clone)]
pub struct Shown {
    /// Which turn of the server's it is, once the page knows.
    pub server: Option<usize>,
    /// As the observer reports it.
    pub turn: Turn,
}

/// The document in the tab.
#[derive(Debug, Clone)]
pub struct Page {
    /// Counts documents.
    pub doc: u32,
    /// When it was loaded.
    pub born: u64,
    /// Its address.
    pub place: Place,
    /// The thread is shown.
    pub hydrated: bool,
    /// What of the thread is shown.
    pub turns: Vec<Shown>,
    /// What stands in the composer.
    pub draft: String,
    /// The draft as a person sees it is somebody else's.
    pub attachments: u32,
    /// Something is being generated, says the page.
    pub stop: bool,
    /// The send control cannot be pressed.
    pub send_disabled: bool,
    /// What stands in the way.
    pub blockers: Vec<Blocker>,
    /// No known layout fits.
    pub unknown_layout: bool,
    /// Counts looks.
    pub seq: u64,
    /// A look is on its way.
    pub look_due: bool,
    /// The page hears of the reply.
    pub follows: bool,
    /// The renderer process is gone.
    pub crashed: bool,
    /// Its script runs without a pause until then.
    pub busy_until: u64,
    /// A dialog is open.
    pub dialog: bool,
    /// Only so many turns are in the document.
    pub shows_last: usize,
    /// The reply's copy control does what it should not.
    pub copies: Copies,
}

/// What the reply's copy control gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Copies {
    /// The reply.
    Right,
    /// Half of it.
    Half,
    /// Something else.
    Other,
    /// Nothing, ever.
    Frozen,
}

impl Page {
    /// A fresh chat.
    pub fn fresh() -> Self {
        Self {
            doc: 1,
            born: 0,
            place: Place::Fresh,
            hydrated: true,
            turns: Vec::new(),
            draft: String::new(),
            attachments: 0,
            stop: false,
            send_disabled: false,
            blockers: Vec::new(),
            unknown_layout: false,
            seq: 0,
            look_due: false,
            follows: true,
            crashed: false,
            busy_until: 0,
            dialog: false,
            shows_last: usize::MAX,
            copies: Copies::Right,
        }
    }

    pub(super) fn shown(&mut self, server: usize) -> Option<&mut Shown> {
        self.turns
            .iter_mut()
            .rev()
            .find(|shown| shown.server == Some(server))
    }

    pub(super) fn reply(&mut self, server: usize) -> Option<&mut Reply> {
        self.shown(server)?.turn.reply.as_mut()
    }
}

pub(super) fn empty_reply() -> Reply {
    Reply {
        chars: 0,
        print: "-".to_owned(),
        blocks: None,
        bar: false,
        copy: false,
        streaming: false,
        thinking: false,
        interrupted: false,
        truncated: false,
        choices: 1,
        error: None,
    }
}

fn user(key: TurnKey, text: &str) -> Turn {
    Turn {
        key,
        role: Role::User,
        text: text.into(),
        clamped: false,
        reply: None,
    }
}

pub(super) fn assistant(key: TurnKey, reply: Reply) -> Turn {
    Turn {
        key,
        role: Role::Assistant,
        text: "".into(),
        clamped: false,
        reply: Some(reply),
    }
}

/// Shows a text in a reply.
pub(super) fn show_in(reply: &mut Reply, text: &str) {
    reply.chars = u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
    reply.print = print_of(text);
}

impl World {
    /// The server's word reaches the document that is open now.
    pub(super) fn page_says(&mut self, what: PageEvent) {
        let doc = self.page.doc;
        self.plan(12, Event::Page(doc, what));
    }

    pub(super) fn page_event(&mut self, doc: u32, what: PageEvent) {
        if doc != self.page.doc || self.page.crashed {
            return;
        }
        if self.page.busy_until > self.now && !matches!(what, PageEvent::Net(_)) {
            let after = self.page.busy_until - self.now + 1;
            self.plan(after, Event::Page(doc, what));
            return;
        }
        if self.page.dialog && !matches!(what, PageEvent::DialogCloses | PageEvent::Net(_)) {
            self.plan(500, Event::Page(doc, what));
            return;
        }
        match what {
            PageEvent::Taken(turn) => self.taken(turn),
            PageEvent::Refused | PageEvent::Failed => self.card(),
            PageEvent::Throttled => self.throttled(),
            PageEvent::Silent => {}
            PageEvent::Reply(turn) => self.shows_reply(turn),
            PageEvent::Cut(turn) => self.shows_bar(turn, false),
            PageEvent::AtLimit(turn) => {
                self.shows_bar(turn, false);
                if let Some(reply) = self.page.reply(turn) {
                    reply.truncated = true;
                }
            }
            PageEvent::Finished(turn) => self.finished(turn),
            PageEvent::Rendered(turn) => self.shows_bar(turn, true),
            PageEvent::BarGoes(turn) => {
                if let Some(reply) = self.page.reply(turn)
                    && reply.streaming
                {
                    reply.bar = false;
                    reply.copy = false;
                    reply.blocks = None;
                }
            }
            PageEvent::Rebuilt => self.rebuild(),
            PageEvent::Settled(turn) => self.settled(turn),
            PageEvent::Echo(turn, text) => self.echo(turn, &text),
            PageEvent::Address => {
                if let Some(id) = self.server.conversation.clone() {
                    self.page.place = Place::Conversation(protocol::page::ConversationId(id));
                }
            }
            PageEvent::Hydrated => self.hydrated(),
            PageEvent::Enter => {
                if !self.page.draft.is_empty() && !self.page.stop {
                    self.say(|| "a person presses Enter".to_owned());
                    self.press_send();
                }
            }
            PageEvent::SendEnabled => self.page.send_disabled = false,
            PageEvent::Look => {
                self.page.look_due = false;
                self.look();
                return;
            }
            PageEvent::Net(seq) => {
                if self.page.seq == seq && !self.page.look_due {
                    self.look();
                }
                return;
            }
            PageEvent::DialogCloses => self.page.dialog = false,
            PageEvent::Unblocked => self.page.blockers.clear(),
        }
        self.touch();
    }

    /// Something changed: the observer reports it soon.
    pub(super) fn touch(&mut self) {
        if !self.page.look_due {
            self.page.look_due = true;
            let doc = self.page.doc;
            self.plan(25, Event::Page(doc, PageEvent::Look));
        }
    }

    fn look(&mut self) {
        let deaf = self.page.busy_until > self.now || self.page.dialog;
        if self.driver.seeing().is_some() && !deaf {
            self.page.seq += 1;
            let look = self.make_look();
            self.observe(What::Look(Box::new(look)));
        }
        let (doc, seq) = (self.page.doc, self.page.seq);
        self.plan(1_000, Event::Page(doc, PageEvent::Net(seq)));
    }

    /// Whatever stands in the composer is submitted, as the page does it.
    pub(super) fn press_send(&mut self) {
        let text = std::mem::take(&mut self.page.draft);
        self.page.stop = true;
        let late = self.hit(Fault::Page(FaultKind::LateEcho), Phase::Submitting);
        if !late {
            let turn = user(TurnKey::Provisional, &text);
            self.page.turns.push(Shown { server: None, turn });
        }
        let mode = match self.draw(0, 5) {
            0 => Mode::Cumulative,
            1 => Mode::Socket,
            _ => Mode::Deltas,
        };
        let epoch: Option<Epoch> = self.driver.seeing();
        self.driver.requests += 1;
        let carrier = Carrier {
            request: format!("r-{}", self.driver.requests),
            doc: self.page.doc,
            epoch,
            mode,
            cut: false,
        };
        let conversation = self.server.conversation.clone();
        let body = json!({"action": "next", "conversation_id": conversation,
            "messages": [{"author": {"role": "user"}, "content": {"parts": [text]}}]});
        let event = StreamEvent::Sent {
            url: "/backend-api/conversation".to_owned(),
            body: Some(body.to_string().into()),
        };
        self.stream(&carrier, event);
        let travels = self.draw(10, 120);
        if late {
            let after = self.draw(2_000, 70_000);
            let (doc, turn) = (self.page.doc, self.server.turns.len());
            let echo = PageEvent::Echo(turn, text.clone());
            self.plan(travels + after, Event::Page(doc, echo));
        }
        self.plan(travels, Event::Server(ServerEvent::Receives(carrier, text)));
        self.touch();
    }

    fn taken(&mut self, turn: usize) {
        let own = self
            .page
            .turns
            .iter_mut()
            .rev()
            .find(|shown| shown.server.is_none() && shown.turn.role == Role::User);
        if let Some(own) = own {
            own.server = Some(turn);
            let after = self.draw(40, 700);
            let doc = self.page.doc;
            self.plan(after, Event::Page(doc, PageEvent::Settled(turn)));
        }
        if self.page.place == Place::Fresh {
            self.page.place = Place::Transient("WEB:1".to_owned());
            let after = match self.hit(Fault::Page(FaultKind::LateAddress), Phase::Accepted) {
                true => self.draw(3_000, 30_000),
                false => self.draw(20, 400),
            };
            let doc = self.page.doc;
            self.plan(after, Event::Page(doc, PageEvent::Address));
        }
    }

    fn echo(&mut self, turn: usize, text: &str) {
        let Some(found) = self.server.turns.get(turn) else {
            return;
        };
        if self.page.shown(turn).is_some() || found.text != *text {
            return;
        }
        let at = self
            .page
            .turns
            .iter()
            .position(|shown| shown.server.is_some_and(|server| server > turn))
            .unwrap_or(self.page.turns.len());
        let shown = Shown {
            server: Some(turn),
            turn: user(TurnKey::Settled(TurnId(found.id.clone())), text),
        };
        self.page.turns.insert(at, shown);
    }

    fn card(&mut self) {
        self.page.stop = false;
        let error = PageError {
            kind: PageErrorKind::Failed,
            mark: "retry".to_owned(),
        };
        let reply = Reply {
            error: Some(error),
            ..empty_reply()
        };
        let turn = assistant(TurnKey::Provisional, reply);
        self.page.turns.push(Shown { server: None, turn });
    }

    fn throttled(&mut self) {
        self.page.stop = false;
        let ours = self
            .page
            .turns
            .iter()
            .rposition(|shown| shown.server.is_none() && shown.turn.role == Role::User);
        if let Some(at) = ours {
            let shown = self.page.turns.remove(at);
            if self.chance(50) {
                self.page.draft = shown.turn.text.as_str().to_owned();
            }
        }
        self.page.blockers.push(Blocker {
            kind: BlockerKind::RateLimit,
            mark: "too_many".to_owned(),
        });
        let after = self.draw(60_000, 600_000);
        let doc = self.page.doc;
        self.plan(after, Event::Page(doc, PageEvent::Unblocked));
    }

    fn settled(&mut self, turn: usize) {
        let Some(id) = self.server.turns.get(turn).map(|turn| turn.id.clone()) else {
            return;
        };
        let clamp = self.hit(Fault::Page(FaultKind::UserClamped), Phase::Submitting);
        if let Some(shown) = self.page.shown(turn) {
            shown.turn.key = TurnKey::Settled(TurnId(id));
            if clamp {
                shown.turn.clamped = true;
                let head: String = shown.turn.text.as_str().chars().take(200).collect();
                shown.turn.text = head.into();
            }
        }
    }
}
