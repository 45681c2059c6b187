//! Whatever is built reads back; whatever comes is read without a panic.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use proptest::{collection::vec, option, prelude::*, sample};
use protocol::{
    establish,
    fault::{Code, Domain, Fault},
    fence,
    frame::{Checkpoint, Frame},
    id::{Round, Sid, Tag},
    message::{
        Body, Head, Objective, Offer, Word,
        body::{self, Known, Later},
        hello, hs,
        receipt::Receipt,
        recognise, repair, resume, resync, round,
    },
    page::Role,
    plan,
    reply::EndWitness,
    wire,
};

fn sid() -> impl Strategy<Value = Sid> {
    any::<[u8; 8]>().prop_map(Sid::from_bytes)
}

fn tag() -> impl Strategy<Value = Tag> {
    any::<u32>().prop_map(|n| Tag::parse(&format!("{n:08x}")).unwrap())
}

fn round_number() -> impl Strategy<Value = Round> {
    prop_oneof![Just(1), Just(u32::MAX), 1..=u32::MAX].prop_map(Round)
}

fn frame() -> impl Strategy<Value = Frame> {
    (sid(), round_number(), option::of(tag()), tag()).prop_map(|(sid, round, prev, qid)| Frame {
        sid,
        round,
        prev,
        qid,
    })
}

fn checkpoint() -> impl Strategy<Value = Checkpoint> {
    prop_oneof![
        Just(Checkpoint::Start),
        (round_number(), tag()).prop_map(|(round, key)| Checkpoint::At { round, key }),
    ]
}

fn words() -> impl Strategy<Value = Vec<Word>> {
    vec(
        "[A-Za-z0-9._-]{1,12}".prop_map(|text| Word::parse(&text).unwrap()),
        0..6,
    )
}

fn objective() -> impl Strategy<Value = Objective> {
    prop_oneof![
        "[!-~é中:]{1,30}",
        "[!-~] ?[ -~]{0,20}[!-~]",
        Just("CAPS:".to_owned()),
        Just("CONTRACT:".to_owned()),
    ]
    .prop_map(|text| Objective::parse(&text).unwrap())
}

fn offer() -> impl Strategy<Value = Offer> {
    (sid(), tag(), objective(), words(), words())
        .prop_map(|(sid, qid, objective, caps, deny)| Offer::new(sid, qid, objective, caps, deny))
}

fn faults() -> impl Strategy<Value = Vec<Fault>> {
    let remote: Vec<_> = Code::ALL
        .into_iter()
        .filter(|code| code.domain() == Domain::Remote)
        .collect();
    vec(sample::select(remote).prop_map(Fault::bare), 1..8)
}

/// A body's text: our headings and header lines among other things.
fn content() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        "[ -~é中\t]{0,20}",
        Just("## 上轮执行回执".to_owned()),
        Just("## 用户请求".to_owned()),
        Just("# HELLO pi-bridge/1".to_owned()),
        Just("FRAME: s=0000000000000000 r=1 p=- q=00000000".to_owned()),
        Just("```".to_owned()),
        Just(String::new()),
    ];
    vec(line, 1..8).prop_map(|lines| lines.join("\n"))
}

fn resumed_body(request: Option<String>, checkpoint: Checkpoint, later: Later) -> Body {
    Body::Resumed {
        request: request.map(Into::into),
        known: Known {
            checkpoint,
            receipt: Some(Receipt::new().quote("## 上轮执行回执").finish(1_000).into()),
            later,
        },
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    //= spec W2 type=test
    #[test]
    fn canonical_form_is_a_fixed_point(text in "[a \t\r\n\u{a0}\u{2028}\u{b}中]{0,40}") {
        let canonical = wire::canonical(&text);
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

/// A change that a model, a page or a cable makes to a text.
#[derive(Debug, Clone)]
enum Edit {
    Delete(usize),
    Insert(String),
    Repeat(usize),
    CutOff,
}

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        (1_usize..40).prop_map(Edit::Delete),
        "[ -~\n\r\t中]{1,6}|\n## [A-Z]{1,4}\n|\n```\n".prop_map(Edit::Insert),
        (1_usize..80).prop_map(Edit::Repeat),
        Just(Edit::CutOff),
    ]
}

impl Edit {
    fn apply(&self, text: &mut String, at: sample::Index) {
        let places: Vec<_> = text
            .char_indices()
            .map(|(at, _)| at)
            .chain([text.len()])
            .collect();
        let at = at.index(places.len());
        let to = |len: usize| places[(at + len).min(places.len() - 1)];
        match self {
            Self::Delete(len) => text.replace_range(places[at]..to(*len), ""),
            Self::Insert(more) => text.insert_str(places[at], more),
            Self::Repeat(len) => {
                let again = text[places[at]..to(*len)].to_owned();
                text.insert_str(places[at], &again);
            }
            Self::CutOff => text.truncate(places[at]),
        }
    }
}

/// The parts that a valid plan is made of.
#[derive(Debug, Clone)]
struct Parts {
    decision: &'static str,
    task: String,
    steps: Vec<String>,
    files: Vec<String>,
    commands: Vec<String>,
}

fn plan_parts() -> impl Strategy<Value = Parts> {
    let decision = sample::select(&["continue", "done", "blocked", "need_info"][..]);
    let words = "[a-z][a-z中 ]{0,10}[a-z]";
    let command = "[a-z][a-z|&>$\" -]{0,12}[a-z](\n[ \t]{0,3}[a-z]{1,5}){0,2}";
    (
        decision,
        words,
        vec(words, 1..4),
        vec("[a-z/.]{1,10}[a-z]", 0..4),
        vec(command, 0..4),
    )
        .prop_filter_map(
            "the word for nothing",
            |(decision, task, steps, files, commands)| {
                let none = |text: &String| text == "none";
                (!files.iter().any(none) && !commands.iter().any(none)).then_some(Parts {
                    decision,
                    task,
                    steps,
                    files,
                    commands,
                })
            },
        )
}

impl Parts {
    fn text(&self, frame: &Frame) -> String {
        let or_none = |items: Vec<String>| {
            if items.is_empty() {
                "无".to_owned()
            } else {
                items.join("\n")
            }
        };
        let steps: Vec<_> = self
            .steps
            .iter()
            .enumerate()
            .map(|(n, step)| format!("{}. {step}", n + 1))
            .collect();
        let files = self
            .files
            .iter()
            .map(|path| format!("- {path} :: 改"))
            .collect();
        let commands = self
            .commands
            .iter()
            .map(|command| format!("- {}", command.replace('\n', "\n  ")))
            .collect();
        format!(
            "# PLAN pi-bridge/1\n{frame}\nDECISION: {}\nTASK: {}\n\n## GOAL\ng\n\n## STEPS\n{}\n\n\
             ## FILES\n{}\n\n## COMMANDS\n{}\n\n## RISKS\n无\n\n## VERIFY\n- v",
            self.decision,
            self.task,
            steps.join("\n"),
            or_none(files),
            or_none(commands),
        )
    }
}
