//! RESYNC: the static context was lost or changed, and is declared anew in the
//! same conversation.

use super::{Offer, hello};
use crate::wire::{self, HEADER_RESYNC};

//= spec W7
//= spec W12
/// The text of RESYNC: its header and a whole HELLO, which repeats the session
/// and the request in force.
pub fn build(offer: &Offer) -> String {
    format!("{HEADER_RESYNC}\n\n{}", hello::build(offer))
}

//= spec W7
/// Reads a whole RESYNC of this build.
pub fn parse(text: &str) -> Option<Offer> {
    let text = wire::canonical(text);
    let rest = text.strip_prefix(HEADER_RESYNC)?.strip_prefix('\n')?;
    hello::parse(rest)
}
