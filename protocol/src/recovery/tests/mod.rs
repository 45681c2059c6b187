mod situations;

use super::{
    facts::{
        Blocker, Boundary, Budget, Chain, Checkpoint, Defect, Fact, Handshake, Lost, Reply, Run,
        Send, Target,
    },
    *,
};

/// Calls `look` with every combination of facts.
fn walk(mut look: impl FnMut(&Facts)) -> u32 {
    let mut count = 0;
    let start = Facts {
        defect: Defect::No,
        boundary: Boundary::Clear,
        blocker: Blocker::None,
        run: Run::None,
        checkpoint: Checkpoint::Proven,
        chain: Chain::Unread,
        handshake: Handshake::Pending,
        target: Target::Unseen,
        lost: Lost::Nothing,
        send: Send::None,
        reply: Reply::None,
        budget: Budget::Left,
    };
    // One loop a fact, written once.
    macro_rules! each {
        ($facts:ident; $field:ident $($rest:ident)*) => {
            for value in all($facts.$field) {
                let mut $facts = $facts;
                $facts.$field = *value;
                each!($facts; $($rest)*);
            }
        };
        ($facts:ident;) => {{
            count += 1;
            look(&$facts);
        }};
    }
    each!(start; defect boundary blocker run checkpoint chain handshake target lost send reply budget);
    count
}

fn all<T: Fact>(_: T) -> &'static [T] {
    T::ALL
}

fn act(facts: &Facts) -> Action {
    plan(facts).action(facts)
}

/// Nothing is wrong: a session in the middle of its work.
pub(crate) fn quiet() -> Facts {
    Facts {
        defect: Defect::No,
        boundary: Boundary::Clear,
        blocker: Blocker::None,
        run: Run::None,
        checkpoint: Checkpoint::Proven,
        chain: Chain::Agrees,
        handshake: Handshake::Held,
        target: Target::Here,
        lost: Lost::Nothing,
        send: Send::Sent,
        reply: Reply::None,
        budget: Budget::Left,
    }
}

fn is_stop_row(id: RowId) -> bool {
    id >= RowId::R10
}

//= spec RP1 type=test
//= spec R0 type=test
#[test]
fn every_combination_meets_exactly_one_row() {
    let ordinary: Vec<_> = TABLE
        .iter()
        .filter(|row| !is_stop_row(row.id) && row.id != RowId::R0)
        .collect();
    assert_eq!(ordinary.len(), 9);
    let mut met = [0_u32; 16];
    let count = walk(|facts| {
        let row = plan(facts);
        met[row.id as usize] += 1;
        let fit = ordinary.iter().filter(|row| row.fits(facts)).count();
        assert!(fit <= 1, "rows overlap at {facts}");
        assert_eq!(
            row.id == RowId::R0,
            fit == 0 && !is_stop_row(row.id),
            "{facts}"
        );
    });
    assert_eq!(count, 2_304_000);
    for row in &TABLE {
        assert!(met[row.id as usize] > 0, "{} is never met", row.id);
    }
}

//= spec RP1 type=test
#[test]
fn the_stops_come_first_and_in_their_order() {
    let ids: Vec<_> = TABLE.iter().map(|row| row.id.to_string()).collect();
    assert_eq!(
        ids,
        [
            "R15", "R14", "R12", "R11", "R10", "R13", "R9", "R8", "R7", "R6", "R5", "R4", "R3",
            "R2", "R1", "R0"
        ]
    );
    let mut facts = Facts {
        defect: Defect::Yes,
        boundary: Boundary::Hit,
        blocker: Blocker::Confirmed,
        run: Run::Started,
        chain: Chain::Conflicts,
        budget: Budget::Spent,
        ..quiet()
    };
    assert_eq!(plan(&facts).id, RowId::R15);
    facts.defect = Defect::No;
    assert_eq!(plan(&facts).id, RowId::R14);
    facts.boundary = Boundary::Clear;
    assert_eq!(plan(&facts).id, RowId::R12);
    facts.blocker = Blocker::None;
    assert_eq!(plan(&facts).id, RowId::R11);
    facts.run = Run::None;
    assert_eq!(plan(&facts).id, RowId::R10);
    facts.chain = Chain::Agrees;
    assert_eq!(plan(&facts).id, RowId::R13);
    facts.budget = Budget::Left;
    assert_eq!(plan(&facts).id, RowId::R2);
}

#[test]
fn no_pattern_and_no_case_is_dead() {
    let mut patterns = vec![];
    let mut cases = vec![];
    for row in &TABLE {
        patterns.extend(row.when.iter().map(|pattern| (row.id, pattern, false)));
        cases.extend(row.cases.iter().map(|case| (row.id, case, false)));
        let last = row.cases.last().unwrap();
        assert_eq!(last.when, pattern::Pattern::ANY, "{}", row.id);
    }
    walk(|facts| {
        let row = plan(facts);
        let mine = patterns.iter_mut().filter(|(id, ..)| *id == row.id);
        for (_, pattern, met) in mine {
            *met |= pattern.fits(facts);
        }
        let mut mine = cases.iter_mut().filter(|(id, ..)| *id == row.id);
        if let Some((_, _, met)) = mine.find(|(_, case, _)| case.when.fits(facts)) {
            *met = true;
        }
    });
    for (id, pattern, met) in patterns {
        assert!(met, "{id}: {} is never met", pattern.text());
    }
    for (id, case, met) in cases {
        assert!(met, "{id}: {} is never taken", case.when.text());
    }
}

//= spec S1 type=test
//= spec W12 type=test
//= spec W13 type=test
#[test]
fn nothing_is_sent_unless_everything_speaks_for_it() {
    let mut sent = 0;
    walk(|facts| {
        let action = act(facts);
        if !action.sends() {
            return;
        }
        sent += 1;
        assert_eq!(facts.chain, Chain::Agrees, "{facts}");
        assert_eq!(facts.target, Target::Here, "{facts}");
        assert!(!matches!(facts.run, Run::Running | Run::Started), "{facts}");
        assert_eq!(facts.budget, Budget::Left, "{facts}");
        assert_eq!(facts.boundary, Boundary::Clear, "{facts}");
        assert_eq!(facts.blocker, Blocker::None, "{facts}");
        assert_eq!(facts.defect, Defect::No, "{facts}");
        assert_ne!(facts.send, Send::Unknown, "sent over an unknown: {facts}");
        assert_ne!(facts.reply, Reply::Running, "sent over a reply: {facts}");
        // The message in flight itself is sent only where it is proven not sent.
        assert_eq!(
            action == Action::SendAgain,
            facts.send == Send::NotSent && !declares(action),
            "{facts}"
        );
        if action == Action::SendOwed {
            assert_eq!(facts.send, Send::None, "{facts}");
            assert_eq!(
                facts.run,
                Run::None,
                "an accepted plan comes first: {facts}"
            );
        }
    });
    assert!(sent > 0);
}

fn declares(action: Action) -> bool {
    matches!(action, Action::Resume | Action::Resync)
}

//= spec K3 type=test
//= spec K5 type=test
#[test]
fn a_plan_is_executed_only_where_it_is_accepted_and_the_handshake_holds() {
    let mut executed = 0;
    walk(|facts| {
        if act(facts) == Action::Execute {
            executed += 1;
            assert_eq!(facts.run, Run::Accepted, "{facts}");
            assert_eq!(facts.handshake, Handshake::Held, "{facts}");
            assert_eq!(facts.chain, Chain::Agrees, "{facts}");
            assert_eq!(facts.target, Target::Here, "{facts}");
            assert_ne!(facts.lost, Lost::Journal, "{facts}");
        }
    });
    assert!(executed > 0);
}

//= spec RP4 type=test
//= spec R13 type=test
#[test]
fn a_spent_budget_always_stops_after_a_running_plan_has_settled() {
    walk(|facts| {
        if facts.budget == Budget::Spent {
            let action = act(facts);
            let holds = action == Action::Hold && facts.run == Run::Running;
            assert!(action.stops() || holds, "{action} at {facts}");
        }
    });
}

//= spec RP1 type=test
//= spec R10 type=test
//= spec R12 type=test
//= spec R14 type=test
//= spec R15 type=test
#[test]
fn a_running_plan_is_held_by_every_stop_but_a_defect_and_a_demand() {
    let running = Facts {
        run: Run::Running,
        send: Send::None,
        ..quiet()
    };
    for (what, facts, row, action) in [
        (
            "boundary",
            Facts {
                boundary: Boundary::Hit,
                ..running
            },
            RowId::R14,
            Action::Hold,
        ),
        (
            "signal",
            Facts {
                boundary: Boundary::Asked,
                ..running
            },
            RowId::R14,
            Action::Stop,
        ),
        (
            "blocker",
            Facts {
                blocker: Blocker::Confirmed,
                ..running
            },
            RowId::R12,
            Action::Hold,
        ),
        (
            "conflict",
            Facts {
                chain: Chain::Conflicts,
                ..running
            },
            RowId::R10,
            Action::Hold,
        ),
        (
            "refused",
            Facts {
                handshake: Handshake::Refused,
                ..running
            },
            RowId::R13,
            Action::Hold,
        ),
        (
            "rest",
            Facts {
                target: Target::Gone,
                ..running
            },
            RowId::R0,
            Action::Hold,
        ),
        (
            "defect",
            Facts {
                defect: Defect::Yes,
                ..running
            },
            RowId::R15,
            Action::Throw,
        ),
    ] {
        assert_eq!((plan(&facts).id, act(&facts)), (row, action), "{what}");
        let idle = Facts {
            run: Run::None,
            ..facts
        };
        assert!(act(&idle).stops(), "{what} without a plan running");
    }
    walk(|facts| {
        if act(facts) == Action::Hold {
            assert_eq!(facts.run, Run::Running, "{facts}");
        }
    });
}

//= spec R11 type=test
#[test]
fn an_execution_in_doubt_is_never_gone_past() {
    walk(|facts| {
        let doubt = facts.run == Run::Started
            || (facts.run == Run::Unconfirmed && facts.checkpoint == Checkpoint::Unproven);
        if doubt {
            let row = plan(facts).id;
            assert!(
                matches!(row, RowId::R11 | RowId::R12 | RowId::R14 | RowId::R15),
                "{facts}"
            );
            assert!(act(facts).stops(), "{facts}");
        }
    });
}

//= spec R1 type=test
//= spec R2 type=test
//= spec R3 type=test
//= spec R4 type=test
//= spec R5 type=test
//= spec R6 type=test
//= spec R7 type=test
//= spec R8 type=test
//= spec R9 type=test
#[test]
fn no_row_does_what_it_forbids() {
    walk(|facts| {
        let (row, action) = (plan(facts).id, act(facts));
        let fine = match row {
            RowId::R1 => action == Action::ReadAgain,
            RowId::R2 => action == Action::Read,
            RowId::R3 | RowId::R4 => !declares(action),
            RowId::R5 | RowId::R6 => action != Action::Resync,
            RowId::R7 => !matches!(
                action,
                Action::Execute | Action::Resync | Action::SendOwed | Action::SendAgain
            ),
            RowId::R8 | RowId::R9 => !action.sends() || action == Action::Resync,
            RowId::R0
            | RowId::R10
            | RowId::R11
            | RowId::R12
            | RowId::R13
            | RowId::R14
            | RowId::R15 => action.stops() || action == Action::Hold,
        };
        assert!(fine, "{row} takes {action:?} at {facts}");
        if matches!(row, RowId::R8 | RowId::R9) {
            assert_ne!(action, Action::Execute, "{facts}");
        }
    });
}
