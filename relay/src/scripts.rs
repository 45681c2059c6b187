//! What `capture` knows of the page, as `cdp` takes it: the two crates do not know each
//! other, and this is where the one's scripts and paths become the other's.

/// The scripts that run in the page.
#[must_use]
pub fn scripts() -> cdp::Scripts {
    let found = capture::scripts();
    cdp::Scripts {
        observe: found.observe,
        compose: found.compose,
        submit_guard: found.submit_guard,
        copyhook: found.copyhook,
    }
}

/// The paths of the page's own requests that carry replies.
#[must_use]
pub fn stream_paths() -> Vec<String> {
    let paths = capture::STREAM_PATHS.iter();
    paths.map(ToString::to_string).collect()
}
