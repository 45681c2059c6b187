//! A whole session as records, for tests: HELLO, a ROUND whose reply is
//! refused, a REPAIR over a dropped link, an execution, `done`.

use protocol::{
    fault::{Code, Fault},
    id::{Digest, Round, SendId, Sid},
    limits::Limits,
    message::{Objective, Offer},
    outcome::Outcome,
    page::{Anchor, ConversationId, Epoch, TargetId, TurnId},
    plan::Decision,
    record::{
        Accepted, Cost, Entry, Intent, Journal, Judgement, MemoryJournal, Opened, Record,
        ReplyFacts, Seq, Stop,
    },
    recovery::RowId,
    reply::{EndWitness, Source},
    send::{SendEvidence, SendKind, SendState},
    time::WallMs,
    wire,
};

/// When the sample session began.
pub(crate) const BEGAN: u64 = 1_760_000_000_000;

/// The sample session's id.
pub(crate) fn sid() -> Sid {
    Sid::parse("00112233445566aa").unwrap()
}

pub(crate) fn opened() -> Record {
    let request = "fix the bug \u{1b}[31mnow\u{1b}[0m";
    Record::Opened(Box::new(Opened {
        schema: protocol::record::SCHEMA_VERSION,
        offer: Offer::standard(sid(), wire::tag(request), Objective::default()),
        request: request.into(),
        chat: "http://127.0.0.1:9/".into(),
        workspace: "/home/somebody/project".into(),
        agent: "shell".into(),
        limits: Limits::default(),
    }))
}

fn after(turn: &str) -> Anchor {
    Anchor::After(TurnId(turn.into()))
}

fn attached(epoch: u32) -> Record {
    Record::Attached {
        epoch: Epoch(epoch),
        target: TargetId("T1".into()),
        browser: "Chrome/156.0.1".into(),
        address: "http://127.0.0.1:9/c/one".into(),
        layout: "classic".into(),
    }
}

fn send(id: u32, kind: SendKind, round: Option<u32>, anchor: Anchor, epoch: u32) -> Vec<Record> {
    let text = format!("{kind} of send {id}");
    let send = SendId(id);
    vec![
        Record::Intent(Box::new(Intent {
            send,
            message: kind,
            round: round.map(Round),
            digest: Digest::of(&text),
            text: text.into(),
            anchor,
            epoch: Epoch(epoch),
            offer: None,
            voids: Vec::new(),
        })),
        Record::Dispatching { send, attempt: 1 },
        Record::Outcome {
            send,
            state: SendState::Sent,
            evidence: SendEvidence::OwnTurn {
                turn: Some(TurnId(format!("u{id}"))),
            },
        },
    ]
}

fn judged(id: u32, judgement: Judgement) -> Record {
    Record::Judged {
        send: SendId(id),
        reply: Some(ReplyFacts {
            turn: TurnId(format!("a{id}")),
            own: TurnId(format!("u{id}")),
            digest: Digest::of("reply"),
            chars: 612,
            end: EndWitness::StreamDone,
            agreed: vec![Source::Stream, Source::Dom],
        }),
        judgement,
    }
}

fn accepted(round: u32, decision: Decision) -> Judgement {
    let text = format!("# PLAN pi-bridge/1\nround {round}");
    Judgement::Accepted(Box::new(Accepted {
        round: Round(round),
        key: wire::tag(&text),
        digest: Digest::of(&text),
        body: Digest::of(&format!("body {round}")),
        decision,
        task: "mend \u{1b}]0;title\u{7}the sum".into(),
        text: text.into(),
    }))
}

/// The records, in order; they fold.
pub(crate) fn records() -> Vec<Record> {
    let key = wire::tag("# PLAN pi-bridge/1\nround 1");
    let (round, plan) = (Round(1), key);
    let read = |epoch, turns, anchor| Record::Read {
        epoch: Epoch(epoch),
        turns,
        anchor,
    };
    let mut all = vec![opened(), attached(1), read(1, 0, Anchor::Empty)];
    all.extend(send(1, SendKind::Hello, None, Anchor::Empty, 1));
    all.push(Record::Bound {
        conversation: ConversationId("one".into()),
    });
    all.push(judged(1, Judgement::Held));
    all.extend(send(2, SendKind::Round, Some(1), after("a1"), 1));
    all.push(judged(
        2,
        Judgement::Refused {
            faults: vec![Fault::bare(Code::Blocks), Fault::of(Code::Frame, ["r"])],
        },
    ));
    all.extend(send(3, SendKind::Repair, Some(1), after("a2"), 1));
    all.push(Record::Decided {
        row: RowId::R3,
        facts: "lost link, send sent".into(),
        action: "re-attach, discover".into(),
        cost: Some(Cost::Reattach),
    });
    all.extend([attached(2), read(2, 6, after("u3"))]);
    all.push(judged(3, accepted(1, Decision::Continue)));
    all.push(Record::Started {
        round,
        plan: plan.clone(),
        attempt: 1,
        group: 4711,
        kept: Some("refs/pi-bridge/00112233445566aa/1".into()),
    });
    all.push(Record::Settled {
        round,
        plan,
        ok: false,
        receipt: "1 of 2 commands failed".into(),
    });
    all.extend(send(4, SendKind::Round, Some(2), after("a3"), 2));
    all.push(judged(4, accepted(2, Decision::Done)));
    all.push(Record::Stopped(Stop {
        outcome: Outcome::Done,
        code: None,
        row: None,
        why: "the remote said done".into(),
        standing: false,
        interrupted: false,
        facts: None,
    }));
    all
}

/// A record of any size.
pub(crate) fn settled_with(receipt: &str) -> Record {
    Record::Settled {
        round: Round(1),
        plan: wire::tag("x"),
        ok: true,
        receipt: receipt.into(),
    }
}

/// The records as they stand in a journal, a second apart.
pub(crate) fn entries() -> Vec<Entry> {
    let mut journal = MemoryJournal::default();
    let owner = journal.claim().unwrap();
    for (nth, record) in records().iter().enumerate() {
        let nth = nth as u64;
        let at = WallMs(BEGAN + nth * 1_000);
        journal
            .append(owner, Seq(nth), at, nth * 900, record)
            .unwrap();
    }
    journal.entries().unwrap()
}

#[test]
fn the_sample_session_folds_to_a_closed_one() {
    let state = protocol::record::fold(&entries()).unwrap();
    assert!(state.is_closed());
    assert_eq!((state.rounds_sent(), state.sends.len()), (2, 4));
}
