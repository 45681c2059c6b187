//! What only the browser and its page can tell.

use std::{path::Path, time::Duration};

use protocol::{
    fault::Code,
    limits::Limits,
    page::{BlockerKind, Look, Loss},
};

use super::{
    Check,
    machine::on_path,
    marks::{self, Known},
};
use crate::{
    cli::{
        browser::{self, BrowserArgs},
        failure::Failure,
        look, signals,
    },
    clock,
    place::Place,
};

/// Programs that the driver starts, in its order.
const PROGRAMS: &[&str] = &[
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "microsoft-edge",
];

/// The checks of browser and page, and what is known of each mark.
pub(super) fn checks(
    args: &BrowserArgs,
    place: &Place,
) -> Result<(Vec<Check>, Vec<Known>), Failure> {
    if !args.attaches() && !args.launches() {
        return Ok((vec![program(args.program())], Vec::new()));
    }
    let endpoint = args.endpoint(place)?;
    let address = args.address()?;
    // Where no tab shows the chat, one is opened beside the others, looked at
    // and closed again.
    let tab = cdp::TabWish {
        id: args.target()?,
        conversation: Some(address.clone()),
        opened: None,
        open_at: Some(address),
        close_opened: args.attaches(),
    };
    let limits = Limits::default();
    let config = browser::looking(endpoint, tab, &limits, false);
    let wait = Duration::from_millis(limits.attach_ms + limits.hydrate_ms);
    let seen = signals::block_on(async {
        let mut told = signals::listen()?;
        let enough = |look: &Look| look.hydrated && look.layout.is_some();
        Ok(look::watch(config, wait, &mut told, true, enough).await)
    })?;
    let known = marks::known(seen.survey.as_ref(), clock::wall());
    Ok((report(&seen), known))
}

fn program(named: Option<&Path>) -> Check {
    if let Some(path) = named {
        let found = path.display().to_string();
        return if path.is_file() || path.to_str().is_some_and(|name| on_path(&[name]).is_some()) {
            Check::ok("browser", found)
        } else {
            Check::fail(
                "browser",
                format!("{found} is no program"),
                "Name a browser that is there with `--browser` or BRB_BROWSER.",
            )
        };
    }
    match on_path(PROGRAMS) {
        Some(path) => Check::ok("browser", path.display().to_string()),
        None => Check::fail(
            "browser",
            "none of the known programs stands on PATH",
            "Install chromium, or name a program with `--browser`.",
        ),
    }
}

fn report(seen: &look::Seen) -> Vec<Check> {
    let mut all = Vec::new();
    let Some(attachment) = &seen.attachment else {
        all.push(match &seen.lost {
            Some(Loss::NeverAttached { code, detail }) => {
                let code: Code = code.parse().unwrap_or(Code::NoBrowser);
                let of_tab = matches!(code, Code::NoTab | Code::TabGone);
                let name = if of_tab { "tab" } else { "browser" };
                Check::fail(name, format!("{code}: {detail}"), code.about().remedy)
            }
            Some(_) | None => Check::fail(
                "browser",
                "nothing was heard of it in time",
                Code::NoBrowser.about().remedy,
            ),
        });
        return all;
    };
    all.push(Check::ok("browser", attachment.browser.clone()));
    all.push(Check::ok(
        "tab",
        format!("{} at {}", attachment.target, attachment.address),
    ));
    if let Some(message) = &seen.dialog {
        let found = format!("a dialog is open: {message}");
        all.push(Check::fail("dialog", found, Code::Dialog.about().remedy));
    }
    match &seen.look {
        Some(look) => {
            all.extend(of_look(look));
            all.extend(marks::self_tests(seen.survey.as_ref()));
        }
        None => all.push(Check::fail(
            "page",
            "the page did not answer",
            Code::Renderer.about().remedy,
        )),
    }
    all
}

fn of_look(look: &Look) -> Vec<Check> {
    let missing = look.missing.join(", ");
    let layout = match &look.layout {
        Some(layout) if look.missing.is_empty() => Check::ok("layout", layout.clone()),
        Some(layout) => Check::fail(
            "layout",
            format!("{layout}, but these marks are missing: {missing}"),
            Code::Layout.about().remedy,
        ),
        None => Check::fail(
            "layout",
            format!("of no layout that is known; missing: {missing}"),
            Code::Layout.about().remedy,
        ),
    };
    let mut all = vec![layout];
    let login = look
        .blockers
        .iter()
        .find(|blocker| blocker.kind == BlockerKind::LoggedOut);
    all.push(match login {
        Some(blocker) => Check::fail(
            "login",
            format!("nobody is logged in (mark {})", blocker.mark),
            "Run `brb login`, or log in by hand in that browser.",
        ),
        None => Check::ok("login", "no login mark stands in the page"),
    });
    for blocker in &look.blockers {
        let what = match blocker.kind {
            BlockerKind::LoggedOut => continue,
            BlockerKind::Challenge => "a challenge wants a person",
            BlockerKind::RateLimit => "requests are limited",
            BlockerKind::Account => "the account wants a decision",
        };
        all.push(Check::fail(
            "blocker",
            format!("{what} (mark {})", blocker.mark),
            Code::Blocker.about().remedy,
        ));
    }
    all.push(if look.composer.present {
        Check::ok("composer", "there")
    } else {
        Check::warn("composer", "none is visible", "Look at the tab.")
    });
    all
}
