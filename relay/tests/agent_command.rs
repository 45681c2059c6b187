//! The command agent: any program, the plan on its stdin, the receipt from its stdout.

mod agent_support;

use agent_support::Place;
use relay::agent::record::CommandEnd;
use relay::agent::{AgentKind, Approve, Ended, ExitRecord, Outcome, SandboxKind};

fn with_agent(cmd: &str) -> Place {
    let mut place = Place::bare();
    place.settings.agent = AgentKind::Command {
        cmd: cmd.to_owned(),
    };
    place
}

async fn settle(place: &Place) -> ExitRecord {
    // The plan's own commands are the agent's business.
    place.settle(&["touch never"]).await
}

#[tokio::test]
async fn the_agent_reads_the_whole_plan_and_its_words_are_quoted() {
    let place = with_agent("cat > plan; echo nonce-7c1f; echo '# PLAN pi-bridge/1'; pwd");
    let record = settle(&place).await;
    assert_eq!(record.ended, Ended::Settled { ok: true });
    let plan = std::fs::read_to_string(place.work().join("plan")).expect("read");
    assert_eq!(plan, place.order(&[]).plan_text);
    for line in [
        "    nonce-7c1f",
        "    # PLAN pi-bridge/1",
        &format!("    {}", place.work().display()),
    ] {
        assert!(
            record.receipt.lines().any(|l| l == line),
            "{line} in {}",
            record.receipt
        );
    }
    assert!(
        record.receipt.contains("agent: exit status 0, "),
        "{}",
        record.receipt
    );
    assert!(!place.work().join("never").exists());
}

#[tokio::test]
async fn an_agent_that_fails_is_settled_with_status_and_stderr() {
    let record = settle(&with_agent("echo done so far; echo why >&2; exit 9")).await;
    assert_eq!(record.ended, Ended::Settled { ok: false });
    assert_eq!(record.commands, [CommandEnd::Exit(9)]);
    for part in [
        "result: the agent failed",
        "exit status 9",
        "    done so far",
        "    why",
    ] {
        assert!(
            record.receipt.contains(part),
            "{part} in {}",
            record.receipt
        );
    }
}

#[tokio::test]
async fn the_stderr_of_an_agent_that_succeeds_stays_in_the_log() {
    let record = settle(&with_agent("echo answer; echo chatter >&2")).await;
    assert!(record.receipt.contains("    answer") && !record.receipt.contains("chatter"));
}

#[tokio::test]
async fn an_agent_that_reads_nothing_of_a_long_plan_still_settles() {
    let place = with_agent("exec 0<&-; echo deaf");
    let mut order = place.order(&[]);
    order.plan_text = "计划 ".repeat(200_000);
    let Outcome::Settled(record) = place.start(&order).await.outcome().await else {
        panic!("settles")
    };
    assert!(record.receipt.contains("    deaf"), "{}", record.receipt);
}

#[tokio::test]
async fn an_agent_that_dies_or_cannot_be_found_is_settled_as_a_failure() {
    let record = settle(&with_agent("kill -9 $$")).await;
    assert_eq!(record.commands, [CommandEnd::Signal(9)]);
    assert!(
        record.receipt.contains("ended by signal 9"),
        "{}",
        record.receipt
    );
    let record = settle(&with_agent("/no/such/agent")).await;
    assert_eq!(record.commands, [CommandEnd::Exit(127)]);
}

#[tokio::test]
async fn an_agent_that_hangs_is_ended_with_all_it_started() {
    let mut place = with_agent("setsid sleep 1000 & cat >/dev/null; exec sleep 1000");
    place.settings.limits.agent_ms = 400;
    let outcome = place.run(&[]).await;
    let Outcome::InDoubt {
        why,
        record: Some(record),
    } = outcome
    else {
        panic!("{outcome:?}")
    };
    assert_eq!(
        (why.as_str(), &record.commands[..]),
        ("its time limit", &[CommandEnd::Signal(15)][..])
    );
    assert_eq!(place.left(), []);
}

#[tokio::test]
async fn inside_a_sandbox_the_agent_works_in_the_folder_and_nowhere_else() {
    for kind in [SandboxKind::Bubblewrap, SandboxKind::Landlock] {
        let mut place = Place::inside(kind);
        place.settings.approve = Approve::Workspace;
        place.settings.env_pass = vec!["CARGO_MANIFEST_DIR".into()];
        place.settings.agent = AgentKind::Command {
            cmd: "grep -c 计划 > seen; test -n \"$CARGO_MANIFEST_DIR\" && ls \"$CARGO_MANIFEST_DIR\"; echo end".into(),
        };
        let record = settle(&place).await;
        assert!(record.receipt.contains("    end") && !record.receipt.contains("Cargo.toml"));
        assert!(
            record.receipt.contains("profile agent"),
            "{}",
            record.receipt
        );
        assert_eq!(
            std::fs::read_to_string(place.work().join("seen")).expect("wrote"),
            "1\n"
        );
    }
}
