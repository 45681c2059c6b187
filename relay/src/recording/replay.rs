//! A recording's observations, one by one, and what is known after each.

use capture::Limits;
use protocol::page::Observation;

use super::{Awaiting, Judge, Judged, Recording};

/// One observation, and what is known after it.
#[derive(Debug, Clone)]
pub struct Step<'a> {
    /// When.
    pub t_ms: u64,
    /// What was seen; none for the end of the timeline.
    pub seen: Option<&'a Observation>,
    /// What is known.
    pub judged: Judged,
}

/// Takes observations through the proof one by one, and judges once more at `end_ms`.
#[must_use]
pub fn steps<'a>(
    awaiting: &Awaiting,
    seen: &'a [(u64, Observation)],
    end_ms: u64,
    limits: Limits,
) -> Vec<Step<'a>> {
    let mut judge = Judge::new(awaiting, limits);
    let mut steps: Vec<Step<'a>> = seen
        .iter()
        .map(|(t_ms, observation)| {
            judge.observe(*t_ms, observation);
            Step {
                t_ms: *t_ms,
                seen: Some(observation),
                judged: judge.judge(*t_ms),
            }
        })
        .collect();
    steps.push(Step {
        t_ms: end_ms,
        seen: None,
        judged: judge.judge(end_ms),
    });
    steps
}

/// What it came to: the first judgement that ends the wait, or else the last one.
#[must_use]
pub fn outcome<'a>(steps: &'a [Step<'_>]) -> Option<&'a Judged> {
    let judged = || steps.iter().map(|step| &step.judged);
    judged()
        .find(|judged| judged.is_final())
        .or(judged().next_back())
}

impl Recording {
    /// Its steps, under the limits as they are by default.
    #[must_use]
    pub fn steps(&self) -> Vec<Step<'_>> {
        steps(&self.awaiting, &self.seen, self.end_ms(), Limits::default())
    }
}
