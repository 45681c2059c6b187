//! Pollers, as the best known tools read this page: they ask for the newest
//! reply's text again and again until it has not changed for a while.

use std::time::{Duration, Instant};

use tokio::time::sleep;

use crate::observe_support::Browser;
use crate::stage::{Beside, wall_ms};

/// How one decides that a reply is whole.
#[derive(Clone, Copy)]
pub struct Kind {
    pub name: &'static str,
    every: Duration,
    /// So many readings in a row that are equal.
    equal_min: u32,
    /// For at least so long.
    stable: Duration,
    /// Then the page's copy is waited for.
    copy_wait: Duration,
    /// Nothing is taken while the page shows its stop control.
    heeds_stop: bool,
}

/// 400 ms, 3 equal cycles, 1,200 ms of stability, then 500 ms for the copy.
pub const CYCLES: Kind = Kind {
    name: "400 ms × 3 cycles, 1,200 ms stable, copy 500 ms",
    every: Duration::from_millis(400),
    equal_min: 3,
    stable: Duration::from_millis(1_200),
    copy_wait: Duration::from_millis(500),
    heeds_stop: true,
};

/// 250 ms, 2,000 ms of equality.
pub const EQUALITY: Kind = Kind {
    name: "250 ms, 2,000 ms equal",
    every: Duration::from_millis(250),
    equal_min: 1,
    stable: Duration::from_millis(2_000),
    copy_wait: Duration::ZERO,
    heeds_stop: false,
};

/// The newest reply's text, how many replies there are, and a stop control.
const READ: &str = r#"(() => {
  const replies = [...document.querySelectorAll(".markdown, [data-markdown-text-style='assistant-message']")]
    .filter((el) => !el.closest("[data-message-author-role='user'], [data-user-message-bubble]"));
  const stop = document.querySelector("[data-testid='stop-button'], form button[aria-label='Stop']");
  return [replies.length, replies.at(-1)?.innerText ?? "", stop !== null];
})()"#;

/// What a poller took, and when.
pub struct Took {
    pub at_ms: f64,
    pub text: String,
}

/// Polls until it believes the reply after `replies` earlier ones to be whole.
pub async fn poll(browser: &Browser, url: &str, replies: u64, kind: Kind) -> Option<Took> {
    let mut beside = Beside::of(browser, url).await;
    let (mut last, mut equal, mut since) = (String::new(), 0, Instant::now());
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(60) {
        let read = beside.eval(READ).await;
        let there = read[0].as_u64().is_some_and(|count| count > replies);
        let text = read[1].as_str().unwrap_or_default().to_owned();
        if !there || text != last || text.trim().is_empty() {
            (last, equal, since) = (text, 0, Instant::now());
        } else {
            equal += 1;
        }
        let busy = kind.heeds_stop && read[2] == true;
        if there && !busy && equal >= kind.equal_min && since.elapsed() >= kind.stable {
            sleep(kind.copy_wait).await;
            return Some(Took {
                at_ms: wall_ms(),
                text: last,
            });
        }
        sleep(kind.every).await;
    }
    None
}

/// How many replies the page shows, and the newest one's text.
pub async fn shown(beside: &mut Beside) -> (u64, String) {
    let read = beside.eval(READ).await;
    let text = read[1].as_str().unwrap_or_default().to_owned();
    (read[0].as_u64().unwrap_or(0), text)
}
