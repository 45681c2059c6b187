//! Prints the observer as the driver gets it, for a look at it in a browser.
#![allow(clippy::print_stdout, reason = "printing is what it is for")]

fn main() {
    print!("{}", capture::scripts().observe);
}
