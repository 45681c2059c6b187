//! The planner: from typed facts to exactly one row of the recovery table.

pub mod row;

pub use row::RowId;
