//! Two relays and one thing to hold.

use protocol::{
    id::Sid,
    page::{ConversationId, TargetId},
    time::WallMs,
};

use super::locks::{Holder, Lock, LockError, SESSION_LOCK, Seat, Subject};

fn me(sid: &str) -> Holder {
    Holder::this(Sid::parse(sid).unwrap(), WallMs(1_760_000_000_000))
}

fn one() -> Holder {
    me("00000000000000aa")
}

fn other() -> Holder {
    me("00000000000000bb")
}

//= spec L1 type=test
#[test]
fn the_second_relay_on_a_session_is_refused_by_name_until_the_first_ends() {
    let dir = tempfile::tempdir().unwrap();
    let first = Lock::session(dir.path(), &one()).unwrap();
    let refusal = Lock::session(dir.path(), &other()).unwrap_err();
    let LockError::Held { subject, by } = &refusal else {
        panic!("{refusal}");
    };
    assert_eq!((*subject, by.as_ref()), (Subject::Session, Some(&one())));
    let said = refusal.to_string();
    let pid = std::process::id();
    assert!(
        said.contains(&format!(
            "process {pid} with session 00000000000000aa, since 2025-10-09"
        )),
        "{said}"
    );
    assert_eq!(Lock::session_holder(dir.path()).unwrap(), Some(Some(one())));
    drop(first);
    assert_eq!(Lock::session_holder(dir.path()).unwrap(), None);
    assert!(Lock::session(dir.path(), &other()).is_ok());
}

#[test]
fn a_lock_whose_file_says_nothing_still_holds() {
    let dir = tempfile::tempdir().unwrap();
    let _first = Lock::session(dir.path(), &one()).unwrap();
    std::fs::write(dir.path().join(SESSION_LOCK), "{\"pid\":").unwrap();
    let refusal = Lock::session(dir.path(), &other()).unwrap_err();
    assert!(
        matches!(refusal, LockError::Held { by: None, .. }),
        "{refusal}"
    );
}

//= spec L1 type=test
#[test]
fn at_binding_the_conversation_is_held_before_the_tab_is_left() {
    let dir = tempfile::tempdir().unwrap();
    let (tab, talk) = (TargetId("T".into()), ConversationId("c-1".into()));
    let mut first = Seat::of_tab(dir.path(), &tab, one()).unwrap();
    assert!(Seat::of_tab(dir.path(), &tab, other()).is_err());
    first.bind(&talk).unwrap();
    assert!(Seat::of_conversation(dir.path(), &talk, other()).is_err());
    assert!(Seat::of_tab(dir.path(), &tab, other()).is_ok());
    first.bind(&talk).unwrap();
}

//= spec L1 type=test
#[test]
fn a_binding_that_is_refused_keeps_the_tab() {
    let dir = tempfile::tempdir().unwrap();
    let (tab, talk) = (TargetId("T".into()), ConversationId("c-1".into()));
    let _theirs = Seat::of_conversation(dir.path(), &talk, other()).unwrap();
    let mut ours = Seat::of_tab(dir.path(), &tab, one()).unwrap();
    assert!(matches!(
        ours.bind(&talk),
        Err(LockError::Held {
            subject: Subject::Conversation,
            ..
        })
    ));
    assert!(Seat::of_tab(dir.path(), &tab, other()).is_err());
}

#[test]
fn other_tabs_and_a_conversation_of_a_tabs_name_are_other_locks() {
    let dir = tempfile::tempdir().unwrap();
    let _one = Seat::of_tab(dir.path(), &TargetId("T".into()), one()).unwrap();
    assert!(Seat::of_tab(dir.path(), &TargetId("U".into()), other()).is_ok());
    let talk = ConversationId("T".into());
    assert!(Seat::of_conversation(dir.path(), &talk, other()).is_ok());
    let strange = ConversationId("../../etc/passwd\0\n".into());
    assert!(Seat::of_conversation(dir.path(), &strange, other()).is_ok());
}
