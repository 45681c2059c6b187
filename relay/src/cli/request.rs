//! The request: from the command line, a file or stdin, checked before anything is opened.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

use super::failure::Failure;

/// Where the request comes from.
#[derive(Debug, Clone, Copy)]
pub(super) enum From<'a> {
    /// The words of the command line.
    Argument(&'a str),
    /// stdin, to its end.
    Stdin,
    /// A file.
    File(&'a Path),
}

/// The request's text, usable as it is.
pub(super) fn read(from: From<'_>, len_max: u64) -> Result<String, Failure> {
    let text = match from {
        From::Argument(text) => text.to_owned(),
        From::Stdin => decode(take(&mut io::stdin().lock(), len_max), "stdin")?,
        From::File(path) => {
            let name = path.display().to_string();
            let bytes = File::open(path).and_then(|mut file| take(&mut file, len_max));
            decode(bytes, &name)?
        }
    };
    check(&text, len_max)?;
    Ok(text)
}

/// All of a source, or one byte more than any request of `len_max` characters.
fn take(source: &mut dyn Read, len_max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(len_max * 4 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn decode(bytes: io::Result<Vec<u8>>, name: &str) -> Result<String, Failure> {
    let bytes = bytes.map_err(|error| {
        Failure::usage(
            format!("reading the request from {name} failed: {error}"),
            "Give the request as an argument, or name a file that can be read.",
        )
    })?;
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Failure::usage(
            format!("the request from {name} is not UTF-8: byte {at} fits nothing"),
            "Save it as UTF-8.",
        )
    })
}

fn check(text: &str, len_max: u64) -> Result<(), Failure> {
    if text.trim().is_empty() {
        return Err(Failure::usage(
            "the request is empty",
            "Say what is to be done: brb run \"Fix the failing test\".",
        ));
    }
    let len = text.chars().count() as u64;
    if len > len_max {
        return Err(Failure::usage(
            format!("the request has {len} characters, and {len_max} is the most that is typed"),
            "Shorten it, or put the long part into a file of the project and name that file.",
        ));
    }
    if let Some(at) = text.find('\0') {
        return Err(Failure::usage(
            format!("a NUL stands in the request, at byte {at}"),
            "Remove it: no page takes one.",
        ));
    }
    if let Some(at) = lone_cr(text) {
        return Err(Failure::usage(
            format!("a carriage return that ends no line stands in the request, at byte {at}"),
            "End its lines with LF or CRLF.",
        ));
    }
    Ok(())
}

/// A CR that no LF follows would be typed as something else than it is.
//= spec W2
fn lone_cr(text: &str) -> Option<usize> {
    text.match_indices('\r')
        .map(|(at, _)| at)
        .find(|at| text.as_bytes().get(at + 1) != Some(&b'\n'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_taken_up_to_its_limit_and_refused_one_character_later() {
        assert!(check("ééé", 3).is_ok());
        let failure = check("éééé", 3).unwrap_err();
        assert!(failure.what.contains("4 characters"), "{failure}");
    }

    #[test]
    fn what_no_page_takes_is_refused_and_windows_line_ends_are_not() {
        for bad in ["", " \n\t", "a\0b", "a\rb", "a\r", "a\r\r\n"] {
            assert!(check(bad, 100).is_err(), "{bad:?}");
        }
        assert!(check("a\r\nb\r\n", 100).is_ok());
    }

    #[test]
    fn a_source_without_end_is_read_no_further_than_needed() {
        let bytes = take(&mut io::repeat(b'x'), 10).unwrap();
        assert_eq!(bytes.len(), 41);
        assert!(check(std::str::from_utf8(&bytes).unwrap(), 10).is_err());
    }

    #[test]
    fn bytes_that_are_no_text_are_named_by_their_place() {
        let failure = decode(Ok(vec![b'a', 0xff]), "stdin").unwrap_err();
        assert!(failure.what.contains("byte 1"), "{failure}");
    }
}
