//! Server-sent events out of bytes, however those are cut.

/// What comes out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Out {
    /// One event's data.
    Data(String),
    /// One event's data is not UTF-8.
    NotText {
        /// Its size in bytes.
        len: u64,
    },
    /// One event is over the limit. Nothing more comes out.
    Overflow,
}

/// The splitter of one stream.
#[derive(Debug)]
pub(super) struct Sse {
    event_bytes_max: usize,
    line: Vec<u8>,
    data: Option<Vec<u8>>,
    after_cr: bool,
    first_line: bool,
    over: bool,
}

impl Sse {
    pub(super) fn new(event_bytes_max: usize) -> Self {
        Self {
            event_bytes_max,
            line: Vec::new(),
            data: None,
            after_cr: false,
            first_line: true,
            over: false,
        }
    }

    /// Takes in the next bytes of the stream.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> Vec<Out> {
        let mut out = Vec::new();
        for &byte in bytes {
            if self.over {
                break;
            }
            // CR, LF and CRLF each end a line; a CRLF may be cut in two.
            let second_half = self.after_cr && byte == b'\n';
            self.after_cr = byte == b'\r';
            if second_half {
                continue;
            }
            match byte {
                b'\n' | b'\r' => self.end_line(&mut out),
                _ => self.line.push(byte),
            }
            let held = self.line.len() + self.data.as_ref().map_or(0, Vec::len);
            if held > self.event_bytes_max {
                self.over = true;
                out.push(Out::Overflow);
            }
        }
        out
    }

    fn end_line(&mut self, out: &mut Vec<Out>) {
        let line = std::mem::take(&mut self.line);
        let mut line = line.as_slice();
        if std::mem::take(&mut self.first_line) {
            line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
        }
        if line.is_empty() {
            if let Some(data) = self.data.take() {
                out.push(match String::from_utf8(data) {
                    Ok(text) => Out::Data(text),
                    Err(error) => Out::NotText {
                        len: error.as_bytes().len() as u64,
                    },
                });
            }
            return;
        }
        let (field, value) = match line.iter().position(|b| *b == b':') {
            // A colon at the start makes a comment.
            Some(0) => return,
            Some(at) => {
                let value = &line[at + 1..];
                (&line[..at], value.strip_prefix(b" ").unwrap_or(value))
            }
            None => (line, &[][..]),
        };
        if field != b"data" {
            return;
        }
        match &mut self.data {
            Some(data) => {
                data.push(b'\n');
                data.extend_from_slice(value);
            }
            None => self.data = Some(value.to_vec()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(texts: &[&str]) -> Vec<Out> {
        texts.iter().map(|t| Out::Data((*t).to_owned())).collect()
    }
    fn whole(stream: &[u8]) -> Vec<Out> {
        Sse::new(1000).feed(stream)
    }

    #[test]
    fn an_event_ends_at_a_blank_line_whatever_ends_the_lines() {
        for end in ["\n", "\r\n", "\r"] {
            let stream = ["data: a", "data:b", "", "data: [DONE]", "", ""].join(end);
            assert_eq!(
                whole(stream.as_bytes()),
                data(&["a\nb", "[DONE]"]),
                "{end:?}"
            );
        }
    }

    #[test]
    fn a_stream_cut_at_any_byte_gives_the_same_events() {
        let stream = "\u{feff}: hi\r\ndata: 你好 👩‍👩‍👧\r\nid: 1\r\ndata: é\r\n\r\nevent: x\r\ndata\r\n\r\ndata: [DONE]\r\n\r\n";
        let want = data(&["你好 👩‍👩‍👧\né", "", "[DONE]"]);
        for cut in 0..=stream.len() {
            let (a, b) = stream.as_bytes().split_at(cut);
            let mut sse = Sse::new(1000);
            let mut got = sse.feed(a);
            got.extend(sse.feed(b));
            assert_eq!(got, want, "cut at {cut}");
        }
        let mut sse = Sse::new(1000);
        let one_by_one: Vec<Out> = stream.bytes().flat_map(|b| sse.feed(&[b])).collect();
        assert_eq!(one_by_one, want);
    }

    #[test]
    fn an_event_without_its_blank_line_is_not_an_event_yet() {
        assert_eq!(whole(b"data: [DONE]\n"), []);
        assert_eq!(whole(b"data: [DONE]"), []);
        assert_eq!(whole(b"event: ping\n\n: comment\n\n"), []);
    }

    #[test]
    fn what_is_not_text_is_told_and_the_next_event_is_read() {
        assert_eq!(
            whole(b"data: \xff\xfe\n\ndata: ok\n\n"),
            [Out::NotText { len: 2 }, Out::Data("ok".to_owned())]
        );
    }

    #[test]
    fn an_event_may_be_as_long_as_the_limit_and_no_longer() {
        let mut sse = Sse::new(16);
        assert_eq!(sse.feed(b"data: 0123456789\n\n"), data(&["0123456789"]));
        assert_eq!(sse.feed(b"data: 0123456789a\n\n"), [Out::Overflow]);
        assert_eq!(sse.feed(b"data: ok\n\n"), []);
    }
}
