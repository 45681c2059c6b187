//! What goes on while an attachment stands: one loop over all that can wake us.

mod acts;
mod follow;
mod pulse;
mod sights;

use std::collections::VecDeque;
use std::sync::Arc;

use protocol::page::{
    Answer, Ask, AttachCause, Attachment, CallFailure, CallId, ConversationId, Epoch, PageCommand,
    TargetId, What,
};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Duration, Instant, Interval, MissedTickBehavior, interval_at, sleep_until};

use crate::attach::{Standing, detach};
use crate::choose::bare;
use crate::config::{Config, Scripts, TabWish};
use crate::error::{CallError, Error};
use crate::limits::Limits;
use crate::link::Incoming;
use crate::liveness::Hearts;
use crate::page::{Page, World};
use crate::port::{Control, Outbox};
use crate::watch::{self, Change, Early, Sight, Streams, Worlds};

/// How an attachment ended.
#[derive(Debug)]
pub(crate) enum End {
    /// The socket ended.
    Link(String),
    /// The browser fell silent on it.
    Silent,
    /// Our session was ended from outside.
    Detached(String),
    /// The renderer died.
    Crashed,
    /// The renderer answers nothing.
    Hung,
    /// No new document came to stand.
    NoDocument(Error),
    /// We let go of the tab in order.
    LetGo,
    /// Attach anew.
    Again(Option<TabWish>),
    /// Start the browser anew.
    Relaunch(Option<TabWish>),
    /// End.
    Close { keep: bool },
}

/// What our own calls came to.
#[derive(Debug)]
enum Inner {
    Done(CallId, Answer, Option<Value>),
    Looked(World, Result<Value, CallError>),
    Browser(bool),
    Renderer(bool),
    Constant(bool),
    Settled(World, Result<String, CallError>),
    Body(String, Option<String>),
    Opened(String, Option<String>),
    Whole(String, Option<Vec<u8>>),
    Data(String, Option<Vec<u8>>),
    Nothing,
}

/// An attachment.
#[derive(Debug)]
pub(crate) struct Live {
    pub epoch: Epoch,
    pub page: Page,
    pub conversation: Option<ConversationId>,
    target: TargetId,
    browser: String,
    scripts: Scripts,
    copyhook: Arc<str>,
    stream_paths: Vec<String>,
    limits: Limits,
    worlds: Worlds,
    /// When the document went away; none while one stands.
    changing: Option<Instant>,
    dialog: bool,
    hearts: Hearts,
    /// When the loop last turned: what lay in its queues meanwhile is not late.
    turned: Instant,
    streams: Streams,
    early: Early,
    last_look: u64,
    looking: bool,
    diagnosing: bool,
    running: Option<(CallId, bool)>,
    queue: VecDeque<PageCommand>,
    tasks: JoinSet<Inner>,
}

impl Live {
    pub(crate) fn new(
        standing: Standing,
        config: &Config,
        epoch: Epoch,
        browser: String,
        conversation: Option<ConversationId>,
    ) -> Self {
        let limits = config.limits;
        Self {
            epoch,
            conversation,
            target: standing.target,
            browser,
            scripts: config.scripts.clone(),
            copyhook: config.scripts.copyhook.as_str().into(),
            stream_paths: config.stream_paths.clone(),
            limits,
            changing: None,
            dialog: false,
            hearts: Hearts::new(limits),
            turned: Instant::now(),
            streams: Streams::new(
                config.stream_paths.clone(),
                standing.worlds.frame.clone(),
                limits,
            ),
            early: standing.early,
            worlds: standing.worlds,
            page: standing.page,
            last_look: 0,
            looking: false,
            diagnosing: false,
            running: None,
            queue: VecDeque::new(),
            tasks: JoinSet::new(),
        }
    }

    /// Reports the attachment.
    pub(crate) fn announce(&self, cause: AttachCause, address: &str, out: &Outbox) {
        let attachment = Attachment {
            cause,
            target: self.target.clone(),
            browser: self.browser.clone(),
            address: bare(address),
        };
        out.push(self.epoch, What::Attached(attachment));
    }

    /// Goes on until it ends. Whatever was asked is answered by then.
    pub(crate) async fn run(
        &mut self,
        events: &mut mpsc::Receiver<Incoming>,
        controls: &mut mpsc::Receiver<Control>,
        out: &Outbox,
    ) -> End {
        self.catch_up(out);
        let mut heart = every(self.limits.heartbeat_ms, 0);
        // Half a beat after the heart, so that the page is asked twice as often.
        let mut look = every(self.limits.look_ms, self.limits.heartbeat_ms / 2);
        self.look();
        let end = loop {
            let overdue = self.overdue_at();
            let end = tokio::select! {
                incoming = events.recv() => match incoming {
                    Some(incoming) => self.incoming(incoming, out),
                    None => Some(End::Link(self.page.link.end())),
                },
                control = controls.recv() => match control {
                    Some(control) => self.control(control, out).await,
                    None => Some(End::Close { keep: false }),
                },
                Some(done) = self.tasks.join_next() => match done {
                    Ok(inner) => self.inner(inner, out),
                    // Let go of with its document.
                    Err(error) if error.is_cancelled() => None,
                    Err(error) => {
                        // Only a bug of ours ends a task without its result.
                        tracing::error!(%error, "a call of the driver came to no result");
                        None
                    }
                },
                _ = look.tick() => { self.look(); None }
                _ = heart.tick() => self.beat(out),
                () = wait_until(overdue) => self.overdue(),
                () = out.closed() => Some(End::Close { keep: false }),
            };
            if let Some(end) = end {
                break end;
            }
            self.turned = Instant::now();
        };
        self.answer_all(out, Answer::Failed(CallFailure::Lost));
        end
    }

    fn incoming(&mut self, incoming: Incoming, out: &Outbox) -> Option<End> {
        let (method, event) = match incoming {
            Incoming::Event(event) => (event.method.clone(), event),
            Incoming::Malformed { len, why } => {
                self.malformed("event", len, why, out);
                return None;
            }
        };
        let sight = match watch::read(event, &self.page.session) {
            Ok(sight) => sight,
            Err(error) => {
                self.malformed("event", 0, format!("{method}: {error}"), out);
                return None;
            }
        };
        match self.worlds.see(&sight) {
            Change::None => {}
            Change::Gone => self.document_gone(out),
            Change::Came => self.document_came(out),
        }
        match sight {
            Sight::Said { context, payload } => {
                let ours = self.worlds.ours.as_ref().is_some_and(|w| w.id == context);
                if ours && self.changing.is_none() {
                    self.said(&payload, out);
                }
            }
            Sight::DialogOpened { kind, message } => {
                self.dialog = true;
                out.push(self.epoch, What::Dialog { kind, message });
            }
            Sight::DialogClosed => self.dialog = false,
            Sight::Crashed => return Some(End::Crashed),
            Sight::Detached { why } => return Some(End::Detached(why)),
            Sight::Net(net) if self.changing.is_some() => self.early.keep(net),
            Sight::Net(net) => {
                let steps = self.streams.told(net);
                self.follow(steps, out);
            }
            Sight::WorldCame { .. }
            | Sight::WorldGone { .. }
            | Sight::WorldsCleared
            | Sight::Nothing => {}
        }
        None
    }

    async fn control(&mut self, control: Control, out: &Outbox) -> Option<End> {
        match control {
            Control::Page(command) => {
                if command.ask == Ask::Detach && command.epoch == self.epoch {
                    self.answer_all(out, Answer::Failed(CallFailure::Lost));
                    detach(&self.page).await;
                    self.answer(command.call, Answer::Done, out);
                    return Some(End::LetGo);
                }
                self.take(command, out);
                None
            }
            Control::Attach(wish) => Some(End::Again(wish)),
            Control::Relaunch(wish) => Some(End::Relaunch(wish)),
            Control::Bind(conversation) => {
                self.conversation = Some(conversation);
                None
            }
            Control::Close { keep_browser } => Some(End::Close { keep: keep_browser }),
        }
    }

    fn inner(&mut self, inner: Inner, out: &Outbox) -> Option<End> {
        match inner {
            Inner::Done(call, answer, look) => {
                if self.running.is_some_and(|(running, _)| running == call) {
                    self.running = None;
                    if let Some(look) = look {
                        self.looked(&look, out);
                    }
                    self.answer(call, answer, out);
                }
                self.start_next(out);
            }
            Inner::Looked(world, result) => {
                self.looking = false;
                if pulse::spoke(&result) {
                    self.hearts.look_answered();
                }
                if self.worlds.ours.as_ref() == Some(&world) {
                    match result {
                        Ok(value) => self.looked(&value, out),
                        Err(CallError::Refused(why) | CallError::Malformed(why)) => {
                            self.malformed("observer", 0, why, out);
                        }
                        // The heartbeats tell of these.
                        Err(
                            CallError::Timeout(_)
                            | CallError::Closed
                            | CallError::Detached
                            | CallError::Crashed,
                        ) => {}
                    }
                }
            }
            Inner::Browser(answered) => {
                if answered {
                    self.hearts.browser_answered();
                }
                self.news(out);
            }
            Inner::Renderer(answered) => {
                if answered {
                    self.hearts.renderer_answered();
                }
                self.news(out);
            }
            Inner::Constant(answered) => {
                self.diagnosing = false;
                if answered {
                    tracing::warn!("the page is frozen; it is set active again");
                    self.thaw();
                } else {
                    tracing::debug!("the renderer is in a long task, or hung");
                }
            }
            Inner::Settled(world, result) => {
                if self.worlds.ours.as_ref() == Some(&world) {
                    return self.settled(result, out);
                }
            }
            Inner::Body(id, body) => {
                let steps = self.streams.body(&id, body);
                self.follow(steps, out);
            }
            Inner::Opened(id, first) => {
                let steps = self.streams.opened(&id, first);
                self.follow(steps, out);
            }
            Inner::Whole(id, content) => {
                let steps = self.streams.whole(&id, content);
                self.follow(steps, out);
            }
            Inner::Data(id, body) => {
                let steps = self.streams.data(&id, body);
                self.follow(steps, out);
            }
            Inner::Nothing => {}
        }
        None
    }
}

async fn wait_until(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => std::future::pending().await,
    }
}

fn every(ms: u64, after_ms: u64) -> Interval {
    let first = Instant::now() + Duration::from_millis(after_ms);
    let mut interval = interval_at(first, Duration::from_millis(ms.max(1)));
    interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
    interval
}
