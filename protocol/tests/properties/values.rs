//! What the properties are tried on.

use proptest::{collection::vec, option, prelude::*, sample};
use protocol::{
    fault::{Code, Domain, Fault},
    frame::{Checkpoint, Frame},
    id::{Round, Sid, Tag},
    message::{
        Body, Objective, Offer, Word,
        body::{Known, Later},
        receipt::Receipt,
    },
};

pub fn sid() -> impl Strategy<Value = Sid> {
    any::<[u8; 8]>().prop_map(Sid::from_bytes)
}

pub fn tag() -> impl Strategy<Value = Tag> {
    any::<u32>().prop_map(|n| Tag::parse(&format!("{n:08x}")).unwrap())
}

pub fn round_number() -> impl Strategy<Value = Round> {
    prop_oneof![Just(1), Just(u32::MAX), 1..=u32::MAX].prop_map(Round)
}

pub fn frame() -> impl Strategy<Value = Frame> {
    (sid(), round_number(), option::of(tag()), tag()).prop_map(|(sid, round, prev, qid)| Frame {
        sid,
        round,
        prev,
        qid,
    })
}

pub fn checkpoint() -> impl Strategy<Value = Checkpoint> {
    prop_oneof![
        Just(Checkpoint::Start),
        (round_number(), tag()).prop_map(|(round, key)| Checkpoint::At { round, key }),
    ]
}

pub fn words() -> impl Strategy<Value = Vec<Word>> {
    vec(
        "[A-Za-z0-9._-]{1,12}".prop_map(|text| Word::parse(&text).unwrap()),
        0..6,
    )
}

pub fn objective() -> impl Strategy<Value = Objective> {
    prop_oneof![
        "[!-~é中:]{1,30}",
        "[!-~] ?[ -~]{0,20}[!-~]",
        Just("CAPS:".to_owned()),
        Just("CONTRACT:".to_owned()),
    ]
    .prop_map(|text| Objective::parse(&text).unwrap())
}

pub fn offer() -> impl Strategy<Value = Offer> {
    (sid(), tag(), objective(), words(), words())
        .prop_map(|(sid, qid, objective, caps, deny)| Offer::new(sid, qid, objective, caps, deny))
}

pub fn faults() -> impl Strategy<Value = Vec<Fault>> {
    let remote: Vec<_> = Code::ALL
        .into_iter()
        .filter(|code| code.domain() == Domain::Remote)
        .collect();
    vec(sample::select(remote).prop_map(Fault::bare), 1..8)
}

/// A body's text: our headings and header lines among other things.
pub fn content() -> impl Strategy<Value = String> {
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

pub fn resumed_body(request: Option<String>, checkpoint: Checkpoint, later: Later) -> Body {
    Body::Resumed {
        request: request.map(Into::into),
        known: Known {
            checkpoint,
            receipt: Some(Receipt::new().quote("## 上轮执行回执").finish(1_000).into()),
            later,
        },
    }
}

/// A change that a model, a page or a cable makes to a text.
#[derive(Debug, Clone)]
pub enum Edit {
    Delete(usize),
    Insert(String),
    Repeat(usize),
    CutOff,
}

pub fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        (1_usize..40).prop_map(Edit::Delete),
        "[ -~\n\r\t中]{1,6}|\n## [A-Z]{1,4}\n|\n```\n".prop_map(Edit::Insert),
        (1_usize..80).prop_map(Edit::Repeat),
        Just(Edit::CutOff),
    ]
}

impl Edit {
    pub fn apply(&self, text: &mut String, at: sample::Index) {
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
pub struct Parts {
    pub decision: &'static str,
    pub task: String,
    pub steps: Vec<String>,
    pub files: Vec<String>,
    pub commands: Vec<String>,
}

pub fn plan_parts() -> impl Strategy<Value = Parts> {
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
    pub fn text(&self, frame: &Frame) -> String {
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
