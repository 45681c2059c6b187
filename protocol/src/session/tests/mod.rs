//! The machine against a page, a journal and an agent that live in memory.

mod matrix;
mod situations;
mod world;
