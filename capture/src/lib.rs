//! Is the reply complete, and can its source be trusted.
//!
//! Pure functions over what the page showed: this crate looks at nothing
//! itself, waits for nothing and reads no clock. The scripts that do look
//! ([`scripts`]) are handed to the driver as text.
//!
//! Start reading at [`prove`]: a verdict from [`Evidence`], with its reasons.
//! What sources are trusted, and when, is the table in [`trust`]; how two texts
//! are compared is in [`compare`].

pub mod compare;
mod completeness;
pub mod drift;
mod evidence;
pub mod guard;
pub mod layout;
mod limits;
pub mod markdown;
mod scripts;
pub mod trust;

pub use completeness::prove;
pub use evidence::{Awaited, Evidence, Origin, Seen, Trace};
pub use layout::STREAM_PATHS;
pub use limits::{
    COPIES_MAX, EVIDENCE_BYTES_MAX, FORM_BYTES_MAX, Limits, NAME_BYTES_MAX, TEXT_BYTES_MAX,
};
pub use scripts::{Scripts, scripts};
