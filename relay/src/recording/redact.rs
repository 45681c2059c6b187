//! Makes what a person or a model wrote unreadable and keeps its shape.
//!
//! Each character becomes one of its kind (`x`, `X`, `字`, `1`), wherever it stands. So
//! equal texts stay equal, a text in pieces is the same as in one, lengths and Markdown
//! stay, and nothing can be read back. Ids become other ids, the same ones each time.
//! Of JSON only known fields are kept, so that whatever else the page sends or receives
//! is left out, and of HTML no attribute but known ones keeps its value.

use std::collections::HashMap;

use serde_json::{Map, Value};

mod html;

/// The mapping of one recording.
#[derive(Debug, Default)]
pub struct Redactor {
    ids: HashMap<String, String>,
    prints: HashMap<String, String>,
    requests: HashMap<String, String>,
}

/// Ids and prints that are told apart; over it the rest become the last one.
const NAMES_MAX: usize = 100_000;
/// How deep JSON is followed.
const DEPTH_MAX: u8 = 24;

/// Fields whose text is kept: words of the site's own, in small letters.
const WORDS: &[&str] = &[
    "role",
    "content_type",
    "status",
    "channel",
    "recipient",
    "type",
    "action",
    "p",
    "o",
];
/// Fields of a look or an answer whose text is one of our own words.
const OURS: &[&str] = &[
    "key",
    "place",
    "layout",
    "role",
    "send",
    "t",
    "tag",
    "kind",
    "answer",
    "submitted",
    "refused",
    "failed",
    "browser",
    "renderer",
];
/// Fields that hold an id.
const IDS: &[&str] = &[
    "id",
    "conversation_id",
    "parent_message_id",
    "message_id",
    "parent",
    "current_node",
    "settled",
    "turn",
];
/// Fields that hold something with more fields, texts, numbers or truths.
const OTHERS: &[&str] = &[
    "message",
    "messages",
    "author",
    "content",
    "parts",
    "text",
    "v",
    "c",
    "metadata",
    "finish_details",
    "end_turn",
    "is_variant",
    "is_complete",
    "weight",
    "error",
    "input_message",
    "mapping",
    "children",
    "thoughts",
    "summary",
    "result",
    "body",
];

impl Redactor {
    /// A text, character by character.
    #[must_use]
    pub fn text(&self, text: &str) -> String {
        text.chars().map(shape).collect()
    }

    /// An id: another one, of the same form.
    pub fn id(&mut self, id: &str) -> String {
        if let Some(known) = self.ids.get(id) {
            return known.clone();
        }
        let n = self.ids.len().min(NAMES_MAX) + 1;
        let made = if is_uuid(id) {
            format!("00000000-0000-4000-8000-{n:012}")
        } else if id.starts_with("WEB:") || id.starts_with("local") || id.starts_with("client-") {
            format!("local-{n}")
        } else {
            format!("id-{n:06}")
        };
        if self.ids.len() < NAMES_MAX {
            self.ids.insert(id.to_owned(), made.clone());
        }
        made
    }

    /// A fingerprint: only whether it is the same one is kept.
    fn print(&mut self, print: &str) -> String {
        named(&mut self.prints, print, "p")
    }

    fn request(&mut self, request: &str) -> String {
        named(&mut self.requests, request, "r")
    }

    /// An address: the place of the site, with other ids.
    pub fn address(&mut self, address: &str) -> String {
        let path = address.find("://").map_or(address, |at| {
            let rest = &address[at + 3..];
            rest.find('/').map_or("/", |at| &rest[at..])
        });
        let path = path.split(['?', '#']).next().unwrap_or_default();
        let parts: Vec<String> = path
            .split('/')
            .map(|part| match part {
                "" | "c" | "g" | "auth" | "login" | "share" | "backend-api" | "f"
                | "conversation" | "resume" => part.to_owned(),
                other => self.id(other),
            })
            .collect();
        format!("https://chat.example{}", parts.join("/"))
    }

    /// An observation of the driver, as JSON.
    #[must_use]
    pub fn observation(&mut self, mut observation: Value) -> Value {
        let what = &mut observation["what"];
        if let Some(stream) = what.get_mut("stream") {
            self.stream(stream);
        } else if let Some(attached) = what.get_mut("attached") {
            self.address_in(attached);
            attached["target"] = "tab".into();
        } else if let Some(lost) = what.get_mut("lost") {
            blank(lost, "detail");
        } else if let Some(dialog) = what.get_mut("dialog") {
            self.text_in(dialog, "message");
        } else if let Some(malformed) = what.get_mut("malformed") {
            malformed["why"] = "".into();
        } else {
            // Looks and answers: a shape that is known, with texts at known places.
            self.shown(what, 0);
        }
        observation
    }

    fn stream(&mut self, stream: &mut Value) {
        if let Some(request) = stream["request"].as_str() {
            stream["request"] = self.request(request).into();
        }
        let event = &mut stream["event"];
        for (kind, field) in [("sent", "body"), ("data", "data"), ("fetched", "body")] {
            let Some(inside) = event.get_mut(kind) else {
                continue;
            };
            if let Some(url) = inside["url"].as_str() {
                inside["url"] = self.address(url).into();
            }
            if let Some(data) = inside[field].as_str() {
                inside[field] = self.data(data).into();
            }
        }
    }

    /// What the page sent or received: JSON, an end mark, or neither.
    #[must_use]
    pub fn data(&mut self, data: &str) -> String {
        if data.trim() == "[DONE]" {
            return data.to_owned();
        }
        match serde_json::from_str::<Value>(data) {
            Ok(value) => self.known(&value, "v", 0).to_string(),
            Err(_) => self.text(data),
        }
    }

    /// A value under a field, with only what is known in it.
    fn known(&mut self, value: &Value, field: &str, depth: u8) -> Value {
        match value {
            _ if depth > DEPTH_MAX => Value::Null,
            Value::Null | Value::Bool(_) => value.clone(),
            Value::Number(number) => match number.as_u64() {
                Some(small) if small < 1_000_000 => value.clone(),
                Some(_) | None => 0.into(),
            },
            Value::String(text) if IDS.contains(&field) || field == "children" => {
                self.id(text).into()
            }
            Value::String(text) if WORDS.contains(&field) && is_word(text) => value.clone(),
            // The path of a change ends in the name of what changes.
            Value::String(text) if field == "/message/id" => self.id(text).into(),
            Value::String(text) if field == "/message/status" && is_word(text) => value.clone(),
            Value::String(text) if text == "v1" => value.clone(),
            Value::String(text) => self.text(text).into(),
            Value::Array(items) => {
                let known = items.iter().map(|one| self.known(one, field, depth + 1));
                Value::Array(known.collect())
            }
            Value::Object(fields) => self.fields(fields, field, depth),
        }
    }

    fn fields(&mut self, fields: &Map<String, Value>, within: &str, depth: u8) -> Value {
        let mut out = Map::new();
        let path = fields.get("p").and_then(Value::as_str).unwrap_or_default();
        let path = path.to_owned();
        for (key, value) in fields {
            let is_known = [WORDS, IDS, OTHERS]
                .iter()
                .any(|known| known.contains(&key.as_str()));
            if within == "mapping" {
                let key = self.id(key);
                out.insert(key, self.known(value, "node", depth + 1));
            } else if is_known {
                let field = if key == "v" && !path.is_empty() {
                    path.as_str()
                } else {
                    key
                };
                out.insert(key.clone(), self.known(value, field, depth + 1));
            }
        }
        Value::Object(out)
    }

    /// What the observer or a command's answer says.
    fn shown(&mut self, value: &mut Value, depth: u8) {
        if depth > DEPTH_MAX.saturating_mul(4) {
            *value = Value::Null;
            return;
        }
        match value {
            Value::Array(items) => items.iter_mut().for_each(|one| self.shown(one, depth + 1)),
            Value::Object(fields) => {
                for (key, value) in fields.iter_mut() {
                    match (key.as_str(), &*value) {
                        ("print", Value::String(print)) => *value = self.print(print).into(),
                        ("address", Value::String(address)) => {
                            *value = self.address(address).into()
                        }
                        ("transient" | "conversation" | "settled" | "turn", Value::String(id)) => {
                            *value = self.id(id).into();
                        }
                        // The number of a list's first item stands in its text, too.
                        ("start", Value::Number(start)) => {
                            let shown: String = start.to_string().chars().map(shape).collect();
                            *value = shown.parse::<u32>().unwrap_or(1).into();
                        }
                        (key, Value::String(text)) => {
                            let keep = OURS.contains(&key);
                            if !(keep && is_word(text) || key == "mark") {
                                *value = self.text(text).into();
                            }
                        }
                        ("missing", _) => {}
                        (_, _) => self.shown(value, depth + 1),
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
            // A name of a variant, such as a place or a key.
            Value::String(text) => {
                if !is_word(text) {
                    *text = text.chars().map(shape).collect();
                }
            }
        }
    }

    fn address_in(&mut self, value: &mut Value) {
        if let Some(address) = value["address"].as_str() {
            value["address"] = self.address(address).into();
        }
    }

    fn text_in(&self, value: &mut Value, field: &str) {
        if let Some(text) = value[field].as_str() {
            value[field] = self.text(text).into();
        }
    }
}

fn named(names: &mut HashMap<String, String>, name: &str, letter: &str) -> String {
    if let Some(known) = names.get(name) {
        return known.clone();
    }
    let made = format!("{letter}{}", names.len() + 1);
    if names.len() < NAMES_MAX {
        names.insert(name.to_owned(), made.clone());
    }
    made
}

fn blank(value: &mut Value, field: &str) {
    match value {
        Value::Object(fields) => {
            for (key, inner) in fields.iter_mut() {
                if key == field {
                    *inner = "".into();
                } else {
                    blank(inner, field);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {}
    }
}

/// The character that stands for all of its kind. Punctuation, white space and marks of
/// the site stay as they are.
fn shape(char: char) -> char {
    match char {
        _ if char.is_ascii_digit() => '1',
        _ if char.is_lowercase() => 'x',
        _ if char.is_uppercase() => 'X',
        _ if char.is_alphabetic() => '字',
        _ if char.is_numeric() => '1',
        _ => char,
    }
}

/// A word of the site's own or of ours, and nobody's text.
fn is_word(text: &str) -> bool {
    text.len() <= 60
        && text.bytes().all(|byte| {
            byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-/".contains(&byte)
        })
        && !text.bytes().all(|byte| byte.is_ascii_digit())
        || text.is_empty()
}

fn is_uuid(id: &str) -> bool {
    id.len() == 36
        && id.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

#[cfg(test)]
mod tests;
