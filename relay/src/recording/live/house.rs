//! The page that plays, its driver and the proof, in one room.

use std::time::{Duration, Instant};

use cdp::{Commands, Control, Observations, TabWish};
use fixtures::{
    server::{Standin, Still},
    timeline::{Line, What as Said},
};
use protocol::{
    page::{Anchor, Answer, Ask, CallId, Epoch, Look, Loss, Observation, PageCommand, What},
    reply::{Verdict, Want},
};
use serde_json::json;
use tokio::sync::mpsc;

use super::{
    super::{Awaiting, Judge, Judged},
    PlayError, Stage,
};

/// A page that plays is slow at times, and neither a dead link nor a hung renderer is
/// looked for here.
const DRIVER: cdp::Limits = cdp::Limits {
    call_ms: 30_000,
    heartbeat_ms: 5_000,
    renderer_ms: 40_000,
    attach_ms: 60_000,
    submit_ms: 20_000,
    copy_ms: 20_000,
    ..cdp::Limits::DEFAULT
};
/// Setting up: browser, page, the text typed and sent.
const SETUP_MS: u64 = 120_000;
/// A look or a copy that was asked for, while the clock stands still.
const SIGHT_MS: u64 = 60_000;
/// How much longer than the timeline a page is watched, in host time: something of it
/// may follow by itself, as frames do.
const LATE_MS: u64 = 15_000;
/// How much longer where there is no verdict yet.
const GRACE_MS: u64 = 1_000;
/// After a look that was refused, because the document changes, until the next one.
const AGAIN_MS: u64 = 50;
/// Observations taken after the verdict is final.
const AFTER_MIN: usize = 5;
/// Between looks asked for once the verdict is final, in the timeline's time.
const AFTER_LOOK_MS: u64 = 100;
/// Copies asked for in all.
const COPIES_MAX: u32 = 3;
/// Lines kept of what was seen.
const SEEN_MAX: usize = 20_000;

/// Until when a timeline does something, and until when it is to be watched.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    acted_ms: u64,
    end_ms: u64,
}

impl Span {
    pub(super) fn of(lines: &[Line]) -> Self {
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

/// A look that is waited for while the clock stands still.
struct Sight {
    _still: Option<Still>,
    asked: Option<CallId>,
    ask_at: Instant,
    until: Instant,
}

impl Sight {
    fn now(still: Option<Still>) -> Self {
        let now = Instant::now();
        Self {
            _still: still,
            asked: None,
            ask_at: now,
            until: now + Duration::from_millis(SIGHT_MS),
        }
    }
}

pub(super) struct House<'a> {
    standin: Standin,
    /// Steps of the timeline that the page has carried out.
    steps: Option<mpsc::Receiver<Still>>,
    sight: Option<Sight>,
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
    pub(super) fn open(standin: Standin, awaiting: &'a Awaiting, stage: &Stage) -> Self {
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
            steps: standin.steps(),
            sight: None,
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
        let now = match self.standin.passed() {
            Some(passed) => {
                let passed = u64::try_from(passed.as_millis()).unwrap_or(u64::MAX);
                self.awaiting.sent_ms.saturating_add(passed)
            }
            None => {
                let passed = u64::try_from(self.opened.elapsed().as_millis()).unwrap_or(u64::MAX);
                passed.min(self.awaiting.sent_ms)
            }
        };
        self.last_ms = self.last_ms.max(now);
        self.last_ms
    }

    pub(super) async fn run(&mut self, span: Span) -> Result<Judged, PlayError> {
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
                        let _still = self.standin.still();
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
                None => self.look(),
            }
        }
    }

    /// Looks, while the clock stands still.
    fn look(&mut self) {
        let still = self.standin.still();
        self.sight.get_or_insert_with(|| Sight::now(still));
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
                self.look();
                continue;
            };
            if wanted(&said) {
                return Ok(());
            }
            heard = format!("{said:?}").chars().take(600).collect();
        }
        Err(PlayError::NotReady { what, heard })
    }

    /// The next observation within `wait`, taken into the evidence. While a look is waited
    /// for there is no end of `wait`, since its clock stands still.
    async fn next(&mut self, wait: Duration) -> Result<Option<What>, PlayError> {
        loop {
            let wait = self.seek(wait).await?;
            tokio::select! {
                next = self.observations.recv() => {
                    return self.take(next.ok_or(PlayError::DriverEnded)?).map(Some);
                }
                Some(still) = step(&mut self.steps), if self.sight.is_none() => {
                    self.sight = Some(Sight::now(Some(still)));
                }
                () = tokio::time::sleep(wait) => if self.sight.is_none() {
                    return Ok(None);
                },
            }
        }
    }

    /// Asks for the look that is due, and says how long to wait.
    async fn seek(&mut self, wait: Duration) -> Result<Duration, PlayError> {
        let now = Instant::now();
        let Some(sight) = &self.sight else {
            return Ok(wait);
        };
        if now >= sight.until {
            let (what, heard) = ("the page after a step", "no look".to_owned());
            return Err(PlayError::NotReady { what, heard });
        }
        if sight.asked.is_some() {
            return Ok(sight.until - now);
        }
        if now < sight.ask_at {
            return Ok(sight.ask_at - now);
        }
        let until = sight.until;
        let call = self.ask(Ask::Look).await?;
        if let Some(sight) = &mut self.sight {
            sight.asked = Some(call);
        }
        Ok(until - now)
    }

    fn take(&mut self, mut observation: Observation) -> Result<What, PlayError> {
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
        match &observation.what {
            What::Answer { call, answer } => self.seen(*call, answer),
            What::Lost(loss) if *loss != Loss::Document => {
                let (what, heard) = ("the page", format!("{loss:?}"));
                return Err(PlayError::NotReady { what, heard });
            }
            What::Attached(_)
            | What::Lost(_)
            | What::Look(_)
            | What::Stream(_)
            | What::Beat(_)
            | What::Dialog { .. }
            | What::Malformed { .. } => {}
        }
        Ok(observation.what)
    }

    /// The look that was waited for is there, or has to be asked for again.
    fn seen(&mut self, call: CallId, answer: &Answer) {
        let sight = self.sight.as_mut();
        let Some(sight) = sight.filter(|sight| sight.asked == Some(call)) else {
            return;
        };
        if *answer == Answer::Done {
            self.sight = None;
        } else {
            sight.asked = None;
            sight.ask_at = Instant::now() + Duration::from_millis(AGAIN_MS);
        }
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

    pub(super) async fn close(mut self) -> Vec<Line> {
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
        let _ = tokio::time::timeout(Duration::from_millis(DRIVER.close_ms()), closing).await;
        self.standin.shutdown().await;
        self.seen
    }
}

/// The next step of the timeline that the page has carried out.
async fn step(steps: &mut Option<mpsc::Receiver<Still>>) -> Option<Still> {
    match steps {
        Some(steps) => steps.recv().await,
        None => std::future::pending().await,
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
