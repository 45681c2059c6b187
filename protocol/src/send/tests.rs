use super::*;
use crate::text::Private;

fn user(id: &str, text: &str) -> Turn {
    turn(Role::User, id, text)
}

fn assistant(id: &str) -> Turn {
    turn(Role::Assistant, id, "")
}

fn turn(role: Role, id: &str, text: &str) -> Turn {
    let key = if id.is_empty() {
        TurnKey::Provisional
    } else {
        TurnKey::Settled(TurnId(id.into()))
    };
    Turn {
        key,
        role,
        text: Private::from(text),
        clamped: false,
        reply: None,
    }
}

fn after(id: &str) -> Anchor {
    Anchor::After(TurnId(id.into()))
}

const ALL: [SendState; 3] = [SendState::NotSent, SendState::Sent, SendState::Unknown];

//= spec S6 type=test
#[test]
fn only_a_proven_not_sent_may_be_sent() {
    assert_eq!(ALL.map(SendState::may_send), [true, false, false]);
}

//= spec S5 type=test
#[test]
fn an_unknown_rises_to_sent_and_never_falls_to_not_sent() {
    assert!(SendState::Unknown.may_become(SendState::Sent));
    assert!(!SendState::Unknown.may_become(SendState::NotSent));
    for to in ALL {
        assert!(!SendState::Sent.may_become(to), "sent became {to}");
        assert!(SendState::NotSent.may_become(to));
    }
}

//= spec S4 type=test
#[test]
fn every_kind_of_evidence_proves_one_state() {
    let table = [
        (SendEvidence::OwnTurn { turn: None }, SendState::Sent),
        (SendEvidence::OwnRequest, SendState::Sent),
        (SendEvidence::NeverDispatched, SendState::NotSent),
        (
            SendEvidence::GuardStopped { hit: "div".into() },
            SendState::NotSent,
        ),
        (
            SendEvidence::RefusedBeforeClick { why: "busy".into() },
            SendState::NotSent,
        ),
        (SendEvidence::ComposerKeptText, SendState::NotSent),
        (
            SendEvidence::Attested {
                state: SendState::Sent,
            },
            SendState::Sent,
        ),
        (SendEvidence::Nothing, SendState::Unknown),
    ];
    for (evidence, state) in table {
        assert_eq!(evidence.proves(), state, "{evidence:?}");
    }
}

//= spec S3 type=test
#[test]
fn our_whole_text_right_after_the_anchor_is_ours() {
    let thread = [
        user("u1", "old"),
        assistant("a1"),
        user("u2", "line \r\n\n\n\ntwo\n"),
    ];
    assert_eq!(
        locate(&thread, false, &after("a1"), "line\n\ntwo"),
        Located::Ours {
            turn: Some(TurnId("u2".into())),
            at: 2
        }
    );
}

#[test]
fn an_equal_text_before_the_anchor_is_not_ours() {
    let thread = [user("u1", "same"), assistant("a1")];
    assert_eq!(
        locate(&thread, true, &after("a1"), "same"),
        Located::AnchorLast
    );
}

//= spec S3 type=test
#[test]
fn a_frame_line_alone_proves_nothing() {
    let ours = "# ROUND pi-bridge/1\nFRAME: s=1\n\nbody";
    let quoted = [
        assistant("a1"),
        user("u9", "# ROUND pi-bridge/1\nFRAME: s=1\n\nother body"),
    ];
    assert!(matches!(
        locate(&quoted, false, &after("a1"), ours),
        Located::Foreign { .. }
    ));
}

#[test]
fn a_second_message_does_not_hide_the_first_after_the_anchor() {
    let thread = [assistant("a1"), user("u2", "foreign"), user("u3", "ours")];
    assert_eq!(
        locate(&thread, false, &after("a1"), "ours"),
        Located::Foreign {
            turn: Some(TurnId("u2".into())),
            at: 1,
            role: Role::User
        }
    );
}

#[test]
fn an_unseen_anchor_says_nothing() {
    assert_eq!(
        locate(&[user("u3", "ours")], true, &after("a1"), "ours"),
        Located::AnchorUnseen
    );
    assert_eq!(
        locate(&[user("u1", "ours")], false, &Anchor::Empty, "ours"),
        Located::AnchorUnseen
    );
}

//= spec S8 type=test
#[test]
fn an_empty_thread_keeps_an_empty_anchor_last() {
    assert_eq!(locate(&[], true, &Anchor::Empty, "x"), Located::AnchorLast);
    assert_eq!(
        locate(&[user("", "x")], true, &Anchor::Empty, "x"),
        Located::Ours { turn: None, at: 0 }
    );
}

//= spec S8 type=test
#[test]
fn an_error_card_without_a_settled_id_is_no_turn() {
    let thread = [user("u1", "x"), assistant("a1"), assistant("")];
    assert_eq!(
        locate(&thread, true, &after("a1"), "y"),
        Located::AnchorLast
    );
    let settled = [user("u1", "x"), assistant("a1"), assistant("a2")];
    assert!(matches!(
        locate(&settled, true, &after("a1"), "y"),
        Located::Foreign { .. }
    ));
}

#[test]
fn a_clamped_turn_is_ours_only_when_it_covers_the_head_and_is_a_prefix() {
    let ours = "# ROUND pi-bridge/1\nFRAME: s=1 r=2\n\n## body\nlong text that goes on";
    let mut shown = user(
        "u2",
        "# ROUND pi-bridge/1\nFRAME: s=1 r=2\n\n## body\nlong te…",
    );
    assert!(!is_ours(&shown, ours), "an unclamped turn must be whole");
    shown.clamped = true;
    assert!(is_ours(&shown, ours));
    shown.text = Private::from("# ROUND pi-bridge/1");
    assert!(!is_ours(&shown, ours), "half a head is not ours");
    shown.text = Private::from("# ROUND pi-bridge/1\nFRAME: s=1 r=2\n\n## body\nlong XX");
    assert!(
        !is_ours(&shown, ours),
        "another text under the same head is not ours"
    );
}
