use proptest::prelude::*;
use serde_json::json;

use super::*;

#[test]
fn a_text_keeps_its_shape_and_nothing_to_read() {
    let redactor = Redactor::default();
    let text = "# PLAN pi-bridge/1\n\n```sh\nnpm test -- 42\n```\n全部 *done*, Größe: 5 €\u{e200}cite\u{e201}";
    let shown = redactor.text(text);
    assert_eq!(
        shown,
        "# XXXX xx-xxxxxx/1\n\n```xx\nxxx xxxx -- 11\n```\n字字 *xxxx*, Xxxxx: 1 €\u{e200}xxxx\u{e201}"
    );
}

proptest! {
    #[test]
    fn a_text_in_pieces_is_the_text_in_one(one in ".*", two in ".*") {
        let redactor = Redactor::default();
        let whole = redactor.text(&format!("{one}{two}"));
        prop_assert_eq!(&whole, &(redactor.text(&one) + &redactor.text(&two)));
        prop_assert_eq!(whole.chars().count(), one.chars().count() + two.chars().count());
    }

    #[test]
    fn no_html_and_no_data_is_too_strange(text in ".*") {
        let mut redactor = Redactor::default();
        let _ = redactor.html(&text);
        let _ = redactor.html(&format!("<a href=\"{text}\">{text}</a"));
        let _ = redactor.data(&text);
        let _ = redactor.address(&text);
    }
}

#[test]
fn of_json_only_what_is_known_stays() {
    let mut redactor = Redactor::default();
    let event = json!({
        "message": {
            "id": "b1e04bb0-0000-4000-8000-00000000abcd",
            "author": {"role": "assistant", "name": "Jane Roe"},
            "content": {"content_type": "text", "parts": ["Secret word"]},
            "status": "in_progress", "channel": "final", "recipient": "all",
            "create_time": 1_790_000_000.25, "user_email": "jane@example.org",
            "metadata": {"is_variant": true, "account": "acct-77", "finish_details": {"type": "stop"}},
        },
        "conversation_id": "b1e04bb0-0000-4000-8000-00000000abce", "token": "sk-123",
    });
    let shown: Value = serde_json::from_str(&redactor.data(&event.to_string())).unwrap();
    assert_eq!(
        shown,
        json!({
            "message": {
                "id": redactor.id("b1e04bb0-0000-4000-8000-00000000abcd"),
                "author": {"role": "assistant"},
                "content": {"content_type": "text", "parts": ["Xxxxxx xxxx"]},
                "status": "in_progress", "channel": "final", "recipient": "all",
                "metadata": {"is_variant": true, "finish_details": {"type": "stop"}},
            },
            "conversation_id": redactor.id("b1e04bb0-0000-4000-8000-00000000abce"),
        })
    );
    let patch = json!({"p": "", "o": "patch", "v": [
        {"p": "/message/status", "o": "replace", "v": "finished_successfully"},
        {"p": "/message/end_turn", "o": "replace", "v": true},
        {"p": "/message/content/parts/0", "o": "append", "v": "all of it"}]});
    let shown = redactor.data(&patch.to_string());
    assert!(
        shown.contains("finished_successfully") && shown.contains("xxx xx xx"),
        "{shown}"
    );
    assert_eq!(redactor.data("[DONE]"), "[DONE]");
    assert_eq!(redactor.data("\"v1\""), "\"v1\"");
    assert_eq!(redactor.data("token=abc"), "xxxxx=xxx");
}

#[test]
fn of_html_tags_stay_and_texts_go() {
    let mut redactor = Redactor::default();
    let html = "<section data-turn-id=\"b1e04bb0-0000-4000-8000-00000000abcd\" data-owner=\"Jane > Roe\" class=\"w-full\"><p>Tell Jane &amp; co</p><script>let token = 'abc';</script><!-- Jane --><img src=\"https://x.example/u/jane\"></section>";
    let shown = redactor.html(html);
    for word in ["Jane", "jane", "token", "abc"] {
        assert!(!shown.contains(word), "{word}: {shown}");
    }
    assert!(
        shown.contains("class=\"w-full\"") && shown.contains("<p>Xxxx Xxxx &amp; xx</p>"),
        "{shown}"
    );
    let id = redactor.id("b1e04bb0-0000-4000-8000-00000000abcd");
    assert!(shown.contains(&id), "{shown}");
}

#[test]
fn addresses_keep_their_place_and_no_name() {
    let mut redactor = Redactor::default();
    let address = redactor
        .address("https://chat.site.org/c/b1e04bb0-0000-4000-8000-00000000abcd?user=jane#x");
    let id = redactor.id("b1e04bb0-0000-4000-8000-00000000abcd");
    assert_eq!(address, format!("https://chat.example/c/{id}"));
    assert_eq!(
        redactor.address("https://chat.site.org/"),
        "https://chat.example/"
    );
}
