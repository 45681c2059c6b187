//! What both generations of the page have in common: the structure of content
//! and the page-wide marks of blockers.

use serde::Serialize;

/// Selectors for the structure of a reply's content (sources BRG, a keyed
/// fixture and the public KaTeX and CodeMirror documents; 2026).
#[derive(Debug, Serialize)]
pub struct Content {
    /// Never text of a reply.
    pub never_text: &'static str,
    /// Mathematics, rendered once or twice.
    pub math: &'static str,
    /// Mathematics that stands on its own.
    pub display_math: &'static str,
    /// Where rendered mathematics keeps its source.
    pub math_note: &'static str,
    /// The attribute that holds the source instead.
    pub math_attribute: &'static str,
    /// A code block kept in an editor.
    pub editor: &'static str,
    /// One line of it.
    pub editor_line: &'static str,
    /// Keeps an empty paragraph of the composer open; not a line break.
    pub trailing_break: &'static str,
    /// For screen readers alone.
    pub unseen: &'static str,
}

/// The structure of content as known.
pub const CONTENT: Content = Content {
    never_text: r#"button, [role="button"], svg, style, script, template, .sr-only, .visually-hidden, input, select, textarea, canvas"#,
    math: ".katex, [data-math-source]",
    display_math: r#".katex-display, [data-math-source][data-math-display]:not([data-math-display="false"])"#,
    math_note: r#"annotation[encoding="application/x-tex"]"#,
    math_attribute: "data-math-source",
    editor: ".cm-content",
    editor_line: ".cm-line",
    trailing_break: "br.ProseMirror-trailingBreak",
    unseen: ".sr-only, .visually-hidden",
};

/// Selectors for what stops the relay (sources ORA, CGS, CJS, CCW, COS; 2026).
//= spec R12
#[derive(Debug, Serialize)]
pub struct PageWide {
    /// A dialog of the page.
    pub dialog: &'static str,
    /// A challenge's own form.
    pub challenge: &'static str,
    /// A challenge's frame.
    pub challenge_frame: &'static str,
    /// Shows that somebody is logged in.
    pub account: &'static str,
    /// Controls that may be there to log in.
    pub control: &'static str,
    /// Entries of the side bar: their titles are anybody's words.
    pub history: &'static str,
}

/// The page-wide marks as known.
pub const PAGE_WIDE: PageWide = PageWide {
    dialog: r#"[role="dialog"], [role="alertdialog"], dialog[open]"#,
    challenge: "#challenge-form, #challenge-running, #cf-challenge-running",
    challenge_frame: r#"iframe[src*="challenges.cloudflare.com"]"#,
    account: r#"[data-testid="accounts-profile-button"]"#,
    control: r#"button, a[href], [role="button"]"#,
    history: r#"#history, [data-testid^="history-item"], nav li, a[href*="/c/"]"#,
};
