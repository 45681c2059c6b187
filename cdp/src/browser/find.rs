//! From what a person gave to the browser's own web socket.

use std::path::Path;

use reqwest::{Client, Url, redirect};
use serde_json::Value;
use tokio::time::timeout;

use crate::error::{BrowserFault, Error, OursFault, bounded};
use crate::limits::Limit;

/// Bytes of an answer that are read.
const ANSWER_MAX: usize = 64 * 1024;

/// By a debugging port, through `/json/version`.
pub(super) async fn by_port(url: &str, limit: Limit) -> Result<String, Error> {
    let parsed = Url::parse(url).map_err(|_| OursFault::Endpoint {
        given: bounded(url),
    })?;
    loopback(&parsed)?;
    let at = parsed.origin().ascii_serialization();
    match timeout(limit.span(), ask_version(&at)).await {
        Ok(answer) => answer,
        Err(_) => Err(BrowserFault::Silent { at, limit: limit.0 }.into()),
    }
}

async fn ask_version(at: &str) -> Result<String, Error> {
    let refused = |why: &reqwest::Error| BrowserFault::Refused {
        at: at.to_owned(),
        why: root(why),
    };
    let not_one = |why: String| BrowserFault::NotABrowser {
        at: at.to_owned(),
        why,
    };
    let client = Client::builder()
        .redirect(redirect::Policy::none())
        .no_proxy()
        .build()
        .map_err(|e| refused(&e))?;
    let mut response = match client.get(format!("{at}/json/version")).send().await {
        Ok(response) => response,
        Err(error) if error.is_connect() => return Err(refused(&error).into()),
        Err(error) => return Err(not_one(root(&error)).into()),
    };
    let status = response.status().as_u16();
    if status == 404 {
        return Err(BrowserFault::NoVersion {
            at: at.to_owned(),
            status,
        }
        .into());
    }
    if status != 200 {
        return Err(not_one(format!("it answered {status}")).into());
    }
    let mut body = Vec::new();
    while let Some(piece) = response.chunk().await.map_err(|e| not_one(root(&e)))? {
        body.extend_from_slice(&piece);
        if body.len() > ANSWER_MAX {
            return Err(not_one("its answer is too long".to_owned()).into());
        }
    }
    let version: Value =
        serde_json::from_slice(&body).map_err(|_| not_one("its answer is no JSON".to_owned()))?;
    match version["webSocketDebuggerUrl"].as_str() {
        Some(ws) => by_socket(ws),
        None => Err(not_one("it names no web socket of a browser".to_owned()).into()),
    }
}

/// By the web socket itself.
pub(super) fn by_socket(url: &str) -> Result<String, Error> {
    let parsed = Url::parse(url).map_err(|_| OursFault::Endpoint {
        given: bounded(url),
    })?;
    if parsed.scheme() != "ws" {
        return Err(OursFault::Endpoint {
            given: bounded(url),
        }
        .into());
    }
    loopback(&parsed)?;
    if parsed.path().starts_with("/devtools/page/") {
        return Err(BrowserFault::NotABrowser {
            at: bounded(url),
            why: "this is one tab's socket, not the browser's".to_owned(),
        }
        .into());
    }
    Ok(parsed.to_string())
}

/// By the profile folder of a running browser.
pub(super) async fn by_profile(folder: &Path) -> Result<String, BrowserFault> {
    let none = |why: String| BrowserFault::NoActivePort {
        profile: folder.to_owned(),
        why,
    };
    let file = folder.join("DevToolsActivePort");
    let text = tokio::fs::read(&file)
        .await
        .map_err(|e| none(format!("DevToolsActivePort: {e}")))?;
    let text = String::from_utf8_lossy(&text[..text.len().min(4096)]).into_owned();
    let mut lines = text.lines();
    let port = lines.next().and_then(|l| l.trim().parse::<u16>().ok());
    let path = lines.next().map(str::trim).filter(|p| p.starts_with('/'));
    match (port, path) {
        (Some(port), Some(path)) => Ok(format!("ws://127.0.0.1:{port}{path}")),
        (_, _) => Err(none("DevToolsActivePort does not read as one".to_owned())),
    }
}

/// The socket of a browser that still runs on our own profile.
pub(super) async fn still_running(profile: &Path, limit: Limit) -> Option<String> {
    let ws = by_profile(profile).await.ok()?;
    let (host, port) = host_and_port(&ws)?;
    // The port may be somebody else's by now: it must name this very socket.
    let found = by_port(&format!("http://{host}:{port}"), limit)
        .await
        .ok()?;
    (path_of(&found) == path_of(&ws)).then_some(ws)
}

fn path_of(ws: &str) -> Option<String> {
    Url::parse(ws).ok().map(|url| url.path().to_owned())
}

pub(super) fn host_and_port(ws: &str) -> Option<(String, u16)> {
    let url = Url::parse(ws).ok()?;
    let host = url.host_str()?.trim_matches(['[', ']']).to_owned();
    Some((host, url.port_or_known_default()?))
}

/// (ours) A debugging port gives whoever reaches it the whole browser; over a
/// network it is open to everybody on the way, so it is refused there.
fn loopback(url: &Url) -> Result<(), OursFault> {
    let host = url.host_str().unwrap_or_default();
    let bare = host.trim_matches(['[', ']']);
    let here = bare == "localhost"
        || bare
            .parse::<std::net::IpAddr>()
            .is_ok_and(|address| address.is_loopback());
    if here {
        Ok(())
    } else {
        Err(OursFault::NotLoopback {
            host: bounded(host),
        })
    }
}

/// The innermost cause, which is the one that tells something.
fn root(error: &reqwest::Error) -> String {
    let mut inner: &dyn std::error::Error = error;
    while let Some(next) = inner.source() {
        inner = next;
    }
    bounded(inner)
}
