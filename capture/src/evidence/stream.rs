//! The stream of our own message, decoded: whose text it carries, and its end.
//!
//! Known encodings (2026): events that carry the whole message so far, and
//! deltas that name a place in it (`p`), an operation (`o`) and a value (`v`),
//! where what is left out is as in the event before. `[DONE]` ends it.

use protocol::page::{ConversationId, StreamEnd, StreamEvent, StreamReport};
use protocol::reply::EndWitness;
use protocol::wire::canonical;
use serde_json::Value;

/// Messages of one stream kept at a time; older ones are forgotten.
const MESSAGES_MAX: usize = 32;
/// Bytes of payload taken in; over it the text counts for nothing.
const STREAM_BYTES_MAX: usize = 64 << 20;
/// How deep the page's request is searched for our text.
const REQUEST_DEPTH_MAX: u8 = 12;

/// What is known of the stream that answers our own message.
#[derive(Debug, Clone, Default)]
pub(crate) struct OwnStream {
    request: Option<String>,
    messages: Vec<Value>,
    /// Where the next delta applies if it does not say.
    path: String,
    op: String,
    bytes: usize,
    done: bool,
    /// Why the text counts for nothing, if it does.
    spoilt: Option<Spoilt>,
    failed: bool,
    began: bool,
    /// The transport's own end, if it came.
    closed: Option<StreamEnd>,
}

/// Why a stream's text counts for nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spoilt {
    /// Events were lost, or over the limit.
    Incomplete,
    /// An event did not parse, or did not fit what came before.
    Undecodable,
    /// The page sent our text in more than one request.
    Ambiguous,
    /// The attachment that saw it ended before it did.
    CutOff,
    /// The server reported an error in it.
    Error,
}

impl OwnStream {
    /// Takes a report in. True where it is of our own message's stream.
    pub(crate) fn take(
        &mut self,
        report: &StreamReport,
        ours: &str,
        conversation: Option<&ConversationId>,
    ) -> bool {
        if let StreamEvent::Sent { body, .. } = &report.event {
            let carries = body
                .as_ref()
                .is_some_and(|body| carries_text(body.as_str(), ours, conversation));
            if carries {
                self.sent(&report.request);
            }
            return carries;
        }
        if self.request.as_deref() != Some(report.request.as_str()) {
            return false;
        }
        match &report.event {
            StreamEvent::Sent { .. } => {}
            StreamEvent::Status { code } => self.failed = !(200..300).contains(code),
            StreamEvent::Data { data } => self.data(data.as_str()),
            StreamEvent::End(end) => match end {
                // A reader cancelled at `[DONE]` looks like a failure, and a
                // transport may finish in mid-reply: neither says anything.
                StreamEnd::Finished | StreamEnd::Failed => {
                    self.failed |= !self.began;
                    self.closed = self.closed.or(Some(*end));
                }
                StreamEnd::Overflow | StreamEnd::Gap => self.spoil(Spoilt::Incomplete),
            },
        }
        true
    }

    fn sent(&mut self, request: &str) {
        let live = self.began || !self.failed;
        if self.request.is_some() && live {
            // Two live requests with our text: which one the page shows cannot
            // be told.
            self.spoil(Spoilt::Ambiguous);
            return;
        }
        *self = Self {
            request: Some(request.to_owned()),
            ..Self::default()
        };
    }

    /// The attachment ended: what has not come by now never will.
    pub(crate) fn cut_off(&mut self) {
        if self.request.is_some() && !self.is_ended() {
            self.spoil(Spoilt::CutOff);
        }
    }

    /// Something did not parse; if it was of a stream it may have been ours.
    pub(crate) fn lost_piece_of(&mut self, source: &str) {
        if source != "observer" && source != "answer" && self.request.is_some() && !self.done {
            self.spoil(Spoilt::Undecodable);
        }
    }

    /// Whether our own request was seen.
    pub(crate) fn is_known(&self) -> bool {
        self.request.is_some()
    }

    /// How it is known from the stream that nothing more comes.
    //= spec C2
    pub(crate) fn end(&self) -> Option<EndWitness> {
        if self.spoilt == Some(Spoilt::Ambiguous) || self.spoilt == Some(Spoilt::Error) {
            return None;
        }
        if self.done {
            return Some(EndWitness::StreamDone);
        }
        let finished = self
            .answer()
            .is_some_and(|message| is_finished(message) && message["end_turn"] == true);
        finished.then_some(EndWitness::StreamFinished)
    }

    /// Whether no end can be had from the stream, so that another way of
    /// knowing it may be taken: there is none, it carries nothing, an earlier
    /// attachment saw it, or it closed in good order without saying so. Never
    /// while it is open, nor after it broke off **(ours)**.
    //= spec C2
    pub(crate) fn cannot_tell(&self) -> bool {
        match self.spoilt {
            Some(Spoilt::Ambiguous | Spoilt::Error) => false,
            Some(Spoilt::CutOff) => true,
            Some(Spoilt::Incomplete | Spoilt::Undecodable) | None => match self.closed {
                Some(StreamEnd::Failed) => !self.began,
                Some(StreamEnd::Finished | StreamEnd::Overflow | StreamEnd::Gap) => true,
                None => self.request.is_none(),
            },
        }
    }

    fn is_ended(&self) -> bool {
        self.end().is_some()
    }

    /// The reply's Markdown, where the stream carried all of it.
    pub(crate) fn text(&self) -> Option<String> {
        if self.spoilt.is_some() {
            return None;
        }
        let parts = self.answer()?["content"]["parts"].as_array()?;
        let mut text = String::new();
        for part in parts {
            text.push_str(part.as_str()?);
        }
        (!text.is_empty()).then_some(text)
    }

    /// The server stopped the reply for its length (C8).
    pub(crate) fn is_truncated(&self) -> bool {
        self.answer().is_some_and(|message| {
            message["status"] == "finished_partial_completion"
                || message["metadata"]["finish_details"]["type"] == "max_tokens"
        })
    }

    /// How many replies to our one message the stream carries.
    pub(crate) fn variants(&self) -> u32 {
        let others = self
            .messages
            .iter()
            .filter(|message| is_answer(message) && message["metadata"]["is_variant"] == true);
        1 + u32::try_from(others.count()).unwrap_or(u32::MAX - 1)
    }

    /// The last message that is an answer to us, not a thought, a tool's call
    /// or a preamble.
    fn answer(&self) -> Option<&Value> {
        let answers = || {
            self.messages
                .iter()
                .rev()
                .filter(|message| is_answer(message) && message["metadata"]["is_variant"] != true)
        };
        answers()
            .find(|message| message["channel"] == "final")
            .or_else(|| answers().find(|message| message["channel"].is_null()))
    }

    fn spoil(&mut self, why: Spoilt) {
        self.spoilt = self.spoilt.or(Some(why));
        if why == Spoilt::Ambiguous {
            self.spoilt = Some(why);
        }
    }

    fn data(&mut self, data: &str) {
        let data = data.trim();
        if data == "[DONE]" {
            self.done = true;
            return;
        }
        if self.done || data.is_empty() {
            return;
        }
        self.bytes = self.bytes.saturating_add(data.len());
        if self.bytes > STREAM_BYTES_MAX {
            self.spoil(Spoilt::Incomplete);
            self.messages.clear();
        }
        if self.spoilt.is_some() {
            return;
        }
        match serde_json::from_str::<Value>(data) {
            Ok(event) => self.event(event),
            Err(_) => self.spoil(Spoilt::Undecodable),
        }
    }

    fn event(&mut self, mut event: Value) {
        self.began = true;
        if event["error"].is_string() || event["error"].is_object() {
            self.spoil(Spoilt::Error);
            return;
        }
        if event["message"].is_object() {
            self.whole(event["message"].take());
        } else if event.get("v").is_some() && event.get("type").is_none() {
            if let Some(op) = event["o"].as_str() {
                self.op = op.to_owned();
            }
            if let Some(path) = event["p"].as_str() {
                self.path = path.to_owned();
            }
            let value = event["v"].take();
            let (op, path) = (self.op.clone(), self.path.clone());
            if self.apply(&op, &path, value, 0).is_none() {
                self.spoil(Spoilt::Undecodable);
            }
        }
        // Anything else (version notes, titles, markers) is not of the text.
    }

    /// A message as it stands so far.
    fn whole(&mut self, message: Value) {
        let id = message["id"].as_str().unwrap_or_default().to_owned();
        let known = self.messages.iter().position(|one| one["id"] == id);
        // A message may get another id as it finishes: it is the one that was
        // growing, under a text that goes on from there.
        let renamed = || {
            let last = self.messages.last()?;
            let grows = is_answer(last) && is_answer(&message) && !is_finished(last);
            let goes_on = part_of(&message)?.starts_with(part_of(last)?);
            let same = last["metadata"]["is_variant"] == message["metadata"]["is_variant"];
            (grows && goes_on && same).then_some(self.messages.len() - 1)
        };
        match known.or_else(renamed) {
            Some(at) => self.messages[at] = message,
            None => self.push(message),
        }
    }

    fn push(&mut self, message: Value) {
        if self.messages.len() == MESSAGES_MAX {
            self.messages.remove(0);
        }
        self.messages.push(message);
    }

    fn apply(&mut self, op: &str, path: &str, mut value: Value, depth: u8) -> Option<()> {
        if op == "patch" || (value.is_array() && op.is_empty()) {
            if depth > 2 {
                return None;
            }
            for change in value.as_array_mut()? {
                let op = change["o"].as_str()?.to_owned();
                let path = format!("{path}{}", change["p"].as_str().unwrap_or_default());
                self.apply(&op, &path, change["v"].take(), depth + 1)?;
            }
            return Some(());
        }
        if path.is_empty() {
            if value["message"].is_object() {
                self.push(value["message"].take());
            }
            return Some(());
        }
        // What follows a whole-message event is more of its text.
        let within = path.strip_prefix("/message")?;
        let message = self.messages.last_mut()?;
        match op {
            "append" | "" => append(place(message, within)?, value),
            "replace" | "add" => {
                *place(message, within)? = value;
                Some(())
            }
            "truncate" => {
                let Value::String(text) = place(message, within)? else {
                    return None;
                };
                let keep = usize::try_from(value.as_u64()?).ok()?;
                let at = text
                    .char_indices()
                    .nth(keep)
                    .map_or(text.len(), |(at, _)| at);
                text.truncate(at);
                Some(())
            }
            "remove" => {
                *place(message, within)? = Value::Null;
                Some(())
            }
            _ => None,
        }
    }
}

/// The place that a path names; the last step is made where it is missing.
fn place<'a>(root: &'a mut Value, path: &str) -> Option<&'a mut Value> {
    let Some((parent, last)) = path.rsplit_once('/') else {
        return Some(root);
    };
    match root.pointer_mut(parent)? {
        Value::Object(map) => Some(map.entry(last.to_owned()).or_insert(Value::Null)),
        Value::Array(list) => {
            let at: usize = last.parse().ok()?;
            if at == list.len() && at < 64 {
                list.push(Value::Null);
            }
            list.get_mut(at)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

fn append(place: &mut Value, value: Value) -> Option<()> {
    match (place, value) {
        (Value::String(text), Value::String(more)) => text.push_str(&more),
        (Value::Array(list), Value::Array(more)) => list.extend(more),
        (Value::Array(list), more) => list.push(more),
        (Value::Object(map), Value::Object(more)) => map.extend(more),
        (place, value) if place.is_null() => *place = value,
        _ => return None,
    }
    Some(())
}

fn part_of(message: &Value) -> Option<&str> {
    message["content"]["parts"][0].as_str()
}

fn is_answer(message: &Value) -> bool {
    let role = &message["author"]["role"];
    let to_all = message["recipient"].is_null() || message["recipient"] == "all";
    role == "assistant" && message["content"]["content_type"] == "text" && to_all
}

fn is_finished(message: &Value) -> bool {
    message["status"] == "finished_successfully"
}

/// Whether the page's request carries our whole text, as one of its strings,
/// and names no other conversation than ours.
fn carries_text(body: &str, ours: &str, conversation: Option<&ConversationId>) -> bool {
    fn holds(value: &Value, ours: &str, depth: u8) -> bool {
        match value {
            Value::String(text) => text.len() >= ours.len() && canonical(text) == ours,
            Value::Array(list) if depth < REQUEST_DEPTH_MAX => {
                list.iter().any(|one| holds(one, ours, depth + 1))
            }
            Value::Object(map) if depth < REQUEST_DEPTH_MAX => {
                map.values().any(|one| holds(one, ours, depth + 1))
            }
            Value::Array(_) | Value::Object(_) => false,
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }
    let ours = canonical(ours);
    serde_json::from_str::<Value>(body).is_ok_and(|body| {
        let named = body["conversation_id"].as_str();
        let elsewhere = named.is_some_and(|named| conversation.is_some_and(|id| id.0 != named));
        !elsewhere && holds(&body, &ours, 0)
    })
}

#[cfg(test)]
mod tests;
