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

/// The address of a conversation at the site of `chat`, for an id of the server;
/// none for anything else, which is never put into an address.
pub fn conversation_address(chat: &str, id: &str) -> Option<String> {
    let id_len = 4..=128;
    let is_id = id_len.contains(&id.len())
        && id.starts_with(|c: char| c.is_ascii_alphanumeric())
        && id
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    let (scheme, rest) = chat.split_once("://")?;
    let host = rest.split(['/', '?', '#']).next()?;
    is_id.then(|| format!("{scheme}://{host}/c/{id}"))
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_id_of_the_server_is_put_into_an_address() {
        for (chat, id, address) in [
            (
                "https://chatgpt.com/",
                "ab-12",
                Some("https://chatgpt.com/c/ab-12"),
            ),
            (
                "http://127.0.0.1:8/g/x?y#z",
                "abcd",
                Some("http://127.0.0.1:8/c/abcd"),
            ),
            ("https://chatgpt.com", "a/../b", None),
            ("https://chatgpt.com", "-abc", None),
            ("https://chatgpt.com", "abc", None),
            ("chatgpt.com", "abcd", None),
        ] {
            assert_eq!(
                conversation_address(chat, id).as_deref(),
                address,
                "{chat} {id}"
            );
        }
    }
}
