//! Getting a run to a step, knowing that it is there, and keeping it there while
//! something happens to it. Nothing here waits for time to pass: a step is reached
//! when the journal, the stand-in or the traffic says so.

use std::time::Duration;

use fixtures::{
    server::Hold,
    step::{Phase, Step},
};
use protocol::{
    record::{Entry, Record, State},
    send::SendKind,
};
use tokio::time::timeout;

use super::{
    child::{Relay, any},
    proxy::Gate,
    setting::Setting,
    tab::Tab,
    what::{At, ROUND},
};

/// How long what follows a reached step by itself may take to be there.
const FOLLOW_MS: u64 = 5_000;
/// Between two looks into the page.
const LOOK_MS: u64 = 20;

/// The page's composer holds a message of ours.
const TYPED: &str = "[...document.querySelectorAll('[contenteditable=\"true\"]')]\
    .some((box) => box.textContent.includes('pi-bridge/1'))";

/// A step that a run is to be disturbed at.
pub struct Watchpoint {
    at: At,
    hold: Option<Hold>,
}

impl Watchpoint {
    /// Sets what will keep the run there; before the relay is started.
    pub fn set(at: At, setting: &Setting) -> Self {
        let held = |phase| setting.standin.hold(Step::at(at.message(), phase));
        let hold = match at {
            At::HelloDispatched | At::RoundDispatched => Some(held(Phase::Accepted)),
            At::Thinking => Some(held(Phase::Thinking)),
            At::AckStreaming | At::Streaming => Some(held(Phase::Streaming)),
            At::Finished => Some(held(Phase::Settled)),
            At::BeforeHello | At::HelloTyped | At::RoundTyped | At::Executing | At::Settled => None,
        };
        if let Some(gate) = gate(at) {
            setting.proxy.hold_at(gate);
        }
        Self { at, hold }
    }

    /// Waits until the run is there; false if it never comes.
    pub async fn reached(&self, relay: &mut Relay, setting: &Setting) -> bool {
        if let Some(hold) = &self.hold {
            tokio::select! {
                () = hold.reached() => {}
                () = relay.over() => return false,
            }
        }
        if gate(self.at).is_some() {
            tokio::select! {
                () = setting.proxy.held() => {}
                () = relay.over() => return false,
            }
        }
        match self.at {
            At::HelloDispatched | At::RoundDispatched | At::Finished | At::BeforeHello => true,
            At::HelloTyped | At::RoundTyped => within(typed(setting)).await,
            At::AckStreaming => {
                let bound = relay.until(|_, state| state.conversation.is_some());
                within(bound).await
            }
            At::Thinking | At::Streaming => within(relay.until(|_, state| sent(state))).await,
            At::Executing => relay.until(|entries, _| started(entries)).await,
            At::Settled => relay.until(|entries, _| settled(entries)).await,
        }
    }

    /// Whether the run is still there.
    pub fn stands(&self, relay: &Relay, setting: &Setting) -> bool {
        let (entries, _) = relay.journal();
        match self.at {
            At::BeforeHello | At::HelloTyped | At::RoundTyped => setting.proxy.is_held(),
            At::HelloDispatched
            | At::AckStreaming
            | At::RoundDispatched
            | At::Thinking
            | At::Streaming => self.hold.as_ref().is_some_and(Hold::is_held),
            At::Finished => !judged(&entries),
            At::Executing => started(&entries) && !settled(&entries),
            At::Settled => settled(&entries) && !next_dispatched(&entries),
        }
    }

    /// Lets the run go on. `answered`: what the page was asked when it was held there
    /// is answered.
    ///
    /// # Errors
    /// When the plan cannot be told.
    pub fn let_go(&self, setting: &Setting, answered: bool) -> std::io::Result<()> {
        if answered {
            setting.proxy.release();
        } else {
            setting.proxy.release_without_answer();
        }
        if let Some(hold) = &self.hold {
            hold.release();
        }
        match self.at {
            At::Executing => setting.let_plan_go(),
            At::BeforeHello
            | At::HelloTyped
            | At::HelloDispatched
            | At::AckStreaming
            | At::RoundTyped
            | At::RoundDispatched
            | At::Thinking
            | At::Streaming
            | At::Finished
            | At::Settled => Ok(()),
        }
    }
}

/// Where the traffic between relay and browser is held for a step.
fn gate(at: At) -> Option<Gate> {
    let gate = |parts: &[&str], lets_through| Gate {
        contains: parts.iter().map(ToString::to_string).collect(),
        lets_through,
    };
    let typing = "return brbCompose.paste(argument)";
    match at {
        At::BeforeHello => Some(gate(&["\"brb.read()\""], false)),
        At::HelloTyped => Some(gate(&[typing, "# HELLO pi-bridge/1"], true)),
        At::RoundTyped => Some(gate(&[typing, "# ROUND pi-bridge/1"], true)),
        At::HelloDispatched
        | At::AckStreaming
        | At::RoundDispatched
        | At::Thinking
        | At::Streaming
        | At::Finished
        | At::Executing
        | At::Settled => None,
    }
}

async fn within(so: impl Future<Output = bool>) -> bool {
    let limit = Duration::from_millis(FOLLOW_MS);
    timeout(limit, so).await.unwrap_or(false)
}

async fn typed(setting: &Setting) -> bool {
    let Ok(mut tab) = Tab::attach(&setting.profile(), &setting.standin.url).await else {
        return false;
    };
    loop {
        match tab.evaluate(TYPED).await {
            Ok(value) if value == true => return true,
            Ok(_) => tokio::time::sleep(Duration::from_millis(LOOK_MS)).await,
            Err(_) => return false,
        }
    }
}

fn is_round(kind: SendKind, round: Option<u32>) -> bool {
    kind == SendKind::Round && round == Some(ROUND)
}

/// The disturbed round is known to be sent.
fn sent(state: &State) -> bool {
    state.sends.iter().any(|row| {
        let round = row.intent.round.map(|round| round.0);
        is_round(row.intent.message, round) && row.outcome.is_some()
    })
}

fn judged(entries: &[Entry]) -> bool {
    let sends = entries.iter().filter_map(|entry| {
        let Record::Intent(intent) = &entry.record else {
            return None;
        };
        let round = intent.round.map(|round| round.0);
        is_round(intent.message, round).then_some(intent.send)
    });
    let sends: Vec<_> = sends.collect();
    any(
        entries,
        |record| matches!(record, Record::Judged { send, .. } if sends.contains(send)),
    )
}

fn started(entries: &[Entry]) -> bool {
    any(
        entries,
        |record| matches!(record, Record::Started { round, .. } if round.0 == ROUND),
    )
}

fn settled(entries: &[Entry]) -> bool {
    any(
        entries,
        |record| matches!(record, Record::Settled { round, .. } if round.0 == ROUND),
    )
}

/// Something was dispatched after the disturbed round's receipt.
fn next_dispatched(entries: &[Entry]) -> bool {
    let after = entries
        .iter()
        .skip_while(|entry| !settled(std::slice::from_ref(*entry)));
    after
        .into_iter()
        .any(|entry| matches!(entry.record, Record::Dispatching { .. }))
}
