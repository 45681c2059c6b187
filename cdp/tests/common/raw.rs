//! A second client of the browser, for what a test does behind the driver's back.

use std::collections::HashMap;

use chromiumoxide::Connection;
use chromiumoxide::cdp::browser_protocol::target::SessionId;
use chromiumoxide::types::{EventMessage, Message, Method, MethodId};
use futures::StreamExt;
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Debug, Clone, Deserialize)]
pub struct AnyEvent {
    method: String,
}

impl Method for AnyEvent {
    fn identifier(&self) -> MethodId {
        self.method.clone().into()
    }
}

impl EventMessage for AnyEvent {
    fn session_id(&self) -> Option<&str> {
        None
    }
}

/// One call at a time, its answer awaited.
pub struct Raw {
    connection: Connection<AnyEvent>,
    sessions: HashMap<String, String>,
    pub port: u16,
}

impl Raw {
    pub async fn connect(ws: &str) -> Self {
        let port = ws.split([':', '/']).nth(4).unwrap().parse().unwrap();
        Self {
            connection: Connection::connect(ws).await.unwrap(),
            sessions: HashMap::new(),
            port,
        }
    }

    /// By the profile of a running browser.
    pub async fn of(profile: &std::path::Path) -> Self {
        let text = std::fs::read_to_string(profile.join("DevToolsActivePort")).unwrap();
        let (port, path) = text.split_once('\n').unwrap();
        Self::connect(&format!("ws://127.0.0.1:{port}{}", path.trim())).await
    }

    pub async fn call(&mut self, session: Option<&str>, method: &str, params: Value) -> Value {
        let session = session.map(|s| SessionId::from(s.to_owned()));
        let id = self
            .connection
            .submit_command(method.to_owned().into(), session, params)
            .unwrap();
        loop {
            match self.connection.next().await {
                Some(Ok(Message::Response(answer))) if answer.id == id => {
                    return match answer.error {
                        None => answer.result.unwrap_or_default(),
                        Some(error) => json!({ "error": error.to_string() }),
                    };
                }
                Some(_) => {}
                None => panic!("the browser went away during {method}"),
            }
        }
    }

    /// Sends a call whose answer may never come.
    pub async fn send(&mut self, session: Option<&str>, method: &str, params: Value) {
        let id = session.map(|s| SessionId::from(s.to_owned()));
        self.connection
            .submit_command(method.to_owned().into(), id, params)
            .unwrap();
        // The next call's answer shows that this one was written before it.
        self.call(None, "Browser.getVersion", json!({})).await;
    }

    pub async fn session(&mut self, target: &str) -> String {
        if let Some(session) = self.sessions.get(target) {
            return session.clone();
        }
        let params = json!({ "targetId": target, "flatten": true });
        let answer = self.call(None, "Target.attachToTarget", params).await;
        let session = answer["sessionId"].as_str().unwrap().to_owned();
        self.sessions.insert(target.to_owned(), session.clone());
        session
    }

    pub async fn eval(&mut self, target: &str, expression: &str) -> Value {
        let session = self.session(target).await;
        let params =
            json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let answer = self.call(Some(&session), "Runtime.evaluate", params).await;
        answer["result"]["value"].clone()
    }

    pub async fn eval_and_leave(&mut self, target: &str, expression: &str) {
        let session = self.session(target).await;
        let params = json!({ "expression": expression });
        self.send(Some(&session), "Runtime.evaluate", params).await;
    }

    pub async fn pages(&mut self) -> Vec<Value> {
        let listed = self.call(None, "Target.getTargets", json!({})).await;
        let mut pages: Vec<Value> = listed["targetInfos"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|t| t["type"] == "page")
            .cloned()
            .collect();
        pages.sort_by_key(|t| t["targetId"].as_str().map(str::to_owned));
        pages
    }

    pub async fn open(&mut self, url: &str) -> String {
        let params = json!({ "url": url });
        let answer = self.call(None, "Target.createTarget", params).await;
        answer["targetId"].as_str().unwrap().to_owned()
    }

    /// The value of an expression in the driver's isolated world.
    pub async fn eval_ours(&mut self, target: &str, expression: &str) -> Value {
        let session = self.session(target).await;
        let world = json!({ "frameId": target, "worldName": "brb-test" });
        let made = self
            .call(Some(&session), "Page.createIsolatedWorld", world)
            .await;
        let params = json!({ "expression": expression, "returnByValue": true,
            "awaitPromise": true, "contextId": made["executionContextId"] });
        let answer = self.call(Some(&session), "Runtime.evaluate", params).await;
        answer["result"]["value"].clone()
    }

    /// One trusted click, as a person's.
    pub async fn click(&mut self, target: &str, x: f64, y: f64) {
        let session = self.session(target).await;
        for kind in ["mousePressed", "mouseReleased"] {
            let params = json!({ "type": kind, "x": x, "y": y, "button": "left", "clickCount": 1 });
            self.call(Some(&session), "Input.dispatchMouseEvent", params)
                .await;
        }
    }

    /// One trusted press of Enter, as a person's.
    pub async fn enter(&mut self, target: &str) {
        let session = self.session(target).await;
        for kind in ["keyDown", "keyUp"] {
            let params = json!({ "type": kind, "key": "Enter", "code": "Enter", "text": "\r",
                "windowsVirtualKeyCode": 13 });
            self.call(Some(&session), "Input.dispatchKeyEvent", params)
                .await;
        }
    }
}
