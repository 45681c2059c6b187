//! The chain: each record's digest covers the one before it.

use protocol::{
    id::hex,
    record::Seq,
    time::{SpanMs, WallMs},
};
use sha2::{Digest as _, Sha256};

/// The digest of one record and of all before it.
pub(super) type Link = [u8; 32];

/// What the first record is chained to.
pub(super) fn genesis() -> Link {
    Sha256::digest(b"pi-bridge journal 1").into()
}

/// The digest of a record whose stored text is `body`, after `before`.
pub(super) fn link(before: &Link, seq: Seq, at: WallMs, run_ms: SpanMs, body: &str) -> Link {
    let mut hash = Sha256::new();
    hash.update(before);
    hash.update(seq.0.to_be_bytes());
    hash.update(at.0.to_be_bytes());
    hash.update(run_ms.to_be_bytes());
    hash.update(body.as_bytes());
    hash.finalize().into()
}

/// The last record stored, as the head file says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Head {
    pub seq: Seq,
    pub link: Link,
}

/// The head file's size: one line of fixed length, written over in place.
pub(super) const HEAD_LEN: usize = 20 + 1 + 64 + 1 + 8 + 1;

impl Head {
    pub(super) const fn new(seq: Seq, link: Link) -> Self {
        Self { seq, link }
    }

    /// The line that stands in the file.
    pub(super) fn line(&self) -> String {
        let said = format!("{:020} {}", self.seq.0, hex(&self.link));
        let check = check_of(&said);
        format!("{said} {check}\n")
    }

    /// Reads the line; none where it is torn. It is not synced with each
    /// record, so that after a loss of power it may be old or torn, never ahead.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?.strip_suffix('\n')?;
        if bytes.len() != HEAD_LEN {
            return None;
        }
        let (said, check) = text.rsplit_once(' ')?;
        if check_of(said) != check {
            return None;
        }
        let (seq, link) = said.split_once(' ')?;
        Some(Self {
            seq: Seq(seq.parse().ok()?),
            link: unhex(link)?,
        })
    }
}

fn check_of(said: &str) -> String {
    hex(&Sha256::digest(said.as_bytes())[..4])
}

fn unhex(text: &str) -> Option<Link> {
    let mut link = Link::default();
    if text.len() != link.len() * 2 || !text.is_ascii() {
        return None;
    }
    for (at, byte) in link.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[at * 2..at * 2 + 2], 16).ok()?;
    }
    Some(link)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_read_as_it_was_written_and_never_when_torn() {
        let head = Head::new(Seq(42), link(&genesis(), Seq(42), WallMs(1), 2, "{}"));
        let line = head.line();
        assert_eq!(line.len(), HEAD_LEN);
        assert_eq!(Head::parse(line.as_bytes()), Some(head));
        for cut in 0..line.len() {
            assert_eq!(Head::parse(&line.as_bytes()[..cut]), None, "cut at {cut}");
        }
        let other = Head::new(Seq(43), genesis()).line();
        for at in 1..HEAD_LEN {
            let torn = [&other.as_bytes()[..at], &line.as_bytes()[at..]].concat();
            assert!(
                matches!(
                    Head::parse(&torn),
                    None | Some(Head {
                        seq: Seq(42 | 43),
                        ..
                    })
                ),
                "torn at {at}"
            );
            let read = Head::parse(&torn);
            assert!(
                read.is_none() || torn == line.as_bytes() || torn == other.as_bytes(),
                "torn at {at} and taken for {read:?}"
            );
        }
    }

    #[test]
    fn each_part_of_a_record_is_in_its_link() {
        let one = link(&genesis(), Seq(1), WallMs(2), 3, "{}");
        for other in [
            link(&one, Seq(1), WallMs(2), 3, "{}"),
            link(&genesis(), Seq(2), WallMs(2), 3, "{}"),
            link(&genesis(), Seq(1), WallMs(3), 3, "{}"),
            link(&genesis(), Seq(1), WallMs(2), 4, "{}"),
            link(&genesis(), Seq(1), WallMs(2), 3, "{ }"),
        ] {
            assert_ne!(one, other);
        }
    }
}
