//! The list of sessions, kept in a file so that it need not be read from every
//! journal each time. It is made from the journals, made anew when it is
//! missing, old or damaged, and nothing is ever decided from it.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::Read,
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use protocol::{
    fault::Code,
    frame::Checkpoint,
    id::Sid,
    outcome::Outcome,
    record::{Entry, PlanStage, State},
    send::SendState,
    time::WallMs,
};
use rusqlite::Connection;
use serde::{Deserialize, Serialize};

use crate::{
    journal::{Access, HEAD, JOURNAL, OpenError, SqliteJournal},
    place::Place,
};

/// The version of what is kept; another one is made anew.
const VERSION: u32 = 1;

/// One session in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// The session.
    pub sid: Sid,
    /// When it was opened, by the wall clock.
    pub began: WallMs,
    /// When its last record was stored.
    pub last: WallMs,
    /// Rounds sent or tried.
    pub rounds: u32,
    /// The checkpoint as the wire writes it: `2:ab12cd34` or `0:-`.
    pub checkpoint: String,
    /// Where it stands.
    pub standing: Standing,
    /// The folder in which plans are carried out.
    pub workspace: String,
    /// The label given to it.
    pub title: String,
}

/// Where a session stands when no relay works on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Standing {
    /// The remote said `done`.
    Done,
    /// A stop stands until a person lifts it.
    Stopped {
        /// How the run ended.
        outcome: Outcome,
        /// The stable code, where there is one.
        code: Option<Code>,
    },
    /// It can be gone on with.
    Open {
        /// How its last run ended; none where it was killed.
        outcome: Option<Outcome>,
        /// Whether it is unknown if its last message was sent.
        unknown: bool,
        /// Whether a plan was started and not settled.
        started: bool,
    },
}

impl Standing {
    /// Where a session of that state stands.
    pub fn of(state: &State) -> Self {
        if let Some(stop) = state.standing_stop() {
            return Self::Stopped {
                outcome: stop.outcome,
                code: stop.code,
            };
        }
        if state.is_closed() {
            return Self::Done;
        }
        Self::Open {
            outcome: state.stop.as_ref().map(|stop| stop.outcome),
            unknown: state
                .in_flight()
                .is_some_and(|row| row.state() == SendState::Unknown),
            started: state.plan.as_ref().is_some_and(|plan| match plan.stage {
                PlanStage::Started { .. } | PlanStage::InDoubt => true,
                PlanStage::Accepted => false,
            }),
        }
    }
}

impl Summary {
    /// The summary of a session whose records fold to `state`; none of one
    /// whose first record was never stored.
    pub fn of(entries: &[Entry], state: &State) -> Option<Self> {
        let opened = state.opened.as_ref()?;
        Some(Self {
            sid: opened.sid().clone(),
            began: entries.first()?.at,
            last: entries.last()?.at,
            rounds: state.rounds_sent(),
            checkpoint: match &state.checkpoint {
                Checkpoint::Start => "0:-".to_owned(),
                Checkpoint::At { round, key } => format!("{round}:{key}"),
            },
            standing: Standing::of(state),
            workspace: opened.workspace.clone(),
            title: opened.offer.objective.to_string(),
        })
    }
}

/// Why a session cannot be summed up.
#[derive(Debug)]
pub enum Unreadable {
    /// Its journal does not open.
    Journal(OpenError),
    /// Its records contradict one another.
    Fold(protocol::record::FoldError),
    /// It has no record.
    Empty,
}

impl std::fmt::Display for Unreadable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Journal(error) => error.fmt(f),
            Self::Fold(error) => error.fmt(f),
            Self::Empty => f.write_str("the journal holds no record; nothing was ever sent"),
        }
    }
}

impl std::error::Error for Unreadable {}

/// Reads one session's journal, and what it folds to.
///
/// # Errors
/// [`Unreadable`].
pub fn read(folder: &Path) -> Result<(Vec<Entry>, State), Unreadable> {
    let found = SqliteJournal::open(folder, Access::Read).map_err(Unreadable::Journal)?;
    let state = protocol::record::fold(&found.entries).map_err(Unreadable::Fold)?;
    if state.opened.is_none() {
        return Err(Unreadable::Empty);
    }
    Ok((found.entries, state))
}

/// One session of the list.
#[derive(Debug)]
pub struct Listed {
    /// The session.
    pub sid: Sid,
    /// Its summary, or why there is none.
    pub summary: Result<Summary, Unreadable>,
}

/// Every session here, the one worked on last first.
///
/// # Errors
/// When the state folder itself cannot be read.
pub fn list(place: &Place) -> std::io::Result<Vec<Listed>> {
    let sids = place.sessions()?;
    let mut kept = if sids.is_empty() {
        Kept::nothing()
    } else {
        Kept::open(place.index())
    };
    let mut all: Vec<Listed> = sids
        .into_iter()
        .map(|sid| {
            let folder = place.session(&sid);
            let summary = kept.summary(&folder, &sid);
            Listed { sid, summary }
        })
        .collect();
    kept.keep();
    all.sort_by_key(|listed| {
        let last = listed.summary.as_ref().map_or(0, |summary| summary.last.0);
        std::cmp::Reverse(last)
    });
    Ok(all)
}

/// The file, and what has to be written to it.
struct Kept {
    conn: Option<Connection>,
    known: BTreeMap<String, (String, Summary)>,
    new: Vec<(String, String, String)>,
}

impl Kept {
    fn nothing() -> Self {
        Self {
            conn: None,
            known: BTreeMap::new(),
            new: Vec::new(),
        }
    }

    /// Opens the file, made anew where it is not as it should be. Where even
    /// that fails there is none, and every journal is read.
    fn open(path: PathBuf) -> Self {
        let opened = Self::try_open(&path).or_else(|_| {
            for suffix in ["", "-wal", "-shm", "-journal"] {
                let mut name = path.clone().into_os_string();
                name.push(suffix);
                let _ = fs::remove_file(name);
            }
            Self::try_open(&path)
        });
        opened.unwrap_or_else(|error| {
            tracing::debug!(%error, "the list is read from every journal");
            Self::nothing()
        })
    }

    fn try_open(path: &Path) -> Result<Self, rusqlite::Error> {
        // Where this fails, opening does too and says why.
        let _ = File::options()
            .append(true)
            .create(true)
            .mode(0o600)
            .open(path);
        let conn = Connection::open(path)?;
        conn.busy_timeout(std::time::Duration::from_millis(200))?;
        conn.pragma_update(None, "synchronous", "OFF")?;
        let version: u32 = conn.pragma_query_value(None, "user_version", |row| row.get(0))?;
        if version != VERSION {
            conn.execute_batch(
                "DROP TABLE IF EXISTS session;
                 CREATE TABLE session (sid TEXT PRIMARY KEY, stamp TEXT NOT NULL, summary TEXT NOT NULL) STRICT;",
            )?;
            conn.pragma_update(None, "user_version", VERSION)?;
        }
        let mut known = BTreeMap::new();
        let mut rows = conn.prepare("SELECT sid, stamp, summary FROM session")?;
        let read = rows.query_map([], |row| {
            Ok((
                row.get::<_, String>(0)?,
                row.get(1)?,
                row.get::<_, String>(2)?,
            ))
        })?;
        for row in read {
            let (sid, stamp, summary) = row?;
            // What does not parse is as good as not there.
            if let Ok(summary) = serde_json::from_str(&summary) {
                known.insert(sid, (stamp, summary));
            }
        }
        drop(rows);
        Ok(Self {
            conn: Some(conn),
            known,
            new: Vec::new(),
        })
    }

    fn summary(&mut self, folder: &Path, sid: &Sid) -> Result<Summary, Unreadable> {
        let stamp = stamp(folder);
        if let (Some(stamp), Some((then, summary))) = (&stamp, self.known.get(sid.as_str()))
            && stamp == then
        {
            return Ok(summary.clone());
        }
        let (entries, state) = read(folder)?;
        let summary = Summary::of(&entries, &state).ok_or(Unreadable::Empty)?;
        if let Some(stamp) = stamp {
            let text = serde_json::to_string(&summary).unwrap_or_default();
            self.new.push((sid.to_string(), stamp, text));
        }
        Ok(summary)
    }

    fn keep(self) {
        let (Some(mut conn), false) = (self.conn, self.new.is_empty()) else {
            return;
        };
        let written = (|| {
            let tx = conn.transaction()?;
            for (sid, stamp, summary) in &self.new {
                tx.execute(
                    "INSERT OR REPLACE INTO session (sid, stamp, summary) VALUES (?, ?, ?)",
                    [sid, stamp, summary],
                )?;
            }
            tx.commit()
        })();
        if let Err(error) = written {
            tracing::debug!(%error, "the list was not kept");
        }
    }
}

/// What changes whenever the journal does: its head names its last record.
fn stamp(folder: &Path) -> Option<String> {
    // A head is one short line: one call reads it, of whatever many sessions.
    let mut line = [0; 256];
    let len = File::open(folder.join(HEAD)).ok()?.read(&mut line).ok()?;
    let head = std::str::from_utf8(&line[..len]).ok()?.trim_end();
    let file = fs::metadata(folder.join(JOURNAL)).ok()?;
    Some(format!("{head} {} {}", file.ino(), file.len()))
}

#[cfg(test)]
mod tests;
