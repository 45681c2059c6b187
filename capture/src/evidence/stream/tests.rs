use serde_json::json;

use super::*;

const OURS: &str = "our message\n\nsecond line";

fn sent(request: &str, text: &str) -> StreamReport {
    let body = json!({"messages": [{"content": {"parts": [text]}}]}).to_string();
    report(
        request,
        StreamEvent::Sent {
            url: "/backend-api/f/conversation".into(),
            body: Some(body.into()),
        },
    )
}

fn report(request: &str, event: StreamEvent) -> StreamReport {
    StreamReport {
        n: 0,
        request: request.into(),
        event,
    }
}

fn stream(events: &[Value]) -> OwnStream {
    let mut stream = OwnStream::default();
    assert!(stream.take(&sent("r", OURS), OURS, None));
    for event in events {
        let data = event
            .as_str()
            .map_or_else(|| event.to_string(), ToOwned::to_owned);
        let data = StreamEvent::Data { data: data.into() };
        stream.take(&report("r", data), OURS, None);
    }
    stream
}

fn message(id: &str, text: &str, status: &str) -> Value {
    json!({"id": id, "author": {"role": "assistant"}, "recipient": "all", "channel": "final",
        "content": {"content_type": "text", "parts": [text]}, "status": status,
        "end_turn": if status == "finished_successfully" { json!(true) } else { Value::Null },
        "metadata": {}})
}

fn whole(message: &Value) -> Value {
    json!({"message": message, "conversation_id": "c", "error": null})
}

#[test]
fn deltas_are_put_together_with_what_they_leave_out() {
    let stream = stream(&[
        json!("\"v1\""),
        json!({"type": "input_message", "input_message": {"id": "u"}}),
        json!({"p": "", "o": "add", "v": whole(&message("a", "", "in_progress")), "c": 0}),
        json!({"p": "/message/content/parts/0", "o": "append", "v": "Grü"}),
        json!({"v": "ße"}),
        json!({"v": "!"}),
        json!({"p": "", "o": "patch", "v": [
            {"p": "/message/content/parts/0", "o": "append", "v": "?"},
            {"p": "/message/status", "o": "replace", "v": "finished_successfully"},
            {"p": "/message/end_turn", "o": "replace", "v": true},
            {"p": "/message/metadata", "o": "append", "v": {"is_complete": true}}]}),
    ]);
    assert_eq!(stream.text().as_deref(), Some("Grüße!?"));
    assert_eq!(stream.end(), Some(EndWitness::StreamFinished));
}

#[test]
fn messages_that_carry_all_so_far_replace_one_another() {
    let stream = stream(&[
        whole(&message("a", "ab", "in_progress")),
        whole(&message("a", "abc", "in_progress")),
        // It gets another id as it finishes.
        whole(&message("b", "abcd", "finished_successfully")),
        json!("[DONE]"),
    ]);
    assert_eq!(stream.text().as_deref(), Some("abcd"));
    assert_eq!(stream.end(), Some(EndWitness::StreamDone));
    assert_eq!(stream.variants(), 1);
}

#[test]
fn a_preamble_thoughts_and_a_tool_are_not_the_answer() {
    let mut preamble = message("p", "Let me look.", "finished_successfully");
    preamble["channel"] = json!("commentary");
    preamble["end_turn"] = json!(false);
    let mut call = message("t", "{}", "finished_successfully");
    call["recipient"] = json!("web.run");
    let thoughts = json!({"id": "h", "author": {"role": "assistant"},
        "content": {"content_type": "thoughts", "thoughts": []}, "status": "finished_successfully"});
    let answer = message("a", "The answer.", "finished_successfully");
    let open = stream(&[whole(&preamble), whole(&thoughts), whole(&call)]);
    assert_eq!(open.text(), None);
    assert_eq!(open.end(), None);
    let done = stream(&[
        whole(&preamble),
        whole(&thoughts),
        whole(&call),
        whole(&answer),
    ]);
    assert_eq!(done.text().as_deref(), Some("The answer."));
}

//= spec C2 type=test
#[test]
fn a_close_alone_says_nothing_and_an_open_or_broken_stream_forbids_another_end() {
    let part = [whole(&message("a", "ab", "in_progress"))];
    let open = stream(&part);
    assert!(!open.cannot_tell());
    for (end, may) in [(StreamEnd::Finished, true), (StreamEnd::Failed, false)] {
        let mut closed = stream(&part);
        closed.take(&report("r", StreamEvent::End(end)), OURS, None);
        assert_eq!(closed.end(), None);
        assert_eq!(closed.cannot_tell(), may, "{end:?}");
    }
    assert!(OwnStream::default().cannot_tell());
}

#[test]
fn a_stream_that_was_answered_and_broke_off_unseen_forbids_another_end() {
    let ended = |code| {
        let mut stream = stream(&[]);
        stream.take(&report("r", StreamEvent::Status { code }), OURS, None);
        stream.take(
            &report("r", StreamEvent::End(StreamEnd::Failed)),
            OURS,
            None,
        );
        stream
    };
    assert!(!ended(200).cannot_tell());
    assert!(ended(500).cannot_tell());
}

#[test]
fn what_is_lost_or_garbled_makes_the_text_no_source_and_the_end_stays() {
    for spoil in [
        json!("{\"v\":"),
        json!({"p": "/message/nowhere/at/all", "o": "append", "v": "x"}),
    ] {
        let stream = stream(&[
            json!({"p": "", "o": "add", "v": whole(&message("a", "x", "in_progress"))}),
            spoil,
            json!("[DONE]"),
        ]);
        assert_eq!(stream.text(), None);
        assert_eq!(stream.end(), Some(EndWitness::StreamDone));
    }
}

#[test]
fn an_error_in_the_stream_is_no_end() {
    let stream = stream(&[
        whole(&message("a", "x", "finished_successfully")),
        json!({"message": null, "error": "at capacity"}),
        json!("[DONE]"),
    ]);
    assert_eq!(stream.end(), None);
    assert!(!stream.cannot_tell());
}

#[test]
fn a_request_that_failed_before_anything_came_may_be_followed_by_another() {
    let mut stream = OwnStream::default();
    stream.take(&sent("r1", OURS), OURS, None);
    stream.take(&report("r1", StreamEvent::Status { code: 500 }), OURS, None);
    stream.take(&sent("r2", OURS), OURS, None);
    let data = StreamEvent::Data {
        data: whole(&message("a", "ok", "finished_successfully"))
            .to_string()
            .into(),
    };
    stream.take(&report("r2", data), OURS, None);
    assert_eq!(stream.text().as_deref(), Some("ok"));
}

//= spec S3 type=test
#[test]
fn only_our_whole_text_in_our_conversation_is_ours() {
    let ours = |text: &str, shown: Option<&str>| {
        let mut body = json!({"messages": [{"content": {"parts": [text]}}]});
        body["conversation_id"] = json!(shown);
        let body = Some(body.to_string().into());
        let url = "/x".into();
        let conversation = ConversationId("c".into());
        OwnStream::default().take(
            &report("r", StreamEvent::Sent { url, body }),
            OURS,
            Some(&conversation),
        )
    };
    assert!(ours(OURS, Some("c")));
    assert!(ours(&format!("{}\r\n", OURS.replace('\n', "\r\n")), None));
    assert!(!ours("our message", Some("c")));
    assert!(!ours(&format!("{OURS}\nand more"), Some("c")));
    assert!(!ours(OURS, Some("other")));
}

#[test]
fn so_many_streams_may_turn_out_to_be_ours_and_the_oldest_goes() {
    let mut stream = OwnStream::default();
    let mut begins = |nth: usize| {
        let data = StreamEvent::Data {
            data: json!({"conversation_id": "c"}).to_string().into(),
        };
        stream.take(&report(&format!("s{nth}"), data), OURS, None);
        let first = stream.others.first().map(|(id, _)| id.clone());
        (stream.others.len(), first)
    };
    for nth in 1..=OTHER_STREAMS_MAX {
        assert_eq!(begins(nth), (nth, Some("s1".to_owned())));
    }
    assert_eq!(
        begins(OTHER_STREAMS_MAX + 1),
        (OTHER_STREAMS_MAX, Some("s2".to_owned()))
    );
}
