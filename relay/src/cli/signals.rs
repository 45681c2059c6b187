//! Signals as input, and the runtime that waits for them.

use std::{future::Future, time::Duration};

use protocol::{fault::Code, outcome::Signal};
use tokio::{
    signal::unix::{SignalKind, signal},
    sync::mpsc,
};

use super::failure::Failure;

/// Signals that may wait: the first stops, the second stops at once, more say
/// nothing new.
const SIGNALS_MAX: usize = 4;

/// How long tasks that do not end by themselves are waited for at the end.
const END_MS: u64 = 500;

/// From here on SIGINT, SIGTERM and SIGHUP do not end the process but are told.
pub(super) fn listen() -> Result<mpsc::Receiver<Signal>, Failure> {
    let (tell, told) = mpsc::channel(SIGNALS_MAX);
    for (kind, means) in [
        (SignalKind::interrupt(), Signal::Interrupt),
        (SignalKind::terminate(), Signal::Terminate),
        (SignalKind::hangup(), Signal::Terminate),
    ] {
        let mut stream = signal(kind).map_err(|error| {
            Failure::of(
                Code::Config,
                format!("listening for signals failed: {error}"),
            )
        })?;
        let tell = tell.clone();
        tokio::spawn(async move {
            while stream.recv().await.is_some() {
                // A full queue holds all that a signal can say.
                let _ = tell.try_send(means);
            }
        });
    }
    Ok(told)
}

/// Runs a command's work to its end.
pub(super) fn block_on<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| {
            Failure::of(
                Code::Config,
                format!("starting the runtime failed: {error}"),
            )
        })?;
    let done = runtime.block_on(work);
    runtime.shutdown_timeout(Duration::from_millis(END_MS));
    done
}
