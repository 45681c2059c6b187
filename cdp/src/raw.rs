//! An event as it comes over the socket, with the flat session it belongs to.
//!
//! The library's own event type loses that session, and its typed events fail
//! on any value newer than its protocol file; so events stay JSON until
//! `watch` takes from them what it needs.

use std::borrow::Cow;

use chromiumoxide::types::{EventMessage, Method, MethodId};
use serde::Deserialize;
use serde_json::Value;

/// An event of the browser or of a tab.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct RawEvent {
    /// E.g. `Page.frameNavigated`.
    pub method: String,
    /// The session of the tab it came from; none: the browser itself.
    #[serde(rename = "sessionId", default)]
    pub session: Option<String>,
    /// Its parameters.
    #[serde(default)]
    pub params: Value,
}

impl Method for RawEvent {
    fn identifier(&self) -> MethodId {
        Cow::Owned(self.method.clone())
    }
}

impl EventMessage for RawEvent {
    fn session_id(&self) -> Option<&str> {
        self.session.as_deref()
    }
}
