//! The disk of a simulated world: bytes of which only those that were synced survive.

use protocol::{
    record::{Entry, Fenced, Journal, JournalError, Owner, Record, Seq},
    time::{SpanMs, WallMs},
};

/// What the next append does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Next {
    /// It is stored.
    #[default]
    Stores,
    /// The disk is full: nothing is there.
    Full,
    /// The disk reports an error after the bytes went out; they are there.
    ErrorStored,
    /// The disk reports an error, and the bytes are not there.
    ErrorLost,
    /// Power goes in the middle: so many of a hundred parts of the record are there.
    Torn(u8),
}

/// The disk, with the journal on it.
#[derive(Debug, Clone, Default)]
pub struct Disk {
    /// One JSON object a line, as far as the disk has it.
    bytes: Vec<u8>,
    /// How many records stand there, torn ones left out.
    records: u64,
    owner: u64,
    /// What the next append does.
    pub next: Next,
}

impl Disk {
    /// What a process finds after the one before has ended: a torn tail is cut off.
    ///
    /// # Errors
    /// Where a whole line is no record.
    pub fn open(&mut self) -> Result<Vec<Entry>, JournalError> {
        let whole = self
            .bytes
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |at| at + 1);
        self.bytes.truncate(whole);
        let entries = self.entries()?;
        self.records = entries.len() as u64;
        Ok(entries)
    }

    fn not_stored(why: &str) -> JournalError {
        let why = why.to_owned();
        JournalError::NotStored { why }
    }
}

impl Journal for Disk {
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
        self.renew(owner)?;
        let last = Seq(self.records);
        if expected != last {
            return Err(JournalError::Fenced(Fenced::Seq { now: last }));
        }
        let entry = Entry {
            seq: last.next(),
            at,
            run_ms,
            record: record.clone(),
        };
        let mut line =
            serde_json::to_vec(&entry).map_err(|error| Self::not_stored(&error.to_string()))?;
        line.push(b'\n');
        match std::mem::take(&mut self.next) {
            Next::Stores => {}
            Next::Full => return Err(Self::not_stored("no space left on the disk")),
            Next::ErrorLost => return Err(Self::not_stored("input/output error")),
            Next::ErrorStored => {
                self.bytes.extend(line);
                self.records += 1;
                return Err(Self::not_stored("input/output error"));
            }
            Next::Torn(part) => {
                let keep = line.len() * usize::from(part.min(99)) / 100;
                self.bytes.extend(&line[..keep]);
                return Err(Self::not_stored("power is gone"));
            }
        }
        self.bytes.extend(line);
        self.records += 1;
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
        let lines = self.bytes.split(|byte| *byte == b'\n');
        let whole = lines.filter(|line| !line.is_empty());
        whole
            .map(|line| {
                serde_json::from_slice(line).map_err(|error| JournalError::Corrupt {
                    seq: None,
                    why: error.to_string(),
                })
            })
            .collect()
    }

    fn release(&mut self, owner: Owner) -> Result<(), JournalError> {
        if owner.0 == self.owner {
            self.owner += 1;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::sample;

    fn append(disk: &mut Disk, owner: Owner, at: u64) -> Result<Entry, JournalError> {
        disk.append(owner, Seq(at), WallMs(0), 0, &sample::opened())
    }

    #[test]
    fn what_was_stored_survives_and_what_was_cut_off_does_not() {
        let mut disk = Disk::default();
        let owner = disk.claim().unwrap();
        append(&mut disk, owner, 0).unwrap();
        for (next, there) in [
            (Next::Torn(0), 1),
            (Next::Torn(99), 1),
            (Next::Full, 1),
            (Next::ErrorLost, 1),
            (Next::ErrorStored, 2),
        ] {
            disk.next = next;
            assert!(append(&mut disk, owner, 1).is_err(), "{next:?}");
            assert_eq!(disk.open().unwrap().len(), there, "{next:?}");
        }
        assert!(append(&mut disk, owner, 2).is_ok());
    }
}
