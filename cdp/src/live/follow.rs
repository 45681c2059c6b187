//! The page's own streams: what is asked of the browser, what is reported.

use chromiumoxide::cdp::browser_protocol::network::{
    GetRequestPostDataParams, GetResponseBodyParams, StreamResourceContentParams,
};
use protocol::page::What;
use serde_json::Value;

use super::{Inner, Live};
use crate::port::Outbox;
use crate::watch::Step;

impl Live {
    pub(super) fn follow(&mut self, steps: Vec<Step>, out: &Outbox) {
        for step in steps {
            let page = self.page.clone();
            match step {
                Step::Report(report) => out.push(self.epoch, What::Stream(report)),
                Step::Malformed { len, why } => {
                    self.malformed("stream", len, why.to_owned(), out);
                }
                Step::AskBody(id) => {
                    self.tasks.spawn(async move {
                        let command = GetRequestPostDataParams::new(id.clone());
                        let answer = page.call(command).await;
                        let body = answer.ok().and_then(|a| owned(&a["postData"]));
                        Inner::Body(id, body)
                    });
                }
                Step::AskContent(id) => {
                    self.tasks.spawn(async move {
                        let command = StreamResourceContentParams::new(id.clone());
                        let answer = page.call(command).await;
                        let first = answer.ok().and_then(|a| owned(&a["bufferedData"]));
                        Inner::Opened(id, first)
                    });
                }
                Step::AskWhole(id) => {
                    self.tasks.spawn(async move {
                        let command = GetResponseBodyParams::new(id.clone());
                        let answer = page.call(command).await;
                        Inner::Whole(id, answer.ok().and_then(|a| content(&a)))
                    });
                }
                Step::AskData(id) => {
                    self.tasks.spawn(async move {
                        let command = GetResponseBodyParams::new(id.clone());
                        let answer = page.call(command).await;
                        Inner::Data(id, answer.ok().and_then(|a| content(&a)))
                    });
                }
            }
        }
    }
}

fn owned(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn content(answer: &Value) -> Option<Vec<u8>> {
    use base64::Engine as _;
    let body = answer["body"].as_str()?;
    if answer["base64Encoded"].as_bool() == Some(true) {
        base64::engine::general_purpose::STANDARD.decode(body).ok()
    } else {
        Some(body.as_bytes().to_vec())
    }
}
