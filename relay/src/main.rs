//! `brb`: the command line of the relay.

use std::process::ExitCode;

fn main() -> ExitCode {
    if let Some(code) = relay::agent::dispatch_hidden() {
        return code;
    }
    relay::cli::main()
}
