//! Doing it.

use std::{fmt, io, path::Path, time::Duration};

use fixtures::log::Role;
use nix::{sys::signal::Signal, unistd::Pid};
use protocol::time::WallMs;
use serde_json::{Value, json};

use super::{
    child::Relay,
    procs,
    proxy::Cut,
    setting::Setting,
    tab::{Tab, TabError},
    what::{Fault, How, TabAct},
};
use crate::clock;

/// How long a stopped browser stays stopped.
const STOPPED_MS: u64 = 4_000;
/// How long the tab stays away: long enough to be seen there.
const AWAY_MS: u64 = 1_500;

/// How long an open page may take to show what came by another window.
const SHOWN_MS: u64 = 5_000;
/// Between two looks into it.
const LOOK_MS: u64 = 20;

/// How a person begins who quotes us.
const QUOTING: &str = "You wrote this, what does it mean?";

/// Why a fault could not be made to happen.
#[derive(Debug)]
pub enum InjectError {
    /// The browser's process is not to be found.
    NoBrowser,
    /// The tab could not be reached.
    Tab(TabError),
    /// The stand-in did not take it.
    Standin(String),
    /// The relay could not be started again.
    Relay(io::Error),
}

impl fmt::Display for InjectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoBrowser => f.write_str("the browser's process was not found"),
            Self::Tab(error) => error.fmt(f),
            Self::Relay(error) => write!(f, "the relay was not started again: {error}"),
            Self::Standin(why) => write!(f, "the stand-in did not take the fault: {why}"),
        }
    }
}

impl std::error::Error for InjectError {}

impl From<TabError> for InjectError {
    fn from(error: TabError) -> Self {
        Self::Tab(error)
    }
}

/// What is still to be done after the run went on.
pub enum After {
    /// Nothing.
    Nothing,
    /// Our session with the tab is to stand until the run is over: what it was told
    /// may still be on its way.
    Stand(Box<Tab>),
    /// The browser is to go on.
    Continue(Pid),
    /// The tab is to come back.
    Back(Box<Tab>, String),
}

/// A page of no chat on the same site, for as long as there is no conversation.
const NO_CHAT: &str = "_standin/about";

/// Opens an alert once the script that asks for it is over.
const ALERT: &str = "setTimeout(() => alert('Are you still there?'), 0)";

/// Has the page ask before it is left; it may, for a person has used it.
const ASK: &str = "addEventListener('beforeunload', (asked) => asked.preventDefault())";

/// Puts the caret into the composer.
const FOCUS: &str = "[...document.querySelectorAll('[contenteditable=\"true\"]')]\
    .find((box) => box.checkVisibility()).focus()";

/// The address of another conversation.
const OTHER: &str = "(() => { const ask = new XMLHttpRequest(); \
    ask.open('GET', '/backend-api/conversations', false); ask.send(); \
    const other = JSON.parse(ask.responseText).items.find(({ id }) => !location.href.includes(id)); \
    return location.origin + '/c/' + other.id; })()";

/// Whether whoever was typing for the relay is gone before it could answer.
pub fn takes_the_answer(fault: &Fault) -> bool {
    match fault {
        Fault::Act(act) => match act.how() {
            How::Cut(cut) => cut == Cut::Detach,
            How::Signal(signal) => signal != Signal::SIGSTOP,
            How::Tab(TabAct::Freeze | TabAct::Type) | How::OtherWindow | How::Relay => false,
            How::Tab(
                TabAct::Crash
                | TabAct::Loop
                | TabAct::Close
                | TabAct::Reload
                | TabAct::Away
                | TabAct::Alert
                | TabAct::Ask,
            ) => true,
        },
        Fault::Switch(_) => false,
        Fault::AtReload(_) => true,
    }
}

/// Makes it happen; when it did, by the wall clock.
///
/// # Errors
/// [`InjectError`] when it could not.
pub async fn inject(
    fault: &Fault,
    relay: &mut Relay,
    exe: &Path,
    setting: &Setting,
) -> Result<(WallMs, After), InjectError> {
    let bound = relay.journal().1.conversation.is_some();
    let how = match fault {
        Fault::Act(act) => act.how(),
        // It was set before.
        Fault::Switch(_) => return Ok((clock::wall(), After::Nothing)),
        Fault::AtReload(spec) => {
            let set = setting.standin.set_fault(spec.clone()).await;
            set.map_err(|error| InjectError::Standin(error.to_string()))?;
            How::Tab(TabAct::Reload)
        }
    };
    match how {
        How::Cut(cut) => {
            let at = clock::wall();
            setting.proxy.cut(cut);
            Ok((at, After::Nothing))
        }
        How::Signal(signal) => {
            let pid = procs::browser(&setting.profile()).ok_or(InjectError::NoBrowser)?;
            let at = clock::wall();
            procs::signal(pid, signal);
            let stopped = signal == Signal::SIGSTOP;
            Ok((
                at,
                if stopped {
                    After::Continue(pid)
                } else {
                    After::Nothing
                },
            ))
        }
        How::Relay => {
            relay.kill().await;
            let at = clock::wall();
            relay.go_on(exe, setting).map_err(InjectError::Relay)?;
            Ok((at, After::Nothing))
        }
        How::OtherWindow => {
            let at = clock::wall();
            if !setting.standin.somebody_writes(&quote(setting)).await {
                return Err(InjectError::Standin("no conversation".to_owned()));
            }
            shown(setting).await?;
            Ok((at, After::Nothing))
        }
        How::Tab(act) => {
            let tab = Tab::attach(&setting.profile(), &setting.standin.url).await?;
            Ok(on_the_tab(act, tab, setting, bound).await?)
        }
    }
}

/// Waits until the open page shows what somebody wrote: one that has not looked yet
/// may never, for the reply that comes then stands on a branch of its own.
async fn shown(setting: &Setting) -> Result<(), InjectError> {
    let mut tab = Tab::attach(&setting.profile(), &setting.standin.url).await?;
    let looks = SHOWN_MS / LOOK_MS;
    let there = format!("document.body.innerText.includes({QUOTING:?})");
    for _ in 0..looks {
        match tab.evaluate(&there).await {
            Ok(shown) if shown != true => {}
            // A relay that has seen it stops, and its browser goes with it.
            Ok(_) | Err(_) => return Ok(()),
        }
        tokio::time::sleep(Duration::from_millis(LOOK_MS)).await;
    }
    let why = "the open page never showed the message".to_owned();
    Err(InjectError::Standin(why))
}

/// A script in the page.
fn script(text: &str) -> Value {
    json!({ "expression": text })
}

async fn on_the_tab(
    act: TabAct,
    mut tab: Tab,
    setting: &Setting,
    bound: bool,
) -> Result<(WallMs, After), TabError> {
    let (method, params) = match act {
        TabAct::Crash => ("Page.crash", json!({})),
        TabAct::Loop => ("Runtime.evaluate", script("for (;;) {}")),
        TabAct::Freeze => ("Page.setWebLifecycleState", json!({ "state": "frozen" })),
        TabAct::Reload => ("Page.reload", json!({})),
        TabAct::Alert => ("Runtime.evaluate", script(ALERT)),
        TabAct::Ask => {
            tab.evaluate(ASK).await?;
            ("Page.reload", json!({}))
        }
        TabAct::Type => {
            tab.evaluate(FOCUS).await?;
            (
                "Input.insertText",
                json!({ "text": "Wait, I also wanted to say" }),
            )
        }
        TabAct::Close => {
            let at = clock::wall();
            tab.close().await?;
            return Ok((at, After::Stand(Box::new(tab))));
        }
        TabAct::Away => {
            let home = tab.evaluate("location.href").await?;
            let home = home.as_str().unwrap_or(&setting.standin.url).to_owned();
            let to = match bound {
                true => tab.evaluate(OTHER).await?,
                false => json!(format!("{}{NO_CHAT}", setting.standin.url)),
            };
            let at = clock::wall();
            tab.tell("Page.navigate", json!({ "url": to })).await?;
            return Ok((at, After::Back(Box::new(tab), home)));
        }
    };
    let at = clock::wall();
    tab.tell(method, params).await?;
    Ok((at, After::Stand(Box::new(tab))))
}

/// The head of our last message, as a person would quote it.
fn quote(setting: &Setting) -> String {
    let turns = setting.standin.turns().turns;
    let ours = turns.iter().rev().find(|turn| turn.role == Role::User);
    let head: Vec<&str> = ours.map_or("", |turn| &turn.text).lines().take(2).collect();
    format!("{QUOTING}\n{}", head.join("\n"))
}

/// What comes after a while, the run going on meanwhile.
pub async fn after(after: After, over: impl Future<Output = ()>) {
    match after {
        After::Nothing => {}
        After::Stand(tab) => {
            over.await;
            drop(tab);
        }
        After::Continue(pid) => {
            tokio::time::sleep(Duration::from_millis(STOPPED_MS)).await;
            procs::signal(pid, Signal::SIGCONT);
        }
        After::Back(mut tab, home) => {
            tokio::time::sleep(Duration::from_millis(AWAY_MS)).await;
            // A browser that the relay has closed by then needs no way back.
            let _ = tab.tell("Page.navigate", json!({ "url": home })).await;
        }
    }
}
