//! The one web socket to the browser: calls with deadlines, events in order.
//!
//! One task owns the connection. Queuing a command wakes it, since it waits on
//! the socket and on the queue at once. When the socket ends, when a session is
//! detached or its renderer dies, the calls that wait there are failed here:
//! the browser never answers them.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use chromiumoxide::error::CdpError;
use chromiumoxide::types::{CallId, Command, Message, MethodId};
use chromiumoxide::{Connection, cdp::browser_protocol::target::SessionId};
use futures::StreamExt;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use crate::error::{BrowserFault, CallError, bounded};
use crate::limits::Limit;
use crate::raw::RawEvent;

/// Commands that may wait to be written.
const ORDERS_MAX: usize = 64;
/// Calls that may wait for an answer.
const CALLS_MAX: usize = 256;
/// Events that may wait for the driver. More means that we are not keeping up:
/// the link is given up, and the next attachment starts from a snapshot.
const EVENTS_MAX: usize = 4096;

/// What comes besides answers.
#[derive(Debug)]
pub(crate) enum Incoming {
    /// An event.
    Event(RawEvent),
    /// A message that does not parse.
    Malformed {
        /// Its size in bytes.
        len: u64,
        /// What the parser said, bounded.
        why: String,
    },
}

struct Order {
    method: MethodId,
    session: Option<String>,
    params: Value,
    reply: oneshot::Sender<Result<Value, CallError>>,
}

struct Waiting {
    session: Option<String>,
    reply: oneshot::Sender<Result<Value, CallError>>,
}

/// The socket's handle. The socket closes when the last one is dropped.
#[derive(Debug, Clone)]
pub(crate) struct Link {
    orders: mpsc::Sender<Order>,
    end: Arc<OnceLock<String>>,
}

impl std::fmt::Debug for Order {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Order({})", self.method)
    }
}

impl Link {
    /// Opens the socket. Events come from the receiver, whose end is the link's end.
    pub(crate) async fn connect(
        url: &str,
        limit: Limit,
    ) -> Result<(Self, mpsc::Receiver<Incoming>), BrowserFault> {
        let at = || bounded(url);
        let connection = match timeout(limit.span(), Connection::<RawEvent>::connect(url)).await {
            Ok(Ok(connection)) => connection,
            Ok(Err(error)) => return Err(refused(at(), &error)),
            Err(_) => {
                return Err(BrowserFault::Silent {
                    at: at(),
                    limit: limit.0,
                });
            }
        };
        let (orders, orders_in) = mpsc::channel(ORDERS_MAX);
        let (events_out, events) = mpsc::channel(EVENTS_MAX);
        let end = Arc::new(OnceLock::new());
        tokio::spawn(carry(connection, orders_in, events_out, Arc::clone(&end)));
        Ok((Self { orders, end }, events))
    }

    /// One call, bounded by its limit. Without a session it goes to the browser.
    pub(crate) async fn call<C: Command>(
        &self,
        session: Option<&str>,
        command: C,
        limit: Limit,
    ) -> Result<Value, CallError> {
        let (reply, answer) = oneshot::channel();
        let order = Order {
            method: command.identifier(),
            session: session.map(str::to_owned),
            params: serde_json::to_value(&command).map_err(|e| CallError::Malformed(bounded(e)))?,
            reply,
        };
        let whole = async {
            if self.orders.send(order).await.is_err() {
                return Err(CallError::Closed);
            }
            answer.await.unwrap_or(Err(CallError::Closed))
        };
        timeout(limit.span(), whole)
            .await
            .unwrap_or(Err(CallError::Timeout(limit.0)))
    }

    /// Whether the socket has ended.
    pub(crate) fn is_over(&self) -> bool {
        self.orders.is_closed()
    }

    /// What was seen of the socket's end.
    pub(crate) fn end(&self) -> String {
        self.end
            .get()
            .cloned()
            .unwrap_or_else(|| "the socket ended".to_owned())
    }
}

#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "the library's errors are many and foreign"
)]
fn refused(at: String, error: &CdpError) -> BrowserFault {
    let why = bounded(error);
    match error {
        CdpError::Io(_) => BrowserFault::Refused { at, why },
        CdpError::Ws(ws) if ws.to_string().starts_with("IO error") => {
            BrowserFault::Refused { at, why }
        }
        _ => BrowserFault::NotABrowser { at, why },
    }
}

async fn carry(
    mut connection: Connection<RawEvent>,
    mut orders: mpsc::Receiver<Order>,
    events: mpsc::Sender<Incoming>,
    end: Arc<OnceLock<String>>,
) {
    let mut waiting: HashMap<CallId, Waiting> = HashMap::new();
    let why = loop {
        tokio::select! {
            order = orders.recv() => match order {
                Some(order) => submit(&mut connection, &mut waiting, order),
                None => break "let go by the driver".to_owned(),
            },
            message = connection.next() => {
                let incoming = match message {
                    None => break "the socket was closed".to_owned(),
                    Some(Ok(Message::Response(response))) => {
                        // An answer nobody waits for is one that came after its deadline.
                        if let Some(call) = waiting.remove(&response.id) {
                            let result = match response.error {
                                None => Ok(response.result.unwrap_or(Value::Null)),
                                Some(error) => Err(CallError::Refused(bounded(error))),
                            };
                            let _ = call.reply.send(result);
                        }
                        continue;
                    }
                    Some(Ok(Message::Event(event))) => {
                        fail_session(&mut waiting, &event);
                        Incoming::Event(event)
                    }
                    Some(Err(error)) => match malformed(&error) {
                        Some(incoming) => incoming,
                        None => break bounded(error),
                    },
                };
                match events.try_send(incoming) {
                    Ok(()) => {}
                    Err(mpsc::error::TrySendError::Full(_)) => {
                        break "more events came than the driver could take".to_owned();
                    }
                    Err(mpsc::error::TrySendError::Closed(_)) => {
                        break "let go by the driver".to_owned();
                    }
                }
            }
        }
    };
    // Set before the channels close, so that whoever sees the end can ask why.
    let _ = end.set(why);
    for (_, call) in waiting {
        let _ = call.reply.send(Err(CallError::Closed));
    }
}

fn submit(
    connection: &mut Connection<RawEvent>,
    waiting: &mut HashMap<CallId, Waiting>,
    order: Order,
) {
    // A caller whose deadline passed has let go of its end.
    waiting.retain(|_, call| !call.reply.is_closed());
    if waiting.len() >= CALLS_MAX {
        let _ = order
            .reply
            .send(Err(CallError::Refused("too many calls wait".to_owned())));
        return;
    }
    let session = order.session.clone().map(SessionId::from);
    match connection.submit_command(order.method, session, order.params) {
        Ok(id) => {
            waiting.insert(
                id,
                Waiting {
                    session: order.session,
                    reply: order.reply,
                },
            );
        }
        Err(error) => {
            let _ = order.reply.send(Err(CallError::Malformed(bounded(error))));
        }
    }
}

/// Fails the calls that the browser will never answer.
fn fail_session(waiting: &mut HashMap<CallId, Waiting>, event: &RawEvent) {
    let (session, error) = match event.method.as_str() {
        "Target.detachedFromTarget" => (event.params["sessionId"].as_str(), CallError::Detached),
        "Inspector.detached" => (event.session.as_deref(), CallError::Detached),
        "Inspector.targetCrashed" => (event.session.as_deref(), CallError::Crashed),
        _ => return,
    };
    let Some(session) = session else { return };
    let ids: Vec<CallId> = waiting
        .iter()
        .filter(|(_, call)| call.session.as_deref() == Some(session))
        .map(|(id, _)| *id)
        .collect();
    for id in ids {
        if let Some(call) = waiting.remove(&id) {
            let _ = call.reply.send(Err(error.clone()));
        }
    }
}

/// A message that does not parse; none: the socket itself failed.
#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "the library's errors are many and foreign"
)]
fn malformed(error: &CdpError) -> Option<Incoming> {
    match error {
        CdpError::InvalidMessage(text, why) => Some(Incoming::Malformed {
            len: text.len() as u64,
            why: bounded(why),
        }),
        CdpError::UnexpectedWsMessage(message) => Some(Incoming::Malformed {
            len: message.len() as u64,
            why: "not a text message".to_owned(),
        }),
        _ => None,
    }
}
