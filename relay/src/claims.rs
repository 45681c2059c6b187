//! Exclusive claims on tab and conversation, taken by the records that bind the
//! session to them.

use std::path::{Path, PathBuf};

use protocol::{page::ConversationId, record::Record};

use crate::{
    journal::locks::{Holder, LockError, Seat},
    run::Claims,
};

/// The folder of these locks within the state folder.
const FOLDER: &str = "locks";

/// Claims kept by locks of the operating system.
//= spec L1
#[derive(Debug)]
pub struct LockClaims {
    folder: PathBuf,
    /// The conversation that was asked for, where one was.
    asked: Option<ConversationId>,
    holder: Holder,
    seat: Option<Seat>,
}

impl LockClaims {
    /// No claim yet.
    pub fn new(state_dir: &Path, asked: Option<ConversationId>, holder: Holder) -> Self {
        Self {
            folder: state_dir.join(FOLDER),
            asked,
            holder,
            seat: None,
        }
    }

    fn take(&mut self, record: &Record) -> Result<(), LockError> {
        match record {
            Record::Attached { target, .. } if self.seat.is_none() => {
                let (folder, holder) = (&self.folder, self.holder.clone());
                // A conversation that is known already is held by its own name
                // from the start **(ours)**: two tabs of one must not both begin.
                self.seat = Some(match &self.asked {
                    Some(known) => Seat::of_conversation(folder, known, holder)?,
                    None => Seat::of_tab(folder, target, holder)?,
                });
            }
            //= spec E1
            Record::Bound { conversation } => match &mut self.seat {
                Some(seat) => seat.bind(conversation)?,
                None => {
                    let holder = self.holder.clone();
                    let seat = Seat::of_conversation(&self.folder, conversation, holder)?;
                    self.seat = Some(seat);
                }
            },
            Record::Attached { .. }
            | Record::Opened(_)
            | Record::Resumed { .. }
            | Record::Read { .. }
            | Record::Intent(_)
            | Record::Dispatching { .. }
            | Record::Outcome { .. }
            | Record::Judged { .. }
            | Record::Started { .. }
            | Record::NotStarted { .. }
            | Record::Settled { .. }
            | Record::InDoubt { .. }
            | Record::Decided { .. }
            | Record::Stopped(_)
            | Record::Lifted { .. } => {}
        }
        Ok(())
    }
}

impl Claims for LockClaims {
    fn claim(&mut self, record: &Record) -> Result<(), String> {
        self.take(record).map_err(|error| error.to_string())
    }
}
