//! Histories that agree and histories that do not, each with what is read from it.

use std::fmt::Write as _;

use super::*;
use crate::{
    frame::{Checkpoint, Frame},
    id::{Qid, Sid},
    message::{
        Body, Objective, Offer, body::Known, body::Later, hello, hs, repair, resume, resync, round,
    },
    page::{Role, Turn, TurnId, TurnKey},
    testing::snapshot,
    wire,
};

const SID: &str = "9f83a7c1d42e650b";
const REQUEST: &str = "mend calc.sh";

fn sid() -> Sid {
    Sid::parse(SID).unwrap()
}

fn offer() -> Offer {
    Offer::standard(sid(), wire::tag(REQUEST), Objective::default())
}

fn frame(round: u32, prev: Option<&str>) -> Frame {
    Frame {
        sid: sid(),
        round: crate::id::Round(round),
        prev: prev.map(|key| crate::id::PlanKey::parse(key).unwrap()),
        qid: wire::tag(REQUEST),
    }
}

/// A thread being written.
#[derive(Default, Clone)]
struct Thread {
    turns: Vec<Turn>,
    sources: Sources,
}

impl Thread {
    fn opened() -> Self {
        Self::default().says(&hello::build(&offer())).acks()
    }

    fn turn(mut self, role: Role, text: &str) -> Self {
        let id = TurnId(format!("t{}", self.turns.len()));
        self.turns.push(Turn {
            key: TurnKey::Settled(id),
            role,
            text: text.into(),
            clamped: false,
            reply: None,
        });
        self
    }

    fn says(self, text: &str) -> Self {
        self.turn(Role::User, text)
    }

    /// A reply, with its source where there is one.
    fn replies(self, source: Option<String>) -> Self {
        let mut thread = self.turn(Role::Assistant, "");
        if let Some(source) = source {
            let id = TurnId(format!("t{}", thread.turns.len() - 1));
            thread.sources.insert(id, source);
        }
        thread
    }

    fn acks(self) -> Self {
        let hs = format!("```\n{}\n```", hs::build(&offer().terms));
        self.replies(Some(hs))
    }

    fn round(self, number: u32, prev: Option<&str>) -> Self {
        let request = Body::Request(REQUEST.into()).text();
        let body = if number == 1 {
            request
        } else {
            Body::Receipt("ran".into()).text()
        };
        self.says(&round::build(&frame(number, prev), &body))
    }

    fn plan(self, number: u32, prev: Option<&str>, decision: &str) -> Self {
        let text = format!("```\n{}\n```", plan(number, prev, decision));
        self.replies(Some(text))
    }

    fn resume(self, checkpoint: &Checkpoint) -> Self {
        let next = checkpoint.next_round();
        self.says(&resume::build(&offer().terms, checkpoint, next))
    }

    fn repair(self, number: u32, prev: Option<&str>) -> Self {
        let faults = [crate::fault::Fault::bare(crate::fault::Code::Blocks)];
        let repair = repair::Repair::of(frame(number, prev), &faults).unwrap();
        self.says(&repair.build())
    }
}

fn plan(number: u32, prev: Option<&str>, decision: &str) -> String {
    format!(
        "# PLAN pi-bridge/1\n{}\nDECISION: {decision}\nTASK: t\n\n## GOAL\ng\n\n## STEPS\n1. s\n\n\
         ## FILES\n无\n\n## COMMANDS\n- ls\n\n## RISKS\n无\n\n## VERIFY\n无",
        frame(number, prev)
    )
}

fn key(number: u32, prev: Option<&str>) -> String {
    wire::tag(&plan(number, prev, "continue")).to_string()
}

fn at(round: u32, key: &str) -> Checkpoint {
    Checkpoint::At {
        round: crate::id::Round(round),
        key: crate::id::PlanKey::parse(key).unwrap(),
    }
}

/// One settled round and the next one out.
fn two_rounds() -> Thread {
    let one = key(1, None);
    Thread::opened()
        .round(1, None)
        .plan(1, None, "continue")
        .round(2, Some(&one))
}

fn told(thread: &Thread) -> String {
    match read(&thread.turns, &thread.sources, &sid()) {
        Err(conflict) => format!("conflict: {conflict}"),
        Ok(None) => "no HELLO of this session".to_owned(),
        Ok(Some(history)) => format!(
            "checkpoint {} {}, {}, {:?}{}{}{}, rounds {:?}",
            history.checkpoint,
            if history.proven { "proven" } else { "unproven" },
            if history.acknowledged {
                "acknowledged"
            } else {
                "not acknowledged"
            },
            history.last,
            if history.unconfirmed {
                ", a plan unconfirmed"
            } else {
                ""
            },
            if history.terminal.is_some() {
                ", done"
            } else {
                ""
            },
            if history.request.is_some() {
                ""
            } else {
                ", no request"
            },
            history
                .segments
                .iter()
                .map(|segment| segment
                    .rounds
                    .iter()
                    .map(|round| round.0)
                    .collect::<Vec<_>>())
                .collect::<Vec<_>>(),
        ),
    }
}

//= spec RP3 type=test
//= spec R7 type=test
//= spec W4 type=test
#[test]
fn histories() {
    let one = key(1, None);
    let other = "00000000";
    let foreign = hello::build(&offer()).replace(SID, "0000000000000001");
    let mut unknown = two_rounds();
    unknown.sources.clear();
    let known = Known {
        checkpoint: at(1, &one),
        receipt: None,
        later: Later::MayHaveRun,
    };
    let after = Body::Resumed {
        request: None,
        known,
    }
    .text();
    let all = [
        ("an empty thread", Thread::default()),
        (
            "only HELLO",
            Thread::default().says(&hello::build(&offer())),
        ),
        ("acknowledged", Thread::opened()),
        ("round 1 out", Thread::opened().round(1, None)),
        (
            "round 1 answered",
            Thread::opened().round(1, None).plan(1, None, "continue"),
        ),
        (
            "round 1 answered, unread",
            Thread::opened().round(1, None).replies(None),
        ),
        ("round 2 out", two_rounds()),
        ("round 2 out, no source of any reply", unknown),
        ("round 2 done", two_rounds().plan(2, Some(&one), "done")),
        (
            "repaired",
            Thread::opened()
                .round(1, None)
                .replies(Some("no".into()))
                .repair(1, None)
                .plan(1, None, "continue"),
        ),
        (
            "resumed from round 1, round 2 again",
            two_rounds()
                .plan(2, Some(&one), "continue")
                .resume(&at(1, &one))
                .acks()
                .says(&round::build(&frame(2, Some(&one)), &after)),
        ),
        (
            "declared anew",
            two_rounds()
                .replies(None)
                .says(&resync::build(&offer()))
                .acks(),
        ),
        (
            "another key than the plan's",
            Thread::opened()
                .round(1, None)
                .plan(1, None, "continue")
                .round(2, Some(other)),
        ),
        (
            "a round twice",
            two_rounds().replies(None).round(2, Some(&one)),
        ),
        ("a round back", two_rounds().replies(None).round(1, None)),
        (
            "a round left out",
            Thread::opened()
                .round(1, None)
                .replies(None)
                .round(3, Some(&one)),
        ),
        (
            "p= of the plan before the last",
            two_rounds().replies(None).round(3, Some(&one)),
        ),
        (
            "p= of nothing in round 2",
            Thread::opened().round(1, None).replies(None).round(2, None),
        ),
        (
            "p= of something in round 1",
            Thread::opened().round(1, Some(other)),
        ),
        (
            "a RESUME behind the checkpoint",
            two_rounds().replies(None).resume(&Checkpoint::Start),
        ),
        (
            "another session after HELLO",
            Thread::opened().says(&foreign),
        ),
        (
            "another session before HELLO",
            Thread::default()
                .says(&foreign)
                .replies(None)
                .says(&hello::build(&offer())),
        ),
        ("a person", Thread::opened().says("and one more thing")),
        (
            "two replies",
            Thread::opened().round(1, None).replies(None).replies(None),
        ),
        (
            "HELLO twice",
            Thread::opened().says(&hello::build(&offer())),
        ),
        (
            "a REPAIR of another round",
            two_rounds().replies(None).repair(1, None),
        ),
        (
            "another request in mid-session",
            Thread::opened().says(&round::build(
                &Frame {
                    qid: Qid::parse("00000000").unwrap(),
                    ..frame(1, None)
                },
                &Body::Request("else".into()).text(),
            )),
        ),
    ];
    let mut out = String::new();
    for (what, thread) in all {
        let _ = writeln!(out, "{what:<38} {}", told(&thread));
    }
    snapshot!("recovery_chain", out);
}

//= spec W4 type=test
#[test]
fn a_key_that_does_not_recompute_makes_the_checkpoint_unproven_and_no_conflict() {
    let thread = Thread::opened()
        .round(1, None)
        .plan(1, None, "continue")
        .round(2, Some("00000000"));
    let history = read(&thread.turns, &thread.sources, &sid())
        .unwrap()
        .unwrap();
    assert!(!history.proven);
    assert_eq!(history.checkpoint, at(1, "00000000"));
}
