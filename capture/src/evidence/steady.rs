//! How long something stood unchanged, by live looks alone.

use protocol::limits::COVERAGE_GAP_MS;
use protocol::time::{Millis, SpanMs};

/// A moment on both clocks: the relay's and the page's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Moment {
    /// The relay's monotonic clock.
    pub(crate) at: Millis,
    /// The page's clock, since its document began.
    pub(crate) page_ms: u64,
}

/// A value and the window over which looks saw it unchanged.
//= spec T1
#[derive(Debug, Clone)]
pub(crate) struct Steady<T> {
    value: T,
    since: Moment,
    until: Moment,
}

impl<T: PartialEq> Steady<T> {
    /// Seen for the first time.
    pub(crate) fn new(value: T, moment: Moment) -> Self {
        Self {
            value,
            since: moment,
            until: moment,
        }
    }

    /// Seen again. The window begins anew where the value changed, where no
    /// look came for too long, or where a clock went back.
    pub(crate) fn see(&mut self, value: T, moment: Moment) {
        let gap = moment.at.since(self.until.at);
        let back = moment.at < self.until.at || moment.page_ms < self.until.page_ms;
        if value != self.value || gap >= COVERAGE_GAP_MS || back {
            *self = Self::new(value, moment);
        } else {
            self.until = moment;
        }
    }

    /// What stands.
    pub(crate) fn value(&self) -> &T {
        &self.value
    }

    /// How long it stood, on the clock that says less.
    pub(crate) fn span(&self) -> SpanMs {
        let page = self.until.page_ms.saturating_sub(self.since.page_ms);
        self.until.at.since(self.since.at).min(page)
    }
}

/// Sees `value` in `slot`, or begins there.
pub(crate) fn see<T: PartialEq>(slot: &mut Option<Steady<T>>, value: T, moment: Moment) {
    match slot {
        Some(steady) => steady.see(value, moment),
        None => *slot = Some(Steady::new(value, moment)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(ms: u64) -> Moment {
        Moment {
            at: Millis(10_000 + ms),
            page_ms: ms,
        }
    }

    //= spec T1 type=test
    #[test]
    fn a_gap_of_two_seconds_begins_the_window_anew_and_one_under_does_not() {
        let mut steady = Steady::new("a", moment(0));
        steady.see("a", moment(1_999));
        assert_eq!(steady.span(), 1_999);
        steady.see("a", moment(1_999 + 2_000));
        assert_eq!(steady.span(), 0);
    }

    //= spec T1 type=test
    #[test]
    fn looks_that_came_late_in_a_heap_cover_only_the_pages_own_time() {
        let mut steady = Steady::new("a", moment(0));
        let late = Moment {
            at: Millis(11_500),
            page_ms: 20,
        };
        steady.see("a", late);
        assert_eq!(steady.span(), 20);
    }

    #[test]
    fn a_change_or_a_clock_that_went_back_begins_anew() {
        let mut steady = Steady::new("a", moment(0));
        steady.see("b", moment(100));
        assert_eq!(steady.span(), 0);
        steady.see("b", moment(300));
        assert_eq!(steady.span(), 200);
        let back = Moment {
            at: Millis(10_400),
            page_ms: 250,
        };
        steady.see("b", back);
        assert_eq!(steady.span(), 0);
    }
}
