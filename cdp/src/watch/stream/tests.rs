//! Situations of streams, told as the network tells them.
