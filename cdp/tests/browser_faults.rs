//! What can happen to a link, a tab, a renderer and a browser, with real ones.
#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm, reason = "tests")]

mod common;

use cdp::{Control, Endpoint};
use common::proxy::{Fault, Proxy};
use common::site::Site;
use common::{Ends, Profile, Running, config};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use protocol::page::{
    Answer, Ask, AttachCause, Beat, CallFailure, Click, ConversationId, Loss, Pulse, Refusal, What,
};
use serde_json::json;

const NOTHING_MORE: Option<cdp::TabWish> = None;

//= case h1
#[tokio::test]
async fn every_kind_of_dropped_socket_is_told_and_the_same_tab_is_attached_again() {
    let site = Site::start().await;
    let browser = Running::start(&site).await;
    let proxy = Proxy::start(browser.raw.port).await;
    let endpoint = Endpoint::Http(format!("http://127.0.0.1:{}", proxy.port));
    let mut config = config(endpoint, &site.url("127.0.0.1", "/"));
    // Only the socket itself and the heartbeats can tell.
    config.limits.renderer_ms = 600_000;
    config.limits.read_ms = 600_000;
    let (mut ends, first) = Ends::attached(config).await;
    for fault in [Fault::Fin, Fault::Rst, Fault::CloseFrame, Fault::BlackHole] {
        ends.look(|_| true).await;
        let epoch = ends.epoch;
        proxy.set(fault);
        // Asked into the dead link: answered all the same, before the loss.
        let call = ends.tell(Ask::Read).await;
        assert_eq!(
            ends.answer(call).await,
            Answer::Failed(CallFailure::Lost),
            "{fault:?}"
        );
        let loss = ends.loss().await;
        assert!(matches!(loss, Loss::Link { .. }), "{fault:?}: {loss:?}");
        let late = ends.ask(Ask::Look).await;
        assert_eq!(late, Answer::Refused(Refusal::Stale));
        proxy.set(Fault::None);
        ends.control(Control::Attach(NOTHING_MORE)).await;
        let again = ends.attachment().await;
        assert_eq!(again.cause, AttachCause::Link, "{fault:?}");
        assert_eq!(again.target, first.target);
        assert_eq!(ends.epoch.0, epoch.0 + 1);
    }
    ends.look(|_| true).await;
    ends.close().await;
}

//= case h2
#[tokio::test]
async fn a_reload_and_a_navigation_begin_an_epoch_with_a_look_each() {
    let site = Site::start().await;
    let mut browser = Running::start(&site).await;
    let url = site.url("127.0.0.1", "/");
    let (mut ends, attachment) = Ends::attached(config(browser.endpoint(), &url)).await;
    let session = browser.raw.session(&attachment.target.0).await;
    ends.look(|_| true).await;

    let stale = ends.epoch;
    assert_eq!(ends.ask(Ask::Reload).await, Answer::Done);
    assert_eq!(ends.loss().await, Loss::Document);
    let again = ends.attachment().await;
    assert_eq!(again.cause, AttachCause::Document);
    assert_eq!(ends.epoch.0, stale.0 + 1);
    ends.look(|look| look.composer.present).await;

    for path in ["/c/one", "/c/two"] {
        let to = site.url("localhost", path);
        browser
            .raw
            .call(Some(&session), "Page.navigate", json!({ "url": to }))
            .await;
        assert_eq!(ends.loss().await, Loss::Document);
        assert_eq!(ends.attachment().await.address, to);
        ends.look(|look| look.address == to).await;
    }
    // Back to a document that the browser may have kept.
    browser
        .raw
        .eval_and_leave(&attachment.target.0, "history.back()")
        .await;
    assert_eq!(ends.loss().await, Loss::Document);
    assert!(ends.attachment().await.address.ends_with("/c/one"));
    ends.look(|look| look.address.ends_with("/c/one")).await;

    // A command from before is not carried out in the new document.
    ends.epoch = stale;
    let call = ends.tell(Ask::Look).await;
    let answer = ends
        .until("answer", |what| match what {
            What::Answer { call: c, answer } if *c == call => Some(answer.clone()),
            _ => None,
        })
        .await;
    assert_eq!(answer, Answer::Refused(Refusal::Stale));
    ends.close().await;
}

//= case h3
#[tokio::test]
async fn a_closed_tab_is_told_and_opened_anew_only_when_asked() {
    let site = Site::start().await;
    let mut browser = Running::start(&site).await;
    let url = site.url("127.0.0.1", "/c/ours");
    let (mut ends, attachment) = Ends::attached(config(browser.endpoint(), &url)).await;
    let params = json!({ "targetId": attachment.target.0 });
    browser.raw.call(None, "Target.closeTarget", params).await;
    assert_eq!(ends.loss().await, Loss::TabClosed);
    let pages = browser.raw.pages().await.len();
    // Without leave to open one there is none.
    let wish = cdp::TabWish {
        conversation: Some(url.clone()),
        ..cdp::TabWish::default()
    };
    ends.control(Control::Attach(Some(wish.clone()))).await;
    assert_eq!(ends.never().await.0, "E_NO_TAB");
    assert_eq!(browser.raw.pages().await.len(), pages);
    let wish = cdp::TabWish {
        open_at: Some(url),
        ..wish
    };
    ends.control(Control::Attach(Some(wish))).await;
    let again = ends.attachment().await;
    assert_eq!(again.cause, AttachCause::Document);
    assert_ne!(again.target, attachment.target);
    ends.close().await;
}

#[tokio::test]
async fn a_session_ended_by_another_client_is_not_a_closed_tab() {
    let site = Site::start().await;
    let browser = Running::start(&site).await;
    let url = site.url("127.0.0.1", "/c/ours");
    let (mut ends, first) = Ends::attached(config(browser.endpoint(), &url)).await;
    assert_eq!(ends.ask(Ask::Detach).await, Answer::Done);
    let late = ends.ask(Ask::Look).await;
    assert_eq!(late, Answer::Refused(Refusal::Stale));
    ends.control(Control::Attach(NOTHING_MORE)).await;
    assert_eq!(ends.attachment().await.target, first.target);
    ends.look(|_| true).await;
    ends.close().await;
}

//= case h5
#[tokio::test]
async fn a_crashed_renderer_is_told_and_brought_back() {
    let site = Site::start().await;
    let mut browser = Running::start(&site).await;
    let url = site.url("127.0.0.1", "/");
    let (mut ends, attachment) = Ends::attached(config(browser.endpoint(), &url)).await;
    let session = browser.raw.session(&attachment.target.0).await;
    browser
        .raw
        .send(Some(&session), "Page.crash", json!({}))
        .await;
    assert_eq!(ends.loss().await, Loss::RendererCrashed);
    ends.control(Control::Attach(NOTHING_MORE)).await;
    let again = ends.attachment().await;
    assert_eq!(again.cause, AttachCause::Renderer);
    assert_eq!(again.target, attachment.target);
    ends.look(|look| look.composer.present).await;
    ends.close().await;
}

//= case h5
#[tokio::test]
async fn a_renderer_in_a_loop_is_told_and_cured_with_its_state_kept() {
    let site = Site::start().await;
    let mut browser = Running::start(&site).await;
    let url = site.url("127.0.0.1", "/");
    let (mut ends, attachment) = Ends::attached(config(browser.endpoint(), &url)).await;
    let tab = attachment.target.0.clone();
    browser.raw.eval(&tab, "window.kept = 7").await;
    browser.raw.eval_and_leave(&tab, "for (;;);").await;
    let call = ends.tell(Ask::Read).await;
    assert_eq!(ends.loss().await, Loss::RendererHung);
    let answered = ends.past.iter().any(|seen| {
        seen.what
            == What::Answer {
                call,
                answer: Answer::Failed(CallFailure::Lost),
            }
    });
    assert!(answered, "{:#?}", ends.past);
    ends.control(Control::Attach(NOTHING_MORE)).await;
    let again = ends.attachment().await;
    assert_eq!(again.cause, AttachCause::Renderer);
    assert_eq!(again.target, attachment.target);
    ends.look(|look| look.composer.present).await;
    assert_eq!(browser.raw.eval(&tab, "window.kept").await, 7);
    ends.close().await;
}

//= case h5
//= spec RP8 type=test
#[tokio::test]
async fn a_renderer_in_a_loop_is_loaded_anew_once_the_conversation_is_known() {
    let site = Site::start().await;
    let mut browser = Running::start(&site).await;
    let url = site.url("127.0.0.1", "/");
    let (mut ends, attachment) = Ends::attached(config(browser.endpoint(), &url)).await;
    ends.control(Control::Bind(ConversationId("one".into())))
        .await;
    let tab = attachment.target.0.clone();
    // The loop of a page that would have gone on: ended, it never does.
    browser.raw.eval(&tab, "window.kept = 7").await;
    browser.raw.eval_and_leave(&tab, "for (;;);").await;
    assert_eq!(ends.loss().await, Loss::RendererHung);
    ends.control(Control::Attach(NOTHING_MORE)).await;
    let again = ends.attachment().await;
    assert_eq!(again.cause, AttachCause::Renderer);
    assert_eq!(again.target, attachment.target);
    ends.look(|look| look.composer.present).await;
    assert_eq!(
        browser.raw.eval(&tab, "typeof window.kept").await,
        "undefined"
    );
    ends.close().await;
}

//= case h5
#[tokio::test]
async fn a_long_task_is_a_missed_beat_and_no_loss() {
    let site = Site::start().await;
    let mut browser = Running::start(&site).await;
    let url = site.url("127.0.0.1", "/");
    let mut config = config(browser.endpoint(), &url);
    config.limits.renderer_ms = 600_000;
    let (mut ends, attachment) = Ends::attached(config).await;
    let task = "for (const end = Date.now() + 3500; Date.now() < end;);";
    browser.raw.eval_and_leave(&attachment.target.0, task).await;
    renderer(&mut ends, Pulse::Missed).await;
    renderer(&mut ends, Pulse::Alive).await;
    ends.close().await;
}

//= case h5
//= spec C2 type=test
#[tokio::test]
async fn under_focus_emulation_a_hidden_tab_runs_on_and_does_not_freeze() {
    let site = Site::start().await;
    let mut browser = Running::start(&site).await;
    let url = site.url("127.0.0.1", "/");
    let timer = "new Promise(done => setTimeout(done, 0, document.visibilityState))";
    let (mut ends, attachment) = Ends::attached(config(browser.endpoint(), &url)).await;
    let tab = attachment.target.0.clone();
    // Another tab is in front, and a browser would freeze ours to save power.
    browser.raw.open("about:blank").await;
    let session = browser.raw.session(&tab).await;
    let frozen = json!({ "state": "frozen" });
    browser
        .raw
        .call(Some(&session), "Page.setWebLifecycleState", frozen)
        .await;
    assert_eq!(browser.raw.eval(&tab, timer).await, "visible");
    assert_eq!(
        ends.submit_composed("a text").await,
        Answer::Submitted(Click::Passed)
    );
    ends.stream().await;
    // Let go of, it is a hidden tab like any other.
    ends.close().await;
    let hidden = "new Promise(done => document.hidden ? done(1) \
                  : document.addEventListener('visibilitychange', () => done(1)))";
    assert_eq!(browser.raw.eval(&tab, hidden).await, 1);
}

//= case h6
#[tokio::test]
async fn a_dialog_is_told_holds_up_every_act_and_is_left_to_the_person() {
    let site = Site::start().await;
    let mut browser = Running::start(&site).await;
    let url = site.url("127.0.0.1", "/");
    let (mut ends, attachment) = Ends::attached(config(browser.endpoint(), &url)).await;
    let tab = attachment.target.0.clone();
    let session = browser.raw.session(&tab).await;
    browser
        .raw
        .call(Some(&session), "Page.enable", json!({}))
        .await;
    browser.raw.eval_and_leave(&tab, "alert('stop')").await;
    let seen = ends
        .until("dialog", |what| match what {
            What::Dialog { kind, message } => Some((kind.clone(), message.clone())),
            _ => None,
        })
        .await;
    assert_eq!(seen, ("alert".to_owned(), "stop".to_owned()));
    let refused = ends.compose("a text", &[]).await;
    assert_eq!(refused, Answer::Refused(Refusal::Blocked));
    let accept = json!({ "accept": true });
    let handled = browser
        .raw
        .call(Some(&session), "Page.handleJavaScriptDialog", accept)
        .await;
    assert!(handled.get("error").is_none(), "{handled}");
    ends.look(|_| true).await;
    assert!(matches!(
        ends.compose("a text", &[]).await,
        Answer::Composed(_)
    ));
    ends.close().await;
}

//= case h4
#[tokio::test]
async fn a_killed_browser_is_gone_until_it_is_launched_anew() {
    let site = Site::start().await;
    let profile = Profile::new();
    let url = site.url("127.0.0.1", "/");
    let (mut ends, _) = Ends::attached(config(profile.launch(), &url)).await;
    let pid = profile.pid().unwrap();
    kill(Pid::from_raw(pid), Signal::SIGKILL).unwrap();
    let loss = ends.loss().await;
    assert!(matches!(loss, Loss::BrowserGone { .. }), "{loss:?}");
    ends.control(Control::Attach(NOTHING_MORE)).await;
    assert_eq!(ends.never().await.0, "E_NO_BROWSER");
    ends.control(Control::Relaunch(None)).await;
    assert_eq!(ends.attachment().await.cause, AttachCause::Browser);
    assert_ne!(profile.pid().unwrap(), pid);
    ends.close().await;
}

#[tokio::test]
async fn a_stopped_browser_is_a_silent_link_and_is_met_again_when_it_goes_on() {
    let site = Site::start().await;
    let browser = Running::start(&site).await;
    let url = site.url("127.0.0.1", "/");
    let (mut ends, first) = Ends::attached(config(browser.endpoint(), &url)).await;
    ends.look(|_| true).await;
    let pid = Pid::from_raw(browser.profile.pid().unwrap());
    kill(pid, Signal::SIGSTOP).unwrap();
    let loss = ends.loss().await;
    assert!(matches!(loss, Loss::Link { .. }), "{loss:?}");
    kill(pid, Signal::SIGCONT).unwrap();
    ends.control(Control::Attach(NOTHING_MORE)).await;
    assert_eq!(ends.attachment().await.target, first.target);
    ends.close().await;
}

/// Waits for the renderer's pulse to change to this, the browser's alive.
async fn renderer(ends: &mut Ends, pulse: Pulse) {
    let wanted = Beat {
        browser: Pulse::Alive,
        renderer: pulse,
    };
    ends.until("beat", |what| match what {
        What::Beat(beat) => (*beat == wanted).then_some(()),
        What::Lost(loss) => panic!("lost: {loss:?}"),
        _ => None,
    })
    .await;
}
