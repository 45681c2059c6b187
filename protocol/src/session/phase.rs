//! Where the machine stands, by name: for people, logs and the matrix.

use serde::{Deserialize, Serialize};

use super::live::{Act, AgentLive, Live, Pause, Submit};
use crate::{
    record::{PlanStage, State},
    reply,
    send::SendState,
};

/// Where the machine stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Waiting for the driver to attach.
    Attaching,
    /// Attached; waiting for a look that can be relied on.
    Looking,
    /// Reading the whole thread.
    Reading,
    /// A message is due and waits for its turn.
    Owing,
    /// Typing a message.
    Composing,
    /// The click is due or out.
    Submitting,
    /// The click is done; whether the message was sent is being proven.
    Proving,
    /// Sent; nothing is seen of a reply yet.
    Waiting,
    /// The page shows that the model thinks.
    Thinking,
    /// The reply is coming.
    Streaming,
    /// The reply looks finished and is being proven.
    Finishing,
    /// Pausing before a re-read or a re-attachment.
    Pausing,
    /// Policy and person decide on a plan.
    Approving,
    /// The agent's wrapper is being started.
    Spawning,
    /// A plan is being carried out.
    Executing,
    /// The agent was asked to stop.
    Stopping,
    /// A record is being stored.
    Storing,
    /// The run is over.
    Stopped,
}

pub(super) fn of(state: &State, live: &Live) -> Phase {
    if live.finished.is_some() {
        return Phase::Stopped;
    }
    if live.storing.is_some() {
        return Phase::Storing;
    }
    match live.agent {
        AgentLive::None => {}
        AgentLive::Preparing | AgentLive::Prepared => return Phase::Approving,
        AgentLive::Spawning | AgentLive::Ready { .. } => return Phase::Spawning,
        AgentLive::Adopting | AgentLive::Running { .. } | AgentLive::Reported(_) => {
            return Phase::Executing;
        }
        AgentLive::Stopping { .. } => return Phase::Stopping,
    }
    if state
        .plan
        .as_ref()
        .is_some_and(|plan| plan.stage == PlanStage::Accepted)
    {
        return Phase::Approving;
    }
    match live.pause {
        Pause::None | Pause::Over(_) => {}
        Pause::Due(_) | Pause::Asked(_) => return Phase::Pausing,
    }
    if live.attached.is_none() {
        return Phase::Attaching;
    }
    if live.look.as_ref().is_none_or(|seen| !seen.look.hydrated) || state.epoch < live.epoch {
        return Phase::Looking;
    }
    if live.read_in != Some(live.epoch) {
        return Phase::Reading;
    }
    flight(state, live)
}

fn flight(state: &State, live: &Live) -> Phase {
    let Some(row) = state.in_flight() else {
        return Phase::Owing;
    };
    match (row.state(), &live.submit) {
        (SendState::Sent, _) => reply(live),
        (SendState::NotSent, _) => Phase::Composing,
        (SendState::Unknown, Submit::Due | Submit::Out) => Phase::Submitting,
        (SendState::Unknown, Submit::None | Submit::Proving(_)) => match row.outcome {
            Some(_) => reply(live),
            None => Phase::Proving,
        },
    }
}

fn reply(live: &Live) -> Phase {
    if live.call.as_ref().is_some_and(|call| call.act == Act::Copy) {
        return Phase::Finishing;
    }
    match &live.verdict {
        Some(reply::Verdict::NotYet(progress)) => match progress.phase {
            reply::Phase::Nothing => Phase::Waiting,
            reply::Phase::Thinking => Phase::Thinking,
            reply::Phase::Streaming => Phase::Streaming,
            reply::Phase::Finishing => Phase::Finishing,
        },
        Some(_) => Phase::Finishing,
        None => Phase::Waiting,
    }
}
