//! What events tell: worlds, words of the observer, dialogs, ends, requests.

mod fetch;
mod net;
mod socket;
mod sse;
mod stream;

use protocol::page::Look;
use serde::Deserialize;
use serde_json::Value;

pub(crate) use net::Net;
pub(crate) use stream::{DATA_BYTES_MAX, Step, Streams};

use crate::page::World;
use crate::raw::RawEvent;

/// The name of the binding in it.
pub(crate) const BINDING: &str = "brbSay";

/// One event, as far as it concerns us.
#[derive(Debug)]
pub(crate) enum Sight {
    /// The observer says something.
    Said { context: i64, payload: String },
    /// A world of a document came into being.
    WorldCame {
        frame: String,
        name: String,
        own: bool,
        world: World,
    },
    /// A world went away.
    WorldGone { id: i64 },
    /// All worlds of the session went away.
    WorldsCleared,
    /// A dialog opened.
    DialogOpened { kind: String, message: String },
    /// It was closed.
    DialogClosed,
    /// The renderer died.
    Crashed,
    /// The browser ended our session.
    Detached { why: String },
    /// Something of a request or a socket of the page.
    Net(Net),
    /// Nothing that concerns us.
    Nothing,
}

/// Reads an event. One of another session concerns us never.
///
/// # Errors
/// What the parser said, where an event that concerns us does not parse.
pub(crate) fn read(event: RawEvent, session: &str) -> Result<Sight, serde_json::Error> {
    if event.method == "Target.detachedFromTarget" {
        let ours = event.params["sessionId"] == session;
        return Ok(if ours {
            Sight::Detached {
                why: "detached from target".to_owned(),
            }
        } else {
            Sight::Nothing
        });
    }
    if event.session.as_deref() != Some(session) {
        return Ok(Sight::Nothing);
    }
    let params = event.params;
    Ok(match event.method.as_str() {
        "Runtime.bindingCalled" => said(params)?,
        "Runtime.executionContextCreated" => came(params)?,
        "Runtime.executionContextDestroyed" => {
            #[derive(Deserialize)]
            #[serde(rename_all = "camelCase")]
            struct P {
                execution_context_id: i64,
            }
            let p: P = serde_json::from_value(params)?;
            Sight::WorldGone {
                id: p.execution_context_id,
            }
        }
        "Runtime.executionContextsCleared" => Sight::WorldsCleared,
        "Page.javascriptDialogOpening" => {
            #[derive(Deserialize)]
            struct P {
                #[serde(rename = "type")]
                kind: String,
                message: String,
            }
            let p: P = serde_json::from_value(params)?;
            Sight::DialogOpened {
                kind: p.kind.chars().take(20).collect(),
                message: p.message.chars().take(500).collect(),
            }
        }
        "Page.javascriptDialogClosed" => Sight::DialogClosed,
        "Inspector.targetCrashed" => Sight::Crashed,
        "Inspector.detached" => Sight::Detached {
            why: params["reason"]
                .as_str()
                .unwrap_or("no reason told")
                .chars()
                .take(100)
                .collect(),
        },
        _ => match net::read(&event.method, params)? {
            Some(net) => Sight::Net(net),
            None => Sight::Nothing,
        },
    })
}

fn said(params: Value) -> Result<Sight, serde_json::Error> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct P {
        name: String,
        payload: String,
        execution_context_id: i64,
    }
    let p: P = serde_json::from_value(params)?;
    Ok(if p.name == BINDING {
        Sight::Said {
            context: p.execution_context_id,
            payload: p.payload,
        }
    } else {
        Sight::Nothing
    })
}

fn came(params: Value) -> Result<Sight, serde_json::Error> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Context {
        id: i64,
        name: String,
        unique_id: String,
        #[serde(default)]
        aux_data: Aux,
    }
    #[derive(Deserialize, Default)]
    #[serde(rename_all = "camelCase", default)]
    struct Aux {
        frame_id: String,
        is_default: bool,
    }
    #[derive(Deserialize)]
    struct P {
        context: Context,
    }
    let P { context } = serde_json::from_value(params)?;
    Ok(Sight::WorldCame {
        frame: context.aux_data.frame_id,
        name: context.name,
        own: context.aux_data.is_default,
        world: World {
            id: context.id,
            unique: context.unique_id,
        },
    })
}

/// What the network tells of a document before the observer stands in it: the
/// page may well ask for its conversation by then. Over its bound nothing of it
/// is kept, for a stream with a hole is worse than none.
#[derive(Debug, Default)]
pub(crate) struct Early {
    nets: Vec<Net>,
    over: bool,
}

/// Network events of one document that may be early.
const EARLY_MAX: usize = 2_048;

impl Early {
    /// Keeps one.
    pub(crate) fn keep(&mut self, net: Net) {
        if self.over || self.nets.len() >= EARLY_MAX {
            self.over = true;
            self.nets.clear();
        } else {
            self.nets.push(net);
        }
    }

    /// All that were kept, in order; it begins anew.
    pub(crate) fn take(&mut self) -> Vec<Net> {
        std::mem::take(self).nets
    }
}

/// What the observer can say.
#[derive(Debug, Deserialize)]
pub(crate) struct Said {
    /// It looked.
    pub look: Look,
}

/// The worlds of the main frame's present document.
#[derive(Debug, Default)]
pub(crate) struct Worlds {
    /// The main frame.
    pub frame: String,
    /// The name of our world.
    pub name: String,
    /// Ours.
    pub ours: Option<World>,
    /// The page's own.
    pub main: Option<World>,
}

/// What became of our world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    /// Nothing.
    None,
    /// The document is gone.
    Gone,
    /// A new document's world stands.
    Came,
}

impl Worlds {
    /// Takes in one event.
    pub(crate) fn see(&mut self, sight: &Sight) -> Change {
        match sight {
            Sight::WorldCame {
                frame,
                name,
                own,
                world,
            } if *frame == self.frame => {
                if *own {
                    self.main = Some(world.clone());
                    Change::None
                } else if *name == self.name {
                    self.ours = Some(world.clone());
                    Change::Came
                } else {
                    Change::None
                }
            }
            Sight::WorldGone { id } => {
                if self.main.as_ref().is_some_and(|w| w.id == *id) {
                    self.main = None;
                }
                if self.ours.as_ref().is_some_and(|w| w.id == *id) {
                    self.ours = None;
                    Change::Gone
                } else {
                    Change::None
                }
            }
            Sight::WorldsCleared => {
                self.main = None;
                match self.ours.take() {
                    Some(_) => Change::Gone,
                    None => Change::None,
                }
            }
            Sight::WorldCame { .. }
            | Sight::Said { .. }
            | Sight::DialogOpened { .. }
            | Sight::DialogClosed
            | Sight::Crashed
            | Sight::Detached { .. }
            | Sight::Net(_)
            | Sight::Nothing => Change::None,
        }
    }
}
