//! ROUND: the task, or the receipt of the last plan and the wish for the next.

use super::lines::Lines;
use crate::{frame::Frame, wire::HEADER_ROUND};

//= spec W7
//= spec W10
/// The text of ROUND; `body` is taken as it is ([`super::Body::text`]).
pub fn build(frame: &Frame, body: &str) -> String {
    format!("{HEADER_ROUND}\n{frame}\n\n{body}")
}

//= spec W7
/// Reads a ROUND: its frame, and its body without the blanks around it.
pub fn parse(text: &str) -> Option<(Frame, &str)> {
    let frame = head(&mut Lines::of(text))?;
    // The head said that two lines with content stand there; the body is all
    // that follows the second.
    let mut rest = text.trim_start();
    for _ in 0..2 {
        rest = rest.split_once('\n').map_or("", |(_, rest)| rest);
        rest = rest.trim_start_matches(['\n', '\r', ' ', '\t']);
    }
    Some((frame, rest.trim_end()))
}

/// Reads the head lines of ROUND.
pub(super) fn head(lines: &mut Lines<'_>) -> Option<Frame> {
    lines.expect(HEADER_ROUND)?;
    Frame::parse(lines.next()?).ok()
}
