//! Every wait, size and count has its name here, once.
//!
//! The shells (`relay`, `cdp`, `capture`) take their numbers from these; flags
//! and configuration keys carry the names of [`Limits::ALL`], unit last. Inside,
//! every span is in milliseconds, so that a test's time scale keeps its grain.

use serde::{Deserialize, Serialize};

use crate::time::SpanMs;

/// One limit as a person meets it: name, default, unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Named {
    /// The configuration key, unit last; the flag is the same with dashes.
    pub name: &'static str,
    /// The default.
    pub default: u64,
    /// The least value that makes sense.
    pub min: u64,
    /// The greatest value that is taken.
    pub max: u64,
    /// Whether a test-only time scale divides it.
    pub is_time: bool,
    /// What it bounds.
    pub what: &'static str,
}

macro_rules! limits {
    ($($(#[doc = $doc:literal])* $name:ident, $key:literal * $unit:literal: $default:literal in $min:literal ..= $max:literal, $time:literal;)*) => {
        /// The limits in force for one run.
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
        pub struct Limits {
            $($(#[doc = $doc])* pub $name: u64,)*
        }

        impl Default for Limits {
            fn default() -> Self {
                Self { $($name: $default * $unit,)* }
            }
        }

        impl Limits {
            /// All limits, in the order in which they are declared.
            pub const ALL: &'static [Named] = &[
                $(Named {
                    name: $key,
                    default: $default,
                    min: $min,
                    max: $max,
                    is_time: $time,
                    what: concat!($($doc),*),
                },)*
            ];

            /// The value of the limit of that name, in the name's own unit.
            pub fn get(&self, name: &str) -> Option<u64> {
                match name {
                    $($key => Some(self.$name / $unit),)*
                    _ => None,
                }
            }

            /// Sets the limit of that name, in the name's own unit.
            ///
            /// # Errors
            /// [`LimitError`] for an unknown name or a value out of range.
            pub fn set(&mut self, name: &str, value: u64) -> Result<(), LimitError> {
                match name {
                    $($key => {
                        if !($min..=$max).contains(&value) {
                            return Err(LimitError::OutOfRange { name: $key, min: $min, max: $max });
                        }
                        self.$name = value * $unit;
                        Ok(())
                    })*
                    _ => Err(LimitError::Unknown { name: name.to_owned() }),
                }
            }

            /// The same limits with every span divided by `scale` (at least 1 ms
            /// each). For tests alone: seven minutes take seven seconds.
            #[must_use]
            pub fn scaled(&self, scale: u32) -> Self {
                let scale = u64::from(scale.max(1));
                Self {
                    $($name: if $time { (self.$name / scale).max(1) } else { self.$name },)*
                }
            }
        }
    };
}

limits! {
    /// quiet text with an end witness from the stream
    quiet_ms, "quiet_ms" * 1: 300 in 50..=60_000, true;
    /// quiet text where no end witness can be had
    long_quiet_ms, "long_quiet_ms" * 1: 1_500 in 300..=600_000, true;
    /// how long the finished-action bar must stand
    bar_debounce_ms, "bar_debounce_ms" * 1: 250 in 50..=60_000, true;
    /// how long a submit without evidence may stay open before it is recorded unknown
    settle_ms, "settle_ms" * 1: 60_000 in 1_000..=3_600_000, true;
    /// how long after a submit the state shown becomes unknown
    evidence_ms, "evidence_ms" * 1: 10_000 in 500..=600_000, true;
    /// a streaming reply without any change
    reply_streaming_ms, "reply_streaming_s" * 1_000: 120 in 1..=3_600, true;
    /// a thinking reply without any change
    reply_thinking_ms, "reply_thinking_s" * 1_000: 2_400 in 1..=14_400, true;
    /// one round from its submit to its accepted plan
    round_ms, "round_s" * 1_000: 3_600 in 1..=86_400, true;
    /// composing one message
    compose_ms, "compose_s" * 1_000: 20 in 1..=600, true;
    /// one submit call
    submit_ms, "submit_s" * 1_000: 5 in 1..=60, true;
    /// any other call to the browser
    call_ms, "call_ms" * 1: 5_000 in 200..=60_000, true;
    /// the page's first hydrated look after an attach
    hydrate_ms, "hydrate_s" * 1_000: 20 in 1..=600, true;
    /// finding or starting the browser and attaching to the tab
    attach_ms, "attach_s" * 1_000: 30 in 1..=600, true;
    /// between two heartbeats
    heartbeat_ms, "heartbeat_ms" * 1: 1_000 in 100..=60_000, true;
    /// heartbeats missed before the link counts as dead
    heartbeat_misses, "heartbeat_misses" * 1: 2 in 1..=20, false;
    /// a page that answers nothing while the browser does
    renderer_ms, "renderer_ms" * 1: 5_000 in 500..=600_000, true;
    /// one execution of a plan
    agent_ms, "agent_s" * 1_000: 1_800 in 1..=86_400, true;
    /// waiting for a person's approval
    ask_ms, "ask_s" * 1_000: 600 in 1..=86_400, true;
    /// between two sends
    send_gap_ms, "send_gap_ms" * 1: 2_000 in 0..=600_000, true;
    /// sends within an hour
    sends_per_hour, "sends_per_hour" * 1: 60 in 1..=1_000, false;
    /// attempts of one send, each later one on proof of not-sent
    send_attempts_max, "send_attempts_max" * 1: 3 in 1..=3, false;
    /// the request, in characters
    request_len_max, "request_len_max" * 1: 170_000 in 1..=170_000, false;
    /// any message typed into the page, in characters
    message_len_max, "message_len_max" * 1: 200_000 in 1_000..=200_000, false;
    /// a receipt, in characters
    receipt_len_max, "receipt_len_max" * 1: 24_000 in 500..=24_000, false;
    /// one observation from the page, in bytes
    observation_bytes_max, "observation_bytes_max" * 1: 1_048_576 in 65_536..=16_777_216, false;
    /// one reply, in characters
    reply_len_max, "reply_len_max" * 1: 1_000_000 in 1_000..=10_000_000, false;
    /// rounds of a session
    rounds_max, "rounds_max" * 1: 50 in 1..=10_000, false;
    /// run time of a session, summed over its processes
    run_ms, "run_s" * 1_000: 21_600 in 1..=604_800, true;
    /// characters typed in a session
    typed_chars_max, "typed_chars_max" * 1: 2_000_000 in 1_000..=100_000_000, false;
    /// between asking an agent to stop and killing it
    stop_grace_ms, "stop_grace_ms" * 1: 3_000 in 100..=60_000, true;
    /// spawns that provably made no process
    spawn_retries_max, "spawn_retries_max" * 1: 2 in 0..=10, false;
    /// re-attachments from one checkpoint
    reattach_max, "reattach_max" * 1: 5 in 0..=50, false;
    /// re-reads from one checkpoint
    reads_max, "reads_max" * 1: 6 in 0..=50, false;
    /// RESUMEs from one checkpoint
    resume_max, "resume_max" * 1: 2 in 0..=10, false;
    /// RESYNCs from one checkpoint
    resync_max, "resync_max" * 1: 1 in 0..=5, false;
    /// re-attachments, RESUMEs and RESYNCs of a session together
    recoveries_max, "recoveries_max" * 1: 20 in 0..=200, false;
}

/// Why a limit was not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LimitError {
    /// No limit has this name.
    Unknown {
        /// The name given.
        name: String,
    },
    /// The value lies outside the range.
    OutOfRange {
        /// The limit.
        name: &'static str,
        /// The least value.
        min: u64,
        /// The greatest value.
        max: u64,
    },
}

impl std::fmt::Display for LimitError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unknown { name } => write!(f, "no limit is called {name}"),
            Self::OutOfRange { name, min, max } => {
                write!(f, "{name} must lie between {min} and {max}")
            }
        }
    }
}

impl std::error::Error for LimitError {}

impl Limits {
    /// What in these limits contradicts itself, if anything: relations that
    /// hold between the defaults and must hold between whatever replaces them.
    pub fn contradiction(&self) -> Option<&'static str> {
        let rules: [(bool, &'static str); 6] = [
            (
                self.quiet_ms <= self.long_quiet_ms,
                "quiet_ms must not exceed long_quiet_ms",
            ),
            (
                self.evidence_ms <= self.settle_ms,
                "evidence_ms must not exceed settle_ms",
            ),
            (
                self.submit_ms <= self.evidence_ms,
                "submit_ms must not exceed evidence_ms",
            ),
            (
                self.reply_streaming_ms <= self.reply_thinking_ms,
                "reply_streaming_ms must not exceed reply_thinking_ms",
            ),
            (
                self.long_quiet_ms < self.reply_streaming_ms,
                "long_quiet_ms must stay under reply_streaming_ms",
            ),
            (
                self.request_len_max + self.receipt_len_max + HEAD_LEN_MAX <= self.message_len_max,
                "request_len_max + receipt_len_max + 2000 must not exceed message_len_max",
            ),
        ];
        rules
            .into_iter()
            .find_map(|(holds, why)| (!holds).then_some(why))
    }
}

/// What a ROUND adds around request and receipt, in characters, at most.
pub const HEAD_LEN_MAX: u64 = 2_000;

/// The first signal stops at the next safe point, after this span at most.
pub const STOP_MS: SpanMs = 5_000;

/// A gap between two looks longer than this breaks a quiet window.
//= spec T1
pub const COVERAGE_GAP_MS: SpanMs = 2_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_do_not_contradict_one_another() {
        assert_eq!(Limits::default().contradiction(), None);
        for limit in Limits::ALL {
            assert!(
                (limit.min..=limit.max).contains(&limit.default),
                "{}",
                limit.name
            );
        }
    }

    #[test]
    fn a_limit_is_taken_at_its_ends_and_refused_one_beyond() {
        let mut limits = Limits::default();
        assert_eq!(limits.set("rounds_max", 1), Ok(()));
        assert_eq!(limits.set("rounds_max", 10_000), Ok(()));
        for out in [0, 10_001] {
            assert!(matches!(
                limits.set("rounds_max", out),
                Err(LimitError::OutOfRange { .. })
            ));
        }
        assert!(matches!(
            limits.set("round_max", 1),
            Err(LimitError::Unknown { .. })
        ));
        assert_eq!(limits.get("rounds_max"), Some(10_000));
    }

    #[test]
    fn a_time_scale_divides_spans_and_leaves_counts() {
        let limits = Limits::default().scaled(60);
        assert_eq!(limits.settle_ms, 1_000);
        assert_eq!(limits.rounds_max, 50);
        assert_eq!(limits.quiet_ms, 5);
        assert_eq!(Limits::default().scaled(0), Limits::default());
    }

    #[test]
    fn a_limit_in_seconds_is_kept_in_milliseconds() {
        let mut limits = Limits::default();
        assert_eq!(limits.round_ms, 3_600_000);
        assert_eq!(limits.set("round_s", 90), Ok(()));
        assert_eq!((limits.round_ms, limits.get("round_s")), (90_000, Some(90)));
        assert_eq!(limits.get("round_ms"), None);
    }

    #[test]
    fn swapped_windows_are_named() {
        let limits = Limits {
            quiet_ms: 1_501,
            ..Limits::default()
        };
        assert_eq!(
            limits.contradiction(),
            Some("quiet_ms must not exceed long_quiet_ms")
        );
    }
}
