//! Situations of streams, told as the network tells them.

use super::*;
use crate::watch::fetch::DATA_BYTES_MAX;
use crate::watch::net;
use serde_json::{Value, json};

struct Page(Streams);

impl Page {
    fn new() -> Self {
        Self::with(Limits::DEFAULT)
    }
    fn with(limits: Limits) -> Self {
        let paths = vec!["/conversation".to_owned()];
        Self(Streams::new(paths, "MAIN".to_owned(), limits))
    }
    fn tell(&mut self, method: &str, params: Value) -> Vec<Step> {
        let net = net::read(&format!("Network.{method}"), params).unwrap();
        self.0.told(net.expect("an event that concerns streams"))
    }
    fn asks(&mut self, id: &str, request: Value) -> Vec<Step> {
        self.tell(
            "requestWillBeSent",
            json!({ "requestId": id, "frameId": "MAIN", "request": request }),
        )
    }
    fn posts(&mut self, id: &str) -> Vec<Step> {
        self.asks(
            id,
            json!({ "url": "https://chat.test/api/conversation?x=1", "method": "POST",
                    "hasPostData": true, "postData": "our text" }),
        )
    }
    fn answered(&mut self, id: &str, status: u16, mime: &str) -> Vec<Step> {
        let response = json!({ "status": status, "mimeType": mime });
        self.tell(
            "responseReceived",
            json!({ "requestId": id, "response": response }),
        )
    }
    fn bytes(&mut self, id: &str, bytes: &[u8]) -> Vec<Step> {
        let data = STANDARD.encode(bytes);
        self.tell("dataReceived", json!({ "requestId": id, "data": data }))
    }
    fn finished(&mut self, id: &str) -> Vec<Step> {
        self.tell("loadingFinished", json!({ "requestId": id }))
    }
    /// A stream whose content comes.
    fn flowing() -> Self {
        let mut page = Self::new();
        page.posts("1");
        page.answered("1", 200, "text/event-stream");
        page.0.opened("1", Some(String::new()));
        page
    }
}

fn said(id: &str, event: StreamEvent) -> Step {
    Step::Report(StreamReport {
        n: 0,
        request: id.to_owned(),
        event,
    })
}
fn data(text: &str) -> Step {
    said("1", StreamEvent::Data { data: text.into() })
}
fn end(end: StreamEnd) -> Step {
    said("1", StreamEvent::End(end))
}
fn sent(body: Option<&str>) -> Step {
    said(
        "1",
        StreamEvent::Sent {
            url: "https://chat.test/api/conversation".to_owned(),
            body: body.map(Private::from),
        },
    )
}
fn status(code: u16) -> Step {
    said("1", StreamEvent::Status { code })
}

#[test]
fn the_first_part_comes_before_what_arrived_while_it_was_asked_for() {
    let mut page = Page::new();
    assert_eq!(page.posts("1"), [sent(Some("our text"))]);
    assert_eq!(
        page.answered("1", 200, "text/event-stream"),
        [status(200), Step::AskContent("1".to_owned())]
    );
    // Cut in the middle of a character, between what is asked for and what comes.
    let text = "data: 你\n\n".as_bytes();
    assert_eq!(page.bytes("1", &text[7..]), []);
    let first = STANDARD.encode(&text[..7]);
    assert_eq!(page.0.opened("1", Some(first)), [data("你")]);
    assert_eq!(page.bytes("1", b"data: [DONE]\n\n"), [data("[DONE]")]);
    assert_eq!(page.finished("1"), [end(StreamEnd::Finished)]);
    assert_eq!(page.finished("1"), [], "an end is told once");
}

#[test]
fn a_stream_that_ended_before_it_could_be_asked_for_is_taken_whole() {
    let mut page = Page::new();
    page.posts("1");
    page.answered("1", 200, "text/event-stream");
    assert_eq!(page.finished("1"), []);
    assert_eq!(page.0.opened("1", None), [Step::AskWhole("1".to_owned())]);
    assert_eq!(
        page.0.whole("1", Some(b"data: all\n\n".to_vec())),
        [data("all"), end(StreamEnd::Finished)]
    );
}

#[test]
fn content_that_cannot_be_had_leaves_a_gap_before_the_end() {
    let mut page = Page::new();
    page.posts("1");
    page.answered("1", 200, "text/event-stream");
    assert_eq!(page.0.opened("1", None), []);
    assert_eq!(page.bytes("1", b"data: lost\n\n"), []);
    assert_eq!(page.finished("1"), [Step::AskWhole("1".to_owned())]);
    assert_eq!(
        page.0.whole("1", None),
        [end(StreamEnd::Gap), end(StreamEnd::Finished)]
    );
}

#[test]
fn a_body_that_was_not_told_is_asked_for_and_reported_first() {
    let mut page = Page::new();
    let request = json!({ "url": "https://chat.test/api/conversation", "method": "POST",
                          "hasPostData": true });
    assert_eq!(page.asks("1", request), [Step::AskBody("1".to_owned())]);
    assert_eq!(page.answered("1", 500, "text/html"), []);
    assert_eq!(page.finished("1"), []);
    assert_eq!(
        page.0.body("1", Some("late".to_owned())),
        [sent(Some("late")), status(500), end(StreamEnd::Finished)]
    );
    assert_eq!(
        page.posts("1"),
        [sent(Some("our text"))],
        "it was let go of"
    );
}

#[test]
fn an_answer_that_is_no_event_stream_is_told_by_its_status_alone() {
    let mut page = Page::new();
    page.posts("1");
    assert_eq!(page.answered("1", 429, "text/event-stream"), [status(429)]);
    assert_eq!(page.bytes("1", b"data: no\n\n"), []);
    assert_eq!(
        page.tell("loadingFailed", json!({ "requestId": "1" })),
        [end(StreamEnd::Failed)]
    );
}

#[test]
fn other_requests_other_frames_and_streams_from_before_are_none_of_ours() {
    let mut page = Page::new();
    let url = "https://chat.test/api/conversation";
    for request in [
        json!({ "url": url, "method": "GET" }),
        json!({ "url": "https://chat.test/other?conversation", "method": "POST" }),
    ] {
        assert_eq!(page.asks("1", request), []);
    }
    let params = json!({ "requestId": "1", "frameId": "AD",
                         "request": { "url": url, "method": "POST" } });
    assert_eq!(page.tell("requestWillBeSent", params), []);
    assert_eq!(page.answered("1", 200, "text/event-stream"), []);
    assert_eq!(page.bytes("1", b"data: x\n\n"), []);
    assert_eq!(page.finished("1"), []);
}

#[test]
fn a_redirect_is_one_request() {
    let mut page = Page::new();
    assert_eq!(page.posts("1").len(), 1);
    assert_eq!(page.posts("1"), []);
}

#[test]
fn over_its_limit_a_stream_says_so_once_and_ends_as_the_transport_does() {
    let limits = Limits {
        stream_bytes_max: 20,
        observation_bytes_max: 18,
        ..Limits::DEFAULT
    };
    let mut page = Page::with(limits);
    page.posts("1");
    page.answered("1", 200, "text/event-stream");
    page.0.opened("1", Some(String::new()));
    assert_eq!(page.bytes("1", b"data: 12345678\n\n"), [data("12345678")]);
    assert_eq!(page.bytes("1", b": 12"), [], "twenty bytes are within it");
    assert_eq!(page.bytes("1", b"3"), [end(StreamEnd::Overflow)]);
    assert_eq!(page.bytes("1", b"\n\ndata: x\n\n"), []);
    assert_eq!(page.finished("1"), [end(StreamEnd::Finished)]);
}

#[test]
fn what_is_not_text_or_not_base64_is_told_as_such() {
    let mut page = Page::flowing();
    let steps = page.bytes("1", b"data: \xff\n\n");
    assert!(
        matches!(steps.as_slice(), [Step::Malformed { len: 1, .. }, gap] if *gap == end(StreamEnd::Gap)),
        "{steps:?}"
    );
    let steps = page.tell("dataReceived", json!({ "requestId": "1", "data": "%%" }));
    assert!(matches!(steps.as_slice(), [Step::Malformed { .. }]));
    assert_eq!(page.bytes("1", b"data: on\n\n"), [data("on")]);
}

#[test]
fn more_streams_than_are_followed_are_told_as_overflow() {
    let mut page = Page::new();
    for n in 0..STREAMS_MAX {
        assert_eq!(page.posts(&format!("r{n}")).len(), 1);
    }
    assert_eq!(page.posts("1"), [end(StreamEnd::Overflow)]);
    page.finished("r0");
    assert_eq!(page.posts("1"), [sent(Some("our text"))]);
}

fn socket(frames: &[&str]) -> Vec<Step> {
    let mut page = Page::new();
    let url = "wss://chat.test/conversation/7?token=secret";
    let mut steps = page.tell("webSocketCreated", json!({ "requestId": "1", "url": url }));
    assert_eq!(
        steps.remove(0),
        said(
            "1",
            StreamEvent::Sent {
                url: "wss://chat.test/conversation/7".to_owned(),
                body: None
            }
        )
    );
    for frame in frames {
        let response = json!({ "opcode": 1.0, "payloadData": frame });
        let params = json!({ "requestId": "1", "response": response });
        steps.extend(page.tell("webSocketFrameReceived", params));
    }
    steps.extend(page.tell("webSocketClosed", json!({ "requestId": "1" })));
    steps
}

#[test]
fn a_sockets_frames_are_pieces_of_a_stream_where_they_look_like_one() {
    let ended = end(StreamEnd::Finished);
    assert_eq!(
        socket(&["data: a", "b\n", "\nid: 1\n\n"]),
        [data("ab"), end(StreamEnd::Finished)]
    );
    let wrap = |text: &str| json!({ "body": STANDARD.encode(text) }).to_string();
    assert_eq!(
        socket(&[&wrap("data: a"), &wrap("b\n\n")]),
        [data("ab"), end(StreamEnd::Finished)]
    );
    assert_eq!(
        socket(&["{\"v\":1}", "data: x"]),
        [data("{\"v\":1}"), data("data: x"), ended]
    );
}

#[test]
fn a_binary_frame_is_told_as_what_does_not_parse() {
    let mut page = Page::new();
    let url = "wss://chat.test/conversation/7";
    page.tell("webSocketCreated", json!({ "requestId": "1", "url": url }));
    let response = json!({ "opcode": 2, "payloadData": "AAAA" });
    let params = json!({ "requestId": "1", "response": response });
    let steps = page.tell("webSocketFrameReceived", params);
    assert!(matches!(steps.as_slice(), [Step::Malformed { len: 4, .. }]));
}

#[test]
fn an_event_of_another_shape_does_not_parse_and_one_of_no_concern_is_none() {
    assert!(net::read("Network.dataReceived", json!({})).is_err());
    assert!(
        net::read("Network.policyUpdated", json!({}))
            .unwrap()
            .is_none()
    );
    // A value newer than anything known is no matter.
    let odd = json!({ "requestId": "1", "type": "Quantum", "frameId": "MAIN",
        "request": { "url": "https://chat.test/", "method": "TELEPORT", "newField": [] } });
    assert!(
        net::read("Network.requestWillBeSent", odd)
            .unwrap()
            .is_some()
    );
}

fn framed(reply: &str, text: &str) -> String {
    json!({ "body": STANDARD.encode(text), "conversation_id": "c", "response_id": reply })
        .to_string()
}

#[test]
fn replies_that_share_a_socket_are_streams_of_their_own() {
    let mut page = Page::new();
    let url = "wss://chat.test/conversation/7";
    page.tell("webSocketCreated", json!({ "requestId": "1", "url": url }));
    let mut frame = |reply: &str, text: &str| {
        let response = json!({ "opcode": 1.0, "payloadData": framed(reply, text) });
        page.tell(
            "webSocketFrameReceived",
            json!({ "requestId": "1", "response": response }),
        )
    };
    let of = |id: &str, text: &str| said(id, StreamEvent::Data { data: text.into() });
    assert_eq!(frame("a", "data: one"), []);
    assert_eq!(frame("b", "data: two\n\n"), [of("1 c/b", "two")]);
    assert_eq!(frame("a", "\n\n"), [of("1 c/a", "one")]);
    // More of them than are followed: the oldest is let go of.
    for reply in ["x", "y"] {
        assert_eq!(
            frame(reply, "data: n\n\n"),
            [of(&format!("1 c/{reply}"), "n")]
        );
    }
    assert_eq!(
        frame("z", "data: n\n\n"),
        [
            said("1 c/a", StreamEvent::End(StreamEnd::Overflow)),
            of("1 c/z", "n")
        ]
    );
    let ends = page.tell("webSocketClosed", json!({ "requestId": "1" }));
    assert_eq!(ends.len(), 5);
}

fn fetched(page: &mut Page, url: &str, mime: &str, len: u64) -> Vec<Step> {
    page.asks("9", json!({ "url": url, "method": "GET" }));
    page.answered("9", 200, mime);
    page.tell(
        "dataReceived",
        json!({ "requestId": "9", "dataLength": len }),
    );
    page.finished("9")
}

#[test]
fn data_that_the_page_fetched_are_read_whole_and_never_asked_of_the_server() {
    let url = "https://chat.test/api/conversation/7?x=1";
    let mut page = Page::new();
    assert_eq!(
        fetched(&mut page, url, "application/json", 5),
        [Step::AskData("9".to_owned())]
    );
    let body = StreamEvent::Fetched {
        url: "https://chat.test/api/conversation/7".to_owned(),
        body: "{}".into(),
    };
    assert_eq!(page.0.data("9", Some(b"{}".to_vec())), [said("9", body)]);
    assert_eq!(page.0.data("9", Some(b"{}".to_vec())), []);
    let max = DATA_BYTES_MAX as u64;
    assert_eq!(fetched(&mut page, url, "application/json", max).len(), 1);
    assert_eq!(page.0.data("9", None), [], "it could not be had");
    assert_eq!(fetched(&mut page, url, "application/json", max + 1), []);
    assert_eq!(fetched(&mut page, url, "text/html", 5), []);
    let other = "https://chat.test/api/conversation/7/files";
    assert_eq!(fetched(&mut page, other, "application/json", 5), []);
}
