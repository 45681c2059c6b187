//! Asks the person at the terminal whether a command may run.

use std::io::{BufRead, Write};

use futures::future::BoxFuture;
use indicatif::{ProgressBar, ProgressDrawTarget};

use crate::agent::{Answer, Approver, Question};

/// A person at the terminal of this process.
pub struct TerminalApprover {
    bar: ProgressBar,
    lines: Option<tokio::sync::mpsc::UnboundedReceiver<String>>,
}

impl TerminalApprover {
    /// Asks on stderr and reads from stdin; `bar` is hidden meanwhile.
    #[must_use]
    pub fn new(bar: ProgressBar) -> Self {
        Self { bar, lines: None }
    }

    async fn answer(&mut self, question: Question) -> Answer {
        let bar = self.bar.clone();
        let shown = Hidden::new(&bar);
        let lines = self.lines.get_or_insert_with(read_lines);
        // What was typed before the question was no answer to it.
        while lines.try_recv().is_ok() {}
        say(&text_of(&question));
        loop {
            say("run it? [y]es, [n]o, [a]ll of this plan: ");
            let Some(line) = lines.recv().await else {
                return Answer::No;
            };
            match meant(&line) {
                Some(answer) => {
                    drop(shown);
                    return answer;
                }
                None => say("please answer y, n or a\n"),
            }
        }
    }
}

impl Approver for TerminalApprover {
    fn ask(&mut self, question: Question) -> BoxFuture<'_, Answer> {
        Box::pin(self.answer(question))
    }
}

/// The bar out of the way, until this is dropped: also when the answer takes
/// too long and the question is withdrawn.
struct Hidden<'a>(&'a ProgressBar);

impl<'a> Hidden<'a> {
    fn new(bar: &'a ProgressBar) -> Self {
        bar.set_draw_target(ProgressDrawTarget::hidden());
        // What was drawn last still stands there.
        say("\r\u{1b}[2K");
        Self(bar)
    }
}

impl Drop for Hidden<'_> {
    fn drop(&mut self) {
        self.0.set_draw_target(ProgressDrawTarget::stderr());
    }
}

/// The lines of stdin, read by a thread of its own: a question that is
/// withdrawn must not leave a reader behind that takes the next answer, and the
/// process must be able to end while nobody types.
fn read_lines() -> tokio::sync::mpsc::UnboundedReceiver<String> {
    let (tell, told) = tokio::sync::mpsc::unbounded_channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines() {
            let Ok(line) = line else { return };
            if tell.send(line).is_err() {
                return;
            }
        }
    });
    told
}

fn say(text: &str) {
    // A terminal that is gone cannot be asked; its end of input says no.
    let mut err = std::io::stderr().lock();
    let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
}

fn text_of(question: &Question) -> String {
    let mut text = format!(
        "\nround {}, command {} of {}:\n{}",
        question.round, question.place, question.of, question.text
    );
    if !text.ends_with('\n') {
        text.push('\n');
    }
    if !question.files.is_empty() && question.place == 1 {
        text.push_str(&format!("files the plan speaks of:\n{}", question.files));
        if !text.ends_with('\n') {
            text.push('\n');
        }
    }
    text
}

fn meant(line: &str) -> Option<Answer> {
    match line.trim().to_ascii_lowercase().as_str() {
        "y" | "yes" => Some(Answer::Yes),
        "n" | "no" => Some(Answer::No),
        "a" | "all" => Some(Answer::All),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_plain_answer_is_one() {
        for (line, answer) in [
            ("y\n", Some(Answer::Yes)),
            (" YES ", Some(Answer::Yes)),
            ("n", Some(Answer::No)),
            ("a", Some(Answer::All)),
            ("", None),
            ("yy", None),
            ("ok", None),
        ] {
            assert_eq!(meant(line), answer, "{line:?}");
        }
    }

    #[test]
    fn a_question_shows_the_whole_command_and_the_files_once() {
        let question = |place| Question {
            round: 2,
            place,
            of: 3,
            text: "    make test\n".into(),
            files: "    - a.c :: mend\n".into(),
        };
        assert_eq!(
            text_of(&question(1)),
            "\nround 2, command 1 of 3:\n    make test\nfiles the plan speaks of:\n    - a.c :: mend\n"
        );
        assert!(!text_of(&question(2)).contains("files"));
    }
}
