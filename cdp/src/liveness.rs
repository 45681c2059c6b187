//! Which heartbeats are alive. Pure: it is told of ticks and answers, and says
//! what to ask and what is dead.

use protocol::page::{Beat, Pulse};
use tokio::time::Instant;

use crate::limits::Limits;

/// The two heartbeats of an attachment.
#[derive(Debug)]
pub(crate) struct Hearts {
    limits: Limits,
    browser: Side,
    renderer: Side,
    /// Since when a look is awaited: whatever is asked of the page shows its silence.
    look: Option<Instant>,
    said: Beat,
}

#[derive(Debug, Default)]
struct Side {
    asked: Option<Instant>,
    missed: u32,
}

/// What one tick asks for.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Tick {
    /// Ask the browser.
    pub ask_browser: bool,
    /// Ask the renderer.
    pub ask_renderer: bool,
    /// The renderer is late: find out why.
    pub diagnose: bool,
    /// The browser is silent: the link is dead.
    pub dead: bool,
    /// The renderer is silent past its limit while the browser answers.
    pub hung: bool,
}

const ALIVE: Beat = Beat {
    browser: Pulse::Alive,
    renderer: Pulse::Alive,
};

impl Hearts {
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            limits,
            browser: Side::default(),
            renderer: Side::default(),
            look: None,
            said: ALIVE,
        }
    }

    /// One heartbeat's time has passed. `page` tells whether the renderer can
    /// be asked at all (no dialog in front of it, no document on its way).
    pub(crate) fn tick(&mut self, now: Instant, page: bool) -> Tick {
        let mut tick = Tick {
            ask_browser: self.browser.tick(now),
            ..Tick::default()
        };
        tick.dead = self.browser.missed >= self.limits.heartbeat_misses;
        if !page {
            self.renderer = Side {
                asked: None,
                missed: self.renderer.missed,
            };
            self.look = None;
            return tick;
        }
        tick.ask_renderer = self.renderer.tick(now);
        tick.hung = self.is_hung(now);
        tick.diagnose = !tick.ask_renderer && self.browser.missed == 0 && !tick.hung;
        tick
    }

    /// When the renderer has been silent for its limit; none while nothing is awaited
    /// of it. A silent browser explains a silent renderer.
    pub(crate) fn hung_at(&self) -> Option<Instant> {
        let first = [self.renderer.asked, self.look].into_iter().flatten().min();
        first
            .filter(|_| self.browser.missed == 0)
            .map(|asked| asked + self.limits.renderer().span())
    }

    /// Whether it has.
    pub(crate) fn is_hung(&self, now: Instant) -> bool {
        self.hung_at().is_some_and(|at| at <= now)
    }

    /// Whatever is awaited of the renderer is awaited from now on.
    pub(crate) fn excuse(&mut self, now: Instant) {
        self.renderer.asked = self.renderer.asked.map(|_| now);
        self.look = self.look.map(|_| now);
    }

    /// A look was asked for; one that is awaited already is the older question.
    pub(crate) fn look_asked(&mut self, now: Instant) {
        self.look.get_or_insert(now);
    }

    /// A look was given, or refused: the renderer answers.
    pub(crate) fn look_answered(&mut self) {
        self.look = None;
    }

    /// The browser answered.
    pub(crate) fn browser_answered(&mut self) {
        self.browser = Side::default();
    }

    /// The renderer answered.
    pub(crate) fn renderer_answered(&mut self) {
        self.renderer = Side::default();
    }

    /// The state, where it differs from the one said last.
    pub(crate) fn news(&mut self) -> Option<Beat> {
        let now = Beat {
            browser: self.browser.pulse(),
            renderer: self.renderer.pulse(),
        };
        (now != self.said).then(|| {
            self.said = now;
            now
        })
    }
}

impl Side {
    /// Whether to ask now; an ask still open is a miss.
    fn tick(&mut self, now: Instant) -> bool {
        if self.asked.is_some() {
            self.missed += 1;
            false
        } else {
            self.asked = Some(now);
            true
        }
    }

    fn pulse(&self) -> Pulse {
        if self.missed == 0 {
            Pulse::Alive
        } else {
            Pulse::Missed
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    struct Watch {
        hearts: Hearts,
        now: Instant,
    }
    impl Watch {
        fn new() -> Self {
            Self {
                hearts: Hearts::new(Limits::DEFAULT),
                now: Instant::now(),
            }
        }
        fn tick(&mut self, page: bool) -> Tick {
            let tick = self.hearts.tick(self.now, page);
            self.now += Duration::from_millis(Limits::DEFAULT.heartbeat_ms);
            tick
        }
    }

    #[test]
    fn a_link_is_dead_at_its_second_miss_and_not_at_the_first() {
        let mut watch = Watch::new();
        assert!(watch.tick(false).ask_browser);
        assert!(!watch.tick(false).dead);
        assert_eq!(watch.hearts.news().map(|b| b.browser), Some(Pulse::Missed));
        assert!(watch.tick(false).dead);
    }

    #[test]
    fn an_answer_after_one_miss_makes_it_alive_again() {
        let mut watch = Watch::new();
        watch.tick(true);
        watch.tick(true);
        assert!(watch.hearts.news().is_some());
        watch.hearts.browser_answered();
        watch.hearts.renderer_answered();
        assert_eq!(watch.hearts.news(), Some(ALIVE));
        assert!(watch.tick(true).ask_browser);
        assert_eq!(watch.hearts.news(), None);
    }

    #[test]
    fn a_renderer_is_hung_at_its_limit_while_the_browser_answers() {
        let mut watch = Watch::new();
        let mut ticks = 0;
        loop {
            let tick = watch.tick(true);
            watch.hearts.browser_answered();
            if tick.hung {
                break;
            }
            assert_eq!(tick.diagnose, ticks > 0);
            ticks += 1;
        }
        assert_eq!(
            ticks * Limits::DEFAULT.heartbeat_ms,
            Limits::DEFAULT.renderer_ms
        );
    }

    #[test]
    fn a_look_that_is_not_given_shows_a_hang_half_a_beat_before_the_heart_does() {
        let limits = Limits::DEFAULT;
        let mut watch = Watch::new();
        let began = watch.now;
        let half = Duration::from_millis(limits.heartbeat_ms / 2);
        let limit = Duration::from_millis(limits.renderer_ms);
        watch.tick(true);
        watch.hearts.browser_answered();
        watch.hearts.renderer_answered();
        watch.hearts.look_asked(began + half);
        watch.hearts.look_asked(began + half * 3);
        assert_eq!(watch.hearts.hung_at(), Some(began + half + limit));
        let last = began + half + limit - Duration::from_millis(1);
        assert!(!watch.hearts.is_hung(last));
        assert!(watch.hearts.is_hung(began + half + limit));
        watch.hearts.look_answered();
        assert_eq!(watch.hearts.hung_at(), None);
    }

    #[test]
    fn a_silence_of_our_own_is_not_the_renderers() {
        let mut watch = Watch::new();
        watch.tick(true);
        watch.hearts.look_asked(watch.now);
        let late = watch.now + Duration::from_secs(60);
        assert!(watch.hearts.is_hung(late));
        watch.hearts.excuse(late);
        assert!(!watch.hearts.is_hung(late));
        let limit = Duration::from_millis(Limits::DEFAULT.renderer_ms);
        assert!(
            watch.hearts.is_hung(late + limit),
            "it is given its limit anew"
        );
    }

    #[test]
    fn a_silent_browser_explains_a_silent_renderer() {
        let mut watch = Watch::new();
        watch.tick(true);
        watch.tick(true);
        assert_eq!(watch.hearts.hung_at(), None);
    }

    #[test]
    fn behind_a_dialog_a_renderer_is_never_hung() {
        let mut watch = Watch::new();
        watch.tick(true);
        for _ in 0..30 {
            let tick = watch.tick(false);
            watch.hearts.browser_answered();
            assert!(!tick.hung && !tick.ask_renderer && !tick.diagnose);
        }
        assert!(watch.tick(true).ask_renderer, "asked again once it is gone");
    }
}
