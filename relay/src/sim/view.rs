//! What an observer makes of the page: looks, readings, blocks; and the document's own
//! life: loading, appearing, being gone from.

use fixtures::{fault::FaultKind, step::Phase};
use protocol::page::{
    Block, Blocker, BlockerKind, Composer, Control, ConversationId, Draft, Inline, Look, Loss,
    Place, Reading, Role, Turn, TurnId, TurnKey, What,
};

use super::{
    driver::Attaching,
    fault::Fault,
    page::{Page, PageEvent, Shown, empty_reply, show_in},
    server::{Made, ServerTurn},
    world::{Event, World},
};

/// Changes whenever the text does.
pub(super) fn print_of(text: &str) -> String {
    // FNV-1a: any change of a few thousand characters shows.
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{}:{hash:x}", text.len())
}

/// What a page shows of a text of paragraphs and fenced blocks; a fence left open is
/// closed by the page.
pub(super) fn blocks_of(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut code: Option<Vec<&str>> = None;
    for line in text.lines() {
        match &mut code {
            Some(lines) if line == "```" => {
                blocks.push(code_block(lines));
                code = None;
            }
            Some(lines) => lines.push(line),
            None if line.starts_with("```") => code = Some(Vec::new()),
            None if line.trim().is_empty() => {}
            None => blocks.push(Block::Paragraph {
                c: vec![Inline::Text { v: line.into() }],
            }),
        }
    }
    if let Some(lines) = code {
        blocks.push(code_block(&lines));
    }
    blocks
}

fn code_block(lines: &[&str]) -> Block {
    Block::Code {
        lang: Some("text".to_owned()),
        text: lines.join("\n"),
        partial: false,
    }
}

/// The same, from an editor that keeps some lines of a block in the document.
pub(super) fn partial(blocks: Vec<Block>) -> Vec<Block> {
    let cut = |block| match block {
        Block::Code { lang, text, .. } => Block::Code {
            lang,
            text: text.lines().take(10).collect::<Vec<_>>().join("\n"),
            partial: true,
        },
        other @ (Block::Paragraph { .. }
        | Block::Heading { .. }
        | Block::List { .. }
        | Block::Quote { .. }
        | Block::Table { .. }
        | Block::Math { .. }
        | Block::Rule
        | Block::Unknown { .. }) => other,
    };
    blocks.into_iter().map(cut).collect()
}

impl World {
    /// The tab's address.
    pub(super) fn address(&self) -> String {
        match &self.page.place {
            Place::Fresh => "http://chat/".to_owned(),
            Place::Transient(id) => format!("http://chat/c/{id}"),
            Place::Conversation(id) => format!("http://chat/c/{id}"),
            Place::Elsewhere => "http://chat/library".to_owned(),
        }
    }

    pub(super) fn make_look(&self) -> Look {
        let page = &self.page;
        let shown = &page.turns[page.turns.len().saturating_sub(page.shows_last)..];
        let shown = if page.hydrated { shown } else { &[] };
        let users = || {
            let users = shown.iter().enumerate().rev();
            users.filter(|(_, shown)| shown.turn.role == Role::User)
        };
        let from = users().nth(1).map_or(0, |(at, _)| at);
        let from = from.min(shown.len().saturating_sub(2));
        let tail: Vec<Turn> = shown[from..]
            .iter()
            .map(|shown| shown.turn.clone())
            .collect();
        let layout = if self.keyed { "keyed" } else { "classic" };
        let draft = &page.draft;
        Look {
            seq: page.seq,
            page_ms: self.now - page.born,
            address: self.address(),
            place: page.place.clone(),
            layout: (!page.unknown_layout).then(|| layout.to_owned()),
            missing: Vec::new(),
            hydrated: page.hydrated,
            blockers: page.blockers.clone(),
            composer: Composer {
                present: !page.unknown_layout,
                draft: Draft {
                    chars: u32::try_from(draft.chars().count()).unwrap_or(u32::MAX),
                    head: draft.as_str().into(),
                },
                send: match (draft.is_empty(), page.send_disabled) {
                    (true, _) | (false, true) => Control::Disabled,
                    (false, false) => Control::Enabled,
                },
                stop: page.stop,
                attachments: page.attachments,
            },
            turns_shown: u32::try_from(shown.len()).unwrap_or(u32::MAX),
            tail,
        }
    }

    pub(super) fn make_reading(&self) -> Reading {
        let page = &self.page;
        let bare = |shown: &Shown| {
            let mut turn = shown.turn.clone();
            if let Some(reply) = &mut turn.reply {
                reply.blocks = None;
            }
            turn
        };
        let settled = |shown: &Shown| {
            let card = shown.turn.reply.as_ref();
            shown.turn.key.settled().is_some() || card.is_some_and(|card| card.error.is_some())
        };
        Reading {
            page_ms: self.now - page.born,
            place: page.place.clone(),
            turns: page.turns.iter().map(bare).collect(),
            whole: page.hydrated && page.turns.iter().all(settled),
            idle: !page.stop,
        }
    }

    /// The tab loads its document anew.
    pub(super) fn load(&mut self) {
        self.say(|| "the page is loaded".to_owned());
        let known = self.server.conversation.clone();
        // A transient address leads to nothing once its document is gone.
        let place = match (&self.page.place, known) {
            (Place::Conversation(_), Some(id)) => Place::Conversation(ConversationId(id)),
            _ => Place::Fresh,
        };
        self.load_at(place);
    }

    /// The same at another place of the site.
    pub(super) fn load_at(&mut self, place: Place) {
        let draft = std::mem::take(&mut self.page.draft);
        let doc = self.page.doc + 1;
        self.page = Page {
            doc,
            born: self.now,
            hydrated: false,
            place,
            ..Page::fresh()
        };
        if self.chance(50) {
            self.page.draft = draft;
        }
        let kind = |kind| Fault::Page(kind);
        let mut after = self.draw(60, 900);
        if self.hit(kind(FaultKind::SlowHydration), Phase::Load) {
            after = self.draw(5_000, 40_000);
        }
        if self.hit(kind(FaultKind::ShellStop), Phase::Load) {
            self.page.stop = true;
        }
        if self.hit(kind(FaultKind::OldDraft), Phase::Load) {
            self.page.draft = "an old draft".to_owned();
        }
        if self.hit(kind(FaultKind::UnknownLayout), Phase::Load) {
            self.page.unknown_layout = true;
        }
        if self.hit(kind(FaultKind::Virtualised), Phase::Load) {
            self.page.shows_last = 4;
        }
        let blockers = [
            (FaultKind::Challenge, BlockerKind::Challenge),
            (FaultKind::LoggedOut, BlockerKind::LoggedOut),
        ];
        for (fault, blocker) in blockers {
            if self.hit(kind(fault), Phase::Load) {
                self.page.blockers.push(Blocker {
                    kind: blocker,
                    mark: fault.name().to_owned(),
                });
                let until = self.draw(30_000, 300_000);
                self.plan(until, Event::Page(doc, PageEvent::Unblocked));
            }
        }
        self.plan(after, Event::Page(doc, PageEvent::Hydrated));
        if self.driver.seeing().is_some() {
            self.observe(What::Lost(Loss::Document));
            self.driver.let_go();
            let after = self.draw(20, 300);
            let attaching = Attaching::document(self.driver.link);
            self.plan(after, Event::Attach(attaching));
        }
        self.touch();
    }

    pub(super) fn hydrated(&mut self) {
        self.page.hydrated = true;
        self.page.stop = false;
        if !self.is_home() {
            return;
        }
        if self.hit(Fault::Page(FaultKind::ServerError), Phase::Load) {
            let doc = self.page.doc;
            self.plan(15_000, Event::Page(doc, PageEvent::Rebuilt));
            self.page.hydrated = false;
            return;
        }
        self.rebuild();
        if self.hit(Fault::Page(FaultKind::StaleHydration), Phase::Load) {
            let keep = self.page.turns.len().saturating_sub(2);
            self.page.turns.truncate(keep);
            self.page.stop = false;
            let after = self.draw(1_000, 15_000);
            let doc = self.page.doc;
            self.plan(after, Event::Page(doc, PageEvent::Rebuilt));
        }
        self.fetch_history();
        self.moment(Phase::Load);
    }

    /// Whether the tab shows our conversation.
    pub(super) fn is_home(&self) -> bool {
        match &self.page.place {
            Place::Conversation(id) => self.server.conversation.as_ref() == Some(&id.0),
            Place::Fresh | Place::Transient(_) | Place::Elsewhere => false,
        }
    }

    /// The thread as the server has it.
    pub(super) fn rebuild(&mut self) {
        if !self.is_home() {
            return;
        }
        let turns = self.server.turns.iter().enumerate();
        self.page.turns = turns
            .map(|(at, turn)| Shown {
                server: Some(at),
                turn: shown_of(turn),
            })
            .collect();
        self.page.hydrated = true;
        self.page.follows = true;
        self.page.stop = self.server.is_busy();
    }

    /// What the page can do in the middle of a reply.
    pub(super) fn page_amid(&mut self, turn: usize) {
        let kind = |kind| Fault::Page(kind);
        if self.hit(kind(FaultKind::BarFlash), Phase::Streaming) {
            let text = self.server.turns[turn].text.clone();
            if let Some(shown) = self.page.shown(turn)
                && let Some(reply) = &mut shown.turn.reply
            {
                show_in(reply, &text);
                reply.bar = true;
                reply.copy = true;
                reply.blocks = Some(blocks_of(&text));
                self.touch();
            }
            let (doc, after) = (self.page.doc, self.draw(100, 3_000));
            self.plan(after, Event::Page(doc, PageEvent::BarGoes(turn)));
        }
        if self.hit(kind(FaultKind::RetryCard), Phase::Streaming) {
            self.page_says(PageEvent::Failed);
        }
        self.page_goes(Phase::Streaming);
    }

    /// What the page can do once a reply has settled.
    pub(super) fn page_settled(&mut self) {
        self.page_goes(Phase::Settled);
    }

    /// The page leaves, loads itself anew, hangs or opens a dialog.
    pub(super) fn page_goes(&mut self, phase: Phase) {
        let kind = |kind| Fault::Page(kind);
        if self.hit(kind(FaultKind::NavigateAway), phase) {
            self.say(|| "the page goes to another conversation".to_owned());
            self.load_at(Place::Conversation(ConversationId("other".to_owned())));
        }
        if self.hit(kind(FaultKind::PageReload), phase) {
            self.load();
        }
        if self.hit(kind(FaultKind::RendererLoop), phase) {
            let span = self.draw(1_000, 30_000);
            self.page.busy_until = self.now + span;
            self.hangs(span);
        }
        if self.hit(kind(FaultKind::DialogOpen), phase) {
            self.page.dialog = true;
            self.observe(What::Dialog {
                kind: "alert".to_owned(),
                message: "Are you there?".to_owned(),
            });
            let (doc, after) = (self.page.doc, self.draw(5_000, 200_000));
            self.plan(after, Event::Page(doc, PageEvent::DialogCloses));
        }
    }
}

/// A turn as a page shows it that read it from the server.
fn shown_of(turn: &ServerTurn) -> Turn {
    let mut reply = empty_reply();
    if turn.role == Role::Assistant {
        show_in(&mut reply, &turn.text);
        match turn.made {
            Made::Growing => {
                reply.thinking = turn.text.is_empty();
                reply.streaming = !turn.text.is_empty();
            }
            Made::Whole | Made::Cut | Made::AtLimit => {
                reply.bar = true;
                reply.copy = true;
                reply.blocks = Some(blocks_of(&turn.text));
                reply.truncated = turn.made == Made::AtLimit;
            }
        }
    }
    Turn {
        key: TurnKey::Settled(TurnId(turn.id.clone())),
        role: turn.role,
        text: match turn.role {
            Role::User => turn.text.as_str().into(),
            Role::Assistant => "".into(),
        },
        clamped: false,
        reply: (turn.role == Role::Assistant).then_some(reply),
    }
}
