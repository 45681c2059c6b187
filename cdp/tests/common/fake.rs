//! A browser made of words: it speaks the protocol over a web socket, and a
//! test says what it keeps to itself or says besides.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::routing::get;
use cdp::Endpoint;
use serde_json::{Value, json};
use tokio::sync::broadcast;

/// What a look says where nothing else is asked for.
pub fn look(seq: u64) -> String {
    json!({
        "seq": seq, "page_ms": 1, "address": "http://chat.test/", "place": "fresh",
        "layout": "fake", "hydrated": true, "turns_shown": 0, "tail": [],
        "composer": { "present": true, "send": "absent" },
    })
    .to_string()
}

#[derive(Debug, Default)]
struct State {
    /// Methods, and expressions, that are never answered.
    mute: HashSet<String>,
    /// What is answered in place of the usual.
    instead: Vec<(String, Value)>,
    /// Every call, as `method` or `method expression`.
    calls: Vec<String>,
    looks: u64,
}

#[derive(Debug, Clone)]
pub struct Fake {
    pub port: u16,
    state: Arc<Mutex<State>>,
    say: broadcast::Sender<Message>,
}

impl Fake {
    pub async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let fake = Self {
            port: listener.local_addr().unwrap().port(),
            state: Arc::default(),
            say: broadcast::channel(10_000).0,
        };
        let served = fake.clone();
        let upgrade = move |ws: WebSocketUpgrade| async move {
            ws.on_upgrade(move |socket| async move { served.serve(socket).await })
        };
        let app = Router::new().route("/devtools/browser/fake", get(upgrade));
        tokio::spawn(async move { axum::serve(listener, app).await });
        fake
    }

    pub fn endpoint(&self) -> Endpoint {
        Endpoint::Ws(format!(
            "ws://127.0.0.1:{}/devtools/browser/fake",
            self.port
        ))
    }

    /// From now on a method, or an evaluation that holds this text, is not answered.
    pub fn mute(&self, what: &str) {
        self.state.lock().unwrap().mute.insert(what.to_owned());
    }

    pub fn unmute(&self, what: &str) {
        self.state.lock().unwrap().mute.remove(what);
    }

    /// From now on this is the answer to a method or an evaluation that holds this text.
    pub fn instead(&self, what: &str, answer: Value) {
        let mut state = self.state.lock().unwrap();
        state.instead.insert(0, (what.to_owned(), answer));
    }

    pub fn calls(&self) -> Vec<String> {
        self.state.lock().unwrap().calls.clone()
    }

    pub fn say(&self, text: &str) {
        let _ = self.say.send(Message::text(text));
    }

    pub fn say_bytes(&self, bytes: &'static [u8]) {
        let _ = self.say.send(Message::binary(bytes));
    }

    /// An event of our tab.
    pub fn event(&self, method: &str, params: Value) {
        self.say(&json!({ "method": method, "sessionId": "S", "params": params }).to_string());
    }

    /// The observer's words.
    pub fn binding(&self, payload: &str) {
        let params = json!({ "name": "brbSay", "payload": payload, "executionContextId": 2 });
        self.event("Runtime.bindingCalled", params);
    }

    async fn serve(&self, mut socket: WebSocket) {
        let mut said = self.say.subscribe();
        loop {
            let out = tokio::select! {
                said = said.recv() => match said {
                    Ok(message) => vec![message],
                    Err(_) => return,
                },
                asked = socket.recv() => match asked {
                    Some(Ok(Message::Text(text))) => self.answer(&text),
                    Some(Ok(_)) => Vec::new(),
                    Some(Err(_)) | None => return,
                },
            };
            for message in out {
                if socket.send(message).await.is_err() {
                    return;
                }
            }
        }
    }

    fn answer(&self, text: &str) -> Vec<Message> {
        let call: Value = serde_json::from_str(text).unwrap();
        let method = call["method"].as_str().unwrap();
        let params = &call["params"];
        let code = params["expression"]
            .as_str()
            .or(params["functionDeclaration"].as_str())
            .unwrap_or_default();
        let kind = params["type"].as_str().unwrap_or_default();
        let mut state = self.state.lock().unwrap();
        state
            .calls
            .push(format!("{method} {kind}{code}").trim().to_owned());
        let meant = |what: &str| what == method || (!code.is_empty() && code.contains(what));
        if state.mute.iter().any(|what| meant(what)) {
            return Vec::new();
        }
        let own = state.instead.iter().find(|(what, _)| meant(what));
        let mut out = Vec::new();
        let result = match own {
            Some((_, answer)) => answer.clone(),
            None => usual(method, code, &mut state.looks, &mut out),
        };
        let mut answer = json!({ "id": call["id"] });
        let part = if result.get("code").is_some() {
            "error"
        } else {
            "result"
        };
        answer[part] = result;
        if let Some(session) = call.get("sessionId") {
            answer["sessionId"] = session.clone();
        }
        out.push(Message::text(answer.to_string()));
        out
    }
}

pub fn value(value: impl Into<Value>) -> Value {
    json!({ "result": { "type": "string", "value": value.into() } })
}

fn usual(method: &str, code: &str, looks: &mut u64, out: &mut Vec<Message>) -> Value {
    let context = |id: u32, name: &str, own: bool| {
        let context = json!({ "id": id, "name": name, "uniqueId": format!("u{id}"), "origin": "",
            "auxData": { "frameId": "TAB", "isDefault": own, "type": "future-type" } });
        let event = json!({ "method": "Runtime.executionContextCreated", "sessionId": "S",
            "params": { "context": context } });
        Message::text(event.to_string())
    };
    match method {
        "Browser.getVersion" => json!({ "product": "Fake/1.0" }),
        "Target.getTargets" => json!({ "targetInfos": [
            { "targetId": "TAB", "type": "page", "url": "http://chat.test/c/one", "attached": false },
            { "targetId": "W", "type": "worker", "url": "http://chat.test/c/one" },
        ] }),
        "Target.attachToTarget" => json!({ "sessionId": "S" }),
        "Page.getFrameTree" => json!({ "frameTree": { "frame": { "id": "TAB" } } }),
        "Page.addScriptToEvaluateOnNewDocument" => {
            out.push(context(1, "", true));
            out.push(context(2, "brb-test", false));
            json!({ "identifier": "1" })
        }
        "Runtime.evaluate" if code.contains("location.href") => value("http://chat.test/c/one"),
        "Runtime.evaluate" if code == "brb.look()" => {
            *looks += 1;
            value(look(*looks))
        }
        "Runtime.evaluate" => json!({ "result": { "type": "number", "value": 1 } }),
        _ => json!({}),
    }
}
