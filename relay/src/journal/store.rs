//! Records in and out of one SQLite file.

use std::{
    fs::File,
    path::{Path, PathBuf},
};

use protocol::{
    record::{Entry, Fenced, Journal, JournalError, Owner, Record, Seq},
    time::{SpanMs, WallMs},
};
use rusqlite::{Connection, OpenFlags, TransactionBehavior, config::DbConfig};

use crate::crash::{self, At, When};

use super::{
    chain::{Head, Link, genesis, link},
    error::OpenError,
    files,
    read::{
        check_folder, check_head, check_version, corrupt, kind_of, last_link, owner_now, read_all,
        store_error,
    },
    schema,
};

/// What a journal is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// To read what stands in it; nothing in the folder is changed.
    Read,
    /// To go on with it. The session's lock must be held.
    Write,
}

/// One session's journal.
#[derive(Debug)]
pub struct SqliteJournal {
    conn: Connection,
    path: PathBuf,
    head: Option<File>,
    /// Set by a commit that failed: what is on the disk is not known from then
    /// on, and a later sync that succeeds would not mend that.
    broken: Option<String>,
}

/// A journal that was opened, and what was found in it.
#[derive(Debug)]
pub struct Found {
    /// The journal.
    pub journal: SqliteJournal,
    /// Every record, each as it was written.
    pub entries: Vec<Entry>,
    /// What was mended without a loss, or is odd and does no harm, for people.
    pub mended: Option<&'static str>,
}

impl SqliteJournal {
    /// Makes the journal of a new session, in a folder that is not there yet.
    ///
    /// # Errors
    /// [`OpenError`] when it is, or when the file system refuses.
    pub fn create(folder: &Path) -> Result<Self, OpenError> {
        let head = files::make(folder, &Head::new(Seq::default(), genesis()))?;
        let path = folder.join(files::JOURNAL);
        let refused = |error| store_error(&path, &error);
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut conn = Connection::open_with_flags(&path, flags).map_err(refused)?;
        schema::prepare(&conn).map_err(refused)?;
        use_wal(&conn, &path)?;
        schema::create(&mut conn).map_err(refused)?;
        files::sync_folder(folder)?;
        Ok(Self {
            conn,
            path,
            head: Some(head),
            broken: None,
        })
    }

    /// Opens a session's journal and checks every record in it.
    ///
    /// # Errors
    /// [`OpenError`] for whatever is not as it was written; nothing is begun anew.
    pub fn open(folder: &Path, access: Access) -> Result<Found, OpenError> {
        let path = files::look(folder)?;
        // Read before the records: it is written after each of them, so that it
        // can never be ahead of what is read next.
        let said = files::read_head(folder)?;
        let refused = |error| store_error(&path, &error);
        let mode = match access {
            Access::Read => OpenFlags::SQLITE_OPEN_READ_ONLY,
            Access::Write => OpenFlags::SQLITE_OPEN_READ_WRITE,
        };
        let flags = mode | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let fixed = (access == Access::Read).then(|| files::fixed(folder, &path));
        let conn = match fixed.flatten() {
            Some(uri) => Connection::open_with_flags(uri, flags | OpenFlags::SQLITE_OPEN_URI),
            None => Connection::open_with_flags(&path, flags),
        };
        let conn = conn.map_err(refused)?;
        schema::prepare(&conn).map_err(refused)?;
        check_version(&conn, &path)?;
        if !schema::is_ours(&conn).map_err(refused)? {
            return Err(corrupt(&path, None, "its tables are not ours"));
        }
        match access {
            // Whoever only reads must leave the log for whoever writes.
            Access::Read => conn
                .set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)
                .map(|_| ())
                .map_err(refused)?,
            Access::Write => use_wal(&conn, &path)?,
        }
        owner_now(&conn).map_err(refused)?;
        let (entries, links) = read_all(&conn, &path)?;
        check_folder(folder, &entries, &path)?;
        let last = check_head(said, &links, &path)?;
        let mut journal = Self {
            conn,
            path,
            head: None,
            broken: None,
        };
        let mut mended = None;
        if access == Access::Write {
            let file = files::open_head(folder)?;
            if said != Some(last) {
                mended = said
                    .is_none()
                    .then_some("the journal's head was torn; it was written anew from the records");
                files::write_head(&file, &last)
                    .and_then(|()| file.sync_all())
                    .map_err(files::failed(&journal.path, "writing the head of"))?;
            }
            journal.head = Some(file);
            mended = mended.or_else(|| clock_went_back(&entries));
        }
        Ok(Found {
            journal,
            entries,
            mended,
        })
    }

    /// The journal's file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes the disk full, as far as this journal can tell.
    #[cfg(test)]
    pub(super) fn fill_up(&self) {
        self.conn
            .query_row("PRAGMA max_page_count = 1", [], |_| Ok(()))
            .unwrap();
    }

    fn check_unbroken(&self) -> Result<(), JournalError> {
        match &self.broken {
            None => Ok(()),
            Some(why) => Err(JournalError::NotStored {
                why: format!("an earlier record failed to be stored: {why}"),
            }),
        }
    }

    fn try_append(&mut self, owner: Owner, expected: Seq, entry: &Entry) -> Result<Link, Refused> {
        let body = serde_json::to_string(&entry.record)
            .map_err(|error| Refused::NotStored(error.to_string()))?;
        crash::pass(At::Journal, When::Before, kind_of(&body));
        let tx = self
            .conn
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        let now = owner_now(&tx)?;
        if now != owner {
            return Err(Refused::Fenced(Fenced::Owner { now }));
        }
        let (last, before) = last_link(&tx)?;
        if last != expected {
            return Err(Refused::Fenced(Fenced::Seq { now: last }));
        }
        let link = link(&before, entry.seq, entry.at, entry.run_ms, &body);
        tx.prepare_cached(
            "INSERT INTO record (seq, at, run_ms, kind, body, chain) VALUES (?, ?, ?, ?, ?, ?)",
        )?
        .execute(rusqlite::params![
            stored_as(entry.seq.0)?,
            stored_as(entry.at.0)?,
            stored_as(entry.run_ms)?,
            kind_of(&body),
            body,
            link.as_slice()
        ])?;
        tx.commit()
            .map_err(|error| Refused::Untold(error.to_string()))?;
        crash::pass(At::Journal, When::After, kind_of(&body));
        Ok(link)
    }
}

impl Journal for SqliteJournal {
    fn claim(&mut self) -> Result<Owner, JournalError> {
        self.check_unbroken()?;
        let claimed = self.conn.query_row(
            "UPDATE claim SET owner = owner + 1 RETURNING owner",
            [],
            |row| row.get::<_, i64>(0),
        );
        let owner = claimed.map_err(|error| not_stored(&error))?;
        Ok(Owner(owner.unsigned_abs()))
    }

    //= spec J1
    fn append(
        &mut self,
        owner: Owner,
        expected: Seq,
        at: WallMs,
        run_ms: SpanMs,
        record: &Record,
    ) -> Result<Entry, JournalError> {
        self.check_unbroken()?;
        let entry = Entry {
            seq: expected.next(),
            at,
            run_ms,
            record: record.clone(),
        };
        match self.try_append(owner, expected, &entry) {
            Ok(link) => {
                // The record is stored; a head that stays behind is mended on
                // the next open, so that its failure is nobody's business here.
                if let Some(file) = &self.head
                    && let Err(error) = files::write_head(file, &Head::new(entry.seq, link))
                {
                    tracing::warn!(%error, "the journal's head stayed behind");
                }
                Ok(entry)
            }
            Err(Refused::Fenced(fenced)) => Err(JournalError::Fenced(fenced)),
            Err(Refused::NotStored(why)) => Err(JournalError::NotStored { why }),
            Err(Refused::Untold(why)) => {
                self.broken = Some(why.clone());
                Err(JournalError::NotStored { why })
            }
        }
    }

    fn renew(&mut self, owner: Owner) -> Result<(), JournalError> {
        self.check_unbroken()?;
        let now = owner_now(&self.conn).map_err(|error| not_stored(&error))?;
        if owner == now {
            Ok(())
        } else {
            Err(JournalError::Fenced(Fenced::Owner { now }))
        }
    }

    fn entries(&self) -> Result<Vec<Entry>, JournalError> {
        Ok(read_all(&self.conn, &self.path)?.0)
    }

    fn release(&mut self, owner: Owner) -> Result<(), JournalError> {
        self.check_unbroken()?;
        let owner = i64::try_from(owner.0).unwrap_or(i64::MAX);
        self.conn
            .execute(
                "UPDATE claim SET owner = owner + 1 WHERE owner = ?",
                [owner],
            )
            .map_err(|error| not_stored(&error))?;
        if let Some(file) = &self.head {
            file.sync_data().map_err(|error| JournalError::NotStored {
                why: format!("syncing the journal's head failed: {error}"),
            })?;
        }
        Ok(())
    }
}

/// Wall time is for people alone; that it went back is said all the same, since
/// what they read is then in another order than it happened.
fn clock_went_back(entries: &[Entry]) -> Option<&'static str> {
    let last = entries.last()?;
    (crate::clock::wall() < last.at).then_some(
        "the wall clock stands before the journal's last record; nothing is decided by it",
    )
}

/// Why an append did not happen.
enum Refused {
    Fenced(Fenced),
    /// Nothing was stored.
    NotStored(String),
    /// The commit failed: it cannot be told.
    Untold(String),
}

impl From<rusqlite::Error> for Refused {
    fn from(error: rusqlite::Error) -> Self {
        Self::NotStored(error.to_string())
    }
}

fn not_stored(error: &rusqlite::Error) -> JournalError {
    JournalError::NotStored {
        why: error.to_string(),
    }
}

fn stored_as(number: u64) -> Result<i64, Refused> {
    i64::try_from(number).map_err(|_| Refused::NotStored(format!("{number} is out of range")))
}

fn use_wal(conn: &Connection, path: &Path) -> Result<(), OpenError> {
    match schema::use_wal(conn) {
        Ok(true) => Ok(()),
        Ok(false) => Err(OpenError::Store {
            path: path.to_owned(),
            why: "its file system cannot keep a write-ahead log".to_owned(),
        }),
        Err(error) => Err(store_error(path, &error)),
    }
}
