//! From the last change of the reply in the page to the accepted record on disk.

use std::time::Duration;

use capture::Limits;
use fixtures::server::Layout;
use protocol::{
    id::{Digest, SendId},
    page::Anchor,
    record::{Journal, Judgement, Owner, Record, ReplyFacts, Seq},
    reply::{Captured, EndWitness, Verdict},
    time::WallMs,
};
use relay::journal::SqliteJournal;

use crate::observe_support::{Browser, PATIENCE, Page, Play};
use crate::poller::{CYCLES, EQUALITY, Kind, poll, shown};
use crate::stage::{Beside, wall_ms};
use crate::{Report, quantile};

/// Beyond the declared quiet window, at the 95th percentile.
const BEYOND_MS_MAX: f64 = 50.0;
/// In all, where the stream told the end.
const IN_ALL_MS_MAX: f64 = 400.0;
/// How many times sooner than either poller, at the median.
const RATIO_MIN: f64 = 4.0;
/// Each so many-th reply is read by the pollers as well.
const POLLED_EACH: usize = 10;

/// Where the accepted replies are stored.
struct Disk {
    journal: SqliteJournal,
    owner: Owner,
    seq: Seq,
    _dir: tempfile::TempDir,
}

impl Disk {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut journal = SqliteJournal::create(&dir.path().join("session")).unwrap();
        let owner = journal.claim().unwrap();
        Self {
            journal,
            owner,
            seq: Seq::default(),
            _dir: dir,
        }
    }

    /// The record by which a reply is accepted, with all of its text.
    fn accept(&mut self, captured: &Captured) {
        let text = captured.text.clone();
        let record = Record::Judged {
            send: SendId(1),
            reply: Some(ReplyFacts {
                turn: captured.turn.clone(),
                own: captured.own.clone(),
                digest: captured.digest.clone(),
                chars: u32::try_from(text.chars()).unwrap(),
                end: captured.end,
                agreed: captured.agreed.clone(),
            }),
            judgement: Judgement::Accepted(Box::new(protocol::record::Accepted {
                round: protocol::id::Round(1),
                key: protocol::wire::tag("x"),
                digest: captured.digest.clone(),
                body: Digest::of("body"),
                decision: protocol::plan::Decision::Continue,
                task: "measure".into(),
                text,
            })),
        };
        let entry = self
            .journal
            .append(self.owner, self.seq, WallMs(0), 0, &record)
            .unwrap();
        self.seq = entry.seq;
    }
}

/// A text of that many characters whose last fence is closed, where it has room
/// for one.
pub fn reply_of(chars: usize, nth: usize) -> String {
    if chars < 20 {
        return format!("{:04}", nth % 10_000).chars().take(chars).collect();
    }
    let (head, tail) = (format!("```text\n{nth}\n"), "\n```");
    let line = "- one 行 of the plan, with some more words to fill it\n";
    let room = chars - head.chars().count() - tail.chars().count();
    let body: String = line.chars().cycle().take(room).collect();
    format!("{head}{body}{tail}")
}

struct Sizes {
    chars: usize,
    on_a_page: usize,
    with_end: usize,
    without: usize,
}

const SIZES: [Sizes; 4] = [
    Sizes {
        chars: 4,
        on_a_page: 16,
        with_end: 64,
        without: 0,
    },
    Sizes {
        chars: 300,
        on_a_page: 16,
        with_end: 52,
        without: 8,
    },
    Sizes {
        chars: 3_000,
        on_a_page: 6,
        with_end: 52,
        without: 8,
    },
    Sizes {
        chars: 200_000,
        on_a_page: 1,
        with_end: 12,
        without: 4,
    },
];

/// What one course of replies came to.
#[derive(Default)]
struct Course {
    ours: Vec<f64>,
    beside: Vec<f64>,
    pollers: [Vec<f64>; 2],
    partial: [usize; 2],
    wrong: usize,
}

pub async fn measure(report: &mut Report) {
    let browser = Browser::new();
    let limits = Limits::default();
    let (mut all, mut replies) = (Course::default(), 0);
    // One size alone, for a closer look: `latency 200000`.
    let only: Vec<usize> = std::env::args()
        .filter_map(|arg| arg.parse().ok())
        .collect();
    let wanted = |size: &&Sizes| only.is_empty() || only.contains(&size.chars);
    for size in SIZES.iter().filter(wanted) {
        for (count, with_end) in [(size.with_end, true), (size.without, false)] {
            if count == 0 {
                continue;
            }
            let mut course = Course::default();
            // The stand-in draws its whole thread for each event: a long one would
            // be measured in our place.
            for from in (0..count).step_by(size.on_a_page) {
                let nths = from..(from + size.on_a_page).min(count);
                batch(&browser, size.chars, nths, with_end, &mut course).await;
            }
            replies += course.ours.len();
            let (quiet, how) = if with_end {
                (limits.quiet_ms, "with the stream's end")
            } else {
                (limits.long_quiet_ms, "without it")
            };
            let (p50, p95) = (quantile(&course.ours, 0.5), quantile(&course.ours, 0.95));
            println!(
                "{} characters {how}: {} replies, p50 {p50:.0} ms, p95 {p95:.0} ms, window {quiet} ms",
                size.chars,
                course.ours.len()
            );
            let what = format!("{} characters {how}", size.chars);
            report.at_most(
                &format!("  beyond the window, p95 of {what}"),
                p95 - quiet as f64,
                BEYOND_MS_MAX,
                "ms",
            );
            if with_end {
                report.at_most(
                    &format!("  in all, p95 of {what}"),
                    p95,
                    IN_ALL_MS_MAX,
                    "ms",
                );
                all.beside.extend(&course.beside);
                for (mine, theirs) in all.pollers.iter_mut().zip(&course.pollers) {
                    mine.extend(theirs);
                }
                for (mine, theirs) in all.partial.iter_mut().zip(course.partial) {
                    *mine += theirs;
                }
            }
            all.wrong += course.wrong;
        }
    }
    println!("{replies} replies in all, {} not whole", all.wrong);
    report.at_least("replies", replies as f64, 200.0, "");
    report.at_most(
        "replies of ours that are not whole",
        all.wrong as f64,
        0.0,
        "",
    );
    // The same replies on the same pages, one beside the other.
    let ours = quantile(&all.beside, 0.5);
    for (nth, Kind { name, .. }) in [CYCLES, EQUALITY].iter().enumerate() {
        let theirs = quantile(&all.pollers[nth], 0.5);
        println!(
            "beside us a poller ({name}): p50 {theirs:.0} ms of {} replies, ours {ours:.0} ms; {} of its texts are partial",
            all.pollers[nth].len(),
            all.partial[nth]
        );
        report.at_least("  times sooner", theirs / ours, RATIO_MIN, "×");
    }
}

async fn batch(
    browser: &Browser,
    chars: usize,
    nths: std::ops::Range<usize>,
    with_end: bool,
    course: &mut Course,
) {
    let texts: Vec<_> = nths.map(|nth| (nth, reply_of(chars, nth))).collect();
    let mut scenario = format!(
        "[stream]\nframe_chars = {}\nframe_ms = 4\nfirst_ms = 20\n",
        (chars / 6).clamp(2, 40_000)
    );
    for (nth, text) in &texts {
        let text = serde_json::to_string(text).unwrap();
        scenario.push_str(&format!(
            "[[reply]]\non = \"other\"\nif_text = \"Message {nth}.\"\ntext = {text}\n"
        ));
    }
    let mut play = Play::new(Layout::Classic, "no reply", &scenario);
    if !with_end {
        play = play.fault("[[fault]]\nfault = \"no-end-marks\"\nstep = \"any\"\ntimes = 0\n");
    }
    let mut page = Page::open(browser, &play).await;
    page.until_look("the page", |look| look.hydrated).await;
    let mut beside = Beside::page(browser, &page).await;
    beside.note_changes().await;
    let mut disk = Disk::new();
    let mut anchor = Anchor::Empty;
    for (nth, text) in &texts {
        let polled = with_end && nth % POLLED_EACH == 0;
        let url = page.standin.url.clone();
        let (replies, _) = shown(&mut beside).await;
        let mut evidence = page.send(&format!("Message {nth}."), anchor.clone()).await;
        let ours = async {
            let verdict = page.follow(&mut evidence, &play.limits, PATIENCE).await;
            let Verdict::Complete(captured) = verdict else {
                panic!("reply {nth} of {chars}: {verdict}");
            };
            disk.accept(&captured);
            let stored = wall_ms();
            (captured, stored)
        };
        let polls = async {
            if !polled {
                return [None, None];
            }
            let one = poll(browser, &url, replies, CYCLES);
            let two = poll(browser, &url, replies, EQUALITY);
            let (one, two) = tokio::join!(one, two);
            [one, two]
        };
        let ((captured, stored), took) = tokio::join!(ours, polls);
        let changed = beside.last_change().await;
        course.ours.push(stored - changed);
        course.wrong += usize::from(captured.text.as_str() != text.as_str());
        let wanted = if with_end {
            EndWitness::StreamDone
        } else {
            EndWitness::FenceClosed
        };
        assert_eq!(captured.end, wanted);
        if polled {
            course.beside.push(stored - changed);
            let (_, whole) = shown(&mut beside).await;
            for (nth, took) in took.into_iter().enumerate() {
                let took = took.expect("a poller takes something in the end");
                course.pollers[nth].push(took.at_ms - changed);
                course.partial[nth] += usize::from(took.text != whole);
            }
        }
        anchor = Anchor::After(captured.turn);
        tokio::time::sleep(Duration::from_millis(30)).await;
    }
    page.close().await;
}
