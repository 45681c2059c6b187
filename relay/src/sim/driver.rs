//! The driver of a simulated world: attachments with their epochs, the commands it
//! carries out under its own checks, and every way in which it can be cut off.

use fixtures::{fault::FaultKind, step::Phase};
use protocol::{
    page::{
        Answer, Ask, AttachCause, Attachment, Beat, CallId, Click, Composed, Epoch, Loss,
        Observation, PageCommand, Place, Pulse, Refusal, Role, TargetId, What,
    },
    planted::{self, Bug},
    send::{Located, locate},
    text::Private,
    wire::canonical,
};

use super::{
    check::Violation,
    fault::{Fault, Own},
    page::Copies,
    server::message_of,
    world::{Event, World},
};

/// The driver.
#[derive(Debug, Clone, Default)]
pub struct Driver {
    /// Which process it serves.
    pub link: u32,
    attached: Option<Epoch>,
    /// The highest epoch there ever was.
    pub epoch: u32,
    target: u32,
    /// The browser's process lives.
    pub browser: bool,
    /// Our tab is there.
    pub tab: bool,
    /// When the last observation arrives: they come in order.
    arrives: u64,
    /// Reports of streams in this epoch.
    pub reports: u64,
    /// Requests of the page.
    pub requests: u32,
    /// The next answer never comes.
    pub loses_answer: bool,
    /// Attachments that were asked for; an older one comes to nothing.
    asked: u32,
}

/// An attachment that is coming about.
#[derive(Debug, Clone)]
pub struct Attaching {
    link: u32,
    asked: Option<u32>,
    cause: AttachCause,
    /// The address to open where no tab shows it.
    address: Option<String>,
}

impl Attaching {
    /// A process finds the tab for the first time.
    pub fn first(link: u32, address: String) -> Self {
        Self {
            link,
            asked: None,
            cause: AttachCause::First,
            address: Some(address),
        }
    }

    /// The document was loaded anew, and the driver follows.
    pub fn document(link: u32) -> Self {
        Self {
            link,
            asked: None,
            cause: AttachCause::Document,
            address: None,
        }
    }
}

impl Driver {
    /// The epoch of the attachment that sees the page, if one does.
    pub fn seeing(&self) -> Option<Epoch> {
        self.attached
    }

    /// The attachment ends.
    pub fn let_go(&mut self) {
        self.attached = None;
    }
}

impl World {
    /// The driver reports.
    pub(super) fn observe(&mut self, what: What) {
        if self.process.is_none() {
            return;
        }
        let epoch = self.driver.attached.unwrap_or(Epoch(self.driver.epoch));
        let observation = Observation { epoch, what };
        let at = (self.now + self.draw(1, 4)).max(self.driver.arrives);
        self.driver.arrives = at;
        let link = self.driver.link;
        let event = Event::Arrives(link, Box::new(observation));
        self.plan(at - self.now, event);
    }

    /// The attachment ends like this.
    pub(super) fn lose(&mut self, loss: Loss) {
        if self.driver.attached.is_none() {
            return;
        }
        self.say(|| format!("lost: {loss:?}"));
        self.observe(What::Lost(loss));
        self.driver.attached = None;
    }

    /// The driver is asked to attach.
    pub(super) fn attach(&mut self, cause: AttachCause, address: Option<String>) {
        self.driver.asked += 1;
        let attaching = Attaching {
            link: self.driver.link,
            asked: Some(self.driver.asked),
            cause,
            address,
        };
        let after = self.draw(60, 600);
        self.plan(after, Event::Attach(attaching));
    }

    pub(super) fn attached(&mut self, attaching: Attaching) {
        let stale = attaching
            .asked
            .is_some_and(|asked| asked != self.driver.asked);
        if attaching.link != self.driver.link || stale || self.process.is_none() {
            return;
        }
        let cause = attaching.cause;
        if cause == AttachCause::Browser && !self.driver.browser {
            self.driver.browser = true;
            self.driver.tab = false;
        }
        let home = attaching.address.is_some();
        if !self.driver.browser || (!self.driver.tab && !home) {
            let code = if self.driver.browser {
                "E_NO_TAB"
            } else {
                "E_NO_BROWSER"
            };
            self.observe(What::Lost(Loss::NeverAttached {
                code: code.to_owned(),
                detail: "nothing there".to_owned(),
            }));
            return;
        }
        if !self.driver.tab {
            self.driver.tab = true;
            self.driver.target += 1;
            let place = match (&attaching.address, self.server.conversation.clone()) {
                (Some(address), Some(id)) if address.ends_with(&id) => {
                    Place::Conversation(protocol::page::ConversationId(id))
                }
                _ => Place::Fresh,
            };
            self.driver.attached = None;
            self.page.draft.clear();
            self.load_at(place);
        } else if self.page.crashed || self.page.busy_until > self.now {
            self.driver.attached = None;
            self.load();
        }
        self.driver.epoch += 1;
        self.driver.attached = Some(Epoch(self.driver.epoch));
        self.driver.reports = 0;
        let address = self.address();
        let target = TargetId(format!("T{}", self.driver.target));
        self.say(|| format!("attached: {cause:?}"));
        self.observe(What::Attached(Attachment {
            cause,
            target,
            browser: "Chrome/156".to_owned(),
            address,
        }));
        self.touch();
    }

    /// The page's script does not answer for this span.
    pub(super) fn hangs(&mut self, span: u64) {
        let missed = Beat {
            browser: Pulse::Alive,
            renderer: Pulse::Missed,
        };
        self.observe(What::Beat(missed));
        if span > 7_000 {
            self.plan(7_000, Event::Strikes(Own::Crash));
        }
    }

    /// A command of the relay reaches the page.
    pub(super) fn command(&mut self, link: u32, command: PageCommand) -> Result<(), Violation> {
        if link != self.driver.link || self.driver.attached.is_none() {
            return Ok(());
        }
        if self.driver.attached != Some(command.epoch) {
            self.answer(command.call, Answer::Refused(Refusal::Stale));
            return Ok(());
        }
        if self.page.busy_until > self.now || self.page.dialog {
            let event = Event::Command(link, Box::new(command));
            self.plan(1_000, event);
            return Ok(());
        }
        let call = command.call;
        match command.ask {
            Ask::Look => {
                self.touch();
                self.answer(call, Answer::Done);
            }
            Ask::Read => {
                let reading = self.make_reading();
                self.answer(call, Answer::Read(reading));
            }
            Ask::Compose { text, anchor, ours } => {
                self.message = message_of(text.as_str());
                let answer = match self.standing(&anchor, text.as_str()) {
                    Some(refusal) => Answer::Refused(refusal),
                    None => self.types(&text, &ours),
                };
                self.answer(call, answer);
                self.moment(Phase::Composing);
                self.page_goes(Phase::Composing);
                if self.hit(Fault::Page(FaultKind::EnterPressed), Phase::Composing) {
                    let (doc, after) = (self.page.doc, self.draw(1, 400));
                    self.plan(after, Event::Page(doc, super::page::PageEvent::Enter));
                }
            }
            Ask::Submit { text, anchor } => self.submits(call, &text, &anchor)?,
            Ask::ClearDraft { ours } => {
                let answer = if self.is_ours(&ours) {
                    self.page.draft.clear();
                    self.page.attachments = 0;
                    Answer::Done
                } else {
                    let chars = self.draft_chars();
                    Answer::Refused(Refusal::ForeignDraft { chars })
                };
                self.answer(call, answer);
                self.touch();
            }
            Ask::Copy { turn } => self.copy(call, &turn.0),
            Ask::Survey | Ask::Html { .. } | Ask::Reload | Ask::Detach => {
                self.answer(call, Answer::Done);
            }
        }
        Ok(())
    }

    pub(super) fn answer(&mut self, call: CallId, answer: Answer) {
        if std::mem::take(&mut self.driver.loses_answer) {
            return;
        }
        self.observe(What::Answer { call, answer });
    }

    fn draft_chars(&self) -> u32 {
        u32::try_from(self.page.draft.chars().count()).unwrap_or(u32::MAX)
    }

    /// Whether the draft is empty or a prefix of a text of ours.
    fn is_ours(&self, ours: &[Private]) -> bool {
        let draft = canonical(&self.page.draft);
        draft.is_empty()
            || ours
                .iter()
                .any(|text| canonical(text.as_str()).starts_with(&draft))
    }

    /// What stands in the way of typing or clicking.
    fn standing(&self, anchor: &protocol::page::Anchor, text: &str) -> Option<Refusal> {
        let page = &self.page;
        if page.unknown_layout {
            let missing = vec!["layout".to_owned()];
            return Some(Refusal::Layout { missing });
        }
        let bound = self.process.as_ref().and_then(|process| process.bound());
        let other = match (&page.place, bound) {
            (Place::Elsewhere, _) => true,
            (Place::Conversation(id), Some(bound)) => *id != bound,
            (Place::Fresh | Place::Transient(_), Some(_)) => true,
            (Place::Fresh | Place::Transient(_) | Place::Conversation(_), None) => false,
        };
        if other {
            let address = self.address();
            return Some(Refusal::OtherPlace { address });
        }
        if !page.blockers.is_empty() {
            return Some(Refusal::Blocked);
        }
        if page.stop {
            return Some(Refusal::Busy);
        }
        let turns: Vec<_> = page.turns.iter().map(|shown| shown.turn.clone()).collect();
        match locate(&turns, true, anchor, text) {
            Located::AnchorLast if page.hydrated => None,
            Located::Ours { turn, .. } => Some(Refusal::AlreadyThere { turn }),
            Located::AnchorLast | Located::Foreign { .. } | Located::AnchorUnseen => {
                let last = turns
                    .iter()
                    .rev()
                    .find_map(|turn| turn.key.settled().cloned());
                Some(Refusal::AnchorMoved { last })
            }
        }
    }

    fn types(&mut self, text: &Private, ours: &[Private]) -> Answer {
        let with_this: Vec<_> = ours.iter().chain([text]).cloned().collect();
        if self.page.attachments > 0 || !self.is_ours(&with_this) {
            let chars = self.draft_chars();
            return Answer::Refused(Refusal::ForeignDraft { chars });
        }
        let cleared = !self.page.draft.is_empty();
        let wanted = u32::try_from(text.chars()).unwrap_or(u32::MAX);
        self.page.draft = text.as_str().to_owned();
        self.touch();
        let kind = |kind| Fault::Page(kind);
        if self.hit(kind(FaultKind::ComposerTruncates), Phase::Composing) {
            self.page.draft = text.as_str().chars().take(40).collect();
            let got = self.draft_chars();
            let line = 2;
            return Answer::Refused(Refusal::ReadBack { wanted, got, line });
        }
        if self.hit(kind(FaultKind::ComposerAttaches), Phase::Composing) {
            self.page.draft.clear();
            self.page.attachments = 1;
            return Answer::Refused(Refusal::BecameAttachment);
        }
        if self.hit(kind(FaultKind::SendDisabled), Phase::Composing) {
            self.page.send_disabled = true;
            let after = self.draw(500, 20_000);
            let doc = self.page.doc;
            self.plan(after, Event::Page(doc, super::page::PageEvent::SendEnabled));
        }
        Answer::Composed(Composed {
            chars: wanted,
            how: "paste".to_owned(),
            cleared,
        })
    }

    fn submits(
        &mut self,
        call: CallId,
        text: &Private,
        anchor: &protocol::page::Anchor,
    ) -> Result<(), Violation> {
        self.checks.submits(&self.agent, text.as_str())?;
        if let Some(refusal) = self.standing(anchor, text.as_str()) {
            self.answer(call, Answer::Refused(refusal));
            return Ok(());
        }
        if self.page.draft != text.as_str() && !planted::is(Bug::NoReadBack) {
            let wanted = u32::try_from(text.chars()).unwrap_or(u32::MAX);
            let (got, line) = (self.draft_chars(), 1);
            let refusal = Refusal::ReadBack { wanted, got, line };
            self.answer(call, Answer::Refused(refusal));
            return Ok(());
        }
        if self.page.send_disabled {
            self.answer(call, Answer::Refused(Refusal::NoSend));
            return Ok(());
        }
        let kind = |kind| Fault::Page(kind);
        self.moment(Phase::Submitting);
        self.page_goes(Phase::Submitting);
        let swallowed = self.hit(kind(FaultKind::ClickSwallowed), Phase::Composing);
        let rebuilt = self.hit(kind(FaultKind::ComposerRebuilt), Phase::Composing);
        if self.driver.attached.is_none() {
            return Ok(());
        }
        if !swallowed && !rebuilt {
            self.press_send();
        }
        self.answer(call, Answer::Submitted(Click::Passed));
        Ok(())
    }

    fn copy(&mut self, call: CallId, id: &str) {
        let shown = self.page.turns.iter().rev().find(|shown| {
            let named = shown.turn.key.settled().is_some_and(|key| key.0 == id);
            named && shown.turn.role == Role::Assistant
        });
        let text = shown
            .and_then(|shown| shown.server)
            .and_then(|at| self.server.turns.get(at))
            .map(|turn| turn.text.clone());
        let Some(text) = text else {
            self.answer(call, Answer::Refused(Refusal::NoCopy));
            return;
        };
        let half = text.chars().count() / 2;
        let text = match self.page.copies {
            Copies::Right => text,
            Copies::Half => text.chars().take(half).collect(),
            Copies::Other => "something else".to_owned(),
            Copies::Frozen => return,
        };
        let turn = protocol::page::TurnId(id.to_owned());
        let text = text.into();
        self.answer(call, Answer::Copied { turn, text });
    }
}
