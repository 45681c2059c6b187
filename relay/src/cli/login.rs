//! `brb login`: a person logs in by hand, in the relay's own profile.

use std::{path::PathBuf, time::Duration};

use clap::Args;
use protocol::{
    fault::Code,
    outcome::{Outcome, Signal},
    page::{BlockerKind, Look, Loss},
};

use super::{Common, browser, failure::Failure, limits::LimitFlags, look, out, signals};

/// Open the relay's own browser profile at the chat page and wait until you have logged in
///
/// Nothing is typed and nothing is pressed; the window closes when the login marks are gone.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  brb login\n  brb login --profile ~/.local/state/work-profile --wait-s 1800"
)]
pub(super) struct LoginArgs {
    /// The chat page
    #[arg(long, value_name = "URL", default_value = "https://chatgpt.com/")]
    chat: String,
    /// The profile folder; never a default profile
    #[arg(long, value_name = "DIR")]
    profile: Option<PathBuf>,
    /// The browser program; else the first known one on PATH
    #[arg(
        long,
        value_name = "PROGRAM",
        env = "BRB_BROWSER",
        hide_env_values = true
    )]
    browser: Option<PathBuf>,
    /// How long to wait, in seconds
    #[arg(long, value_name = "N", default_value_t = 900, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    wait_s: u64,
    /// Open no window: wait for a login that is there already
    #[arg(long, hide = true)]
    headless: bool,
    #[command(flatten)]
    common: Common,
}

/// Looks without a login mark, one after the other, that count as logged in: a
/// page that is only just drawn shows none for a moment.
const LOOKS_MIN: u32 = 3;

pub(super) fn main(args: LoginArgs) -> Result<u8, Failure> {
    browser::check_address(&args.chat)?;
    let place = args.common.quiet_place()?;
    let profile = args.profile.unwrap_or_else(|| place.profile());
    let endpoint = cdp::Endpoint::Launch(cdp::Launch {
        program: args.browser,
        profile: profile.clone(),
        headless: args.headless,
        args: Vec::new(),
    });
    let tab = cdp::TabWish {
        open_at: Some(args.chat),
        ..cdp::TabWish::default()
    };
    let limits = LimitFlags::default().limits()?;
    let config = browser::looking(endpoint, tab, &limits, false);
    let wait = Duration::from_secs(args.wait_s);
    let seen = signals::block_on(async {
        let mut told = signals::listen()?;
        let mut quiet = 0;
        let enough = |look: &Look| {
            quiet = if is_logged_in(look) { quiet + 1 } else { 0 };
            quiet >= LOOKS_MIN
        };
        Ok(look::watch(config, wait, &mut told, false, enough).await)
    })?;
    if let Some(signal) = seen.signal {
        return Ok(Outcome::Interrupted.exit(signal));
    }
    match seen.lost {
        Some(Loss::NeverAttached { code, detail }) => {
            return Err(browser::never_attached(&code, &detail));
        }
        Some(_) => {
            return Err(Failure::new(
                Code::NoBrowser,
                "the window was closed before the login was done",
                "Run `brb login` again and leave the window to close by itself.",
            ));
        }
        None => {}
    }
    if seen.enough {
        out::print(&format!(
            "logged in; the profile is {}\n",
            profile.display()
        ))?;
        return Ok(Outcome::Done.exit(Signal::Interrupt));
    }
    let layout = seen.look.and_then(|look| look.layout);
    Err(match layout {
        Some(_) => Failure::new(
            Code::Blocker,
            format!("nobody logged in within {} s", args.wait_s),
            "Run `brb login` again, with a longer `--wait-s` if need be.",
        ),
        None => Failure::of(Code::Layout, "the page is of no layout that is known"),
    })
}

fn is_logged_in(look: &Look) -> bool {
    let stands = look.blockers.iter().any(|blocker| match blocker.kind {
        BlockerKind::LoggedOut | BlockerKind::Challenge => true,
        BlockerKind::RateLimit | BlockerKind::Account => false,
    });
    !stands && look.composer.present && look.layout.is_some()
}
