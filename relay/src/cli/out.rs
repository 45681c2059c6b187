//! stdout, for results. Whoever closed it wants no more of them.

use std::io::{self, Write};

use super::failure::Failure;
use protocol::fault::Code;

/// Writes a result; a reader that went away is no failure.
pub(super) fn print(text: &str) -> Result<(), Failure> {
    print_bytes(text.as_bytes())
}

/// Writes a result as it is.
pub(super) fn print_bytes(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(Failure::new(
            Code::Usage,
            format!("writing to stdout failed: {error}"),
            "Give the command an output that can be written to.",
        )),
    }
}

/// Writes one JSON object as a line.
pub(super) fn print_json(value: &serde_json::Value) -> Result<(), Failure> {
    print(&format!("{value}\n"))
}
