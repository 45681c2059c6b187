//! Exclusive claims on tab and conversation, taken by the records that bind the
//! session to them.

use std::{
    fs::{self, File},
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
};

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

/// That this process uses a profile's browser, told to other relays by a shared
/// lock: whoever ends last closes it.
#[derive(Debug)]
pub struct ProfileUse(Option<File>);

impl ProfileUse {
    /// Tells it for a browser that is started; where that cannot be told, the
    /// browser counts as used by others and is left open.
    pub fn of(endpoint: &cdp::Endpoint) -> Self {
        let cdp::Endpoint::Launch(launch) = endpoint else {
            return Self(None);
        };
        let tell = || {
            let mut folder = fs::DirBuilder::new();
            folder.recursive(true).mode(0o700).create(&launch.profile)?;
            let path = launch.profile.join(USE);
            let file = File::options()
                .create(true)
                .truncate(false)
                .write(true)
                .open(path)?;
            file.lock_shared()?;
            Ok::<File, std::io::Error>(file)
        };
        Self(tell().ok())
    }

    /// Whether no other relay uses it.
    pub fn is_alone(&self) -> bool {
        let Some(file) = &self.0 else { return false };
        // A lock is not raised in place: whoever comes in between is seen.
        file.unlock().is_ok() && file.try_lock().is_ok()
    }
}

/// The file within a profile folder that tells its use.
const USE: &str = "brb-in-use";
