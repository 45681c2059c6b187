//! How long to pause: the only place that chooses a delay.
//!
//! A delay is a guess about somebody else's trouble, so that it grows with
//! each try and is never the same for two relays (jitter).

use std::time::Duration;

use backoff::{ExponentialBackoff, ExponentialBackoffBuilder, backoff::Backoff};
use protocol::session::Pace;

/// How far around its middle a pause may lie, as a share of it.
const JITTER: f64 = 0.3;

/// More steps than any budget allows: the longest pause is reached long before.
const STEPS_MAX: u32 = 64;

/// How many times longer each pause is than the one before.
pub(crate) const GROWTH: u32 = 3;

/// Which try it is, the middle of the first pause, and the longest.
pub(crate) const fn shape(pace: Pace) -> (u32, u64, u64) {
    match pace {
        // A reply that stalls is given more time with each read.
        Pace::Read { nth } => (nth, 2_000, 120_000),
        // A link that dropped is often back at once, and the page is seen again
        // within a second of it.
        Pace::Reattach { nth } => (nth, 100, 30_000),
    }
}

/// The pause before the `nth` try of its kind, divided by `scale` (1 in earnest).
#[must_use]
pub fn pause(pace: Pace, scale: u32) -> Duration {
    let (nth, first_ms, longest_ms) = shape(pace);
    let mut steps: ExponentialBackoff = ExponentialBackoffBuilder::new()
        .with_initial_interval(Duration::from_millis(first_ms))
        .with_max_interval(Duration::from_millis(longest_ms))
        .with_multiplier(f64::from(GROWTH))
        .with_randomization_factor(JITTER)
        .with_max_elapsed_time(None)
        .build();
    let mut pause = Duration::ZERO;
    for _ in 0..=nth.min(STEPS_MAX) {
        // Without a longest total it always has a next step.
        pause = steps.next_backoff().unwrap_or(pause);
    }
    pause / scale.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn within(pause: Duration, middle_ms: u64) -> bool {
        let ms = pause.as_secs_f64() * 1_000.0;
        let middle = middle_ms as f64;
        (middle * 0.69..=middle * 1.31).contains(&ms)
    }

    #[test]
    fn each_try_waits_longer_until_the_longest_pause() {
        for (nth, middle_ms) in [
            (0, 2_000),
            (1, 6_000),
            (2, 18_000),
            (3, 54_000),
            (4, 120_000),
            (u32::MAX, 120_000),
        ] {
            let pause = pause(Pace::Read { nth }, 1);
            assert!(within(pause, middle_ms), "{nth}: {pause:?}");
        }
        for (nth, middle_ms) in [(0, 100), (1, 300), (4, 8_100), (6, 30_000)] {
            let pause = pause(Pace::Reattach { nth }, 1);
            assert!(within(pause, middle_ms), "{nth}: {pause:?}");
        }
    }

    #[test]
    fn a_time_scale_divides_the_pause() {
        assert!(within(pause(Pace::Read { nth: 1 }, 60), 100));
        assert!(within(pause(Pace::Read { nth: 0 }, 0), 2_000));
    }
}
