//! Exclusive claims on tab and conversation, taken by the records that bind the
//! session to them.

use std::{
    fs::{self, File},
    os::unix::fs::DirBuilderExt as _,
};

use protocol::{page::ConversationId, record::Record};

use crate::{
    journal::locks::{Holder, LockError},
    run::Claims,
    seat::{On, Seat},
};

/// Claims kept by names that the system gives to one process alone.
//= spec L1
#[derive(Debug)]
pub struct LockClaims {
    /// The conversation that was asked for or bound before, where one was.
    known: Option<ConversationId>,
    holder: Holder,
    seat: Option<Seat>,
}

impl LockClaims {
    /// No claim yet.
    pub fn new(known: Option<ConversationId>, holder: Holder) -> Self {
        Self {
            known,
            holder,
            seat: None,
        }
    }

    /// The claim on a conversation that is known already, taken at once.
    ///
    /// # Errors
    /// [`LockError`] when another relay holds it.
    pub fn held(conversation: &ConversationId, holder: Holder) -> Result<Self, LockError> {
        let mut claims = Self::new(Some(conversation.clone()), holder);
        claims.hold(On::Conversation(conversation.clone()))?;
        Ok(claims)
    }

    fn take(&mut self, record: &Record) -> Result<(), LockError> {
        match record {
            // A conversation that is known already, or that the tab shows, is
            // held by its own name from the start **(ours)**: two tabs of one
            // must not both begin. An unbound session that comes to another tab
            // moves there.
            Record::Attached {
                target, address, ..
            } => {
                let shown = || conversation_of(address);
                match (self.known.clone().or_else(shown), &self.seat) {
                    (Some(talk), _) => self.hold(On::Conversation(talk)),
                    (None, Some(seat)) if matches!(seat.on(), On::Conversation(_)) => Ok(()),
                    (None, _) => self.hold(On::Tab(target.clone())),
                }
            }
            //= spec E1
            Record::Bound { conversation } => {
                self.known = Some(conversation.clone());
                self.hold(On::Conversation(conversation.clone()))
            }
            Record::Opened(_)
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
            | Record::Lifted { .. }
            | Record::Attested { .. }
            | Record::Abandoned { .. } => Ok(()),
        }
    }

    fn hold(&mut self, on: On) -> Result<(), LockError> {
        match &mut self.seat {
            Some(seat) => seat.move_to(on),
            None => {
                self.seat = Some(Seat::take(on, self.holder.clone())?);
                Ok(())
            }
        }
    }
}

/// The conversation that an address names under an id of the server, by what is
/// known of the site's addresses.
pub fn conversation_of(address: &str) -> Option<ConversationId> {
    let fits = |pattern: &str, text: &str| {
        regex::Regex::new(pattern).is_ok_and(|pattern| pattern.is_match(text))
    };
    let path = address.split_once("://").map_or(address, |(_, rest)| rest);
    let path = path.find('/').map_or("/", |at| &path[at..]);
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let known = &capture::layout::ADDRESSES;
    let id = known
        .conversation
        .iter()
        .filter_map(|pattern| regex::Regex::new(pattern).ok())
        .find_map(|pattern| Some(pattern.captures(path)?.get(1)?.as_str().to_owned()))?;
    let settled = !fits(known.transient, &id) && fits(known.conversation_id, &id);
    settled.then_some(ConversationId(id))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_a_conversation_or_none() {
        for (address, id) in [
            ("https://chatgpt.com/c/ab-12", Some("ab-12")),
            ("http://127.0.0.1:8080/g/x/c/ab-12?m=1#top", Some("ab-12")),
            ("https://chatgpt.com/", None),
            ("https://chatgpt.com", None),
            ("https://chatgpt.com/share/ab-12", None),
            ("https://chatgpt.com/c/WEB:ab-12", None),
            ("https://chatgpt.com/c/WEB%3Aab-12", None),
        ] {
            assert_eq!(
                conversation_of(address).map(|id| id.0).as_deref(),
                id,
                "{address}"
            );
        }
    }
}
