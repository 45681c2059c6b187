//! What may follow what, and what may not.

use super::*;
use crate::{
    message::{self, Objective},
    page::{Anchor, TurnId},
    wire,
};

struct Book {
    state: State,
    entries: Vec<Entry>,
}

impl Book {
    fn opened() -> Self {
        let mut book = Self {
            state: State::default(),
            entries: Vec::new(),
        };
        let sid = Sid::parse("9f83a7c1d42e650b").unwrap();
        book.write(Record::Opened(Box::new(Opened {
            schema: SCHEMA_VERSION,
            offer: Offer::standard(sid, wire::tag("r"), Objective::default()),
            request: Private::from("r"),
            chat: "c".into(),
            workspace: "w".into(),
            agent: "a".into(),
            limits: Limits::default(),
        })));
        book
    }

    fn try_write(&mut self, record: Record) -> Result<(), &'static str> {
        let entry = Entry {
            seq: self.state.seq.next(),
            at: WallMs(0),
            run_ms: 0,
            record,
        };
        let mut next = self.state.clone();
        let applied = next.apply(&entry).map_err(|error| error.rule);
        if applied.is_ok() {
            self.state = next;
            self.entries.push(entry);
        }
        applied
    }

    fn write(&mut self, record: Record) {
        let shown = format!("{record:?}");
        if let Err(rule) = self.try_write(record) {
            panic!("{shown} was refused: {rule}");
        }
    }

    fn intent(&mut self, send: u32, message: SendKind, round: Option<u32>) -> Record {
        Record::Intent(Box::new(Intent {
            send: SendId(send),
            message,
            round: round.map(Round),
            text: Private::from("text"),
            digest: Digest::of("text"),
            anchor: Anchor::Empty,
            epoch: Epoch(1),
            offer: None,
            voids: Vec::new(),
        }))
    }

    /// A message sent and judged.
    fn exchange(&mut self, message: SendKind, round: Option<u32>, judgement: Judgement) {
        let send = self.state.next_send();
        let intent = self.intent(send.0, message, round);
        self.write(intent);
        self.write(Record::Dispatching { send, attempt: 1 });
        self.write(sent(send));
        let turn = TurnId(format!("a{}", send.0));
        let own = TurnId(format!("u{}", send.0));
        let digest = Digest::of("reply");
        let (end, agreed) = (EndWitness::StreamDone, vec![Source::Stream, Source::Dom]);
        let reply = Some(ReplyFacts {
            turn,
            own,
            digest,
            chars: 5,
            end,
            agreed,
        });
        self.write(Record::Judged {
            send,
            reply,
            judgement,
        });
    }

    fn established() -> Self {
        let mut book = Self::opened();
        book.exchange(SendKind::Hello, None, Judgement::Held);
        book
    }

    fn accepted(decision: Decision) -> Self {
        let mut book = Self::established();
        book.exchange(
            SendKind::Round,
            Some(1),
            Judgement::Accepted(Box::new(plan(1, decision))),
        );
        book
    }
}

fn sent(send: SendId) -> Record {
    let evidence = SendEvidence::OwnTurn {
        turn: Some(TurnId(format!("u{}", send.0))),
    };
    Record::Outcome {
        send,
        state: SendState::Sent,
        evidence,
    }
}

fn plan(round: u32, decision: Decision) -> Accepted {
    let text = format!("plan {round}");
    Accepted {
        round: Round(round),
        key: wire::tag(&text),
        digest: Digest::of(&text),
        body: Digest::of("body"),
        decision,
        task: "t".into(),
        text: Private::from(text),
    }
}

fn started(round: u32) -> Record {
    let plan = plan(round, Decision::Continue).key;
    Record::Started {
        round: Round(round),
        plan,
        attempt: 1,
        group: 7,
        kept: None,
    }
}

fn settled(round: u32) -> Record {
    let plan = plan(round, Decision::Continue).key;
    Record::Settled {
        round: Round(round),
        plan,
        ok: true,
        receipt: Private::from("ran"),
    }
}

//= spec S6 type=test
#[test]
fn a_send_is_dispatched_again_only_on_proof_that_it_did_not_leave() {
    let mut book = Book::opened();
    let intent = book.intent(1, SendKind::Hello, None);
    book.write(intent);
    book.write(Record::Dispatching {
        send: SendId(1),
        attempt: 1,
    });
    let again = Record::Dispatching {
        send: SendId(1),
        attempt: 2,
    };
    assert_eq!(
        book.try_write(again.clone()),
        Err("only a proven not-sent is dispatched")
    );
    let evidence = SendEvidence::GuardStopped { hit: "div".into() };
    book.write(Record::Outcome {
        send: SendId(1),
        state: SendState::NotSent,
        evidence,
    });
    book.write(again);
}

//= spec S5 type=test
#[test]
fn a_recorded_unknown_never_falls_to_not_sent() {
    let mut book = Book::opened();
    let intent = book.intent(1, SendKind::Hello, None);
    book.write(intent);
    book.write(Record::Dispatching {
        send: SendId(1),
        attempt: 1,
    });
    let (send, state) = (SendId(1), SendState::Unknown);
    book.write(Record::Outcome {
        send,
        state,
        evidence: SendEvidence::Nothing,
    });
    let (state, evidence) = (SendState::NotSent, SendEvidence::ComposerKeptText);
    let fall = Record::Outcome {
        send,
        state,
        evidence,
    };
    assert_eq!(
        book.try_write(fall),
        Err("a recorded outcome rises from unknown to sent only")
    );
    book.write(sent(send));
}

#[test]
fn a_state_without_its_evidence_is_refused() {
    let mut book = Book::opened();
    let intent = book.intent(1, SendKind::Hello, None);
    book.write(intent);
    book.write(Record::Dispatching {
        send: SendId(1),
        attempt: 1,
    });
    let (send, state) = (SendId(1), SendState::NotSent);
    let guess = Record::Outcome {
        send,
        state,
        evidence: SendEvidence::Nothing,
    };
    assert_eq!(
        book.try_write(guess),
        Err("a state rests on evidence that proves it")
    );
}

//= spec W13 type=test
#[test]
fn nothing_is_sent_over_a_send_in_flight() {
    let mut book = Book::opened();
    let intent = book.intent(1, SendKind::Hello, None);
    book.write(intent);
    let over = book.intent(2, SendKind::Round, Some(1));
    assert_eq!(
        book.try_write(over),
        Err("nothing is sent over a send in flight")
    );
}

//= spec K4 type=test
#[test]
fn a_plan_settles_only_after_its_start_and_the_checkpoint_follows() {
    let mut book = Book::accepted(Decision::Continue);
    assert_eq!(
        book.try_write(settled(1)),
        Err("only a started plan settles")
    );
    book.write(started(1));
    assert_eq!(book.state.checkpoint.to_string(), "0:-");
    book.write(settled(1));
    let key = plan(1, Decision::Continue).key;
    assert_eq!(book.state.checkpoint.to_string(), format!("1:{key}"));
    assert_eq!(book.state.owed(), Some(Owed::Round(Round(2))));
}

//= spec K5 type=test
#[test]
fn a_plan_is_started_once() {
    let mut book = Book::accepted(Decision::Continue);
    book.write(started(1));
    assert_eq!(
        book.try_write(started(1)),
        Err("only the accepted plan is started, and once")
    );
    let plan_key = plan(1, Decision::Continue).key;
    let (round, attempt) = (Round(1), 1);
    book.write(Record::NotStarted {
        round,
        plan: plan_key,
        attempt,
        why: "no process".into(),
    });
    book.write(started(1));
}

//= spec K2 type=test
#[test]
fn done_closes_and_neither_done_nor_blocked_is_started() {
    let mut done = Book::accepted(Decision::Done);
    assert!(done.state.is_closed());
    assert_eq!(done.state.owed(), None);
    assert_eq!(
        done.try_write(started(1)),
        Err("only the accepted plan is started, and once")
    );
    let over = done.intent(3, SendKind::Round, Some(2));
    assert_eq!(
        done.try_write(over),
        Err("nothing is sent after the end or over a standing stop")
    );
    let mut blocked = Book::accepted(Decision::Blocked);
    assert_eq!(blocked.state.may_execute().err(), Some(MayNot::NotForUs));
    assert_eq!(
        blocked.try_write(started(1)),
        Err("only the accepted plan is started, and once")
    );
}

//= spec K5 type=test
#[test]
fn a_plan_equal_to_one_in_doubt_is_not_started() {
    let mut book = Book::accepted(Decision::Continue);
    book.write(started(1));
    let key = plan(1, Decision::Continue).key;
    book.write(Record::InDoubt {
        round: Round(1),
        plan: key,
        why: "killed".into(),
    });
    assert_eq!(book.state.may_execute().err(), Some(MayNot::AlreadyStarted));
    assert!(book.state.doubted.contains(&Digest::of("body")));
}

//= spec E1 type=test
#[test]
fn a_session_has_one_conversation() {
    let mut book = Book::opened();
    let bound = |id: &str| Record::Bound {
        conversation: ConversationId(id.into()),
    };
    book.write(bound("c1"));
    book.write(bound("c1"));
    assert_eq!(
        book.try_write(bound("c2")),
        Err("a session has one conversation")
    );
}

#[test]
fn a_journal_begins_with_opened_and_has_no_gap() {
    let mut state = State::default();
    let record = Record::Resumed {
        version: "0".into(),
    };
    let entry = Entry {
        seq: Seq(1),
        at: WallMs(0),
        run_ms: 0,
        record,
    };
    let rule = state.apply(&entry).map_err(|error| error.rule);
    assert_eq!(rule, Err("a journal begins with opened, and has it once"));
    let mut book = Book::opened();
    let first = book.entries[0].record.clone();
    assert_eq!(
        book.try_write(first),
        Err("a journal begins with opened, and has it once")
    );
    let gap = Entry {
        seq: Seq(9),
        ..entry
    };
    assert_eq!(
        book.state.apply(&gap).map_err(|e| e.rule),
        Err("sequence numbers rise by one")
    );
}

//= spec RP4 type=test
#[test]
fn a_budget_is_counted_from_its_checkpoint_and_a_restart_does_not_reset_it() {
    let draw = |cost| Record::Decided {
        row: RowId::R1,
        facts: String::new(),
        action: String::new(),
        cost: Some(cost),
    };
    let mut book = Book::accepted(Decision::Continue);
    book.write(draw(Cost::Read));
    book.write(draw(Cost::Reattach));
    book.write(Record::Resumed {
        version: "0".into(),
    });
    assert_eq!(
        (
            book.state.budgets.spent(Cost::Read),
            book.state.budgets.total()
        ),
        (1, 1)
    );
    book.write(started(1));
    book.write(settled(1));
    assert_eq!(
        (
            book.state.budgets.spent(Cost::Read),
            book.state.budgets.total()
        ),
        (0, 1)
    );
}

#[test]
fn what_is_written_reads_back_and_folds_to_the_same() {
    let mut book = Book::accepted(Decision::Continue);
    book.write(started(1));
    book.write(settled(1));
    let json = serde_json::to_string(&book.entries).unwrap();
    let read: Vec<Entry> = serde_json::from_str(&json).unwrap();
    assert_eq!(read, book.entries);
    assert_eq!(fold(&read).as_ref(), Ok(&book.state));
    let hs = message::hs::build(&book.state.opened.as_ref().unwrap().offer.terms);
    assert!(hs.starts_with("# HS "));
}
