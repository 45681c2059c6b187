//! What one step of a proof costs, and what evidence holds.

use std::time::Instant;

use capture::{Awaited, EVIDENCE_BYTES_MAX, Evidence, Limits, prove};
use protocol::{
    id::SendId,
    page::{
        Anchor, Block, Composer, Control, ConversationId, Draft, Epoch, Look, Observation, Place,
        Reply, Role, StreamEvent, StreamReport, Turn, TurnId, TurnKey, What,
    },
    reply::Verdict,
    time::Millis,
};
use serde_json::json;

use crate::latency::reply_of;
use crate::{Report, quantile};

/// One step.
const STEP_US_MAX: f64 = 20.0;
const STEPS: usize = 2_000;
const OURS: &str = "# ROUND pi-bridge/1\nour message";

pub fn measure(report: &mut Report) {
    for chars in [4, 300, 3_000, 200_000] {
        let (took, took_in, held) = course(chars);
        println!(
            "{chars} characters: {} steps of prove, p50 {:.2} µs, p99 {:.2} µs; taking an observation in, p50 {:.1} µs; {} KiB held",
            took.len(),
            quantile(&took, 0.5),
            quantile(&took, 0.99),
            quantile(&took_in, 0.5),
            held / 1_024
        );
        let mean = took.iter().sum::<f64>() / took.len() as f64;
        report.at_most("  mean of a step", mean, STEP_US_MAX, "µs");
        report.at_most(
            "  held of what may be",
            held as f64 / EVIDENCE_BYTES_MAX as f64,
            1.0,
            "",
        );
    }
}

/// A reply that streams in so many steps and is then proven, step by step.
fn course(chars: usize) -> (Vec<f64>, Vec<f64>, usize) {
    let text = reply_of(chars, 1);
    let all: Vec<char> = text.chars().collect();
    let mut evidence = Evidence::new(Awaited {
        send: SendId(1),
        text: OURS.into(),
        anchor: Anchor::Empty,
        conversation: Some(ConversationId("conv".into())),
        since: Millis(0),
    });
    let limits = Limits::default();
    let (mut proofs, mut intakes) = (Vec::new(), Vec::new());
    let mut step = |at: u64, what: What| {
        let observation = Observation {
            epoch: Epoch(1),
            what,
        };
        let began = Instant::now();
        evidence.observe(Millis(at), &observation);
        intakes.push(began.elapsed().as_secs_f64() * 1e6);
        let began = Instant::now();
        let verdict = prove(&evidence, Millis(at), &limits);
        proofs.push(began.elapsed().as_secs_f64() * 1e6);
        (verdict, evidence.held_bytes())
    };
    let report = |event| {
        What::Stream(StreamReport {
            n: 0,
            request: "1".into(),
            event,
        })
    };
    let data = |value: serde_json::Value| {
        report(StreamEvent::Data {
            data: value.to_string().into(),
        })
    };
    let body = json!({"messages": [{"content": {"parts": [OURS]}}], "conversation_id": "conv"});
    step(
        1,
        report(StreamEvent::Sent {
            url: "/x".into(),
            body: Some(body.to_string().into()),
        }),
    );
    step(
        2,
        data(
            json!({"o": "add", "p": "", "v": {"message": {"id": "a1", "author": {"role": "assistant"},
            "channel": "final", "recipient": "all", "status": "in_progress", "metadata": {},
            "content": {"content_type": "text", "parts": [""]}}}}),
        ),
    );
    let each = (all.len() / STEPS).max(1);
    let mut shown = 0;
    let mut at = 10;
    let mut seq = 0;
    while shown < all.len() {
        let next = (shown + each).min(all.len());
        let piece: String = all[shown..next].iter().collect();
        step(
            at,
            data(json!({"p": "/message/content/parts/0", "o": "append", "v": piece})),
        );
        seq += 1;
        step(at, look(seq, at, shown, None));
        (shown, at) = (next, at + 10);
    }
    step(
        at,
        data(json!({"p": "", "o": "patch", "v": [
            {"p": "/message/status", "o": "replace", "v": "finished_successfully"},
            {"p": "/message/end_turn", "o": "replace", "v": true}]})),
    );
    step(
        at,
        report(StreamEvent::Data {
            data: "[DONE]".into(),
        }),
    );
    let blocks = blocks_of(&text);
    let mut held = 0;
    for _ in 0..100 {
        (at, seq) = (at + 10, seq + 1);
        let (verdict, holds) = step(at, look(seq, at, all.len(), Some(blocks.clone())));
        held = holds;
        assert!(
            !matches!(verdict, Verdict::CaptureFailed { .. }),
            "{verdict}"
        );
    }
    let (verdict, _) = step(at + 10, look(seq + 1, at + 10, all.len(), Some(blocks)));
    assert!(matches!(verdict, Verdict::Complete(_)), "{verdict}");
    (proofs, intakes, held)
}

fn blocks_of(text: &str) -> Vec<Block> {
    match text.strip_prefix("```text\n") {
        Some(code) => vec![Block::Code {
            lang: None,
            text: code.trim_end_matches("```").trim_end_matches('\n').into(),
            partial: false,
        }],
        None => vec![Block::Paragraph {
            c: vec![protocol::page::Inline::Text { v: text.into() }],
        }],
    }
}

fn look(seq: u64, at: u64, chars: usize, blocks: Option<Vec<Block>>) -> What {
    let done = blocks.is_some();
    let turn = |key: &str, role, text: &str, reply| Turn {
        key: TurnKey::Settled(TurnId(key.into())),
        role,
        text: text.into(),
        clamped: false,
        reply,
    };
    let reply = Reply {
        chars: u32::try_from(chars).unwrap(),
        print: format!("{chars}"),
        blocks,
        bar: done,
        copy: done,
        streaming: !done,
        thinking: false,
        interrupted: false,
        truncated: false,
        choices: 1,
        error: None,
    };
    What::Look(Box::new(Look {
        seq,
        page_ms: at,
        address: "https://chat.example/c/conv".into(),
        place: Place::Conversation(ConversationId("conv".into())),
        layout: Some("classic".into()),
        missing: vec![],
        hydrated: true,
        blockers: vec![],
        composer: Composer {
            present: true,
            draft: Draft::default(),
            send: Control::Absent,
            stop: !done,
            attachments: 0,
        },
        turns_shown: 2,
        tail: vec![
            turn("u1", Role::User, OURS, None),
            turn("a1", Role::Assistant, "", Some(reply)),
        ],
    }))
}
