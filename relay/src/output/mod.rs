//! What a run tells: JSON lines for programs, text and progress for people.
//!
//! Both are derived from the stored records ([`Event`]), so that nothing is
//! told that the journal does not hold; only waiting is told from what is seen.
//! Whatever came from the page or from a plan is made harmless before it is
//! shown, in both forms.

mod derive;
mod event;
mod human;
mod json;
mod words;

pub use derive::{events, opened, summary};
pub use event::{Event, Finished, Judged, Line, SCHEMA_VERSION, Stage};
pub use human::HumanReporter;
pub use json::JsonReporter;
pub use words::{continue_words, phase_words, stop_words};

#[cfg(test)]
mod tests;
