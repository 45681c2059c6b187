//! The bytes of one direction of a DevTools connection, cut into the units that may
//! be forwarded: HTTP as it comes, a web socket's frames one by one.

/// A longer frame is passed on unread.
const FRAME_MAX: usize = 64 << 20;
/// A longer head of a request or an answer is no head.
const HEAD_MAX: usize = 64 << 10;

/// What is forwarded at once.
#[derive(Debug, PartialEq, Eq)]
pub struct Unit {
    /// The bytes, as they came.
    pub raw: Vec<u8>,
    /// The text of a whole text message; none for anything else.
    pub text: Option<String>,
}

impl Unit {
    fn bare(raw: Vec<u8>) -> Self {
        Self { raw, text: None }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// A head is expected.
    Http,
    /// Frames are.
    Frames,
    /// Nothing is known of what follows.
    Raw,
}

/// Reads one direction.
#[derive(Debug)]
pub struct Scanner {
    buffer: Vec<u8>,
    mode: Mode,
}

impl Scanner {
    /// A connection's beginning.
    pub fn new() -> Self {
        Self {
            buffer: Vec::new(),
            mode: Mode::Http,
        }
    }

    /// Takes in what was read.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// The next whole unit.
    pub fn next(&mut self) -> Option<Unit> {
        if self.buffer.is_empty() {
            return None;
        }
        match self.mode {
            Mode::Http => self.head(),
            Mode::Frames => self.frame(),
            Mode::Raw => Some(Unit::bare(std::mem::take(&mut self.buffer))),
        }
    }

    /// Puts a unit that was not forwarded back in front of all others.
    pub fn put_back(&mut self, mut raw: Vec<u8>) {
        raw.append(&mut self.buffer);
        self.buffer = raw;
    }

    /// Whether frames are read by now.
    pub fn is_web_socket(&self) -> bool {
        self.mode == Mode::Frames
    }

    fn head(&mut self) -> Option<Unit> {
        let end = self.buffer.windows(4).position(|four| four == b"\r\n\r\n");
        let Some(end) = end.map(|at| at + 4) else {
            if self.buffer.len() > HEAD_MAX {
                self.mode = Mode::Raw;
                return self.next();
            }
            return None;
        };
        let head = String::from_utf8_lossy(&self.buffer[..end]).to_ascii_lowercase();
        self.mode = if head.contains("upgrade: websocket") {
            Mode::Frames
        } else if head.starts_with("http/") {
            // An answer's body follows, and nothing of it matters here.
            Mode::Raw
        } else {
            Mode::Http
        };
        Some(Unit::bare(self.take(end)))
    }

    fn frame(&mut self) -> Option<Unit> {
        let bytes = &self.buffer;
        let (first, second) = (*bytes.first()?, *bytes.get(1)?);
        let big_endian = |range: std::ops::Range<usize>| {
            let bytes = bytes.get(range)?;
            Some(bytes.iter().fold(0_u64, |n, b| (n << 8) | u64::from(*b)))
        };
        let (len, mut at) = match second & 0x7f {
            126 => (big_endian(2..4)?, 4),
            127 => (big_endian(2..10)?, 10),
            short => (u64::from(short), 2),
        };
        let Some(len) = usize::try_from(len).ok().filter(|len| *len <= FRAME_MAX) else {
            self.mode = Mode::Raw;
            return self.next();
        };
        let mask = if second & 0x80 == 0 {
            None
        } else {
            let mask: [u8; 4] = bytes.get(at..at + 4)?.try_into().ok()?;
            at += 4;
            Some(mask)
        };
        let payload = bytes.get(at..at + len)?;
        // 0x81: a text message in one frame.
        let text = (first == 0x81).then(|| match mask {
            None => payload.to_vec(),
            Some(mask) => masked(payload, mask),
        });
        let text = text.and_then(|text| String::from_utf8(text).ok());
        let raw = self.take(at + len);
        Some(Unit { raw, text })
    }

    fn take(&mut self, len: usize) -> Vec<u8> {
        let rest = self.buffer.split_off(len);
        std::mem::replace(&mut self.buffer, rest)
    }
}

fn masked(payload: &[u8], mask: [u8; 4]) -> Vec<u8> {
    let key = mask.iter().cycle();
    payload
        .iter()
        .zip(key)
        .map(|(byte, key)| byte ^ key)
        .collect()
}

/// A text message as a client writes it.
pub fn from_client(text: &str) -> Vec<u8> {
    // The mask hides nothing here; it only has to be there.
    let mask = [7, 11, 13, 17];
    let mut frame = header(text.len(), 0x80);
    frame.extend_from_slice(&mask);
    frame.extend(masked(text.as_bytes(), mask));
    frame
}

/// The beginning of a server's message that never gets to its end.
pub fn half_from_server() -> Vec<u8> {
    let mut frame = header(4_096, 0);
    frame.extend_from_slice(br#"{"method":"Page.frameNav"#);
    frame
}

/// A close frame of the server: going away.
pub const CLOSE: [u8; 4] = [0x88, 0x02, 0x03, 0xe9];

fn header(len: usize, mask_bit: u8) -> Vec<u8> {
    let mut head = vec![0x81];
    match u16::try_from(len) {
        Ok(short @ 0..=125) => head.push(mask_bit | short.to_be_bytes()[1]),
        Ok(middle) => {
            head.push(mask_bit | 126);
            head.extend_from_slice(&middle.to_be_bytes());
        }
        Err(_) => {
            head.push(mask_bit | 127);
            head.extend_from_slice(&(len as u64).to_be_bytes());
        }
    }
    head
}

#[cfg(test)]
mod tests {
    use super::*;

    const UPGRADE: &[u8] = b"GET /devtools/browser/x HTTP/1.1\r\nUpgrade: websocket\r\n\r\n";

    fn units(scanner: &mut Scanner) -> Vec<Unit> {
        std::iter::from_fn(|| scanner.next()).collect()
    }

    #[test]
    fn frames_of_every_length_are_found_however_the_bytes_come() {
        for len in [0, 1, 125, 126, 127, 65_535, 65_536, 70_000] {
            let text = "x".repeat(len);
            let mut bytes = UPGRADE.to_vec();
            bytes.extend(from_client(&text));
            bytes.extend(from_client("end"));
            for step in [1, 7, 4_096, bytes.len()] {
                let mut scanner = Scanner::new();
                let mut found = Vec::new();
                for piece in bytes.chunks(step) {
                    scanner.feed(piece);
                    found.extend(units(&mut scanner));
                }
                let raw: Vec<u8> = found.iter().flat_map(|unit| unit.raw.clone()).collect();
                assert_eq!(raw, bytes, "every byte goes on, {len} by {step}");
                let texts: Vec<_> = found.into_iter().map(|unit| unit.text).collect();
                assert_eq!(texts, [None, Some(text.clone()), Some("end".into())]);
            }
        }
    }

    #[test]
    fn a_frame_cut_in_the_middle_is_no_unit() {
        let mut scanner = Scanner::new();
        scanner.feed(b"HTTP/1.1 101 x\r\nUpgrade: WebSocket\r\n\r\n");
        assert_eq!(units(&mut scanner).len(), 1);
        assert!(scanner.is_web_socket());
        scanner.feed(&half_from_server());
        assert_eq!(units(&mut scanner), []);
    }

    #[test]
    fn plain_http_and_absurd_lengths_are_passed_on_unread() {
        let mut scanner = Scanner::new();
        scanner.feed(b"GET /json/version HTTP/1.1\r\n\r\nGET /json");
        assert_eq!(
            units(&mut scanner).len(),
            1,
            "a second request has no end yet"
        );
        let mut answer = Scanner::new();
        answer.feed(b"HTTP/1.1 200 OK\r\n\r\n{\"a\":1}");
        assert_eq!(units(&mut answer).len(), 2);
        let mut huge = Scanner::new();
        huge.feed(UPGRADE);
        huge.feed(&[0x81, 127, 0xff, 0, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!(units(&mut huge).len(), 2);
        let mut control = Scanner::new();
        control.feed(UPGRADE);
        control.feed(&CLOSE);
        assert_eq!(units(&mut control)[1].text, None);
    }
}
