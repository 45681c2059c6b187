//! What is not ours is left alone.
#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm, reason = "tests")]

mod common;

use common::site::Site;
use common::{Ends, PATIENCE, Running, config};
use protocol::page::{Answer, Click, What};
use serde_json::Value;

/// Opens a tab as a person would: nothing attaches to it.
async fn open(port: u16, url: &str) -> String {
    let address = format!("http://127.0.0.1:{port}/json/new?{url}");
    let answer = reqwest::Client::new().put(address).send().await.unwrap();
    let tab: Value = answer.json().await.unwrap();
    tab["id"].as_str().unwrap().to_owned()
}

/// The hung tab is hung once its server has heard from it no more.
async fn noticed(site: &Site, what: &str) {
    let heard = async {
        while !site.notices().iter().any(|n| n.contains(what)) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, heard).await.unwrap();
}

//= spec C7 type=test
#[tokio::test]
async fn three_foreign_tabs_one_of_them_hung_are_left_exactly_as_they_were() {
    let site = Site::start().await;
    let mut browser = Running::start(&site).await;
    let port = browser.raw.port;
    let shares_our_origin = site.url("127.0.0.1", "/?tab=home");
    let other_conversation = site.url("127.0.0.1", "/c/other?tab=other");
    let hung = site.url("localhost", "/?tab=hung&hang=1");
    let mut foreign = Vec::new();
    for (url, mark) in [
        (&shares_our_origin, "tab=home"),
        (&hung, "tab=hung"),
        (&other_conversation, "tab=other"),
    ] {
        foreign.push(open(port, url).await);
        noticed(&site, mark).await;
    }
    let theirs = |pages: Vec<Value>| -> Vec<Value> {
        pages
            .into_iter()
            .filter(|page| foreign.iter().any(|id| page["targetId"] == **id))
            .collect()
    };
    let before = theirs(browser.raw.pages().await);
    assert_eq!(before.len(), 3);
    let notices = site.notices();

    let mut wish = config(browser.endpoint(), &site.url("127.0.0.1", "/c/ours"));
    // With the deadlines of calls this short, a client that waited for the
    // hung tab would have given up on it, and closed it, long before the end.
    wish.limits.call_ms = 4_000;
    let (mut ends, attachment) = Ends::attached(wish).await;
    assert!(!foreign.contains(&attachment.target.0));
    assert_eq!(
        ends.submit_composed("a text").await,
        Answer::Submitted(Click::Passed)
    );
    ends.stream().await;
    let mut looks = 0;
    ends.until("eight seconds of looks", |what| match what {
        What::Look(_) => {
            looks += 1;
            (looks == 10).then_some(())
        }
        _ => None,
    })
    .await;

    let during = theirs(browser.raw.pages().await);
    assert_eq!(during, before);
    for page in &during {
        assert_eq!(page["attached"], false, "{page}");
    }
    ends.close().await;
    assert_eq!(theirs(browser.raw.pages().await), before);
    // The tab in front may still be told of the focus it got when it was opened.
    let news: Vec<String> = site.notices().split_off(notices.len());
    assert!(news.iter().all(|n| n == "kind=focus&tab=other"), "{news:?}");
    // The tabs that can still speak say that nothing was done to them.
    for id in [&foreign[0], &foreign[2]] {
        assert_eq!(browser.raw.eval(id, "typeof brb").await, "undefined");
        assert_eq!(browser.raw.eval(id, "clicks").await, 0);
    }
}

#[tokio::test]
async fn several_tabs_on_the_conversation_are_listed_and_none_is_touched() {
    let site = Site::start().await;
    let mut browser = Running::start(&site).await;
    let ours = site.url("127.0.0.1", "/c/ours");
    let mut twins = Vec::new();
    for twin in ["tab=one", "tab=two"] {
        twins.push(open(browser.raw.port, &format!("{ours}?{twin}")).await);
        noticed(&site, twin).await;
    }
    let before = browser.raw.pages().await;
    let mut wish = config(browser.endpoint(), &ours);
    wish.tab.conversation = Some(ours.clone());
    let mut ends = Ends::spawn(wish.clone());
    let (code, detail) = ends.never().await;
    assert_eq!(code, "E_NO_TAB");
    for twin in &twins {
        assert!(detail.contains(twin.as_str()), "{detail}");
    }
    assert_eq!(browser.raw.pages().await, before);

    // Told which, it takes that one.
    wish.tab.id = Some(common::target(&twins[1]));
    ends.control(cdp::Control::Attach(Some(wish.tab))).await;
    let attachment = ends.attachment().await;
    assert_eq!(attachment.target.0, twins[1]);
    ends.close().await;
}

/// What a client that records sees beside one that relays: each has an observer of its own.
#[tokio::test]
async fn two_clients_on_one_tab_do_not_hear_each_other() {
    let site = Site::start().await;
    let browser = Running::start(&site).await;
    let (mut ends, first) =
        common::Ends::attached(config(browser.endpoint(), &site.url("127.0.0.1", "/"))).await;
    let mut beside = config(browser.endpoint(), "about:blank");
    beside.tab.id = Some(first.target.clone());
    beside.scripts.world = "brb-beside".to_owned();
    let (mut other, attachment) = common::Ends::attached(beside).await;
    assert_eq!(attachment.target, first.target);
    let mut seen = (Vec::new(), Vec::new());
    for _ in 0..5 {
        seen.0.push(ends.look(|_| true).await.seq);
        seen.1.push(other.look(|_| true).await.seq);
    }
    other.close().await;
    seen.0.push(ends.look(|_| true).await.seq);
    assert_eq!(ends.epoch.0, 1, "nothing was lost");
    for seen in [seen.0, seen.1] {
        let step = |pair: &[u64]| pair[1] - pair[0];
        assert!(seen.windows(2).all(|pair| step(pair) == 1), "{seen:?}");
    }
    ends.close().await;
}
