//! `brb doctor`: what stands ready and what does not, each with its remedy.

mod machine;
mod marks;
mod page;

use std::fmt::Write as _;

use clap::Args;
use serde::Serialize;
use serde_json::json;

use super::{Common, browser::BrowserArgs, failure::Failure, out};
use crate::output;

/// Check browser, tab, layout, login, sandbox, state folder and journals
///
/// With --attach the tab at the chat page is looked at, or one is opened there and closed again;
/// with --launch the relay's own browser is started, opened at the chat page and closed again.
/// Without either no browser is started. Where a page was seen each mark of each layout is listed:
/// whether it is there, and as of when it is known.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  brb doctor\n  brb doctor --launch\n  brb doctor --attach http://127.0.0.1:9222 --tab 5A0C…\n\nExit: 0 when nothing fails, else 10."
)]
pub(super) struct DoctorArgs {
    /// One JSON object on stdout
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    browser: BrowserArgs,
    #[command(flatten)]
    common: Common,
}

/// What a check found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum State {
    Ok,
    Warn,
    Fail,
}

/// One line of the report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Check {
    name: &'static str,
    state: State,
    found: String,
    remedy: Option<String>,
}

impl Check {
    fn ok(name: &'static str, found: impl Into<String>) -> Self {
        Self {
            name,
            state: State::Ok,
            found: found.into(),
            remedy: None,
        }
    }

    fn bad(
        name: &'static str,
        state: State,
        found: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self {
            name,
            state,
            found: found.into(),
            remedy: Some(remedy.into()),
        }
    }

    fn warn(name: &'static str, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::bad(name, State::Warn, found, remedy)
    }

    fn fail(name: &'static str, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::bad(name, State::Fail, found, remedy)
    }
}

/// The exit where a check fails.
const FAILS: u8 = 10;

pub(super) fn main(args: DoctorArgs) -> Result<u8, Failure> {
    let place = args.common.quiet_place()?;
    let mut checks = machine::checks(&place);
    let (of_page, known) = page::checks(&args.browser, &place)?;
    checks.extend(of_page);
    let worst = checks
        .iter()
        .map(|check| check.state)
        .max_by_key(|state| *state as u8);
    if args.json {
        out::print_json(&json!({
            "schema_version": output::SCHEMA_VERSION,
            "checks": checks,
            "marks": known,
        }))?;
    } else {
        out::print(&(text(&checks) + &marks::text(&known)))?;
    }
    Ok(match worst {
        Some(State::Fail) => FAILS,
        Some(State::Ok | State::Warn) | None => 0,
    })
}

fn text(checks: &[Check]) -> String {
    let mut text = String::new();
    for check in checks {
        let state = match check.state {
            State::Ok => "ok",
            State::Warn => "warn",
            State::Fail => "fail",
        };
        let found = crate::agent::quote::one_line(&check.found);
        let _ = writeln!(text, "{state:<5} {:<12} {found}", check.name);
        if let Some(remedy) = &check.remedy {
            let _ = writeln!(
                text,
                "      {:<12} {}",
                "",
                crate::agent::quote::one_line(remedy)
            );
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_says_its_state_and_what_is_not_well_says_the_remedy() {
        let checks = [
            Check::ok("git", "git version 2"),
            Check::warn("locale", "\u{1b}[31mC", "Set LANG."),
            Check::fail("sandbox", "none", "Install bubblewrap."),
        ];
        let wanted = "\
ok    git          git version 2
warn  locale       C
                   Set LANG.
fail  sandbox      none
                   Install bubblewrap.
";
        assert_eq!(text(&checks), wanted);
    }
}
