//! A simulated world: the production core in virtual time, with everything around it
//! made up and able to go wrong. One thread, one seed, no I/O; a run repeats exactly.
//!
//! Start at [`World`]: its clock and what is going to happen. [`fault`] names what can
//! go wrong, `check` what must hold all the same, [`sweep`] runs many sessions. The core
//! is `run::Core`, the very one that the relay's loop drives.

mod agent;
mod check;
mod course;
mod disk;
mod driver;
pub mod fault;
mod meddle;
mod page;
mod person;
mod process;
mod remote;
mod reply;
mod server;
mod stream;
pub mod sweep;
mod view;
mod world;

pub use check::Violation;
pub use course::Course;
pub use world::World;

/// A disk of a simulated world, to be held against the real one.
#[cfg(test)]
pub(crate) fn disk() -> impl protocol::record::Journal {
    disk::Disk::default()
}

#[cfg(test)]
mod tests;
