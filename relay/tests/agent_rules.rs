//! The rules of a run: what approval, network and sandbox allow, and which of them contradict.

mod agent_support;

use std::fs;
use std::net::TcpListener;

use agent_support::{KINDS, Place};
use relay::agent::record::CommandEnd;
use relay::agent::{AgentError, AgentKind, Approve, Carrier, SandboxKind, SandboxRule};

//= spec P9 type=test
#[tokio::test]
async fn read_only_neither_runs_the_unlisted_nor_lets_the_listed_write() {
    for kind in KINDS {
        let mut place = Place::inside(kind);
        place.settings.approve = Approve::ReadOnly;
        fs::write(place.work().join("f"), "text\n").expect("writes");
        let record = place.settle(&["cat f", "touch g", "ls"]).await;
        assert_eq!(
            record.commands[0],
            CommandEnd::Exit(0),
            "{}",
            record.receipt
        );
        assert!(
            matches!(record.commands[1], CommandEnd::Refused(_)),
            "{}",
            record.receipt
        );
        assert_eq!(record.commands[2], CommandEnd::NotRun);
        assert!(
            record.receipt.contains("refused, not run: by policy"),
            "{}",
            record.receipt
        );
        // The wall behind the list.
        let shape_is_read_only = place
            .carrier()
            .found()
            .in_force
            .contains("work folder read-only");
        assert!(shape_is_read_only && !place.work().join("g").exists());
    }
}

#[tokio::test]
async fn an_agent_with_its_network_says_so_and_still_sees_no_file_more() {
    let port = TcpListener::bind("127.0.0.1:0").expect("a port");
    port.set_nonblocking(true).expect("does not wait");
    let at = port.local_addr().expect("bound").port();
    for kind in KINDS {
        for net in [false, true] {
            let mut place = Place::inside(kind);
            let canary = place.root().join("canary");
            fs::write(&canary, "sings").expect("writes");
            place.settings.agent_net = net;
            place.settings.agent = AgentKind::Command {
                cmd: format!(
                    "cat {}; bash -c 'exec 3<>/dev/tcp/127.0.0.1/{at}' && echo through",
                    canary.display()
                ),
            };
            let record = place.settle(&[]).await;
            assert_eq!(
                record.receipt.contains("    through"),
                net,
                "{kind:?}: {}",
                record.receipt
            );
            assert!(
                !record.receipt.contains("sings"),
                "{kind:?}: {}",
                record.receipt
            );
            assert_eq!(record.receipt.contains("network of the host open"), net);
            assert!(
                record.receipt.contains("profile agent"),
                "{}",
                record.receipt
            );
            while port.accept().is_ok() {}
        }
    }
}

#[tokio::test]
async fn where_no_kind_can_be_had_the_run_is_refused_and_says_why() {
    let mut place = Place::inside(SandboxKind::Bubblewrap);
    place.settings.exe = "/no/such/brb".into();
    let refused = Carrier::preflight(place.settings.clone(), false);
    let Err(AgentError::NoSandbox {
        bubblewrap,
        landlock,
    }) = refused
    else {
        panic!("{refused:?}");
    };
    assert!(!bubblewrap.is_empty() && !landlock.is_empty());
}

#[test]
fn rules_that_contradict_one_another_are_refused_before_anything_is_sent() {
    let mut place = Place::bare();
    place.settings.approve = Approve::Ask;
    assert!(matches!(
        Carrier::preflight(place.settings.clone(), false),
        Err(AgentError::NoTerminal)
    ));
    assert!(Carrier::preflight(place.settings.clone(), true).is_ok());
    place.settings.approve = Approve::Workspace;
    let refused = Carrier::preflight(place.settings.clone(), true);
    assert!(
        matches!(refused, Err(AgentError::Contradiction(_))),
        "{refused:?}"
    );
    place.settings.sandbox = SandboxRule::Require;
    assert!(Carrier::preflight(place.settings.clone(), true).is_ok());
    place.settings.approve = Approve::ReadOnly;
    place.settings.agent = AgentKind::Command { cmd: "cat".into() };
    let refused = Carrier::preflight(place.settings.clone(), true);
    assert!(
        matches!(refused, Err(AgentError::Contradiction(_))),
        "{refused:?}"
    );
}
