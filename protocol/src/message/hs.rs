//! HS: the acknowledgement, as the template of HELLO shows it and as the remote
//! gives it back.

use super::{
    Terms,
    lines::{self, Lines},
};
use crate::wire::HEADER_HS;

//= spec W7
/// The text of the acknowledgement, without the code block around it.
pub fn build(terms: &Terms) -> String {
    format!(
        "{HEADER_HS}\nTYPE: ack\n{}\nFEAT: {}",
        lines::terms_text(terms),
        lines::list(&terms.features),
    )
}

//= spec W7
/// Reads an acknowledgement out of the text inside its code block, the lines in
/// their order. Whether it may establish a session is for
/// [`crate::establish`] to say.
pub fn parse(block: &str) -> Option<Terms> {
    let mut lines = Lines::of(block);
    lines.expect(HEADER_HS)?;
    (lines.value("TYPE")? == "ack").then_some(())?;
    let mut terms = lines.terms()?;
    terms.features = lines::parse_list(lines.value("FEAT")?)?;
    Some(terms)
}
