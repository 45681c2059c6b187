//! Journals made without a run.

#![allow(dead_code, reason = "each test file uses a part of it")]
#![allow(clippy::unwrap_used, reason = "these are tests")]

use protocol::{
    fault::Code,
    id::Sid,
    limits::Limits,
    message::{Objective, Offer},
    outcome::Outcome,
    page::{Anchor, Epoch, TargetId},
    record::{Intent, Journal, Opened, Owner, Record, Seq, Stop},
    send::SendKind,
    time::WallMs,
    wire,
};
use relay::journal::SqliteJournal;

use super::Brb;

pub const SID: &str = "00112233445566aa";

pub fn sid() -> Sid {
    Sid::parse(SID).unwrap()
}

/// A session whose HELLO was dispatched and whose process was killed then.
pub fn killed(workspace: &str) -> Vec<Record> {
    let opened = Record::Opened(Box::new(Opened {
        schema: protocol::record::SCHEMA_VERSION,
        offer: Offer::standard(sid(), wire::tag("x"), Objective::parse("sums").unwrap()),
        request: "the secret request".into(),
        chat: "http://127.0.0.1:9/".into(),
        workspace: workspace.into(),
        agent: "shell".into(),
        limits: Limits::default(),
    }));
    let attached = Record::Attached {
        epoch: Epoch(1),
        target: TargetId("T".into()),
        browser: "Chrome/156".into(),
        address: "http://127.0.0.1:9/".into(),
        layout: "classic".into(),
    };
    let read = Record::Read {
        epoch: Epoch(1),
        turns: 0,
        anchor: Anchor::Empty,
    };
    let intent = Record::Intent(Box::new(Intent {
        send: protocol::id::SendId(1),
        message: SendKind::Hello,
        round: None,
        digest: protocol::id::Digest::of("hello"),
        text: "hello".into(),
        anchor: Anchor::Empty,
        epoch: Epoch(1),
        offer: None,
        voids: Vec::new(),
    }));
    let dispatching = Record::Dispatching {
        send: protocol::id::SendId(1),
        attempt: 1,
    };
    vec![opened, attached, read, intent, dispatching]
}

pub fn stopped(code: Code) -> Record {
    Record::Stopped(Stop {
        outcome: Outcome::Manual,
        code: Some(code),
        row: None,
        why: "somebody's draft stands in the composer".into(),
        standing: true,
        interrupted: false,
        facts: None,
    })
}

pub fn with_session(brb: &Brb, sid: &Sid, records: &[Record]) {
    let mut journal = SqliteJournal::create(&brb.state().join(sid.as_str())).unwrap();
    let owner = journal.claim().unwrap();
    for (nth, record) in records.iter().enumerate() {
        let nth = nth as u64;
        let at = WallMs(1_760_000_000_000 + nth);
        journal.append(owner, Seq(nth), at, nth, record).unwrap();
    }
    journal.release(Owner(1)).unwrap();
}

pub fn brb_with(records: &[Record]) -> Brb {
    let brb = Brb::new();
    with_session(&brb, &sid(), records);
    brb
}
