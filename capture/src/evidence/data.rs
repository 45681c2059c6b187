//! The data of a conversation that the page itself fetched: does it hold our
//! message, and is the reply to it finished?
//!
//! A tree of messages; what is shown is the path from its current one up to the
//! root (sources EXP, 2026; medium). It is read only, and never asked for.

use std::collections::BTreeMap;

use protocol::page::{ConversationId, TurnId};
use protocol::wire::canonical;
use serde::Deserialize;
use serde_json::Value;

use super::decode::{is_answer, is_cut_for_length, is_finished, text_of};
use super::weight;

/// What the data say of the reply to our message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Told {
    /// Our own message.
    pub(crate) own: TurnId,
    /// The reply.
    pub(crate) turn: TurnId,
    /// Its Markdown.
    pub(crate) text: String,
    /// The server says that it ended its turn with it.
    pub(crate) finished: bool,
    /// The server stopped it for its length (C8).
    pub(crate) truncated: bool,
}

#[derive(Deserialize)]
struct Thread {
    conversation_id: Option<String>,
    current_node: Option<String>,
    mapping: BTreeMap<String, Node>,
}

#[derive(Deserialize)]
struct Node {
    #[serde(default)]
    message: Value,
    parent: Option<String>,
}

/// Reads one answer of the page's server: none where it is not the data of our
/// conversation; nothing told where our whole message is not the last one of our
/// side on the path shown, or where no reply follows it.
//= spec C1
pub(crate) fn read(
    body: &str,
    url: &str,
    ours: &str,
    conversation: Option<&ConversationId>,
) -> Option<Option<Told>> {
    let thread: Thread = serde_json::from_str(body).ok()?;
    let named = thread
        .conversation_id
        .as_deref()
        .or_else(|| url.trim_end_matches('/').rsplit('/').next());
    // Before the conversation is bound nobody can tell whether it is ours.
    if named != conversation.map(|id| id.0.as_str()) {
        return None;
    }
    Some(reply_in(&thread, ours))
}

fn reply_in(thread: &Thread, ours: &str) -> Option<Told> {
    let mut replies: Vec<&Value> = Vec::new();
    let mut at = thread.current_node.as_deref();
    // A path is no longer than the tree is large; a hostile one may go round.
    for _ in 0..thread.mapping.len() {
        let node = thread.mapping.get(at?)?;
        let message = &node.message;
        if message["author"]["role"] == "user" {
            let text = text_of(message)?;
            if canonical(&text) != canonical(ours) {
                return None;
            }
            return told(message, &replies);
        }
        if is_answer(message) && message["metadata"]["is_variant"] != true {
            replies.push(message);
        }
        at = node.parent.as_deref();
    }
    None
}

/// The newest of the replies that is an answer, not a preamble.
fn told(own: &Value, newest_first: &[&Value]) -> Option<Told> {
    let of = |channel: &Value| newest_first.iter().find(|one| one["channel"] == *channel);
    let reply = of(&Value::from("final")).or_else(|| of(&Value::Null))?;
    let id = |message: &Value| {
        let id = message["id"].as_str().filter(|id| weight::fits(id))?;
        Some(TurnId(id.to_owned()))
    };
    Some(Told {
        own: id(own)?,
        turn: id(reply)?,
        text: text_of(reply)?,
        finished: is_finished(reply) && reply["end_turn"] == true,
        truncated: is_cut_for_length(reply),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const OURS: &str = "our message\n\nsecond line";

    fn message(id: &str, role: &str, text: &str, status: &str) -> Value {
        json!({"id": id, "author": {"role": role}, "status": status, "channel": "final",
            "recipient": "all", "content": {"content_type": "text", "parts": [text]},
            "end_turn": status == "finished_successfully", "metadata": {}})
    }

    fn body(nodes: &[(&str, &str, Value)], current: &str) -> String {
        let mapping: serde_json::Map<_, _> = nodes
            .iter()
            .map(|(id, parent, message)| {
                let node = json!({"id": id, "parent": parent, "message": message, "children": []});
                ((*id).to_owned(), node)
            })
            .collect();
        json!({"conversation_id": "c", "current_node": current, "mapping": mapping}).to_string()
    }

    fn tell(body: &str) -> Option<Told> {
        let conversation = ConversationId("c".into());
        read(
            body,
            "/backend-api/conversation/c",
            OURS,
            Some(&conversation),
        )
        .flatten()
    }

    fn exchange(text: &str, status: &str) -> Vec<(&'static str, &'static str, Value)> {
        vec![
            ("root", "", Value::Null),
            (
                "u1",
                "root",
                message("u1", "user", OURS, "finished_successfully"),
            ),
            ("a1", "u1", message("a1", "assistant", text, status)),
        ]
    }

    //= spec C2 type=test
    #[test]
    fn a_reply_is_finished_where_the_server_ended_its_turn_with_it() {
        let done = tell(&body(&exchange("all", "finished_successfully"), "a1")).unwrap();
        assert!(done.finished && !done.truncated);
        assert_eq!((done.text.as_str(), done.turn.0.as_str()), ("all", "a1"));
        let running = tell(&body(&exchange("al", "in_progress"), "a1")).unwrap();
        assert!(!running.finished);
        let cut = tell(&body(&exchange("al", "finished_partial_completion"), "a1")).unwrap();
        assert!(cut.truncated && !cut.finished);
        let mut call = exchange("all", "finished_successfully");
        call[2].2["end_turn"] = json!(false);
        assert!(!tell(&body(&call, "a1")).unwrap().finished);
    }

    //= spec C1 type=test
    #[test]
    fn data_of_another_message_conversation_or_branch_say_nothing() {
        let good = exchange("all", "finished_successfully");
        let mut foreign = good.clone();
        foreign[1].2["content"]["parts"][0] = json!("another message");
        assert_eq!(tell(&body(&foreign, "a1")), None);
        let mut followed = good.clone();
        followed.push((
            "u2",
            "a1",
            message("u2", "user", "and more", "finished_successfully"),
        ));
        followed.push((
            "a2",
            "u2",
            message("a2", "assistant", "x", "finished_successfully"),
        ));
        assert_eq!(tell(&body(&followed, "a2")), None);
        assert_eq!(tell(&body(&good, "u1")), None, "no reply on the path shown");
        let whole = body(&good, "a1");
        assert_eq!(read(&whole, "/c", OURS, None), None);
        let other = ConversationId("d".into());
        assert_eq!(read(&whole, "/d", OURS, Some(&other)), None);
    }

    #[test]
    fn what_is_hostile_is_no_data() {
        for text in [
            "",
            "{",
            "[]",
            "{\"mapping\":{}}",
            "{\"mapping\":[],\"current_node\":\"a\"}",
        ] {
            assert_eq!(tell(text), None, "{text}");
        }
        let round = body(
            &[
                (
                    "a1",
                    "a2",
                    message("a1", "assistant", "x", "finished_successfully"),
                ),
                (
                    "a2",
                    "a1",
                    message("a2", "assistant", "y", "finished_successfully"),
                ),
            ],
            "a1",
        );
        assert_eq!(tell(&round), None);
    }
}
