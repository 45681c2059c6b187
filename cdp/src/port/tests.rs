//! Situations of a slow taker.

use super::*;
use protocol::page::{Answer, Beat, CallId, Pulse};
use protocol::text::Private;

fn look(seq: u64) -> What {
    let look = serde_json::json!({
        "seq": seq, "page_ms": 0, "address": "", "place": "fresh", "layout": null,
        "hydrated": false, "turns_shown": 0, "tail": [],
        "composer": { "present": false, "send": "absent" },
    });
    What::Look(Box::new(serde_json::from_value(look).unwrap()))
}
fn data(len: usize) -> What {
    What::Stream(StreamReport {
        n: 0,
        request: "r".to_owned(),
        event: StreamEvent::Data {
            data: Private::from("x".repeat(len)),
        },
    })
}
fn gap() -> What {
    What::Stream(StreamReport {
        n: 0,
        request: "r".to_owned(),
        event: StreamEvent::End(StreamEnd::Gap),
    })
}
fn answer(call: u64) -> What {
    What::Answer {
        call: CallId(call),
        answer: Answer::Done,
    }
}

/// Without its number.
fn bare(mut what: What) -> What {
    if let What::Stream(report) = &mut what {
        report.n = 0;
    }
    what
}

#[tokio::test]
async fn reports_of_streams_are_counted_in_each_epoch() {
    let (_commands, mut observations, port) = port();
    for (epoch, what) in [(1, data(1)), (1, answer(1)), (1, data(1)), (2, data(1))] {
        port.out.push(Epoch(epoch), what);
    }
    drop(port);
    let mut numbers = Vec::new();
    while let Some(next) = observations.recv().await {
        if let What::Stream(report) = next.what {
            numbers.push(report.n);
        }
    }
    assert_eq!(numbers, [1, 2, 1]);
}

/// Everything that comes out after all of this was put in and the driver ended.
async fn through(put: impl IntoIterator<Item = What>) -> Vec<What> {
    let (_commands, mut observations, port) = port();
    for what in put {
        port.out.push(Epoch(1), what);
    }
    drop(port);
    let mut out = Vec::new();
    while let Some(next) = observations.recv().await {
        out.push(bare(next.what));
    }
    out
}

#[tokio::test]
async fn old_looks_give_way_and_the_newest_always_comes() {
    let max = u64::try_from(LOOKS_MAX).unwrap();
    let all = through((1..=max).map(look)).await;
    assert_eq!(all.len(), LOOKS_MAX);
    let out = through((1..=max + 1).map(look)).await;
    assert_eq!(out.len(), LOOKS_MAX);
    assert_eq!(out[0], look(2));
    assert_eq!(out.last(), Some(&look(max + 1)));
}

#[tokio::test]
async fn looks_never_push_out_an_answer_or_a_piece_of_a_stream() {
    let mut put = vec![answer(1), data(3)];
    put.extend((1..=100).map(look));
    put.push(answer(2));
    let out = through(put).await;
    assert_eq!(out[..2], [answer(1), data(3)]);
    assert_eq!(out.last(), Some(&answer(2)));
}

#[tokio::test]
async fn a_piece_of_a_stream_that_finds_no_room_leaves_one_gap() {
    let out = through([data(STREAM_BYTES_MAX), data(1), data(1), answer(1)]).await;
    assert_eq!(out, [data(STREAM_BYTES_MAX), gap(), answer(1)]);
    let (_commands, mut observations, port) = port();
    port.out.push(Epoch(1), data(STREAM_BYTES_MAX));
    port.out.push(Epoch(1), data(1));
    assert_eq!(
        observations.recv().await.map(|o| bare(o.what)),
        Some(data(STREAM_BYTES_MAX))
    );
    // There is room again.
    port.out.push(Epoch(1), data(2));
    assert_eq!(observations.recv().await.map(|o| bare(o.what)), Some(gap()));
    assert_eq!(
        observations.recv().await.map(|o| bare(o.what)),
        Some(data(2))
    );
}

#[tokio::test]
async fn of_beats_only_the_latest_waits() {
    let beat = |browser, renderer| What::Beat(Beat { browser, renderer });
    let missed = beat(Pulse::Alive, Pulse::Missed);
    let alive = beat(Pulse::Alive, Pulse::Alive);
    assert_eq!(
        through([missed.clone(), alive.clone(), missed]).await.len(),
        1
    );
    assert_eq!(through([alive.clone()]).await, [alive]);
}

#[tokio::test]
async fn a_port_that_nobody_takes_from_is_closed_in_the_end() {
    let (_commands, observations, port) = port();
    for call in 0..=u64::try_from(ALL_MAX).unwrap() {
        assert!(!port.out.is_closed());
        port.out.push(Epoch(1), answer(call));
    }
    port.out.closed().await;
    drop(observations);
}

#[tokio::test]
async fn a_driver_sees_that_its_taker_is_gone() {
    let (_commands, observations, port) = port();
    assert!(!port.out.is_closed());
    drop(observations);
    port.out.closed().await;
}
