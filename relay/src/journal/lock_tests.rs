//! Two relays and one thing to hold.

use protocol::{id::Sid, time::WallMs};

use super::locks::{Holder, Lock, LockError, SESSION_LOCK, Subject, Who};

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
    assert_eq!((*subject, by), (Subject::Session, &Who::Told(one())));
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
        matches!(
            refusal,
            LockError::Held {
                by: Who::Untold,
                ..
            }
        ),
        "{refusal}"
    );
}
