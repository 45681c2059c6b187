//! The journal in SQLite: append-only, chained by digests, one owner at a time.
//!
//! It lies in the session's folder, with a small *head* file beside it that
//! names the last record stored. What stands in either is checked on every
//! open: a changed, missing or inserted record, a tail that is gone and a file
//! that was never finished are all told apart, and none of them is ever taken
//! for a new beginning.
//!
//! The work of storing is in [`SqliteJournal`]; the locks of L1 are in [`locks`].

mod chain;
mod error;
mod files;
pub mod locks;
mod parse;
mod read;
mod schema;
mod store;

pub use error::OpenError;
pub(crate) use files::make_folder;
pub use files::{HEAD, JOURNAL};
pub use store::{Access, Found, SqliteJournal};

#[cfg(test)]
mod conformance;
#[cfg(test)]
mod damage;
#[cfg(test)]
mod lock_tests;
#[cfg(test)]
pub(crate) mod sample;
#[cfg(test)]
mod tests;
