//! What a survey of the page finds: every mark of every layout, and whether the
//! layout that is served answers its own questions. For people; nothing is
//! decided from it.

use serde::{Deserialize, Serialize};

/// A survey of the page as it stands.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Survey {
    /// The layout that the probe recognised.
    pub layout: Option<String>,
    /// Each mark of each layout, in the layouts' own order.
    pub marks: Vec<MarkSeen>,
    /// The served layout's test of itself.
    pub tests: Vec<SelfTest>,
}

/// One mark of one layout.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MarkSeen {
    /// The layout.
    pub layout: String,
    /// The mark's name.
    pub mark: String,
    /// How many elements of the document match it, up to a bound.
    pub found: u32,
    /// How many of them can be seen.
    pub shown: u32,
    /// It was found by what it is called, where its structure found none.
    #[serde(default)]
    pub by_label: bool,
}

/// One question that the served layout must be able to answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SelfTest {
    /// Its name.
    pub name: String,
    /// What came of it.
    pub state: TestState,
    /// What was found, where it is not as it should be.
    #[serde(default)]
    pub found: String,
}

/// What came of a self-test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TestState {
    /// As it should be.
    Passed,
    /// Not as it should be.
    Failed,
    /// The page shows nothing that it could be asked of.
    Idle,
}
