use super::*;
use crate::{
    fault::{Action, action_of},
    id::Sid,
    message::{Objective, Offer, hello, hs},
};

fn terms() -> Terms {
    let sid = Sid::parse("9f83a7c1d42e650b").unwrap();
    Offer::standard(sid, wire::tag("x"), Objective::default()).terms
}

fn ack() -> String {
    hs::build(&terms())
}

fn fenced(block: &str) -> String {
    format!("```\n{block}\n```")
}

fn shown(reply: &str, end: EndWitness) -> String {
    match gate(reply, &terms(), end) {
        Ok(()) => "holds".to_owned(),
        Err(faults) => {
            assert!(faults.is_sorted_by_key(|fault| fault.code), "{faults:?}");
            let all: Vec<_> = faults.iter().map(Fault::to_string).collect();
            all.join(", ")
        }
    }
}

fn said(reply: &str) -> String {
    shown(reply, EndWitness::StreamDone)
}

fn changed(from: &str, to: &str) -> String {
    assert!(
        ack().contains(from),
        "{from:?} is no part of the acknowledgement"
    );
    said(&fenced(&ack().replacen(from, to, 1)))
}

//= spec H1 type=test
#[test]
fn the_acknowledgement_of_the_template_holds() {
    assert_eq!(said(&fenced(&ack())), "holds");
    assert_eq!(said(&format!("\n~~~text\n\n{}\n~~~\n\n", ack())), "holds");
    assert_eq!(said(&fenced(&ack().replace('\n', " \r\n\n"))), "holds");
    let shuffled = ack().replace("TYPE: ack\n", "") + "\nTYPE: ack";
    assert_eq!(said(&fenced(&shuffled)), "holds", "the order is free");
    assert_eq!(changed("need_info", "need_info, more"), "holds");
    assert_eq!(changed("frame,resume", "resume , frame"), "holds");
}

//= spec H1 type=test
#[test]
fn each_part_of_the_gate_can_fail() {
    for (from, to, what) in [
        ("# HS pi-bridge/1", "# HS pi-bridge/2", "E_HEADER (HS)"),
        ("TYPE: ack", "TYPE: nak", "E_REQUIRED (TYPE)"),
        ("TYPE: ack\n", "", "E_REQUIRED (TYPE)"),
        ("9f83a7c1d42e650b", "9f83a7c1d42e650c", "E_FRAME (S)"),
        ("S: 9f83a7c1d42e650b\n", "", "E_REQUIRED (S)"),
        ("HV: 1", "HV: 2", "E_VERSION (HV)"),
        ("HV: 1", "HV: 01", "E_VERSION (HV)"),
        ("HV: 1\n", "", "E_REQUIRED (HV)"),
        ("CV: 2 p2.478d1ef2", "CV: 3 p3.478d1ef2", "E_CONTRACT (CV)"),
        ("CV: 2 p2.478d1ef2", "CV: 1 p2.478d1ef2", "E_CONTRACT (CV)"),
        ("CV: 2 p2.478d1ef2", "CV: 2 p2.478d1ef3", "E_CONTRACT (CV)"),
        ("CV: 2 p2.478d1ef2", "CV: p2.478d1ef2", "E_CONTRACT (CV)"),
        ("CAP: c1.5fc20bbe", "CAP: c1.5fc20bbf", "E_CONTRACT (CAP)"),
        ("CAP: c1.5fc20bbe", "CAP: 5fc20bbe", "E_CONTRACT (CAP)"),
        (",repair", "", "E_REQUIRED (repair)"),
        (
            "frame,resume,repair,need_info",
            "",
            "E_REQUIRED (frame, resume, repair, need_info)",
        ),
        (
            "FEAT: ",
            "FEATURES: ",
            "E_REQUIRED (FEAT), E_PARSE (line 7)",
        ),
        ("HV: 1", "HV: 1\nHV: 1", "E_PARSE (HV)"),
        ("HV: 1", "HV: 1\nHV: 2", "E_PARSE (HV)"),
        ("HV: 1", "HV: 1\n但合同我不同意", "E_PARSE (line 5)"),
        ("HV: 1", "HV: 1\nNOTE: ok", "E_PARSE (line 5)"),
    ] {
        assert_eq!(changed(from, to), what, "{from:?} -> {to:?}");
    }
    assert_eq!(
        said("```\n# HS pi-bridge/1\n```"),
        "E_REQUIRED (TYPE, S, HV, CV, CAP, FEAT)"
    );
}

//= spec H1 type=test
#[test]
fn one_block_and_no_prose() {
    let one = fenced(&ack());
    for (reply, what) in [
        (format!("好的。\n{one}"), "E_BLOCKS"),
        (format!("{one}\n准备好了。"), "E_BLOCKS"),
        (format!("{one}\n{one}"), "E_BLOCKS"),
        (format!("```\nx\n```\n{one}"), "E_BLOCKS"),
        (ack(), "E_BLOCKS"),
        (String::new(), "E_BLOCKS"),
    ] {
        assert_eq!(said(&reply), what, "{reply}");
    }
}

//= spec H1 type=test
#[test]
fn an_open_fence_is_our_own_doubt() {
    let open = format!("```\n{}", ack());
    assert_eq!(shown(&open, EndWitness::FenceClosed), "E_CAPTURE");
    assert_eq!(shown(&open, EndWitness::PageData), "E_BLOCKS");
}

//= spec H2 type=test
#[test]
fn a_plan_in_answer_to_hello_is_refused_however_well_formed() {
    let plan = wire::PLAN_CONTRACT
        .replace(
            "s=<sid> r=<round> p=<prev-plan-key> q=<qid>",
            "s=9f83a7c1d42e650b r=1 p=- q=e1db9b58",
        )
        .replace("continue | done | blocked | need_info", "continue");
    let got = gate(&fenced(&plan), &terms(), EndWitness::StreamDone).unwrap_err();
    assert_eq!(got[0], Fault::of(Code::Header, ["PLAN"]));
    // Nor does it slip in behind an acknowledgement.
    let both = fenced(&format!("{}\n\n{plan}", ack()));
    assert!(
        said(&both).starts_with("E_PARSE (line 9"),
        "{}",
        said(&both)
    );
}

//= spec H3 type=test
#[test]
fn only_our_own_capture_is_told_apart_by_domain() {
    // A REPAIR needs a FRAME and none exists yet: whatever else failed, the
    // caller answers with RESYNC once, then gives up.
    let open = format!("```\n{}", ack());
    let faults = gate(&open, &terms(), EndWitness::FenceClosed).unwrap_err();
    assert_eq!(action_of(&faults), Some(Action::Recover));
    let version = fenced(&ack().replace("HV: 1", "HV: 2").replace("ack", "nak"));
    let faults = gate(&version, &terms(), EndWitness::StreamDone).unwrap_err();
    assert_eq!(action_of(&faults), Some(Action::Resync));
}

#[test]
fn the_template_in_hello_is_what_the_gate_wants() {
    let sid = Sid::parse("9f83a7c1d42e650b").unwrap();
    let offer = Offer::standard(sid, wire::tag("x"), Objective::default());
    let text = hello::build(&offer);
    let (_, rest) = text.split_once("ACK-TEMPLATE:\n").unwrap();
    let (template, _) = rest.split_once("\n\n").unwrap();
    assert_eq!(
        gate(&fenced(template), &offer.terms, EndWitness::StreamDone),
        Ok(())
    );
}
