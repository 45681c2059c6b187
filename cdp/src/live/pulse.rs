//! Heartbeats: who is asked, and what silence means.

use chromiumoxide::cdp::browser_protocol::browser::GetVersionParams;
use chromiumoxide::cdp::browser_protocol::page::{
    SetWebLifecycleStateParams, SetWebLifecycleStateState,
};
use protocol::page::What;
use serde_json::Value;
use tokio::time::{Duration, Instant};

use super::{End, Inner, Live};
use crate::error::{CallError, PageFault};
use crate::limits::Limit;
use crate::page::World;
use crate::port::Outbox;

/// Answered by a renderer that runs its tasks; one that is frozen answers the
/// bare constant and not this.
const PROBE: &str = "new Promise(done => setTimeout(done, 0, 1))";

impl Live {
    pub(super) fn beat(&mut self, out: &Outbox) -> Option<End> {
        let now = Instant::now();
        if let Some(since) = self.changing
            && now.duration_since(since) > self.limits.attach().span()
        {
            let why = "no new document came within attach_ms".to_owned();
            return Some(End::NoDocument(PageFault::Silent { why }.into()));
        }
        self.excuse(now);
        let tick = self
            .hearts
            .tick(now, !self.dialog && self.changing.is_none());
        self.news(out);
        if tick.dead {
            return Some(End::Silent);
        }
        if tick.hung {
            return Some(End::Hung);
        }
        if tick.ask_browser {
            let link = self.page.link.clone();
            let span = self.limits.heartbeat_ms * (u64::from(self.limits.heartbeat_misses) + 1);
            self.tasks.spawn(async move {
                let limit = Limit("heartbeat_ms", span);
                let answer = link.call(None, GetVersionParams::default(), limit).await;
                Inner::Browser(spoke(&answer))
            });
        }
        if let Some(world) = self.worlds.ours.clone() {
            if tick.ask_renderer {
                self.probe(world, PROBE, self.limits.renderer(), Inner::Renderer);
            } else if tick.diagnose && !self.diagnosing {
                self.diagnosing = true;
                let limit = Limit("heartbeat_ms", self.limits.heartbeat_ms);
                self.probe(world, "1", limit, Inner::Constant);
            }
        }
        None
    }

    /// When the renderer counts as hung, should it stay silent; none while nothing is
    /// awaited of it, or nothing can be.
    pub(super) fn overdue_at(&self) -> Option<Instant> {
        let reachable = !self.dialog && self.changing.is_none();
        self.hearts.hung_at().filter(|_| reachable)
    }

    /// That moment is here.
    pub(super) fn overdue(&mut self) -> Option<End> {
        let now = Instant::now();
        self.excuse(now);
        self.hearts.is_hung(now).then_some(End::Hung)
    }

    /// Where this side itself did not run for a while, answers may lie unread: the
    /// page's silence counts from now on.
    fn excuse(&mut self, now: Instant) {
        let turn_ms = self.limits.heartbeat_ms.saturating_mul(2);
        if now.duration_since(self.turned) > Duration::from_millis(turn_ms) {
            self.hearts.excuse(now);
        }
    }

    pub(super) fn probe(
        &mut self,
        world: World,
        what: &'static str,
        limit: Limit,
        as_: fn(bool) -> Inner,
    ) {
        let page = self.page.clone();
        self.tasks.spawn(async move {
            let answer = page.evaluate(&world, what, limit).await;
            as_(spoke(&answer))
        });
    }

    pub(super) fn thaw(&mut self) {
        let page = self.page.clone();
        self.tasks.spawn(async move {
            let active = SetWebLifecycleStateParams::new(SetWebLifecycleStateState::Active);
            if let Err(error) = page.call(active).await {
                tracing::warn!(%error, "the page stays frozen");
            }
            Inner::Nothing
        });
    }

    pub(super) fn news(&mut self, out: &Outbox) {
        if let Some(beat) = self.hearts.news() {
            out.push(self.epoch, What::Beat(beat));
        }
    }
}

/// Whether anything was answered at all; a refusal is an answer too.
pub(super) fn spoke(answer: &Result<Value, CallError>) -> bool {
    match answer {
        Ok(_) | Err(CallError::Refused(_) | CallError::Malformed(_)) => true,
        Err(
            CallError::Timeout(_) | CallError::Closed | CallError::Detached | CallError::Crashed,
        ) => false,
    }
}
