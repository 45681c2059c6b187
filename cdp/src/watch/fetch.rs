//! The page's own fetches of a conversation's data. Nothing is ever asked of the
//! server: what the page received is read from the browser's memory.

use std::collections::HashMap;

use protocol::page::{StreamEnd, StreamEvent, StreamReport};
use protocol::text::Private;

use super::net::Told;
use super::stream::Step;

/// Fetches that are followed at a time; more of them are let go of.
const FETCHES_MAX: usize = 8;
/// The largest answer that is read.
pub(crate) const DATA_BYTES_MAX: usize = 8 << 20;

/// The fetches of one epoch.
#[derive(Debug, Default)]
pub(super) struct Fetches(HashMap<String, Fetch>);

#[derive(Debug)]
struct Fetch {
    url: String,
    /// Its head said that it is data.
    is_data: bool,
    /// Bytes of it that came so far.
    passed: u64,
    /// Its content was asked for.
    asked: bool,
}

impl Fetches {
    pub(super) fn knows(&self, id: &str) -> bool {
        self.0.contains_key(id)
    }

    /// The page fetches from an address under one of the paths.
    pub(super) fn begin(&mut self, id: String, url: String) {
        if self.0.len() < FETCHES_MAX {
            let fetch = Fetch {
                url,
                is_data: false,
                passed: 0,
                asked: false,
            };
            self.0.insert(id, fetch);
        }
    }

    pub(super) fn told(&mut self, id: String, told: &Told) -> Vec<Step> {
        let Some(fetch) = self.0.get_mut(&id) else {
            return Vec::new();
        };
        match told {
            Told::Answered { status, mime } => {
                fetch.is_data = (200..300).contains(status) && mime == "application/json";
            }
            Told::Passed(len) => fetch.passed = fetch.passed.saturating_add(*len),
            Told::Ended(StreamEnd::Finished) if fetch.is_data && !fetch.asked => {
                if fetch.passed <= DATA_BYTES_MAX as u64 {
                    fetch.asked = true;
                    return vec![Step::AskData(id)];
                }
                tracing::debug!(len = fetch.passed, "page data over its limit is not read");
                self.0.remove(&id);
            }
            Told::Ended(_) => {
                self.0.remove(&id);
            }
            Told::Asked { .. }
            | Told::Bytes(_)
            | Told::SocketOpened { .. }
            | Told::Frame { .. } => {}
        }
        Vec::new()
    }

    /// The whole answer, or that it could not be had.
    pub(super) fn data(&mut self, id: &str, body: Option<Vec<u8>>) -> Vec<Step> {
        let Some(fetch) = self.0.remove(id) else {
            return Vec::new();
        };
        let text = body
            .filter(|body| body.len() <= DATA_BYTES_MAX)
            .and_then(|body| String::from_utf8(body).ok());
        let Some(text) = text else {
            return Vec::new();
        };
        vec![Step::Report(StreamReport {
            n: 0,
            request: id.to_owned(),
            event: StreamEvent::Fetched {
                url: fetch.url,
                body: Private::from(text),
            },
        })]
    }
}
