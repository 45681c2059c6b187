//! A driver with its ends held by a test, and a profile that goes with it.
#![allow(dead_code, reason = "each test binary uses a part of it")]
#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm, reason = "tests")]

use std::path::PathBuf;
use std::time::Duration;

use cdp::{Commands, Config, Control, Endpoint, Launch, Observations};
use protocol::page::{
    Anchor, Answer, Ask, Attachment, CallId, Epoch, Look, Loss, Observation, PageCommand,
    StreamEnd, StreamEvent, TargetId, What,
};

/// Far beyond anything a healthy machine needs: a test that waits so long has failed.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A profile folder that goes with the test, and how to launch on it.
pub struct Profile(tempfile::TempDir);

impl Profile {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }
    pub fn path(&self) -> PathBuf {
        self.0.path().join("profile")
    }
    pub fn launch(&self) -> Endpoint {
        Endpoint::Launch(Launch {
            program: None,
            profile: self.path(),
            headless: true,
            args: Vec::new(),
        })
    }
}

impl Profile {
    /// The browser that runs on it, by the lock it keeps there.
    pub fn pid(&self) -> Option<i32> {
        let lock = std::fs::read_link(self.path().join("SingletonLock")).ok()?;
        lock.to_str()?.rsplit('-').next()?.parse().ok()
    }
}

impl Drop for Profile {
    /// A test that failed leaves no browser behind.
    fn drop(&mut self) {
        use nix::sys::signal::{Signal, killpg};
        if let Some(pid) = self.pid() {
            let _ = killpg(nix::unistd::Pid::from_raw(pid), Signal::SIGKILL);
        }
    }
}

/// The relay's two ends of a driver.
pub struct Ends {
    pub commands: Commands,
    pub observations: Observations,
    pub epoch: Epoch,
    calls: u64,
    /// What came by while something else was waited for.
    pub past: Vec<Observation>,
}

impl Ends {
    pub fn spawn(config: Config) -> Self {
        let (commands, observations) = cdp::spawn(config);
        Self {
            commands,
            observations,
            epoch: Epoch(0),
            calls: 0,
            past: Vec::new(),
        }
    }

    pub async fn attached(config: Config) -> (Self, Attachment) {
        let mut ends = Self::spawn(config);
        let attachment = ends.attachment().await;
        (ends, attachment)
    }

    /// The next observation that `pick` takes.
    pub async fn until<T>(&mut self, what: &str, mut pick: impl FnMut(&What) -> Option<T>) -> T {
        let taken = tokio::time::timeout(PATIENCE, async {
            loop {
                let Some(next) = self.observations.recv().await else {
                    panic!("the driver ended before {what}; it said {:#?}", self.past)
                };
                assert!(next.epoch >= self.epoch, "an epoch went back");
                self.epoch = next.epoch;
                let picked = pick(&next.what);
                self.past.push(next);
                if let Some(picked) = picked {
                    return picked;
                }
            }
        })
        .await;
        match taken {
            Ok(taken) => taken,
            Err(_) => panic!("no {what}; the driver said {:#?}", self.past),
        }
    }

    pub async fn attachment(&mut self) -> Attachment {
        self.until("attachment", |what| match what {
            What::Attached(a) => Some(a.clone()),
            What::Lost(loss) if *loss != Loss::Document => panic!("lost: {loss:?}"),
            _ => None,
        })
        .await
    }

    pub async fn look(&mut self, pick: impl Fn(&Look) -> bool) -> Look {
        self.until("look", |what| match what {
            What::Look(look) if pick(look) => Some((**look).clone()),
            _ => None,
        })
        .await
    }

    /// Every stream event so far, waiting for the first stream's end.
    pub async fn stream(&mut self) -> Vec<StreamEvent> {
        fn event(what: &What) -> Option<StreamEvent> {
            match what {
                What::Stream(report) => Some(report.event.clone()),
                _ => None,
            }
        }
        let end = |e: &StreamEvent| {
            matches!(e, StreamEvent::End(StreamEnd::Finished | StreamEnd::Failed))
        };
        if !self
            .past
            .iter()
            .filter_map(|o| event(&o.what))
            .any(|e| end(&e))
        {
            self.until("stream end", |what| event(what).filter(end))
                .await;
        }
        self.past.iter().filter_map(|o| event(&o.what)).collect()
    }

    /// Code and detail of an attachment that did not come about.
    pub async fn never(&mut self) -> (String, String) {
        match self.loss().await {
            Loss::NeverAttached { code, detail } => (code, detail),
            loss => panic!("another loss: {loss:?}"),
        }
    }

    /// Composes into an empty thread and submits.
    pub async fn submit_composed(&mut self, text: &str) -> Answer {
        let composed = self.compose(text, &[]).await;
        assert!(matches!(composed, Answer::Composed(_)), "{composed:?}");
        self.submit(text).await
    }

    pub async fn loss(&mut self) -> Loss {
        self.until("loss", |what| match what {
            What::Lost(loss) => Some(loss.clone()),
            _ => None,
        })
        .await
    }

    pub async fn tell(&mut self, ask: Ask) -> CallId {
        self.calls += 1;
        let call = CallId(self.calls);
        let command = PageCommand {
            call,
            epoch: self.epoch,
            ask,
        };
        self.control(Control::Page(command)).await;
        call
    }

    pub async fn control(&mut self, control: Control) {
        self.commands.send(control).await.unwrap();
    }

    pub async fn answer(&mut self, wanted: CallId) -> Answer {
        self.until("answer", |what| match what {
            What::Answer { call, answer } if *call == wanted => Some(answer.clone()),
            _ => None,
        })
        .await
    }

    pub async fn ask(&mut self, ask: Ask) -> Answer {
        let call = self.tell(ask).await;
        self.answer(call).await
    }

    pub async fn compose(&mut self, text: &str, ours: &[&str]) -> Answer {
        self.ask(Ask::Compose {
            text: text.into(),
            anchor: Anchor::Empty,
            ours: ours.iter().map(|t| (*t).into()).collect(),
        })
        .await
    }

    pub async fn submit(&mut self, text: &str) -> Answer {
        self.ask(Ask::Submit {
            text: text.into(),
            anchor: Anchor::Empty,
        })
        .await
    }

    /// Closes, and waits until the driver has ended.
    pub async fn close(mut self) {
        self.control(Control::Close {
            keep_browser: false,
        })
        .await;
        self.ended().await;
    }

    pub async fn ended(&mut self) {
        let ended = async { while self.observations.recv().await.is_some() {} };
        tokio::time::timeout(PATIENCE, ended)
            .await
            .expect("the driver ends");
    }
}

pub fn target(id: &str) -> TargetId {
    TargetId(id.to_owned())
}
