//! Instants and spans as plain numbers, handed in by whoever may read a clock.

use std::{fmt, ops};

use serde::{Deserialize, Serialize};

//= spec T1
/// A reading of the relay's monotonic clock, in milliseconds from an arbitrary
/// start. It does not count suspend and means nothing in another process.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Millis(pub u64);

/// A span of time in milliseconds.
pub type SpanMs = u64;

impl Millis {
    /// How long ago `earlier` was; zero when it lies ahead.
    pub fn since(self, earlier: Self) -> SpanMs {
        self.0.saturating_sub(earlier.0)
    }
}

impl ops::Add<SpanMs> for Millis {
    type Output = Self;
    fn add(self, span: SpanMs) -> Self {
        Self(self.0.saturating_add(span))
    }
}

impl fmt::Display for Millis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ms", self.0)
    }
}

//= spec T1
/// A clock that never goes back: a `now` below the last is taken as the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Monotone(Millis);

impl Monotone {
    /// The later of `now` and everything seen before.
    pub fn at(&mut self, now: Millis) -> Millis {
        self.0 = self.0.max(now);
        self.0
    }
}

/// Wall time in milliseconds since 1970, as it stands in records and reports.
/// No verdict and no decision is ever taken from it.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct WallMs(pub u64);

#[cfg(test)]
mod tests {
    use super::*;

    //= spec T1 type=test
    #[test]
    fn a_clock_that_jumps_back_stands_still_until_it_catches_up() {
        let mut clock = Monotone::default();
        assert_eq!(clock.at(Millis(100)), Millis(100));
        assert_eq!(clock.at(Millis(40)), Millis(100));
        assert_eq!(clock.at(Millis(100)), Millis(100));
        assert_eq!(clock.at(Millis(101)), Millis(101));
    }

    #[test]
    fn a_span_to_a_later_instant_is_zero() {
        assert_eq!(Millis(5).since(Millis(9)), 0);
        assert_eq!(Millis(9).since(Millis(5)), 4);
    }
}
