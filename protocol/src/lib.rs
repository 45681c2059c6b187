//! pi-bridge/1, settled: the words on the wire and the rules of the game.
//!
//! This crate decides and never acts. It takes time and chance as arguments,
//! returns effects, and knows nothing that can wait, read a clock, draw a
//! number or open a file (the `clippy.toml` beside it holds the wall).
//!
//! Start reading at [`session`]: one machine, one input at a time. What is
//! durable is in [`record`]; what the page can say and be told is in [`page`].

pub mod establish;
pub mod fault;
pub mod fence;
pub mod frame;
pub mod id;
pub mod limits;
mod line;
pub mod message;
pub mod outcome;
pub mod page;
pub mod plan;
pub mod planted;
pub mod record;
pub mod recovery;
pub mod reply;
pub mod send;
pub mod session;
#[cfg(test)]
pub(crate) mod testing;
pub mod text;
pub mod time;
pub mod wire;
