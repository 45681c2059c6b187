//! How the page shows a reply while it grows, and once it is whole.

use fixtures::{fault::FaultKind, step::Phase};
use protocol::page::{Place, TurnId, TurnKey};

use super::{
    fault::Fault,
    page::{Copies, PageEvent, Shown, assistant, empty_reply, show_in},
    view::blocks_of,
    world::{Event, World},
};

impl World {
    pub(super) fn shows_reply(&mut self, turn: usize) {
        let away = matches!(self.page.place, Place::Conversation(_)) && !self.is_home();
        if !self.page.follows || !self.page.hydrated || away {
            return;
        }
        let Some(made) = self.server.turns.get(turn).cloned() else {
            return;
        };
        if self.page.shown(turn).is_none() {
            let nameless = FaultKind::NoIdWhileStreaming;
            let late = self.hit(Fault::Page(nameless), Phase::Streaming) || self.keyed;
            let key = match late {
                true => TurnKey::Provisional,
                false => TurnKey::Settled(TurnId(made.id.clone())),
            };
            let shown = Shown {
                server: Some(turn),
                turn: assistant(key, empty_reply()),
            };
            self.page.turns.push(shown);
        }
        self.page.stop = true;
        let empty = self.hit_quietly(FaultKind::FirstLetter);
        if let Some(reply) = self.page.reply(turn) {
            show_in(reply, &made.text);
            reply.thinking = made.text.is_empty();
            reply.streaming = !made.text.is_empty();
            reply.bar = false;
            reply.blocks = None;
        }
        if empty {
            self.page.stop = false;
            if let Some(reply) = self.page.reply(turn) {
                let first: String = made.text.chars().take(1).collect();
                show_in(reply, &first);
                reply.streaming = false;
                reply.thinking = false;
            }
        }
    }

    fn hit_quietly(&mut self, kind: FaultKind) -> bool {
        self.hit(Fault::Page(kind), Phase::Streaming)
    }

    /// The reply stands under its bar with what the server has of it.
    pub(super) fn shows_bar(&mut self, turn: usize, whole: bool) {
        let Some(made) = self.server.turns.get(turn).cloned() else {
            return;
        };
        self.page.stop = false;
        if let Some(shown) = self.page.shown(turn) {
            shown.turn.key = TurnKey::Settled(TurnId(made.id.clone()));
        }
        if let Some(reply) = self.page.reply(turn) {
            if whole {
                show_in(reply, &made.text);
            }
            reply.blocks = Some(blocks_of(&made.text));
            reply.bar = true;
            reply.copy = true;
            reply.streaming = false;
            reply.thinking = false;
        }
    }

    pub(super) fn finished(&mut self, turn: usize) {
        self.shows_reply(turn);
        if self.page.shown(turn).is_none() {
            return;
        }
        let kind = |kind| Fault::Page(kind);
        if self.hit(kind(FaultKind::LateRender), Phase::Finishing) {
            self.shows_bar(turn, false);
            let text = self.server.turns[turn].text.clone();
            let part: String = text.chars().take(text.chars().count() / 2).collect();
            if let Some(reply) = self.page.reply(turn) {
                show_in(reply, &part);
                reply.blocks = Some(blocks_of(&part));
            }
            let after = self.draw(400, 9_000);
            let doc = self.page.doc;
            self.plan(after, Event::Page(doc, PageEvent::Rendered(turn)));
            return;
        }
        self.shows_bar(turn, true);
        self.finishing_faults(turn);
    }

    fn finishing_faults(&mut self, turn: usize) {
        let kind = |kind| Fault::Page(kind);
        let no_bar = self.hit(kind(FaultKind::NoBar), Phase::Finishing);
        let empty = self.hit(kind(FaultKind::DomEmpty), Phase::Finishing);
        let two = self.hit(kind(FaultKind::TwoReplies), Phase::Finishing);
        let copies = [
            (FaultKind::CopyShort, Copies::Half),
            (FaultKind::CopyOther, Copies::Other),
            (FaultKind::FrozenClipboard, Copies::Frozen),
        ];
        for (fault, does) in copies {
            if self.hit(kind(fault), Phase::Finishing) {
                self.page.copies = does;
            }
        }
        let partial = self.hit(kind(FaultKind::EditorVirtualised), Phase::Streaming);
        if let Some(reply) = self.page.reply(turn) {
            if no_bar {
                reply.bar = false;
                reply.copy = false;
                reply.blocks = None;
            }
            if empty {
                reply.blocks = Some(Vec::new());
            }
            if two {
                reply.choices = 2;
            }
            if partial {
                let text = reply.blocks.take().unwrap_or_default();
                reply.blocks = Some(super::view::partial(text));
            }
        }
    }
}
