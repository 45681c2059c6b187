//! A second client of the browser, past the proxy: what happens to the tab behind
//! the relay's back comes from here.

use std::{fmt, path::Path, time::Duration};

use chromiumoxide::{
    Connection,
    cdp::browser_protocol::target::SessionId,
    types::{EventMessage, Message, Method, MethodId},
};
use futures::StreamExt as _;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::timeout;

/// One call to the browser.
const CALL_MS: u64 = 5_000;

/// Why something could not be done to the tab.
#[derive(Debug)]
pub struct TabError(String);

impl fmt::Display for TabError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the tab could not be reached: {}", self.0)
    }
}

impl std::error::Error for TabError {}

fn failed(error: impl fmt::Display) -> TabError {
    TabError(error.to_string())
}

/// An event, of which nothing but its name matters here.
#[derive(Debug, Clone, Deserialize)]
struct AnyEvent {
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

/// A session of our own with the relay's tab.
pub struct Tab {
    connection: Connection<AnyEvent>,
    target: String,
    session: String,
}

impl Tab {
    /// Attaches to the page whose address begins with `site`, in the browser that runs
    /// on this profile.
    ///
    /// # Errors
    /// When there is no such browser or no such page.
    pub async fn attach(profile: &Path, site: &str) -> Result<Self, TabError> {
        let file = profile.join("DevToolsActivePort");
        let text = std::fs::read_to_string(file).map_err(failed)?;
        let (port, path) = text.split_once('\n').ok_or_else(|| failed("no port"))?;
        let ws = format!("ws://127.0.0.1:{}{}", port.trim(), path.trim());
        let connecting = timeout(Duration::from_millis(CALL_MS), Connection::connect(ws));
        let mut tab = Self {
            connection: connecting.await.map_err(failed)?.map_err(failed)?,
            target: String::new(),
            session: String::new(),
        };
        let listed = tab.browser("Target.getTargets", json!({})).await?;
        let pages = listed["targetInfos"].as_array().into_iter().flatten();
        let page = pages
            .filter(|page| page["type"] == "page")
            .find(|page| {
                page["url"]
                    .as_str()
                    .is_some_and(|url| url.starts_with(site))
            })
            .ok_or_else(|| failed("no tab shows the chat"))?;
        tab.target = word(&page["targetId"]);
        let whom = json!({ "targetId": tab.target, "flatten": true });
        tab.session = word(&tab.browser("Target.attachToTarget", whom).await?["sessionId"]);
        Ok(tab)
    }

    /// Asks the browser.
    ///
    /// # Errors
    /// When it does not answer or refuses.
    pub async fn browser(&mut self, method: &str, params: Value) -> Result<Value, TabError> {
        self.call(None, method, params).await
    }

    /// Asks the tab.
    ///
    /// # Errors
    /// When it does not answer or refuses.
    pub async fn page(&mut self, method: &str, params: Value) -> Result<Value, TabError> {
        let session = SessionId::from(self.session.clone());
        self.call(Some(session), method, params).await
    }

    /// Tells the tab something that may never be answered.
    ///
    /// # Errors
    /// When the browser itself does not answer any more.
    pub async fn tell(&mut self, method: &str, params: Value) -> Result<(), TabError> {
        let session = Some(SessionId::from(self.session.clone()));
        self.connection
            .submit_command(method.to_owned().into(), session, params)
            .map_err(failed)?;
        // The answer to this one shows that the one before was written.
        self.browser("Browser.getVersion", json!({})).await?;
        Ok(())
    }

    /// The value of an expression in the page.
    ///
    /// # Errors
    /// When the page does not answer.
    pub async fn evaluate(&mut self, expression: &str) -> Result<Value, TabError> {
        let params =
            json!({ "expression": expression, "returnByValue": true, "userGesture": true });
        let mut answer = self.page("Runtime.evaluate", params).await?;
        Ok(answer["result"]["value"].take())
    }

    /// Ends the tab.
    ///
    /// # Errors
    /// When the browser does not answer.
    pub async fn close(&mut self) -> Result<(), TabError> {
        let whom = json!({ "targetId": self.target });
        self.browser("Target.closeTarget", whom).await?;
        Ok(())
    }

    async fn call(
        &mut self,
        session: Option<SessionId>,
        method: &str,
        params: Value,
    ) -> Result<Value, TabError> {
        let id = self
            .connection
            .submit_command(method.to_owned().into(), session, params)
            .map_err(failed)?;
        let answered = async {
            loop {
                #[allow(clippy::wildcard_enum_match_arm, reason = "a foreign enum")]
                match self.connection.next().await {
                    Some(Ok(Message::Response(answer))) if answer.id == id => {
                        return match answer.error {
                            None => Ok(answer.result.unwrap_or_default()),
                            Some(error) => Err(failed(format!("{method}: {error}"))),
                        };
                    }
                    Some(_) => {}
                    None => return Err(failed(format!("it went away during {method}"))),
                }
            }
        };
        timeout(Duration::from_millis(CALL_MS), answered)
            .await
            .map_err(|_| failed(format!("{method} was not answered")))?
    }
}

fn word(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
