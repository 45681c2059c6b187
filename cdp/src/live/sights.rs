//! Documents and looks.

use protocol::page::{Answer, AttachCause, CallFailure, Epoch, Look, Loss, What};
use serde_json::Value;
use tokio::time::Instant;

use super::{End, Inner, Live};
use crate::attach::{page_fault, stands};
use crate::error::{CallError, bounded};
use crate::liveness::Hearts;
use crate::port::Outbox;
use crate::watch::{Early, Said, Streams};

impl Live {
    pub(super) fn document_gone(&mut self, out: &Outbox) {
        if self.changing.is_some() {
            return;
        }
        // A reload that we asked for has done what it was to do.
        let answer = match self.running {
            Some((_, true)) => Answer::Done,
            Some((_, false)) | None => Answer::Failed(CallFailure::Lost),
        };
        self.answer_all(out, answer);
        out.push(self.epoch, What::Lost(Loss::Document));
        self.changing = Some(Instant::now());
        self.early = Early::default();
        self.dialog = false;
        self.looking = false;
        self.diagnosing = false;
        self.tasks.abort_all();
        self.hearts = Hearts::new(self.limits);
    }

    pub(super) fn document_came(&mut self, out: &Outbox) {
        self.document_gone(out);
        if let Some(world) = self.worlds.ours.clone() {
            let (page, scripts) = (self.page.clone(), self.scripts.clone());
            self.tasks.spawn(async move {
                let result = stands(&page, &world, &scripts).await;
                Inner::Settled(world, result)
            });
        }
    }

    pub(super) fn settled(
        &mut self,
        result: Result<String, CallError>,
        out: &Outbox,
    ) -> Option<End> {
        let address = match result {
            Ok(address) => address,
            Err(error) => return Some(End::NoDocument(page_fault(&error).into())),
        };
        self.epoch = Epoch(self.epoch.0 + 1);
        self.changing = None;
        self.last_look = 0;
        self.hearts = Hearts::new(self.limits);
        self.streams = Streams::new(
            self.stream_paths.clone(),
            self.worlds.frame.clone(),
            self.limits,
        );
        self.announce(AttachCause::Document, &address, out);
        self.catch_up(out);
        self.look();
        None
    }

    /// Takes in what the page asked for before we stood in its document.
    pub(super) fn catch_up(&mut self, out: &Outbox) {
        for net in self.early.take() {
            let steps = self.streams.told(net);
            self.follow(steps, out);
        }
    }

    pub(super) fn look(&mut self) {
        let Some(world) = self.worlds.ours.clone() else {
            return;
        };
        if self.looking || self.dialog || self.changing.is_some() {
            return;
        }
        self.looking = true;
        self.hearts.look_asked(Instant::now());
        let page = self.page.clone();
        self.tasks.spawn(async move {
            let result = page
                .evaluate(&world, "brb.look()", page.limits.call())
                .await;
            Inner::Looked(world, result)
        });
    }

    pub(super) fn said(&mut self, payload: &str, out: &Outbox) {
        if payload.len() > self.limits.observation_bytes_max {
            let why = "over observation_bytes_max".to_owned();
            self.malformed("observer", payload.len() as u64, why, out);
            return;
        }
        match serde_json::from_str::<Said>(payload) {
            Ok(said) => self.saw(said.look, out),
            Err(e) => self.malformed("observer", payload.len() as u64, e.to_string(), out),
        }
    }

    pub(super) fn looked(&mut self, value: &Value, out: &Outbox) {
        let text = value.as_str().unwrap_or_default();
        if text.len() > self.limits.observation_bytes_max {
            let why = "over observation_bytes_max".to_owned();
            self.malformed("observer", text.len() as u64, why, out);
            return;
        }
        match serde_json::from_str::<Look>(text) {
            Ok(look) => self.saw(look, out),
            Err(e) => self.malformed("observer", text.len() as u64, e.to_string(), out),
        }
    }

    /// Looks come by two ways; one that was overtaken says nothing any more, and one
    /// from before a dialog that stands now would hide it.
    pub(super) fn saw(&mut self, look: Look, out: &Outbox) {
        if look.seq > self.last_look && !self.dialog {
            self.last_look = look.seq;
            out.push(self.epoch, What::Look(Box::new(look)));
        }
    }

    pub(super) fn malformed(&self, source: &str, len: u64, why: String, out: &Outbox) {
        let what = What::Malformed {
            source: source.to_owned(),
            len,
            why: bounded(why),
        };
        out.push(self.epoch, what);
    }
}
