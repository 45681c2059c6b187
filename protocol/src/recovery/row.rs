//! The names of the rows.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

//= spec RP2
/// A row of the recovery table. The id travels into the journal, the log, the
/// JSON output and the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum RowId {
    /// Nothing fits.
    R0,
    /// The reply is not proven.
    R1,
    /// No reply yet.
    R2,
    /// The link to the browser dropped.
    R3,
    /// The page was loaded anew.
    R4,
    /// The browser was started anew.
    R5,
    /// The relay was started anew.
    R6,
    /// The journal is lost.
    R7,
    /// The handshake cannot be proven.
    R8,
    /// Our contract or capabilities changed.
    R9,
    /// The history contradicts itself or us.
    R10,
    /// A plan may or may not have run.
    R11,
    /// The page asks for a person.
    R12,
    /// The means of recovery are used up.
    R13,
    /// A boundary is hit or a stop stands.
    R14,
    /// Our own code is at fault.
    R15,
}

impl RowId {
    /// All rows, by number.
    pub const ALL: [Self; 16] = [
        Self::R0,
        Self::R1,
        Self::R2,
        Self::R3,
        Self::R4,
        Self::R5,
        Self::R6,
        Self::R7,
        Self::R8,
        Self::R9,
        Self::R10,
        Self::R11,
        Self::R12,
        Self::R13,
        Self::R14,
        Self::R15,
    ];
}

impl fmt::Display for RowId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{self:?}"))
    }
}

/// A text that names no row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotARow;

impl fmt::Display for NotARow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a row: wants R0 to R15")
    }
}

impl std::error::Error for NotARow {}

impl FromStr for RowId {
    type Err = NotARow;
    fn from_str(text: &str) -> Result<Self, NotARow> {
        let same = |row: &Self| row.to_string().eq_ignore_ascii_case(text);
        Self::ALL.into_iter().find(same).ok_or(NotARow)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    //= spec RP2 type=test
    #[test]
    fn a_row_is_written_and_read_by_its_name() {
        for (number, row) in RowId::ALL.into_iter().enumerate() {
            let name = format!("R{number}");
            assert_eq!(row.to_string(), name);
            assert_eq!(name.parse(), Ok(row));
            assert_eq!(name.to_lowercase().parse(), Ok(row));
            assert_eq!(serde_json::to_string(&row).unwrap(), format!("\"{name}\""));
        }
        assert_eq!("R16".parse::<RowId>(), Err(NotARow));
        assert_eq!("".parse::<RowId>(), Err(NotARow));
    }
}
