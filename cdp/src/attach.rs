//! From an open link to an observer that stands in our tab, and back to no tab of ours.
//!
//! Only the chosen tab is attached; nothing is discovered, enabled or set on
//! any other. The order matters: domains, then the binding, then the scripts,
//! so that nothing the observer says is lost.

use chromiumoxide::cdp::browser_protocol::{
    emulation::SetFocusEmulationEnabledParams,
    inspector, network, page as page_domain,
    target::{
        AttachToTargetParams, CloseTargetParams, CreateTargetParams, DetachFromTargetParams,
        GetTargetsParams, SessionId,
    },
};
use chromiumoxide::cdp::js_protocol::runtime;
use protocol::page::TargetId;
use tokio::sync::mpsc;
use tokio::time::{Duration, Instant, sleep, timeout, timeout_at};

use crate::choose::{Choice, choose, pages};
use crate::config::{Scripts, TabWish};
use crate::error::{BrowserFault, CallError, Error, PageFault, TabFault, bounded};
use crate::limits::Limits;
use crate::link::{Incoming, Link};
use crate::page::{Page, World};
use crate::watch::{self, BINDING, Early, Sight, Worlds};

/// The largest request body that the browser hands out whole.
const POST_BYTES_MAX: i64 = 4 << 20;
/// Between two looks at the browser's list for a tab that is to leave it.
const GONE_STEP: Duration = Duration::from_millis(50);

/// Our tab, with the observer in it.
#[derive(Debug)]
pub(crate) struct Standing {
    pub page: Page,
    pub target: TargetId,
    pub worlds: Worlds,
    pub address: String,
    /// What the page asked its server for meanwhile.
    pub early: Early,
}

/// Chooses the tab, attaches to it alone, and arms it. A tab that is opened for it is
/// named in `ours` at once: it stands there whatever comes of the attachment.
pub(crate) async fn attach(
    link: &Link,
    events: &mut mpsc::Receiver<Incoming>,
    wish: &TabWish,
    scripts: &Scripts,
    limits: &Limits,
    ours: &mut Option<TargetId>,
) -> Result<Standing, Error> {
    let deadline = Instant::now() + limits.attach().span();
    let listed = link
        .call(None, GetTargetsParams::default(), limits.call())
        .await
        .map_err(|e| browser_fault(&e))?;
    let (target, opened) = match choose(&pages(&listed), wish)? {
        Choice::Use(id) => (id, false),
        Choice::Open(address) => {
            let target = open(link, &address, limits).await?;
            *ours = Some(target.clone());
            (target, true)
        }
    };
    let mut command = AttachToTargetParams::new(target.0.clone());
    command.flatten = Some(true);
    let answer = link
        .call(None, command, limits.call())
        .await
        .map_err(|error| match error {
            CallError::Refused(_) => Error::Tab(TabFault::Gone { id: target.clone() }),
            CallError::Timeout(_)
            | CallError::Closed
            | CallError::Detached
            | CallError::Crashed
            | CallError::Malformed(_) => browser_fault(&error).into(),
        })?;
    let session = answer["sessionId"].as_str().unwrap_or_default();
    let page = Page {
        link: link.clone(),
        session: session.into(),
        limits: *limits,
    };
    let armed = async {
        let frame = arm(&page, scripts).await.map_err(|e| page_fault(&e))?;
        let mut worlds = Worlds {
            frame,
            name: scripts.world.clone(),
            ..Worlds::default()
        };
        let mut early = Early::default();
        let seen = (&mut worlds, &mut early);
        let address = settle(&page, events, seen, scripts, opened, deadline).await?;
        Ok::<_, Error>((worlds, address, early))
    };
    match armed.await {
        Ok((worlds, address, early)) => Ok(Standing {
            page,
            target,
            worlds,
            address,
            early,
        }),
        Err(error) => {
            detach(&page).await;
            // A tab that closed meanwhile says so, whatever failed first.
            if let Error::Page(_) = &error
                && !exists(link, &target, limits).await.unwrap_or(true)
            {
                return Err(TabFault::Gone { id: target }.into());
            }
            Err(error)
        }
    }
}

/// Whether the browser still lists the tab.
pub(crate) async fn exists(
    link: &Link,
    target: &TargetId,
    limits: &Limits,
) -> Result<bool, CallError> {
    let listed = link
        .call(None, GetTargetsParams::default(), limits.call())
        .await?;
    Ok(pages(&listed).iter().any(|tab| tab.id == *target))
}

/// Closes a tab and sees it gone: the browser answers before it is.
pub(crate) async fn close_tab(
    link: &Link,
    target: &TargetId,
    limits: &Limits,
) -> Result<(), CallError> {
    let command = CloseTargetParams::new(target.0.clone());
    let asked = link.call(None, command, limits.call()).await;
    let gone = async {
        // It may have gone by itself, whatever the answer was.
        while exists(link, target, limits).await? {
            if let Err(error) = &asked {
                return Err(error.clone());
            }
            sleep(GONE_STEP).await;
        }
        Ok(())
    };
    let limit = limits.tab_gone();
    let gone = timeout(limit.span(), gone).await;
    gone.unwrap_or(Err(CallError::Timeout(limit.0)))
}

/// Ends our session; the tab stays as it is.
pub(crate) async fn detach(page: &Page) {
    let command = DetachFromTargetParams {
        session_id: Some(SessionId::from(page.session.to_string())),
    };
    if let Err(error) = page.link.call(None, command, page.limits.call()).await {
        tracing::debug!(%error, "the session did not end in order");
    }
}

async fn open(link: &Link, address: &str, limits: &Limits) -> Result<TargetId, Error> {
    let mut command = CreateTargetParams::new(address);
    command.background = Some(true);
    let answer = match link.call(None, command, limits.call()).await {
        Err(CallError::Refused(_)) => {
            // A browser without any window has no place for a tab.
            let mut command = CreateTargetParams::new(address);
            command.new_window = Some(true);
            link.call(None, command, limits.call()).await
        }
        answer => answer,
    };
    let answer = answer.map_err(|e| browser_fault(&e))?;
    match answer["targetId"].as_str() {
        Some(id) => Ok(TargetId(id.to_owned())),
        None => Err(TabFault::MayNotOpen.into()),
    }
}

/// Enables what we listen to and puts the scripts in. Gives the main frame.
async fn arm(page: &Page, scripts: &Scripts) -> Result<String, CallError> {
    page.call(page_domain::EnableParams::default()).await?;
    page.call(inspector::EnableParams::default()).await?;
    let tree = page
        .call(page_domain::GetFrameTreeParams::default())
        .await?;
    let frame = tree["frameTree"]["frame"]["id"]
        .as_str()
        .ok_or_else(|| CallError::Malformed("the page tells no main frame".to_owned()))?
        .to_owned();
    //= spec C2
    // From here to the end of the session the page renders as if looked at.
    page.call(SetFocusEmulationEnabledParams::new(true)).await?;
    page.call(network::EnableParams {
        max_post_data_size: Some(POST_BYTES_MAX),
        ..Default::default()
    })
    .await?;
    page.call(runtime::EnableParams::default()).await?;
    let mut command = runtime::AddBindingParams::new(BINDING);
    command.execution_context_name = Some(scripts.world.clone());
    page.call(command).await?;
    let mut command = page_domain::AddScriptToEvaluateOnNewDocumentParams::new(source(scripts));
    command.world_name = Some(scripts.world.clone());
    command.run_immediately = Some(true);
    page.call(command).await?;
    Ok(frame)
}

/// The scripts of the isolated world as one text. They stand in the tab's own
/// document only, not in the frames within it.
fn source(scripts: &Scripts) -> String {
    format!(
        "(() => {{ if (window !== window.top) return;\n{}\n;\n{}\n;\n{}\n}})();",
        scripts.observe, scripts.compose, scripts.submit_guard
    )
}

/// Waits until the observer stands in a document, and gives its address.
async fn settle(
    page: &Page,
    events: &mut mpsc::Receiver<Incoming>,
    (worlds, early): (&mut Worlds, &mut Early),
    scripts: &Scripts,
    opened: bool,
    deadline: Instant,
) -> Result<String, Error> {
    loop {
        while let Ok(incoming) = events.try_recv() {
            take(page, worlds, early, incoming)?;
        }
        if let Some(world) = worlds.ours.clone() {
            match stands(page, &world, scripts).await {
                // A tab just opened shows an empty document first.
                Ok(address) if opened && address == "about:blank" => {}
                Ok(address) => return Ok(address),
                Err(error) => {
                    while let Ok(incoming) = events.try_recv() {
                        take(page, worlds, early, incoming)?;
                    }
                    // The document may have gone under us; then look again.
                    if worlds.ours.as_ref() == Some(&world) {
                        return Err(page_fault(&error).into());
                    }
                    continue;
                }
            }
        }
        match timeout_at(deadline, events.recv()).await {
            Ok(Some(incoming)) => take(page, worlds, early, incoming)?,
            Ok(None) => {
                return Err(BrowserFault::Ended {
                    why: page.link.end(),
                }
                .into());
            }
            Err(_) => {
                return Err(PageFault::Scripts {
                    why: "no document came within attach_ms".to_owned(),
                }
                .into());
            }
        }
    }
}

fn take(
    page: &Page,
    worlds: &mut Worlds,
    early: &mut Early,
    incoming: Incoming,
) -> Result<(), Error> {
    let Incoming::Event(event) = incoming else {
        return Ok(());
    };
    // What does not parse here is a request or a dialog of no concern yet.
    let sight = watch::read(event, &page.session).unwrap_or(Sight::Nothing);
    worlds.see(&sight);
    match sight {
        Sight::DialogOpened { .. } => Err(PageFault::Dialog.into()),
        Sight::Crashed => Err(PageFault::Silent {
            why: "its renderer crashed".to_owned(),
        }
        .into()),
        Sight::Detached { why } => Err(PageFault::Silent { why }.into()),
        Sight::Net(net) => {
            early.keep(net);
            Ok(())
        }
        Sight::Said { .. }
        | Sight::WorldCame { .. }
        | Sight::WorldGone { .. }
        | Sight::WorldsCleared
        | Sight::DialogClosed
        | Sight::Nothing => Ok(()),
    }
}

/// Sees that the observer stands in a world, putting it there if need be, and
/// gives the document's address.
pub(crate) async fn stands(
    page: &Page,
    world: &World,
    scripts: &Scripts,
) -> Result<String, CallError> {
    const CHECK: &str = "typeof brb === 'object' && typeof brbCompose === 'object' && typeof brbGuard === 'object' ? location.href : null";
    let limit = page.limits.call();
    if let Some(address) = page.evaluate(world, CHECK, limit).await?.as_str() {
        return Ok(address.to_owned());
    }
    page.evaluate(world, &source(scripts), limit).await?;
    match page.evaluate(world, CHECK, limit).await?.as_str() {
        Some(address) => Ok(address.to_owned()),
        None => Err(CallError::Refused("the scripts define no brb".to_owned())),
    }
}

fn browser_fault(error: &CallError) -> BrowserFault {
    BrowserFault::Ended {
        why: error.to_string(),
    }
}

pub(crate) fn page_fault(error: &CallError) -> PageFault {
    match error {
        CallError::Refused(why) | CallError::Malformed(why) => {
            PageFault::Scripts { why: bounded(why) }
        }
        CallError::Timeout(_) | CallError::Closed | CallError::Detached | CallError::Crashed => {
            PageFault::Silent {
                why: error.to_string(),
            }
        }
    }
}
