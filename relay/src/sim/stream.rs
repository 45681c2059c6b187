//! What the network shows of a reply: the page's own request, the stream that answers
//! it in each encoding, and the conversation's data that the page fetches.

use protocol::page::{Epoch, Role, StreamEvent, StreamReport, What};
use serde_json::{Value, json};

use super::{server::Made, world::World};

/// How the reply to one request travels.
#[derive(Debug, Clone)]
pub struct Carrier {
    /// The browser's name for the request.
    pub request: String,
    /// The document that sent it.
    pub doc: u32,
    /// The attachment that saw it leave; another one never gets its content.
    pub epoch: Option<Epoch>,
    /// Its encoding.
    pub mode: Mode,
    /// The connection failed.
    pub cut: bool,
}

/// The encodings of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Each event carries the whole text so far.
    Cumulative,
    /// Each event carries what is new.
    Deltas,
    /// Cumulative events over a web socket that was there before.
    Socket,
}

/// The name of the web socket.
const SOCKET: &str = "socket-1";

impl World {
    /// Something is seen of a request, if somebody is there to see it.
    pub(super) fn stream(&mut self, carrier: &Carrier, event: StreamEvent) {
        let attached = self.driver.seeing();
        if carrier.cut || carrier.doc != self.page.doc || attached.is_none() {
            return;
        }
        if carrier.epoch != attached {
            return;
        }
        let over_socket = carrier.mode == Mode::Socket && matches!(event, StreamEvent::Data { .. });
        let request = if over_socket {
            SOCKET.to_owned()
        } else {
            carrier.request.clone()
        };
        self.driver.reports += 1;
        let n = self.driver.reports;
        self.observe(What::Stream(StreamReport { n, request, event }));
    }

    fn data(&mut self, carrier: &Carrier, data: &Value) {
        let data = data.to_string().into();
        self.stream(carrier, StreamEvent::Data { data });
    }

    fn message(&self, turn: usize, text: &str, status: &str) -> Value {
        let id = &self.server.turns[turn].id;
        json!({"id": id, "author": {"role": "assistant"}, "channel": "final", "recipient": "all",
            "status": status, "end_turn": status == "finished_successfully",
            "content": {"content_type": "text", "parts": [text]}, "metadata": {}})
    }

    /// A web socket says first whose message it answers.
    pub(super) fn stream_opens(&mut self, carrier: &Carrier) {
        let Some(making) = &self.server.making else {
            return;
        };
        let turn = making.turn;
        if carrier.mode == Mode::Socket {
            let ours = self.server.turns[turn - 1].text.clone();
            let conversation = self.server.conversation.clone();
            let said = json!({"type": "input_message", "conversation_id": conversation,
                "input_message": {"author": {"role": "user"},
                    "content": {"content_type": "text", "parts": [ours]}}});
            self.data(carrier, &said);
        }
        if carrier.mode == Mode::Deltas {
            let message = self.message(turn, "", "in_progress");
            let first = json!({"v": {"message": message}});
            self.data(carrier, &first);
        }
    }

    pub(super) fn stream_piece(&mut self, carrier: &Carrier, turn: usize, piece: &str) {
        let event = match carrier.mode {
            Mode::Deltas => {
                json!({"p": "/message/content/parts/0", "o": "append", "v": piece})
            }
            Mode::Cumulative | Mode::Socket => {
                let text = self.server.turns[turn].text.clone();
                json!({"message": self.message(turn, &text, "in_progress")})
            }
        };
        self.data(carrier, &event);
    }

    pub(super) fn stream_ends(&mut self, carrier: &Carrier, turn: usize, status: &str, done: bool) {
        let event = match carrier.mode {
            Mode::Deltas => json!({"p": "", "o": "patch", "v": [
                {"p": "/message/status", "o": "replace", "v": status},
                {"p": "/message/end_turn", "o": "replace", "v": status == "finished_successfully"}]}),
            Mode::Cumulative | Mode::Socket => {
                let text = self.server.turns[turn].text.clone();
                json!({"message": self.message(turn, &text, status)})
            }
        };
        self.data(carrier, &event);
        if done {
            let data = "[DONE]".into();
            self.stream(carrier, StreamEvent::Data { data });
        }
    }

    pub(super) fn stream_error(&mut self, carrier: &Carrier) {
        self.data(carrier, &json!({"error": "The model is at capacity."}));
    }

    /// The page fetches the conversation's data.
    pub(super) fn fetch_history(&mut self) {
        let (Some(_), Some(id)) = (self.driver.seeing(), self.server.conversation.clone()) else {
            return;
        };
        let mut mapping = serde_json::Map::new();
        let mut parent = "root".to_owned();
        for turn in &self.server.turns {
            let (role, status) = match (turn.role, turn.made) {
                (Role::User, _) => ("user", "finished_successfully"),
                (Role::Assistant, Made::Whole) => ("assistant", "finished_successfully"),
                (Role::Assistant, Made::AtLimit) => ("assistant", "finished_partial_completion"),
                (Role::Assistant, Made::Growing | Made::Cut) => ("assistant", "in_progress"),
            };
            let message = json!({"id": turn.id, "author": {"role": role}, "channel": "final",
                "recipient": "all", "status": status, "end_turn": status == "finished_successfully",
                "content": {"content_type": "text", "parts": [turn.text]}, "metadata": {}});
            mapping.insert(
                turn.id.clone(),
                json!({"id": turn.id, "parent": parent, "message": message, "children": []}),
            );
            parent.clone_from(&turn.id);
        }
        let body = json!({"conversation_id": id, "current_node": parent, "mapping": mapping});
        self.driver.reports += 1;
        let report = StreamReport {
            n: self.driver.reports,
            request: format!("history-{}", self.driver.reports),
            event: StreamEvent::Fetched {
                url: format!("/backend-api/conversation/{id}"),
                body: body.to_string().into(),
            },
        };
        self.observe(What::Stream(report));
    }
}
