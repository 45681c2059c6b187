//! Network events, as far as they can concern a stream of the page.

use protocol::page::StreamEnd;
use serde::Deserialize;
use serde_json::Value;

/// What the network told of a request or a socket.
#[derive(Debug)]
pub(crate) struct Net {
    /// The browser's name for it.
    pub(super) request: String,
    /// What was told.
    pub(super) what: Told,
}

/// How the page asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    /// It sends something: a message, perhaps ours.
    Post,
    /// It fetches something: a conversation's data, perhaps.
    Get,
    /// Anything else.
    Other,
}

#[derive(Debug)]
pub(super) enum Told {
    Asked {
        frame: Option<String>,
        method: Method,
        url: String,
        body: Option<String>,
        has_body: bool,
    },
    Answered {
        status: u16,
        mime: String,
    },
    /// Base64.
    Bytes(String),
    /// So many bytes came that are not told.
    Passed(u64),
    Ended(StreamEnd),
    SocketOpened {
        url: String,
    },
    Frame {
        sent: bool,
        text: bool,
        payload: String,
    },
}

/// Reads a network event; none: it is none of those that concern us.
pub(super) fn read(method: &str, params: Value) -> Result<Option<Net>, serde_json::Error> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Params {
        request_id: String,
        frame_id: Option<String>,
        request: Option<Request>,
        response: Option<Value>,
        data: Option<String>,
        #[serde(default)]
        data_length: u64,
        url: Option<String>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Request {
        url: String,
        method: String,
        #[serde(default)]
        has_post_data: bool,
        post_data: Option<String>,
    }
    if !matches!(
        method,
        "Network.requestWillBeSent"
            | "Network.responseReceived"
            | "Network.dataReceived"
            | "Network.loadingFinished"
            | "Network.loadingFailed"
            | "Network.webSocketCreated"
            | "Network.webSocketFrameReceived"
            | "Network.webSocketFrameSent"
            | "Network.webSocketClosed"
            | "Network.webSocketFrameError"
    ) {
        return Ok(None);
    }
    let p: Params = serde_json::from_value(params)?;
    let response = p.response.unwrap_or_default();
    let what = match method {
        "Network.requestWillBeSent" => match p.request {
            Some(request) => Told::Asked {
                frame: p.frame_id,
                method: match request.method.as_str() {
                    "POST" => Method::Post,
                    "GET" => Method::Get,
                    _ => Method::Other,
                },
                url: request.url,
                body: request.post_data,
                has_body: request.has_post_data,
            },
            None => return Ok(None),
        },
        "Network.responseReceived" => Told::Answered {
            status: response["status"]
                .as_u64()
                .and_then(|s| u16::try_from(s).ok())
                .unwrap_or(0),
            mime: response["mimeType"].as_str().unwrap_or_default().to_owned(),
        },
        "Network.dataReceived" => match p.data {
            Some(data) => Told::Bytes(data),
            None => Told::Passed(p.data_length),
        },
        "Network.loadingFinished" | "Network.webSocketClosed" => Told::Ended(StreamEnd::Finished),
        "Network.webSocketCreated" => match p.url {
            Some(url) => Told::SocketOpened { url },
            None => return Ok(None),
        },
        "Network.webSocketFrameReceived" | "Network.webSocketFrameSent" => Told::Frame {
            sent: method == "Network.webSocketFrameSent",
            text: response["opcode"].as_f64() == Some(1.0),
            payload: response["payloadData"]
                .as_str()
                .unwrap_or_default()
                .to_owned(),
        },
        _ => Told::Ended(StreamEnd::Failed),
    };
    Ok(Some(Net {
        request: p.request_id,
        what,
    }))
}
