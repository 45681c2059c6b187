//! What goes wrong in one session, and whether it did.

use std::collections::BTreeMap;

use fixtures::step::{Message, Phase};
use rand::{RngExt as _, rngs::ChaCha8Rng};

use super::fault::{At, Fault, Own, Placed, Side};

/// What goes wrong in one session.
#[derive(Debug, Clone, Default)]
pub struct Course {
    placed: Vec<Placed>,
    happened: Vec<bool>,
    weights: Option<Weights>,
    /// How often each fault happened.
    pub fired: BTreeMap<&'static str, u32>,
    /// When something went wrong last.
    last: u64,
}

/// How likely each fault is wherever it can happen. A seed takes a few of them alone,
/// so that each is met in the company of others, and often.
#[derive(Debug, Clone)]
struct Weights {
    faults: Vec<(Fault, u32)>,
    /// Kills around an effect, in a thousand.
    kill: u32,
    /// From then on nothing goes wrong.
    until: u64,
    left: u32,
}

impl Course {
    /// Nothing goes wrong.
    pub fn calm() -> Self {
        Self::default()
    }

    /// These happen, each once.
    pub fn of(placed: Vec<Placed>) -> Self {
        Self {
            happened: vec![false; placed.len()],
            placed,
            ..Self::default()
        }
    }

    /// A few faults at random.
    pub fn random(rng: &mut ChaCha8Rng, only: Option<Fault>) -> Self {
        let all = Fault::all();
        let many = rng.random_range(1..=6);
        let mut faults: Vec<_> = (0..many)
            .map(|_| {
                let fault = all[rng.random_range(0..all.len())];
                (fault, rng.random_range(2..40))
            })
            .collect();
        if let Some(only) = only {
            faults.push((only, 40));
        }
        let kill = [0, 0, 2, 10, 30][rng.random_range(0..5)];
        Self {
            weights: Some(Weights {
                faults,
                kill,
                until: rng.random_range(20_000..1_200_000),
                left: rng.random_range(1..=10),
            }),
            ..Self::default()
        }
    }

    /// Own faults that may happen at this phase.
    pub(super) fn candidates(&self, phase: Phase) -> Vec<Own> {
        let own = |fault: Fault| match fault {
            Fault::Own(own) if own.phases().contains(&phase) => Some(own),
            Fault::Own(_) | Fault::Page(_) => None,
        };
        let placed = self.placed.iter().filter_map(|placed| own(placed.fault));
        let weights = self.weights.iter().flat_map(|weights| &weights.faults);
        let drawn = weights.filter_map(|(fault, _)| own(*fault));
        let mut all: Vec<_> = placed.chain(drawn).filter(|own| !is_said(*own)).collect();
        all.dedup();
        all
    }

    /// What the remote is made to do wrong with this message.
    pub(super) fn said_wrong(&self) -> Vec<Own> {
        let own = |fault: Fault| match fault {
            Fault::Own(own) if is_said(own) => Some(own),
            Fault::Own(_) | Fault::Page(_) => None,
        };
        let placed = self.placed.iter().filter_map(|placed| own(placed.fault));
        let weights = self.weights.iter().flat_map(|weights| &weights.faults);
        placed
            .chain(weights.filter_map(|(fault, _)| own(*fault)))
            .collect()
    }

    /// Whether this fault happens here.
    pub(super) fn hit(
        &mut self,
        fault: Fault,
        message: Message,
        phase: Phase,
        now: u64,
        rng: &mut ChaCha8Rng,
    ) -> bool {
        let placed = self.placed.iter().zip(&mut self.happened);
        let mut open =
            placed.filter(|(placed, happened)| !**happened && placed.meets(fault, message, phase));
        if let Some((_, happened)) = open.next() {
            *happened = true;
            self.note(fault, now);
            return true;
        }
        let Some(weights) = &mut self.weights else {
            return false;
        };
        let weight = weights.faults.iter().find(|(one, _)| *one == fault);
        let Some((_, weight)) = weight.filter(|_| now < weights.until && weights.left > 0) else {
            return false;
        };
        if !rng.random_ratio(*weight, 100) {
            return false;
        }
        weights.left -= 1;
        self.note(fault, now);
        true
    }

    /// Whether the relay is killed around this effect.
    pub(super) fn kills(&mut self, nth: u32, side: Side, now: u64, rng: &mut ChaCha8Rng) -> bool {
        let at = At::Effect(nth, side);
        let fault = Fault::Own(Own::Kill);
        if let Some(found) = self.placed.iter().position(|placed| placed.at == at) {
            self.happened[found] = true;
            self.note(fault, now);
            return true;
        }
        let Some(weights) = &mut self.weights else {
            return false;
        };
        let may = weights.kill > 0 && now < weights.until && weights.left > 0;
        if !may || !rng.random_ratio(weights.kill, 1_000) {
            return false;
        }
        weights.left -= 1;
        self.note(fault, now);
        true
    }

    fn note(&mut self, fault: Fault, now: u64) {
        *self.fired.entry(fault.name()).or_default() += 1;
        self.last = now;
    }

    /// When something went wrong last, or may.
    pub(super) fn calm_from(&self) -> u64 {
        let until = self.weights.as_ref().map_or(0, |weights| weights.until);
        self.last.max(until)
    }

    /// Whether nothing goes wrong at this hour any more.
    pub(super) fn is_calm(&self, now: u64) -> bool {
        self.weights
            .as_ref()
            .is_none_or(|weights| now >= weights.until || weights.left == 0)
    }

    /// What was placed and did not happen.
    pub fn missed(&self) -> Option<Placed> {
        let placed = self.placed.iter().zip(&self.happened);
        placed
            .filter(|(_, happened)| !**happened)
            .map(|(placed, _)| *placed)
            .next()
    }
}

/// Whether it is in what the remote says.
fn is_said(own: Own) -> bool {
    match own {
        Own::BadAck
        | Own::Prose
        | Own::TwoBlocks
        | Own::BadFrame
        | Own::NoSection
        | Own::ProseOnly
        | Own::PlanEarly
        | Own::PlanAgain
        | Own::Blocked
        | Own::ThinksLong
        | Own::OpenFence => true,
        Own::Kill
        | Own::Link
        | Own::Detached
        | Own::Browser
        | Own::TabClosed
        | Own::Crash
        | Own::AnswerLost
        | Own::Stale
        | Own::Malformed
        | Own::BeatMissed
        | Own::DiskEio
        | Own::DiskFull
        | Own::TornTail
        | Own::Fenced
        | Own::AgentFails
        | Own::AgentNever
        | Own::AgentDies
        | Own::AgentHangs
        | Own::AgentOutlives
        | Own::AgentKilledToo
        | Own::AskExpires
        | Own::PersonTypes
        | Own::PersonEdits
        | Own::PersonQuotes
        | Own::Signal => false,
    }
}
