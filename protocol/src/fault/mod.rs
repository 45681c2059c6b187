//! What can be wrong, whose doing it is, and what follows from that.
//!
//! "Do not execute" and "the other side is at fault" are two judgements: a
//! fault forbids execution in any case, its domain alone decides the answer.

mod table;

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

pub use table::TABLE;

use crate::{outcome::Outcome, recovery::RowId};

/// Whose fault it is; decides what is done about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Domain {
    /// Our own capture: recover it, never REPAIR.
    Local,
    /// The two sides speak of different contracts: RESYNC.
    Version,
    /// The remote broke the form: REPAIR, same round.
    Remote,
    /// Nobody's form is at fault; the row or the person decides.
    None,
}

impl fmt::Display for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Local => "local",
            Self::Version => "version",
            Self::Remote => "remote",
            Self::None => "none",
        })
    }
}

/// A stable code. The first ten are the wire document's, in its table's order,
/// and may stand in `ERR:`; the others are ours and never leave this side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Code {
    /// Not exactly one code block, or prose beside it.
    Blocks,
    /// Missing or wrong header.
    Header,
    /// FRAME missing or not the round's.
    Frame,
    /// A required field or section is absent.
    Required,
    /// DECISION missing or not one of the four.
    Decision,
    /// Something stands twice or fits nowhere.
    Parse,
    /// Handshake versions differ.
    Version,
    /// Contract or capability tags differ.
    Contract,
    /// The complete reply could not be proven.
    Capture,
    /// Sources of the reply disagree.
    SourceUncertain,
    /// The page offers to continue the reply.
    Truncated,
    /// A foreign hand in the thread.
    Interference,
    /// The page shows an error in place of the reply.
    PageFailed,
    /// The page says that the model is at capacity.
    Capacity,
    /// The tab shows another conversation.
    Conversation,
    /// The tab is gone.
    TabGone,
    /// The page no longer answers.
    Renderer,
    /// A dialog of the page is open.
    Dialog,
    /// A draft that is not ours stands in the composer.
    Draft,
    /// The text could not be typed exactly.
    Compose,
    /// The message could not be submitted.
    Submit,
    /// The page's layout is unknown or has drifted.
    Layout,
    /// The page asks for a person.
    Blocker,
    /// The handshake could not be established.
    Establish,
    /// No browser to work with.
    NoBrowser,
    /// No tab, or several, to work with.
    NoTab,
    /// The journal cannot be read or written.
    Journal,
    /// Another relay holds the session or the conversation.
    Locked,
    /// No sandbox on this machine.
    Sandbox,
    /// The agent could not be started or ended without an outcome.
    Agent,
    /// The configuration cannot be used.
    Config,
    /// The command line or the request cannot be used.
    Usage,
}

/// What is known of a code without its occasion: one row of [`TABLE`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct About {
    /// The code.
    pub code: Code,
    /// As it is written everywhere.
    pub name: &'static str,
    /// Whose fault.
    pub domain: Domain,
    /// The row of the recovery table it leads to; none where no planner is asked.
    pub row: Option<RowId>,
    /// How the run ends if nothing helps; the exit number is this outcome's.
    pub outcome: Outcome,
    /// What happened, one sentence.
    pub what: &'static str,
    /// What to do about it, one sentence.
    pub remedy: &'static str,
}

impl Code {
    /// All codes, in the order of the table.
    pub const ALL: [Self; table::ROWS.len()] = {
        let mut all = [Self::Blocks; table::ROWS.len()];
        let mut at = 0;
        while at < all.len() {
            all[at] = table::ROWS[at].code;
            at += 1;
        }
        all
    };

    /// Everything known of it.
    pub fn about(self) -> &'static About {
        &TABLE[self as usize]
    }

    /// `E_BLOCKS` and so on.
    pub fn name(self) -> &'static str {
        self.about().name
    }

    /// `source-uncertain` and so on: the name as a word on a command line.
    pub fn kebab(self) -> String {
        let bare = self.name().trim_start_matches("E_");
        bare.to_ascii_lowercase().replace('_', "-")
    }

    /// Whose fault it is.
    pub fn domain(self) -> Domain {
        self.about().domain
    }

    /// How the run ends if nothing helps.
    pub fn outcome(self) -> Outcome {
        self.about().outcome
    }

    /// Whether it is one of the wire document's ten.
    pub fn is_on_wire(self) -> bool {
        self <= Self::SourceUncertain
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A text that names no code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotACode;

impl fmt::Display for NotACode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no code of that name")
    }
}

impl std::error::Error for NotACode {}

impl FromStr for Code {
    type Err = NotACode;

    /// Reads `E_TAB_GONE`, `e_tab_gone` and `tab-gone` alike.
    fn from_str(text: &str) -> Result<Self, NotACode> {
        let wanted = text.to_ascii_uppercase().replace('-', "_");
        let wanted = wanted.trim_start_matches("E_");
        let same = |code: &Self| code.name().trim_start_matches("E_") == wanted;
        Self::ALL.into_iter().find(same).ok_or(NotACode)
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Code {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let same = |code: &Self| code.name() == name;
        let found = Self::ALL.into_iter().find(same);
        found.ok_or_else(|| de::Error::custom(NotACode))
    }
}

/// One fault of one text: its code and the names of what is wrong. The names
/// are fields, sections and line numbers of ours, never words of the text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Fault {
    /// The code.
    pub code: Code,
    /// Which fields, in the order of the text's form; may be empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<String>,
}

impl Fault {
    /// A fault that needs no names.
    pub fn bare(code: Code) -> Self {
        Self {
            code,
            fields: Vec::new(),
        }
    }

    /// A fault of these fields.
    pub fn of<T: Into<String>>(code: Code, fields: impl IntoIterator<Item = T>) -> Self {
        let fields = fields.into_iter().map(Into::into).collect();
        Self { code, fields }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code.name())?;
        if self.fields.is_empty() {
            Ok(())
        } else {
            write!(f, " ({})", self.fields.join(", "))
        }
    }
}

//= spec P7
/// What a set of faults asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Recover our own capture; nothing is sent.
    Recover,
    /// Declare the static context anew.
    Resync,
    /// Ask for the same round again; nothing is executed.
    Repair,
}

//= spec P7
/// What a set of faults asks for: local before version before remote, so that
/// a fault of our own capture is never blamed on the other side. None where no
/// fault has a domain.
pub fn action_of(faults: &[Fault]) -> Option<Action> {
    // The order of Domain's variants is the precedence.
    let domain = faults.iter().map(|fault| fault.code.domain()).min()?;
    match domain {
        Domain::Local => Some(Action::Recover),
        Domain::Version => Some(Action::Resync),
        Domain::Remote => Some(Action::Repair),
        Domain::None => None,
    }
}

#[cfg(test)]
mod tests;
