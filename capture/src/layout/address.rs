//! Addresses of the site, forms of ids, and the path of the reply's stream.

use serde::Serialize;

/// Parts of request paths under which the page speaks of a conversation: a POST
/// sends a message and receives the reply's event stream, a web socket carries
/// replies where the server says so, and a GET fetches the conversation's data
/// (sources EXP, 2026, medium; the socket's is older and inferred, low).
pub const STREAM_PATHS: &[&str] = &[
    "/backend-api/f/conversation",
    "/backend-api/conversation/",
    "/backend-api/ws/",
];

/// How an address tells the place, and an id whether it is settled. Regular
/// expressions in the common subset of JavaScript and Rust, over the path.
#[derive(Debug, Serialize)]
pub struct Addresses {
    /// A conversation; the first group is its id.
    pub conversation: &'static [&'static str],
    /// A fresh chat.
    pub fresh: &'static [&'static str],
    /// A conversation id that the page made up and will replace.
    pub transient: &'static str,
    /// A conversation id of the server.
    pub conversation_id: &'static str,
    /// A turn id of the server.
    //= spec C1
    pub settled: &'static str,
    /// A turn's key or id that the page made up, whatever else stands in it.
    pub provisional: &'static str,
    /// The path of log-in pages.
    pub login: &'static str,
}

/// The addresses as known (sources ORA, COS, EXP, keyed fixtures; 2026).
pub const ADDRESSES: Addresses = Addresses {
    conversation: &["^/c/([^/]+)/?$", "^/g/[^/]+/c/([^/]+)/?$"],
    fresh: &["^/?$", "^/g/[^/]+/?$"],
    transient: "^(WEB|local-chatgpt|local)(:|%3A)",
    conversation_id: "^[A-Za-z0-9][A-Za-z0-9_-]{3,127}$",
    settled: "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$",
    provisional: "^(fallback-|request-|placeholder|client-created|local-|temp|WEB:|pending)",
    login: "^/(auth|login|log-in)(/|$)",
};
