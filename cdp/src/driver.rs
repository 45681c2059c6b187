//! The driver's life: attach, live, lose, wait to be told, attach again.

use std::time::Duration;

use chromiumoxide::cdp::browser_protocol::page::ReloadParams;
use chromiumoxide::cdp::js_protocol::runtime::{EvaluateParams, TerminateExecutionParams};
use protocol::page::{Answer, AttachCause, ConversationId, Epoch, Loss, Refusal, TargetId, What};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep};

use crate::attach::{self, Standing, detach};
use crate::browser::{Browser, close_left, version};
use crate::config::{Config, Endpoint, TabWish};
use crate::error::{CallError, Error, OursFault, PageFault};
use crate::link::{Incoming, Link};
use crate::live::{End, Live};
use crate::page::Page;
use crate::port::{Control, Outbox, Port};

/// Between two questions to a page that is being cured.
const STEP: Duration = Duration::from_millis(100);

/// An attachment to be made.
#[derive(Debug)]
struct Attempt {
    cause: AttachCause,
    wish: Option<TabWish>,
    relaunch: bool,
}

/// What is held from one attachment to the next.
#[derive(Debug)]
struct Hold {
    config: Config,
    browser: Option<Browser>,
    product: String,
    link: Option<(Link, mpsc::Receiver<Incoming>)>,
    /// A session whose renderer is to be cured: only one that was there before
    /// the hang can do it.
    ill: Option<(Page, Loss)>,
    target: Option<TargetId>,
    /// The tab that was opened here last.
    opened: Option<TargetId>,
    conversation: Option<ConversationId>,
    epoch: Epoch,
    loss: Option<Loss>,
}

enum Next {
    Attach(Attempt),
    Wait,
    Close { keep: bool },
}

/// Runs until told to close, or until the port's other ends are gone.
pub(crate) async fn run(config: Config, port: Port) {
    let Port { mut controls, out } = port;
    let keep_by_default = config.keep_browser;
    let mut hold = Hold {
        epoch: config.last_epoch,
        config,
        browser: None,
        product: String::new(),
        link: None,
        ill: None,
        target: None,
        opened: None,
        conversation: None,
        loss: None,
    };
    let mut next = Next::Attach(Attempt {
        cause: AttachCause::First,
        wish: None,
        relaunch: false,
    });
    let keep = loop {
        next = match next {
            Next::Attach(attempt) => {
                let epoch = hold.epoch;
                let mut bound = None;
                let cause = attempt.cause;
                let result = tokio::select! {
                    result = hold.attach(attempt) => Some(result),
                    () = meanwhile(&mut controls, &out, epoch, &mut bound) => None,
                };
                if let Some(Meanwhile::Bind(conversation)) = bound.take_if(Meanwhile::is_bind) {
                    hold.conversation = Some(conversation);
                }
                match (result, bound) {
                    (Some(Ok(standing)), _) => {
                        hold.live(standing, cause, &mut controls, &out).await
                    }
                    (Some(Err(error)), _) => {
                        hold.never(&error, &out);
                        Next::Wait
                    }
                    (None, Some(Meanwhile::Close { keep })) => Next::Close { keep },
                    (None, _) => Next::Close {
                        keep: keep_by_default,
                    },
                }
            }
            Next::Wait => hold.wait(&mut controls, &out).await,
            Next::Close { keep } => break keep,
        };
    };
    hold.close(keep).await;
}

#[derive(Debug)]
enum Meanwhile {
    Bind(ConversationId),
    Close { keep: bool },
}

impl Meanwhile {
    fn is_bind(&mut self) -> bool {
        matches!(self, Self::Bind(_))
    }
}

/// Answers what comes while an attachment is being made: there is no present
/// epoch, so every act is stale. Returns when the driver is to close.
async fn meanwhile(
    controls: &mut mpsc::Receiver<Control>,
    out: &Outbox,
    epoch: Epoch,
    seen: &mut Option<Meanwhile>,
) {
    loop {
        let control = tokio::select! {
            control = controls.recv() => control,
            () = out.closed() => None,
        };
        match control {
            Some(Control::Page(command)) => stale(command.call, epoch, out),
            Some(Control::Bind(conversation)) => *seen = Some(Meanwhile::Bind(conversation)),
            // One is on its way.
            Some(Control::Attach(_) | Control::Relaunch(_)) => {}
            Some(Control::Close { keep_browser }) => {
                *seen = Some(Meanwhile::Close { keep: keep_browser });
                return;
            }
            None => return,
        }
    }
}

fn stale(call: protocol::page::CallId, epoch: Epoch, out: &Outbox) {
    let answer = Answer::Refused(Refusal::Stale);
    out.push(epoch, What::Answer { call, answer });
}

impl Hold {
    async fn attach(&mut self, attempt: Attempt) -> Result<Standing, Error> {
        let limits = self.config.limits;
        if attempt.relaunch {
            let Endpoint::Launch(_) = self.config.endpoint else {
                return Err(OursFault::NotLaunched.into());
            };
            self.link = None;
            self.ill = None;
            if let Some(old) = self.browser.take() {
                old.close(None, &limits).await;
            }
        }
        if self.link.as_ref().is_some_and(|(link, _)| link.is_over()) {
            self.link = None;
        }
        if self.link.is_none() {
            self.ill = None;
            let stale_address = match self.config.endpoint {
                // Such a browser may have come back under another socket.
                Endpoint::Http(_) | Endpoint::Profile(_) => true,
                // This one is only ever started when that is asked for.
                Endpoint::Ws(_) | Endpoint::Launch(_) => false,
            };
            if self.browser.is_none() || stale_address {
                self.browser = Some(Browser::find(&self.config.endpoint, &limits).await?);
            }
        }
        if self.link.is_none()
            && let Some(browser) = &self.browser
        {
            let (link, events) = Link::connect(&browser.ws, browser.open_within).await?;
            self.product = version(&link, &limits).await?;
            self.link = Some((link, events));
        }
        if let Some((page, loss)) = self.ill.take() {
            let cured = cure(&page, &loss, self.conversation.is_some()).await;
            detach(&page).await;
            cured?;
        }
        let Some((link, events)) = &mut self.link else {
            return Err(OursFault::NotLaunched.into());
        };
        if let Some(wish) = attempt.wish {
            self.config.tab = wish;
        } else if let Some(id) = &self.target
            && attach::exists(link, id, &limits).await == Ok(true)
        {
            // The same tab as before, as long as it exists.
            let same = TabWish {
                id: Some(id.clone()),
                ..TabWish::default()
            };
            let (scripts, ours) = (&self.config.scripts, &mut self.opened);
            return attach::attach(link, events, &same, scripts, &limits, ours).await;
        }
        let Config { tab, scripts, .. } = &self.config;
        attach::attach(link, events, tab, scripts, &limits, &mut self.opened).await
    }

    async fn live(
        &mut self,
        standing: Standing,
        cause: AttachCause,
        controls: &mut mpsc::Receiver<Control>,
        out: &Outbox,
    ) -> Next {
        self.epoch = Epoch(self.epoch.0 + 1);
        self.target = Some(standing.target.clone());
        self.loss = None;
        let address = standing.address.clone();
        let mut live = Live::new(
            standing,
            &self.config,
            self.epoch,
            self.product.clone(),
            self.conversation.clone(),
        );
        live.announce(cause, &address, out);
        let Some((_, events)) = &mut self.link else {
            return Next::Wait;
        };
        let end = live.run(events, controls, out).await;
        self.epoch = live.epoch;
        self.conversation = live.conversation.take();
        let page = live.page.clone();
        drop(live);
        match end {
            End::LetGo => Next::Wait,
            End::Close { keep } => {
                if keep {
                    detach(&page).await;
                }
                Next::Close { keep }
            }
            End::Again(wish) => {
                detach(&page).await;
                Next::Attach(Attempt {
                    cause: AttachCause::Link,
                    wish,
                    relaunch: false,
                })
            }
            End::Relaunch(wish) => Next::Attach(Attempt {
                cause: AttachCause::Browser,
                wish,
                relaunch: true,
            }),
            End::NoDocument(error) => {
                detach(&page).await;
                self.never(&error, out);
                Next::Wait
            }
            End::Link(_) | End::Silent | End::Detached(_) | End::Crashed | End::Hung => {
                let loss = self.judge(end, &page).await;
                tracing::info!(epoch = self.epoch.0, ?loss, "the attachment is lost");
                self.loss = Some(loss.clone());
                out.push(self.epoch, What::Lost(loss));
                Next::Wait
            }
        }
    }

    /// What an end means: the socket's, the tab's or the browser's.
    async fn judge(&mut self, end: End, page: &Page) -> Loss {
        let limits = self.config.limits;
        let detail = match end {
            End::Crashed => {
                self.ill = Some((page.clone(), Loss::RendererCrashed));
                return Loss::RendererCrashed;
            }
            End::Hung => {
                self.ill = Some((page.clone(), Loss::RendererHung));
                return Loss::RendererHung;
            }
            End::Detached(why) => {
                let target = self.target.clone();
                let listed = match (&self.link, target) {
                    (Some((link, _)), Some(target)) => {
                        attach::exists(link, &target, &limits).await.ok()
                    }
                    (_, _) => None,
                };
                match listed {
                    Some(true) => return Loss::Detached,
                    Some(false) => return Loss::TabClosed,
                    // The browser detaches everything as it ends.
                    None => why,
                }
            }
            End::Link(why) => why,
            End::Silent => format!(
                "no answer to {} heartbeats of heartbeat_ms",
                limits.heartbeat_misses
            ),
            End::NoDocument(error) => error.to_string(),
            End::LetGo | End::Again(_) | End::Relaunch(_) | End::Close { .. } => String::new(),
        };
        self.link = None;
        let gone = match &mut self.browser {
            Some(browser) => browser.gone(&limits).await,
            None => None,
        };
        match gone {
            Some(seen) => Loss::BrowserGone {
                detail: format!("{detail}; {seen}"),
            },
            None => Loss::Link { detail },
        }
    }

    fn never(&mut self, error: &Error, out: &Outbox) {
        let loss = Loss::NeverAttached {
            code: error.code().to_owned(),
            detail: error.to_string(),
        };
        out.push(self.epoch, What::Lost(loss));
    }

    /// Waits to be told what to do, without an attachment.
    async fn wait(&mut self, controls: &mut mpsc::Receiver<Control>, out: &Outbox) -> Next {
        loop {
            let events = async {
                match &mut self.link {
                    // Nobody listens; they are only kept from piling up.
                    Some((_, events)) => events.recv().await,
                    None => std::future::pending().await,
                }
            };
            let control = tokio::select! {
                control = controls.recv() => control,
                () = out.closed() => None,
                event = events => {
                    if event.is_none() {
                        self.link = None;
                        self.ill = None;
                    }
                    continue;
                }
            };
            match control {
                Some(Control::Page(command)) => stale(command.call, self.epoch, out),
                Some(Control::Bind(conversation)) => self.conversation = Some(conversation),
                Some(Control::Attach(wish)) => {
                    return Next::Attach(Attempt {
                        cause: self.cause(),
                        wish,
                        relaunch: false,
                    });
                }
                Some(Control::Relaunch(wish)) => {
                    return Next::Attach(Attempt {
                        cause: AttachCause::Browser,
                        wish,
                        relaunch: true,
                    });
                }
                Some(Control::Close { keep_browser }) => {
                    return Next::Close { keep: keep_browser };
                }
                None => {
                    return Next::Close {
                        keep: self.config.keep_browser,
                    };
                }
            }
        }
    }

    /// Why the next attachment is made, by what ended the last.
    fn cause(&self) -> AttachCause {
        match &self.loss {
            None if self.target.is_none() => AttachCause::First,
            None | Some(Loss::Link { .. } | Loss::Detached | Loss::NeverAttached { .. }) => {
                AttachCause::Link
            }
            // The conversation is opened anew by its address (RP8).
            Some(Loss::TabClosed | Loss::Document) => AttachCause::Document,
            Some(Loss::RendererCrashed | Loss::RendererHung) => AttachCause::Renderer,
            Some(Loss::BrowserGone { .. }) => AttachCause::Browser,
        }
    }

    async fn close(mut self, keep: bool) {
        if let Some(target) = self.opened.take_if(|_| self.config.tab.close_opened) {
            let gone = match &self.link {
                Some((link, _)) => attach::close_tab(link, &target, &self.config.limits).await,
                None => Err(CallError::Closed),
            };
            if let Err(error) = gone {
                tracing::warn!(%error, "a tab that was opened to be looked at stays open");
            }
        }
        if keep {
            return;
        }
        if let Some(browser) = self.browser.take() {
            let link = self.link.as_ref().map(|(link, _)| link);
            browser.close(link, &self.config.limits).await;
        } else if let Endpoint::Launch(wish) = &self.config.endpoint {
            // Never got as far as finding it: an earlier process may have left one.
            close_left(wish, &self.config.limits).await;
        }
    }
}

/// Brings a crashed or hung renderer back, touching our tab alone.
///
/// A script that was ended leaves its page half done: what was to come of it, the rest of
/// a reply for one, never comes (measured on a page that was merely slow). So the
/// document is loaded anew, which shows what the server has; not before the conversation
/// has an address of its own **(ours)**, where nothing would bring it back.
//= spec RP8
async fn cure(page: &Page, loss: &Loss, bound: bool) -> Result<(), PageFault> {
    let mut before = None;
    if *loss != Loss::RendererCrashed {
        let _ = page.call(TerminateExecutionParams::default()).await;
        before = document(page).await;
        if before.is_none() {
            return Err(PageFault::Hung);
        }
        if !bound {
            return Ok(());
        }
    }
    // Nobody answers for a renderer that is not there yet; the check below tells.
    let _ = page.call(ReloadParams::default()).await;
    let began = Instant::now();
    while began.elapsed() < page.limits.attach().span() {
        let now = document(page).await;
        if now.is_some() && now != before {
            return Ok(());
        }
        sleep(STEP).await;
    }
    Err(PageFault::Hung)
}

/// When the document that stands in the tab began; none where nothing answers.
async fn document(page: &Page) -> Option<String> {
    let answer = page.call(EvaluateParams::new("String(performance.timeOrigin)"));
    let answer = answer.await.ok()?;
    Some(answer["result"]["value"].as_str()?.to_owned())
}
