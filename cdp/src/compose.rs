//! Putting a text into the composer, and carrying out commands in general.
//!
//! The checks, the act and the read-back happen in the page, in one evaluation
//! where that matters; this side orders the ways and their limits.

use std::sync::Arc;

use chromiumoxide::cdp::browser_protocol::input::InsertTextParams;
use chromiumoxide::cdp::browser_protocol::page::ReloadParams;
use protocol::page::{Anchor, Answer, Ask, CallFailure, ConversationId, Refusal};
use protocol::text::Private;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout};

use crate::error::CallError;
use crate::limits::Limit;
use crate::page::{Page, World, parse};

/// Everything that one command needs, its own copy.
#[derive(Debug, Clone)]
pub(crate) struct Desk {
    pub page: Page,
    /// Our world of the present document.
    pub world: World,
    /// The page's own.
    pub main: Option<World>,
    pub copyhook: Arc<str>,
    /// The conversation, once it is bound.
    pub conversation: Option<ConversationId>,
}

impl Desk {
    /// Carries out one command to its one answer. A look to report may come with it.
    pub(crate) async fn carry_out(&self, ask: Ask) -> (Answer, Option<Value>) {
        let limits = self.page.limits;
        let answer = match ask {
            Ask::Look => match self
                .page
                .evaluate(&self.world, "brb.look()", limits.call())
                .await
            {
                Ok(look) => return (Answer::Done, Some(look)),
                Err(error) => Err(error),
            },
            Ask::Read => self
                .page
                .evaluate(&self.world, "brb.read()", limits.read())
                .await
                .and_then(|value| parse(&value))
                .map(Answer::Read),
            Ask::Survey => self
                .page
                .evaluate(&self.world, "brb.survey()", limits.read())
                .await
                .and_then(|value| parse(&value))
                .map(Answer::Survey),
            Ask::Html { turn } => self
                .page
                .invoke(
                    &self.world,
                    "(turn) => brb.html(turn)",
                    json!(turn),
                    limits.read(),
                )
                .await
                .map(|html| match html.as_str() {
                    Some(html) => Answer::Html {
                        turn,
                        html: html.into(),
                    },
                    None => Answer::Refused(Refusal::NoCopy),
                }),
            Ask::Compose { text, anchor, ours } => {
                return (self.compose(&text, &anchor, &ours).await, None);
            }
            Ask::Submit { text, anchor } => return (self.submit(&text, &anchor).await, None),
            Ask::ClearDraft { ours } => {
                let argument = json!({ "ours": ours });
                self.script("brbCompose.clear", argument, limits.compose())
                    .await
            }
            Ask::Copy { turn } => return (self.copy(turn).await, None),
            Ask::Reload => self
                .page
                .call(ReloadParams::default())
                .await
                .map(|_| Answer::Done),
            // The loop lets go by itself.
            Ask::Detach => Ok(Answer::Done),
        };
        (answer.unwrap_or_else(failed), None)
    }

    //= spec S2
    //= spec S7
    //= spec S8
    async fn compose(&self, text: &Private, anchor: &Anchor, ours: &[Private]) -> Answer {
        if let Some(refusal) = untypable(text) {
            return refusal;
        }
        let max = self.page.limits.message_len_max;
        // A CRLF becomes one line break in the composer.
        let len = text.chars() - text.as_str().matches("\r\n").count();
        if len > max {
            let max = u32::try_from(max).unwrap_or(u32::MAX);
            return Answer::Refused(Refusal::TooLong { max });
        }
        let limit = self.page.limits.compose();
        match timeout(limit.span(), self.paste_or_insert(text, anchor, ours)).await {
            Ok(answer) => answer.unwrap_or_else(failed),
            Err(_) => failed(CallError::Timeout(limit.0)),
        }
    }

    async fn paste_or_insert(
        &self,
        text: &Private,
        anchor: &Anchor,
        ours: &[Private],
    ) -> Result<Answer, CallError> {
        let limit = self.page.limits.compose();
        let argument = json!({
            "text": text, "anchor": anchor, "ours": ours, "conversation": self.conversation,
        });
        let pasted = self
            .script("brbCompose.paste", argument.clone(), limit)
            .await?;
        let not_taken = matches!(pasted, Answer::Refused(Refusal::ReadBack { .. }));
        if !not_taken || text.chars() > self.page.limits.insert_chars_max {
            return Ok(pasted);
        }
        let ready = self
            .script("brbCompose.prepareInsert", argument, limit)
            .await?;
        if ready != Answer::Done {
            return Ok(ready);
        }
        let plain = text.as_str().replace("\r\n", "\n");
        self.page
            .call_within(InsertTextParams::new(plain), limit)
            .await?;
        self.script("brbCompose.readBack", json!({ "text": text }), limit)
            .await
    }

    /// A function of ours in the page that answers in the port's own words.
    pub(crate) async fn script(
        &self,
        name: &str,
        argument: Value,
        limit: Limit,
    ) -> Result<Answer, CallError> {
        let function = format!("function (argument) {{ return {name}(argument); }}");
        self.page.ask(&self.world, &function, argument, limit).await
    }
}

/// (ours) NUL and a lone CR have no place in an editor's paragraphs: what the
/// page would make of them is anybody's guess, so nothing is typed.
fn untypable(text: &Private) -> Option<Answer> {
    let text = text.as_str();
    let line_ok = |line: &str| !line.contains(['\0', '\r']);
    let plain = text.replace("\r\n", "\n");
    let bad = plain.split('\n').position(|line| !line_ok(line))?;
    Some(Answer::Refused(Refusal::ReadBack {
        wanted: u32::try_from(text.chars().count()).unwrap_or(u32::MAX),
        got: 0,
        line: u32::try_from(bad + 1).unwrap_or(u32::MAX),
    }))
}

pub(crate) fn failed(error: CallError) -> Answer {
    Answer::Failed(CallFailure::from(error))
}

/// What is left of a span that began at an instant.
pub(crate) fn left(began: Instant, limit: Limit) -> Limit {
    let spent = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    Limit(limit.0, limit.1.saturating_sub(spent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nul_or_a_lone_carriage_return_is_refused_with_its_line() {
        assert_eq!(untypable(&Private::from("a\r\nb\tc\n\n")), None);
        for (text, bad) in [("a\n\0", 2), ("a\rb", 1), ("a\r\n\r\r\n", 2), ("a\r", 1)] {
            let Some(Answer::Refused(Refusal::ReadBack { line, .. })) =
                untypable(&Private::from(text))
            else {
                panic!("{text:?} was let through")
            };
            assert_eq!(line, bad, "{text:?}");
        }
    }
}
