//! The messages of pi-bridge/1, one file each: what pi types into the page and
//! what the remote answers.
//!
//! Builders are pure functions of typed values; parsers accept what builders
//! write and never panic. [`recognise`] tells our messages in a history by
//! their head lines alone.

pub mod body;
pub mod head;
pub mod hello;
pub mod hs;
pub mod receipt;
pub mod repair;
pub mod resume;
pub mod resync;
pub mod round;

mod lines;

pub use body::Body;
pub use head::{Head, recognise};

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{
    id::{Qid, Sid},
    wire::{self, CapTag, ContractTag},
};

/// The name of a capability, a denial or a feature: letters, digits, `.`, `_`
/// and `-`, at most 64 of them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Word(String);

/// The short neutral label in `OBJECTIVE`: one line without control
/// characters, at most 200 characters, no blanks around it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Objective(String);

/// A text that cannot stand in a head line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotAValue {
    /// Wants letters, digits, `.`, `_`, `-`, at most 64.
    Word,
    /// Wants one line of 1 to 200 characters without control characters and
    /// without blanks around it.
    Objective,
}

impl fmt::Display for NotAValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Word => "not a name: wants 1 to 64 letters, digits, '.', '_' or '-'",
            Self::Objective => {
                "not an objective: wants one line of 1 to 200 characters, no blanks around it"
            }
        })
    }
}

impl std::error::Error for NotAValue {}

impl Word {
    /// Takes a text that has the form of a name.
    ///
    /// # Errors
    /// [`NotAValue::Word`] otherwise.
    pub fn parse(text: &str) -> Result<Self, NotAValue> {
        let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-');
        if (1..=64).contains(&text.len()) && text.bytes().all(plain) {
            Ok(Self(text.to_owned()))
        } else {
            Err(NotAValue::Word)
        }
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn known(names: &[&str]) -> Vec<Self> {
        names.iter().map(|name| Self((*name).to_owned())).collect()
    }
}

impl Objective {
    /// Takes a text that has the form of a label.
    ///
    /// # Errors
    /// [`NotAValue::Objective`] otherwise.
    pub fn parse(text: &str) -> Result<Self, NotAValue> {
        let len = text.chars().take(201).count();
        let plain = !text.chars().any(char::is_control) && text.trim() == text;
        if (1..=200).contains(&len) && plain {
            Ok(Self(text.to_owned()))
        } else {
            Err(NotAValue::Objective)
        }
    }

    /// The label.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for Objective {
    //= spec W8
    fn default() -> Self {
        Self(wire::DEFAULT_OBJECTIVE.to_owned())
    }
}

macro_rules! text_value {
    ($name:ident) => {
        impl TryFrom<String> for $name {
            type Error = NotAValue;
            fn try_from(text: String) -> Result<Self, NotAValue> {
                Self::parse(&text)
            }
        }

        impl From<$name> for String {
            fn from(value: $name) -> Self {
                value.0
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }
    };
}
text_value!(Word);
text_value!(Objective);

//= spec H1
/// What both sides must name alike for a session to stand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Terms {
    /// `S`.
    pub sid: Sid,
    /// `HV`.
    pub hv: u32,
    /// `CV`.
    pub cv: ContractTag,
    /// `CAP`.
    pub cap: CapTag,
    /// `REQ` of HELLO, `FEAT` of the acknowledgement.
    pub features: Vec<Word>,
}

/// What HELLO offers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offer {
    /// What has to be acknowledged.
    pub terms: Terms,
    /// `QID`.
    pub qid: Qid,
    /// `CAPS`: what pi can do.
    pub capabilities: Vec<Word>,
    /// `DENY`: what pi refuses.
    pub denials: Vec<Word>,
    /// `OBJECTIVE`.
    pub objective: Objective,
}

impl Offer {
    /// The offer of this build, with the capabilities given.
    pub fn new(
        sid: Sid,
        qid: Qid,
        objective: Objective,
        capabilities: Vec<Word>,
        denials: Vec<Word>,
    ) -> Self {
        let terms = Terms {
            sid,
            hv: wire::HANDSHAKE_VERSION,
            cv: ContractTag::current(),
            cap: CapTag::of(&capabilities, &denials),
            features: Word::known(&wire::REQUIRED_FEATURES),
        };
        Self {
            terms,
            qid,
            capabilities,
            denials,
            objective,
        }
    }

    /// The offer of this build, with the default capabilities and denials.
    pub fn standard(sid: Sid, qid: Qid, objective: Objective) -> Self {
        let capabilities = Word::known(&wire::DEFAULT_CAPABILITIES);
        let denials = Word::known(&wire::DEFAULT_DENIALS);
        Self::new(sid, qid, objective, capabilities, denials)
    }
}

#[cfg(test)]
mod tests;
