//! The tables: what SQLite itself refuses, and how a foreign file is known.

use rusqlite::Connection;

/// `PRAGMA user_version`: the vocabulary's version.
pub(super) const VERSION: u32 = protocol::record::SCHEMA_VERSION;

/// `PRAGMA application_id`: "piBr".
pub(super) const APPLICATION_ID: i32 = 0x7069_4272;

// Records are added at the end and never changed; the digests would tell, and
// these refuse it to begin with, also to other programs that use the file.
const TABLES: &str = "
CREATE TABLE record (
  seq INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  run_ms INTEGER NOT NULL,
  kind TEXT NOT NULL,
  body TEXT NOT NULL,
  chain BLOB NOT NULL CHECK (length(chain) = 32)
) STRICT;
CREATE TABLE claim (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  owner INTEGER NOT NULL CHECK (owner >= 0)
) STRICT;
INSERT INTO claim (one, owner) VALUES (1, 0);
CREATE TRIGGER record_never_changes BEFORE UPDATE ON record
BEGIN SELECT RAISE(ABORT, 'a record never changes'); END;
CREATE TRIGGER record_never_goes BEFORE DELETE ON record
BEGIN SELECT RAISE(ABORT, 'a record never goes'); END;
CREATE TRIGGER record_comes_last BEFORE INSERT ON record
WHEN NEW.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM record)
BEGIN SELECT RAISE(ABORT, 'a record comes last'); END;
CREATE TRIGGER claim_never_goes BEFORE DELETE ON claim
BEGIN SELECT RAISE(ABORT, 'the claim never goes'); END;
CREATE TRIGGER claim_grows BEFORE UPDATE ON claim
WHEN NEW.owner <= OLD.owner
BEGIN SELECT RAISE(ABORT, 'the owner grows'); END;
";

/// How long another process's transaction is waited for.
const BUSY_MS: u64 = 2_000;

/// Longest row taken, in bytes: far above any message, far below what hurts.
const ROW_LEN_MAX: i32 = 64 << 20;

/// Makes the tables of a new file, in one transaction.
pub(super) fn create(conn: &mut Connection) -> rusqlite::Result<()> {
    let tx = conn.transaction()?;
    tx.execute_batch(TABLES)?;
    tx.pragma_update(None, "application_id", APPLICATION_ID)?;
    tx.pragma_update(None, "user_version", VERSION)?;
    tx.commit()
}

/// The settings of every connection; they are not kept in the file.
//= spec J1
pub(super) fn prepare(conn: &Connection) -> rusqlite::Result<()> {
    conn.busy_timeout(std::time::Duration::from_millis(BUSY_MS))?;
    conn.set_limit(rusqlite::limits::Limit::SQLITE_LIMIT_LENGTH, ROW_LEN_MAX)?;
    conn.pragma_update(None, "synchronous", "FULL")?;
    conn.pragma_update(None, "trusted_schema", false)?;
    conn.pragma_update(None, "cell_size_check", true)
}

/// Turns write-ahead logging on, which is kept in the file. Says whether it is.
pub(super) fn use_wal(conn: &Connection) -> rusqlite::Result<bool> {
    let mode: String = conn.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
    Ok(mode.eq_ignore_ascii_case("wal"))
}

/// Whether the file's tables and triggers are those made by [`create`].
pub(super) fn is_ours(conn: &Connection) -> rusqlite::Result<bool> {
    let mut model = Connection::open_in_memory()?;
    create(&mut model)?;
    Ok(definitions(conn)? == definitions(&model)?)
}

fn definitions(conn: &Connection) -> rusqlite::Result<Vec<(String, Option<String>)>> {
    let mut rows = conn.prepare("SELECT name, sql FROM sqlite_schema ORDER BY name")?;
    rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Connection {
        let mut conn = Connection::open_in_memory().unwrap();
        create(&mut conn).unwrap();
        insert(&conn, 1).unwrap();
        insert(&conn, 2).unwrap();
        conn
    }

    fn insert(conn: &Connection, seq: i64) -> rusqlite::Result<usize> {
        conn.execute(
            "INSERT INTO record VALUES (?1, 0, 0, 'x', '{}', zeroblob(32))",
            [seq],
        )
    }

    #[test]
    fn the_tables_refuse_every_change_but_an_addition_at_the_end() {
        let conn = table();
        for change in [
            "UPDATE record SET body = '{}' WHERE seq = 1",
            "DELETE FROM record WHERE seq = 2",
            "INSERT INTO record VALUES (4, 0, 0, 'x', '{}', zeroblob(32))",
            "INSERT OR REPLACE INTO record VALUES (2, 0, 0, 'x', '{}', zeroblob(32))",
            "INSERT INTO record VALUES (3, 0, 0, 'x', '{}', zeroblob(31))",
            "UPDATE claim SET owner = owner",
            "DELETE FROM claim",
        ] {
            assert!(conn.execute(change, []).is_err(), "taken: {change}");
        }
        assert!(insert(&conn, 3).is_ok());
        assert!(
            conn.execute("UPDATE claim SET owner = owner + 1", [])
                .is_ok()
        );
    }

    #[test]
    fn a_dropped_trigger_is_noticed() {
        let conn = table();
        assert!(is_ours(&conn).unwrap());
        conn.execute("DROP TRIGGER record_never_goes", []).unwrap();
        assert!(!is_ours(&conn).unwrap());
    }
}
