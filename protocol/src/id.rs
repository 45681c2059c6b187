//! Identities that travel between the rooms, each a type of its own.
//!
//! None of them is made here: random ids are drawn by `relay` and handed in
//! (the core takes chance as an argument), tags come from [`crate::wire`].

use std::fmt;

use serde::{Deserialize, Serialize};

/// Why a text is not an identity of the wanted kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotAnId {
    /// What was wanted, e.g. `sid`.
    pub wanted: &'static str,
    /// How many characters it must have; all lower-case hexadecimal digits.
    pub len: usize,
}

impl fmt::Display for NotAnId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "not a {}: wants {} lower-case hexadecimal digits",
            self.wanted, self.len
        )
    }
}

impl std::error::Error for NotAnId {}

fn is_lower_hex(text: &str, len: usize) -> bool {
    text.len() == len && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

macro_rules! hex_id {
    ($(#[$doc:meta])* $name:ident, $wanted:literal, $len:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// Takes a text that has the form of this identity.
            ///
            /// # Errors
            /// [`NotAnId`] when the length or an alphabet character is wrong.
            pub fn parse(text: &str) -> Result<Self, NotAnId> {
                if is_lower_hex(text, $len) {
                    Ok(Self(text.to_owned()))
                } else {
                    Err(NotAnId { wanted: $wanted, len: $len })
                }
            }

            /// The hexadecimal digits.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = NotAnId;
            fn try_from(text: String) -> Result<Self, NotAnId> {
                Self::parse(&text)
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> String {
                id.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

//= spec W5
hex_id!(
    /// One logical session: 16 hexadecimal digits from 8 random bytes.
    Sid, "sid", 16
);
//= spec W3
hex_id!(
    /// A tag: the first 8 hexadecimal digits of SHA-256 over a canonical text.
    Tag, "tag", 8
);
hex_id!(
    /// A whole SHA-256 over the exact bytes of a text, as 64 hexadecimal digits.
    Digest, "digest", 64
);

impl Sid {
    /// The session id made of eight random bytes, which the caller drew.
    pub fn from_bytes(bytes: [u8; 8]) -> Self {
        Self(hex(&bytes))
    }
}

impl Digest {
    /// The digest of the exact bytes of `text`.
    pub fn of(text: &str) -> Self {
        use sha2::Digest as _;
        Self(hex(&sha2::Sha256::digest(text.as_bytes())))
    }
}

/// Lower-case hexadecimal digits of `bytes`.
pub fn hex(bytes: &[u8]) -> String {
    use fmt::Write as _;
    bytes
        .iter()
        .fold(String::with_capacity(bytes.len() * 2), |mut out, b| {
            // Writing to a String cannot fail.
            let _ = write!(out, "{b:02x}");
            out
        })
}

/// The hash of the user's request ([`Tag`] of it): `q=` in a FRAME.
pub type Qid = Tag;

/// The tag of an accepted plan's text: what `p=` and `CK` name.
pub type PlanKey = Tag;

//= spec W13
/// One message typed into the page. Numbered from 1 within a session; a second
/// attempt of the same message keeps its number, another message never does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SendId(pub u32);

impl fmt::Display for SendId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}

/// A round number, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Round(pub u32);

impl Round {
    /// The first round of a session.
    pub const FIRST: Self = Self(1);

    /// The round after this one.
    pub fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

impl fmt::Display for Round {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sid_has_sixteen_lower_case_digits_and_nothing_else() {
        assert!(Sid::parse("9f83a7c1d42e650b").is_ok());
        for bad in [
            "9f83a7c1d42e650",
            "9f83a7c1d42e650b0",
            "9F83A7C1D42E650B",
            "9f83a7c1d42e65 b",
            "",
        ] {
            assert!(Sid::parse(bad).is_err(), "{bad:?} was taken for a sid");
        }
    }

    #[test]
    fn eight_bytes_make_a_sid_that_parses_again() {
        let sid = Sid::from_bytes([0, 1, 2, 0xfe, 0xff, 0x10, 0xa0, 7]);
        assert_eq!(sid.as_str(), "000102feff10a007");
        assert_eq!(Sid::parse(sid.as_str()), Ok(sid));
    }

    #[test]
    fn a_digest_is_over_the_exact_bytes() {
        assert_eq!(
            Digest::of("").as_str(),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
        assert_ne!(Digest::of("a\n"), Digest::of("a"));
    }
}
