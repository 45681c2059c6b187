//! What the server does wrong in the middle of a reply and after it, and what other hands
//! do in the conversation.

use fixtures::{
    fault::FaultKind,
    step::{Message, Phase},
};
use protocol::page::{Role, StreamEnd, StreamEvent};

use super::{
    fault::Fault,
    page::PageEvent,
    server::{Line, Made, ServerEvent, ServerTurn, message_of},
    stream::Carrier,
    world::{Event, World},
};

impl World {
    /// What the server can do wrong in the middle of a reply.
    pub(super) fn amid(&mut self, turn: usize, carrier: &Carrier) {
        let kind = |kind| Fault::Page(kind);
        if self.hit(kind(FaultKind::StreamPause), Phase::Streaming) {
            self.delay_reply(turn);
        }
        if self.hit(kind(FaultKind::StreamCut), Phase::Streaming) {
            self.end_making(turn, Made::Cut);
            self.stream(carrier, StreamEvent::End(StreamEnd::Failed));
            self.page_says(PageEvent::Cut(turn));
        }
        if self.hit(kind(FaultKind::StreamDrop), Phase::Streaming) {
            self.stream(carrier, StreamEvent::End(StreamEnd::Failed));
            if let Some(making) = &mut self.server.making {
                making.carrier.cut = true;
            }
            self.page.follows = false;
            self.page_says(PageEvent::Cut(turn));
        }
        if self.hit(kind(FaultKind::ContinueGenerating), Phase::Streaming) {
            self.end_making(turn, Made::AtLimit);
            self.stream_ends(carrier, turn, "finished_partial_completion", true);
            self.page_says(PageEvent::AtLimit(turn));
        }
        if self.hit(kind(FaultKind::ForeignUserTurn), Phase::Streaming) {
            self.foreign("somebody else asks something");
        }
        self.page_amid(turn);
    }

    fn delay_reply(&mut self, turn: usize) {
        let Some(making) = self.making(turn) else {
            return;
        };
        // What was planned is planned anew, under another turn's number it would be lost.
        let (bytes, whole) = (self.server.turns[turn].text.len(), making.text.len());
        let after = self.draw(2_000, 100_000);
        self.drop_plans_of(turn);
        if bytes < whole {
            self.plan(after, Event::Server(ServerEvent::Writes(turn, whole)));
        }
        self.plan(after + 100, Event::Server(ServerEvent::Finishes(turn)));
    }

    pub(super) fn settles(&mut self, turn: usize) {
        if turn >= self.server.turns.len() {
            // Another branch is shown by now.
            return;
        }
        self.moment(Phase::Settled);
        let kind = |kind| Fault::Page(kind);
        if self.hit(kind(FaultKind::ForeignUserTurn), Phase::Settled) {
            self.foreign("somebody else asks something");
        }
        if self.hit(kind(FaultKind::Regenerate), Phase::Settled) && !self.server.is_busy() {
            let last = self.server.turns.len() - 1;
            if last == turn {
                self.server.turns[turn].id = self.server.id('a');
                self.server.turns[turn].text.push_str("\n\nOnce more.");
                self.server.is_final(turn);
                self.page_says(PageEvent::Finished(turn));
            }
        }
        if self.hit(kind(FaultKind::EditedTurn), Phase::Settled)
            && turn > 0
            && turn < self.server.turns.len()
        {
            self.server.turns.truncate(turn);
            self.server.making = None;
            self.server.turns[turn - 1].id = self.server.id('u');
            self.server.turns[turn - 1].text = "edited by a person".to_owned();
            self.page_says(PageEvent::Rebuilt);
        }
        if self.hit(kind(FaultKind::HistoryRefetched), Phase::Settled) {
            self.fetch_history();
        }
        self.page_settled();
    }

    /// A person's own message appears in the conversation.
    pub(super) fn foreign(&mut self, text: &str) {
        if self.server.conversation.is_none() {
            return;
        }
        let id = self.server.id('u');
        self.say(|| format!("a person sends {id}"));
        self.checks.foreign = true;
        self.server.log.push(Line {
            role: Role::User,
            text: format!("{text} ({id})"),
            finished: true,
        });
        self.server.turns.push(ServerTurn {
            id,
            role: Role::User,
            text: text.to_owned(),
            made: Made::Whole,
        });
        self.page_says(PageEvent::Rebuilt);
    }

    /// A text of a person that quotes our FRAME, as one would to complain about it.
    pub(super) fn quote(&mut self) {
        let ours =
            |line: &&Line| line.role == Role::User && message_of(&line.text) != Message::Other;
        let last = self.server.log.iter().rev().find(ours);
        let Some(frame) = last.and_then(|line| line.text.lines().nth(1)) else {
            return;
        };
        let text = format!("What does this mean?\n{frame}");
        self.foreign(&text);
    }
}
