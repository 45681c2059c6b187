//! Commands: one is carried out at a time, each is answered once.

use std::sync::Arc;

use protocol::page::{Answer, Ask, CallFailure, CallId, PageCommand, Refusal, What};

use super::{Inner, Live};
use crate::compose::Desk;
use crate::port::Outbox;

/// Commands that may wait behind the one that is carried out.
const QUEUE_MAX: usize = 16;

impl Live {
    pub(super) fn take(&mut self, command: PageCommand, out: &Outbox) {
        if command.epoch != self.epoch || self.changing.is_some() {
            self.answer(command.call, Answer::Refused(Refusal::Stale), out);
        } else if self.queue.len() >= QUEUE_MAX {
            let detail = "too many commands wait".to_owned();
            let failure = CallFailure::Refused { detail };
            self.answer(command.call, Answer::Failed(failure), out);
        } else {
            self.queue.push_back(command);
            self.start_next(out);
        }
    }

    pub(super) fn start_next(&mut self, out: &Outbox) {
        while self.running.is_none() {
            let Some(command) = self.queue.pop_front() else {
                return;
            };
            let Some(world) = self.worlds.ours.clone() else {
                self.answer(command.call, Answer::Refused(Refusal::Stale), out);
                continue;
            };
            if self.dialog {
                self.answer(command.call, behind_dialog(&command.ask), out);
                continue;
            }
            let desk = Desk {
                page: self.page.clone(),
                world,
                main: self.worlds.main.clone(),
                copyhook: Arc::clone(&self.copyhook),
                conversation: self.conversation.clone(),
            };
            self.running = Some((command.call, command.ask == Ask::Reload));
            self.tasks.spawn(async move {
                let (answer, look) = desk.carry_out(command.ask).await;
                Inner::Done(command.call, answer, look)
            });
        }
    }

    pub(super) fn answer(&self, call: CallId, answer: Answer, out: &Outbox) {
        out.push(self.epoch, What::Answer { call, answer });
    }

    /// Answers whatever is still open: the running command with `running`,
    /// those behind it with a refusal, since nothing of them was begun.
    pub(super) fn answer_all(&mut self, out: &Outbox, running: Answer) {
        // One that has its answer already keeps it.
        while let Some(Ok(done)) = self.tasks.try_join_next() {
            if let Inner::Done(call, answer, _) = done
                && self.running.is_some_and(|(open, _)| open == call)
            {
                self.running = None;
                self.answer(call, answer, out);
            }
        }
        if let Some((call, _)) = self.running.take() {
            self.answer(call, running, out);
        }
        while let Some(command) = self.queue.pop_front() {
            self.answer(command.call, Answer::Refused(Refusal::Stale), out);
        }
    }
}

/// (ours) What a dialog holds up: an act is refused, since nothing was begun; a
/// reading fails.
fn behind_dialog(ask: &Ask) -> Answer {
    match ask {
        Ask::Compose { .. } | Ask::Submit { .. } | Ask::ClearDraft { .. } | Ask::Copy { .. } => {
            Answer::Refused(Refusal::Blocked)
        }
        Ask::Look | Ask::Read | Ask::Survey | Ask::Html { .. } | Ask::Reload | Ask::Detach => {
            Answer::Failed(CallFailure::Refused {
                detail: "a dialog of the page stands open".to_owned(),
            })
        }
    }
}
