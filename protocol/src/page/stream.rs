//! What the page itself asks its server for: the event stream of a message that
//! it sent, and the data of a conversation that it fetched.

use serde::{Deserialize, Serialize};

use crate::text::Private;

/// A piece of the page's own request and of the stream that answers it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StreamReport {
    /// Counts the reports of one epoch from 1; a jump tells of lost ones, which may
    /// have been of any stream. 0 where nobody counted.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub n: u64,
    /// The browser's name for the request.
    pub request: String,
    /// What was seen of it.
    pub event: StreamEvent,
}

#[allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands out a reference"
)]
fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// What was seen of a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StreamEvent {
    /// The page sent it.
    Sent {
        /// Its address without the query.
        url: String,
        /// The body, where the browser gave it whole.
        body: Option<Private>,
    },
    /// The server answered with this status.
    Status {
        /// The HTTP status.
        code: u16,
    },
    /// One event's data (the `data:` lines joined), decoded as UTF-8.
    Data {
        /// The payload.
        data: Private,
    },
    /// Nothing more comes; says nothing of the reply being whole.
    End(StreamEnd),
    /// The page fetched the data of a conversation: the whole answer.
    Fetched {
        /// Its address without the query.
        url: String,
        /// The answer's body.
        body: Private,
    },
}

/// How a stream ended, as the network saw it.
//= spec C2
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StreamEnd {
    /// The transport finished.
    Finished,
    /// The transport failed or the page cancelled its reader.
    Failed,
    /// More came than the named limit; the rest was not kept.
    Overflow,
    /// Events were lost: the piece before this one may be missing.
    Gap,
}
