//! Gathers a recording of a live session: what the driver says, and the HTML of the
//! reply once it is finished.

use fixtures::{
    server::Layout,
    timeline::{LINES_MAX, Line, Source, What as Said},
};
use protocol::page::{Look, Observation, Place, Role, StreamEvent, TurnId, TurnKey, What};
use serde_json::{Value, json};

use super::redact::Redactor;

/// The most that is kept, as JSON in bytes.
const BYTES_MAX: usize = 64 << 20;
/// Longest line that is kept, under what a timeline's may have.
const LINE_BYTES_MAX: usize = 3 << 20;
/// How deep a request's body is searched for our text.
const DEPTH_MAX: u8 = 12;

/// A recording that is being made.
#[derive(Debug, Default)]
pub struct Recorder {
    lines: Vec<Line>,
    bytes: usize,
    full: bool,
    layout: Option<Layout>,
    /// The conversation and the last turn before our message.
    before: Option<(Option<String>, Option<TurnId>)>,
    message: Option<Message>,
    last: Option<Box<Look>>,
    html_of: Option<(TurnId, String)>,
}

#[derive(Debug)]
struct Message {
    /// In front of which line it stands.
    at: usize,
    t_ms: u64,
    text: String,
    anchor: Option<TurnId>,
    conversation: Option<String>,
    earlier: bool,
}

impl Recorder {
    /// Takes one observation. Gives a turn whose HTML is worth having now.
    pub fn observe(&mut self, t_ms: u64, observation: &Observation) -> Option<TurnId> {
        if let What::Stream(report) = &observation.what
            && let StreamEvent::Sent {
                body: Some(body), ..
            } = &report.event
            && self.message.is_none()
            && let Some(text) = said(body.as_str())
        {
            let (conversation, anchor) = self.before.clone().unwrap_or_default();
            self.message = Some(Message {
                at: self.lines.len(),
                t_ms,
                text,
                anchor,
                conversation,
                earlier: false,
            });
        }
        self.keep(t_ms, observation);
        let What::Look(look) = &observation.what else {
            return None;
        };
        self.look(look)
    }

    /// Takes the HTML of a turn.
    pub fn html(&mut self, t_ms: u64, turn: &TurnId, html: &str) {
        let line = Line {
            t_ms,
            what: Said::Html {
                turn: turn.0.clone(),
                html: html.to_owned(),
            },
        };
        self.push(line, html.len());
    }

    /// Whether no more can be kept.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.full
    }

    fn look(&mut self, look: &Look) -> Option<TurnId> {
        self.layout = self.layout.or(match look.layout.as_deref() {
            Some("classic") => Some(Layout::Classic),
            Some("keyed") => Some(Layout::Keyed),
            Some(_) | None => None,
        });
        if self.message.is_none() && look.hydrated {
            let conversation = match &look.place {
                Place::Conversation(id) => Some(id.0.clone()),
                Place::Fresh | Place::Transient(_) | Place::Elsewhere => None,
            };
            // Our own turn may come up a moment before its request is heard of.
            let replies = look.tail.iter().rev();
            let last = replies
                .filter(|turn| turn.role == Role::Assistant)
                .find_map(|turn| turn.key.settled());
            self.before = Some((conversation, last.cloned()));
        }
        self.last = Some(Box::new(look.clone()));
        let turn = look.tail.last()?;
        let reply = turn.reply.as_ref().filter(|reply| reply.bar)?;
        let TurnKey::Settled(id) = &turn.key else {
            return None;
        };
        let now = Some((id.clone(), reply.print.clone()));
        if self.html_of == now {
            return None;
        }
        self.html_of = now;
        Some(id.clone())
    }

    fn keep(&mut self, t_ms: u64, observation: &Observation) {
        let value = json!(observation);
        let bytes = value.to_string().len();
        let what = Said::Observation { observation: value };
        self.push(Line { t_ms, what }, bytes);
    }

    fn push(&mut self, line: Line, bytes: usize) {
        let fits = self.bytes + bytes <= BYTES_MAX && self.lines.len() + 8 < LINES_MAX;
        self.full |= !fits;
        if self.full {
            return;
        }
        let line = if bytes <= LINE_BYTES_MAX {
            line
        } else {
            let text = format!("{bytes} bytes were left out here");
            Line {
                t_ms: line.t_ms,
                what: Said::Note { text },
            }
        };
        self.bytes += bytes.min(LINE_BYTES_MAX);
        self.lines.push(line);
    }

    /// The timeline; none where no message of our side was seen at all. Texts are made
    /// unreadable unless they are to be kept.
    #[must_use]
    pub fn finish(mut self, t_ms: u64, keep_text: bool) -> Option<Vec<Line>> {
        let message = self.message.take().or_else(|| self.earlier())?;
        let mut redactor = (!keep_text).then(Redactor::default);
        let mut id = |id: &str| match &mut redactor {
            Some(redactor) => redactor.id(id),
            None => id.to_owned(),
        };
        let conversation = message.conversation.as_deref().map(&mut id);
        let anchor = message.anchor.as_ref().map(|turn| id(&turn.0));
        let text = match &redactor {
            Some(redactor) => redactor.text(&message.text),
            None => message.text,
        };
        let mut lines = vec![Line {
            t_ms: 0,
            what: Said::Begin {
                layout: self.layout.unwrap_or_default(),
                source: self.source(),
                about: "Recorded from a live session.".to_owned(),
                lang: None,
                code: None,
                conversation,
            },
        }];
        for (at, line) in self.lines.into_iter().enumerate() {
            if at == message.at {
                lines.push(our_message(
                    message.t_ms,
                    &text,
                    anchor.as_ref(),
                    message.earlier,
                ));
            }
            lines.push(match &mut redactor {
                Some(redactor) => redacted(redactor, line),
                None => line,
            });
        }
        let end_ms = lines.last().map_or(0, |line| line.t_ms).max(t_ms);
        lines.push(Line {
            t_ms: end_ms,
            what: Said::End,
        });
        Some(lines)
    }

    /// Nobody serves the real page from this machine.
    fn source(&self) -> Source {
        let address = self.last.as_ref().map(|look| look.address.as_str());
        let url = address.and_then(|address| reqwest::Url::parse(address).ok());
        let host = url.as_ref().and_then(|url| url.host_str());
        match host {
            Some("127.0.0.1" | "localhost" | "[::1]") => Source::Standin,
            Some(_) | None => Source::Real,
        }
    }

    /// The message whose reply was under way, or there, when the recording began.
    fn earlier(&self) -> Option<Message> {
        let tail = &self.last.as_ref()?.tail;
        let at = tail.iter().rposition(|turn| turn.role == Role::User)?;
        let anchor = at.checked_sub(1).and_then(|at| tail[at].key.settled());
        let (conversation, _) = self.before.clone().unwrap_or_default();
        Some(Message {
            at: 0,
            t_ms: 0,
            text: tail[at].text.as_str().to_owned(),
            anchor: anchor.cloned(),
            conversation,
            earlier: true,
        })
    }
}

fn our_message(t_ms: u64, text: &str, anchor: Option<&String>, earlier: bool) -> Line {
    Line {
        t_ms,
        what: Said::Message {
            text: text.to_owned(),
            anchor: anchor.cloned(),
            earlier,
        },
    }
}

fn redacted(redactor: &mut Redactor, line: Line) -> Line {
    let what = match line.what {
        Said::Observation { observation } => Said::Observation {
            observation: redactor.observation(observation),
        },
        Said::Html { turn, html } => Said::Html {
            turn: redactor.id(&turn),
            html: redactor.html(&html),
        },
        // Our own remarks.
        other @ (Said::Note { .. }
        | Said::Begin { .. }
        | Said::Page(_)
        | Said::Command { .. }
        | Said::Message { .. }
        | Said::Stream { .. }
        | Said::Refuse { .. }
        | Said::StreamEnd { .. }
        | Said::End) => other,
    };
    Line { what, ..line }
}

/// Our text in the page's own request: the last one under `parts`.
fn said(body: &str) -> Option<String> {
    fn parts(value: &Value, depth: u8) -> Option<String> {
        match value {
            Value::Object(fields) if depth < DEPTH_MAX => {
                if let Some(Value::Array(parts)) = fields.get("parts") {
                    let texts: Vec<&str> = parts.iter().filter_map(Value::as_str).collect();
                    if !texts.is_empty() {
                        return Some(texts.join("\n"));
                    }
                }
                fields.values().rev().find_map(|one| parts_of(one, depth))
            }
            Value::Array(items) if depth < DEPTH_MAX => {
                items.iter().rev().find_map(|one| parts_of(one, depth))
            }
            Value::Object(_) | Value::Array(_) => None,
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
        }
    }
    fn parts_of(value: &Value, depth: u8) -> Option<String> {
        parts(value, depth + 1)
    }
    parts(&serde_json::from_str(body).ok()?, 0)
}
