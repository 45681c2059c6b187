use super::*;
use crate::testing::snapshot;

//= spec RP8 type=test
/// What the table does in situations that have a name.
#[test]
fn situations() {
    let base = quiet();
    let accepted = Facts {
        run: Run::Accepted,
        send: Send::None,
        ..base
    };
    let unread = Facts {
        chain: Chain::Unread,
        target: Target::Unseen,
        ..base
    };
    let all = [
        ("waiting in silence", base),
        (
            "an unknown send, nothing seen",
            Facts {
                send: Send::Unknown,
                ..base
            },
        ),
        (
            "the reply is not proven",
            Facts {
                reply: Reply::Unproven,
                ..base
            },
        ),
        (
            "the reply failed, all else intact",
            Facts {
                reply: Reply::Failed,
                ..base
            },
        ),
        (
            "the thread was read in part",
            Facts {
                chain: Chain::Partial,
                ..base
            },
        ),
        (
            "the link dropped",
            Facts {
                lost: Lost::Link,
                ..unread
            },
        ),
        (
            "the link is back, the message is out",
            Facts {
                lost: Lost::Link,
                ..base
            },
        ),
        (
            "the link is back, the message was not sent",
            Facts {
                lost: Lost::Link,
                send: Send::NotSent,
                ..base
            },
        ),
        (
            "the link is back, a plan waits",
            Facts {
                lost: Lost::Link,
                ..accepted
            },
        ),
        (
            "the page is back, nothing in flight",
            Facts {
                lost: Lost::Page,
                send: Send::None,
                ..base
            },
        ),
        (
            "the browser is back, the reply failed",
            Facts {
                lost: Lost::Browser,
                reply: Reply::Failed,
                ..base
            },
        ),
        (
            "the relay is back, has not looked",
            Facts {
                lost: Lost::Relay,
                ..unread
            },
        ),
        (
            "the relay is back, the wrapper lives",
            Facts {
                lost: Lost::Relay,
                run: Run::Running,
                ..base
            },
        ),
        (
            "the relay is back, the plan is in doubt",
            Facts {
                lost: Lost::Relay,
                run: Run::Started,
                ..base
            },
        ),
        (
            "the relay is back, a plan waits",
            Facts {
                lost: Lost::Relay,
                ..accepted
            },
        ),
        (
            "the relay is back, the send is unknown",
            Facts {
                lost: Lost::Relay,
                send: Send::Unknown,
                ..base
            },
        ),
        (
            "the relay is back, something is owed",
            Facts {
                lost: Lost::Relay,
                send: Send::None,
                ..base
            },
        ),
        (
            "the journal is lost, the chain is whole",
            Facts {
                lost: Lost::Journal,
                run: Run::Unconfirmed,
                send: Send::None,
                ..base
            },
        ),
        (
            "the journal is lost, the reply runs",
            Facts {
                lost: Lost::Journal,
                reply: Reply::Running,
                ..base
            },
        ),
        (
            "the journal is lost, the checkpoint unproven",
            Facts {
                lost: Lost::Journal,
                checkpoint: Checkpoint::Unproven,
                ..base
            },
        ),
        (
            "no acknowledgement can be proven",
            Facts {
                handshake: Handshake::Unproven,
                send: Send::None,
                ..base
            },
        ),
        (
            "our contract changed, a plan waits",
            Facts {
                handshake: Handshake::Changed,
                ..accepted
            },
        ),
        (
            "our contract changed, the reply runs",
            Facts {
                handshake: Handshake::Changed,
                reply: Reply::Running,
                ..base
            },
        ),
        (
            "our contract changed, the send is unknown",
            Facts {
                handshake: Handshake::Changed,
                send: Send::Unknown,
                ..base
            },
        ),
        (
            "another conversation in our tab",
            Facts {
                target: Target::Elsewhere,
                ..base
            },
        ),
        (
            "the tab is gone",
            Facts {
                target: Target::Gone,
                chain: Chain::Unread,
                lost: Lost::Page,
                ..base
            },
        ),
    ];
    let mut out = String::new();
    for (what, facts) in all {
        let cost = cost(&facts).map_or("free".to_owned(), |cost| format!("{cost:?}"));
        let row = plan(&facts).id;
        let _ = writeln!(
            out,
            "{what:<46} {row:<4} {:<42} {cost}",
            act(&facts).to_string()
        );
    }
    snapshot!("recovery_situations", &out);
}

//= spec RP4 type=test
#[test]
fn a_discovery_is_a_reattach_only_after_a_lost_link_or_page() {
    let unread = Facts {
        chain: Chain::Unread,
        target: Target::Unseen,
        ..quiet()
    };
    let of = |lost| cost(&Facts { lost, ..unread });
    assert_eq!(of(Lost::Link), Some(Cost::Reattach));
    assert_eq!(of(Lost::Page), Some(Cost::Reattach));
    assert_eq!(of(Lost::Browser), Some(Cost::Read));
    assert_eq!(of(Lost::Relay), Some(Cost::Read));
    assert_eq!(of(Lost::Journal), Some(Cost::Read));
    let spent = Facts {
        budget: Budget::Spent,
        lost: Lost::Link,
        ..unread
    };
    assert_eq!(plan(&spent).id, RowId::R13);
    assert_eq!(
        cost(&spent),
        Some(Cost::Reattach),
        "asked as if there were budget"
    );
    let total: Vec<_> = [Cost::Reattach, Cost::Read, Cost::Resume, Cost::Resync]
        .map(Cost::counts_in_total)
        .into();
    assert_eq!(total, [true, false, true, true]);
}

//= spec RP4 type=test
#[test]
fn what_is_owed_held_or_executed_is_free() {
    walk(|facts| {
        let action = act(facts);
        let free = matches!(
            action,
            Action::Hold | Action::Execute | Action::SendOwed | Action::SendAgain
        ) || action.stops();
        assert_eq!(action.cost(facts).is_none(), free, "{action:?}");
    });
}

//= spec RP6 type=test
#[test]
fn facts_name_themselves() {
    let text = quiet().to_string();
    assert!(
        text.starts_with("defect=no boundary=clear blocker=none run=none"),
        "{text}"
    );
    assert_eq!(text.split(' ').count(), Facts::COUNT);
    let json = serde_json::to_string(&quiet()).unwrap();
    assert!(json.contains("\"send\":\"sent\""), "{json}");
    assert_eq!(serde_json::from_str::<Facts>(&json).unwrap(), quiet());
}

#[test]
fn the_table_rendered() {
    snapshot!("recovery_table", render());
    for row in &TABLE {
        assert_eq!(row.id.row(), row);
        assert!(!row.never.is_empty() && !row.why.is_empty());
    }
}
