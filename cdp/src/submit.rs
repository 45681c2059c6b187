//! The one trusted click on the send control, under the guard.

use protocol::page::{Anchor, Answer, Click, Refusal};
use protocol::text::Private;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::{Duration, Instant, sleep};

use crate::compose::{Desk, failed, left};
use crate::error::CallError;
use crate::limits::Limit;

/// Between two tries at a control that is not ready yet, and between two
/// questions to the guard.
const STEP: Duration = Duration::from_millis(40);
/// So often the guard is asked what became of a click.
const ASKS_MAX: u32 = 5;

/// What arming the guard came to.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Arming {
    /// It stands; click here.
    Armed {
        /// In CSS pixels of the viewport.
        x: f64,
        /// In CSS pixels of the viewport.
        y: f64,
    },
    /// It does not, and nothing was touched.
    Refused(Refusal),
}

impl Desk {
    //= spec S2
    //= spec S4
    //= spec S8
    //= spec C7
    /// Anchor, idleness, text and control are checked in the evaluation that
    /// arms the guard. From the first mouse event on, nothing but the guard's
    /// word is proof; whatever fails then is a failure, never a refusal.
    pub(crate) async fn submit(&self, text: &Private, anchor: &Anchor) -> Answer {
        let limit = self.page.limits.submit();
        let began = Instant::now();
        let argument = json!({
            "text": text,
            "anchor": anchor,
            "conversation": self.conversation,
            "hold_ms": limit.1.saturating_mul(4),
        });
        let (x, y) = loop {
            let rest = left(began, limit);
            match self.arm("brbGuard.arm", argument.clone(), limit).await {
                Ok(Arming::Armed { x, y }) => break (x, y),
                // The page may take a moment to show its control.
                Ok(Arming::Refused(Refusal::NoSend)) if rest.1 > 0 => sleep(STEP).await,
                Ok(Arming::Refused(refusal)) => return Answer::Refused(refusal),
                Err(error) => return self.unarmed(error).await,
            }
        };
        match self.press(x, y, limit).await {
            Ok(click) => Answer::Submitted(click),
            Err(error) => failed(error),
        }
    }

    pub(crate) async fn arm(
        &self,
        function: &str,
        argument: Value,
        limit: Limit,
    ) -> Result<Arming, CallError> {
        let function = format!("function (argument) {{ return {function}(argument); }}");
        self.page.ask(&self.world, &function, argument, limit).await
    }

    /// Clicks under an armed guard, asks what it saw, and takes it down.
    pub(crate) async fn press(&self, x: f64, y: f64, limit: Limit) -> Result<Click, CallError> {
        let clicked = self.page.click(x, y, limit).await;
        let mut seen = Ok(Click::Silent);
        if clicked.is_ok() {
            for _ in 0..ASKS_MAX {
                seen = self
                    .page
                    .ask(
                        &self.world,
                        "function () { return brbGuard.report(); }",
                        Value::Null,
                        self.page.limits.call(),
                    )
                    .await;
                if !matches!(seen, Ok(Click::Silent)) {
                    break;
                }
                sleep(STEP).await;
            }
        }
        self.disarm().await;
        clicked?;
        seen
    }

    /// The arming itself failed: no click follows, and the guard comes down.
    pub(crate) async fn unarmed(&self, error: CallError) -> Answer {
        self.disarm().await;
        failed(error)
    }

    async fn disarm(&self) {
        // In a page that does not answer the guard comes down by its own clock.
        let down = self
            .page
            .evaluate(&self.world, "brbGuard.disarm()", self.page.limits.call())
            .await;
        if let Err(error) = down {
            tracing::debug!(%error, "the guard was left to its own clock");
        }
    }
}
