//! The recovery table, as static data.
//!
//! Rows stand in the order in which they are asked: the stops R15, R14, R12,
//! R11, R10, R13, then R9 to R1, which overlap nowhere, then R0 for the rest.
//! What a row gives as `failure` and `never` are the wire document's words;
//! where a pattern is narrower or wider than they are, the row says `(ours)`.

use super::{
    action::Action,
    facts::{
        Blocker, Boundary, Budget, Chain, Checkpoint, Defect, Handshake, Lost, Reply, Run, Send,
    },
    pattern::{Is, Pattern},
    row::RowId,
    terms::{
        ANY, CAPTURE, DECLARE_ANEW, HOLD_THEN_GIVE_UP, KNOWN, NOT_IN_DOUBT, PROVEN, REPLY_RUNS,
        RUNNING, SAME_ROUND_OR_RESUME, SEEN, UNKNOWN, act, after_loss, always, open, same_round,
        unread, with_handshake,
    },
};

/// One row.
#[derive(Debug, PartialEq, Eq)]
pub struct Row {
    /// Its name.
    pub id: RowId,
    /// What happened, in a few words.
    pub failure: &'static str,
    /// The facts it is for: any of these patterns.
    pub when: &'static [Pattern],
    /// What to do: the first case that fits; the last one always does.
    pub cases: &'static [Case],
    /// What must not be done about it.
    pub never: &'static [&'static str],
    /// Why.
    pub why: &'static str,
}

/// What to do in one of a row's circumstances.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Case {
    /// The circumstances.
    pub when: Pattern,
    /// What to do.
    pub act: Action,
}

//= spec RP1
/// The table, in the order in which the rows are asked.
pub static TABLE: [Row; 16] = [
    //= spec R15
    Row {
        id: RowId::R15,
        failure: "non-stall exception: code bug, parser bug, invariant; a record that cannot be stored (ours)",
        when: &[Pattern {
            defect: Is::In(&[Defect::Yes]),
            ..ANY
        }],
        cases: &[always(Action::Throw)],
        never: &["treating a software bug as a network fault"],
        why: "a program that no longer knows its own state must not act on it",
    },
    //= spec R14
    Row {
        id: RowId::R14,
        failure: "boundary already hit; a stop stands, or the session is closed (ours)",
        when: &[Pattern {
            boundary: Is::In(&[Boundary::Hit, Boundary::Asked]),
            ..ANY
        }],
        cases: &[
            // A signal or the stop file does not wait for the agent: it is
            // asked to stop and given its grace (RP5).
            act(
                Pattern {
                    boundary: Is::In(&[Boundary::Hit]),
                    run: Is::In(&[Run::Running]),
                    ..ANY
                },
                Action::Hold,
            ),
            always(Action::Stop),
        ],
        never: &["passing the boundary"],
        why: "recovery is no way around a limit that a person set",
    },
    //= spec R12
    Row {
        id: RowId::R12,
        failure: "captcha, logout, rate limit or account blocker, confirmed",
        when: &[Pattern {
            blocker: Is::In(&[Blocker::Confirmed]),
            ..ANY
        }],
        cases: &HOLD_THEN_GIVE_UP,
        never: &["a generic reconnect loop", "pressing anything (ours)"],
        why: "only a person may answer for the account",
    },
    //= spec R11
    Row {
        id: RowId::R11,
        failure: "cannot tell whether a plan with effects already ran",
        when: &[
            // A running plan whose wrapper died with the relay or whose record
            // is lost folds to `started` (ours): `running` means alive.
            Pattern {
                run: Is::In(&[Run::Started]),
                ..ANY
            },
            Pattern {
                run: Is::In(&[Run::Unconfirmed]),
                checkpoint: Is::In(&[Checkpoint::Unproven]),
                ..ANY
            },
        ],
        cases: &[always(Action::GiveUp)],
        never: &["replaying it"],
        why: "a second execution cannot be undone, a question to a person can",
    },
    //= spec R10
    Row {
        id: RowId::R10,
        failure: "the FRAME chain conflicts: sid clash, round regression or jump, p unmatched; interference (ours)",
        when: &[Pattern {
            chain: Is::In(&[Chain::Conflicts]),
            ..ANY
        }],
        cases: &HOLD_THEN_GIVE_UP,
        never: &["picking a branch"],
        why: "nothing here can say which history is the true one",
    },
    //= spec R13
    Row {
        id: RowId::R13,
        failure: "RESYNC answered and still inconsistent; recovery budget exhausted",
        when: &[
            Pattern {
                handshake: Is::In(&[Handshake::Refused]),
                ..ANY
            },
            Pattern {
                budget: Is::In(&[Budget::Spent]),
                ..ANY
            },
        ],
        cases: &HOLD_THEN_GIVE_UP,
        never: &["unbounded recovery"],
        why: "what did not help so often will not help by itself",
    },
    //= spec R9
    Row {
        id: RowId::R9,
        failure: "local contract or capabilities changed against the handshake",
        when: &with_handshake(&[Handshake::Changed]),
        cases: &DECLARE_ANEW,
        never: &["pretending that the old ACK still holds"],
        why: "both sides must name the same contract before a plan counts",
    },
    //= spec R8
    Row {
        id: RowId::R8,
        failure: "HELLO and ACK no longer provable, conversation and checkpoint still trustworthy",
        when: &with_handshake(&[Handshake::Unproven]),
        cases: &DECLARE_ANEW,
        never: &["executing a new plan first"],
        why: "a half-established session executes what nobody agreed to",
    },
    //= spec R7
    Row {
        id: RowId::R7,
        failure: "cache lost, FRAME chain in history complete",
        when: &after_loss(&[Lost::Journal], PROVEN, NOT_IN_DOUBT),
        cases: &[
            unread(Action::Discover),
            RUNNING,
            // Nothing is known of a send here: the settle window comes first.
            UNKNOWN,
            act(
                Pattern {
                    handshake: Is::In(&[Handshake::Pending]),
                    ..ANY
                },
                Action::Read,
            ),
            REPLY_RUNS,
            always(Action::Resume),
        ],
        never: &["guessing whether the last plan ran"],
        why: "the history proves what settled and nothing after it",
    },
    //= spec R6
    Row {
        id: RowId::R6,
        failure: "pi restarted, runtime lost, cache and history recoverable",
        when: &after_loss(&[Lost::Relay], Is::Any, KNOWN),
        cases: &SAME_ROUND_OR_RESUME,
        never: &["replaying unconfirmed plans"],
        why: "the journal knows what was sent and what ran",
    },
    //= spec R5
    Row {
        id: RowId::R5,
        failure: "browser relaunched, local session cache intact",
        when: &after_loss(&[Lost::Browser], Is::Any, KNOWN),
        cases: &SAME_ROUND_OR_RESUME,
        never: &["a new sid"],
        why: "the session outlives the browser that showed it",
    },
    //= spec R4
    Row {
        id: RowId::R4,
        failure: "page loaded anew, or opened again by its address (ours), same conversation",
        when: &after_loss(&[Lost::Page], Is::Any, KNOWN),
        cases: &same_round(Action::Discover),
        never: &["RESYNC"],
        why: "the thread is the server's; a plan that stands there is consumed once",
    },
    //= spec R3
    Row {
        id: RowId::R3,
        failure: "CDP session dropped; browser, tab, conversation and runtime intact",
        when: &after_loss(&[Lost::Link], Is::Any, KNOWN),
        cases: &same_round(Action::Reattach),
        never: &["a new HELLO", "a blind ROUND"],
        why: "losing sight of the page changes nothing in it",
    },
    //= spec R2
    Row {
        id: RowId::R2,
        failure: "reply wait timeout, no fresh turn yet",
        when: &open(
            Pattern {
                lost: Is::In(&[Lost::Nothing]),
                send: Is::In(&[Send::Sent, Send::Unknown]),
                reply: Is::In(&[Reply::None]),
                ..SEEN
            },
            KNOWN,
        ),
        cases: &[always(Action::Read)],
        never: &["advancing the round"],
        why: "silence is no answer, and asking twice is two questions",
    },
    //= spec R1
    Row {
        id: RowId::R1,
        failure: "capture failure: E_CAPTURE, E_SOURCE_UNCERTAIN; an incomplete reading of the thread (ours)",
        when: &CAPTURE,
        cases: &[always(Action::ReadAgain)],
        never: &["REPAIR", "resending the ROUND", "any send (ours)"],
        why: "what we failed to read is not the other side's fault",
    },
    //= spec R0
    Row {
        id: RowId::R0,
        failure: "nothing fits (ours)",
        when: &[ANY],
        cases: &HOLD_THEN_GIVE_UP,
        never: &["guessing"],
        why: "a combination that nobody thought of is a person's to judge",
    },
];
