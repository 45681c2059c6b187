//! Every recording's page, played by the stand-in in Chromium: what the observer says of
//! it comes to the verdict that a person wrote down.
//!
//! What was seen of one that does not is kept under the target folder, for `brb replay`.
//! With `BRB_RECORD=1` the `observation` lines of the recordings are written anew from
//! what was seen. Nothing ever writes `expected.json`.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "tests")]

mod observe_support;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use fixtures::timeline::Line;
use observe_support::Browser;
use relay::recording::live::{Stage, play};
use relay::recording::{Recording, save};

/// Pages that are played at the same time.
const AT_ONCE: usize = 4;

fn folders() -> Vec<PathBuf> {
    let root = Path::new(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../fixtures/recordings"
    ));
    let only = std::env::var("BRB_ONLY").unwrap_or_default();
    let wanted = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        path.join("timeline.jsonl").exists()
            && (only.is_empty() || only.split(',').any(|one| name.starts_with(one)))
    };
    let entries = std::fs::read_dir(root).unwrap();
    let mut all: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    all.retain(wanted);
    all.sort();
    all
}

#[test]
fn every_recording_played_in_a_browser_comes_to_its_expected_verdict() {
    let browser = Browser::new();
    let record = std::env::var("BRB_RECORD").is_ok();
    let failed = Arc::new(Mutex::new(Vec::new()));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let folders = folders();
    assert!(!folders.is_empty());
    runtime.block_on(async {
        let queue = Mutex::new(folders.iter());
        let work = || async {
            loop {
                let Some(dir) = queue.lock().unwrap().next() else {
                    return;
                };
                if let Err(why) = one(dir, &browser, record).await {
                    failed.lock().unwrap().push(why);
                }
            }
        };
        // The first one starts the browser, which the others join.
        let first = queue.lock().unwrap().next().unwrap();
        if let Err(why) = one(first, &browser, record).await {
            failed.lock().unwrap().push(why);
        }
        futures::future::join_all((0..AT_ONCE).map(|_| work())).await;
    });
    let failed = failed.lock().unwrap();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

async fn one(dir: &Path, browser: &Browser, record: bool) -> Result<(), String> {
    let recording = Recording::load(dir).map_err(|error| error.to_string())?;
    let name = &recording.name;
    let began = Instant::now();
    let stage = Stage {
        endpoint: browser.endpoint(),
        scale: recording.scale(),
        limits: capture::Limits::default(),
        keep_browser: true,
    };
    let played = play(&recording.lines, &recording.awaiting, &stage)
        .await
        .map_err(|error| format!("{name}: {error}"))?;
    if std::env::var("BRB_TRACE").is_ok() {
        let ms = began.elapsed().as_millis();
        eprintln!("{name}: {ms} ms at 1:{}: {}", stage.scale, played.judged);
    }
    if record {
        save(dir, &recording.lines, &played.lines).map_err(|error| format!("{name}: {error}"))?;
    }
    let expected = recording
        .expected
        .ok_or(format!("{name}: no verdict is expected"))?;
    match expected.differs(&played.judged) {
        Some(why) => {
            let kept = kept(dir, &recording.lines, &played.lines);
            Err(format!("{name}: {why}\n  seen: {}", kept.display()))
        }
        None => Ok(()),
    }
}

/// Writes what was seen into a folder that outlives the test.
fn kept(dir: &Path, lines: &[Line], seen: &[Line]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("recordings")
        .join(dir.file_name().unwrap());
    std::fs::create_dir_all(&folder).unwrap();
    save(&folder, lines, seen).unwrap();
    folder
}
