//! Each limit on what evidence holds, on both sides of it.

use protocol::page::{Block, Epoch, Inline, TurnId};
use protocol::time::Millis;
use serde_json::json;

use super::decode::Decoder;
use super::sources::{Raw, Sources};
use super::trail::{Seen, Trace, Trail};
use crate::limits::{COPIES_MAX, FORM_BYTES_MAX, TEXT_BYTES_MAX, TRAIL_MAX, TURNS_MAX};

const NOW: Millis = Millis(1);

fn turn(nth: usize) -> TurnId {
    TurnId(format!("a{nth}"))
}

fn copies_of(texts: &[String]) -> Sources {
    let mut sources = Sources::default();
    for text in texts {
        sources.take_copy(NOW, &turn(1), "print", &text.as_str().into());
    }
    sources
}

fn plain(bytes: usize) -> String {
    "x y z w\n".chars().cycle().take(bytes).collect()
}

//= spec C3 type=test
#[test]
fn a_text_of_as_many_bytes_as_may_be_is_a_source_and_one_byte_more_is_none() {
    let sources = copies_of(&[plain(TEXT_BYTES_MAX)]);
    assert!(sources.copy().is_some() && !sources.too_long);
    let sources = copies_of(&[plain(TEXT_BYTES_MAX + 1)]);
    assert!(sources.copy().is_none() && sources.too_long);
}

//= spec C3 type=test
#[test]
fn a_text_whose_form_needs_as_much_as_may_be_is_a_source_and_one_span_more_is_none() {
    // Few letters, many spans: the form weighs many times the text.
    let spans = |count: usize| "*a*b".repeat(count);
    let bytes = |count| Raw::new(&spans(count)).form.bytes();
    let each = (bytes(2_000) - bytes(1_000)) / 1_000;
    let most = 1_000 + (FORM_BYTES_MAX - bytes(1_000)) / each;
    assert!(spans(most + 1).len() < TEXT_BYTES_MAX);
    let sources = copies_of(&[spans(most)]);
    assert!(sources.copy().is_some() && !sources.too_long);
    let sources = copies_of(&[spans(most + 1)]);
    assert!(sources.copy().is_none() && sources.too_long);
    assert_eq!(sources.bytes(), Sources::default().bytes());
}

//= spec C3 type=test
#[test]
fn a_tree_of_as_many_bytes_as_may_be_counts_as_shown_and_one_node_more_does_not() {
    // What breaks no line is nothing in the form, and weighs in the tree.
    let shows = |breaks: usize| {
        let c = vec![Inline::Break; breaks];
        let mut sources = Sources::default();
        let blocks = [Block::Paragraph { c }];
        sources.take_dom(NOW, Some(&turn(1)), Some(&blocks), false);
        sources.dom.is_some()
    };
    let room = FORM_BYTES_MAX - size_of::<Block>();
    assert!(shows(room / size_of::<Inline>()));
    assert!(!shows(room / size_of::<Inline>() + 1));
}

#[test]
fn so_many_different_copies_are_kept_and_no_more() {
    let texts = |count: usize| (0..count).map(|nth| nth.to_string()).collect::<Vec<_>>();
    assert_eq!(copies_of(&texts(COPIES_MAX)).copies.len(), COPIES_MAX);
    assert_eq!(copies_of(&texts(COPIES_MAX + 1)).copies.len(), COPIES_MAX);
    // The same ones again take no place.
    let twice = [texts(COPIES_MAX), texts(COPIES_MAX)].concat();
    assert_eq!(copies_of(&twice).copies.len(), COPIES_MAX);
}

#[test]
fn the_longest_copy_of_so_many_turns_is_known_and_of_no_more() {
    let mut sources = Sources::default();
    for nth in 0..=TURNS_MAX {
        sources.candidate(&turn(nth), &"four".into());
    }
    assert_eq!(sources.longest_copied(&turn(TURNS_MAX - 1)), 4);
    assert_eq!(sources.longest_copied(&turn(TURNS_MAX)), 0);
}

#[test]
fn the_trail_keeps_its_newest_entries() {
    let mut trail = Trail::default();
    for nth in 0..=TRAIL_MAX {
        let first = trail.iter().next().map(|trace| trace.at);
        assert_eq!(first, (nth > 0).then_some(Millis(0)));
        trail.push(Trace {
            at: Millis(u64::try_from(nth).unwrap()),
            page_ms: None,
            epoch: Epoch(1),
            turn: None,
            source: Seen::Bar(true).origin(),
            what: Seen::Bar(nth % 2 == 0),
        });
    }
    assert_eq!(trail.iter().count(), TRAIL_MAX);
    assert_eq!(trail.iter().next().map(|trace| trace.at), Some(Millis(1)));
}

fn answer(id: &str, metadata: &serde_json::Value) -> String {
    json!({"message": {"id": id, "author": {"role": "assistant"}, "channel": "final",
        "content": {"content_type": "text", "parts": ["text"]}, "metadata": metadata}})
    .to_string()
}

//= spec C3 type=test
#[test]
fn a_stream_that_weighs_what_it_may_has_a_text_and_one_byte_over_it_has_none() {
    // Two bytes each as text, and a whole value each when decoded.
    let event = answer("a", &json!({ "many": vec![0; 5_000] }));
    let decoded = |held_max| {
        let mut decoder = Decoder::new(held_max);
        decoder.data(&event);
        decoder
    };
    let weighs = decoded(usize::MAX).held();
    assert!(weighs > 10 * event.len());
    assert_eq!(decoded(weighs).text().as_deref(), Some("text"));
    let over = decoded(weighs - 1);
    assert_eq!((over.text(), over.held()), (None, 0));
}

#[test]
fn a_delta_weighs_what_it_adds() {
    let mut decoder = Decoder::new(usize::MAX);
    decoder.data(&answer("a", &json!({})));
    let delta = json!({"p": "/message/content/parts/0", "o": "append", "v": "1"}).to_string();
    decoder.data(&delta);
    let before = decoder.held();
    decoder.data(&json!({"v": "12345"}).to_string());
    assert_eq!(decoder.held(), before + 5);
    assert_eq!(decoder.text().as_deref(), Some("text112345"));
}

#[test]
fn so_much_payload_is_taken_in_and_one_byte_more_is_not() {
    let mut decoder = Decoder::new(usize::MAX);
    let event = answer("a", &json!({}));
    decoder.data(&event);
    // Events that say nothing of the text.
    let rest = super::decode::TAKEN_BYTES_MAX - event.len();
    let filler = |bytes: usize| format!("\"{}\"", "x".repeat(bytes - 2));
    for _ in 0..rest / (1 << 20) {
        decoder.data(&filler(1 << 20));
    }
    decoder.data(&filler(rest % (1 << 20)));
    assert!(decoder.text().is_some());
    decoder.data("1");
    assert_eq!(decoder.text(), None);
}

#[test]
fn so_many_messages_of_a_stream_are_kept_and_the_oldest_goes() {
    let mut decoder = Decoder::new(usize::MAX);
    decoder.data(&answer("first", &json!({})));
    let other = |nth: usize| {
        json!({"message": {"id": format!("t{nth}"), "author": {"role": "tool"},
            "content": {"content_type": "text", "parts": ["tool"]}}})
        .to_string()
    };
    for nth in 1..super::decode::MESSAGES_MAX {
        decoder.data(&other(nth));
    }
    assert!(decoder.text().is_some());
    decoder.data(&other(super::decode::MESSAGES_MAX));
    assert_eq!(decoder.text(), None);
}
