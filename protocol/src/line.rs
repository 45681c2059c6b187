//! Going over the lines of a text, fast and in one way.

/// One line of a text. A line ends at LF only (W2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Line<'a> {
    /// The line without its LF; a CR before it is still there.
    pub(crate) text: &'a str,
    /// Where it begins.
    pub(crate) start: usize,
    /// Where the next one begins.
    pub(crate) next: usize,
}

/// The lines of `text`, as `split_inclusive('\n')` cuts them.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    let ends = memchr::memchr_iter(b'\n', text.as_bytes());
    let last = (!text.is_empty() && !text.ends_with('\n')).then_some(text.len());
    let mut start = 0;
    ends.map(|lf| (lf, lf + 1))
        .chain(last.map(|end| (end, end)))
        .map(move |(end, next)| {
            let line = Line {
                text: &text[start..end],
                start,
                next,
            };
            start = next;
            line
        })
}

/// `text.trim_end()`, with a short way for the common case.
pub(crate) fn trim_end(text: &str) -> &str {
    match text.as_bytes().last() {
        Some(b'!'..=b'~') => text,
        _ => text.trim_end(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_those_of_split_inclusive() {
        for text in ["", "\n", "a", "a\n", "a\nb", "\n\na\r\n中\n", "a\rb"] {
            let ours: Vec<_> = lines(text)
                .map(|line| &text[line.start..line.next])
                .collect();
            let theirs: Vec<_> = text.split_inclusive('\n').collect();
            assert_eq!(ours, theirs, "{text:?}");
            for line in lines(text) {
                let whole = &text[line.start..line.next];
                assert_eq!(line.text, whole.strip_suffix('\n').unwrap_or(whole));
            }
        }
    }

    #[test]
    fn trimming_is_that_of_the_standard_library() {
        for text in [
            "",
            " ",
            "a",
            "a ",
            "a\u{a0}",
            "中\u{3000}",
            "中",
            "a\u{7f}",
            "a\u{b}",
        ] {
            assert_eq!(trim_end(text), text.trim_end(), "{text:?}");
        }
    }
}
