use super::*;
use crate::{
    fault::{Code, Fault},
    frame::{Checkpoint, Frame},
    id::{Round, Tag},
    testing::snapshot,
    text::Private,
};

fn sid() -> Sid {
    Sid::parse("9f83a7c1d42e650b").unwrap()
}

fn key() -> Tag {
    Tag::parse("a1b2c3d4").unwrap()
}

fn frame() -> Frame {
    Frame {
        sid: sid(),
        round: Round(2),
        prev: Some(key()),
        qid: wire::tag("示例请求"),
    }
}

fn offer() -> Offer {
    let objective = Objective::parse("示例目标").unwrap();
    Offer::standard(sid(), wire::tag("示例请求"), objective)
}

fn checkpoint() -> Checkpoint {
    Checkpoint::At {
        round: Round(3),
        key: key(),
    }
}

fn resumed(request: Option<&str>, receipt: Option<&str>, later: Later) -> Body {
    Body::Resumed {
        request: request.map(Private::from),
        known: body::Known {
            checkpoint: if receipt.is_some() {
                checkpoint()
            } else {
                Checkpoint::Start
            },
            receipt: receipt.map(Private::from),
            later,
        },
    }
}

use body::Later;

//= spec W7 type=test
#[test]
fn every_message_as_the_page_gets_it() {
    let all = [
        ("hello", hello::build(&offer())),
        ("hs", hs::build(&offer().terms)),
        (
            "round",
            round::build(&frame(), &Body::Receipt("npm test 全绿".into()).text()),
        ),
        (
            "resume",
            resume::build(&offer().terms, &checkpoint(), Round(4)),
        ),
        ("resync", resync::build(&offer())),
        (
            "repair",
            repair::Repair::of(
                frame(),
                &[Fault::bare(Code::Blocks), Fault::bare(Code::Frame)],
            )
            .unwrap()
            .build(),
        ),
    ];
    for (name, text) in all {
        snapshot!(format!("message_{name}"), &text);
    }
}

//= spec W9 type=test
//= spec W14 type=test
#[test]
fn every_body_of_a_round() {
    let request = "修好 parse()：空输入要返回错误。\n\n测试在 tests/ 里。";
    let all = [
        ("request", Body::Request(request.into())),
        ("receipt", Body::Receipt("命令 1：退出状态 0".into())),
        (
            "resumed_in_round_1",
            resumed(Some(request), None, Later::Nothing),
        ),
        (
            "resumed_in_round_1_after_a_plan",
            resumed(Some(request), None, Later::MayHaveRun),
        ),
        (
            "resumed_did_not_run",
            resumed(None, Some("命令 1：退出状态 0"), Later::DidNotRun),
        ),
        (
            "resumed_may_have_run",
            resumed(None, Some("命令 1：退出状态 0"), Later::MayHaveRun),
        ),
    ];
    for (name, body) in all {
        snapshot!(format!("body_{name}"), &body.text());
    }
}

//= spec W8 type=test
#[test]
fn the_request_travels_in_round_1_and_never_in_hello() {
    let request = "一个不会出现在握手里的请求";
    let qid = wire::tag(request);
    let offer = Offer::standard(sid(), qid.clone(), Objective::default());
    for text in [hello::build(&offer), resync::build(&offer)] {
        assert!(!text.contains(request));
        assert!(text.contains("OBJECTIVE:\n见第 1 轮\n"));
        assert!(text.contains(&format!("QID: {qid}")));
    }
    assert!(Body::Request(request.into()).text().contains(request));
}

//= spec W9 type=test
#[test]
fn a_request_is_found_again_by_its_tag_alone() {
    // The request holds our own headings, which a search would fall for.
    let request = "先看\n\n## 上轮执行回执\n再看\n\n## 用户请求\n完";
    let qid = wire::tag(request);
    for body in [
        Body::Request(request.into()),
        resumed(Some(request), None, Later::MayHaveRun),
        resumed(Some(request), Some("    ## 上轮执行回执"), Later::DidNotRun),
    ] {
        let text = round::build(&frame(), &body.text());
        let (_, read) = round::parse(&text).unwrap();
        assert_eq!(body::request_in(read, &qid), Some(request));
        assert_eq!(body::request_in(read, &key()), None, "another tag");
    }
    let receipt = Body::Receipt(request.into()).text();
    assert_eq!(body::request_in(&receipt, &qid), None, "no request there");
}

//= spec W12 type=test
#[test]
fn a_resync_is_a_header_and_the_whole_hello() {
    let (resync, hello) = (resync::build(&offer()), hello::build(&offer()));
    assert_eq!(resync, format!("# RESYNC pi-bridge/1\n\n{hello}"));
    assert_eq!(resync::parse(&resync), Some(offer()));
    assert_eq!(resync::parse(&hello), None);
    assert_eq!(hello::parse(&resync), None);
}

//= spec W7 type=test
#[test]
fn a_hello_reads_back_and_a_changed_one_does_not() {
    let text = hello::build(&offer());
    assert_eq!(hello::parse(&text), Some(offer()));
    assert_eq!(hello::parse(&text.replace('\n', "\r\n")), Some(offer()));
    assert_eq!(hello::parse(&format!("\n{text}\n\n")), Some(offer()));
    for (what, changed) in [
        ("another contract", text.replace("## RISKS", "## RISK")),
        ("another template", text.replace("TYPE: ack", "TYPE: nak")),
        ("a denial gone", text.replace("net,gui", "gui")),
        ("a word more", format!("{text} x")),
        ("no objective", text.replace("示例目标\n", "")),
    ] {
        assert_ne!(changed, text, "{what}");
        assert_eq!(hello::parse(&changed), None, "{what}");
    }
}

#[test]
fn an_offer_without_capabilities_reads_back() {
    let none = Offer::new(
        sid(),
        key(),
        Objective::parse("a:").unwrap(),
        vec![],
        vec![],
    );
    assert_eq!(hello::parse(&hello::build(&none)), Some(none.clone()));
    let canonical = wire::canonical(&hello::build(&none));
    assert_eq!(hello::parse(&canonical), Some(none));
}

//= spec W11 type=test
#[test]
fn a_resume_names_the_checkpoint_and_the_round_after_it() {
    let terms = offer().terms;
    for (checkpoint, lines) in [
        (Checkpoint::Start, "CK: 0:-\nNEXT: 1"),
        (checkpoint(), "CK: 3:a1b2c3d4\nNEXT: 4"),
    ] {
        let text = resume::build(&terms, &checkpoint, checkpoint.next_round());
        assert!(text.ends_with(lines), "{text}");
        let read = resume::parse(&text).unwrap();
        assert_eq!(read.checkpoint, checkpoint);
        assert_eq!(read.next, checkpoint.next_round());
        assert_eq!(read.terms.sid, terms.sid);
    }
}

//= spec P6 type=test
#[test]
fn a_repair_lists_its_codes_in_the_tables_order_each_once() {
    let faults = [Code::Parse, Code::Blocks, Code::Parse, Code::Frame].map(Fault::bare);
    let repair = repair::Repair::of(frame(), &faults).unwrap();
    assert!(repair.build().contains("\nERR: E_BLOCKS,E_FRAME,E_PARSE\n"));
    assert_eq!(repair::parse(&repair.build()), Some(repair));
}

//= spec P7 type=test
#[test]
fn there_is_no_repair_for_what_is_not_the_others_fault() {
    let of = |codes: &[Code]| {
        let faults: Vec<_> = codes.iter().copied().map(Fault::bare).collect();
        repair::Repair::of(frame(), &faults).is_some()
    };
    assert!(of(&[Code::Blocks]));
    for other in [
        Code::Capture,
        Code::SourceUncertain,
        Code::Version,
        Code::Contract,
        Code::Dialog,
    ] {
        assert!(!of(&[other]), "{other}");
        assert!(!of(&[Code::Blocks, other]), "{other}");
    }
    assert!(!of(&[]));
}

#[test]
fn a_repair_of_codes_that_do_not_travel_is_not_read() {
    let text = repair::Repair::of(frame(), &[Fault::bare(Code::Blocks)])
        .unwrap()
        .build();
    for bad in ["E_DIALOG", "blocks", "", "E_BLOCKS,", "E_BLOCKS;E_FRAME"] {
        let changed = text.replace("E_BLOCKS", bad);
        assert_eq!(repair::parse(&changed), None, "{bad:?}");
    }
}

#[test]
fn names_and_labels_have_bounds() {
    for good in ["a", "remote.config", "need_info", "X-9", &"a".repeat(64)] {
        assert!(Word::parse(good).is_ok(), "{good:?}");
    }
    for bad in ["", "a,b", "a b", "a\n", "é", &"a".repeat(65)] {
        assert_eq!(Word::parse(bad), Err(NotAValue::Word), "{bad:?}");
    }
    for good in ["x", "见第 1 轮", &"目".repeat(200)] {
        assert!(Objective::parse(good).is_ok(), "{good:?}");
    }
    for bad in ["", " x", "x ", "a\nb", "a\rb", "a\0b", &"目".repeat(201)] {
        assert_eq!(Objective::parse(bad), Err(NotAValue::Objective), "{bad:?}");
    }
}
