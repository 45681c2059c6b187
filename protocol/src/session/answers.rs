//! Calls to the driver and the agent, and what their answers mean for the live part.

use super::{
    input::AgentReport,
    live::{Act, AgentLive, CALL_SLACK_MS, Call, Live, Proving, Submit, Trouble},
};
use crate::{
    page::{Answer, Ask, CallFailure, CallId, Click, PageCommand, Refusal},
    planted::{self, Bug},
    time::SpanMs,
};

impl Live {
    /// A command in the present epoch; its answer is awaited for `limit` and
    /// the driver's own deadline on top.
    pub fn command(&mut self, ask: Ask, limit: SpanMs) -> PageCommand {
        self.calls += 1;
        let id = CallId(self.calls);
        let act = match &ask {
            Ask::Look => Act::Look,
            Ask::Read => Act::Read,
            Ask::Compose { .. } => Act::Compose,
            Ask::Submit { .. } => Act::Submit,
            Ask::ClearDraft { .. } => Act::Clear,
            Ask::Copy { .. } => Act::Copy,
            Ask::Survey | Ask::Html { .. } | Ask::Reload | Ask::Detach => Act::Other,
        };
        match act {
            Act::Submit => self.submit = Submit::Out,
            Act::Copy => self.copies += 1,
            Act::Look => self.looked_for = Some(self.clock.now()),
            // From here on a person may press Enter on what stands there.
            Act::Compose => self.typed_in = self.attached.as_ref().map(|at| at.target.clone()),
            Act::Read | Act::Clear | Act::Other => {}
        }
        self.call = Some(Call {
            id,
            act,
            deadline: self.clock.now() + limit + CALL_SLACK_MS,
        });
        PageCommand {
            call: id,
            epoch: self.epoch,
            ask,
        }
    }

    /// The click was answered, or is lost: evidence is awaited from here on.
    pub fn prove(&mut self, click: Option<Click>) {
        let broken = click.is_none();
        let since = self.clock.now();
        let request = matches!(&self.submit, Submit::Proving(before) if before.request);
        self.submit = Submit::Proving(Proving {
            since,
            click,
            broken,
            request,
        });
    }

    pub fn fail(&mut self, act: Act, failure: CallFailure) {
        match act {
            Act::Submit => self.prove(None),
            Act::Compose => {
                self.draft = true;
                self.trouble = Some((act, Trouble::Failed(failure)));
                self.trouble_at = self.clock.now();
            }
            Act::Look | Act::Read | Act::Clear | Act::Copy | Act::Other => {}
        }
    }

    pub fn answer(&mut self, act: Act, answer: Answer) {
        match answer {
            Answer::Read(reading) => {
                self.reading_before = self.reading.replace(reading);
                self.read_at = Some(self.clock.now());
            }
            Answer::Composed(_) => {
                self.composed = true;
                self.draft = true;
            }
            Answer::Submitted(click) => self.prove(Some(click)),
            Answer::Refused(refusal) => self.refused(act, refusal),
            Answer::Failed(failure) => self.fail(act, failure),
            Answer::Done | Answer::Copied { .. } | Answer::Survey(_) | Answer::Html { .. } => {
                if act == Act::Clear {
                    self.composed = false;
                    self.draft = false;
                }
            }
        }
    }

    /// The agent side reports. While it is being stopped, steps forward are past.
    pub fn reported(&mut self, report: AgentReport) {
        let stopping = matches!(self.agent, AgentLive::Stopping { .. });
        match report {
            AgentReport::Cancelled => self.agent = AgentLive::None,
            AgentReport::Prepared | AgentReport::Ready { .. } | AgentReport::Alive if stopping => {}
            AgentReport::Prepared => self.agent = AgentLive::Prepared,
            AgentReport::Ready { group, kept } => self.agent = AgentLive::Ready { group, kept },
            AgentReport::Alive => {
                self.agent = AgentLive::Running {
                    since: self.clock.now(),
                }
            }
            AgentReport::AskExpired
            | AgentReport::Unable { .. }
            | AgentReport::NotStarted { .. }
            | AgentReport::Settled { .. }
            | AgentReport::InDoubt { .. } => self.agent = AgentLive::Reported(report),
        }
    }

    fn refused(&mut self, act: Act, refusal: Refusal) {
        match act {
            Act::Compose if planted::is(Bug::NoReadBack) && is_read_back(&refusal) => {
                self.composed = true;
                self.draft = true;
            }
            Act::Compose => {
                // The text may stand there, whole or in part.
                self.draft |= matches!(
                    refusal,
                    Refusal::ReadBack { .. } | Refusal::TooLong { .. } | Refusal::BecameAttachment
                );
                self.trouble = Some((act, Trouble::Refused(refusal)));
                self.trouble_at = self.clock.now();
            }
            Act::Submit => {
                self.trouble = Some((act, Trouble::Refused(refusal)));
                self.trouble_at = self.clock.now();
                self.prove(None);
            }
            Act::Clear => {
                self.composed = false;
                self.draft = false;
            }
            Act::Look | Act::Read | Act::Copy | Act::Other => {}
        }
    }
}

fn is_read_back(refusal: &Refusal) -> bool {
    matches!(refusal, Refusal::ReadBack { .. })
}
