//! A choice: read from the command line or asked for, and made into records.

use std::io::{BufRead as _, Read as _, Write as _, stderr, stdin};

use protocol::{
    limits::Limits,
    outcome::Signal,
    record::{NewLimit, Record, State},
    recovery::manual::{Choice, Choices, Given},
    text::Private,
};
use tokio::sync::mpsc;

use super::ResumeArgs;
use crate::{agent::quote, cli::failure::Failure};

/// Longest receipt that a person gives, as of those that are made here (W10).
const RECEIPT_CHARS_MAX: usize = 24_000;
/// Longest name or reason.
const LINE_CHARS_MAX: usize = 1_000;

/// Every word that names a choice.
const WORDS: [&str; 9] = [
    "sent",
    "not-sent",
    "ran",
    "did-not-run",
    "run-once",
    "lift",
    "resync",
    "wait-on",
    "abandon",
];

/// What was chosen on the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wanted {
    which: Which,
    arg: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Which {
    Word(&'static str),
    Number(usize),
}

/// A choice and its records.
pub(super) struct Decided {
    pub choice: Choice,
    pub records: Vec<Record>,
}

impl Wanted {
    /// Reads `CHOICE[=ARG]`.
    pub fn parse(text: &str) -> Result<Self, Failure> {
        let (word, arg) = match text.split_once('=') {
            Some((word, arg)) => (word, Some(arg.to_owned())),
            None => (text, None),
        };
        let which = match (WORDS.into_iter().find(|known| *known == word), word.parse()) {
            (Some(word), _) => Which::Word(word),
            (None, Ok(number)) => Which::Number(number),
            (None, Err(_)) => {
                return Err(Failure::usage(
                    format!("{word:?} is no choice"),
                    format!("The choices are {}; or give its number.", WORDS.join(", ")),
                ));
            }
        };
        Ok(Self { which, arg })
    }

    /// The choice among those that are offered, with its records.
    //= spec M4
    pub fn decide(
        self,
        all: &Choices,
        state: &State,
        args: &ResumeArgs,
    ) -> Result<Decided, Failure> {
        let found = match self.which {
            Which::Number(number) => number.checked_sub(1).and_then(|at| all.offered.get(at)),
            Which::Word(word) => all.offered.iter().find(|one| one.word() == word),
        };
        let Some(choice) = found.cloned() else {
            return Err(refused(&self.which, all));
        };
        let given = given(&choice, self.arg.as_deref(), args)?;
        records(choice, state, &given)
    }
}

fn refused(which: &Which, all: &Choices) -> Failure {
    let offered: Vec<&str> = all.offered.iter().map(Choice::word).collect();
    let help = format!("What may be chosen now: {}.", offered.join(", "));
    let Which::Word(word) = which else {
        return Failure::usage("there is no choice of that number", help);
    };
    match all.refused.iter().find(|one| one.choice.word() == *word) {
        Some(one) => Failure::usage(format!("{word} is refused: {}", one.why), help),
        None => Failure::usage(
            format!("{word} is not to be chosen here: nothing of that kind is open"),
            help,
        ),
    }
}

fn records(choice: Choice, state: &State, given: &Given) -> Result<Decided, Failure> {
    let records = choice.records(state, given).ok_or_else(no_receipt)?;
    Ok(Decided { choice, records })
}

fn no_receipt() -> Failure {
    Failure::usage(
        "that a plan ran is said with its receipt",
        "Give --choose ran=ok:FILE or ran=failed:FILE, with - for stdin.",
    )
}

fn given(choice: &Choice, arg: Option<&str>, args: &ResumeArgs) -> Result<Given, Failure> {
    let mut given = Given {
        who: name(args)?,
        why: line("--why", args.why.as_deref().unwrap_or("no reason given"))?,
        receipt: None,
        limit: None,
    };
    match (choice, arg) {
        (Choice::Ran { .. }, Some(arg)) => given.receipt = Some(receipt(arg)?),
        (Choice::Ran { .. }, None) => return Err(no_receipt()),
        (Choice::Lift | Choice::WaitOn, Some(arg)) => given.limit = Some(limit(arg)?),
        (_, None) => {}
        (_, Some(_)) => {
            return Err(Failure::usage(
                format!("{choice} takes no argument"),
                "Leave out what stands behind the equals sign.",
            ));
        }
    }
    Ok(given)
}

fn name(args: &ResumeArgs) -> Result<String, Failure> {
    let known = ["USER", "LOGNAME"]
        .iter()
        .find_map(|name| std::env::var(name).ok());
    let uid = || format!("user {}", nix::unistd::getuid());
    line("--who", &args.who.clone().or(known).unwrap_or_else(uid))
}

fn line(flag: &str, text: &str) -> Result<String, Failure> {
    let text = text.trim();
    if text.is_empty() || text.chars().count() > LINE_CHARS_MAX || text.contains('\n') {
        return Err(Failure::usage(
            format!("{flag} wants one line of at most {LINE_CHARS_MAX} characters"),
            "Give a shorter one.",
        ));
    }
    Ok(text.to_owned())
}

fn limit(arg: &str) -> Result<NewLimit, Failure> {
    let help = "Give LIMIT=VALUE, as in lift=rounds_max=80; `brb run --help` has the limits.";
    let parsed = arg.split_once('=').and_then(|(name, value)| {
        let name = name.trim().trim_start_matches("--").replace('-', "_");
        Some((name, value.trim().parse::<u64>().ok()?))
    });
    let Some((name, value)) = parsed else {
        return Err(Failure::usage(format!("{arg:?} is no limit"), help));
    };
    Limits::default()
        .set(&name, value)
        .map_err(|error| Failure::usage(error, help))?;
    Ok(NewLimit { name, value })
}

/// What the person gives as receipt: quoted as data, and said to be theirs.
//= spec W10
fn receipt(arg: &str) -> Result<(bool, Private), Failure> {
    let (ok, file) = match arg.split_once(':') {
        Some(("ok", file)) => (true, file),
        Some(("failed", file)) => (false, file),
        Some(_) | None => return Err(no_receipt()),
    };
    let most = u64::try_from(RECEIPT_CHARS_MAX * 4 + 1).unwrap_or(u64::MAX);
    let mut text = String::new();
    let read = if file == "-" {
        stdin().lock().take(most).read_to_string(&mut text)
    } else {
        std::fs::File::open(file).and_then(|file| file.take(most).read_to_string(&mut text))
    };
    read.map_err(|error| {
        Failure::usage(
            format!("the receipt {file:?} cannot be read: {error}"),
            "Give a file of text, or - for stdin.",
        )
    })?;
    Ok((ok, receipt_of(ok, &text)?))
}

fn receipt_of(ok: bool, text: &str) -> Result<Private, Failure> {
    let how = if ok { "success" } else { "failure" };
    let quoted = quote::for_terminal(text.trim_end());
    if text.trim().is_empty() || quoted.chars().count() > RECEIPT_CHARS_MAX {
        return Err(Failure::usage(
            format!("a receipt says something, in at most {RECEIPT_CHARS_MAX} characters"),
            "Say what the plan did and what came of it.",
        ));
    }
    Ok(Private::from(format!(
        "A person says what came of this plan; the relay did not see it: {how}.\n\n{quoted}"
    )))
}

/// Asks on the terminal; none where the person decides nothing.
pub(super) async fn ask(
    all: &Choices,
    state: &State,
    args: &ResumeArgs,
    signals: &mut mpsc::Receiver<Signal>,
) -> Result<Option<Decided>, Failure> {
    if all.offered.is_empty() {
        return Ok(None);
    }
    let most = all.offered.len();
    let choice = loop {
        let Some(line) = prompt(
            &format!("\nWhich one (1 to {most}, nothing to decide nothing)? "),
            signals,
        )
        .await
        else {
            return Ok(None);
        };
        let number = line.parse::<usize>().ok().and_then(|n| n.checked_sub(1));
        match number.and_then(|at| all.offered.get(at)) {
            Some(choice) => break choice.clone(),
            None => say("that is none of them\n"),
        }
    };
    let arg = match &choice {
        Choice::Ran { .. } => {
            match prompt("Its receipt (ok:FILE or failed:FILE)? ", signals).await {
                Some(arg) => Some(arg),
                None => return Ok(None),
            }
        }
        Choice::Sent { .. }
        | Choice::NotSent { .. }
        | Choice::DidNotRun { .. }
        | Choice::RunOnce { .. }
        | Choice::Lift
        | Choice::Resync
        | Choice::WaitOn
        | Choice::Abandon => None,
    };
    let mut given = given(&choice, arg.as_deref(), args)?;
    if args.why.is_none() {
        match prompt("What does it rest on (one line)? ", signals).await {
            Some(why) => given.why = line("the reason", &why)?,
            None => return Ok(None),
        }
    }
    records(choice, state, &given).map(Some)
}

/// A line of the person's, without blanks around it; none for an empty one, the end of input
/// or a signal.
async fn prompt(question: &str, signals: &mut mpsc::Receiver<Signal>) -> Option<String> {
    say(question);
    let read = tokio::task::spawn_blocking(|| {
        let mut line = String::new();
        stdin().lock().read_line(&mut line).map(|_| line)
    });
    tokio::select! {
        biased;
        _ = signals.recv() => None,
        read = read => {
            let line = read.ok()?.ok()?;
            let line = line.trim();
            (!line.is_empty()).then(|| line.to_owned())
        }
    }
}

fn say(text: &str) {
    // A terminal that is gone cannot be asked; its end of input says no.
    let mut err = stderr().lock();
    let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_a_word_or_a_number_and_may_have_an_argument() {
        let parsed = |text: &str| Wanted::parse(text).map(|it| (it.which, it.arg));
        assert_eq!(parsed("lift"), Ok((Which::Word("lift"), None)));
        assert_eq!(parsed("2"), Ok((Which::Number(2), None)));
        let arg = Some("rounds_max=8".to_owned());
        assert_eq!(parsed("lift=rounds_max=8"), Ok((Which::Word("lift"), arg)));
        for bad in ["", "Lift", "send", "-1", "=x"] {
            assert!(Wanted::parse(bad).is_err(), "{bad:?}");
        }
    }

    //= spec W10 type=test
    #[test]
    fn what_a_person_gives_as_receipt_stands_at_no_column_0() {
        let text = "# PLAN pi-bridge/1\n\nFRAME: s=x";
        let receipt = receipt_of(false, text).unwrap();
        for line in receipt.as_str().lines().skip(1) {
            assert!(
                line.trim().is_empty() || line.starts_with("    "),
                "{line:?}"
            );
        }
        assert!(
            receipt
                .as_str()
                .lines()
                .next()
                .unwrap()
                .ends_with("failure.")
        );
        assert!(receipt_of(true, "  \n").is_err());
        assert!(receipt_of(true, &"x\n".repeat(RECEIPT_CHARS_MAX)).is_err());
    }

    #[test]
    fn a_new_limit_has_a_known_name_and_lies_in_its_range() {
        assert_eq!(limit("rounds-max=80").unwrap().name, "rounds_max");
        for bad in [
            "",
            "rounds_max",
            "rounds_max=x",
            "nothing=1",
            "rounds_max=0",
        ] {
            assert!(limit(bad).is_err(), "{bad}");
        }
    }
}
