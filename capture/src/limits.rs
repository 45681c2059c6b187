//! The limits of a proof, already scaled by whoever made them.

use protocol::limits;
use protocol::time::SpanMs;

/// Bytes of one text of a reply that are kept; a longer one is no source.
pub const TEXT_BYTES_MAX: usize = 4 << 20;
/// What one reply's evidence may hold in all, whatever comes: two texts of the
/// server, the different copies and what is shown, each with its comparison
/// form, and the streams that are decoded.
pub const EVIDENCE_BYTES_MAX: usize = 128 << 20;

/// The limits of a proof.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Unchanged text where the server said that nothing more comes.
    pub quiet_ms: SpanMs,
    /// Unchanged text where it did not.
    pub long_quiet_ms: SpanMs,
    /// How long the finished-action bar must stand.
    pub bar_debounce_ms: SpanMs,
    /// A streaming reply without any change.
    pub reply_streaming_ms: SpanMs,
    /// A thinking reply without any change.
    pub reply_thinking_ms: SpanMs,
    /// The whole wait, whatever happens.
    pub round_ms: SpanMs,
    /// An unknown layout or a missing mark, before it counts as drift.
    pub drift_ms: SpanMs,
    /// The reply's text, in characters.
    pub text_len_max: u64,
}

impl From<&limits::Limits> for Limits {
    fn from(all: &limits::Limits) -> Self {
        Self {
            quiet_ms: all.quiet_ms,
            long_quiet_ms: all.long_quiet_ms,
            bar_debounce_ms: all.bar_debounce_ms,
            reply_streaming_ms: all.reply_streaming_ms,
            reply_thinking_ms: all.reply_thinking_ms,
            round_ms: all.round_ms,
            drift_ms: all.hydrate_ms,
            text_len_max: all.reply_len_max,
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::from(&limits::Limits::default())
    }
}
