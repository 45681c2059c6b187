//! A stream kept in bounded memory: its head, its tail, and how much stood between.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

/// Bytes kept from the start of a stream.
pub const HEAD_LEN_MAX: usize = 8 << 10;
/// Bytes kept from the end of a stream.
pub const TAIL_LEN_MAX: usize = 16 << 10;

/// What is kept of a stream while it runs.
#[derive(Debug, Default)]
pub struct Capture {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
}

/// What was kept of a stream, as text; invalid UTF-8 became U+FFFD.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Captured {
    /// The start, or all of it.
    pub head: String,
    /// The end; empty unless something was cut.
    pub tail: String,
    /// Bytes between the two.
    pub cut: u64,
    /// Bytes in all.
    pub total: u64,
    /// Whether bytes were found that are no UTF-8.
    pub invalid: bool,
}

impl Capture {
    /// Takes the next bytes; memory stays bounded whatever comes.
    pub fn push(&mut self, mut bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let room = HEAD_LEN_MAX - self.head.len();
        let first = room.min(bytes.len());
        self.head.extend_from_slice(&bytes[..first]);
        bytes = &bytes[first..];
        if bytes.len() >= TAIL_LEN_MAX {
            self.tail.clear();
            bytes = &bytes[bytes.len() - TAIL_LEN_MAX..];
        }
        let excess = (self.tail.len() + bytes.len()).saturating_sub(TAIL_LEN_MAX);
        self.tail.drain(..excess);
        self.tail.extend(bytes);
    }

    /// What was kept, as text. A character that the cut went through belongs to what was cut.
    #[must_use]
    pub fn finish(&self) -> Captured {
        let tail: Vec<u8> = self.tail.iter().copied().collect();
        let kept = (self.head.len() + tail.len()) as u64;
        if kept == self.total {
            let mut all = self.head.clone();
            all.extend_from_slice(&tail);
            let (head, invalid) = lossy(&all);
            return Captured {
                head,
                tail: String::new(),
                cut: 0,
                total: self.total,
                invalid,
            };
        }
        let head_len = whole_chars_len(&self.head);
        let skip = tail
            .iter()
            .take(3)
            .take_while(|b| (**b & 0xC0) == 0x80)
            .count();
        let (head, head_bad) = lossy(&self.head[..head_len]);
        let (tail_text, tail_bad) = lossy(&tail[skip..]);
        let kept = (head_len + tail.len() - skip) as u64;
        Captured {
            head,
            tail: tail_text,
            cut: self.total - kept,
            total: self.total,
            invalid: head_bad || tail_bad,
        }
    }
}

fn lossy(bytes: &[u8]) -> (String, bool) {
    match String::from_utf8_lossy(bytes) {
        std::borrow::Cow::Borrowed(s) => (s.to_owned(), false),
        std::borrow::Cow::Owned(s) => (s, true),
    }
}

/// The length without a character that has begun and not ended.
fn whole_chars_len(bytes: &[u8]) -> usize {
    for back in 1..=bytes.len().min(3) {
        let b = bytes[bytes.len() - back];
        if b & 0xC0 == 0x80 {
            continue;
        }
        let need = match b {
            0xC0..=0xDF => 2,
            0xE0..=0xEF => 3,
            0xF0..=0xF7 => 4,
            0..=0xBF | 0xF8..=0xFF => 1,
        };
        return if need > back {
            bytes.len() - back
        } else {
            bytes.len()
        };
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(bytes: &[u8], step: usize) -> Captured {
        let mut c = Capture::default();
        for chunk in bytes.chunks(step.max(1)) {
            c.push(chunk);
        }
        c.finish()
    }

    #[test]
    fn a_stream_of_exactly_what_fits_is_kept_whole_and_one_byte_more_is_cut_by_one() {
        let fits = vec![b'x'; HEAD_LEN_MAX + TAIL_LEN_MAX];
        let whole = of(&fits, 7_000);
        assert_eq!(
            (whole.cut, whole.head.len(), whole.tail.len()),
            (0, fits.len(), 0)
        );
        let more = vec![b'x'; fits.len() + 1];
        let cut = of(&more, 7_000);
        assert_eq!((cut.cut, cut.total), (1, more.len() as u64));
        assert_eq!(
            (cut.head.len(), cut.tail.len()),
            (HEAD_LEN_MAX, TAIL_LEN_MAX)
        );
    }

    #[test]
    fn chunks_of_any_size_give_the_same() {
        let bytes: Vec<u8> = (0..100_000u32).map(|n| b'a' + (n % 26) as u8).collect();
        let one = of(&bytes, bytes.len());
        for step in [1, 3, 4096, 65_536] {
            assert_eq!(of(&bytes, step), one);
        }
    }

    #[test]
    fn a_character_under_the_cut_counts_as_cut_and_makes_nothing_invalid() {
        let text = "é".repeat(40_000);
        let mut bytes = vec![b'a'];
        bytes.extend_from_slice(text.as_bytes());
        let c = of(&bytes, 1000);
        assert!(!c.invalid);
        assert_eq!(c.cut + (c.head.len() + c.tail.len()) as u64, c.total);
    }

    #[test]
    fn bytes_that_are_no_text_are_said() {
        let c = of(b"ok \xff\xfe end", 2);
        assert!(c.invalid);
        assert_eq!(c.head, "ok \u{fffd}\u{fffd} end");
    }
}
