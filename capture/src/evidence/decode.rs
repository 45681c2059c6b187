//! The events of one stream, decoded.
//!
//! Known encodings (2026): events that carry the whole message so far, and
//! deltas that name a place in it (`p`), an operation (`o`) and a value (`v`),
//! where what is left out is as in the event before. `[DONE]` ends it.

use protocol::page::StreamEnd;
use serde_json::Value;

use super::weight;

/// Messages of one stream kept at a time; older ones are forgotten.
pub(super) const MESSAGES_MAX: usize = 32;
/// Bytes of payload taken in; over it the text counts for nothing.
pub(super) const TAKEN_BYTES_MAX: usize = 64 << 20;

/// One stream as far as it came.
#[derive(Debug, Clone)]
pub(super) struct Decoder {
    /// Each with the bytes that it may hold by now.
    messages: Vec<(Value, usize)>,
    /// Where the next delta applies if it does not say.
    path: String,
    op: String,
    taken: usize,
    held_max: usize,
    pub(super) done: bool,
    /// Why the text counts for nothing, if it does.
    pub(super) spoilt: Option<Spoilt>,
    pub(super) began: bool,
    /// The transport's own end, if it came.
    pub(super) closed: Option<StreamEnd>,
    /// Our side's message, as the server says that it took it.
    pub(super) echo: Option<String>,
    /// The conversation that the stream names.
    pub(super) conversation: Option<String>,
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

impl Decoder {
    /// Nothing came yet; so many bytes of it may be held.
    pub(super) fn new(held_max: usize) -> Self {
        Self {
            messages: Vec::new(),
            path: String::new(),
            op: String::new(),
            taken: 0,
            held_max,
            done: false,
            spoilt: None,
            began: false,
            closed: None,
            echo: None,
            conversation: None,
        }
    }

    /// The same stream with more room.
    pub(super) fn with_room(mut self, held_max: usize) -> Self {
        self.held_max = held_max;
        self
    }

    /// Bytes that are held, by and large.
    pub(super) fn held(&self) -> usize {
        let messages: usize = self.messages.iter().map(|(_, held)| *held).sum();
        let said = [&self.echo, &self.conversation].into_iter().flatten();
        let texts = said.chain([&self.path, &self.op]).map(String::len);
        messages + texts.sum::<usize>()
    }

    pub(super) fn spoil(&mut self, why: Spoilt) {
        self.spoilt = self.spoilt.or(Some(why));
        match why {
            Spoilt::Ambiguous => self.spoilt = Some(why),
            Spoilt::Incomplete => {
                self.messages.clear();
                (self.echo, self.conversation) = (None, None);
                (self.path, self.op) = (String::new(), String::new());
            }
            Spoilt::Undecodable | Spoilt::CutOff | Spoilt::Error => {}
        }
    }

    /// The reply's Markdown, where the stream carried all of it.
    pub(super) fn text(&self) -> Option<String> {
        if self.spoilt.is_some() {
            return None;
        }
        text_of(self.answer()?)
    }

    /// The server stopped the reply for its length (C8).
    pub(super) fn is_truncated(&self) -> bool {
        self.answer().is_some_and(is_cut_for_length)
    }

    /// How many replies to our one message the stream carries.
    pub(super) fn variants(&self) -> u32 {
        let others = self
            .messages
            .iter()
            .map(|(message, _)| message)
            .filter(|message| is_answer(message) && message["metadata"]["is_variant"] == true);
        1 + u32::try_from(others.count()).unwrap_or(u32::MAX - 1)
    }

    /// The last message that is an answer to us, not a thought, a tool's call
    /// or a preamble.
    pub(super) fn answer(&self) -> Option<&Value> {
        let answers = || {
            self.messages
                .iter()
                .rev()
                .map(|(message, _)| message)
                .filter(|message| is_answer(message) && message["metadata"]["is_variant"] != true)
        };
        answers()
            .find(|message| message["channel"] == "final")
            .or_else(|| answers().find(|message| message["channel"].is_null()))
    }

    /// Takes one event's data in.
    pub(super) fn data(&mut self, data: &str) {
        let data = data.trim();
        if data == "[DONE]" {
            self.done = true;
            return;
        }
        if self.done || data.is_empty() {
            return;
        }
        self.taken = self.taken.saturating_add(data.len());
        if self.taken > TAKEN_BYTES_MAX || self.held() + data.len() > self.held_max {
            self.spoil(Spoilt::Incomplete);
        }
        if self.spoilt.is_some() {
            return;
        }
        match serde_json::from_str::<Value>(data) {
            Ok(event) => self.event(event),
            Err(_) => self.spoil(Spoilt::Undecodable),
        }
        // Decoded it may weigh many times what it did as text.
        if self.held() > self.held_max {
            self.spoil(Spoilt::Incomplete);
        }
    }

    fn event(&mut self, mut event: Value) {
        self.began = true;
        if let Some(id) = event["conversation_id"].as_str()
            && self.conversation.is_none()
        {
            self.conversation = Some(id.to_owned());
        }
        if event["type"] == "input_message" {
            self.heard(&event["input_message"]);
        }
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
        self.heard(&message);
        let id = message["id"].as_str().unwrap_or_default().to_owned();
        let known = self.messages.iter().position(|(one, _)| one["id"] == id);
        // A message may get another id as it finishes: it is the one that was
        // growing, under a text that goes on from there.
        let renamed = || {
            let (last, _) = self.messages.last()?;
            let grows = is_answer(last) && is_answer(&message) && !is_finished(last);
            let goes_on = part_of(&message)?.starts_with(part_of(last)?);
            let same = last["metadata"]["is_variant"] == message["metadata"]["is_variant"];
            (grows && goes_on && same).then_some(self.messages.len() - 1)
        };
        match known.or_else(renamed) {
            Some(at) => self.messages[at] = weighed(message),
            None => self.push(message),
        }
    }

    fn push(&mut self, message: Value) {
        if self.messages.len() == MESSAGES_MAX {
            self.messages.remove(0);
        }
        self.messages.push(weighed(message));
    }

    /// A message of the person's side: which one this stream answers.
    fn heard(&mut self, message: &Value) {
        if message["author"]["role"] == "user"
            && let Some(text) = part_of(message)
        {
            self.echo = Some(text.to_owned());
        }
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
                self.heard(&value["message"]);
                self.push(value["message"].take());
            }
            return Some(());
        }
        // What follows a whole-message event is more of its text.
        let within = path.strip_prefix("/message")?;
        let (message, held) = self.messages.last_mut()?;
        // What is taken away again still counts: that is rare.
        let more = value
            .as_str()
            .map_or_else(|| path.len() + weight::of_value(&value), str::len);
        *held = held.saturating_add(more);
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

fn weighed(message: Value) -> (Value, usize) {
    let held = weight::of_value(&message);
    (message, held)
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

pub(crate) fn is_answer(message: &Value) -> bool {
    let role = &message["author"]["role"];
    let to_all = message["recipient"].is_null() || message["recipient"] == "all";
    role == "assistant" && message["content"]["content_type"] == "text" && to_all
}

pub(crate) fn is_finished(message: &Value) -> bool {
    message["status"] == "finished_successfully"
}

/// The Markdown of a message's parts.
pub(crate) fn text_of(message: &Value) -> Option<String> {
    let mut text = String::new();
    for part in message["content"]["parts"].as_array()? {
        text.push_str(part.as_str()?);
    }
    (!text.is_empty()).then_some(text)
}

/// The server stopped the message for its length (C8).
pub(crate) fn is_cut_for_length(message: &Value) -> bool {
    message["status"] == "finished_partial_completion"
        || message["metadata"]["finish_details"]["type"] == "max_tokens"
}
