//! The port: commands in, observations out, both bounded.
//!
//! Observations are kept until they are taken. Where the taker is slow, old
//! looks give way to new ones; a piece of a stream never goes without a `Gap`
//! in its place.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use protocol::page::{
    ConversationId, Epoch, Observation, PageCommand, StreamEnd, StreamEvent, StreamReport, What,
};
use tokio::sync::{Notify, mpsc};

use crate::config::TabWish;
use crate::watch::DATA_BYTES_MAX;

/// Commands that may wait for the driver.
const CONTROLS_MAX: usize = 32;
/// Looks that may wait for their taker.
const LOOKS_MAX: usize = 16;
/// Bytes of streams that may wait for their taker.
const STREAM_BYTES_MAX: usize = 16 << 20;
const _: () = assert!(DATA_BYTES_MAX < STREAM_BYTES_MAX);
/// Reports of malformed data, and of dialogs, that may wait.
const REPORTS_MAX: usize = 64;
/// Everything together. Over it nobody is taking, and the driver ends.
const ALL_MAX: usize = 16_384;

/// What the driver is told.
#[derive(Debug, Clone, PartialEq)]
pub enum Control {
    /// An act on the page, answered once.
    Page(PageCommand),
    /// Attach again after a loss, to the tab wished for now; none: as before.
    /// A hung or crashed renderer is cured first where that is possible.
    Attach(Option<TabWish>),
    /// Start our own browser anew on its profile and attach, to the tab wished for
    /// now; none: as before.
    Relaunch(Option<TabWish>),
    /// The conversation is bound: from now on nothing is typed, clicked or
    /// copied while the tab shows another one.
    Bind(ConversationId),
    /// End. A browser that we launched is closed unless it is to be kept.
    Close {
        /// Leave it running.
        keep_browser: bool,
    },
}

/// The other end of the port is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Closed;

impl fmt::Display for Closed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the driver has ended")
    }
}

impl std::error::Error for Closed {}

/// The end that gives commands.
#[derive(Debug, Clone)]
pub struct Commands(mpsc::Sender<Control>);

impl Commands {
    /// Hands one over, waiting while too many wait already.
    ///
    /// # Errors
    /// [`Closed`] when the driver has ended.
    pub async fn send(&self, control: Control) -> Result<(), Closed> {
        self.0.send(control).await.map_err(|_| Closed)
    }
}

/// The end that takes observations.
#[derive(Debug)]
pub struct Observations(Arc<Shared>);

impl Observations {
    /// The next one, in order; none once the driver has ended and all are taken.
    pub async fn recv(&mut self) -> Option<Observation> {
        loop {
            let woken = self.0.ready.notified();
            {
                let mut queue = self.0.lock();
                if let Some(next) = queue.pop() {
                    return Some(next);
                }
                if queue.closed {
                    return None;
                }
            }
            woken.await;
        }
    }
}

impl Drop for Observations {
    fn drop(&mut self) {
        self.0.lock().closed = true;
        self.0.gone.notify_one();
    }
}

/// The driver's side of the port; a simulator holds it in the driver's place.
#[derive(Debug)]
pub struct Port {
    /// What it is told.
    pub controls: mpsc::Receiver<Control>,
    /// Where it reports.
    pub out: Outbox,
}

/// The end that reports. Dropping it ends the observations.
#[derive(Debug)]
pub struct Outbox(Arc<Shared>);

impl Outbox {
    /// Reports one fact of an epoch. Never waits.
    pub fn push(&self, epoch: Epoch, what: What) {
        let mut queue = self.0.lock();
        if !queue.closed {
            queue.put(Observation { epoch, what });
            if queue.closed {
                self.0.gone.notify_one();
            }
        }
        drop(queue);
        self.0.ready.notify_one();
    }

    /// Whether nobody takes any more.
    pub fn is_closed(&self) -> bool {
        self.0.lock().closed
    }

    /// Waits until nobody takes any more.
    pub async fn closed(&self) {
        while !self.is_closed() {
            self.0.gone.notified().await;
        }
    }
}

impl Drop for Outbox {
    fn drop(&mut self) {
        self.0.lock().closed = true;
        self.0.ready.notify_one();
    }
}

/// A fresh port: the two ends of the relay, and the driver's side.
pub fn port() -> (Commands, Observations, Port) {
    let (tx, controls) = mpsc::channel(CONTROLS_MAX);
    let shared = Arc::new(Shared::default());
    (
        Commands(tx),
        Observations(Arc::clone(&shared)),
        Port {
            controls,
            out: Outbox(shared),
        },
    )
}

#[derive(Debug, Default)]
struct Shared {
    queue: Mutex<Queue>,
    ready: Notify,
    gone: Notify,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        // No code of ours panics while it holds the queue.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug, Default)]
struct Queue {
    items: VecDeque<Observation>,
    stream_bytes: usize,
    /// Reports of streams in this epoch so far, those that found no room included.
    counted: (Epoch, u64),
    closed: bool,
}

impl Queue {
    fn pop(&mut self) -> Option<Observation> {
        let next = self.items.pop_front()?;
        self.stream_bytes -= weight(&next.what);
        Some(next)
    }

    fn put(&mut self, mut new: Observation) {
        if let What::Stream(report) = &mut new.what {
            if self.counted.0 != new.epoch {
                self.counted = (new.epoch, 0);
            }
            self.counted.1 += 1;
            report.n = self.counted.1;
        }
        match &new.what {
            What::Look(_) => self.make_room(LOOKS_MAX, |what| matches!(what, What::Look(_))),
            What::Beat(_) => self.make_room(1, |what| matches!(what, What::Beat(_))),
            What::Dialog { .. } => {
                self.make_room(REPORTS_MAX, |what| matches!(what, What::Dialog { .. }));
            }
            What::Malformed { .. } => {
                self.make_room(REPORTS_MAX, |what| matches!(what, What::Malformed { .. }));
            }
            What::Stream(report) => {
                let new_bytes = weight(&new.what);
                if self.stream_bytes + new_bytes > STREAM_BYTES_MAX {
                    let gap = Observation {
                        epoch: new.epoch,
                        what: What::Stream(StreamReport {
                            n: report.n,
                            request: report.request.clone(),
                            event: StreamEvent::End(StreamEnd::Gap),
                        }),
                    };
                    let stands = self.items.back().is_some_and(|last| {
                        matches!(&last.what, What::Stream(last) if last.request == report.request
                            && last.event == StreamEvent::End(StreamEnd::Gap))
                    });
                    if !stands {
                        self.items.push_back(gap);
                    }
                    return;
                }
                self.stream_bytes += new_bytes;
            }
            What::Attached(_) | What::Answer { .. } | What::Lost(_) => {}
        }
        self.items.push_back(new);
        if self.items.len() > ALL_MAX {
            self.closed = true;
            self.items.clear();
            self.stream_bytes = 0;
        }
    }

    /// Drops the oldest of a kind until one more fits under `max`.
    fn make_room(&mut self, max: usize, kind: impl Fn(&What) -> bool) {
        let mut count = self.items.iter().filter(|o| kind(&o.what)).count();
        while count >= max {
            if let Some(at) = self.items.iter().position(|o| kind(&o.what)) {
                self.items.remove(at);
            }
            count -= 1;
        }
    }
}

/// How many bytes of a stream an observation holds.
fn weight(what: &What) -> usize {
    match what {
        What::Stream(StreamReport { event, .. }) => match event {
            StreamEvent::Sent { url, body } => {
                url.len() + body.as_ref().map_or(0, |b| b.as_str().len())
            }
            StreamEvent::Data { data } => data.as_str().len(),
            StreamEvent::Fetched { url, body } => url.len() + body.as_str().len(),
            StreamEvent::Status { .. } | StreamEvent::End(_) => 0,
        },
        What::Attached(_)
        | What::Look(_)
        | What::Answer { .. }
        | What::Beat(_)
        | What::Lost(_)
        | What::Dialog { .. }
        | What::Malformed { .. } => 0,
    }
}

#[cfg(test)]
mod tests;
