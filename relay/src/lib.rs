//! relay: the service and its rooms.

pub mod agent;
