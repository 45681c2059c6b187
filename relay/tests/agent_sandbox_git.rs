//! What becomes of the repository of the work folder, on both kinds of sandbox.

mod agent_support;

use std::fs;

use agent_support::{KINDS, Place, git, works};
use relay::agent::{Ended, Outcome, SandboxKind};

#[tokio::test]
async fn git_is_read_only_inside_bubblewrap_and_a_change_is_said_under_landlock() {
    for kind in KINDS {
        let place = Place::inside(kind);
        git(place.work(), &["init", "-q"]);
        git(
            place.work(),
            &["commit", "-q", "--allow-empty", "-m", "first"],
        );
        let record = place
            .settle(&["git status --short && git log --oneline | grep first"])
            .await;
        assert_eq!(
            record.ended,
            Ended::Settled { ok: true },
            "{kind:?}: {}",
            record.receipt
        );
        let mut order = place.order(&["printf '#!/bin/sh\\n' > .git/hooks/pre-commit"]);
        order.round = 2;
        let Outcome::Settled(record) = place.start(&order).await.outcome().await else {
            panic!("settles")
        };
        let hook = place.work().join(".git/hooks/pre-commit");
        match kind {
            SandboxKind::Bubblewrap => {
                assert!(!hook.exists() && !record.receipt.contains("changed configuration"));
            }
            SandboxKind::Landlock | SandboxKind::Off => {
                assert!(
                    record.receipt.contains(".git is writable"),
                    "{}",
                    record.receipt
                );
                assert!(
                    record
                        .receipt
                        .contains("changed configuration, hooks or HEAD"),
                    "{}",
                    record.receipt
                );
            }
        }
    }
}

#[tokio::test]
async fn a_work_tree_whose_git_stands_elsewhere_is_understood_inside() {
    for kind in KINDS {
        let place = Place::inside(kind);
        let main = place.root().join("main");
        fs::create_dir(&main).expect("a folder");
        git(&main, &["init", "-q"]);
        git(&main, &["commit", "-q", "--allow-empty", "-m", "first"]);
        fs::remove_dir(place.work()).expect("makes room");
        git(
            &main,
            &[
                "worktree",
                "add",
                "-q",
                place.work().to_str().expect("UTF-8"),
            ],
        );
        let record = place.settle(&["git log --oneline | grep first"]).await;
        assert_eq!(
            record.ended,
            Ended::Settled { ok: true },
            "{kind:?}: {}",
            record.receipt
        );
    }
}

#[tokio::test]
async fn a_git_written_by_one_plan_opens_nothing_to_the_next() {
    for kind in KINDS {
        let place = Place::inside(kind);
        let secret = place.root().join("secret");
        fs::create_dir(&secret).expect("a folder");
        fs::write(secret.join("canary"), "sings").expect("writes");
        let at = secret.display();
        let forged = [
            format!("echo 'gitdir: {at}' > .git"),
            format!("rm -f .git; ln -s {at} .git"),
        ];
        for (n, forge) in forged.iter().enumerate() {
            let round = n as u32 * 10;
            assert!(works(&place, round + 1, forge).await, "{kind:?}: {forge}");
            for (m, probe) in [
                format!("grep sings {at}/canary"),
                "grep sings .git/canary".into(),
            ]
            .iter()
            .enumerate()
            {
                let seen = works(&place, round + 2 + m as u32, probe).await;
                assert!(!seen, "{kind:?}: {forge}: {probe}");
            }
        }
    }
}
