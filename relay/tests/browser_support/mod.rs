//! The real driver and page scripts on the stand-in page.
#![allow(dead_code, reason = "each test binary uses a part of it")]

#[path = "../../../cdp/tests/common/ends.rs"]
mod ends;

use cdp::{Config, Limits, TabWish};
pub use ends::{Ends, Profile};
use fixtures::scenario::Scenario;
use fixtures::server::{Layout, Standin, StandinConfig, start};
use protocol::page::{Anchor, Answer, Ask, Epoch, Reading, Role, TurnId};

/// Both generations of the page.
pub const LAYOUTS: [Layout; 2] = [Layout::Classic, Layout::Keyed];

/// A stand-in page, a browser of its own on it, and the driver's ends.
pub struct Stage {
    pub page: Standin,
    pub ends: Ends,
    pub profile: Profile,
}

pub async fn standin(layout: Layout, faults: &[(&str, &str)]) -> Standin {
    let mut config = StandinConfig::new(Scenario::builtin("ack-then-done").expect("built in"));
    config.layout = layout;
    for (step, fault) in faults {
        let mut spec: serde_json::Value = serde_json::from_str(fault).expect("a fault");
        spec["step"] = (*step).into();
        config
            .faults
            .push(serde_json::from_value(spec).expect("a fault"));
    }
    start(config).await.expect("the stand-in starts")
}

pub fn driver(page: &Standin, profile: &Profile) -> Config {
    Config {
        endpoint: profile.launch(),
        tab: TabWish {
            open_at: Some(page.url.clone()),
            ..TabWish::default()
        },
        // A test looks into this world from beside.
        scripts: cdp::Scripts {
            world: "brb-test".to_owned(),
            ..relay::scripts::scripts()
        },
        stream_paths: relay::scripts::stream_paths(),
        limits: Limits::DEFAULT,
        last_epoch: Epoch(0),
        keep_browser: false,
    }
}

impl Stage {
    /// Faults are pairs of a step and the fault's object without it.
    pub async fn set(layout: Layout, faults: &[(&str, &str)]) -> Self {
        let page = standin(layout, faults).await;
        let profile = Profile::new();
        let config = driver(&page, &profile);
        Self::on(page, profile, config).await
    }

    /// With a page, a profile and a driver's configuration of one's own.
    pub async fn on(page: Standin, profile: Profile, config: Config) -> Self {
        let (mut ends, _) = Ends::attached(config).await;
        ends.look(|look| look.hydrated && look.composer.present)
            .await;
        Self {
            page,
            ends,
            profile,
        }
    }

    pub async fn strike(self) {
        self.ends.close().await;
        self.page.shutdown().await;
    }

    pub async fn read(&mut self) -> Reading {
        match self.ends.ask(Ask::Read).await {
            Answer::Read(reading) => reading,
            other => panic!("not read: {other:?}"),
        }
    }

    /// The anchor of a complete reading, and the last reply's turn.
    pub async fn anchor(&mut self) -> (Anchor, Option<TurnId>) {
        let reading = self.read().await;
        let last = reading.turns.last();
        let id = last.and_then(|turn| turn.key.settled().cloned());
        let reply = last
            .filter(|turn| turn.role == Role::Assistant)
            .and(id.clone());
        (id.map_or(Anchor::Empty, Anchor::After), reply)
    }

    pub async fn compose(&mut self, text: &str, anchor: &Anchor, ours: &[&str]) -> Answer {
        self.ends
            .ask(Ask::Compose {
                text: text.into(),
                anchor: anchor.clone(),
                ours: ours.iter().map(|text| (*text).into()).collect(),
            })
            .await
    }

    pub async fn submit(&mut self, text: &str, anchor: &Anchor) -> Answer {
        self.ends
            .ask(Ask::Submit {
                text: text.into(),
                anchor: anchor.clone(),
            })
            .await
    }

    pub async fn clear(&mut self, ours: &[&str]) -> Answer {
        let ours = ours.iter().map(|text| (*text).into()).collect();
        self.ends.ask(Ask::ClearDraft { ours }).await
    }

    /// Waits for a finished reply as the last turn.
    pub async fn reply(&mut self) {
        self.ends
            .look(|look| {
                let last = look.tail.last();
                look.is_idle()
                    && last
                        .and_then(|turn| turn.reply.as_ref())
                        .is_some_and(|r| r.bar)
            })
            .await;
    }

    /// Texts of our turns as the server received them.
    pub fn received(&self) -> Vec<String> {
        let turns = self.page.turns().turns;
        turns
            .into_iter()
            .filter(|turn| turn.role == fixtures::log::Role::User)
            .map(|turn| turn.text)
            .collect()
    }
}
