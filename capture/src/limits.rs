//! The limits of a proof, already scaled by whoever made them.

use protocol::limits;
use protocol::time::SpanMs;

/// Bytes of one text of a reply that are kept; a longer one is no source.
pub const TEXT_BYTES_MAX: usize = 4 << 20;
/// Bytes of one text's comparison form, and of what is shown; a text that needs
/// more is no source.
pub const FORM_BYTES_MAX: usize = 16 << 20;
/// Bytes of a name that page or server give: a turn's, a request's, a mark's.
pub const NAME_BYTES_MAX: usize = 256;
/// Bytes of an address.
pub(crate) const ADDRESS_BYTES_MAX: usize = 16 << 10;
/// Missing marks that one look names.
pub(crate) const MARKS_MAX: usize = 64;
/// Different copies of one reply; more of them prove nothing more.
pub const COPIES_MAX: usize = 4;
/// Turns whose longest text is remembered: ours has one reply, or a few ids of it.
pub(crate) const TURNS_MAX: usize = 16;
/// What is held of our own stream, in bytes.
pub(crate) const OWN_STREAM_BYTES_MAX: usize = 16 << 20;
/// Streams that may turn out to be ours.
pub(crate) const OTHER_STREAMS_MAX: usize = 4;
/// What is held of each of them, in bytes.
pub(crate) const OTHER_STREAM_BYTES_MAX: usize = 2 << 20;
/// Entries of the trail; the oldest go first.
pub(crate) const TRAIL_MAX: usize = 512;
/// What one entry of the trail, one remembered turn or the like may take.
const ENTRY_BYTES_MAX: usize = 1 << 10;

/// What one reply's evidence may hold in all, whatever comes: the stream's text,
/// the page data's, the copies and our own message, each with its comparison
/// form; what is shown, as a tree and as a form; our message as it is shown; the
/// streams that are decoded; the trail and all names.
pub const EVIDENCE_BYTES_MAX: usize = (3 + COPIES_MAX) * (TEXT_BYTES_MAX + FORM_BYTES_MAX)
    + 2 * FORM_BYTES_MAX
    + TEXT_BYTES_MAX
    + OWN_STREAM_BYTES_MAX
    + OTHER_STREAMS_MAX * OTHER_STREAM_BYTES_MAX
    + (TRAIL_MAX + 2 * TURNS_MAX + MARKS_MAX + 64) * ENTRY_BYTES_MAX;

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
