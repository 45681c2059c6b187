//! The page's own request that carries our message, and the stream that
//! answers it. Pure: it takes what the network told and says what to report
//! and what to ask. Sockets are in `socket`, fetched data in `fetch`.

use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use protocol::page::{StreamEnd, StreamEvent, StreamReport};
use protocol::text::Private;

pub(crate) use super::fetch::DATA_BYTES_MAX;
use super::fetch::Fetches;
use super::net::{Method, Net, Told};
use super::sse::{Out, Sse};
use crate::choose::bare;
use crate::limits::Limits;

/// Streams that are followed at a time.
const STREAMS_MAX: usize = 16;

/// What to do about it.
#[derive(Debug, PartialEq)]
pub(crate) enum Step {
    /// Report this.
    Report(StreamReport),
    /// Ask for the request's body.
    AskBody(String),
    /// Ask for the answer's content as it comes.
    AskContent(String),
    /// Ask for the whole content, now that the answer has ended.
    AskWhole(String),
    /// Ask for the data that the page fetched.
    AskData(String),
    /// Report that something did not parse.
    Malformed {
        /// Its size in bytes.
        len: u64,
        /// What was wrong.
        why: &'static str,
    },
}

#[derive(Debug)]
pub(super) enum Phase {
    /// No answer yet.
    Asked,
    /// The content was asked for; what came before its first part is kept.
    Opening { held: Vec<u8> },
    /// The content comes with the events.
    Flowing,
    /// The content cannot be had while it comes.
    Blind,
    /// The answer carries no event stream.
    Plain,
    /// A web socket, or one reply of one: whether its frames are pieces of an
    /// event stream, once one came.
    Socket {
        events: Option<bool>,
        of: Option<String>,
    },
}

#[derive(Debug)]
pub(super) struct Stream {
    pub(super) phase: Phase,
    sse: Sse,
    pub(super) bytes: usize,
    /// The how-manyth it is.
    pub(super) nth: u64,
    /// The request's body is asked for: nothing is reported before it.
    body_for: Option<String>,
    /// Reports that wait for the body.
    held: Vec<StreamEvent>,
    /// The transport ended while the content was still asked for.
    end: Option<StreamEnd>,
    pub(super) over: bool,
}

/// The streams of one epoch.
#[derive(Debug)]
pub(crate) struct Streams {
    paths: Vec<String>,
    frame: String,
    pub(super) limits: Limits,
    pub(super) open: HashMap<String, Stream>,
    fetches: Fetches,
    begun: u64,
}

impl Streams {
    pub(crate) fn new(paths: Vec<String>, frame: String, limits: Limits) -> Self {
        Self {
            paths,
            frame,
            limits,
            open: HashMap::new(),
            fetches: Fetches::default(),
            begun: 0,
        }
    }

    fn ours(&self, url: &str) -> bool {
        let path = path_of(url);
        self.paths.iter().any(|p| path.contains(p.as_str()))
    }

    /// Whether a fetch from there gives a conversation as a whole: a path that
    /// we follow, and at most one more step.
    fn is_data(&self, url: &str) -> bool {
        let path = path_of(url);
        self.paths.iter().any(|p| {
            path.find(p.as_str())
                .is_some_and(|at| !path[at + p.len()..].trim_matches('/').contains('/'))
        })
    }

    /// Takes in what the network told.
    pub(crate) fn told(&mut self, net: Net) -> Vec<Step> {
        let id = net.request;
        if self.fetches.knows(&id) {
            return self.fetches.told(id, &net.what);
        }
        match net.what {
            Told::Asked {
                frame,
                method,
                url,
                body,
                has_body,
            } => {
                let here = frame.is_none_or(|f| f == self.frame);
                if method == Method::Get && here && self.is_data(&url) {
                    self.fetches.begin(id, bare(&url));
                    return Vec::new();
                }
                // The second of a redirect is the same request.
                if method != Method::Post
                    || !here
                    || !self.ours(&url)
                    || self.open.contains_key(&id)
                {
                    return Vec::new();
                }
                let unknown_body = body.is_none() && has_body;
                let sent = StreamEvent::Sent {
                    url: bare(&url),
                    body: body.map(Private::from),
                };
                if !self.begin(&id, Phase::Asked) {
                    return report(&id, StreamEvent::End(StreamEnd::Overflow));
                }
                if unknown_body {
                    if let Some(stream) = self.open.get_mut(&id) {
                        stream.body_for = Some(bare(&url));
                    }
                    return vec![Step::AskBody(id)];
                }
                report(&id, sent)
            }
            Told::SocketOpened { url } => {
                if !self.ours(&url) || self.open.contains_key(&id) {
                    return Vec::new();
                }
                if !self.begin(
                    &id,
                    Phase::Socket {
                        events: None,
                        of: None,
                    },
                ) {
                    return report(&id, StreamEvent::End(StreamEnd::Overflow));
                }
                let url = bare(&url);
                report(&id, StreamEvent::Sent { url, body: None })
            }
            Told::Frame {
                sent,
                text,
                payload,
            } => self.frame(&id, sent, text, payload),
            Told::Answered { status, mime } => self.answered(id, status, &mime),
            Told::Bytes(coded) => {
                let Some(stream) = self.open.get_mut(&id) else {
                    return Vec::new();
                };
                let Ok(bytes) = STANDARD.decode(&coded) else {
                    return vec![Step::Malformed {
                        len: coded.len() as u64,
                        why: "not base64",
                    }];
                };
                match &mut stream.phase {
                    Phase::Opening { held } => {
                        held.extend_from_slice(&bytes);
                        Vec::new()
                    }
                    Phase::Flowing => self.content(&id, &bytes),
                    Phase::Asked | Phase::Blind | Phase::Plain | Phase::Socket { .. } => Vec::new(),
                }
            }
            Told::Passed(_) => Vec::new(),
            Told::Ended(end) => self.ended(id, end),
        }
    }

    /// The data that the page fetched, or that it could not be had.
    pub(crate) fn data(&mut self, id: &str, body: Option<Vec<u8>>) -> Vec<Step> {
        self.fetches.data(id, body)
    }

    /// The request's body, or that it could not be had.
    pub(crate) fn body(&mut self, id: &str, body: Option<String>) -> Vec<Step> {
        let Some(stream) = self.open.get_mut(id) else {
            return Vec::new();
        };
        let Some(url) = stream.body_for.take() else {
            return Vec::new();
        };
        let body = body.map(Private::from);
        let held = std::mem::take(&mut stream.held);
        let mut steps = report(id, StreamEvent::Sent { url, body });
        for event in held {
            let last = matches!(event, StreamEvent::End(_));
            steps.extend(report(id, event));
            if last {
                self.open.remove(id);
            }
        }
        steps
    }

    /// The first part of the content (base64), or that it cannot be had as it comes.
    pub(crate) fn opened(&mut self, id: &str, first: Option<String>) -> Vec<Step> {
        let Some(stream) = self.open.get_mut(id) else {
            return Vec::new();
        };
        let Phase::Opening { held } = &mut stream.phase else {
            return Vec::new();
        };
        let held = std::mem::take(held);
        let end = stream.end;
        match first.and_then(|coded| STANDARD.decode(coded).ok()) {
            Some(mut bytes) => {
                stream.phase = Phase::Flowing;
                bytes.extend_from_slice(&held);
                let mut steps = self.content(id, &bytes);
                if let Some(end) = end {
                    steps.extend(self.close(id, end));
                }
                steps
            }
            None => {
                stream.phase = Phase::Blind;
                match end {
                    Some(_) => vec![Step::AskWhole(id.to_owned())],
                    None => Vec::new(),
                }
            }
        }
    }

    /// The whole content after the end, or that it could not be had.
    pub(crate) fn whole(&mut self, id: &str, content: Option<Vec<u8>>) -> Vec<Step> {
        let Some(end) = self.open.get(id).and_then(|stream| stream.end) else {
            return Vec::new();
        };
        let mut steps = match content {
            Some(bytes) => self.content(id, &bytes),
            None => self.say(id, StreamEvent::End(StreamEnd::Gap)),
        };
        steps.extend(self.close(id, end));
        steps
    }

    pub(super) fn begin(&mut self, id: &str, phase: Phase) -> bool {
        if self.open.len() >= STREAMS_MAX {
            return false;
        }
        self.begun += 1;
        self.open.insert(
            id.to_owned(),
            Stream {
                phase,
                sse: Sse::new(self.limits.observation_bytes_max),
                bytes: 0,
                nth: self.begun,
                body_for: None,
                held: Vec::new(),
                end: None,
                over: false,
            },
        );
        true
    }

    fn answered(&mut self, id: String, status: u16, mime: &str) -> Vec<Step> {
        let Some(stream) = self.open.get_mut(&id) else {
            return Vec::new();
        };
        if !matches!(stream.phase, Phase::Asked) {
            return Vec::new();
        }
        let flows = (200..300).contains(&status) && mime == "text/event-stream";
        stream.phase = if flows {
            Phase::Opening { held: Vec::new() }
        } else {
            Phase::Plain
        };
        let mut steps = self.say(&id, StreamEvent::Status { code: status });
        if flows {
            steps.push(Step::AskContent(id));
        }
        steps
    }

    fn ended(&mut self, id: String, end: StreamEnd) -> Vec<Step> {
        let Some(stream) = self.open.get_mut(&id) else {
            return Vec::new();
        };
        match stream.phase {
            Phase::Opening { .. } => {
                stream.end = Some(end);
                Vec::new()
            }
            Phase::Blind => {
                stream.end = Some(end);
                vec![Step::AskWhole(id)]
            }
            Phase::Asked | Phase::Flowing | Phase::Plain | Phase::Socket { .. } => {
                let mut steps = Vec::new();
                for (_, reply) in self.replies_of(&id) {
                    steps.extend(self.close(&reply, end));
                }
                steps.extend(self.close(&id, end));
                steps
            }
        }
    }

    pub(super) fn content(&mut self, id: &str, bytes: &[u8]) -> Vec<Step> {
        let Some(stream) = self.open.get_mut(id) else {
            return Vec::new();
        };
        if stream.over {
            return Vec::new();
        }
        stream.bytes += bytes.len();
        let mut outs = if stream.bytes > self.limits.stream_bytes_max {
            vec![Out::Overflow]
        } else {
            stream.sse.feed(bytes)
        };
        let mut steps = Vec::new();
        for out in outs.drain(..) {
            match out {
                Out::Data(text) => steps.extend(self.say(
                    id,
                    StreamEvent::Data {
                        data: Private::from(text),
                    },
                )),
                Out::NotText { len } => {
                    steps.push(Step::Malformed {
                        len,
                        why: "an event that is not UTF-8",
                    });
                    steps.extend(self.say(id, StreamEvent::End(StreamEnd::Gap)));
                }
                Out::Overflow => {
                    if let Some(stream) = self.open.get_mut(id) {
                        stream.over = true;
                    }
                    steps.extend(self.say(id, StreamEvent::End(StreamEnd::Overflow)));
                }
            }
        }
        steps
    }

    pub(super) fn close(&mut self, id: &str, end: StreamEnd) -> Vec<Step> {
        let steps = self.say(id, StreamEvent::End(end));
        if self.open.get(id).is_some_and(|s| s.body_for.is_none()) {
            self.open.remove(id);
        }
        steps
    }

    /// Reports, or keeps the report until the request's body is known.
    pub(super) fn say(&mut self, id: &str, event: StreamEvent) -> Vec<Step> {
        match self.open.get_mut(id) {
            Some(stream) if stream.body_for.is_some() => {
                stream.held.push(event);
                Vec::new()
            }
            Some(_) | None => report(id, event),
        }
    }
}

pub(super) fn report(id: &str, event: StreamEvent) -> Vec<Step> {
    vec![Step::Report(StreamReport {
        n: 0,
        request: id.to_owned(),
        event,
    })]
}

fn path_of(url: &str) -> String {
    let bare = bare(url);
    let after_scheme = bare.find("://").map_or(0, |at| at + 3);
    match bare[after_scheme..].find('/') {
        Some(at) => bare[after_scheme + at..].to_owned(),
        None => "/".to_owned(),
    }
}

#[cfg(test)]
mod tests;
