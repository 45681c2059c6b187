//! The stream of our own message: which one it is, and its end.
//!
//! It is ours where the page's request carried our whole text, and where a
//! stream that came another way (a web socket) begins with the server's own
//! word that it took our whole text.

use protocol::page::{ConversationId, StreamEnd, StreamEvent, StreamReport, TurnId};
use protocol::reply::EndWitness;
use protocol::wire::canonical;
use serde_json::Value;

use super::decode::{Decoder, Spoilt, is_finished};
use crate::limits::{OTHER_STREAM_BYTES_MAX, OTHER_STREAMS_MAX, OWN_STREAM_BYTES_MAX};

/// How deep the page's request is searched for our text.
const REQUEST_DEPTH_MAX: u8 = 12;
/// What is known of the stream that answers our own message.
#[derive(Debug, Clone)]
pub(crate) struct OwnStream {
    /// The page's request that carried our text.
    request: Option<String>,
    /// The stream that said of itself that it answers our text.
    adopted: Option<String>,
    decoder: Decoder,
    /// Streams that have not said yet whose message they answer.
    others: Vec<(String, Decoder)>,
    failed: bool,
    /// The server answered the request in good order, whatever came after.
    answered: bool,
}

impl Default for OwnStream {
    fn default() -> Self {
        Self {
            request: None,
            adopted: None,
            decoder: Decoder::new(OWN_STREAM_BYTES_MAX),
            others: Vec::new(),
            failed: false,
            answered: false,
        }
    }
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
        let request = Some(report.request.as_str());
        if self.adopted.as_deref() != request
            && (self.request.as_deref() != request || self.adopted.is_some())
        {
            return self.other(report, ours, conversation);
        }
        match &report.event {
            StreamEvent::Sent { .. } | StreamEvent::Fetched { .. } => {}
            StreamEvent::Status { code } => {
                self.failed = !(200..300).contains(code);
                self.answered = !self.failed;
            }
            StreamEvent::Data { data } => self.decoder.data(data.as_str()),
            StreamEvent::End(end) => match end {
                // A reader cancelled at `[DONE]` looks like a failure, and a
                // transport may finish in mid-reply: neither says anything.
                StreamEnd::Finished | StreamEnd::Failed => {
                    self.failed |= !self.decoder.began;
                    self.decoder.closed = self.decoder.closed.or(Some(*end));
                }
                StreamEnd::Overflow | StreamEnd::Gap => self.decoder.spoil(Spoilt::Incomplete),
            },
        }
        true
    }

    fn sent(&mut self, request: &str) {
        let live = self.decoder.began || !self.failed;
        if (self.request.is_some() || self.adopted.is_some()) && live {
            // Two live requests with our text: which one the page shows cannot
            // be told.
            self.decoder.spoil(Spoilt::Ambiguous);
            return;
        }
        *self = Self {
            request: Some(request.to_owned()),
            ..Self::default()
        };
    }

    /// A stream of another request: ours if it says that it answers our text,
    /// and if our own request brought no stream of its own.
    fn other(
        &mut self,
        report: &StreamReport,
        ours: &str,
        conversation: Option<&ConversationId>,
    ) -> bool {
        let known = self.others.iter().position(|(id, _)| *id == report.request);
        let data = match &report.event {
            StreamEvent::Data { data } => data.as_str(),
            // What ends or has a hole before it said anything never will.
            StreamEvent::End(_) => {
                if let Some(at) = known {
                    self.others.remove(at);
                }
                return false;
            }
            StreamEvent::Sent { .. } | StreamEvent::Status { .. } | StreamEvent::Fetched { .. } => {
                return false;
            }
        };
        let at = known.unwrap_or_else(|| {
            if self.others.len() >= OTHER_STREAMS_MAX {
                self.others.remove(0);
            }
            let fresh = Decoder::new(OTHER_STREAM_BYTES_MAX);
            self.others.push((report.request.clone(), fresh));
            self.others.len() - 1
        });
        let (_, other) = &mut self.others[at];
        if other.done {
            // The next reply on the same socket.
            *other = Decoder::new(OTHER_STREAM_BYTES_MAX);
        }
        other.data(data);
        let named = other.conversation.as_deref();
        let elsewhere = named.is_some_and(|id| conversation.is_some_and(|ours| ours.0 != id));
        let answers = other
            .echo
            .as_ref()
            .is_some_and(|echo| canonical(echo) == canonical(ours));
        if !answers || elsewhere || self.decoder.began {
            return false;
        }
        if self.adopted.is_some() {
            self.decoder.spoil(Spoilt::Ambiguous);
            return true;
        }
        let (id, decoder) = self.others.remove(at);
        self.decoder = decoder.with_room(OWN_STREAM_BYTES_MAX);
        self.adopted = Some(id);
        true
    }

    /// The attachment ended: what has not come by now never will.
    pub(crate) fn cut_off(&mut self) {
        self.others.clear();
        if self.is_had() && !self.is_ended() {
            self.decoder.spoil(Spoilt::CutOff);
        }
    }

    /// Something did not parse; if it was of a stream it may have been ours.
    pub(crate) fn lost_piece_of(&mut self, source: &str) {
        if source == "observer" || source == "answer" {
            return;
        }
        self.others.clear();
        if self.is_had() && !self.decoder.done {
            self.decoder.spoil(Spoilt::Undecodable);
        }
    }

    /// Whether our own request was seen.
    pub(crate) fn is_known(&self) -> bool {
        self.request.is_some()
    }

    /// Whether a stream of our message is known at all.
    pub(crate) fn is_had(&self) -> bool {
        self.request.is_some() || self.adopted.is_some()
    }

    /// How it is known from the stream that nothing more comes.
    //= spec C2
    pub(crate) fn end(&self) -> Option<EndWitness> {
        match self.decoder.spoilt {
            Some(Spoilt::Ambiguous | Spoilt::Error) => return None,
            Some(Spoilt::Incomplete | Spoilt::Undecodable | Spoilt::CutOff) | None => {}
        }
        if self.decoder.done {
            return Some(EndWitness::StreamDone);
        }
        let finished = self
            .decoder
            .answer()
            .is_some_and(|message| is_finished(message) && message["end_turn"] == true);
        finished.then_some(EndWitness::StreamFinished)
    }

    /// Whether no end can be had from the stream, so that another way of
    /// knowing it may be taken: there is none, it carries nothing, an earlier
    /// attachment saw it, or it closed in good order without saying so. Never
    /// while it is open, nor after it broke off, seen to carry something or not
    /// **(ours)**.
    //= spec C2
    pub(crate) fn cannot_tell(&self) -> bool {
        match self.decoder.spoilt {
            Some(Spoilt::Ambiguous | Spoilt::Error) => false,
            Some(Spoilt::CutOff) => true,
            Some(Spoilt::Incomplete | Spoilt::Undecodable) | None => match self.decoder.closed {
                Some(StreamEnd::Failed) => !self.decoder.began && !self.answered,
                Some(StreamEnd::Finished | StreamEnd::Overflow | StreamEnd::Gap) => true,
                None => !self.is_had(),
            },
        }
    }

    fn is_ended(&self) -> bool {
        self.end().is_some()
    }

    /// Whether which reply answers our text cannot be told at all.
    pub(crate) fn is_ambiguous(&self) -> bool {
        self.decoder.spoilt == Some(Spoilt::Ambiguous)
    }

    /// The reply's Markdown, where the stream carried all of it.
    pub(crate) fn text(&self) -> Option<String> {
        self.decoder.text()
    }

    /// The id of the answer that the stream carries.
    pub(crate) fn answer_id(&self) -> Option<TurnId> {
        let id = self.decoder.answer()?["id"].as_str()?;
        Some(TurnId(id.to_owned()))
    }

    /// The server stopped the reply for its length (C8).
    pub(crate) fn is_truncated(&self) -> bool {
        self.decoder.is_truncated()
    }

    /// How many replies to our one message the stream carries.
    pub(crate) fn variants(&self) -> u32 {
        self.decoder.variants()
    }

    /// Bytes that are held, by and large.
    pub(crate) fn held(&self) -> usize {
        let others: usize = self.others.iter().map(|(_, other)| other.held()).sum();
        self.decoder.held() + others
    }
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
