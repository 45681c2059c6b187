//! Find a browser or start one, keep it, end it.

mod find;
mod launch;

pub use launch::known_program;

use std::time::Duration;

use chromiumoxide::cdp::browser_protocol::browser::CloseParams;
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::Limits;
use crate::config::{Endpoint, Launch};
use crate::error::{BrowserFault, Error};
use crate::limits::Limit;
use crate::link::Link;

/// How long a browser whose socket ended may take to be seen gone.
const DYING: Duration = Duration::from_millis(500);

/// The browser that we hold.
#[derive(Debug)]
pub(crate) struct Browser {
    /// Its own web socket.
    pub ws: String,
    /// How long the socket may take to open.
    pub open_within: Limit,
    /// It is ours: closed at a normal end.
    ours: bool,
    child: Option<launch::Started>,
}

impl Browser {
    /// Finds the browser of an endpoint, starting it where that is asked for.
    pub(crate) async fn find(endpoint: &Endpoint, limits: &Limits) -> Result<Self, Error> {
        let found = |ws, open_within| Self {
            ws,
            open_within,
            ours: false,
            child: None,
        };
        match endpoint {
            Endpoint::Http(url) => Ok(found(
                find::by_port(url, limits.connect()).await?,
                limits.connect(),
            )),
            Endpoint::Ws(url) => Ok(found(find::by_socket(url)?, limits.connect())),
            Endpoint::Profile(folder) => {
                Ok(found(find::by_profile(folder).await?, limits.consent()))
            }
            Endpoint::Launch(wish) => {
                launch::prepare_profile(&wish.profile)?;
                if let Some(ws) = find::still_running(&wish.profile, limits.connect()).await {
                    return Ok(Self {
                        ours: true,
                        ..found(ws, limits.connect())
                    });
                }
                let started = launch::start(wish, limits.launch(), limits.exit()).await?;
                Ok(Self {
                    ws: started.ws.clone(),
                    open_within: limits.connect(),
                    ours: true,
                    child: Some(started),
                })
            }
        }
    }

    /// What shows that its process is gone; none while it lives.
    pub(crate) async fn gone(&mut self, limits: &Limits) -> Option<String> {
        if let Some(child) = &mut self.child {
            return child.ended_within(DYING).await;
        }
        let (host, port) = find::host_and_port(&self.ws)?;
        match timeout(
            limits.connect().span(),
            TcpStream::connect((host.as_str(), port)),
        )
        .await
        {
            Ok(Err(error)) => Some(format!("its port refuses: {error}")),
            Ok(Ok(_)) | Err(_) => None,
        }
    }

    /// Ends it if it is ours: asked first, then told.
    pub(crate) async fn close(mut self, link: Option<&Link>, limits: &Limits) {
        if !self.ours {
            return;
        }
        let asked = match link {
            Some(link) => link
                .call(None, CloseParams::default(), limits.call())
                .await
                .is_ok(),
            None => false,
        };
        if let Some(child) = &mut self.child {
            child.end(asked, limits.exit()).await;
        } else if asked {
            // Found again by its profile: its port is all we can watch.
            let step = Duration::from_millis(50);
            let gone = async {
                while self.gone(limits).await.is_none() {
                    tokio::time::sleep(step).await;
                }
            };
            if timeout(limits.exit().span(), gone).await.is_err() {
                tracing::warn!("a browser that was asked to close still listens");
            }
        }
    }
}

/// Closes the browser that still runs on a profile of ours, if one does. Whether anybody
/// else uses it is for the caller to know.
pub async fn close_left(wish: &Launch, limits: &Limits) {
    let Some(ws) = find::still_running(&wish.profile, limits.connect()).await else {
        return;
    };
    let browser = Browser {
        ws,
        open_within: limits.connect(),
        ours: true,
        child: None,
    };
    // The events of a browser that is told to close are nobody's.
    if let Ok((link, _events)) = Link::connect(&browser.ws, browser.open_within).await {
        browser.close(Some(&link), limits).await;
    }
}

/// The version the browser tells of itself.
pub(crate) async fn version(link: &Link, limits: &Limits) -> Result<String, BrowserFault> {
    use chromiumoxide::cdp::browser_protocol::browser::GetVersionParams;
    let answer = link
        .call(None, GetVersionParams::default(), limits.call())
        .await
        .map_err(|e| BrowserFault::Ended { why: e.to_string() })?;
    match answer["product"].as_str() {
        Some(product) => Ok(product.chars().take(100).collect()),
        None => Err(BrowserFault::NotABrowser {
            at: "the web socket".to_owned(),
            why: "it tells no product".to_owned(),
        }),
    }
}
