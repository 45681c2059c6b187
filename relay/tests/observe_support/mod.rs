//! The stand-in page in a real browser, the driver on it, and the capture of one
//! reply: all the rooms that a proof needs, without the service around them.
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::wildcard_enum_match_arm,
    reason = "tests"
)]

use std::path::PathBuf;
use std::time::{Duration, Instant};

use capture::{Awaited, Evidence, Limits, prove};
use cdp::{Commands, Config, Control, Endpoint, Launch, Observations, TabWish};
use fixtures::fault::FaultSpec;
use fixtures::scenario::Scenario;
use fixtures::server::{CodeForm, Lang, Layout, Standin, StandinConfig, start};
use protocol::id::SendId;
use protocol::page::{
    Anchor, Answer, Ask, CallId, Epoch, Look, Observation, PageCommand, Reading, TurnId, What,
};
use protocol::reply::{Verdict, Want};
use protocol::time::Millis;

/// Far beyond what a healthy machine needs.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A browser of the test's own. The first driver launches it, later ones join.
pub struct Browser {
    dir: tempfile::TempDir,
}

impl Browser {
    pub fn new() -> Self {
        Self {
            dir: tempfile::tempdir().unwrap(),
        }
    }

    pub fn endpoint(&self) -> Endpoint {
        Endpoint::Launch(Launch {
            program: None,
            profile: self.profile(),
            headless: true,
            args: Vec::new(),
        })
    }

    pub fn profile(&self) -> PathBuf {
        self.dir.path().join("profile")
    }

    fn pid(&self) -> Option<i32> {
        let lock = std::fs::read_link(self.profile().join("SingletonLock")).ok()?;
        lock.to_str()?.rsplit('-').next()?.parse().ok()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        use nix::sys::signal::{Signal, kill};
        if let Some(pid) = self.pid() {
            let _ = kill(nix::unistd::Pid::from_raw(pid), Signal::SIGKILL);
        }
    }
}

/// What one case is played with.
#[derive(Clone)]
pub struct Play {
    pub layout: Layout,
    pub lang: Lang,
    pub code: Option<CodeForm>,
    pub scenario: Scenario,
    pub limits: Limits,
}

impl Play {
    /// Every message is answered with `reply`; `extra` is more of the scenario's TOML.
    pub fn new(layout: Layout, reply: &str, extra: &str) -> Self {
        let text = serde_json::to_string(reply).unwrap();
        let toml = format!("name = \"case\"\n{extra}\n[[reply]]\non = \"any\"\ntext = {text}\n");
        Self {
            layout,
            lang: Lang::En,
            code: None,
            scenario: Scenario::from_toml(&toml).unwrap(),
            limits: Limits::default(),
        }
    }

    pub fn fault(mut self, toml: &str) -> Self {
        #[derive(serde::Deserialize)]
        struct Faults {
            fault: Vec<FaultSpec>,
        }
        let faults: Faults = toml::from_str(toml).unwrap();
        for fault in faults.fault {
            self.scenario.faults.push(fault.checked().unwrap());
        }
        self
    }
}

/// A page that is attached to.
pub struct Page {
    pub standin: Standin,
    commands: Commands,
    observations: Observations,
    began: Instant,
    epoch: Epoch,
    calls: u64,
    pub looks: Vec<(Millis, Look)>,
}

impl Page {
    pub async fn open(browser: &Browser, play: &Play) -> Self {
        let mut config = StandinConfig::new(play.scenario.clone());
        config.layout = play.layout;
        config.lang = play.lang;
        config.code = play.code;
        let standin = start(config).await.unwrap();
        let url = standin.url.clone();
        Self::at(browser, standin, &url).await
    }

    /// A page of a stand-in that runs already.
    pub async fn at(browser: &Browser, standin: Standin, url: &str) -> Self {
        let (commands, observations) = cdp::spawn(Config {
            endpoint: browser.endpoint(),
            tab: TabWish {
                open_at: Some(url.to_owned()),
                ..TabWish::default()
            },
            // A test looks into this world from beside.
            scripts: cdp::Scripts {
                world: "brb-test".to_owned(),
                ..relay::scripts::scripts()
            },
            stream_paths: relay::scripts::stream_paths(),
            limits: cdp::Limits::DEFAULT,
            last_epoch: Epoch(0),
            keep_browser: true,
        });
        Self {
            standin,
            commands,
            observations,
            began: Instant::now(),
            epoch: Epoch(0),
            calls: 0,
            looks: Vec::new(),
        }
    }

    pub fn now(&self) -> Millis {
        Millis(u64::try_from(self.began.elapsed().as_millis()).unwrap())
    }

    /// The next observation, or none when `within` has passed.
    pub async fn next(&mut self, within: Duration) -> Option<Observation> {
        let observation = tokio::time::timeout(within, self.observations.recv())
            .await
            .ok()?
            .expect("the driver ended");
        self.epoch = self.epoch.max(observation.epoch);
        if let What::Malformed { source, why, .. } = &observation.what {
            panic!("what the {source} says does not parse: {why}");
        }
        if let What::Look(look) = &observation.what {
            self.looks.push((self.now(), look.as_ref().clone()));
        }
        Some(observation)
    }

    pub async fn ask(&mut self, ask: Ask) -> CallId {
        self.calls += 1;
        let call = CallId(self.calls);
        let epoch = self.epoch;
        let command = PageCommand { call, epoch, ask };
        self.commands.send(Control::Page(command)).await.unwrap();
        call
    }

    pub async fn until_look(&mut self, what: &str, test: impl Fn(&Look) -> bool) -> Look {
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            if let Some(Observation {
                what: What::Look(look),
                ..
            }) = self.next(Duration::from_secs(5)).await
                && test(&look)
            {
                return *look;
            }
        }
        panic!("never seen: {what}; last look {:#?}", self.looks.last());
    }

    pub async fn answer(&mut self, call: CallId) -> Answer {
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            if let Some(Observation {
                what: What::Answer { call: of, answer },
                ..
            }) = self.next(Duration::from_secs(5)).await
                && of == call
            {
                return answer;
            }
        }
        panic!("no answer");
    }

    pub async fn read(&mut self) -> Reading {
        let call = self.ask(Ask::Read).await;
        match self.answer(call).await {
            Answer::Read(reading) => reading,
            other => panic!("{other:?}"),
        }
    }

    /// Types and submits `text`, and gathers evidence for its reply.
    pub async fn send(&mut self, text: &str, anchor: Anchor) -> Evidence {
        self.until_look("an idle page", |look| {
            look.layout.is_some() && look.is_idle()
        })
        .await;
        let (text, anchor) = (text.into(), anchor);
        let compose = Ask::Compose {
            text,
            anchor: anchor.clone(),
            ours: vec![],
        };
        let Ask::Compose { text, .. } = &compose else {
            unreachable!()
        };
        let text: protocol::text::Private = text.clone();
        let call = self.ask(compose).await;
        let answer = self.answer(call).await;
        assert!(matches!(answer, Answer::Composed(_)), "{answer:?}");
        let mut evidence = Evidence::new(Awaited {
            send: SendId(1),
            text: text.clone(),
            anchor: anchor.clone(),
            conversation: None,
            since: self.now(),
        });
        let call = self.ask(Ask::Submit { text, anchor }).await;
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            let Some(observation) = self.next(Duration::from_secs(5)).await else {
                continue;
            };
            evidence.observe(self.now(), &observation);
            if let What::Answer { call: of, answer } = &observation.what
                && *of == call
            {
                assert!(matches!(answer, Answer::Submitted(_)), "{answer:?}");
                return evidence;
            }
        }
        panic!("no answer to the submit");
    }

    /// Follows the reply until the verdict is final or `patience` has passed.
    pub async fn follow(
        &mut self,
        evidence: &mut Evidence,
        limits: &Limits,
        patience: Duration,
    ) -> Verdict {
        let until = Instant::now() + patience;
        let mut copies = 0;
        let mut copying = None;
        let trace = std::env::var("BRB_TRACE").is_ok();
        loop {
            let verdict = prove(evidence, self.now(), limits);
            if trace {
                eprintln!("{} {verdict}", self.now());
            }
            let Verdict::NotYet(progress) = &verdict else {
                return verdict;
            };
            if Instant::now() >= until {
                return verdict;
            }
            if let Some(Want::Copy { turn }) = &progress.want
                && copying.is_none()
                && copies < 3
            {
                copies += 1;
                copying = Some(self.ask(Ask::Copy { turn: turn.clone() }).await);
            }
            let wait = progress.look_by.since(self.now()).clamp(1, 1_000);
            match self.next(Duration::from_millis(wait)).await {
                Some(observation) => {
                    if let What::Answer { call, answer } = &observation.what
                        && Some(*call) == copying
                    {
                        copying = None;
                        if trace && !matches!(answer, Answer::Copied { .. }) {
                            eprintln!("copy: {answer:?}");
                        }
                    }
                    evidence.observe(self.now(), &observation);
                }
                None => {
                    self.ask(Ask::Look).await;
                }
            }
        }
    }

    /// The driver lets go of the tab, and the stand-in goes on.
    pub async fn let_go(&mut self) {
        let call = self.ask(Ask::Detach).await;
        assert_eq!(self.answer(call).await, Answer::Done);
    }

    pub async fn close(self) {
        let _ = self
            .commands
            .send(Control::Close { keep_browser: true })
            .await;
        let mut observations = self.observations;
        let _ = tokio::time::timeout(Duration::from_secs(5), async {
            while observations.recv().await.is_some() {}
        })
        .await;
        self.standin.shutdown().await;
    }
}

/// One message sent, one verdict.
pub async fn play(browser: &Browser, play: &Play, patience: Duration) -> (Verdict, Evidence) {
    let mut page = Page::open(browser, play).await;
    let mut evidence = page.send(MESSAGE, Anchor::Empty).await;
    let verdict = page.follow(&mut evidence, &play.limits, patience).await;
    page.close().await;
    (verdict, evidence)
}

pub const MESSAGE: &str = "What is it about?\n\nTell all of it,  in\tfull: *stars* & <tags>.";

pub fn last_settled(turns: &[protocol::page::Turn]) -> Option<TurnId> {
    turns
        .iter()
        .rev()
        .find_map(|turn| turn.key.settled().cloned())
}
