//! The clocks: read here and nowhere else.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use jiff::{Timestamp, tz::TimeZone};
use protocol::time::{Millis, SpanMs, WallMs};

/// The relay's clock: milliseconds that the session ran, over all its processes.
//= spec T1
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    // On Linux this is CLOCK_MONOTONIC, which stands still over a suspend.
    start: Instant,
    /// What the session ran before this process.
    before_ms: SpanMs,
}

impl Clock {
    /// A clock that begins at zero now.
    #[must_use]
    pub fn start() -> Self {
        Self::going_on(0)
    }

    /// A clock that goes on, now, from what earlier processes of the session ran.
    #[must_use]
    pub fn going_on(before_ms: SpanMs) -> Self {
        Self {
            start: Instant::now(),
            before_ms,
        }
    }

    /// The present instant.
    #[must_use]
    pub fn now(&self) -> Millis {
        let passed = self.start.elapsed().as_millis();
        let passed = u64::try_from(passed).unwrap_or(u64::MAX);
        Millis(self.before_ms.saturating_add(passed))
    }

    /// How long until `instant`; zero where it is past.
    #[must_use]
    pub fn until(&self, instant: Millis) -> std::time::Duration {
        std::time::Duration::from_millis(instant.since(self.now()))
    }
}

/// The wall clock, for records and people. No decision is taken from it.
#[must_use]
pub fn wall() -> WallMs {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let millis = since.map_or(0, |span| span.as_millis());
    WallMs(u64::try_from(millis).unwrap_or(u64::MAX))
}

/// An instant as people read it: local date, time and offset, to the second.
#[must_use]
pub fn shown(at: WallMs) -> String {
    shown_in(at, TimeZone::system())
}

fn shown_in(at: WallMs, zone: TimeZone) -> String {
    let stamp = i64::try_from(at.0).map(Timestamp::from_millisecond);
    match stamp {
        Ok(Ok(stamp)) => stamp
            .to_zoned_datetime(zone)
            .strftime("%Y-%m-%d %H:%M:%S %:z")
            .to_string(),
        Ok(Err(_)) | Err(_) => format!("{} ms", at.0),
    }
}

/// A span as people read it: `8 s`, `3 min`, `2 h`, `5 d`; whole units, rounded down.
#[must_use]
pub fn span(span: SpanMs) -> String {
    const UNITS: [(u64, &str); 3] = [(86_400, "d"), (3_600, "h"), (60, "min")];
    let seconds = span / 1_000;
    UNITS
        .iter()
        .find(|(unit, _)| seconds >= 2 * unit)
        .map_or_else(
            || format!("{seconds} s"),
            |(unit, name)| format!("{} {name}", seconds / unit),
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_never_goes_back_and_a_past_instant_is_not_waited_for() {
        let clock = Clock::start();
        let one = clock.now();
        assert!(clock.now() >= one);
        assert!(clock.until(Millis(0)).is_zero());
        assert!(!clock.until(one + 3_600_000).is_zero());
    }

    #[test]
    fn a_clock_goes_on_from_what_ran_before() {
        let clock = Clock::going_on(7_000);
        assert!(clock.now() >= Millis(7_000));
        assert!(clock.until(Millis(6_999)).is_zero());
    }

    #[test]
    fn an_instant_is_shown_with_its_offset_and_a_senseless_one_as_a_number() {
        let zone = TimeZone::fixed(jiff::tz::offset(2));
        let at = WallMs(1_760_000_000_000);
        assert_eq!(shown_in(at, zone.clone()), "2025-10-09 10:53:20 +02:00");
        assert_eq!(shown_in(WallMs(u64::MAX), zone), "18446744073709551615 ms");
    }

    #[test]
    fn a_span_changes_its_unit_at_two_of_the_next() {
        for (millis, text) in [
            (999, "0 s"),
            (119_999, "119 s"),
            (120_000, "2 min"),
            (7_199_999, "119 min"),
            (7_200_000, "2 h"),
            (172_799_999, "47 h"),
            (172_800_000, "2 d"),
        ] {
            assert_eq!(span(millis), text);
        }
    }
}
