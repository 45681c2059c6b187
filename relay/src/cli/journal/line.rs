//! One record in one line, for people.

use protocol::{
    page::Anchor,
    record::{Accepted, Attested, Intent, Judgement, Record, ReplyFacts},
    send::SendEvidence,
    text::Private,
};

/// The record's kind, and what it says, without the texts that it carries.
pub(in crate::cli) fn of(record: &Record) -> (&'static str, String) {
    match record {
        Record::Opened(opened) => (
            "opened",
            format!(
                "session {}, request {} ({} characters), chat {}, folder {}, agent {}",
                opened.sid(),
                opened.qid(),
                opened.request.chars(),
                opened.chat,
                opened.workspace,
                opened.agent
            ),
        ),
        Record::Resumed { version } => ("resumed", format!("by version {version}")),
        Record::Attached {
            epoch,
            target,
            browser,
            address,
            layout,
        } => (
            "attached",
            format!("epoch {epoch}, tab {target}, {browser}, layout {layout}, {address}"),
        ),
        Record::Read {
            epoch,
            turns,
            anchor,
        } => (
            "read",
            format!("{turns} turns in epoch {epoch}, {}", place(anchor)),
        ),
        Record::Bound { conversation } => ("bound", format!("conversation {conversation}")),
        Record::Intent(intent) => ("intent", intended(intent)),
        Record::Dispatching { send, attempt } => {
            ("dispatching", format!("send {send}, attempt {attempt}"))
        }
        Record::Outcome {
            send,
            state,
            evidence,
        } => (
            "outcome",
            format!("send {send} is {state}: {}", rests_on(evidence)),
        ),
        Record::Judged {
            send,
            reply,
            judgement,
        } => ("judged", judged(*send, reply.as_ref(), judgement)),
        Record::Started {
            round,
            plan,
            attempt,
            group,
            kept,
        } => (
            "started",
            format!(
                "plan {plan} of round {round}, attempt {attempt}, process group {group}, {}",
                kept.as_ref().map_or_else(
                    || "nothing kept".to_owned(),
                    |kept| format!("kept as {kept}")
                )
            ),
        ),
        Record::NotStarted {
            round,
            plan,
            attempt,
            why,
        } => (
            "not_started",
            format!("plan {plan} of round {round}, attempt {attempt}: {why}"),
        ),
        Record::Settled {
            round,
            plan,
            ok,
            receipt,
        } => (
            "settled",
            format!(
                "plan {plan} of round {round}, {}, receipt of {} characters",
                if *ok { "success" } else { "failure" },
                receipt.chars()
            ),
        ),
        Record::InDoubt { round, plan, why } => {
            ("in_doubt", format!("plan {plan} of round {round}: {why}"))
        }
        Record::Decided {
            row,
            facts,
            action,
            cost,
        } => (
            "decided",
            format!(
                "{row} on {facts}: {action}{}",
                cost.map_or_else(String::new, |cost| format!(", costs one {cost:?}"))
            ),
        ),
        Record::Stopped(stop) => (
            "stopped",
            format!(
                "{}{}{}: {}",
                stop.outcome,
                stop.code
                    .map_or_else(String::new, |code| format!(" ({code})")),
                stop.row.map_or_else(String::new, |row| format!(", {row}")),
                stop.without_label().why
            ),
        ),
        Record::Lifted { who, why, limit } => {
            let limit = limit.as_ref().map_or_else(String::new, |limit| {
                format!("; {} is {}", limit.name, limit.value)
            });
            ("lifted", format!("by {who}: {why}{limit}"))
        }
        Record::Attested { who, why, what } => ("attested", format!("{what}, by {who}: {why}")),
        Record::Abandoned { who, why } => ("abandoned", format!("by {who}: {why}")),
    }
}

/// The text that a record carries, if it carries one.
pub(in crate::cli) fn text_of(record: &Record) -> Option<&Private> {
    match record {
        Record::Opened(opened) => Some(&opened.request),
        Record::Intent(intent) => Some(&intent.text),
        Record::Judged {
            judgement: Judgement::Accepted(plan),
            ..
        } => Some(&plan.text),
        Record::Settled { receipt, .. }
        | Record::Attested {
            what: Attested::Ran { receipt, .. },
            ..
        } => Some(receipt),
        Record::Judged { .. }
        | Record::Resumed { .. }
        | Record::Attached { .. }
        | Record::Read { .. }
        | Record::Bound { .. }
        | Record::Dispatching { .. }
        | Record::Outcome { .. }
        | Record::Started { .. }
        | Record::NotStarted { .. }
        | Record::InDoubt { .. }
        | Record::Decided { .. }
        | Record::Stopped(_)
        | Record::Lifted { .. }
        | Record::Attested { .. }
        | Record::Abandoned { .. } => None,
    }
}

fn place(anchor: &Anchor) -> String {
    match anchor {
        Anchor::Empty => "at the top".to_owned(),
        Anchor::After(turn) => format!("after turn {turn}"),
    }
}

fn intended(intent: &Intent) -> String {
    let round = intent
        .round
        .map_or_else(String::new, |round| format!(" of round {round}"));
    let voids = if intent.voids.is_empty() {
        String::new()
    } else {
        let voids: Vec<String> = intent.voids.iter().map(ToString::to_string).collect();
        format!(", makes void {}", voids.join(", "))
    };
    format!(
        "send {}: {}{round}, {} characters, {}, epoch {}{voids}",
        intent.send,
        intent.message,
        intent.text.chars(),
        place(&intent.anchor),
        intent.epoch
    )
}

/// What a message's state rests on.
pub(in crate::cli) fn rests_on(evidence: &SendEvidence) -> String {
    match evidence {
        SendEvidence::OwnTurn { turn: Some(turn) } => {
            format!("our whole text stands after the anchor as turn {turn}")
        }
        SendEvidence::OwnTurn { turn: None } => "our whole text stands after the anchor".to_owned(),
        SendEvidence::OwnRequest => "the page's own request carried our whole text".to_owned(),
        SendEvidence::NeverDispatched => "it was never dispatched".to_owned(),
        SendEvidence::GuardStopped { hit } => {
            format!("the guard stopped the click, which hit {hit}")
        }
        SendEvidence::RefusedBeforeClick { why } => format!("refused before the click: {why}"),
        SendEvidence::ComposerKeptText => {
            "the composer kept our whole text and nothing left".to_owned()
        }
        SendEvidence::Attested { state } => format!("a person says {state}"),
        SendEvidence::Nothing => "nothing is known".to_owned(),
    }
}

fn judged(send: protocol::id::SendId, reply: Option<&ReplyFacts>, judgement: &Judgement) -> String {
    let captured = reply.map_or_else(String::new, |reply| {
        let agreed: Vec<String> = reply
            .agreed
            .iter()
            .map(|from| format!("{from:?}"))
            .collect();
        format!(
            "; reply of {} characters as turn {}, end by {:?}, agreed by {}",
            reply.chars,
            reply.turn,
            reply.end,
            agreed.join(" and ")
        )
    });
    let listed = |faults: &[protocol::fault::Fault]| {
        let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
        faults.join(", ")
    };
    let said = match judgement {
        Judgement::Held => "acknowledged".to_owned(),
        Judgement::NotHeld { faults } => format!("not acknowledged: {}", listed(faults)),
        Judgement::Accepted(plan) => accepted(plan),
        Judgement::Refused { faults } => format!("refused: {}", listed(faults)),
        Judgement::Failed { code, detail } => format!("failed with {code}: {detail}"),
    };
    format!("send {send}: {said}{captured}")
}

fn accepted(plan: &Accepted) -> String {
    format!(
        "plan {} of round {} accepted, decision {}, {} characters",
        plan.key,
        plan.round,
        plan.decision,
        plan.text.chars()
    )
}

#[cfg(test)]
mod tests {
    use protocol::{outcome::Outcome, record::Stop};

    use super::*;
    use crate::{journal::sample, testing::snapshot};

    #[test]
    fn a_session_is_told_record_by_record_without_a_word_of_its_texts() {
        let mut all = String::new();
        for (nth, record) in sample::records().iter().enumerate() {
            let (kind, said) = of(record);
            all.push_str(&format!("{:>3} {kind:<11} {said}\n", nth + 1));
            let json = serde_json::to_string(&record.without_texts()).unwrap();
            for secret in ["fix the bug", "of send", "# PLAN", "mend", "of 2 commands"] {
                assert!(!said.contains(secret), "{said}");
                assert!(!json.contains(secret), "{json}");
            }
            assert!(
                json.starts_with(&format!("{{\"kind\":\"{kind}\"")),
                "{json}"
            );
        }
        snapshot!("journal_show", all);
    }

    #[test]
    fn what_the_remote_is_blocked_by_stays_between_it_and_the_person() {
        let stop = |outcome| {
            Record::Stopped(Stop {
                outcome,
                code: None,
                row: None,
                why: "the remote is blocked: the key of the safe".to_owned(),
                standing: true,
                interrupted: false,
                facts: None,
            })
        };
        let blocked = stop(Outcome::Blocked);
        let json = serde_json::to_string(&blocked.without_texts()).unwrap();
        for said in [of(&blocked).1, json] {
            assert!(
                said.contains("the remote is blocked: <19 characters>"),
                "{said}"
            );
            assert!(!said.contains("safe"), "{said}");
        }
        // Every other reason is in words of our own.
        assert!(of(&stop(Outcome::Manual)).1.contains("the key of the safe"));
    }
}
