//! Documents made by chance, rendered in the page by other libraries than the
//! reader's: what the observer reads of them says what their source says (C9).
#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm, reason = "tests")]

mod document_support;
mod observe_support;
#[allow(dead_code, reason = "shared with the driver's own tests")]
#[path = "../../cdp/tests/common/raw.rs"]
mod raw;

use capture::compare::{Relation, form_of_blocks, form_of_markdown};
use capture::markdown::{markdown_of_blocks, unknown_tags};
use document_support::Writer;
use fixtures::server::{CodeForm, Layout};
use observe_support::{Browser, Page, Play};
use protocol::page::Block;
use raw::Raw;
use serde_json::{Value, json};

/// Renders each source into a host of its own, in the page's own world.
const RENDER: &str = r#"(async (sources, form) => {
  const { render } = await import("/_standin/page/render.js");
  const { labelsOf } = await import("/_standin/page/labels.js");
  const options = { form, labels: labelsOf("en"), onCopyCode: () => {} };
  for (const source of sources) {
    const host = document.createElement("div");
    host.className = "document";
    host.append(...render(source, options));
    // An element that the observer does not know stands where the text says so.
    for (const p of host.querySelectorAll(":scope > p")) {
      if (!p.textContent.startsWith("unknown:")) continue;
      const other = document.createElement("details");
      other.open = true;
      other.append(...p.childNodes);
      p.replaceWith(other);
    }
    document.body.append(host);
  }
  return document.querySelectorAll(".document").length;
})"#;

/// What the observer reads of them, in its own world.
const READ: &str = r#"JSON.stringify([...document.querySelectorAll(".document")].map((host) => brb.page.blocksOf(host)))"#;

async fn read(
    browser: &Browser,
    layout: Layout,
    form: CodeForm,
    sources: &[String],
) -> Vec<Vec<Block>> {
    let page = Page::open(browser, &Play::new(layout, "ok", "")).await;
    let mut page = page;
    page.until_look("the page", |look| look.hydrated).await;
    let mut raw = Raw::of(&browser.profile()).await;
    let pages = raw.pages().await;
    let url = page.standin.url.trim_end_matches('/').to_owned();
    let shown = pages
        .iter()
        .find(|one| one["url"].as_str().unwrap().starts_with(&url));
    let target = shown.unwrap()["targetId"].as_str().unwrap().to_owned();
    let form = match form {
        CodeForm::Editor => "editor",
        CodeForm::Plain => "plain",
    };
    let call = format!("{RENDER}({}, {})", json!(sources), json!(form));
    assert_eq!(raw.eval(&target, &call).await, json!(sources.len()));
    let told: Value = raw.eval_ours(&target, READ).await;
    page.close().await;
    serde_json::from_str(told.as_str().unwrap()).unwrap()
}

//= spec C9 type=test
#[test]
fn what_the_page_shows_of_a_document_says_what_its_source_says() {
    let mut writer = Writer::new(0x5eed);
    let browser = Browser::new();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let mut failed = Vec::new();
    let mut unknown = 0;
    runtime.block_on(async {
        for (layout, form) in [
            (Layout::Classic, CodeForm::Editor),
            (Layout::Keyed, CodeForm::Plain),
        ] {
            let sources: Vec<String> = (0..300).map(|_| writer.document()).collect();
            let trees = read(&browser, layout, form, &sources).await;
            assert_eq!(trees.len(), sources.len());
            for (source, blocks) in sources.iter().zip(&trees) {
                let wanted = form_of_markdown(source);
                let shown = form_of_blocks(blocks).relation(&wanted);
                let written = markdown_of_blocks(blocks);
                let again = form_of_markdown(&written).relation(&wanted);
                if shown != Relation::Equal || again != Relation::Equal {
                    failed.push(format!(
                        "{layout:?}: shown {shown:?}, written {again:?}\n--- source\n{source}\n--- written\n{written}\n--- tree\n{blocks:?}"
                    ));
                }
                unknown += usize::from(unknown_tags(blocks) == ["details"]);
            }
        }
    });
    failed.sort_by_key(String::len);
    let shown = failed
        .iter()
        .take(3)
        .cloned()
        .collect::<Vec<_>>()
        .join("\n\n");
    assert!(
        failed.is_empty(),
        "{} documents fail\n{shown}",
        failed.len()
    );
    let counts = writer.counts;
    assert_eq!(counts.len(), 27, "{counts:#?}");
    assert!(counts.values().all(|met| *met >= 10), "{counts:#?}");
    assert!(unknown >= 10, "{unknown}");
}
