//! The driver on a real browser: the main way, and what it leaves alone.

mod common;

use common::site::Site;
use common::{Ends, Profile, config};
use protocol::page::{Answer, Ask, Click, StreamEnd, StreamEvent, TurnId};

#[tokio::test]
async fn from_launch_to_a_reply_and_its_copy() {
    let site = Site::start().await;
    let profile = Profile::new();
    let (mut ends, attachment) =
        Ends::attached(config(profile.launch(), &site.url("127.0.0.1", "/"))).await;
    assert!(attachment.browser.contains("Chrome/"), "{attachment:?}");
    assert_eq!(attachment.address, site.url("127.0.0.1", "/"));
    let look = ends.look(|l| l.layout.is_some()).await;
    assert!(look.is_idle() && look.turns_shown == 0);

    let text = "第一行\n\n  <b>not bold</b> & \"quotes\"\t.\n";
    let Answer::Composed(composed) = ends.compose(text, &[]).await else {
        panic!("not composed: {:#?}", ends.past.last())
    };
    assert_eq!(composed.how, "paste");
    assert_eq!(composed.chars as usize, text.chars().count());
    assert_eq!(ends.submit(text).await, Answer::Submitted(Click::Passed));

    let stream = ends.stream().await;
    let body = serde_json::json!({ "text": text }).to_string();
    let data = |d: &str| StreamEvent::Data { data: d.into() };
    assert_eq!(
        stream,
        [
            StreamEvent::Sent {
                url: site.url("127.0.0.1", "/conversation"),
                body: Some(body.clone().into()),
            },
            StreamEvent::Status { code: 200 },
            data("{\"v\":\"你好\"}"),
            data("second"),
            data("[DONE]"),
            StreamEvent::End(StreamEnd::Finished),
        ]
    );
    assert_eq!(site.bodies(), [body]);
    ends.look(|l| l.turns_shown == 2).await;

    let copied = ends
        .ask(Ask::Copy {
            turn: TurnId("t2".into()),
        })
        .await;
    assert_eq!(
        copied,
        Answer::Copied {
            turn: TurnId("t2".into()),
            text: "# source of\n\nt2".into(),
        }
    );
    ends.close().await;
}
