//! The guard of the one click, and the catcher of the page's own copy.
#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm, reason = "tests")]

mod common;

use common::site::Site;
use common::{Ends, Running, config};
use protocol::page::{Answer, Ask, Click, Refusal, TurnId};
use serde_json::{Value, json};

const TEXT: &str = "a text";

/// Puts something over the whole page when an event of this type comes by.
fn cover_at(event: &str) -> String {
    format!(
        "addEventListener('{event}', () => {{ const c = document.createElement('div'); \
         c.id = 'cover'; c.className = 'cover'; document.body.append(c); }}, \
         {{ once: true, capture: true }})"
    )
}
const UNCOVER: &str = "document.getElementById('cover').remove()";

struct Scene {
    site: Site,
    browser: Running,
    ends: Ends,
    tab: String,
}

impl Scene {
    async fn set() -> Self {
        let site = Site::start().await;
        let browser = Running::start(&site).await;
        let url = site.url("127.0.0.1", "/");
        let (ends, attachment) = Ends::attached(config(browser.endpoint(), &url)).await;
        Self {
            site,
            browser,
            ends,
            tab: attachment.target.0,
        }
    }
    async fn page(&mut self, expression: &str) -> Value {
        self.browser.raw.eval(&self.tab, expression).await
    }
    async fn composed(&mut self) {
        let answer = self.ends.compose(TEXT, &[]).await;
        assert!(matches!(answer, Answer::Composed(_)), "{answer:?}");
    }
    /// Arms the guard by hand, as a driver that is then heard of no more.
    async fn arm(&mut self, hold_ms: u32) -> (f64, f64) {
        let argument = json!({ "text": TEXT, "anchor": "empty", "hold_ms": hold_ms });
        let arm = format!("brbGuard.arm({argument})");
        let armed = self.browser.raw.eval_ours(&self.tab, &arm).await;
        let armed: Value = serde_json::from_str(armed.as_str().unwrap()).unwrap();
        let at = &armed["armed"];
        (at["x"].as_f64().unwrap(), at["y"].as_f64().unwrap())
    }
    async fn report(&mut self) -> Value {
        let said = self
            .browser
            .raw
            .eval_ours(&self.tab, "brbGuard.report()")
            .await;
        serde_json::from_str(said.as_str().unwrap()).unwrap()
    }
}

//= spec S4 type=test
#[tokio::test]
async fn a_click_that_would_hit_something_put_in_between_is_stopped() {
    let mut scene = Scene::set().await;
    scene.composed().await;
    scene.page(&cover_at("mousemove")).await;
    let answer = scene.ends.submit(TEXT).await;
    let hit = "div#cover".to_owned();
    assert_eq!(answer, Answer::Submitted(Click::Stopped { hit }));
    assert_eq!(scene.page("clicks").await, 0);

    let covered = scene.ends.submit(TEXT).await;
    let by = "div#cover".to_owned();
    assert_eq!(covered, Answer::Refused(Refusal::Covered { by }));

    scene.page(UNCOVER).await;
    let passed = scene.ends.submit(TEXT).await;
    assert_eq!(passed, Answer::Submitted(Click::Passed));
    scene.ends.stream().await;
    assert_eq!(scene.site.bodies().len(), 1);
    scene.ends.close().await;
}

//= spec S4 type=test
#[tokio::test]
async fn once_the_press_has_reached_the_control_nothing_is_proof_of_not_sent() {
    let mut scene = Scene::set().await;
    scene.composed().await;
    scene.page(&cover_at("mousedown")).await;
    let answer = scene.ends.submit(TEXT).await;
    assert_eq!(answer, Answer::Submitted(Click::Silent));
    assert_eq!(scene.page("clicks").await, 0);
    scene.ends.close().await;
}

#[tokio::test]
async fn a_control_outside_the_view_is_not_clicked() {
    let mut scene = Scene::set().await;
    scene.composed().await;
    scene
        .page("document.body.style.paddingTop = '5000px'")
        .await;
    let answer = scene.ends.submit(TEXT).await;
    assert!(
        matches!(answer, Answer::Refused(Refusal::Covered { .. })),
        "{answer:?}"
    );
    assert_eq!(scene.page("scrollY").await, 0);
    scene.ends.close().await;
}

//= spec S4 type=test
#[tokio::test]
async fn a_person_who_types_while_it_is_armed_sends_nothing_and_voids_the_proof() {
    let mut scene = Scene::set().await;
    scene.composed().await;
    let (x, y) = scene.arm(600_000).await;
    scene.browser.raw.enter(&scene.tab).await;
    // A click elsewhere is stopped, and would alone be proof of not-sent.
    scene.browser.raw.click(&scene.tab, x, y + 200.0).await;
    assert_eq!(scene.report().await, "silent");
    assert_eq!(scene.page("clicks").await, 0);
    // Ours still passes, once.
    scene.browser.raw.click(&scene.tab, x, y).await;
    assert_eq!(scene.report().await, "passed");
    assert_eq!(scene.page("clicks").await, 1);
    scene.ends.close().await;
}

#[tokio::test]
async fn a_guard_lets_one_click_through_and_no_second() {
    let mut scene = Scene::set().await;
    scene.composed().await;
    let (x, y) = scene.arm(600_000).await;
    // The page keeps its text, so that a second click would send it again; the
    // twin's click does not load the page anew, which would forget what was seen.
    scene
        .page("document.getElementById('form').replaceWith(document.getElementById('form').cloneNode(true)); \
               window.seen = 0; addEventListener('click', (e) => { seen += 1; e.preventDefault(); }, true)")
        .await;
    // The control that was armed is gone: its twin is not it.
    scene.browser.raw.click(&scene.tab, x, y).await;
    assert_eq!(scene.page("seen").await, 0);
    let hit = "button#send";
    assert_eq!(scene.report().await, json!({ "stopped": { "hit": hit } }));
    let (x, y) = scene.arm(600_000).await;
    for _ in 0..2 {
        scene.browser.raw.click(&scene.tab, x, y).await;
    }
    assert_eq!(scene.page("seen").await, 1);
    assert_eq!(scene.report().await, "passed");
    scene.ends.close().await;
}

#[tokio::test]
async fn a_guard_whose_driver_is_gone_comes_down_by_its_own_clock() {
    let mut scene = Scene::set().await;
    scene.composed().await;
    let (x, y) = scene.arm(1).await;
    scene
        .page(
            "window.seen = 0; addEventListener('click', (e) => { seen += 1; e.preventDefault(); }, true); \
               new Promise(done => setTimeout(done, 100))",
        )
        .await;
    scene.browser.raw.click(&scene.tab, x, y + 200.0).await;
    assert_eq!(scene.page("seen").await, 1);
    scene.ends.close().await;
}

//= spec C7 type=test
#[tokio::test]
async fn the_clipboard_keeps_what_a_person_put_there() {
    let mut scene = Scene::set().await;
    for name in ["clipboard-read", "clipboard-write"] {
        let params = json!({ "permission": { "name": name }, "setting": "granted" });
        let raw = &mut scene.browser.raw;
        let set = raw.call(None, "Browser.setPermission", params).await;
        assert!(set.get("error").is_none(), "{set}");
    }
    let kept = "navigator.clipboard.readText()";
    scene.page("navigator.clipboard.writeText('mine')").await;
    assert_eq!(scene.page(kept).await, "mine");
    scene.ends.submit_composed(TEXT).await;
    scene.ends.stream().await;
    scene.ends.look(|look| look.turns_shown == 2).await;
    let turn = TurnId("t2".to_owned());
    let offered = "new Promise(done => { const see = () => document.querySelector('.copy') \
                   ? done(1) : setTimeout(see, 5); see(); })";
    scene.page(offered).await;
    let copied = scene.ends.ask(Ask::Copy { turn }).await;
    assert!(matches!(copied, Answer::Copied { .. }), "{copied:?}");
    assert_eq!(scene.page(kept).await, "mine");
    // The page has its own functions back.
    let native = "[Clipboard.prototype.write, Clipboard.prototype.writeText, Document.prototype.execCommand] \
                  .every(f => String(f).includes('[native code]')) && typeof brbCopy";
    assert_eq!(scene.page(native).await, "undefined");
    scene.ends.close().await;
}
