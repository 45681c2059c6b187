//! The words of the table: patterns and cases that several rows share.

use super::{
    action::Action,
    facts::{Chain, Checkpoint, Handshake, Lost, Reply, Run, Send, Target},
    pattern::{Is, Pattern},
    table::Case,
};

pub(super) const ANY: Pattern = Pattern::ANY;
pub(super) const PROVEN: Is<Checkpoint> = Is::In(&[Checkpoint::Proven]);

/// The conversation has to be found and read first.
pub(super) const TO_FIND: Pattern = Pattern {
    chain: Is::In(&[Chain::Unread]),
    target: Is::In(&[Target::Unseen, Target::Here]),
    ..ANY
};

/// The thread was read whole, agrees, and is in our tab.
pub(super) const SEEN: Pattern = Pattern {
    chain: Is::In(&[Chain::Agrees]),
    target: Is::In(&[Target::Here]),
    ..ANY
};

/// Two patterns: the handshake has not to be mended first, because it is held,
/// or because it is on its way and nothing waits to run.
///
/// `unconfirmed` comes about with the journal lost alone; where it is said to
/// stand with a lesser loss, the facts contradict one another and R0 names them
/// (ours).
pub(super) const fn open(pattern: Pattern, run: &'static [Run]) -> [Pattern; 2] {
    [
        Pattern {
            handshake: Is::In(&[Handshake::Held]),
            run: Is::In(run),
            ..pattern
        },
        Pattern {
            handshake: Is::In(&[Handshake::Pending]),
            run: Is::In(&[Run::None]),
            ..pattern
        },
    ]
}

pub(super) const KNOWN: &[Run] = &[Run::None, Run::Accepted, Run::Running];
pub(super) const NOT_IN_DOUBT: &[Run] = &[Run::None, Run::Accepted, Run::Running, Run::Unconfirmed];

/// The four patterns of a loss: open, to find or seen.
pub(super) const fn after_loss(
    lost: &'static [Lost],
    checkpoint: Is<Checkpoint>,
    run: &'static [Run],
) -> [Pattern; 4] {
    let lost = Is::In(lost);
    let [a, b] = open(Pattern { lost, ..TO_FIND }, run);
    let seen = Pattern {
        lost,
        checkpoint,
        ..SEEN
    };
    let [c, d] = open(seen, run);
    [a, b, c, d]
}

pub(super) const fn act(when: Pattern, act: Action) -> Case {
    Case { when, act }
}

pub(super) const fn always(act: Action) -> Case {
    Case { when: ANY, act }
}

pub(super) const fn unread(action: Action) -> Case {
    act(
        Pattern {
            chain: Is::In(&[Chain::Unread]),
            ..ANY
        },
        action,
    )
}

pub(super) const fn with_run(run: &'static [Run], action: Action) -> Case {
    act(
        Pattern {
            run: Is::In(run),
            ..ANY
        },
        action,
    )
}

pub(super) const fn with_send(send: &'static [Send], action: Action) -> Case {
    act(
        Pattern {
            send: Is::In(send),
            ..ANY
        },
        action,
    )
}

pub(super) const RUNNING: Case = with_run(&[Run::Running], Action::Hold);
pub(super) const ACCEPTED: Case = with_run(&[Run::Accepted], Action::Execute);
//= spec W13
pub(super) const UNKNOWN: Case = with_send(&[Send::Unknown], Action::Read);
pub(super) const NOT_SENT: Case = with_send(&[Send::NotSent], Action::SendAgain);
pub(super) const REPLY_RUNS: Case = act(
    Pattern {
        reply: Is::In(&[Reply::Running]),
        ..ANY
    },
    Action::WaitIdle,
);

/// "Same round" of R3 and R4: after a loss that leaves the runtime intact.
pub(super) const fn same_round(find: Action) -> [Case; 7] {
    [
        unread(find),
        RUNNING,
        ACCEPTED,
        with_send(&[Send::Sent, Send::Unknown], Action::Read),
        REPLY_RUNS,
        NOT_SENT,
        always(Action::SendOwed),
    ]
}

//= spec R6
/// "Same round" of R5 and R6 where what was in flight is resumable, else RESUME.
///
/// "Not sent with its anchor last" is no fact of its own: after an agreed
/// discovery nothing can stand behind that anchor, and S8 looks again in the
/// very evaluation that finds the send control (ours). What is owed may be a
/// RESUME itself.
pub(super) const SAME_ROUND_OR_RESUME: [Case; 9] = [
    unread(Action::Discover),
    RUNNING,
    ACCEPTED,
    UNKNOWN,
    act(
        Pattern {
            send: Is::In(&[Send::Sent]),
            reply: Is::In(&[
                Reply::None,
                Reply::Running,
                Reply::Unproven,
                Reply::Complete,
            ]),
            ..ANY
        },
        Action::Read,
    ),
    REPLY_RUNS,
    NOT_SENT,
    with_send(&[Send::None], Action::SendOwed),
    always(Action::Resume),
];

pub(super) const DECLARE_ANEW: [Case; 5] = [
    unread(Action::Discover),
    RUNNING,
    UNKNOWN,
    REPLY_RUNS,
    always(Action::Resync),
];

/// RP1: a running plan settles before the row stops.
pub(super) const HOLD_THEN_GIVE_UP: [Case; 2] = [RUNNING, always(Action::GiveUp)];

pub(super) const fn with_handshake(value: &'static [Handshake]) -> [Pattern; 2] {
    let handshake = Is::In(value);
    [
        Pattern {
            handshake,
            ..TO_FIND
        },
        Pattern {
            handshake,
            checkpoint: PROVEN,
            ..SEEN
        },
    ]
}

//= spec R1
pub(super) const CAPTURE: [Pattern; 3] = {
    let [held, pending] = open(
        Pattern {
            lost: Is::In(&[Lost::Nothing]),
            reply: Is::In(&[Reply::Running, Reply::Unproven]),
            ..SEEN
        },
        NOT_IN_DOUBT,
    );
    let partial = Pattern {
        chain: Is::In(&[Chain::Partial]),
        target: Is::In(&[Target::Here]),
        lost: Is::In(&[
            Lost::Nothing,
            Lost::Link,
            Lost::Page,
            Lost::Browser,
            Lost::Relay,
        ]),
        ..ANY
    };
    [partial, held, pending]
};
