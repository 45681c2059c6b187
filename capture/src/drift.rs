//! Which marks the page no longer shows: by name, and how old our knowledge is.

use protocol::page::Look;

use crate::layout::{self, Mark};

/// The name given where no layout is recognised at all.
pub const UNKNOWN_LAYOUT: &str = "layout";

/// The needed marks that a look lacks; none while the layout holds.
//= spec C5
pub fn missing(look: &Look) -> Option<Vec<String>> {
    if look.layout.is_none() {
        return Some(vec![UNKNOWN_LAYOUT.to_owned()]);
    }
    (!look.missing.is_empty()).then(|| look.missing.clone())
}

/// What is known of a mark that drifted, for a report: its selector's date and
/// sources.
pub fn known_of(layout: &str, mark: &str) -> Option<&'static Mark> {
    layout::layout(layout)?
        .marks
        .iter()
        .find(|known| known.name.as_str() == mark)
}
