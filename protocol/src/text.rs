//! Text that a person or a model wrote: it travels, and it is never printed.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A text whose `Debug` tells its length alone, so that no log line and no
/// panic message carries a prompt or a reply.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Private(String);

impl Private {
    /// The text itself.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The text itself, owned.
    pub fn into_string(self) -> String {
        self.0
    }

    /// How many characters (Unicode scalar values) it has.
    pub fn chars(&self) -> usize {
        self.0.chars().count()
    }
}

impl From<String> for Private {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl From<&str> for Private {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl fmt::Debug for Private {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{} chars>", self.chars())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printing_a_private_text_tells_its_length_alone() {
        let shown = format!(
            "{:?} {:#?}",
            Private::from("秘密 pass"),
            Some(Private::from("x"))
        );
        assert!(shown.contains("<7 chars>"), "{shown}");
        assert!(!shown.contains("pass"), "{shown}");
    }
}
