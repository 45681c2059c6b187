//! The machine against a page, a journal and an agent that live in memory.

mod adopted;
mod ends;
mod found;
mod lost;
mod manual;
mod matrix;
mod random;
mod recover;
mod review;
mod rounds;
mod sends;
mod words;
mod world;
