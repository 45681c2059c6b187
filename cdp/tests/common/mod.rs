//! A tiny chat page served on loopback, a tiny observer for it, and a driver.
#![allow(dead_code, reason = "each test binary uses a part of it")]
#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm, reason = "tests")]

mod ends;
pub mod fake;
pub mod proxy;
pub mod raw;
pub mod site;

use cdp::{Config, Endpoint, Limits, Scripts, TabWish};
#[allow(unused_imports, reason = "each test binary uses a part of it")]
pub use ends::{Ends, PATIENCE, Profile, target};
use protocol::page::Epoch;

pub fn scripts() -> Scripts {
    Scripts {
        world: "brb-test".to_owned(),
        observe: include_str!("observe.js").to_owned(),
        compose: include_str!("../../../capture/page/compose.js").to_owned(),
        submit_guard: include_str!("../../../capture/page/submit_guard.js").to_owned(),
        copyhook: include_str!("../../../capture/page/copyhook.js").to_owned(),
    }
}

pub fn config(endpoint: Endpoint, open_at: &str) -> Config {
    Config {
        endpoint,
        tab: TabWish {
            open_at: Some(open_at.to_owned()),
            ..TabWish::default()
        },
        scripts: scripts(),
        stream_paths: vec!["/conversation".to_owned()],
        limits: Limits::DEFAULT,
        last_epoch: Epoch(0),
        keep_browser: false,
    }
}

/// A browser that runs on a profile of its own, started by a driver that has
/// let go of it.
pub struct Running {
    pub profile: Profile,
    pub raw: raw::Raw,
}

impl Running {
    pub async fn start(site: &site::Site) -> Self {
        let profile = Profile::new();
        let url = site.url("127.0.0.1", "/");
        let (mut ends, _) = Ends::attached(config(profile.launch(), &url)).await;
        ends.control(cdp::Control::Close { keep_browser: true })
            .await;
        ends.ended().await;
        let raw = raw::Raw::of(&profile.path()).await;
        Self { profile, raw }
    }

    pub fn endpoint(&self) -> Endpoint {
        Endpoint::Http(format!("http://127.0.0.1:{}", self.raw.port))
    }
}
