//! Who carries plans out: one plan in, a receipt out, or plainly *in doubt*.
//!
//! An execution is three processes deep. The relay starts the [`wrapper`], which survives the
//! relay and writes the exit record (K1, K6). The wrapper starts the [`keeper`], inside the
//! [`sandbox`], which starts the plan's commands and sees every process end. All three are `brb`
//! itself, entered again by [`dispatch_hidden`].
//!
//! How the relay uses it:
//! - at the start [`Carrier::preflight`], and for a new session [`Carrier::check_fresh`];
//! - for each accepted plan [`Carrier::busy`] (nobody at work in the folder), then
//!   [`Carrier::approve`], [`Carrier::spawn`], make *started* durable, [`Spawned::release`],
//!   [`Running::outcome`]; a [`Stopper`] ends it early;
//! - after a restart [`adopt`] on the job folder of a plan that was started.
//!
//! Nothing here knows the page, the protocol or the journal. The wrapper and the keeper read the
//! monotonic clock themselves (ours): they are processes of their own and outlive the relay's.
//!
//! Inside bubblewrap `.git` is read-only as a whole (ours, the stricter reading): a plan can ask
//! git anything and commit nothing. Landlock cannot except a folder from a writable one; there
//! the receipt says so, and says when configuration, hooks or HEAD have changed.

mod approve;
mod capture;
mod env;
mod error;
pub mod keeper;
pub mod lock;
mod log;
mod order;
mod port;
pub mod proc;
pub mod quote;
pub mod readonly;
pub mod receipt;
pub mod record;
mod running;
pub mod sandbox;
pub mod undo;
pub mod wrapper;

use std::process::ExitCode;

pub use approve::{Answer, Approval, Approver, Question};
pub use error::AgentError;
pub use order::{
    AgentKind, Approve, Limits, Order, SandboxKind, SandboxRule, Settings, UndoRule, Verdict,
    job_dir,
};
pub use port::{Carrier, Preflight};
pub use record::{Ended, ExitRecord};
pub use running::{Adopted, Outcome, Running, Spawned, Stopper, adopt};

/// The wrapper's hidden entry.
pub const AGENT: &str = "__agent";
/// The keeper's hidden entry.
pub const KEEP: &str = "__keep";
/// The sandbox's hidden entry.
pub const SANDBOX: &str = "__sandbox";

/// Carries out a hidden entry of `brb`; `None` where the arguments are a person's. To be called
/// before anything else in `main`.
#[must_use]
pub fn dispatch_hidden() -> Option<ExitCode> {
    let mut args = std::env::args_os().skip(1);
    let entry = args.next()?;
    let rest = || -> Vec<String> { args.map(|a| a.to_string_lossy().into_owned()).collect() };
    match entry.to_str()? {
        AGENT => Some(wrapper::main(&rest())),
        KEEP => Some(keeper::main()),
        SANDBOX => Some(sandbox::main(&rest())),
        _ => None,
    }
}
