//! What stops the relay as long as it stands, judged from one look.
//!
//! The observer reports visible marks of the whole page only. Here they are put
//! in order, and what contradicts itself is left out: a page on which a thread
//! is rendered and a composer stands is neither a challenge nor logged out.

use protocol::page::{Blocker, BlockerKind, Look};

/// The blocker that counts, if one stands: the one that needs a person most.
//= spec R12
pub fn decide(look: &Look) -> Option<&Blocker> {
    look.blockers
        .iter()
        .filter(|blocker| is_possible(blocker.kind, look))
        .min_by_key(|blocker| blocker.kind)
}

fn is_possible(kind: BlockerKind, look: &Look) -> bool {
    match kind {
        // A healthy page may load the challenge's script, and its thread may
        // speak of anything.
        BlockerKind::Challenge => !(look.hydrated && look.composer.present),
        BlockerKind::LoggedOut | BlockerKind::RateLimit | BlockerKind::Account => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(kinds: &[BlockerKind], hydrated: bool) -> Look {
        let blockers: Vec<_> = kinds
            .iter()
            .map(|kind| serde_json::json!({"kind": kind, "mark": "m"}))
            .collect();
        serde_json::from_value(serde_json::json!({
            "seq": 1, "page_ms": 1, "address": "a", "place": "fresh", "layout": "classic",
            "hydrated": hydrated, "blockers": blockers, "turns_shown": 0, "tail": [],
            "composer": {"present": true, "send": "absent"},
        }))
        .unwrap()
    }

    #[test]
    fn a_challenge_beside_a_usable_thread_is_none() {
        let challenge = [BlockerKind::Challenge];
        assert!(decide(&look(&challenge, true)).is_none());
        assert!(decide(&look(&challenge, false)).is_some());
    }

    #[test]
    fn the_blocker_that_needs_a_person_most_counts() {
        let look = look(&[BlockerKind::RateLimit, BlockerKind::LoggedOut], true);
        let kind = decide(&look).map(|blocker| blocker.kind);
        assert_eq!(kind, Some(BlockerKind::LoggedOut));
    }
}
