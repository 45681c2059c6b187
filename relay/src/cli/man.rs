//! `brb man`: the manual pages, made from the command line itself.

use std::{fs, path::PathBuf};

use clap::Args;
use protocol::fault::Code;

use super::{failure::Failure, out};

/// Print the manual page, or write the pages of every command into a folder
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  brb man | man -l -\n  brb man --out ~/.local/share/man/man1")]
pub(super) struct ManArgs {
    /// Write one page a command into this folder, which is made if need be
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub(super) fn main(args: &ManArgs) -> Result<u8, Failure> {
    let failed = |what: String| Failure::new(Code::Usage, what, "Name another folder.");
    match &args.out {
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(super::command())
                .render(&mut page)
                .map_err(|error| failed(format!("making the page failed: {error}")))?;
            out::print_bytes(&page)?;
        }
        Some(folder) => {
            let error =
                |error| failed(format!("writing into {} failed: {error}", folder.display()));
            fs::create_dir_all(folder).map_err(error)?;
            clap_mangen::generate_to(super::command(), folder).map_err(error)?;
        }
    }
    Ok(0)
}
