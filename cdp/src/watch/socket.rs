//! Replies that come over a web socket: which frame is of which reply.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use protocol::page::{StreamEnd, StreamEvent};
use protocol::text::Private;
use serde::Deserialize;

use super::stream::{Phase, Step, Streams};

/// Replies of one socket that are followed at a time; the oldest goes first.
const REPLIES_MAX: usize = 4;

impl Streams {
    pub(super) fn frame(&mut self, id: &str, sent: bool, text: bool, payload: String) -> Vec<Step> {
        let Some(stream) = self.open.get_mut(id) else {
            return Vec::new();
        };
        if !text {
            return vec![Step::Malformed {
                len: payload.len() as u64,
                why: "a frame that is not text",
            }];
        }
        if let (false, Phase::Socket { events, .. }) = (sent, &mut stream.phase) {
            if let Some((reply, piece)) = wrapped(&payload) {
                let (name, mut steps) = self.reply(id, &reply);
                steps.extend(self.content(&name, &piece));
                return steps;
            }
            if *events.get_or_insert_with(|| is_event_stream(&payload)) {
                return self.content(id, payload.as_bytes());
            }
        }
        let Some(stream) = self.open.get_mut(id).filter(|stream| !stream.over) else {
            return Vec::new();
        };
        stream.bytes += payload.len();
        if stream.bytes > self.limits.stream_bytes_max
            || payload.len() > self.limits.observation_bytes_max
        {
            stream.over = true;
            return self.say(id, StreamEvent::End(StreamEnd::Overflow));
        }
        let data = Private::from(payload);
        self.say(
            id,
            if sent {
                StreamEvent::Sent {
                    url: "socket".to_owned(),
                    body: Some(data),
                }
            } else {
                StreamEvent::Data { data }
            },
        )
    }

    /// The stream of one reply of a socket. Where frames name the reply that
    /// they are of, each has a stream of its own.
    fn reply(&mut self, socket: &str, reply: &str) -> (String, Vec<Step>) {
        if reply.is_empty() {
            return (socket.to_owned(), Vec::new());
        }
        let name = format!("{socket} {reply}");
        if self.open.contains_key(&name) {
            return (name, Vec::new());
        }
        let mut steps = Vec::new();
        let mut replies = self.replies_of(socket);
        if replies.len() >= REPLIES_MAX {
            replies.sort();
            for (_, oldest) in replies.drain(..=replies.len() - REPLIES_MAX) {
                steps.extend(self.close(&oldest, StreamEnd::Overflow));
            }
        }
        let phase = Phase::Socket {
            events: Some(true),
            of: Some(socket.to_owned()),
        };
        if !self.begin(&name, phase) {
            steps.extend(super::stream::report(
                &name,
                StreamEvent::End(StreamEnd::Overflow),
            ));
        }
        (name, steps)
    }

    /// The streams of a socket's replies, each with its place in time.
    pub(super) fn replies_of(&self, socket: &str) -> Vec<(u64, String)> {
        self.open
            .iter()
            .filter(|(_, stream)| {
                matches!(&stream.phase, Phase::Socket { of: Some(of), .. } if of == socket)
            })
            .map(|(name, stream)| (stream.nth, name.clone()))
            .collect()
    }
}

/// The piece of a response's body that a frame wraps, as `{"body": BASE64}`,
/// and the reply that it is of: one way in which a page's server answers a
/// request over a socket.
fn wrapped(frame: &str) -> Option<(String, Vec<u8>)> {
    #[derive(Deserialize)]
    struct Envelope<'a> {
        #[serde(borrow)]
        body: Cow<'a, str>,
        #[serde(borrow, default)]
        conversation_id: Option<Cow<'a, str>>,
        #[serde(borrow, default)]
        response_id: Option<Cow<'a, str>>,
        #[serde(borrow, default)]
        websocket_request_id: Option<Cow<'a, str>>,
    }
    let envelope: Envelope<'_> = serde_json::from_str(frame).ok()?;
    let names = [
        envelope.conversation_id,
        envelope.response_id,
        envelope.websocket_request_id,
    ];
    let names: Vec<_> = names.into_iter().flatten().collect();
    let reply: String = names.join("/").chars().take(200).collect();
    let piece = STANDARD.decode(envelope.body.as_bytes()).ok()?;
    Some((reply, piece))
}

/// Whether a socket's first frame begins an event stream: its frames are then
/// pieces of one, cut anywhere.
fn is_event_stream(frame: &str) -> bool {
    ["data:", "event:", "id:", "retry:", ":"]
        .iter()
        .any(|field| frame.starts_with(field))
}
