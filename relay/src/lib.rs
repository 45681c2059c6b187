//! relay: the service around the protocol, and its command line `brb`.

pub mod agent;
pub mod claims;
pub mod cli;
pub mod clock;
pub mod config;
pub mod crash;
pub mod demo;
pub mod faults;
pub mod ids;
pub mod index;
pub mod journal;
pub mod name;
pub mod output;
pub mod pacing;
pub mod place;
pub mod recording;
pub mod run;
pub mod sabotage;
pub mod scripts;
pub mod seat;
pub mod sim;
pub mod start;
pub mod telemetry;
#[cfg(test)]
pub(crate) mod testing;
