//! Manual recovery: what a person may decide, what is forbidden, and why.
//!
//! Pure: choices come from the fold, the facts, and what a complete reading just
//! made shows. A choice becomes records; their fold is in `record::attest`. What a
//! person attests never outranks evidence: a reading that shows the contrary later
//! is a conflict before anything more is sent.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::facts::{Chain, Facts, Run};
use crate::{
    id::{PlanKey, Round, SendId},
    record::{Attested, Handshake, MayNot, NewLimit, PlanStage, Record, State},
    send::{Located, SendState},
    text::Private,
};

/// What was looked at just now, besides the facts.
#[derive(Debug, Clone, PartialEq)]
pub struct Seen {
    /// Where the message in flight stands in a complete reading; none where there
    /// was no such reading, or nothing is in flight.
    pub located: Option<Located>,
    /// Whether anything of a plan still works in the folder.
    pub folder: Folder,
    /// What the agent's wrapper left of the plan in doubt.
    pub trace: Trace,
}

/// What the record of the agent's own wrapper says of a plan whose end no relay saw.
//= spec M4
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trace {
    /// There is none, or it says neither.
    Nothing,
    /// Something of the plan ran.
    Began,
    /// Nothing of it was started.
    NotStarted,
}

/// The work folder's lock.
//= spec K6
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Folder {
    /// Nobody holds it.
    Free,
    /// Something still works there.
    Held {
        /// Which process, for people.
        by: String,
    },
}

/// What a person may choose.
//= spec M2
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "choice", rename_all = "snake_case")]
pub enum Choice {
    /// Attest that the message in doubt was sent.
    Sent {
        /// Which.
        send: SendId,
    },
    /// Attest that it was not.
    NotSent {
        /// Which.
        send: SendId,
    },
    /// Attest that the plan in doubt ran to its end, with a receipt.
    Ran {
        /// Its round.
        round: Round,
        /// The plan.
        plan: PlanKey,
    },
    /// Attest that it did not run.
    DidNotRun {
        /// Its round.
        round: Round,
        /// The plan.
        plan: PlanKey,
    },
    /// Let a plan run once although its like was started before.
    RunOnce {
        /// The plan.
        plan: PlanKey,
    },
    /// Lift the stop: what stood in the way is gone.
    Lift,
    /// Declare the contract anew: the model lost its context.
    Resync,
    /// Go on waiting for the reply, with the reads allowed once more.
    WaitOn,
    /// Give the session up for good.
    Abandon,
}

impl Choice {
    /// The word on the command line.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Sent { .. } => "sent",
            Self::NotSent { .. } => "not-sent",
            Self::Ran { .. } => "ran",
            Self::DidNotRun { .. } => "did-not-run",
            Self::RunOnce { .. } => "run-once",
            Self::Lift => "lift",
            Self::Resync => "resync",
            Self::WaitOn => "wait-on",
            Self::Abandon => "abandon",
        }
    }

    /// What the relay does after it.
    pub const fn means(&self) -> &'static str {
        match self {
            Self::Sent { .. } => "its reply is awaited; nothing is sent",
            Self::NotSent { .. } => {
                "that message is abandoned for ever, and another one goes in its place"
            }
            Self::Ran { .. } => {
                "the plan settles with the receipt that you give, and the next round carries it"
            }
            Self::DidNotRun { .. } => {
                "the plan is void and never started; RESUME goes on from the checkpoint"
            }
            Self::RunOnce { .. } => "this very plan is started once more, and not again",
            Self::Lift => "the relay looks at everything anew and goes on by the table",
            Self::Resync => "RESYNC declares the contract anew in the same conversation",
            Self::WaitOn => "the reply is read and awaited again; nothing is sent",
            Self::Abandon => "nothing of this session is ever sent or run again",
        }
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

/// A choice that the table does not leave, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// Which.
    pub choice: Choice,
    /// One sentence.
    pub why: String,
}

/// Everything that a person is told they may and may not do.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Choices {
    /// In the order in which they are numbered.
    pub offered: Vec<Choice>,
    /// What one might think of, and must not.
    pub refused: Vec<Refused>,
}

impl Choices {
    fn put(&mut self, choice: Choice, refused: Option<impl Into<String>>) {
        match refused {
            None => self.offered.push(choice),
            Some(why) => self.refused.push(Refused {
                choice,
                why: why.into(),
            }),
        }
    }
}

//= spec M1
//= spec M4
/// The choices that state, facts and reading leave.
pub fn choices(state: &State, facts: &Facts, seen: &Seen) -> Choices {
    let mut all = Choices::default();
    if state.is_closed() {
        return all;
    }
    about_the_send(state, facts, seen, &mut all);
    about_the_plan(state, facts, seen, &mut all);
    about_the_session(state, facts, &mut all);
    all
}

/// Why nothing may be attested at all without looking.
fn unread(facts: &Facts) -> Option<&'static str> {
    match facts.chain {
        Chain::Agrees => None,
        Chain::Unread | Chain::Partial => Some("the conversation was not read completely just now"),
        Chain::Conflicts => Some("the conversation contradicts the journal"),
    }
}

//= spec M4
fn about_the_send(state: &State, facts: &Facts, seen: &Seen, all: &mut Choices) {
    let Some(row) = state.in_flight() else {
        return;
    };
    let send = row.intent.send;
    if row.state() == SendState::Unknown {
        let stands = matches!(seen.located, Some(Located::Ours { .. }));
        let shown = stands.then_some("it stands in the conversation: that is proven without you");
        all.put(Choice::Sent { send }, unread(facts).or(shown));
        let contrary = stands.then_some("it stands in the conversation");
        all.put(Choice::NotSent { send }, unread(facts).or(contrary));
    }
    if row.state() != SendState::NotSent {
        all.put(Choice::WaitOn, conflicts(facts));
    }
}

fn conflicts(facts: &Facts) -> Option<&'static str> {
    (facts.chain == Chain::Conflicts).then_some("the conversation contradicts the journal")
}

//= spec K5
//= spec K6
fn about_the_plan(state: &State, facts: &Facts, seen: &Seen, all: &mut Choices) {
    let Some(row) = &state.plan else {
        return;
    };
    let (round, plan) = (row.accepted.round, row.accepted.key.clone());
    let held = match &seen.folder {
        Folder::Free => None,
        Folder::Held { by } => Some(format!("{by} still works in the folder")),
    };
    let running = (facts.run == Run::Running).then(|| "the plan is running".to_owned());
    match row.stage {
        PlanStage::InDoubt => {
            let why = held
                .or(running)
                .or_else(|| unread(facts).map(str::to_owned));
            // Evidence outranks what anybody says.
            //= spec M4
            let (ran, did_not) = match seen.trace {
                Trace::Nothing => (None, None),
                Trace::Began => (None, Some("its wrapper recorded that it began")),
                Trace::NotStarted => (Some("its wrapper recorded that nothing was started"), None),
            };
            let or = |contrary: Option<&str>| why.clone().or(contrary.map(str::to_owned));
            let key = plan.clone();
            all.put(Choice::Ran { round, plan: key }, or(ran));
            all.put(Choice::DidNotRun { round, plan }, or(did_not));
        }
        PlanStage::Accepted => match state.may_execute() {
            Err(MayNot::RanBefore | MayNot::EqualInDoubt) => {
                all.put(Choice::RunOnce { plan }, held);
            }
            // Below a standing stop the plan's own question is asked without it.
            Err(MayNot::Stopped) if is_like_one_started(state) => {
                all.put(Choice::RunOnce { plan }, held);
            }
            Err(MayNot::Stopped | MayNot::NoPlan | MayNot::AlreadyStarted | MayNot::NotForUs)
            | Ok(_) => {}
        },
        PlanStage::Started { .. } => {}
    }
}

fn is_like_one_started(state: &State) -> bool {
    state.plan.as_ref().is_some_and(|plan| {
        state.started.contains(&plan.accepted.digest) || state.doubted.contains(&plan.accepted.body)
    })
}

fn about_the_session(state: &State, facts: &Facts, all: &mut Choices) {
    let in_doubt = matches!(
        state.plan.as_ref().map(|plan| &plan.stage),
        Some(PlanStage::InDoubt | PlanStage::Started { .. })
    );
    let unknown = state
        .in_flight()
        .is_some_and(|row| row.state() == SendState::Unknown);
    if state.standing_stop().is_some() {
        let why = in_doubt.then_some("whether the plan ran has to be said first");
        all.put(Choice::Lift, why);
    }
    if matches!(state.handshake, Handshake::Held | Handshake::Refused) {
        let why = unread(facts)
            .or_else(|| in_doubt.then_some("whether the plan ran has to be said first"))
            .or_else(|| unknown.then_some("nothing is sent over a message in doubt"));
        all.put(Choice::Resync, why);
    }
    all.put(Choice::Abandon, None::<&str>);
}

/// What a person gives with a choice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    /// Who chooses.
    pub who: String,
    /// What they rest it on.
    pub why: String,
    /// How the plan ended, for [`Choice::Ran`].
    pub receipt: Option<(bool, Private)>,
    /// A new limit, for [`Choice::Lift`] and [`Choice::WaitOn`].
    pub limit: Option<NewLimit>,
}

impl Choice {
    /// The records that make it durable, in order: the attestation, and the lifting
    /// of a stop that stood because of what is settled thereby. None where the
    /// choice needs a receipt and has none.
    //= spec M2
    pub fn records(&self, state: &State, given: &Given) -> Option<Vec<Record>> {
        let (who, why) = (given.who.clone(), given.why.clone());
        let say = |what| Record::Attested {
            who: given.who.clone(),
            why: given.why.clone(),
            what,
        };
        let mut records = match self {
            Self::Sent { send } => vec![say(Attested::Sent { send: *send })],
            Self::NotSent { send } => vec![say(Attested::NotSent { send: *send })],
            Self::Ran { round, plan } => {
                let (ok, receipt) = given.receipt.clone()?;
                vec![say(Attested::Ran {
                    round: *round,
                    plan: plan.clone(),
                    ok,
                    receipt,
                })]
            }
            Self::DidNotRun { round, plan } => vec![say(Attested::DidNotRun {
                round: *round,
                plan: plan.clone(),
            })],
            Self::RunOnce { plan } => vec![say(Attested::RunOnce { plan: plan.clone() })],
            Self::Resync => vec![say(Attested::Resync)],
            Self::Lift | Self::WaitOn => Vec::new(),
            Self::Abandon => return Some(vec![Record::Abandoned { who, why }]),
        };
        if state.standing_stop().is_some() {
            records.push(Record::Lifted {
                who,
                why,
                limit: given.limit.clone(),
            });
        }
        Some(records)
    }
}
