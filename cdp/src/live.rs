//! What goes on while an attachment stands: one loop over all that can wake us.

use std::collections::VecDeque;
use std::sync::Arc;

use chromiumoxide::cdp::browser_protocol::browser::GetVersionParams;
use chromiumoxide::cdp::browser_protocol::network::{
    GetRequestPostDataParams, GetResponseBodyParams, StreamResourceContentParams,
};
use chromiumoxide::cdp::browser_protocol::page::{
    SetWebLifecycleStateParams, SetWebLifecycleStateState,
};
use protocol::page::{
    Answer, Ask, AttachCause, Attachment, CallFailure, CallId, ConversationId, Epoch, Look, Loss,
    PageCommand, Refusal, TargetId, What,
};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Duration, Instant, Interval, MissedTickBehavior, interval};

use crate::attach::{Standing, detach, page_fault, stands};
use crate::choose::bare;
use crate::compose::Desk;
use crate::config::{Config, Scripts, TabWish};
use crate::error::{CallError, Error, PageFault, bounded};
use crate::limits::{Limit, Limits};
use crate::link::Incoming;
use crate::liveness::Hearts;
use crate::page::{Page, World};
use crate::port::{Control, Outbox};
use crate::watch::{self, Change, Said, Sight, Step, Streams, Worlds};

/// Commands that may wait behind the one that is carried out.
const QUEUE_MAX: usize = 16;

/// Answered by a renderer that runs its tasks; one that is frozen answers the
/// bare constant and not this.
const PROBE: &str = "new Promise(done => { const c = new MessageChannel(); \
     c.port1.onmessage = () => { c.port1.close(); done(1); }; c.port2.postMessage(0); })";

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
    Relaunch,
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
    streams: Streams,
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
            streams: Streams::new(
                config.stream_paths.clone(),
                standing.worlds.frame.clone(),
                limits,
            ),
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
        let mut look = every(self.limits.look_ms);
        let mut heart = every(self.limits.heartbeat_ms);
        let end = loop {
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
                () = out.closed() => Some(End::Close { keep: false }),
            };
            if let Some(end) = end {
                break end;
            }
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
            Sight::Net(net) if self.changing.is_none() => {
                let steps = self.streams.told(net);
                self.follow(steps, out);
            }
            Sight::Net(_)
            | Sight::WorldCame { .. }
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
            Control::Relaunch => Some(End::Relaunch),
            Control::Bind(conversation) => {
                self.conversation = Some(conversation);
                None
            }
            Control::Close { keep_browser } => Some(End::Close { keep: keep_browser }),
        }
    }

    fn take(&mut self, command: PageCommand, out: &Outbox) {
        if command.epoch != self.epoch || self.changing.is_some() {
            self.answer(command.call, Answer::Refused(Refusal::Stale), out);
        } else if self.queue.len() >= QUEUE_MAX {
            let detail = "too many commands wait".to_owned();
            let failure = CallFailure::Refused { detail };
            self.answer(command.call, Answer::Failed(failure), out);
        } else {
            self.queue.push_back(command);
            self.start_next(out);
        }
    }

    fn start_next(&mut self, out: &Outbox) {
        while self.running.is_none() {
            let Some(command) = self.queue.pop_front() else {
                return;
            };
            let Some(world) = self.worlds.ours.clone() else {
                self.answer(command.call, Answer::Refused(Refusal::Stale), out);
                continue;
            };
            if self.dialog {
                self.answer(command.call, behind_dialog(&command.ask), out);
                continue;
            }
            let desk = Desk {
                page: self.page.clone(),
                world,
                main: self.worlds.main.clone(),
                copyhook: Arc::clone(&self.copyhook),
                conversation: self.conversation.clone(),
            };
            self.running = Some((command.call, command.ask == Ask::Reload));
            self.tasks.spawn(async move {
                let (answer, look) = desk.carry_out(command.ask).await;
                Inner::Done(command.call, answer, look)
            });
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
            Inner::Nothing => {}
        }
        None
    }

    fn document_gone(&mut self, out: &Outbox) {
        if self.changing.is_some() {
            return;
        }
        // A reload that we asked for has done what it was to do.
        let answer = match self.running {
            Some((_, true)) => Answer::Done,
            Some((_, false)) | None => Answer::Failed(CallFailure::Lost),
        };
        self.answer_all(out, answer);
        out.push(self.epoch, What::Lost(Loss::Document));
        self.changing = Some(Instant::now());
        self.dialog = false;
        self.looking = false;
        self.diagnosing = false;
        self.tasks.abort_all();
        self.hearts = Hearts::new(self.limits);
    }

    fn document_came(&mut self, out: &Outbox) {
        self.document_gone(out);
        if let Some(world) = self.worlds.ours.clone() {
            let (page, scripts) = (self.page.clone(), self.scripts.clone());
            self.tasks.spawn(async move {
                let result = stands(&page, &world, &scripts).await;
                Inner::Settled(world, result)
            });
        }
    }

    fn settled(&mut self, result: Result<String, CallError>, out: &Outbox) -> Option<End> {
        let address = match result {
            Ok(address) => address,
            Err(error) => return Some(End::NoDocument(page_fault(&error).into())),
        };
        self.epoch = Epoch(self.epoch.0 + 1);
        self.changing = None;
        self.last_look = 0;
        self.hearts = Hearts::new(self.limits);
        self.streams = Streams::new(
            self.stream_paths.clone(),
            self.worlds.frame.clone(),
            self.limits,
        );
        self.announce(AttachCause::Document, &address, out);
        self.look();
        None
    }

    fn look(&mut self) {
        let Some(world) = self.worlds.ours.clone() else {
            return;
        };
        if self.looking || self.dialog || self.changing.is_some() {
            return;
        }
        self.looking = true;
        let page = self.page.clone();
        self.tasks.spawn(async move {
            let result = page
                .evaluate(&world, "brb.look()", page.limits.call())
                .await;
            Inner::Looked(world, result)
        });
    }

    fn beat(&mut self, out: &Outbox) -> Option<End> {
        let now = Instant::now();
        if let Some(since) = self.changing
            && now.duration_since(since) > self.limits.attach().span()
        {
            let why = "no new document came within attach_ms".to_owned();
            return Some(End::NoDocument(PageFault::Silent { why }.into()));
        }
        let tick = self.hearts.tick(now, !self.dialog && self.changing.is_none());
        self.news(out);
        if tick.dead {
            return Some(End::Silent);
        }
        if tick.hung {
            return Some(End::Hung);
        }
        if tick.ask_browser {
            let link = self.page.link.clone();
            let span = self.limits.heartbeat_ms * (u64::from(self.limits.heartbeat_misses) + 1);
            self.tasks.spawn(async move {
                let limit = Limit("heartbeat_ms", span);
                let answer = link.call(None, GetVersionParams::default(), limit).await;
                Inner::Browser(spoke(&answer))
            });
        }
        if let Some(world) = self.worlds.ours.clone() {
            if tick.ask_renderer {
                self.probe(world, PROBE, self.limits.renderer(), Inner::Renderer);
            } else if tick.diagnose && !self.diagnosing {
                self.diagnosing = true;
                let limit = Limit("heartbeat_ms", self.limits.heartbeat_ms);
                self.probe(world, "1", limit, Inner::Constant);
            }
        }
        None
    }

    fn probe(&mut self, world: World, what: &'static str, limit: Limit, as_: fn(bool) -> Inner) {
        let page = self.page.clone();
        self.tasks.spawn(async move {
            let answer = page.evaluate(&world, what, limit).await;
            as_(spoke(&answer))
        });
    }

    fn thaw(&mut self) {
        let page = self.page.clone();
        self.tasks.spawn(async move {
            let active = SetWebLifecycleStateParams::new(SetWebLifecycleStateState::Active);
            if let Err(error) = page.call(active).await {
                tracing::warn!(%error, "the page stays frozen");
            }
            Inner::Nothing
        });
    }

    fn news(&mut self, out: &Outbox) {
        if let Some(beat) = self.hearts.news() {
            out.push(self.epoch, What::Beat(beat));
        }
    }

    fn said(&mut self, payload: &str, out: &Outbox) {
        if payload.len() > self.limits.observation_bytes_max {
            let why = "over observation_bytes_max".to_owned();
            self.malformed("observer", payload.len() as u64, why, out);
            return;
        }
        match serde_json::from_str::<Said>(payload) {
            Ok(said) => self.saw(said.look, out),
            Err(e) => self.malformed("observer", payload.len() as u64, e.to_string(), out),
        }
    }

    fn looked(&mut self, value: &Value, out: &Outbox) {
        let text = value.as_str().unwrap_or_default();
        if text.len() > self.limits.observation_bytes_max {
            let why = "over observation_bytes_max".to_owned();
            self.malformed("observer", text.len() as u64, why, out);
            return;
        }
        match serde_json::from_str::<Look>(text) {
            Ok(look) => self.saw(look, out),
            Err(e) => self.malformed("observer", text.len() as u64, e.to_string(), out),
        }
    }

    /// Looks come by two ways; one that was overtaken says nothing any more.
    fn saw(&mut self, look: Look, out: &Outbox) {
        if look.seq > self.last_look {
            self.last_look = look.seq;
            out.push(self.epoch, What::Look(Box::new(look)));
        }
    }

    fn follow(&mut self, steps: Vec<Step>, out: &Outbox) {
        for step in steps {
            let page = self.page.clone();
            match step {
                Step::Report(report) => out.push(self.epoch, What::Stream(report)),
                Step::Malformed { len, why } => {
                    self.malformed("stream", len, why.to_owned(), out);
                }
                Step::AskBody(id) => {
                    self.tasks.spawn(async move {
                        let command = GetRequestPostDataParams::new(id.clone());
                        let answer = page.call(command).await;
                        let body = answer.ok().and_then(|a| owned(&a["postData"]));
                        Inner::Body(id, body)
                    });
                }
                Step::AskContent(id) => {
                    self.tasks.spawn(async move {
                        let command = StreamResourceContentParams::new(id.clone());
                        let answer = page.call(command).await;
                        let first = answer.ok().and_then(|a| owned(&a["bufferedData"]));
                        Inner::Opened(id, first)
                    });
                }
                Step::AskWhole(id) => {
                    self.tasks.spawn(async move {
                        let command = GetResponseBodyParams::new(id.clone());
                        let answer = page.call(command).await;
                        Inner::Whole(id, answer.ok().and_then(|a| content(&a)))
                    });
                }
            }
        }
    }

    fn malformed(&self, source: &str, len: u64, why: String, out: &Outbox) {
        let what = What::Malformed {
            source: source.to_owned(),
            len,
            why: bounded(why),
        };
        out.push(self.epoch, what);
    }

    fn answer(&self, call: CallId, answer: Answer, out: &Outbox) {
        out.push(self.epoch, What::Answer { call, answer });
    }

    /// Answers whatever is still open: the running command with `running`,
    /// those behind it with a refusal, since nothing of them was begun.
    fn answer_all(&mut self, out: &Outbox, running: Answer) {
        // One that has its answer already keeps it.
        while let Some(Ok(done)) = self.tasks.try_join_next() {
            if let Inner::Done(call, answer, _) = done
                && self.running.is_some_and(|(open, _)| open == call)
            {
                self.running = None;
                self.answer(call, answer, out);
            }
        }
        if let Some((call, _)) = self.running.take() {
            self.answer(call, running, out);
        }
        while let Some(command) = self.queue.pop_front() {
            self.answer(command.call, Answer::Refused(Refusal::Stale), out);
        }
    }
}

/// (ours) What a dialog holds up: an act is refused, since nothing was begun; a
/// reading fails.
fn behind_dialog(ask: &Ask) -> Answer {
    match ask {
        Ask::Compose { .. } | Ask::Submit { .. } | Ask::ClearDraft { .. } | Ask::Copy { .. } => {
            Answer::Refused(Refusal::Blocked)
        }
        Ask::Look | Ask::Read | Ask::Reload | Ask::Detach => {
            Answer::Failed(CallFailure::Refused {
                detail: "a dialog of the page stands open".to_owned(),
            })
        }
    }
}

/// Whether anything was answered at all; a refusal is an answer too.
fn spoke(answer: &Result<Value, CallError>) -> bool {
    match answer {
        Ok(_) | Err(CallError::Refused(_) | CallError::Malformed(_)) => true,
        Err(
            CallError::Timeout(_) | CallError::Closed | CallError::Detached | CallError::Crashed,
        ) => false,
    }
}

fn owned(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn content(answer: &Value) -> Option<Vec<u8>> {
    use base64::Engine as _;
    let body = answer["body"].as_str()?;
    if answer["base64Encoded"].as_bool() == Some(true) {
        base64::engine::general_purpose::STANDARD.decode(body).ok()
    } else {
        Some(body.as_bytes().to_vec())
    }
}

fn every(ms: u64) -> Interval {
    let mut interval = interval(Duration::from_millis(ms.max(1)));
    interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
    interval
}
