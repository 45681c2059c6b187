//! The driver's limits, by name. The relay fills them in, already scaled.

/// How long things may take and how large they may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// One call to the browser or the page.
    pub call_ms: u64,
    /// Finding an endpoint and opening the socket.
    pub connect_ms: u64,
    /// Opening the socket where a person may first have to consent in the browser.
    pub consent_ms: u64,
    /// A started browser telling its endpoint.
    pub launch_ms: u64,
    /// From the socket to an observer that stands in the page.
    pub attach_ms: u64,
    /// A closed browser ending its process.
    pub exit_ms: u64,
    /// A closed tab leaving the browser's list.
    pub tab_gone_ms: u64,
    /// Between two heartbeats.
    pub heartbeat_ms: u64,
    /// So many unanswered heartbeats of the browser mean a dead link.
    pub heartbeat_misses: u32,
    /// A renderer that answers nothing for so long is hung.
    pub renderer_ms: u64,
    /// Between two looks asked for by the host, besides those the page pushes.
    pub look_ms: u64,
    /// Reading the whole thread.
    pub read_ms: u64,
    /// Putting a text into the composer and reading it back.
    pub compose_ms: u64,
    /// The send control becoming ready, and the click.
    pub submit_ms: u64,
    /// The page's own copy giving its text.
    pub copy_ms: u64,
    /// One observation of the page, in bytes.
    pub observation_bytes_max: usize,
    /// One event stream of the page, in bytes.
    pub stream_bytes_max: usize,
    /// A text that is typed at all, in characters.
    pub message_len_max: usize,
    /// A text typed by `Input.insertText`, in characters (its cost grows with the square).
    pub insert_chars_max: usize,
}

impl Limits {
    /// The limits as decided.
    pub const DEFAULT: Self = Self {
        call_ms: 5_000,
        connect_ms: 5_000,
        consent_ms: 60_000,
        launch_ms: 30_000,
        attach_ms: 30_000,
        exit_ms: 5_000,
        tab_gone_ms: 10_000,
        heartbeat_ms: 1_000,
        heartbeat_misses: 2,
        renderer_ms: 5_000,
        look_ms: 1_000,
        read_ms: 20_000,
        compose_ms: 20_000,
        submit_ms: 5_000,
        copy_ms: 3_000,
        observation_bytes_max: 1 << 20,
        stream_bytes_max: 16 << 20,
        message_len_max: 200_000,
        insert_chars_max: 4_000,
    };

    /// The longest that letting go of the browser takes, all told: a tab that was looked
    /// at is closed, or a browser of ours is asked, told and killed.
    #[must_use]
    pub const fn close_ms(&self) -> u64 {
        let tab = 2 * self.call_ms + self.tab_gone_ms;
        let browser = self.call_ms + 3 * self.exit_ms;
        if tab > browser { tab } else { browser }
    }

    pub(crate) fn call(&self) -> Limit {
        Limit("call_ms", self.call_ms)
    }
    pub(crate) fn connect(&self) -> Limit {
        Limit("connect_ms", self.connect_ms)
    }
    pub(crate) fn consent(&self) -> Limit {
        Limit("consent_ms", self.consent_ms)
    }
    pub(crate) fn launch(&self) -> Limit {
        Limit("launch_ms", self.launch_ms)
    }
    pub(crate) fn attach(&self) -> Limit {
        Limit("attach_ms", self.attach_ms)
    }
    pub(crate) fn exit(&self) -> Limit {
        Limit("exit_ms", self.exit_ms)
    }
    pub(crate) fn tab_gone(&self) -> Limit {
        Limit("tab_gone_ms", self.tab_gone_ms)
    }
    pub(crate) fn renderer(&self) -> Limit {
        Limit("renderer_ms", self.renderer_ms)
    }
    pub(crate) fn read(&self) -> Limit {
        Limit("read_ms", self.read_ms)
    }
    pub(crate) fn compose(&self) -> Limit {
        Limit("compose_ms", self.compose_ms)
    }
    pub(crate) fn submit(&self) -> Limit {
        Limit("submit_ms", self.submit_ms)
    }
    pub(crate) fn copy(&self) -> Limit {
        Limit("copy_ms", self.copy_ms)
    }
}

impl From<&protocol::limits::Limits> for Limits {
    /// The driver's part of a run's limits. Those that only the driver knows
    /// keep their defaults.
    ///
    /// (ours) A test's time scale makes waiting shorter and no browser faster:
    /// below these floors a healthy socket would look dead.
    fn from(run: &protocol::limits::Limits) -> Self {
        let count = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        Self {
            call_ms: run.call_ms.max(2_000),
            launch_ms: run.attach_ms.max(20_000),
            attach_ms: run.attach_ms.max(20_000),
            heartbeat_ms: run.heartbeat_ms.max(250),
            heartbeat_misses: u32::try_from(run.heartbeat_misses).unwrap_or(u32::MAX),
            renderer_ms: run.renderer_ms.max(2_000),
            look_ms: run.heartbeat_ms.max(50),
            compose_ms: run.compose_ms.max(10_000),
            submit_ms: run.submit_ms.max(2_000),
            observation_bytes_max: count(run.observation_bytes_max),
            message_len_max: count(run.message_len_max),
            ..Self::DEFAULT
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}

const _: () = {
    let l = Limits::DEFAULT;
    // A dead link is told before the calls on it time out one by one, and
    // before its silence could be taken for a hung renderer.
    assert!(l.heartbeat_ms * (l.heartbeat_misses as u64 + 1) < l.call_ms);
    assert!(l.heartbeat_ms * (l.heartbeat_misses as u64 + 1) < l.renderer_ms);
    // Looks cover the quiet window: gaps stay under two seconds (T1).
    assert!(l.look_ms < 2_000);
    assert!(l.call_ms < l.attach_ms);
    assert!(l.observation_bytes_max < l.stream_bytes_max);
};

/// A named span of time in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limit(pub &'static str, pub u64);

impl Limit {
    /// The span.
    pub(crate) fn span(self) -> std::time::Duration {
        std::time::Duration::from_millis(self.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_runs_defaults_are_the_drivers_and_a_scaled_run_keeps_sockets_alive() {
        let run = protocol::limits::Limits::default();
        assert_eq!(
            Limits::from(&run),
            Limits {
                launch_ms: run.attach_ms,
                ..Limits::DEFAULT
            }
        );
        let scaled = Limits::from(&run.scaled(1_000));
        assert_eq!((scaled.heartbeat_ms, scaled.call_ms), (250, 2_000));
        assert!(scaled.heartbeat_ms * 3 < scaled.call_ms);
    }
}
