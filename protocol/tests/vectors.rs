//! The exact bytes and hashes of the wire document.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use protocol::{
    fault::{Code, Fault},
    frame::{Checkpoint, Frame},
    id::{Round, Sid, Tag},
    message::{Body, Objective, Offer, Word, hello, hs, repair, resume, resync, round},
    wire::{self, CapTag, ContractTag},
};
use serde_json::Value;

fn vectors() -> Value {
    serde_json::from_str(include_str!("data/wire_vectors.json")).unwrap()
}

fn text<'a>(value: &'a Value, path: &str) -> &'a str {
    value.pointer(path).unwrap().as_str().unwrap()
}

fn sample_offer(v: &Value) -> Offer {
    Offer::standard(
        Sid::parse(text(v, "/sample_values/sid")).unwrap(),
        wire::tag(text(v, "/sample_values/request_behind_qid")),
        Objective::parse(text(v, "/sample_values/objective")).unwrap(),
    )
}

fn sample_frame(v: &Value) -> Frame {
    Frame {
        sid: Sid::parse(text(v, "/sample_values/sid")).unwrap(),
        round: Round(2),
        prev: Some(Tag::parse(text(v, "/sample_values/prev")).unwrap()),
        qid: Tag::parse(text(v, "/sample_values/qid")).unwrap(),
    }
}

//= spec W1 type=test
//= spec W7 type=test
#[test]
fn the_samples_of_the_wire_document_are_built_to_the_byte() {
    let v = vectors();
    let (offer, frame) = (sample_offer(&v), sample_frame(&v));
    assert_eq!(hello::build(&offer), text(&v, "/samples/HELLO"));
    assert_eq!(hs::build(&offer.terms), text(&v, "/samples/HS"));
    let receipt = Body::Receipt(text(&v, "/sample_values/receipt").into());
    assert_eq!(
        round::build(&frame, &receipt.text()),
        text(&v, "/samples/ROUND")
    );
    let checkpoint: Checkpoint = text(&v, "/sample_values/checkpoint").parse().unwrap();
    assert_eq!(
        resume::build(&offer.terms, &checkpoint, checkpoint.next_round()),
        text(&v, "/samples/RESUME")
    );
    let errors = v
        .pointer("/sample_values/errors")
        .unwrap()
        .as_array()
        .unwrap();
    let faults: Vec<_> = errors
        .iter()
        .map(|name| Fault::bare(name.as_str().unwrap().parse::<Code>().unwrap()))
        .collect();
    assert_eq!(
        repair::Repair::of(frame, &faults).unwrap().build(),
        text(&v, "/samples/REPAIR")
    );
    let layout = text(&v, "/resync_layout");
    let whole = layout.replace("<the whole HELLO>", text(&v, "/samples/HELLO"));
    assert_eq!(resync::build(&offer), whole);
}

//= spec W7 type=test
#[test]
fn the_samples_of_the_wire_document_are_read() {
    let v = vectors();
    let (offer, frame) = (sample_offer(&v), sample_frame(&v));
    assert_eq!(
        hello::parse(text(&v, "/samples/HELLO")),
        Some(offer.clone())
    );
    assert_eq!(
        hs::parse(text(&v, "/samples/HS")),
        Some(offer.terms.clone())
    );
    let (read, body) = round::parse(text(&v, "/samples/ROUND")).unwrap();
    assert_eq!(
        (read, body),
        (frame.clone(), "## 上轮执行回执\nnpm test 全绿")
    );
    let resume = resume::parse(text(&v, "/samples/RESUME")).unwrap();
    assert_eq!(resume.checkpoint.to_string(), "3:a1b2c3d4");
    assert_eq!(resume.next, Round(4));
    let repair = repair::parse(text(&v, "/samples/REPAIR")).unwrap();
    assert_eq!(repair.frame, frame);
    assert_eq!(repair.errors, [Code::Blocks, Code::Frame]);
}

//= spec W2 type=test
#[test]
fn the_canonical_form_is_the_documents() {
    for case in vectors().get("canonical").unwrap().as_array().unwrap() {
        let (from, to) = (text(case, "/in"), text(case, "/out"));
        assert_eq!(wire::canonical(from), to, "{from:?}");
        assert_eq!(wire::canonical(to), to, "{to:?} is a fixed point");
        assert_eq!(wire::tag(from).as_str(), text(case, "/tag"), "{from:?}");
    }
}

//= spec W2 type=test
#[test]
fn a_line_ends_at_lf_alone() {
    // A CR that does not stand at the end of a line is content.
    assert_eq!(wire::canonical("a\rb"), "a\rb");
    assert_eq!(wire::canonical("a \r b\r\n\r\r\nc"), "a \r b\n\nc");
    assert_eq!(wire::canonical("a\u{2028}b"), "a\u{2028}b");
}

//= spec W3 type=test
#[test]
fn the_tags_are_the_documents() {
    let v = vectors();
    for case in v.get("tags").unwrap().as_array().unwrap() {
        assert_eq!(wire::tag(text(case, "/text")).as_str(), text(case, "/tag"));
    }
    assert_eq!(wire::PLAN_CONTRACT, text(&v, "/contract_text"));
    assert!(wire::PLAN_CONTRACT.contains("# PLAN ${PROTOCOL_ID}，"));
    assert_eq!(ContractTag::current().to_string(), "p2.478d1ef2");
    let cap = CapTag::of(&wire::DEFAULT_CAPABILITIES, &wire::DEFAULT_DENIALS);
    assert_eq!(cap.to_string(), "c1.5fc20bbe");
    assert_eq!(
        cap.to_string(),
        format!("c1.{}", wire::tag(text(&v, "/capability_hash_input")))
    );
}

//= spec W3 type=test
#[test]
fn the_order_in_which_capabilities_are_declared_does_not_matter() {
    let mut capabilities = wire::DEFAULT_CAPABILITIES.map(|name| Word::parse(name).unwrap());
    let mut denials = wire::DEFAULT_DENIALS.map(|name| Word::parse(name).unwrap());
    let one = CapTag::of(&capabilities, &denials);
    capabilities.reverse();
    denials.reverse();
    assert_eq!(CapTag::of(&capabilities, &denials), one);
    let [.., moved] = &denials;
    let more = [&capabilities[..], std::slice::from_ref(moved)].concat();
    let fewer = &denials[..denials.len() - 1];
    assert_ne!(CapTag::of(&more, fewer), one, "a denial is no capability");
}

#[test]
fn tags_read_as_they_are_written() {
    let cv = ContractTag::current();
    assert_eq!(cv.line(), "2 p2.478d1ef2");
    assert_eq!(
        ContractTag::parse_line("  2   p2.478d1ef2 "),
        Some(cv.clone())
    );
    for bad in [
        "p2.478d1ef2",
        "3 p2.478d1ef2",
        "2 p2.478d1ef2 x",
        "2 p02.478d1ef2",
        "2 p2.478D1EF2",
        "",
    ] {
        assert_eq!(ContractTag::parse_line(bad), None, "{bad:?}");
    }
    let json = serde_json::to_string(&cv).unwrap();
    assert_eq!(json, "\"p2.478d1ef2\"");
    assert_eq!(serde_json::from_str::<ContractTag>(&json).unwrap(), cv);
    for bad in ["c2.5fc20bbe", "5fc20bbe", "c1.5fc20bb", ""] {
        assert!(bad.parse::<CapTag>().is_err(), "{bad:?}");
    }
    for good in ["0:-", "1:a1b2c3d4", "4294967295:a1b2c3d4"] {
        assert_eq!(good.parse::<Checkpoint>().unwrap().to_string(), good);
    }
    for bad in [
        "0:a1b2c3d4",
        "1:-",
        "01:a1b2c3d4",
        "4294967296:a1b2c3d4",
        "1",
        ":",
        "",
    ] {
        assert!(bad.parse::<Checkpoint>().is_err(), "{bad:?}");
    }
}
