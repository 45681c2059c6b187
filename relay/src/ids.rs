//! New identities, drawn at random: with [`crate::pacing`] the only place of chance.

use protocol::id::Sid;
use rand::{Rng, SeedableRng, rngs::StdRng};

/// A new session's id, from the operating system's randomness.
//= spec W5
#[must_use]
pub fn sid() -> Sid {
    let mut bytes = [0; 8];
    rand::rng().fill_bytes(&mut bytes);
    Sid::from_bytes(bytes)
}

/// The session id that belongs to `seed`: for the demo, which can be repeated.
#[must_use]
pub fn sid_from_seed(seed: u64) -> Sid {
    let mut bytes = [0; 8];
    StdRng::seed_from_u64(seed).fill_bytes(&mut bytes);
    Sid::from_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_has_one_sid_and_chance_has_many() {
        assert_eq!(sid_from_seed(7), sid_from_seed(7));
        assert_ne!(sid_from_seed(7), sid_from_seed(8));
        assert_ne!(sid(), sid());
    }
}
