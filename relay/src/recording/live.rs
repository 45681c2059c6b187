//! Plays a timeline on the stand-in page in a real browser and judges what the driver
//! and the observer say of it.
//!
//! The clock that the proof sees is the timeline's: host time since the message, times
//! the scale. So seven minutes can pass in seven seconds under unchanged limits.

use std::{
    fmt,
    time::{Duration, Instant},
};

use capture::Limits;
use cdp::{Commands, Control, Observations, TabWish};
use fixtures::{
    server::{Standin, StandinConfig, StandinError, start},
    timeline::{Line, What as Said},
};
use protocol::{
    page::{Anchor, Answer, Ask, CallId, Epoch, Look, Loss, Observation, PageCommand, What},
    reply::{Verdict, Want},
};
use serde_json::json;

use super::{Awaiting, Judge, Judged};

/// A page that plays is slow at times, and no hung renderer is looked for here.
const DRIVER: cdp::Limits = cdp::Limits {
    call_ms: 20_000,
    renderer_ms: 30_000,
    ..cdp::Limits::DEFAULT
};
/// Setting up: browser, page, the text typed and sent.
const SETUP_MS: u64 = 45_000;
/// How much longer than the timeline a page is watched that is late.
const LATE_MS: u64 = 15_000;
/// How much longer where there is no verdict yet: what the page is late by, it is late
/// by in host time.
const GRACE_MS: u64 = 1_500;
/// Observations taken after the verdict is final.
const AFTER_MIN: usize = 5;
/// Between looks asked for once the verdict is final, in the timeline's time.
const AFTER_LOOK_MS: u64 = 100;
/// Copies asked for in all.
const COPIES_MAX: u32 = 3;
/// Letting go of the browser at the end.
const END_MS: u64 = 5_000;
/// Lines kept of what was seen.
const SEEN_MAX: usize = 20_000;

/// How a timeline is to be played.
#[derive(Debug, Clone)]
pub struct Stage {
    /// Which browser.
    pub endpoint: cdp::Endpoint,
    /// What the timeline's times are divided by.
    pub scale: u32,
    /// The limits of the proof.
    pub limits: Limits,
    /// Whether the browser stays open, where it was started for this.
    pub keep_browser: bool,
}

/// What a timeline came to in a real page.
#[derive(Debug, Clone)]
pub struct Played {
    /// The first judgement that ended the wait, or else the last one.
    pub judged: Judged,
    /// What was seen and asked for, in the timeline's time.
    pub lines: Vec<Line>,
}

/// Why a timeline could not be played.
#[derive(Debug)]
pub enum PlayError {
    /// The stand-in did not start.
    Standin(StandinError),
    /// The driver ended.
    DriverEnded,
    /// No attachment, or no page to type into, within the time for it.
    NotReady {
        /// What was waited for.
        what: &'static str,
        /// The last thing heard.
        heard: String,
    },
    /// What came out of the page did not parse, which no stand-in brings about.
    Malformed {
        /// What the parser said.
        why: String,
    },
}

impl fmt::Display for PlayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Standin(error) => write!(f, "{error}"),
            Self::DriverEnded => f.write_str("the driver ended"),
            Self::NotReady { what, heard } => {
                write!(f, "not ready in {SETUP_MS} ms: {what}; last heard: {heard}")
            }
            Self::Malformed { why } => write!(f, "an observation that does not parse: {why}"),
        }
    }
}

impl std::error::Error for PlayError {}

/// Plays `lines` and judges the reply that they are about.
///
/// # Errors
/// [`PlayError`] where it came to no play at all.
pub async fn play(lines: &[Line], awaiting: &Awaiting, stage: &Stage) -> Result<Played, PlayError> {
    let config = StandinConfig::playing(lines.to_vec(), stage.scale);
    let standin = start(config).await.map_err(PlayError::Standin)?;
    let mut house = House::open(standin, awaiting, stage);
    let result = house.run(Span::of(lines)).await;
    let seen = house.close().await;
    result.map(|judged| Played {
        judged,
        lines: seen,
    })
}

/// Until when a timeline does something, and until when it is to be watched.
#[derive(Debug, Clone, Copy)]
struct Span {
    acted_ms: u64,
    end_ms: u64,
}

impl Span {
    fn of(lines: &[Line]) -> Self {
        let acts = |line: &&Line| match line.what {
            Said::Page(_) | Said::Stream { .. } | Said::StreamEnd { .. } | Said::Refuse { .. } => {
                true
            }
            Said::Begin { .. }
            | Said::Message { .. }
            | Said::Observation { .. }
            | Said::Command { .. }
            | Said::Html { .. }
            | Said::Note { .. }
            | Said::End => false,
        };
        let t_ms = |line: &Line| line.t_ms;
        Self {
            acted_ms: lines.iter().rfind(acts).map_or(0, t_ms),
            end_ms: lines.last().map_or(0, t_ms),
        }
    }
}

struct House<'a> {
    standin: Standin,
    awaiting: &'a Awaiting,
    scale: u64,
    commands: Commands,
    observations: Observations,
    opened: Instant,
    epoch: Epoch,
    calls: u64,
    judge: Judge,
    seen: Vec<Line>,
    last_ms: u64,
    keep_browser: bool,
}

impl<'a> House<'a> {
    fn open(standin: Standin, awaiting: &'a Awaiting, stage: &Stage) -> Self {
        let path = awaiting.conversation.as_ref();
        let path = path.map(|id| format!("c/{id}")).unwrap_or_default();
        let (commands, observations) = cdp::spawn(cdp::Config {
            endpoint: stage.endpoint.clone(),
            tab: TabWish {
                open_at: Some(format!("{}{path}", standin.url)),
                ..TabWish::default()
            },
            scripts: crate::scripts::scripts(),
            stream_paths: crate::scripts::stream_paths(),
            limits: DRIVER,
            last_epoch: Epoch(0),
            keep_browser: stage.keep_browser,
        });
        Self {
            standin,
            awaiting,
            scale: u64::from(stage.scale.max(1)),
            commands,
            observations,
            opened: Instant::now(),
            epoch: Epoch(0),
            calls: 0,
            judge: Judge::new(awaiting, stage.limits),
            seen: Vec::new(),
            last_ms: 0,
            keep_browser: stage.keep_browser,
        }
    }

    /// The timeline's time. Before the message it runs up to it and no further.
    fn now_ms(&mut self) -> u64 {
        let now = match self.standin.began() {
            Some(began) => {
                let passed = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
                self.awaiting
                    .sent_ms
                    .saturating_add(passed.saturating_mul(self.scale))
            }
            None => {
                let passed = u64::try_from(self.opened.elapsed().as_millis()).unwrap_or(u64::MAX);
                passed.min(self.awaiting.sent_ms)
            }
        };
        self.last_ms = self.last_ms.max(now);
        self.last_ms
    }

    async fn run(&mut self, span: Span) -> Result<Judged, PlayError> {
        self.send().await?;
        self.follow(span).await
    }

    /// Types and sends our message, or begins where it was sent earlier.
    async fn send(&mut self) -> Result<(), PlayError> {
        let awaiting = self.awaiting;
        if awaiting.earlier {
            self.until("a page", |what| matches!(what, What::Look(_)))
                .await?;
            self.standin.begin();
            return Ok(());
        }
        let anchor = awaiting.anchor.clone();
        let ready = |what: &What| matches!(what, What::Look(look) if is_ready(look, &anchor));
        self.until("a page to type into", ready).await?;
        let (text, anchor) = (awaiting.text.clone(), awaiting.anchor.clone());
        let call = self
            .ask(Ask::Compose {
                text,
                anchor,
                ours: Vec::new(),
            })
            .await?;
        let typed = move |what: &What| matches!(what, What::Answer { call: of, answer: Answer::Composed(_) } if *of == call);
        self.until("the text typed", typed).await?;
        let (text, anchor) = (awaiting.text.clone(), awaiting.anchor.clone());
        let call = self.ask(Ask::Submit { text, anchor }).await?;
        let sent = move |what: &What| matches!(what, What::Answer { call: of, answer: Answer::Submitted(_) } if *of == call);
        self.until("the text sent", sent).await
    }

    /// Follows the reply to its verdict and until nothing more is done, or to the end.
    async fn follow(&mut self, Span { acted_ms, end_ms }: Span) -> Result<Judged, PlayError> {
        let late_ms = end_ms.saturating_add(LATE_MS.saturating_mul(self.scale));
        let mut verdict: Option<Judged> = None;
        let mut after = 0;
        let mut copies = 0;
        loop {
            let now = self.now_ms();
            let judged = self.judge.judge(now);
            if verdict.is_none() && judged.is_final() {
                verdict = Some(judged.clone());
            }
            let over = match verdict {
                Some(_) => now >= acted_ms && after >= AFTER_MIN,
                None => now >= end_ms.saturating_add(GRACE_MS.saturating_mul(self.scale)),
            };
            if over || now >= late_ms {
                return Ok(verdict.unwrap_or(judged));
            }
            let wait_ms = match &judged {
                Judged::Verdict(Verdict::NotYet(progress)) => {
                    if let Some(Want::Copy { turn }) = &progress.want
                        && copies < COPIES_MAX
                    {
                        copies += 1;
                        let call = self.ask(Ask::Copy { turn: turn.clone() }).await?;
                        let given = move |what: &What| matches!(what, What::Answer { call: of, .. } if *of == call);
                        self.until("a copy", given).await?;
                        continue;
                    }
                    progress.look_by.0.saturating_sub(now)
                }
                Judged::Verdict(_) | Judged::Blocked(_) => AFTER_LOOK_MS,
            };
            let wait = Duration::from_millis((wait_ms / self.scale).clamp(1, 1_000));
            match self.next(wait).await? {
                Some(_) => after += usize::from(verdict.is_some()),
                None => {
                    self.ask(Ask::Look).await?;
                }
            }
        }
    }

    /// Takes observations until one is wanted.
    async fn until(
        &mut self,
        what: &'static str,
        wanted: impl Fn(&What) -> bool,
    ) -> Result<(), PlayError> {
        let until = Instant::now() + Duration::from_millis(SETUP_MS);
        let mut heard = String::new();
        while Instant::now() < until {
            let Some(said) = self.next(Duration::from_millis(500)).await? else {
                self.ask(Ask::Look).await?;
                continue;
            };
            if let What::Lost(loss) = &said
                && *loss != Loss::Document
            {
                let heard = format!("{loss:?}");
                return Err(PlayError::NotReady { what, heard });
            }
            if wanted(&said) {
                return Ok(());
            }
            heard = format!("{said:?}").chars().take(600).collect();
        }
        Err(PlayError::NotReady { what, heard })
    }

    /// The next observation within `wait`, taken into the evidence.
    async fn next(&mut self, wait: Duration) -> Result<Option<What>, PlayError> {
        let Ok(next) = tokio::time::timeout(wait, self.observations.recv()).await else {
            return Ok(None);
        };
        let mut observation = next.ok_or(PlayError::DriverEnded)?;
        self.epoch = self.epoch.max(observation.epoch);
        if let What::Malformed { why, .. } = &observation.what {
            return Err(PlayError::Malformed { why: why.clone() });
        }
        if let What::Look(look) = &mut observation.what {
            look.page_ms = look.page_ms.saturating_mul(self.scale);
        }
        let now = self.now_ms();
        self.judge.observe(now, &observation);
        self.keep(now, &observation);
        Ok(Some(observation.what))
    }

    fn keep(&mut self, t_ms: u64, observation: &Observation) {
        if self.seen.len() < SEEN_MAX {
            let observation = json!(observation);
            self.seen.push(Line {
                t_ms,
                what: Said::Observation { observation },
            });
        }
    }

    async fn ask(&mut self, ask: Ask) -> Result<CallId, PlayError> {
        self.calls += 1;
        let call = CallId(self.calls);
        let epoch = self.epoch;
        let command = PageCommand { call, epoch, ask };
        let sent = self.commands.send(Control::Page(command)).await;
        sent.map_err(|_| PlayError::DriverEnded)?;
        Ok(call)
    }

    async fn close(mut self) -> Vec<Line> {
        let closing = async {
            let keep_browser = self.keep_browser;
            if self
                .commands
                .send(Control::Close { keep_browser })
                .await
                .is_ok()
            {
                while self.observations.recv().await.is_some() {}
            }
        };
        let _ = tokio::time::timeout(Duration::from_millis(END_MS), closing).await;
        self.standin.shutdown().await;
        self.seen
    }
}

/// Whether the page can be typed into and shows what is there before our message.
fn is_ready(look: &Look, anchor: &Anchor) -> bool {
    let last = look.tail.last().map(|turn| &turn.key);
    let anchored = match anchor {
        Anchor::Empty => last.is_none(),
        Anchor::After(id) => last.and_then(|key| key.settled()) == Some(id),
    };
    look.layout.is_some() && look.is_idle() && anchored
}
