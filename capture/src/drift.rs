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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_needed_mark_has_a_date_and_a_source() {
        for layout in layout::LAYOUTS {
            for mark in layout.marks {
                let known = known_of(layout.name, mark.name.as_str());
                assert!(
                    known.is_some_and(|known| known.seen.len() == 10 && !known.source.is_empty())
                );
            }
        }
        assert!(known_of("classic", "nothing").is_none());
        assert!(known_of("other", "turn").is_none());
    }
}
