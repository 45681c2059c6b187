//! cdp
