//! What stands in the file: read and checked, each part against the others.

use std::path::Path;

use protocol::{
    id::Sid,
    record::{Entry, Owner, Record, Seq},
    time::WallMs,
};
use rusqlite::{Connection, OptionalExtension};

use super::{
    chain::{Head, Link, genesis, link},
    error::OpenError,
    parse::{Row, parsed},
    schema,
};

/// The tag of a record's text; it begins with it.
pub(super) fn kind_of(body: &str) -> &str {
    body.strip_prefix("{\"kind\":\"")
        .and_then(|rest| rest.split_once('"'))
        .map_or("", |(kind, _)| kind)
}

pub(super) fn store_error(path: &Path, error: &rusqlite::Error) -> OpenError {
    let broken = matches!(
        error.sqlite_error_code(),
        Some(rusqlite::ErrorCode::DatabaseCorrupt | rusqlite::ErrorCode::NotADatabase)
    );
    if broken {
        corrupt(path, None, &error.to_string())
    } else {
        OpenError::Store {
            path: path.to_owned(),
            why: error.to_string(),
        }
    }
}

pub(super) fn corrupt(path: &Path, seq: Option<Seq>, why: &str) -> OpenError {
    OpenError::Corrupt {
        path: path.to_owned(),
        seq,
        why: why.to_owned(),
    }
}

pub(super) fn check_version(conn: &Connection, path: &Path) -> Result<(), OpenError> {
    let number = |name| -> Result<i32, OpenError> {
        conn.pragma_query_value(None, name, |row| row.get(0))
            .map_err(|error| store_error(path, &error))
    };
    let (id, version) = (number("application_id")?, number("user_version")?);
    if id == 0 && version == 0 {
        return Err(OpenError::Unfinished {
            path: path.to_owned(),
        });
    }
    if id != schema::APPLICATION_ID {
        return Err(corrupt(path, None, "it is not a journal of pi-bridge"));
    }
    match u32::try_from(version) {
        Ok(schema::VERSION) => Ok(()),
        Ok(found) if found > schema::VERSION => Err(OpenError::Newer {
            path: path.to_owned(),
            found,
            known: schema::VERSION,
        }),
        Ok(_) | Err(_) => Err(corrupt(path, None, "its version makes no sense")),
    }
}

pub(super) fn owner_now(conn: &Connection) -> rusqlite::Result<Owner> {
    let mut claim = conn.prepare_cached("SELECT owner FROM claim")?;
    let owner: i64 = claim.query_row([], |row| row.get(0))?;
    Ok(Owner(owner.unsigned_abs()))
}

pub(super) fn last_link(conn: &Connection) -> rusqlite::Result<(Seq, Link)> {
    let last = conn
        .prepare_cached("SELECT seq, chain FROM record ORDER BY seq DESC LIMIT 1")?
        .query_row([], |row| {
            Ok((Seq(row.get::<_, i64>(0)?.unsigned_abs()), row.get(1)?))
        })
        .optional()?;
    Ok(last.unwrap_or((Seq::default(), genesis())))
}

/// What is wrong with a row.
struct Wrong(String);

impl From<rusqlite::Error> for Wrong {
    fn from(error: rusqlite::Error) -> Self {
        Self(error.to_string())
    }
}

/// Every record, checked, and each one's link in the chain.
pub(super) fn read_all(
    conn: &Connection,
    path: &Path,
) -> Result<(Vec<Entry>, Vec<Link>), OpenError> {
    let refused = |error| store_error(path, &error);
    let mut links = Vec::new();
    let mut before = genesis();
    let mut rows = conn
        .prepare("SELECT seq, at, run_ms, kind, body, chain FROM record ORDER BY seq")
        .map_err(refused)?;
    let mut rows = rows.query([]).map_err(refused)?;
    let mut ended = None;
    let next = || {
        let row = match rows.next() {
            Ok(row) => row?,
            Err(error) => {
                ended = Some(refused(error));
                return None;
            }
        };
        let wanted = Seq(links.len() as u64).next();
        match read_row(row, &before, wanted) {
            Ok((row, link)) => {
                before = link;
                links.push(link);
                Some(row)
            }
            Err(Wrong(why)) => {
                ended = Some(corrupt(path, Some(wanted), &why));
                None
            }
        }
    };
    // A text that is no record stands before whatever ended the reading.
    let entries = parsed(next).map_err(|bad| corrupt(path, Some(bad.seq), &bad.why))?;
    match ended {
        Some(error) => Err(error),
        None => Ok((entries, links)),
    }
}

fn read_row(row: &rusqlite::Row<'_>, before: &Link, wanted: Seq) -> Result<(Row, Link), Wrong> {
    let number = |at| -> Result<u64, Wrong> {
        let number: i64 = row.get(at)?;
        u64::try_from(number).map_err(|_| Wrong("a number below zero stands in it".to_owned()))
    };
    let seq = Seq(number(0)?);
    if seq != wanted {
        return Err(Wrong(format!("record {seq} stands in its place")));
    }
    let (at, run_ms) = (WallMs(number(1)?), number(2)?);
    let body: String = row.get(4)?;
    let stored: Link = row.get(5)?;
    let link = link(before, seq, at, run_ms, &body);
    if link != stored {
        return Err(Wrong("its digest does not fit".to_owned()));
    }
    let kind: String = row.get(3)?;
    if kind != kind_of(&body) {
        return Err(Wrong("it is of another kind than it says".to_owned()));
    }
    let row = Row {
        seq,
        at,
        run_ms,
        body,
    };
    Ok((row, link))
}

/// A journal lies in its own session's folder: one that was put into another's, whole and
/// sound, would be gone on with under the other's lock.
//= spec L1
pub(super) fn check_folder(folder: &Path, entries: &[Entry], path: &Path) -> Result<(), OpenError> {
    let named = folder.file_name().and_then(|name| name.to_str());
    let named = named.and_then(|name| Sid::parse(name).ok());
    let Some(Record::Opened(opened)) = entries.first().map(|entry| &entry.record) else {
        return Ok(());
    };
    let opened = opened.sid();
    if named.is_none_or(|named| named == *opened) {
        return Ok(());
    }
    let why = format!("it is of session {opened}, and lies in the folder of another");
    Err(corrupt(path, Some(Seq(1)), &why))
}

/// The head that fits the records; an error where the head knows of more.
pub(super) fn check_head(
    said: Option<Head>,
    links: &[Link],
    path: &Path,
) -> Result<Head, OpenError> {
    let seq = Seq(links.len() as u64);
    let last = Head::new(seq, links.last().copied().unwrap_or_else(genesis));
    let Some(said) = said else { return Ok(last) };
    if said.seq > seq {
        return Err(OpenError::Short {
            path: path.to_owned(),
            last: seq,
            stored: said.seq,
        });
    }
    let there = match said.seq.0.checked_sub(1) {
        None => genesis(),
        Some(at) => {
            links[usize::try_from(at)
                .unwrap_or(usize::MAX)
                .min(links.len() - 1)]
        }
    };
    if there != said.link {
        return Err(corrupt(
            path,
            Some(said.seq),
            "it is not the record that was stored there",
        ));
    }
    Ok(last)
}
