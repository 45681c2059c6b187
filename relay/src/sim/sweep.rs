//! Many sessions: by seed, or every single fault at every step; and what came of them.

use std::{collections::BTreeMap, fmt};

use fixtures::{
    fault::FaultKind,
    step::{Message, Phase},
};
use rand::{SeedableRng as _, rngs::ChaCha8Rng};
use serde::Serialize;

use super::{
    check::Violation,
    course::Course,
    fault::{At, Fault, Own, Placed, Side},
    world::World,
};

/// A shape of session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scenario {
    /// Two rounds and done.
    Short,
    /// Eight rounds and done.
    Eight,
}

impl Scenario {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Short, Self::Eight];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Short => "short",
            Self::Eight => "eight",
        }
    }

    /// The round in which the remote is done.
    const fn rounds(self) -> u32 {
        match self {
            Self::Short => 2,
            Self::Eight => 8,
        }
    }
}

/// One session to be run.
#[derive(Debug, Clone)]
pub struct Case {
    /// What everything follows from.
    pub seed: u64,
    /// Its shape.
    pub scenario: Scenario,
    /// What goes wrong.
    pub wrong: Wrong,
}

/// What goes wrong in a session.
#[derive(Debug, Clone)]
pub enum Wrong {
    /// Nothing.
    Nothing,
    /// These, each once.
    Placed(Vec<Placed>),
    /// A few at random, and this one among them.
    Random(Option<Fault>),
}

/// A promise broken in a session.
#[derive(Debug, Clone)]
pub struct Found {
    /// Which session.
    pub case: Case,
    /// At which of its events.
    pub step: u64,
    /// What.
    pub violation: Violation,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "--scenario {} --from {} --seeds 1",
            self.scenario.name(),
            self.seed
        )?;
        match &self.wrong {
            Wrong::Nothing => f.write_str(" --calm"),
            Wrong::Placed(placed) => placed
                .iter()
                .try_for_each(|placed| write!(f, " --fault {placed}")),
            Wrong::Random(Some(fault)) => write!(f, " --fault {fault}"),
            Wrong::Random(None) => Ok(()),
        }
    }
}

impl Case {
    fn course(&self) -> Course {
        match &self.wrong {
            Wrong::Nothing => Course::calm(),
            Wrong::Placed(placed) => Course::of(placed.clone()),
            Wrong::Random(fault) => {
                // Apart from the world's own numbers, so that a calm world is the same.
                let mut rng = ChaCha8Rng::seed_from_u64(self.seed ^ 0x5eed_0000_0000_0000);
                Course::random(&mut rng, *fault)
            }
        }
    }

    /// Runs it; the world as it stands at the end, or where a promise was broken.
    pub fn run(&self, traced: bool) -> (World, Option<Violation>) {
        let rounds = self.scenario.rounds();
        let mut world = World::new(self.seed, rounds, self.course(), traced);
        let mut violation = world.run().err();
        if violation.is_none()
            && let Some(missed) = world.course.missed()
        {
            let what = format!("{missed} did not happen");
            violation = Some(Violation::new("fault", &what));
        }
        (world, violation)
    }
}

/// What came of many sessions.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Tally {
    /// Seeds.
    pub seeds: u64,
    /// Sessions.
    pub sessions: u64,
    /// Of those, ended before anything was sent.
    pub stopped_at_once: u64,
    /// Rounds whose plan settled.
    pub rounds_completed: u64,
    /// Messages that the servers took.
    pub messages: u64,
    /// Processes of relays.
    pub processes: u64,
    /// Faults that happened.
    pub fired: BTreeMap<&'static str, u64>,
    /// Rows that were taken.
    pub rows: BTreeMap<String, u64>,
    /// How the sessions ended.
    pub outcomes: BTreeMap<&'static str, u64>,
    /// Promises broken.
    pub violations: u64,
}

impl Tally {
    /// Takes one session in.
    pub fn take(&mut self, world: &World, violation: Option<&Violation>) {
        self.sessions += 1;
        self.rounds_completed += u64::from(world.checks.rounds);
        self.messages += u64::from(world.checks.judge.messages);
        self.processes += u64::from(world.processes);
        self.stopped_at_once += u64::from(world.checks.judge.messages == 0);
        for (name, times) in &world.course.fired {
            *self.fired.entry(name).or_default() += u64::from(*times);
        }
        for (row, times) in &world.checks.rows {
            *self.rows.entry(row.clone()).or_default() += u64::from(*times);
        }
        if let Some(stop) = world.stops.last() {
            *self.outcomes.entry(stop.outcome.name()).or_default() += 1;
        }
        self.violations += u64::from(violation.is_some());
    }
}

/// Every single fault at every step that the undisturbed session comes to, and a kill
/// around each of its effects.
pub fn singles(seed: u64, scenario: Scenario) -> Vec<Placed> {
    let case = Case {
        seed,
        scenario,
        wrong: Wrong::Nothing,
    };
    let (world, _) = case.run(false);
    let mut all = Vec::new();
    for fault in Fault::all() {
        for (message, phase) in &world.moments {
            let step = match message.as_str() {
                "" => (*phase).to_owned(),
                message => format!("{message}.{phase}"),
            };
            let placed: Result<Placed, _> = format!("{fault}@{step}").parse();
            all.extend(placed.ok().filter(|placed| needs_nothing_else(*placed)));
        }
    }
    for nth in 1..=world.effects {
        for side in [Side::Before, Side::After] {
            // Nothing is left to be killed after the last.
            if nth == world.effects && side == Side::After {
                continue;
            }
            all.push(Placed {
                fault: Fault::Own(Own::Kill),
                at: At::Effect(nth, side),
            });
        }
    }
    all
}

/// Whether the fault can happen in a session in which nothing else goes wrong: what
/// belongs to a load needs something that loads the page.
fn needs_nothing_else(placed: Placed) -> bool {
    match placed.at {
        At::Effect(..) => true,
        At::Step(step) => match placed.fault {
            // The address changes once in a session.
            Fault::Page(FaultKind::LateAddress) => step.message == Message::Hello,
            Fault::Page(_) | Fault::Own(_) => step.phase != Some(Phase::Load),
        },
    }
}
