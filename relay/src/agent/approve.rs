//! `--approve`: what policy and person say to each command of a plan, before any of it runs.

use std::time::Duration;

use futures::future::BoxFuture;
use tokio::time::timeout;

use super::error::AgentError;
use super::order::{AgentKind, Approve, COMMANDS_MAX, Order, Settings, Verdict};
use super::quote::for_terminal;
use super::readonly;

/// What a person says to one command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// This one may run.
    Yes,
    /// This one may not; the plan ends before it.
    No,
    /// This one and all that follow in this plan may run.
    All,
}

/// What a person is asked. All texts are safe to print on a terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The round of the plan.
    pub round: u32,
    /// The command's place, from 1.
    pub place: usize,
    /// How many there are.
    pub of: usize,
    /// The whole command, each line behind four blanks; for a command agent, the plan.
    pub text: String,
    /// What the plan says of files: advice.
    pub files: String,
}

/// Somebody who can be asked; the command line gives one that has a terminal.
pub trait Approver: Send {
    /// Asks, and waits as long as it takes: the limit is the caller's.
    fn ask(&mut self, question: Question) -> BoxFuture<'_, Answer>;
}

/// What may run of a plan: one verdict for each command, or one for a command agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approval {
    /// In the plan's order.
    pub verdicts: Vec<Verdict>,
}

impl Approval {
    /// Whether anything of the plan may run.
    #[must_use]
    pub fn anything_runs(&self) -> bool {
        self.verdicts.first() == Some(&Verdict::Run)
    }
}

//= spec P9
/// Asks policy or person about the whole plan. After the first refusal nothing more is asked:
/// what stands behind a refused command does not run.
///
/// # Errors
/// [`AgentError::AskTimedOut`] when a person did not answer; the plan stays accepted.
pub(super) async fn approve(
    settings: &Settings,
    order: &Order,
    approver: &mut dyn Approver,
) -> Result<Approval, AgentError> {
    let of = match settings.agent {
        AgentKind::Shell if order.commands.len() > COMMANDS_MAX => 0,
        AgentKind::Shell => order.commands.len(),
        AgentKind::Command { .. } => 1,
    };
    let (mut verdicts, mut all) = (Vec::with_capacity(of), false);
    for place in 0..of {
        let verdict = match settings.approve {
            Approve::Workspace | Approve::All => Verdict::Run,
            Approve::ReadOnly => match readonly::check(&order.commands[place]) {
                Ok(()) => Verdict::Run,
                Err(why) => Verdict::Refused {
                    by: "policy".into(),
                    why: why.to_string(),
                },
            },
            Approve::Ask if all => Verdict::Run,
            Approve::Ask => {
                let limit = Duration::from_millis(settings.limits.ask_ms);
                let asked = approver.ask(question(settings, order, place, of));
                match timeout(limit, asked).await {
                    Err(_) => {
                        return Err(AgentError::AskTimedOut {
                            ask_ms: settings.limits.ask_ms,
                        });
                    }
                    Ok(Answer::No) => Verdict::Refused {
                        by: "the person".into(),
                        why: "when asked".into(),
                    },
                    Ok(answer @ (Answer::Yes | Answer::All)) => {
                        all = answer == Answer::All;
                        Verdict::Run
                    }
                }
            }
        };
        let refused = verdict != Verdict::Run;
        verdicts.push(verdict);
        if refused {
            break;
        }
    }
    verdicts.resize(of, Verdict::Behind);
    Ok(Approval { verdicts })
}

fn question(settings: &Settings, order: &Order, place: usize, of: usize) -> Question {
    let text = match &settings.agent {
        AgentKind::Shell => for_terminal(&order.commands[place]),
        AgentKind::Command { .. } => for_terminal(&order.plan_text),
    };
    let files = for_terminal(&order.files.join("\n"));
    Question {
        round: order.round,
        place: place + 1,
        of,
        text,
        files,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt;
    use std::path::PathBuf;

    struct Says(Vec<Answer>, usize);

    impl Approver for Says {
        fn ask(&mut self, _: Question) -> BoxFuture<'_, Answer> {
            self.1 += 1;
            let answer = if self.0.is_empty() {
                None
            } else {
                Some(self.0.remove(0))
            };
            async move {
                match answer {
                    Some(answer) => answer,
                    None => std::future::pending().await,
                }
            }
            .boxed()
        }
    }

    fn verdicts(
        approve_: Approve,
        commands: &[&str],
        says: &mut Says,
    ) -> Result<String, AgentError> {
        let mut settings = Settings::new(
            PathBuf::from("/w"),
            PathBuf::from("/s"),
            PathBuf::from("/b"),
        );
        settings.approve = approve_;
        settings.limits.ask_ms = 50;
        let order = Order {
            sid: "ab".into(),
            round: 1,
            plan_key: "cd".into(),
            plan_text: String::new(),
            commands: commands.iter().map(|c| (*c).to_owned()).collect(),
            files: Vec::new(),
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .expect("runtime");
        let got = runtime.block_on(approve(&settings, &order, says))?;
        Ok(got
            .verdicts
            .iter()
            .map(|v| match v {
                Verdict::Run => 'r',
                Verdict::Refused { .. } => 'x',
                Verdict::Behind => '-',
            })
            .collect())
    }

    //= spec P9 type=test
    #[test]
    fn after_a_no_nothing_more_is_asked_and_nothing_behind_it_runs() {
        let mut says = Says(vec![Answer::Yes, Answer::No], 0);
        assert_eq!(
            verdicts(Approve::Ask, &["a", "b", "c"], &mut says).expect("answers"),
            "rx-"
        );
        assert_eq!(says.1, 2);
    }

    #[test]
    fn yes_to_all_asks_once_more_never() {
        let mut says = Says(vec![Answer::Yes, Answer::All], 0);
        assert_eq!(
            verdicts(Approve::Ask, &["a", "b", "c"], &mut says).expect("answers"),
            "rrr"
        );
        assert_eq!(says.1, 2);
    }

    //= spec P9 type=test
    #[test]
    fn a_question_without_an_answer_is_no_verdict() {
        let mut says = Says(vec![Answer::Yes], 0);
        let got = verdicts(Approve::Ask, &["a", "b"], &mut says);
        assert!(matches!(got, Err(AgentError::AskTimedOut { ask_ms: 50 })));
    }

    #[test]
    fn the_other_policies_ask_nobody() {
        let mut says = Says(Vec::new(), 0);
        let commands = ["ls", "rm -rf x", "ls"];
        assert_eq!(
            verdicts(Approve::ReadOnly, &commands, &mut says).expect("policy"),
            "rx-"
        );
        assert_eq!(
            verdicts(Approve::Workspace, &commands, &mut says).expect("policy"),
            "rrr"
        );
        assert_eq!(
            verdicts(Approve::All, &commands, &mut says).expect("policy"),
            "rrr"
        );
        assert_eq!(says.1, 0);
    }
}
