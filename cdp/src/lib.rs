//! The driver: one browser, one tab, one port.
//!
//! It finds or starts a browser, attaches to a single tab of it, types, submits
//! once under a guard, watches, and reads. It says what it saw and never what
//! that means; the core decides. It never attaches to, emulates, navigates or
//! closes a tab that is not its own, never activates one, and never reads or
//! writes the system clipboard.
//!
//! Start reading at [`spawn`] and `driver`: one loop, one event enum. A
//! `link` is the web socket, a `page` the session on our tab, `attach` how one
//! comes about, `live` what goes on while it stands.
//!
//! The port is a pair of ends: [`Commands`] and [`Observations`]. A simulator
//! takes the other end from [`port()`].

mod attach;
mod browser;
mod choose;
mod compose;
mod config;
mod copy;
mod driver;
mod error;
mod limits;
mod link;
mod live;
mod liveness;
mod page;
mod port;
mod raw;
mod submit;
mod watch;

pub use browser::close_left;
pub use browser::known_program;
pub use config::{Config, Endpoint, Launch, Scripts, TabWish};
pub use error::{BrowserFault, Error, OursFault, PageFault, TabFault, TabSeen};
pub use limits::Limits;
pub use port::{Closed, Commands, Control, Observations, Outbox, Port, port};

/// Log targets that write whole messages, prompts and replies included. The
/// log subscriber must drop them at any level.
pub const NOISY_TARGETS: &[&str] = &[
    "chromiumoxide",
    "async_tungstenite",
    "tungstenite",
    "tokio_tungstenite",
];

/// Starts the driver on the current tokio runtime and attaches at once.
///
/// What comes of it is the first observation: `Attached`, or `Lost` with
/// `NeverAttached` and a stable code. After a loss nothing happens by itself
/// (a new document in the same tab excepted) until [`Control::Attach`] or
/// [`Control::Relaunch`]. The driver ends, and the observations with it, after
/// [`Control::Close`] or when either end is dropped; a launched browser is
/// then closed unless told to be kept.
pub fn spawn(config: Config) -> (Commands, Observations) {
    let (commands, observations, port) = port();
    tokio::spawn(driver::run(config, port));
    (commands, observations)
}
