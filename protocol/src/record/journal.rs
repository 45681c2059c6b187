//! The journal as a port: append-only, fenced, one owner.

use std::fmt;

use super::{Entry, Record, Seq};
use crate::time::{SpanMs, WallMs};

/// Who owns a journal: a number that grows with each claim. A record offered
/// under an older one is fenced off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Owner(pub u64);

/// The append was refused because somebody else went on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fenced {
    /// Another process claimed the journal since.
    Owner {
        /// The present owner.
        now: Owner,
    },
    /// The journal is longer than the caller believes.
    Seq {
        /// Its last record.
        now: Seq,
    },
}

/// Why the journal did not do what was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JournalError {
    /// Somebody else went on; nothing was stored.
    Fenced(Fenced),
    /// It was not stored, or it cannot be told whether it was.
    //= spec J1
    NotStored {
        /// What the store said.
        why: String,
    },
    /// What stands in the store is not what was written.
    Corrupt {
        /// Where.
        seq: Option<Seq>,
        /// What is wrong with it.
        why: String,
    },
    /// Another process holds it.
    //= spec L1
    Held {
        /// Who, for people.
        by: String,
    },
    /// It was written by a newer version of the program.
    Newer {
        /// The version found.
        found: u32,
        /// The newest version known here.
        known: u32,
    },
}

impl fmt::Display for JournalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fenced(Fenced::Owner { now }) => {
                write!(f, "another process claimed the journal (owner {})", now.0)
            }
            Self::Fenced(Fenced::Seq { now }) => {
                write!(f, "the journal went on to record {now} without us")
            }
            Self::NotStored { why } => write!(f, "the record was not stored: {why}"),
            Self::Corrupt {
                seq: Some(seq),
                why,
            } => write!(f, "record {seq} is corrupt: {why}"),
            Self::Corrupt { seq: None, why } => write!(f, "the journal is corrupt: {why}"),
            Self::Held { by } => write!(f, "another process holds the journal: {by}"),
            Self::Newer { found, known } => {
                write!(
                    f,
                    "the journal has version {found}; this program knows {known}"
                )
            }
        }
    }
}

impl std::error::Error for JournalError {}

/// An append-only store of records with one owner at a time.
pub trait Journal {
    /// Takes the journal over; every older owner is fenced off from here on.
    ///
    /// # Errors
    /// [`JournalError`] when it cannot be taken or read.
    fn claim(&mut self) -> Result<Owner, JournalError>;

    /// Stores one record durably (fsynced) at the place after `expected`.
    ///
    /// # Errors
    /// [`JournalError::Fenced`] when owner or place is no longer the caller's;
    /// any other error leaves it untold whether the record is stored.
    //= spec J1
    fn append(
        &mut self,
        owner: Owner,
        expected: Seq,
        at: WallMs,
        run_ms: SpanMs,
        record: &Record,
    ) -> Result<Entry, JournalError>;

    /// Says that the caller still owns the journal and goes on. A store that many
    /// machines share lets a claim lapse that is not renewed; one on this disk
    /// has nothing to do but to look.
    ///
    /// # Errors
    /// [`JournalError::Fenced`] when somebody else claimed it since.
    fn renew(&mut self, owner: Owner) -> Result<(), JournalError>;

    /// Everything stored, in order.
    ///
    /// # Errors
    /// [`JournalError`] for the first entry that is not what was written.
    fn entries(&self) -> Result<Vec<Entry>, JournalError>;

    /// Gives the journal back.
    ///
    /// # Errors
    /// [`JournalError`] when the store cannot be written.
    fn release(&mut self, owner: Owner) -> Result<(), JournalError>;
}

/// The journal's model: in memory, for tests and the simulator.
#[derive(Debug, Clone, Default)]
pub struct MemoryJournal {
    entries: Vec<Entry>,
    owner: u64,
}

impl Journal for MemoryJournal {
    fn claim(&mut self) -> Result<Owner, JournalError> {
        self.owner += 1;
        Ok(Owner(self.owner))
    }

    fn append(
        &mut self,
        owner: Owner,
        expected: Seq,
        at: WallMs,
        run_ms: SpanMs,
        record: &Record,
    ) -> Result<Entry, JournalError> {
        if owner.0 != self.owner {
            return Err(JournalError::Fenced(Fenced::Owner {
                now: Owner(self.owner),
            }));
        }
        let last = Seq(self.entries.len() as u64);
        if expected != last {
            return Err(JournalError::Fenced(Fenced::Seq { now: last }));
        }
        let entry = Entry {
            seq: last.next(),
            at,
            run_ms,
            record: record.clone(),
        };
        self.entries.push(entry.clone());
        Ok(entry)
    }

    fn renew(&mut self, owner: Owner) -> Result<(), JournalError> {
        let now = Owner(self.owner);
        if owner == now {
            Ok(())
        } else {
            Err(JournalError::Fenced(Fenced::Owner { now }))
        }
    }

    fn entries(&self) -> Result<Vec<Entry>, JournalError> {
        Ok(self.entries.clone())
    }

    fn release(&mut self, owner: Owner) -> Result<(), JournalError> {
        if owner.0 == self.owner {
            self.owner += 1;
        }
        Ok(())
    }
}
