//! What the tests of this crate share.

/// Snapshots lie in the workspace's own folder, by crate.
pub(crate) fn settings() -> insta::Settings {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(concat!(env!("CARGO_MANIFEST_DIR"), "/../snapshots/relay"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings
}

/// Compares a text with the snapshot of that name.
macro_rules! snapshot {
    ($name:expr, $text:expr) => {
        $crate::testing::settings().bind(|| insta::assert_snapshot!($name, $text))
    };
}

pub(crate) use snapshot;
