//! `brb explain`: what a code or a row means.

use std::fmt::Write as _;

use clap::Args;
use protocol::{
    fault::{About, Code, Domain},
    outcome::Signal,
    recovery::{Row, RowId},
};

use super::{failure::Failure, out};

/// Say what a code (E_CAPTURE) or a row of the recovery table (R3) means
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  brb explain E_CAPTURE\n  brb explain tab-gone\n  brb explain R3\n  brb explain              everything there is"
)]
pub(super) struct ExplainArgs {
    /// A code or a row; without one, all of them
    #[arg(value_name = "CODE|ROW")]
    what: Option<String>,
}

pub(super) fn main(args: &ExplainArgs) -> Result<u8, Failure> {
    out::print(&text(args.what.as_deref())?)?;
    Ok(0)
}

pub(super) fn text(what: Option<&str>) -> Result<String, Failure> {
    let Some(what) = what else {
        return Ok(all());
    };
    if let Ok(code) = what.parse::<Code>() {
        return Ok(code_text(code.about()));
    }
    if let Ok(row) = what.parse::<RowId>() {
        return Ok(row_text(row.row()));
    }
    Err(Failure::usage(
        format!("{what:?} is neither a code nor a row"),
        "Run `brb explain` for the list of both.",
    ))
}

fn all() -> String {
    let mut text = String::from("Codes\n");
    for code in Code::ALL {
        let about = code.about();
        let _ = writeln!(text, "  {:<19} {}", about.name, about.what);
    }
    text.push_str("\nRows of the recovery table\n");
    for id in RowId::ALL {
        let _ = writeln!(text, "  {id:<4} {}", id.row().failure);
    }
    text
}

fn code_text(about: &About) -> String {
    let blame = match about.domain {
        Domain::Local => "our own capture",
        Domain::Version => "the two sides speak of different contracts",
        Domain::Remote => "the remote",
        Domain::None => "nobody's form is at fault",
    };
    let mut text = format!(
        "{}\n  what     {}\n  remedy   {}\n",
        about.name, about.what, about.remedy
    );
    let _ = writeln!(text, "  domain   {} ({blame})", about.domain);
    if let Some(row) = about.row {
        let _ = writeln!(text, "  row      {row}: {}", row.row().failure);
    }
    let exit = about.outcome.exit(Signal::Interrupt);
    let _ = writeln!(
        text,
        "  exit     {exit} ({}), if nothing helps",
        about.outcome
    );
    text
}

fn row_text(row: &Row) -> String {
    let mut text = format!("{}\n  when     {}\n", row.id, row.failure);
    for case in row.cases {
        let _ = writeln!(text, "  action   {}", case.act);
    }
    for never in row.never {
        let _ = writeln!(text, "  never    {never}");
    }
    let _ = writeln!(text, "  why      {}", row.why);
    text
}
