//! A session is gone on with: its lock, its journal checked and folded, then everything else
//! as for a new one, with what was opened and not with what is asked for now.

use std::path::{Path, PathBuf};

use protocol::{
    fault::Code,
    id::Sid,
    outcome::Signal,
    record::{Entry, Journal as _, Record, State},
};
use tokio::sync::mpsc;

use super::{Held, Hold, Setup, StartError, not_stored, store};
use crate::{
    agent::Carrier,
    claims::LockClaims,
    clock::{self, Clock},
    journal::{
        Access, SqliteJournal,
        locks::{Holder, Lock},
    },
    run::{Asked, Parts},
};

/// A session of an earlier process, taken over and not yet gone on with.
pub struct Taken {
    /// What its journal folds to.
    pub state: State,
    /// What of the journal was mended without a loss, for people.
    pub mended: Option<&'static str>,
    /// The session's own folder.
    pub folder: PathBuf,
    journal: SqliteJournal,
    holder: Holder,
    lock: Lock,
}

impl Taken {
    /// Takes the session's lock, then opens its journal and checks every record.
    ///
    /// # Errors
    /// [`StartError`]: another relay holds it, or the journal is not as it was written.
    //= spec L1
    pub fn take(state_dir: &Path, sid: &Sid) -> Result<Self, StartError> {
        let folder = state_dir.join(sid.as_str());
        let holder = Holder::this(sid.clone(), clock::wall());
        let lock = Lock::session(&folder, &holder)?;
        let found = SqliteJournal::open(&folder, Access::Write)?;
        let bad = |what: &dyn std::fmt::Display, remedy: &str| {
            StartError::new(Code::Journal, what, remedy)
        };
        let state = protocol::record::fold(&found.entries)
            .map_err(|error| bad(&error, "put back the session's folder from a copy"))?;
        if state.opened.is_none() {
            return Err(StartError::new(
                Code::Usage,
                "the session was never opened: its journal holds no record and nothing was sent",
                "begin it anew with `brb run`",
            ));
        }
        Ok(Self {
            state,
            mended: found.mended,
            folder,
            journal: found.journal,
            holder,
            lock,
        })
    }

    /// Whether its end is stored already: nothing is left to go on with.
    pub fn is_over(&self) -> bool {
        self.state.is_closed() && self.state.stop.is_some()
    }

    /// Holds the conversation, where it is known, as a run would: what is decided about
    /// it is decided by one.
    ///
    /// # Errors
    /// [`StartError`]: another relay is in it.
    //= spec L1
    pub fn hold_conversation(&self) -> Result<LockClaims, StartError> {
        let holder = self.holder.clone();
        Ok(match &self.state.conversation {
            Some(known) => LockClaims::held(known, holder)?,
            None => LockClaims::new(None, holder),
        })
    }

    /// The state that these records would make.
    ///
    /// # Errors
    /// [`StartError`]: the fold refuses one; nothing was stored.
    pub fn would_decide(&self, records: &[Record]) -> Result<State, StartError> {
        let mut state = self.state.clone();
        for record in records {
            let entry = Entry {
                seq: state.seq.next(),
                at: clock::wall(),
                run_ms: state.run_ms,
                record: record.clone(),
            };
            state.apply(&entry).map_err(|error| {
                StartError::new(Code::Usage, error, "see what may be chosen with brb resume")
            })?;
        }
        Ok(state)
    }

    /// Stores what a person decided, all of it or, where one does not fold, nothing.
    ///
    /// # Errors
    /// [`StartError`].
    //= spec M2
    pub fn decide(&mut self, records: &[Record]) -> Result<(), StartError> {
        self.would_decide(records)?;
        let owner = self.journal.claim().map_err(not_stored)?;
        let run_ms = self.state.run_ms;
        for record in records {
            store(&mut self.journal, owner, run_ms, record, &mut self.state)?;
        }
        self.journal.release(owner).map_err(not_stored)
    }

    /// Goes on with it.
    ///
    /// # Errors
    /// [`StartError`]; nothing was typed, and no browser was touched.
    pub fn go_on(
        mut self,
        setup: Setup,
        approver: Asked,
        signals: mpsc::Receiver<Signal>,
    ) -> Result<(Parts, Held), StartError> {
        let carrier = Carrier::preflight(setup.agent.clone(), setup.terminal)?;
        carrier.check_continued(setup.sid.as_str())?;
        let asked = super::conversation_of(&setup.chat);
        let claims = match self.state.conversation.clone() {
            Some(known) => LockClaims::held(&known, self.holder)?,
            None => LockClaims::new(asked, self.holder),
        };
        let owner = self.journal.claim().map_err(not_stored)?;
        // The session's own clock: what ran before counts, what passed between does not.
        //= spec T1
        let run_ms = self.state.run_ms;
        //= spec RP7
        if self.state.standing_stop().is_none() {
            let version = env!("CARGO_PKG_VERSION").to_owned();
            let resumed = Record::Resumed { version };
            store(&mut self.journal, owner, run_ms, &resumed, &mut self.state)?;
        }
        let hold = Hold {
            journal: self.journal,
            owner,
            state: self.state,
            claims,
            clock: Clock::going_on(run_ms),
        };
        let parts = hold.parts(setup, carrier, approver, signals);
        let held = Held {
            lock: self.lock,
            folder: self.folder,
        };
        Ok((parts, held))
    }
}
