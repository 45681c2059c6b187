//! Is the reply complete, and can its source be trusted.
//!
//! Pure functions over what the page showed: this crate looks at nothing
//! itself, waits for nothing and reads no clock. The scripts that do look
//! ([`scripts`]) are handed to the driver as text.

pub mod compare;
pub mod layout;
pub mod markdown;
mod scripts;

pub use layout::STREAM_PATHS;
pub use scripts::{Scripts, scripts};
