//! The scripts that run in the page, as text; the only ones that ever do.

use serde::Serialize;

use crate::layout::{
    ADDRESSES, Addresses, CONTENT, Content, LABELS, LAYOUTS, LabelSet, Layout, PAGE_WIDE, PageWide,
};

/// The scripts for the driver, which treats them as opaque.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scripts {
    /// Looks at the page and reports; only reads. Layouts are baked in.
    pub observe: String,
    /// Puts a text into the composer and reads it back.
    pub compose: String,
    /// Lets one trusted click through to one control.
    pub submit_guard: String,
    /// Catches what the page's own copy would have written to the clipboard.
    pub copyhook: String,
}

/// The bounds that the observer keeps, in UTF-16 units and counts where they do
/// not say otherwise.
#[derive(Debug, Clone, Copy, Serialize)]
struct Bounds {
    /// One report as JSON, in bytes: what the driver takes, less its wrapping.
    report_bytes_max: u32,
    /// What a user turn's text is cut to in a report over its bound.
    cut_text_len: u32,
    /// The whole thread as JSON; over it older blocks are left out.
    reading_len_max: u32,
    /// One user turn's text; over it the turn counts as clamped.
    user_text_len_max: u32,
    /// The draft's head.
    draft_head_len: u32,
    /// Turns in a report.
    tail_max: u32,
    /// Blocks and inline pieces of one reply; over it the blocks are left out.
    pieces_max: u32,
    /// What is read of a card or a dialog; they are short, and longer ones
    /// quote somebody.
    card_len: u32,
    /// Depth of nesting; deeper content is kept as text.
    depth_max: u32,
    /// Scrolling up for older turns in all, and the pause after each step.
    scroll_ms_max: u32,
    scroll_pause_ms: u32,
    /// How far down a thread at its top is moved, to be moved up again.
    scroll_nudge_px: u32,
    /// An animation frame, where they come at all.
    scroll_frame_ms: u32,
    /// So many times what it cost must have passed since the whole page was
    /// searched before it is again.
    search_share: u32,
    /// Between two reports while text comes in.
    gap_ms: u32,
    /// Between two reports when a mark changes.
    gap_mark_ms: u32,
}

const BOUNDS: Bounds = Bounds {
    report_bytes_max: (1 << 20) - 1_024,
    cut_text_len: 4_096,
    reading_len_max: 8_000_000,
    user_text_len_max: 262_144,
    draft_head_len: 32_768,
    tail_max: 8,
    pieces_max: 60_000,
    card_len: 1_000,
    depth_max: 40,
    scroll_ms_max: 12_000,
    scroll_pause_ms: 50,
    scroll_nudge_px: 160,
    scroll_frame_ms: 1_500,
    search_share: 200,
    gap_ms: 50,
    gap_mark_ms: 8,
};

#[derive(Serialize)]
struct Data {
    layouts: &'static [&'static Layout],
    labels: &'static [LabelSet],
    addresses: Addresses,
    content: Content,
    page_wide: PageWide,
    bounds: Bounds,
}

/// The page scripts, with the layouts baked into the observer.
pub fn scripts() -> Scripts {
    let data = serde_json::to_string(&Data {
        layouts: LAYOUTS,
        labels: LABELS,
        addresses: ADDRESSES,
        content: CONTENT,
        page_wide: PAGE_WIDE,
        bounds: BOUNDS,
    })
    .expect("layouts are plain data");
    let parts = [
        include_str!("../page/observe/base.js"),
        include_str!("../page/observe/thread.js"),
        include_str!("../page/observe/composer.js"),
        include_str!("../page/observe/blocks.js"),
        include_str!("../page/observe/reply.js"),
        include_str!("../page/observe/guard.js"),
        include_str!("../page/observe/survey.js"),
        include_str!("../page/observe/observe.js"),
    ]
    .concat();
    Scripts {
        observe: format!(
            "(() => {{\n\"use strict\";\nif (globalThis.brb) return;\nconst DATA = {data};\n{parts}}})();\n"
        ),
        compose: include_str!("../page/compose.js").to_owned(),
        submit_guard: include_str!("../page/submit_guard.js").to_owned(),
        copyhook: include_str!("../page/copyhook.js").to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_observer_carries_every_layout_and_label() {
        let observe = scripts().observe;
        for layout in LAYOUTS {
            assert!(observe.contains(&format!("\"name\":\"{}\"", layout.name)));
        }
        for set in LABELS {
            assert!(observe.contains(&format!("\"name\":\"{}\"", set.name)));
        }
    }

    //= spec C7 type=test
    #[test]
    fn the_observer_has_no_word_that_acts_on_the_page() {
        let observe = scripts().observe;
        for word in [
            ".click(",
            ".focus(",
            ".blur(",
            "dispatchEvent",
            "execCommand",
            "setAttribute",
            "innerHTML",
            "appendChild",
            ".remove()",
            ".scrollTo(",
            "scrollIntoView",
            "clipboard",
            "fetch(",
            "XMLHttpRequest",
            "localStorage",
            ".style.",
        ] {
            assert!(!observe.contains(word), "the observer says {word}");
        }
    }
}
