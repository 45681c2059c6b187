//! A page that is watched from outside, too: its clock, its last change, its
//! processes.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::observe_support::{Browser, Page};
use crate::raw::Raw;

/// Notes when a reply last changed, its action bar included, by the wall clock.
/// What a press on its copy does is none of it.
const NOTE_CHANGES: &str = r#"(() => {
  globalThis.lastChange = 0;
  const replies = 'section[data-turn="assistant"]';
  new MutationObserver((records) => {
    if (records.some(({ target }) => (target.nodeType === 1 ? target : target.parentElement)?.closest(replies))) {
      globalThis.lastChange = performance.timeOrigin + performance.now();
    }
  }).observe(document, { subtree: true, childList: true, characterData: true });
})()"#;

/// Milliseconds of the wall clock, as the page has them.
pub fn wall_ms() -> f64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    since.as_secs_f64() * 1_000.0
}

/// A second client of the page.
pub struct Beside {
    pub raw: Raw,
    pub target: String,
}

impl Beside {
    pub async fn of(browser: &Browser, url: &str) -> Self {
        let mut raw = Raw::of(&browser.profile()).await;
        let url = url.trim_end_matches('/').to_owned();
        let pages = raw.pages().await;
        let shown = pages
            .iter()
            .find(|one| one["url"].as_str().unwrap().starts_with(&url));
        let target = shown.unwrap()["targetId"].as_str().unwrap().to_owned();
        Self { raw, target }
    }

    pub async fn page(browser: &Browser, page: &Page) -> Self {
        Self::of(browser, &page.standin.url).await
    }

    pub async fn eval(&mut self, expression: &str) -> Value {
        self.raw.eval(&self.target, expression).await
    }

    pub async fn note_changes(&mut self) {
        self.eval(NOTE_CHANGES).await;
    }

    /// When the reply's text last changed, by the host's wall clock.
    pub async fn last_change(&mut self) -> f64 {
        let before = wall_ms();
        let told = self
            .eval("[globalThis.lastChange, performance.timeOrigin + performance.now()]")
            .await;
        let here = f64::midpoint(before, wall_ms());
        told[0].as_f64().unwrap() + here - told[1].as_f64().unwrap()
    }

    /// Processor seconds of all the browser's renderers.
    pub async fn renderer_s(&mut self) -> f64 {
        let told = self
            .raw
            .call(None, "SystemInfo.getProcessInfo", json!({}))
            .await;
        let processes = told["processInfo"].as_array().unwrap();
        let renderers = processes.iter().filter(|one| one["type"] == "renderer");
        renderers.map(|one| one["cpuTime"].as_f64().unwrap()).sum()
    }

    /// Types a text into the composer and presses Enter, as a person would.
    pub async fn send(&mut self, text: &str) {
        let session = self.raw.session(&self.target).await;
        self.eval("document.querySelector('.ProseMirror[contenteditable=\"true\"]').focus()")
            .await;
        let params = json!({ "text": text });
        self.raw
            .call(Some(&session), "Input.insertText", params)
            .await;
        self.raw.enter(&self.target).await;
    }
}
