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
