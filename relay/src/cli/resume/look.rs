//! The look at the page: attached as a run would be, read twice, let go; nothing changed.

use std::time::Duration;

use protocol::{
    fault::Code,
    outcome::Signal,
    page::{Observation, Role},
    record::State,
    session::{Input, Looked, Review, Start},
    time::SpanMs,
};
use serde_json::{Value, json};
use tokio::{sync::mpsc, time::sleep};

use crate::{
    cli::{browser::BrowserArgs, failure::Failure, run::Kept},
    clock::Clock,
    place::Place,
    start::{self, Taken},
};

/// At least this often time is said to pass.
const TICK_MS: SpanMs = 200;
/// Beyond attaching and two readings, the look itself.
const LOOK_MS: SpanMs = 20_000;
/// Letting go of the browser at the end.
const END_MS: u64 = 8_000;

/// Looks at the session's page. Where none is to be had the look says why.
//= spec M1
pub(super) async fn look(
    given: &BrowserArgs,
    kept: &Kept,
    place: &Place,
    taken: &Taken,
    signals: &mut mpsc::Receiver<Signal>,
) -> Result<Looked, Failure> {
    let state = &taken.state;
    let Some(opened) = &state.opened else {
        return Err(Failure::of(Code::Journal, "the session was never opened"));
    };
    let limits = opened.limits.scaled(kept.scale());
    let until_ms = limits.attach_ms + 2 * limits.hydrate_ms + LOOK_MS;
    let browser = given.clone().anchored()?.or(kept.browser.clone());
    let endpoint = browser.endpoint(place)?;
    let keep_browser = browser.keep_browser;
    let wish = start::Page {
        endpoint: endpoint.clone(),
        tab: given.target()?,
        chat: opened.chat.clone(),
        keep_browser,
    };
    let clock = Clock::start();
    let mut review = Review::new(clock.now(), state, limits.clone(), Start::default());
    let (commands, mut observations) = cdp::spawn(start::looker(&wish, &limits, state));
    bind(&commands, state).await;
    let mut gone = false;
    let until = clock.now() + until_ms;
    while !review.is_over() {
        let now = clock.now();
        while let Some(command) = review.poll(now) {
            if commands.send(cdp::Control::Page(command)).await.is_err() {
                gone = true;
            }
        }
        if review.is_over() {
            break;
        }
        if gone {
            review.give_up(Some(Code::NoBrowser), "the driver ended");
            break;
        }
        if now >= until {
            review.give_up(None, "the look at the page took too long");
            break;
        }
        let next = review.next_wake().unwrap_or(now + TICK_MS);
        let pause = clock
            .until(next.min(now + TICK_MS))
            .max(Duration::from_millis(1));
        tokio::select! {
            biased;
            Some(_) = signals.recv() => {
                review.give_up(None, "the look was interrupted");
            }
            seen = observations.recv() => match seen {
                Some(Observation { epoch, what }) => {
                    let seen = Box::new(Observation { epoch, what });
                    review.handle(clock.now(), Input::Observed(seen));
                }
                None => gone = true,
            },
            () = sleep(pause) => review.handle(clock.now(), Input::Tick),
        }
    }
    let closing = async {
        let close = cdp::Control::Close { keep_browser };
        if !gone && commands.send(close).await.is_ok() {
            while observations.recv().await.is_some() {}
        }
    };
    let _ = tokio::time::timeout(Duration::from_millis(END_MS), closing).await;
    Ok(review.looked())
}

async fn bind(commands: &cdp::Commands, state: &State) {
    if let Some(conversation) = &state.conversation {
        // A driver that ended says so by its silence.
        let _ = commands
            .send(cdp::Control::Bind(conversation.clone()))
            .await;
    }
}

/// What was seen, for a program.
pub(super) fn value(looked: &Looked) -> Value {
    let page = looked.page.as_ref().map(|page| {
        json!({
            "browser": page.browser,
            "address": page.address,
            "layout": page.layout,
            "turns": page.turns,
            "last": page.last,
            "generating": page.busy,
            "draft_chars": page.draft_chars,
            "blockers": page.blockers,
        })
    });
    json!({
        "seen": page,
        "message": words_of_message(looked),
        "complete": looked.why.is_none(),
        "code": looked.code,
        "why": looked.why,
        "chain": looked.facts.chain,
    })
}

/// What was seen, in lines for a person: name and value.
pub(in crate::cli) fn lines(looked: &Looked) -> Vec<(&'static str, String)> {
    let mut all = Vec::new();
    if let Some(page) = &looked.page {
        let layout = page.layout.as_deref().unwrap_or("of no known layout");
        all.push((
            "tab",
            format!("{} in {}, {layout}", page.address, page.browser),
        ));
        let last = match page.last {
            Some(Role::User) => ", the last of them of our side",
            Some(Role::Assistant) => ", the last of them a reply",
            None => "",
        };
        if let Some(turns) = page.turns {
            all.push(("conversation", format!("{turns} turns{last}")));
        }
        if page.busy {
            all.push(("generating", "yes: a reply is being written".to_owned()));
        }
        if page.draft_chars > 0 {
            let said = format!("{} characters stand in the composer", page.draft_chars);
            all.push(("draft", said));
        }
        for mark in &page.blockers {
            all.push(("in the way", mark.clone()));
        }
    }
    if let Some(words) = words_of_message(looked) {
        all.push(("message", words.to_owned()));
    }
    match &looked.why {
        None => all.push((
            "reading",
            "complete, twice alike, and agrees with the journal".into(),
        )),
        Some(why) => all.push((
            "reading",
            format!("not complete, or not in agreement: {why}"),
        )),
    }
    all
}

fn words_of_message(looked: &Looked) -> Option<&'static str> {
    use protocol::send::Located;
    looked.located.as_ref().map(|located| match located {
        Located::AnchorLast => {
            "the message in flight does not stand there; what came before it is last"
        }
        Located::AnchorUnseen => "the turn before the message in flight is not there",
        Located::Ours { .. } => "the message in flight stands there, whole and in its place",
        Located::Foreign { .. } => "something else stands in the place of the message in flight",
    })
}
