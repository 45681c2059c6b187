//! Which session a command means.

use protocol::id::Sid;

use super::failure::Failure;
use crate::{index, place::Place};

/// Shortest beginning of an id that is taken for it.
const PREFIX_LEN_MIN: usize = 4;

/// The session whose id is, or begins with, `text`; without a text the one
/// that was worked on last.
pub(super) fn find(place: &Place, text: Option<&str>) -> Result<Sid, Failure> {
    let unreadable = |error: std::io::Error| {
        Failure::of(
            protocol::fault::Code::Journal,
            format!("reading {} failed: {error}", place.state.display()),
        )
    };
    let Some(text) = text else {
        let all = index::list(place).map_err(unreadable)?;
        return all
            .into_iter()
            .next()
            .map(|listed| listed.sid)
            .ok_or_else(|| {
                Failure::usage(
                    format!("there is no session in {}", place.state.display()),
                    "Begin one with `brb run`, or name another folder with `--state-dir`.",
                )
            });
    };
    let all = place.sessions().map_err(unreadable)?;
    let wanted = text.to_ascii_lowercase();
    let fits: Vec<&Sid> = all
        .iter()
        .filter(|sid| sid.as_str().starts_with(&wanted))
        .collect();
    match fits.as_slice() {
        [one] if wanted.len() >= PREFIX_LEN_MIN => Ok((*one).clone()),
        [_, _, ..] => Err(Failure::usage(
            format!("{} sessions begin with {text:?}", fits.len()),
            "Give more of its id; `brb list` has them all.",
        )),
        [_] | [] => Err(Failure::usage(
            format!("there is no session {text:?} in {}", place.state.display()),
            "See `brb list` for the sessions that are here.",
        )),
    }
}
