//! Looks at the page for commands that only look: attach, watch, let go.

use std::time::Duration;

use protocol::{
    outcome::Signal,
    page::{
        Answer, Ask, Attachment, CallId, Epoch, Look, Loss, Observation, PageCommand, Survey, What,
    },
};
use tokio::{sync::mpsc, time::timeout};

/// What was seen until it was enough, or until the time was over.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub attachment: Option<Attachment>,
    pub look: Option<Look>,
    pub lost: Option<Loss>,
    pub dialog: Option<String>,
    pub signal: Option<Signal>,
    /// What was wanted was seen.
    pub enough: bool,
    /// What a survey found, where one was asked for.
    pub survey: Option<Survey>,
    epoch: Epoch,
}

/// A survey of the page at the end of a watch.
const SURVEY_MS: u64 = 10_000;

/// Attaches and watches until `enough` says so, something is lost for good, a
/// signal comes, or `wait` is over.
pub(super) async fn watch(
    config: cdp::Config,
    wait: Duration,
    signals: &mut mpsc::Receiver<Signal>,
    survey: bool,
    mut enough: impl FnMut(&Look) -> bool,
) -> Seen {
    let (keep_browser, limits) = (config.keep_browser, config.limits);
    let (commands, mut observations) = cdp::spawn(config);
    let mut seen = Seen::default();
    let watching = async {
        loop {
            let what = tokio::select! {
                signal = signals.recv() => {
                    seen.signal = signal;
                    return;
                }
                observation = observations.recv() => match observation {
                    Some(observation) => {
                        seen.epoch = observation.epoch;
                        observation.what
                    }
                    None => return,
                },
            };
            match what {
                What::Attached(attachment) => seen.attachment = Some(attachment),
                What::Look(look) => {
                    seen.enough = enough(&look);
                    seen.look = Some(*look);
                    if seen.enough {
                        return;
                    }
                }
                What::Dialog { message, .. } => seen.dialog = Some(message),
                // A new document in the same tab follows by itself.
                What::Lost(Loss::Document) => {}
                What::Lost(loss) => {
                    seen.lost = Some(loss);
                    return;
                }
                What::Stream(_) | What::Answer { .. } | What::Beat(_) | What::Malformed { .. } => {}
            }
        }
    };
    // What was seen by then is what there is.
    let _ = timeout(wait, watching).await;
    if survey && seen.look.is_some() && seen.lost.is_none() {
        let asked = ask_survey(&commands, &mut observations, seen.epoch);
        seen.survey = timeout(Duration::from_millis(SURVEY_MS), asked)
            .await
            .ok()
            .flatten();
    }
    let driver = (commands, observations);
    let again = let_go(driver, keep_browser, &limits, signals).await;
    seen.signal = seen.signal.or(again);
    seen
}

/// Lets go of the browser and waits until the driver has ended: a tab or browser of ours
/// is gone then. A signal meanwhile ends the wait, and is given.
pub(super) async fn let_go(
    (commands, mut observations): (cdp::Commands, cdp::Observations),
    keep_browser: bool,
    limits: &cdp::Limits,
    signals: &mut mpsc::Receiver<Signal>,
) -> Option<Signal> {
    let closing = async {
        let close = cdp::Control::Close { keep_browser };
        if commands.send(close).await.is_ok() {
            while observations.recv().await.is_some() {}
        }
    };
    tokio::select! {
        signal = signals.recv() => signal,
        _ = timeout(Duration::from_millis(limits.close_ms()), closing) => None,
    }
}

async fn ask_survey(
    commands: &cdp::Commands,
    observations: &mut cdp::Observations,
    epoch: Epoch,
) -> Option<Survey> {
    let call = CallId(1);
    let ask = Ask::Survey;
    let command = PageCommand { call, epoch, ask };
    commands.send(cdp::Control::Page(command)).await.ok()?;
    loop {
        let Observation { what, .. } = observations.recv().await?;
        if let What::Answer { answer, .. } = what {
            return match answer {
                Answer::Survey(survey) => Some(survey),
                Answer::Done
                | Answer::Read(_)
                | Answer::Html { .. }
                | Answer::Composed(_)
                | Answer::Submitted(_)
                | Answer::Copied { .. }
                | Answer::Refused(_)
                | Answer::Failed(_) => None,
            };
        }
    }
}
