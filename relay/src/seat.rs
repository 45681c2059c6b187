//! The lock on what is written to: a tab until the conversation is bound, the
//! conversation from then on (L1). Whatever state folder a relay has, it meets
//! every other relay that can reach the same browser.
//!
//! It is a [`Name`] of this machine **(ours)**. A browser's debugging port listens
//! on loopback, and names reach exactly as far as loopback does: whoever could drive
//! the same tab, under whatever user and with whatever folders, meets the same name.

use protocol::{
    id::hex,
    page::{ConversationId, TargetId},
};
use sha2::{Digest as _, Sha256};

use crate::{
    journal::locks::{Holder, LockError, Subject, Who},
    name::{By, Name, Taken},
};

/// What a seat is on.
///
/// It goes by the id alone **(ours)**: one browser is reached by several
/// addresses and one account by several profiles, while the ids of tabs and of
/// conversations are drawn at random by those who give them. The lock is so
/// wider than asked for, never narrower.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum On {
    /// A tab whose conversation has no id of its own yet.
    Tab(TargetId),
    /// A conversation.
    Conversation(ConversationId),
}

impl On {
    const fn subject(&self) -> Subject {
        match self {
            Self::Tab(_) => Subject::Tab,
            Self::Conversation(_) => Subject::Conversation,
        }
    }

    /// By its digest: what a page calls its conversation may have any length.
    fn name(&self) -> String {
        let (what, id) = match self {
            Self::Tab(id) => ("tab", &id.0),
            Self::Conversation(id) => ("conversation", &id.0),
        };
        let digest = Sha256::digest(id.as_bytes());
        format!("pi-bridge/1/{what}/{}", hex(&digest[..16]))
    }
}

/// A tab or a conversation that is held; dropping it lets it go.
#[derive(Debug)]
pub struct Seat {
    on: On,
    holder: Holder,
    name: Option<Name>,
}

impl Seat {
    /// Takes a tab or a conversation.
    ///
    /// # Errors
    /// [`LockError`] when another relay holds it or the system refuses.
    //= spec L1
    pub fn take(on: On, holder: Holder) -> Result<Self, LockError> {
        let name = Some(take(&on, &holder)?);
        Ok(Self { on, holder, name })
    }

    /// What it is on.
    pub const fn on(&self) -> &On {
        &self.on
    }

    /// Moves to another tab or to the conversation, which is taken before the
    /// old one is let go. To stay is nothing.
    ///
    /// # Errors
    /// [`LockError`] when another relay holds it; the old one is kept then.
    //= spec L1
    //= spec E1
    pub fn move_to(&mut self, on: On) -> Result<(), LockError> {
        if on != self.on {
            self.name = Some(take(&on, &self.holder)?);
            self.on = on;
        }
        Ok(())
    }
}

/// Takes the name of what a seat is on; its holder's own words count only where the
/// system names the same process.
fn take(on: &On, holder: &Holder) -> Result<Name, LockError> {
    let name = on.name();
    let failed = |source| LockError::Failed {
        what: format!("the socket @{name}"),
        source,
    };
    let said = serde_json::to_vec(holder).map_err(|error| failed(error.into()))?;
    match Name::take(&name, said).map_err(failed)? {
        Taken::Ours(name) => Ok(name),
        Taken::Held(by) => Err(LockError::Held {
            subject: on.subject(),
            by: who(&by),
        }),
    }
}

fn who(by: &By) -> Who {
    let told = serde_json::from_slice::<Holder>(&by.said).ok();
    match (told, by.pid) {
        (Some(holder), None) => Who::Told(holder),
        (Some(holder), Some(pid)) if holder.pid == pid => Who::Told(holder),
        (Some(_) | None, Some(pid)) => Who::Process(pid),
        (None, None) => Who::Untold,
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io::Write as _,
        os::{
            linux::net::SocketAddrExt as _,
            unix::net::{SocketAddr, UnixListener},
        },
        thread,
    };

    use protocol::{id::Sid, time::WallMs};

    use super::*;

    fn me(sid: &str) -> Holder {
        Holder::this(Sid::parse(sid).unwrap(), WallMs(1_760_000_000_000))
    }

    fn one() -> Holder {
        me("00000000000000aa")
    }

    fn other() -> Holder {
        me("00000000000000bb")
    }

    /// Ids of this test alone: names are the whole machine's.
    fn id(what: &str) -> String {
        format!("{what}-{}", crate::ids::sid())
    }

    fn tab() -> On {
        On::Tab(TargetId(id("tab")))
    }

    fn talk() -> On {
        On::Conversation(ConversationId(id("talk")))
    }

    //= spec L1 type=test
    #[test]
    fn the_second_relay_is_refused_by_name_until_the_first_lets_go() {
        let on = talk();
        let first = Seat::take(on.clone(), one()).unwrap();
        let refusal = Seat::take(on.clone(), other()).unwrap_err();
        let LockError::Held { subject, by } = &refusal else {
            panic!("{refusal}");
        };
        assert_eq!((*subject, by), (Subject::Conversation, &Who::Told(one())));
        let said = refusal.to_string();
        let pid = std::process::id();
        assert!(
            said.contains(&format!("process {pid} with session 00000000000000aa")),
            "{said}"
        );
        drop(first);
        assert!(Seat::take(on, other()).is_ok());
    }

    //= spec L1 type=test
    #[test]
    fn at_binding_the_conversation_is_held_before_the_tab_is_left() {
        let (tab, talk) = (tab(), talk());
        let mut first = Seat::take(tab.clone(), one()).unwrap();
        assert!(Seat::take(tab.clone(), other()).is_err());
        first.move_to(talk.clone()).unwrap();
        assert!(Seat::take(talk.clone(), other()).is_err());
        assert!(Seat::take(tab, other()).is_ok());
        first.move_to(talk.clone()).unwrap();
        assert!(Seat::take(talk, other()).is_err(), "to stay let it go");
    }

    //= spec L1 type=test
    #[test]
    fn a_binding_that_is_refused_keeps_the_tab() {
        let (tab, talk) = (tab(), talk());
        let _theirs = Seat::take(talk.clone(), other()).unwrap();
        let mut ours = Seat::take(tab.clone(), one()).unwrap();
        assert!(ours.move_to(talk).is_err());
        assert_eq!(ours.on(), &tab);
        assert!(Seat::take(tab, other()).is_err());
    }

    #[test]
    fn a_tab_and_a_conversation_of_one_id_are_two_and_any_id_has_a_name() {
        let id = id("same");
        let _one = Seat::take(On::Tab(TargetId(id.clone())), one()).unwrap();
        assert!(Seat::take(On::Conversation(ConversationId(id)), other()).is_ok());
        let strange = format!("../../etc/passwd\0\n{}", "x".repeat(5_000));
        assert!(Seat::take(On::Conversation(ConversationId(strange)), other()).is_ok());
    }

    #[test]
    fn a_holder_that_says_nothing_or_lies_is_named_by_its_process() {
        for said in [
            "",
            "{\"pid\":",
            "{\"pid\":1,\"sid\":\"00000000000000aa\",\"since\":1}",
        ] {
            let on = talk();
            let address = SocketAddr::from_abstract_name(on.name()).unwrap();
            let listener = UnixListener::bind_addr(&address).unwrap();
            let answers = thread::spawn(move || {
                let (mut asker, _) = listener.accept().unwrap();
                asker.write_all(said.as_bytes()).unwrap();
                listener
            });
            let refusal = Seat::take(on, other()).unwrap_err();
            drop(answers.join().unwrap());
            let LockError::Held { by, .. } = refusal else {
                panic!("{refusal}");
            };
            assert_eq!(by, Who::Process(std::process::id()), "{said}");
        }
    }
}
