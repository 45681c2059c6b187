//! Whatever is built reads back; whatever comes is read without a panic.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod values;

use proptest::{collection::vec, prelude::*, sample};
use protocol::{
    establish,
    fault::Code,
    fence,
    frame::{Checkpoint, Frame},
    id::Round,
    message::{
        Body, Head, Offer,
        body::{self, Later},
        hello, hs,
        receipt::Receipt,
        recognise, repair, resume, resync, round,
    },
    page::Role,
    plan,
    reply::EndWitness,
    wire,
};
use values::{
    checkpoint, content, edit, faults, frame, offer, plan_parts, resumed_body, round_number,
};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    //= spec W2 type=test
    #[test]
    fn canonical_form_is_a_fixed_point(text in "[a \t\r\n\u{a0}\u{2028}\u{b}中]{0,40}") {
        let canonical = wire::canonical(&text);
        prop_assert_eq!(&canonical, &canonical_by_the_book(&text));
        prop_assert_eq!(wire::canonical(&canonical), canonical.clone());
        prop_assert_eq!(wire::tag(&canonical), wire::tag(&text));
        prop_assert!(!canonical.contains("\n\n\n") && !canonical.contains(" \n"));
        let windows = text.replace("\r\n", "\n").replace('\n', "\r\n");
        prop_assert_eq!(wire::canonical(&windows), canonical);
    }

    //= spec W6 type=test
    #[test]
    fn a_frame_reads_back_in_any_order(frame in frame(), order in Just([0, 1, 2, 3]).prop_shuffle(), gap in 1_usize..4) {
        let text = frame.to_string();
        prop_assert_eq!(Frame::parse(&text), Ok(frame.clone()));
        let words: Vec<_> = text.split(' ').skip(1).collect();
        let shuffled: Vec<_> = order.iter().map(|at| words[*at]).collect();
        let line = format!("FRAME: {}", shuffled.join(&" ".repeat(gap)));
        prop_assert_eq!(frame.check(&line), Ok(()));
        prop_assert_eq!(Frame::parse(&line), Ok(frame));
    }

    //= spec P2 type=test
    #[test]
    fn a_frame_that_differs_says_where(a in frame(), b in frame()) {
        let fields = a.check(&b.to_string()).err().map_or(vec![], |bad| bad.fields);
        let differs = [a.sid != b.sid, a.round != b.round, a.prev != b.prev, a.qid != b.qid];
        let expected: Vec<_> = ["s", "r", "p", "q"].into_iter().zip(differs).filter(|(_, d)| *d).map(|(n, _)| n).collect();
        prop_assert_eq!(fields, expected);
    }

    //= spec W7 type=test
    #[test]
    fn hello_and_resync_read_back(offer in offer()) {
        let (hello, resync) = (hello::build(&offer), resync::build(&offer));
        for text in [hello.clone(), wire::canonical(&hello), hello.replace('\n', "\r\n")] {
            prop_assert_eq!(hello::parse(&text), Some(offer.clone()));
        }
        prop_assert_eq!(resync::parse(&resync), Some(offer.clone()));
        let (terms, qid) = (offer.terms.clone(), offer.qid.clone());
        prop_assert_eq!(recognise(Role::User, &hello), Some(Head::Hello { terms: terms.clone(), qid: qid.clone() }));
        prop_assert_eq!(recognise(Role::User, &resync), Some(Head::Resync { terms, qid }));
    }

    //= spec W7 type=test
    //= spec H1 type=test
    #[test]
    fn an_acknowledgement_reads_back_and_holds_for_its_own_terms_alone(one in offer(), other in offer()) {
        let block = hs::build(&one.terms);
        prop_assert_eq!(hs::parse(&block), Some(one.terms.clone()));
        let reply = format!("```text\n{block}\n```\n");
        prop_assert_eq!(establish::gate(&reply, &one.terms, EndWitness::StreamDone), Ok(()));
        let same = one.terms == other.terms;
        prop_assert_eq!(establish::gate(&reply, &other.terms, EndWitness::StreamDone).is_ok(), same);
    }

    //= spec W7 type=test
    #[test]
    fn a_round_reads_back_with_its_body(frame in frame(), content in content()) {
        let body = Body::Receipt(content.into()).text();
        let text = round::build(&frame, &body);
        prop_assert_eq!(round::parse(&text), Some((frame.clone(), body.trim())));
        prop_assert_eq!(recognise(Role::User, &text), Some(Head::Round(frame)));
    }

    //= spec W9 type=test
    #[test]
    fn a_request_is_found_in_whatever_round_1_carries_it(request in content(), checkpoint in checkpoint(), frame in frame()) {
        prop_assume!(!request.trim().is_empty());
        let qid = wire::tag(&request);
        for body in [
            Body::Request(request.clone().into()),
            resumed_body(Some(request.clone()), Checkpoint::Start, Later::Nothing),
            resumed_body(Some(request.clone()), checkpoint.clone(), Later::MayHaveRun),
        ] {
            let text = round::build(&frame, &body.text());
            let (_, read) = round::parse(&text).unwrap();
            let found = body::request_in(read, &qid).map(wire::canonical);
            prop_assert_eq!(found, Some(wire::canonical(&request)));
        }
        let none = resumed_body(None, checkpoint, Later::DidNotRun).text();
        prop_assert_eq!(body::request_in(&none, &qid), None);
    }

    //= spec W7 type=test
    //= spec W11 type=test
    #[test]
    fn a_resume_reads_back(offer in offer(), checkpoint in checkpoint(), next in round_number()) {
        let text = resume::build(&offer.terms, &checkpoint, next);
        let read = resume::parse(&text).unwrap();
        prop_assert_eq!((&read.checkpoint, read.next), (&checkpoint, next));
        prop_assert_eq!((&read.terms.sid, &read.terms.cv, &read.terms.cap), (&offer.terms.sid, &offer.terms.cv, &offer.terms.cap));
        prop_assert_eq!(recognise(Role::User, &text), Some(Head::Resume(read)));
    }

    //= spec W7 type=test
    #[test]
    fn a_repair_reads_back(frame in frame(), faults in faults()) {
        let repair = repair::Repair::of(frame, &faults).unwrap();
        prop_assert!(repair.errors.is_sorted());
        let text = repair.build();
        prop_assert_eq!(repair::parse(&text), Some(repair.clone()));
        prop_assert_eq!(recognise(Role::User, &text), Some(Head::Repair(repair)));
    }

    //= spec W4 type=test
    #[test]
    fn a_plan_reads_back(frame in frame(), parts in plan_parts(), fence in "(`{4,6}|~{4,6})", indent in 0_usize..4) {
        let block = parts.text(&frame);
        let pad = " ".repeat(indent);
        let inner = block.replace('\n', &format!("\n{pad}"));
        let reply = format!("{pad}{fence}\n{pad}{inner}\n{pad}{fence}\n");
        let plan = plan::validate(&reply, &frame, EndWitness::FenceClosed).unwrap();
        prop_assert_eq!(&plan.frame, &frame);
        prop_assert_eq!(plan.decision.name(), parts.decision);
        prop_assert_eq!(&plan.task, &parts.task);
        prop_assert_eq!(plan.steps as usize, parts.steps.len());
        prop_assert_eq!(&plan.commands, &parts.commands);
        prop_assert!(plan.stray_lines.is_empty());
        let files: Vec<_> = plan.files.iter().map(|f| f.path.clone()).collect();
        prop_assert_eq!(&files, &parts.files);
        prop_assert_eq!(&plan.key, &wire::tag(&block));
        prop_assert_eq!(plan::key_in(&reply), Some(plan.key.clone()));
        prop_assert_eq!(plan::from_block(plan.text.as_str(), &frame), Ok(plan.clone()));
        prop_assert_eq!(recognise(Role::Assistant, &reply), Some(Head::Plan(frame)));
        let runs = matches!(parts.decision, "continue" | "need_info");
        let none = parts.files.is_empty() && parts.commands.is_empty();
        prop_assert_eq!(plan.may_have_effects(), runs && !none);
    }

    //= spec W10 type=test
    #[test]
    fn a_receipt_is_short_and_quotes_stay_indented(parts in vec((any::<bool>(), ".{0,80}|(\\PC|[\n\r\u{85}]){0,200}"), 0..12), len_max in 100_usize..2_000) {
        let mut receipt = Receipt::new();
        for (quoted, text) in &parts {
            receipt = if *quoted { receipt.quote(text) } else { receipt.say("ours") };
        }
        let text = receipt.finish(len_max);
        prop_assert!(text.chars().count() <= len_max);
        for line in text.split(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}', '\u{b}', '\u{c}']) {
            prop_assert!(line.is_empty() || "ours".starts_with(line) || line.starts_with("    "), "{:?}", line);
        }
    }

    //= spec W7 type=test
    #[test]
    fn no_text_makes_a_parser_panic(text in prop_oneof![any::<String>(), content(), "[`~\n #A-Z:=-]{0,60}"], frame in frame(), offer in offer()) {
        read_by_all(&text, &frame, &offer);
    }

    //= spec W7 type=test
    #[test]
    fn no_mutation_of_a_message_makes_a_parser_panic(
        offer in offer(), frame in frame(), checkpoint in checkpoint(), faults in faults(), parts in plan_parts(), which in 0_usize..7,
        edits in vec((any::<sample::Index>(), edit()), 1..6),
    ) {
        let mut text = match which {
            0 => hello::build(&offer),
            1 => resync::build(&offer),
            2 => round::build(&frame, &Body::Request("x".into()).text()),
            3 => resume::build(&offer.terms, &checkpoint, Round(3)),
            4 => repair::Repair::of(frame.clone(), &faults).unwrap().build(),
            5 => format!("```\n{}\n```", hs::build(&offer.terms)),
            _ => format!("```\n{}\n```", parts.text(&frame)),
        };
        for (at, edit) in edits {
            edit.apply(&mut text, at);
        }
        read_by_all(&text, &frame, &offer);
    }

    //= spec P6 type=test
    #[test]
    fn a_mutated_plan_is_valid_or_says_faults_in_order(
        frame in frame(), parts in plan_parts(), edits in vec((any::<sample::Index>(), edit()), 1..4),
    ) {
        let mut text = format!("```\n{}\n```", parts.text(&frame));
        for (at, edit) in edits {
            edit.apply(&mut text, at);
        }
        match plan::validate(&text, &frame, EndWitness::FenceClosed) {
            Ok(plan) => {
                prop_assert_eq!(&plan.frame, &frame);
                prop_assert!(fence::scan(&text).sole().is_some());
            }
            Err(faults) => {
                prop_assert!(!faults.is_empty());
                prop_assert!(faults.windows(2).all(|two| two[0].code < two[1].code), "{:?}", faults);
            }
        }
    }
}

/// W2, sentence by sentence.
fn canonical_by_the_book(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    let mut lines: Vec<_> = text.split('\n').map(str::trim_end).collect();
    lines.dedup_by(|one, before| one.is_empty() && before.is_empty());
    lines.join("\n").trim().to_owned()
}

fn read_by_all(text: &str, frame: &Frame, offer: &Offer) {
    let _ = wire::canonical(text);
    let _ = Frame::parse(text);
    let _ = frame.check(text);
    let _ = text.parse::<Checkpoint>();
    let _ = text.parse::<wire::CapTag>();
    let _ = wire::ContractTag::parse_line(text);
    let _ = text.parse::<Code>();
    let _ = fence::scan(text);
    let _ = hello::parse(text);
    let _ = resync::parse(text);
    let _ = resume::parse(text);
    let _ = repair::parse(text);
    let _ = hs::parse(text);
    let _ = round::parse(text);
    let _ = body::request_in(text, &frame.qid);
    let _ = plan::key_in(text);
    let _ = plan::from_block(text, frame);
    let _ = recognise(Role::User, text);
    let _ = recognise(Role::Assistant, text);
    for end in [EndWitness::StreamDone, EndWitness::FenceClosed] {
        let _ = establish::gate(text, &offer.terms, end);
        let _ = plan::validate(text, frame, end);
    }
    let _ = Receipt::new().say(text).quote(text).finish(100);
}
