//! What a step of a replay tells a person: what was seen, and what is lacking.

use protocol::{
    page::{Answer, Look, Observation, Reply, Role, StreamEnd, StreamEvent, What},
    reply::{Missing, Verdict},
};

use super::Judged;

/// What was seen, in a few words; never a text of the page.
#[must_use]
pub fn seen(observation: &Observation) -> String {
    let epoch = observation.epoch;
    match &observation.what {
        What::Attached(attachment) => format!("{epoch} attached ({:?})", attachment.cause),
        What::Look(look) => format!("{epoch} look {}: {}", look.seq, look_words(look)),
        What::Stream(report) => format!("{epoch} stream: {}", stream(&report.event)),
        What::Answer { answer, .. } => format!("{epoch} {}", answered(answer)),
        What::Beat(_) => format!("{epoch} heartbeat changed"),
        What::Lost(_) => format!("{epoch} the attachment ended"),
        What::Dialog { kind, .. } => format!("{epoch} dialog ({kind})"),
        What::Malformed { source, len, .. } => {
            format!("{epoch} malformed: {len} bytes from the {source}")
        }
    }
}

fn stream(event: &StreamEvent) -> String {
    match event {
        StreamEvent::Sent { body, .. } => match body {
            Some(_) => "the page's own request".to_owned(),
            None => "the page's own request, its body unseen".to_owned(),
        },
        StreamEvent::Fetched { body, .. } => {
            format!("the page's own data, {} bytes", body.as_str().len())
        }
        StreamEvent::Status { code } => format!("status {code}"),
        StreamEvent::Data { data } if data.as_str().trim() == "[DONE]" => "[DONE]".to_owned(),
        StreamEvent::Data { data } => format!("{} bytes", data.as_str().len()),
        StreamEvent::End(end) => match end {
            StreamEnd::Finished => "closed".to_owned(),
            StreamEnd::Failed => "broke off".to_owned(),
            StreamEnd::Overflow => "over its limit".to_owned(),
            StreamEnd::Gap => "a gap".to_owned(),
        },
    }
}

fn answered(answer: &Answer) -> String {
    match answer {
        Answer::Copied { text, .. } => format!("copied, {} characters", text.chars()),
        Answer::Html { html, .. } => format!("HTML, {} characters", html.chars()),
        Answer::Survey(_) => "a survey of the marks".to_owned(),
        Answer::Done => "done".to_owned(),
        Answer::Read(_) => "the whole thread".to_owned(),
        Answer::Composed(_) => "typed".to_owned(),
        Answer::Submitted(_) => "submitted".to_owned(),
        Answer::Refused(refusal) => format!("refused: {refusal:?}"),
        Answer::Failed(failure) => format!("failed: {failure:?}"),
    }
}

fn look_words(look: &Look) -> String {
    let mut words = Vec::new();
    match (&look.layout, look.hydrated) {
        (None, _) => words.push("unknown layout".to_owned()),
        (Some(_), false) => words.push("bare shell".to_owned()),
        (Some(_), true) => words.push(format!("{} turns", look.turns_shown)),
    }
    let lacking = look.missing.iter().map(|mark| format!("no {mark}"));
    words.extend(lacking);
    if look.composer.stop {
        words.push("stop".to_owned());
    }
    let blockers = look.blockers.iter();
    words.extend(blockers.map(|blocker| format!("{:?}", blocker.kind)));
    match look.tail.last() {
        Some(turn) if turn.role == Role::Assistant => {
            words.extend(turn.reply.as_ref().map(reply_words));
        }
        Some(_) => words.push("a user turn last".to_owned()),
        None => {}
    }
    words.join(", ")
}

fn reply_words(reply: &Reply) -> String {
    let marks = [
        (reply.bar, "bar"),
        (reply.streaming, "streaming"),
        (reply.thinking, "thinking"),
        (reply.interrupted, "interrupted"),
        (reply.truncated, "continue offered"),
        (reply.choices > 1, "several to choose from"),
        (reply.error.is_some(), "error"),
    ];
    let mut words = format!("reply of {} characters", reply.chars);
    for (stands, name) in marks {
        if stands {
            words.push_str(", ");
            words.push_str(name);
        }
    }
    words
}

/// Which of the three parts of a proof hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct Held {
    /// The page looks finished, over its windows.
    pub page: bool,
    /// Nothing more comes.
    pub end: bool,
    /// Two sources agree.
    pub text: bool,
}

/// Which parts of the proof hold by a judgement; none where it is no matter of proof.
#[must_use]
pub fn held(judged: &Judged) -> Option<Held> {
    let missing = match judged {
        Judged::Verdict(Verdict::Complete(_)) => &[][..],
        Judged::Verdict(Verdict::NotYet(progress)) => &progress.missing,
        Judged::Verdict(
            Verdict::Truncated { .. }
            | Verdict::PageFailed(_)
            | Verdict::Interference(_)
            | Verdict::OtherPlace { .. }
            | Verdict::SourceUncertain(_)
            | Verdict::CaptureFailed { .. },
        )
        | Judged::Blocked(_) => return None,
    };
    let end = !missing.contains(&Missing::End);
    let text = !missing
        .iter()
        .any(|what| matches!(what, Missing::Agreement { .. }));
    let page = missing
        .iter()
        .all(|what| matches!(what, Missing::End | Missing::Agreement { .. }));
    Some(Held { page, end, text })
}
