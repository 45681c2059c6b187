//! The page's own copy of a reply, taken before it reaches any clipboard.

use protocol::page::{Answer, Click, Refusal, TurnId};
use protocol::text::Private;
use serde_json::{Value, json};
use tokio::time::{Duration, Instant, sleep};

use crate::compose::{Desk, failed, left};
use crate::error::CallError;
use crate::submit::Arming;

/// Between two looks into the catcher.
const STEP: Duration = Duration::from_millis(20);

impl Desk {
    //= spec C7
    /// The catcher stands before the click and goes after it, whatever happens.
    pub(crate) async fn copy(&self, turn: TurnId) -> Answer {
        let Some(main) = &self.main else {
            return failed(CallError::Refused(
                "the page has no world of its own".into(),
            ));
        };
        let limit = self.page.limits.copy();
        let hold_ms = limit.1.saturating_mul(2);
        let hook = format!("{}\n;brbCopy.install({hold_ms})", self.copyhook);
        if let Err(error) = self.page.evaluate(main, &hook, limit).await {
            return failed(error);
        }
        let answer = self.copy_under_hook(&turn, hold_ms).await;
        let gone = self
            .page
            .evaluate(main, "brbCopy.remove()", self.page.limits.call())
            .await;
        if let Err(error) = gone {
            tracing::debug!(%error, "the catcher was left to its own clock");
        }
        match answer {
            Ok(answer) => answer,
            Err(error) => failed(error),
        }
    }

    async fn copy_under_hook(&self, turn: &TurnId, hold_ms: u64) -> Result<Answer, CallError> {
        let limit = self.page.limits.copy();
        let began = Instant::now();
        let argument = json!({
            "turn": turn, "conversation": self.conversation, "hold_ms": hold_ms,
        });
        let (x, y) = match self.arm("brbGuard.armCopy", argument, limit).await {
            Ok(Arming::Armed { x, y }) => (x, y),
            Ok(Arming::Refused(refusal)) => return Ok(Answer::Refused(refusal)),
            Err(error) => return Ok(self.unarmed(error).await),
        };
        if let Click::Stopped { hit } = self.press(x, y, limit).await? {
            return Ok(Answer::Refused(Refusal::Covered { by: hit }));
        }
        let main = self.main.as_ref().ok_or(CallError::Closed)?;
        while left(began, limit).1 > 0 {
            let taken = self
                .page
                .evaluate(main, "brbCopy.take()", self.page.limits.call())
                .await?;
            if let Value::String(text) = taken {
                if text.len() > self.page.limits.observation_bytes_max {
                    return Err(CallError::Malformed("the copy is over its limit".into()));
                }
                return Ok(Answer::Copied {
                    turn: turn.clone(),
                    text: Private::from(text),
                });
            }
            sleep(STEP).await;
        }
        Err(CallError::Timeout(limit.0))
    }
}
