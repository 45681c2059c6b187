use super::*;
use crate::{
    frame::Checkpoint,
    id::Round,
    message::{Objective, Offer, resync},
    reply::EndWitness,
    wire,
};

fn offer() -> Offer {
    let sid = Sid::parse("9f83a7c1d42e650b").unwrap();
    Offer::standard(sid, wire::tag("x"), Objective::default())
}

fn frame() -> Frame {
    Frame {
        sid: offer().terms.sid,
        round: Round(1),
        prev: None,
        qid: wire::tag("x"),
    }
}

fn user_texts() -> Vec<(&'static str, String)> {
    let faults = [crate::fault::Fault::bare(crate::fault::Code::Blocks)];
    vec![
        ("HELLO", hello::build(&offer())),
        ("RESYNC", resync::build(&offer())),
        ("ROUND", round::build(&frame(), "## 用户请求\nx")),
        (
            "RESUME",
            resume::build(&offer().terms, &Checkpoint::Start, Round(1)),
        ),
        ("REPAIR", Repair::of(frame(), &faults).unwrap().build()),
    ]
}

fn assistant_texts() -> Vec<(&'static str, String)> {
    let plan = format!("# PLAN pi-bridge/1\n{}\nDECISION: nonsense", frame());
    vec![
        ("HS", format!("```\n{}\n```", hs::build(&offer().terms))),
        ("PLAN", format!("```\n{plan}\n```")),
    ]
}

fn name(role: Role, text: &str) -> Option<&'static str> {
    recognise(role, text).map(|head| {
        assert_eq!(head.sid(), &offer().terms.sid);
        head.name()
    })
}

//= spec W6 type=test
#[test]
fn each_message_is_known_in_its_own_role_alone() {
    for (expected, text) in user_texts() {
        assert_eq!(name(Role::User, &text), Some(expected));
        assert_eq!(name(Role::Assistant, &text), None, "{expected}");
        assert_eq!(
            name(Role::Assistant, &format!("```\n{text}\n```")),
            None,
            "{expected}"
        );
        let spaced = format!("\n{}\n", text.replace('\n', " \r\n"));
        assert_eq!(name(Role::User, &spaced), Some(expected), "{expected}");
    }
    for (expected, text) in assistant_texts() {
        assert_eq!(name(Role::Assistant, &text), Some(expected));
        assert_eq!(name(Role::User, &text), None, "{expected}");
        let bare = text.trim_matches(['`', '\n']);
        assert_eq!(name(Role::User, bare), None, "{expected}");
        assert_eq!(
            name(Role::Assistant, bare),
            None,
            "{expected} without its block"
        );
    }
}

//= spec W6 type=test
#[test]
fn bodies_are_never_searched_for_headers() {
    for (what, text) in user_texts() {
        for before in ["你好\n", "> ", "    ", "```\n", "#"] {
            assert_eq!(name(Role::User, &format!("{before}{text}")), None, "{what}");
        }
        // In another message's body it is content.
        let quoting = round::build(&frame(), &format!("## 用户请求\n{text}"));
        assert_eq!(name(Role::User, &quoting), Some("ROUND"), "{what}");
    }
    let (_, plan) = &assistant_texts()[1];
    let inner = plan.trim_matches(['`', '\n']);
    for reply in [
        format!("```\nx\n{inner}\n```"),
        format!("```\nx\n```\n{plan}"),
        format!("{plan}\n{plan}"),
        plan.trim_end_matches('`').to_owned(),
    ] {
        assert_eq!(name(Role::Assistant, &reply), None, "{reply}");
    }
    // Prose beside the block makes a plan invalid, not invisible.
    assert_eq!(
        name(Role::Assistant, &format!("好的\n{plan}")),
        Some("PLAN")
    );
}

//= spec W6 type=test
#[test]
fn a_head_with_a_line_missing_is_no_head() {
    for (what, text) in user_texts() {
        let lines: Vec<_> = text.lines().collect();
        let head_len = match what {
            "HELLO" => 7,
            "RESYNC" => 9,
            "ROUND" => 2,
            "REPAIR" => 4,
            _ => lines.len(),
        };
        for gone in (0..head_len).filter(|at| !lines[*at].is_empty()) {
            let mut rest = lines.clone();
            rest.remove(gone);
            let got = name(Role::User, &rest.join("\n"));
            // RESYNC without its own header is a HELLO.
            let expected = (what == "RESYNC" && gone == 0).then_some("HELLO");
            assert_eq!(got, expected, "{what} without line {gone}");
        }
    }
}

#[test]
fn a_head_tells_what_a_history_needs() {
    let all = user_texts();
    let of = |at: usize| recognise(Role::User, &all[at].1).unwrap();
    let Head::Hello { terms, qid } = of(0) else {
        panic!("HELLO")
    };
    assert_eq!((terms, qid), (offer().terms, offer().qid));
    assert_eq!(of(2).frame(), Some(&frame()));
    assert_eq!(of(4).frame(), Some(&frame()));
    let Head::Resume(resume) = of(3) else {
        panic!("RESUME")
    };
    assert_eq!(
        (resume.checkpoint, resume.next),
        (Checkpoint::Start, Round(1))
    );
    let Some(Head::Hs(terms)) = recognise(Role::Assistant, &assistant_texts()[0].1) else {
        panic!("HS")
    };
    assert_eq!(terms, offer().terms);
}

//= spec H1 type=test
#[test]
fn a_history_knows_every_acknowledgement_that_the_gate_accepts() {
    let block = hs::build(&offer().terms);
    let shuffled = block.replace("TYPE: ack\n", "") + "\nTYPE: ack";
    let more = block.replace("need_info", "need_info, more, (x)");
    let taken_back = format!("{block}\nNOTE: no");
    let twice = format!("{block}\nHV: 1");
    for (block, good) in [
        (block, true),
        (shuffled, true),
        (more, true),
        (taken_back, false),
        (twice, false),
    ] {
        let reply = format!("```\n{block}\n```");
        let gate = crate::establish::gate(&reply, &offer().terms, EndWitness::StreamDone);
        assert_eq!(gate.is_ok(), good, "{reply}");
        assert_eq!(name(Role::Assistant, &reply).is_some(), good, "{reply}");
    }
}
