//! The remote of a simulated world: a model that is made, not recorded. It answers
//! each message by its head, mostly as the protocol asks.

use protocol::{
    frame::Frame,
    id::{PlanKey, Round},
    message::{self, Head, Terms},
    page::Role,
    wire,
};
use rand::{RngExt as _, rngs::ChaCha8Rng};

use super::fault::Own;

/// How the remote behaves when nothing is made to go wrong.
#[derive(Debug, Clone)]
pub struct Remote {
    /// The round whose plan says `done`.
    pub rounds: u32,
    /// The last plan it gave, to the letter.
    last_plan: Option<String>,
}

/// What it is going to say, and how.
#[derive(Debug, Clone)]
pub struct Says {
    /// The reply.
    pub text: String,
    /// How long it thinks first.
    pub think_ms: u64,
    /// How long each piece takes.
    pub piece_ms: u64,
}

impl Remote {
    /// A remote that is done in this round.
    pub fn new(rounds: u32) -> Self {
        Self {
            rounds,
            last_plan: None,
        }
    }

    /// The answer to a message; `wrong` is what it is made to do wrong with it.
    pub fn answer(&mut self, text: &str, wrong: Option<Own>, rng: &mut ChaCha8Rng) -> Says {
        let think_ms = match wrong {
            Some(Own::ThinksLong) => 1_800_000,
            _ if rng.random_ratio(1, 8) => rng.random_range(2_000..20_000),
            _ => rng.random_range(200..2_000),
        };
        Says {
            text: self.text(text, wrong, rng),
            think_ms,
            piece_ms: rng.random_range(50..900),
        }
    }

    #[allow(
        clippy::wildcard_enum_match_arm,
        reason = "most faults have nothing to do with what is said"
    )]
    fn text(&mut self, text: &str, wrong: Option<Own>, rng: &mut ChaCha8Rng) -> String {
        let Some(head) = message::recognise(Role::User, text) else {
            return "I see a message that is not of the protocol.".to_owned();
        };
        if wrong == Some(Own::ProseOnly) {
            return "Let me think about that for a moment.".to_owned();
        }
        let frame = match &head {
            Head::Hello { terms, .. } | Head::Resync { terms, .. } => {
                return acknowledge(terms, wrong);
            }
            Head::Resume(resume) => return acknowledge(&resume.terms, wrong),
            Head::Round(frame) | Head::Plan(frame) => frame.clone(),
            Head::Repair(repair) => repair.frame.clone(),
            Head::Hs(terms) => return acknowledge(terms, wrong),
        };
        if wrong == Some(Own::PlanAgain)
            && let Some(last) = &self.last_plan
        {
            return fenced(last);
        }
        let decision = match wrong {
            Some(Own::Blocked) => "blocked",
            _ if frame.round.0 >= self.rounds => "done",
            _ if rng.random_ratio(1, 6) => "need_info",
            _ => "continue",
        };
        let mut named = frame.clone();
        if wrong == Some(Own::BadFrame) {
            named.round = Round(frame.round.0 + 1);
        }
        let mut plan = plan_text(&named, decision, rng);
        if wrong == Some(Own::NoSection) {
            plan = plan.replace("## RISKS\n无\n\n", "");
        }
        self.last_plan = Some(plan.clone());
        match wrong {
            Some(Own::TwoBlocks) => format!("{}\n\n```sh\nls\n```", fenced(&plan)),
            Some(Own::Prose) => format!("Here is the plan.\n\n{}", fenced(&plan)),
            Some(Own::OpenFence) => format!("```\n{plan}\n"),
            _ => fenced(&plan),
        }
    }
}

fn acknowledge(terms: &Terms, wrong: Option<Own>) -> String {
    let block = message::hs::build(terms);
    #[allow(
        clippy::wildcard_enum_match_arm,
        reason = "most faults have nothing to do with an acknowledgement"
    )]
    match wrong {
        Some(Own::BadAck) => fenced(&block.replace("p2.", "p2.0")),
        Some(Own::Prose) => format!("Understood.\n\n{}", fenced(&block)),
        Some(Own::TwoBlocks) => format!("{0}\n\n{0}", fenced(&block)),
        Some(Own::OpenFence) => format!("```\n{block}\n"),
        Some(Own::PlanEarly) => {
            let frame = Frame {
                sid: terms.sid.clone(),
                round: Round::FIRST,
                prev: None::<PlanKey>,
                qid: wire::tag("early"),
            };
            fenced(&plan_with(&frame, "continue", "early", "1. step"))
        }
        _ => fenced(&block),
    }
}

/// In one code block, as the protocol wants it.
pub fn fenced(block: &str) -> String {
    format!("```\n{block}\n```")
}

fn plan_text(frame: &Frame, decision: &str, rng: &mut ChaCha8Rng) -> String {
    const STEPS: [&str; 4] = [
        "1. read the failing test",
        "1. 读取失败的测试\n2. 修复",
        "1. look\n2. change `src/a.rs`\n   keep the rest\n3. run it",
        "1. step\n\n2. another, with \"quotes\" and a # sign",
    ];
    let nonce: u32 = rng.random();
    let steps = STEPS[rng.random_range(0..STEPS.len())];
    plan_with(frame, decision, &format!("task {nonce:08x}"), steps)
}

fn plan_with(frame: &Frame, decision: &str, task: &str, steps: &str) -> String {
    format!(
        "# PLAN pi-bridge/1\n{frame}\nDECISION: {decision}\nTASK: {task}\n\n## GOAL\ngoal\n\n\
         ## STEPS\n{steps}\n\n## FILES\n- a.sh :: change\n\n## COMMANDS\n- ls\n\n## RISKS\n无\n\n\
         ## VERIFY\n- ls"
    )
}
