//! The wrapper with real processes: go and no go, ends of all kinds, the lock on the work folder.

mod agent_support;

use agent_support::{Place, hear, until};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use relay::agent::record::CommandEnd;
use relay::agent::{Adopted, AgentError, Ended, ExitRecord, Outcome, adopt, lock, proc};

fn doubt(outcome: Outcome) -> (String, Option<Box<ExitRecord>>) {
    match outcome {
        Outcome::InDoubt { why, record } => (why, record),
        Outcome::Settled(_) | Outcome::NotStarted { .. } => panic!("not in doubt: {outcome:?}"),
    }
}

fn pid_of(path: &std::path::Path) -> Pid {
    let text = std::fs::read_to_string(path).expect("a process wrote its id");
    Pid::from_raw(text.trim().parse().expect("a number"))
}

//= spec K1 type=test
#[tokio::test]
async fn commands_run_in_order_and_stop_at_the_first_that_fails() {
    let place = Place::bare();
    let commands = [
        "echo one >> f",
        "cat f; echo two >&2; exit 3",
        "echo no >> f",
    ];
    let record = place.settle(&commands).await;
    assert_eq!(record.ended, Ended::Settled { ok: false });
    assert_eq!(
        record.commands,
        [CommandEnd::Exit(0), CommandEnd::Exit(3), CommandEnd::NotRun]
    );
    assert_eq!(
        std::fs::read_to_string(place.work().join("f")).expect("ran"),
        "one\n"
    );
    assert!(record.receipt.ends_with("\n    two"), "{}", record.receipt);
    assert_eq!(place.left(), []);
}

#[tokio::test]
async fn a_plan_without_commands_settles_having_run_nothing() {
    let record = Place::bare().settle(&[]).await;
    assert_eq!(record.ended, Ended::Settled { ok: true });
    assert!(
        record.receipt.contains("the plan has no commands"),
        "{}",
        record.receipt
    );
}

//= spec K6 type=test
#[tokio::test]
async fn a_wrapper_that_is_not_released_runs_nothing_and_may_be_tried_again() {
    let place = Place::bare();
    let order = place.order(&["touch ran"]);
    let mut spawned = place.spawn(&order).await.expect("spawns");
    let job_dir = spawned.job_dir.clone();
    assert!(!job_dir.join("exit.json").exists());
    spawned.withdraw().await;
    let Adopted::Ended(Outcome::NotStarted { .. }) = adopt(&job_dir, &place.settings) else {
        panic!("it is not started");
    };
    assert!(!place.work().join("ran").exists());
    let Outcome::Settled(record) = place.start(&order).await.outcome().await else {
        panic!("the second try settles");
    };
    assert_eq!(record.ended, Ended::Settled { ok: true });
    assert!(place.work().join("ran").exists());
}

//= spec K6 type=test
#[tokio::test]
async fn a_wrapper_that_is_dropped_writes_not_started() {
    let place = Place::bare();
    let spawned = place
        .spawn(&place.order(&["touch ran"]))
        .await
        .expect("spawns");
    let job_dir = spawned.job_dir.clone();
    drop(spawned);
    until("an exit record", || job_dir.join("exit.json").exists()).await;
    let record = ExitRecord::load(&job_dir)
        .expect("reads")
        .expect("is there");
    assert!(
        matches!(record.ended, Ended::NotStarted { .. }),
        "{record:?}"
    );
    assert!(!place.work().join("ran").exists());
}

//= spec K5 type=test
#[tokio::test]
async fn a_plan_that_was_begun_is_never_spawned_again() {
    let place = Place::bare();
    place.settle(&["echo x >> f"]).await;
    let again = place.spawn(&place.order(&["echo x >> f"])).await;
    assert!(
        matches!(again, Err(AgentError::AlreadyBegun(_))),
        "{again:?}"
    );
    assert_eq!(
        std::fs::read_to_string(place.work().join("f")).expect("ran once"),
        "x\n"
    );
}

//= spec K1 type=test
#[tokio::test]
async fn at_its_limit_a_plan_is_ended_and_in_doubt_with_all_it_started() {
    let mut place = Place::bare();
    place.settings.limits.agent_ms = 400;
    let commands = [
        "echo before",
        "setsid sleep 1000 & trap '' TERM; sleep 1000; sleep 1000",
        "echo after",
    ];
    let (why, record) = doubt(place.run(&commands).await);
    assert_eq!(why, "its time limit");
    let record = record.expect("the wrapper wrote one");
    assert_eq!(record.commands[0], CommandEnd::Exit(0));
    assert_eq!(record.commands[2], CommandEnd::NotRun);
    assert!(
        record.receipt.contains("may be half done"),
        "{}",
        record.receipt
    );
    assert_eq!(place.left(), []);
}

#[tokio::test]
async fn a_stop_asks_first_and_what_it_cut_into_is_in_doubt() {
    let place = Place::bare();
    let (ready, said) = (place.fifo("ready"), place.work().join("said"));
    let command =
        "trap 'echo asked > said; exit 0' TERM; echo up > ready; while :; do sleep 0.01; done";
    let mut running = place.start(&place.order(&[command])).await;
    assert_eq!(hear(&ready).await, "up");
    let stopper = running.stopper();
    let (outcome, ()) = tokio::join!(running.outcome(), stopper.stop(300));
    let (why, _) = doubt(outcome);
    assert_eq!(why, "a stop was asked for");
    assert_eq!(
        std::fs::read_to_string(said).expect("it was asked"),
        "asked\n"
    );
    assert_eq!(place.left(), []);
}

#[tokio::test]
async fn a_stop_reaches_the_agent_when_its_state_folder_was_taken_away() {
    let place = Place::bare();
    let ready = place.fifo("ready");
    let mut running = place
        .start(&place.order(&["echo up > ready; sleep 1000"]))
        .await;
    assert_eq!(hear(&ready).await, "up");
    std::fs::remove_dir_all(&running.job_dir).expect("the folder is there");
    let stopper = running.stopper();
    let (outcome, ()) = tokio::join!(running.outcome(), stopper.stop(300));
    let (_, record) = doubt(outcome);
    assert!(record.is_none());
    assert_eq!(place.left(), []);
}

//= spec K1 type=test
#[tokio::test]
async fn what_is_left_in_the_background_is_ended_and_said() {
    let place = Place::bare();
    let record = place
        .settle(&["setsid sleep 1000 & echo started", "echo second"])
        .await;
    assert_eq!(
        (record.ended.clone(), record.leftovers),
        (Ended::Settled { ok: true }, 1)
    );
    assert!(
        record
            .receipt
            .contains("1 background process was still running"),
        "{}",
        record.receipt
    );
    assert!(
        record.receipt.contains("\n    sleep\n"),
        "{}",
        record.receipt
    );
    assert_eq!(place.left(), []);
}

#[tokio::test]
async fn a_background_process_that_ends_by_itself_is_waited_for() {
    let mut place = Place::bare();
    place.settings.limits.leftover_grace_ms = 30_000;
    let gate = place.fifo("gate");
    let order = place.order(&["(read x < gate; echo $x > late) & echo started"]);
    let mut running = place.start(&order).await;
    let write = tokio::task::spawn_blocking(move || std::fs::write(gate, "done\n"));
    let Outcome::Settled(record) = running.outcome().await else {
        panic!("settles")
    };
    write.await.expect("joins").expect("writes");
    assert_eq!(record.leftovers, 0);
    assert_eq!(
        std::fs::read_to_string(place.work().join("late")).expect("it ended"),
        "done\n"
    );
}

#[tokio::test]
async fn a_flood_is_cut_counted_and_kept_out_of_memory() {
    let place = Place::bare();
    let (ready, _go) = (place.fifo("ready"), place.fifo("go"));
    let order = place.order(&[
        "head -c 67108864 /dev/zero | tr '\\0' x",
        "echo up > ready; read x < go",
    ]);
    let mut running = place.start(&order).await;
    assert_eq!(hear(&ready).await, "up");
    let keeper = proc::descendants(running.pgid).remove(0);
    assert_eq!(keeper.name, "brb");
    for pid in [running.pgid, keeper.pid] {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("alive");
        let peak = status
            .lines()
            .find_map(|l| l.strip_prefix("VmHWM:"))
            .expect("a peak");
        let kib: u64 = peak
            .trim()
            .trim_end_matches(" kB")
            .trim()
            .parse()
            .expect("a number");
        assert!(kib < 32 << 10, "{kib} KiB");
    }
    std::fs::write(place.work().join("go"), "\n").expect("lets it end");
    let Outcome::Settled(record) = running.outcome().await else {
        panic!("settles")
    };
    assert!(
        record.receipt.contains("stdout, 67108864 bytes"),
        "{}",
        record.receipt
    );
    assert!(
        record.receipt.contains("bytes cut here]"),
        "{}",
        record.receipt
    );
    assert!(record.receipt.chars().count() <= 24_000);
    let log = std::fs::metadata(running.job_dir.join("output.log")).expect("a log");
    assert!(log.len() < 1 << 20, "{} bytes of log", log.len());
}

#[tokio::test]
async fn bytes_that_are_no_text_are_shown_as_such() {
    let record = Place::bare()
        .settle(&["printf 'a\\377\\376b\\033[31mc'"])
        .await;
    assert!(
        record
            .receipt
            .contains("stdout, 10 bytes, not all of it UTF-8"),
        "{}",
        record.receipt
    );
    assert!(
        record.receipt.ends_with("    a\u{fffd}\u{fffd}bc"),
        "{}",
        record.receipt
    );
}

#[tokio::test]
async fn a_command_gets_the_allowed_environment_and_an_empty_home() {
    let place = Place::bare();
    let record = place
        .settle(&["env | cut -d= -f1 | sort | tr '\\n' ' '; ls -A \"$HOME\" | wc -l"])
        .await;
    // PWD and the like are the shell's own.
    let line = record
        .receipt
        .lines()
        .find(|l| l.contains("BRB_SID"))
        .expect("the list")
        .trim();
    let names: Vec<&str> = line
        .split(' ')
        .filter(|n| !["PWD", "OLDPWD", "_", "SHLVL"].contains(n))
        .collect();
    for name in &names[..names.len() - 1] {
        let fine = ["BRB_SID", "HOME", "LANG", "PATH", "TERM", "TMPDIR"].contains(name);
        assert!(fine || name.starts_with("LC_"), "{name} in {line}");
    }
    assert_eq!(names.last(), Some(&"0"), "an empty home: {line}");
}

//= spec K6 type=test
#[tokio::test]
async fn a_held_work_folder_is_refused_and_the_holder_named() {
    let place = Place::bare();
    let (ready, go) = (place.fifo("ready"), place.fifo("go"));
    let mut other = Place::bare();
    other.settings.cwd = place.settings.cwd.clone();
    other.settings.state_dir = place.settings.state_dir.clone();
    let late = other.carrier();
    let mut running = place
        .start(&place.order(&["echo up > ready; read x < go"]))
        .await;
    hear(&ready).await;
    let holder = lock::Holder {
        pid: running.pgid,
        sid: place.sid.clone(),
        round: 1,
    };
    // Before the run, and, had it been free then, at the spawn.
    let early = late.check_fresh();
    assert!(
        matches!(&early, Err(AgentError::Locked(h)) if *h == holder),
        "{early:?}"
    );
    let order = other.order(&["echo no > no"]);
    let approval = late
        .approve(&order, &mut agent_support::Nobody)
        .await
        .expect("approves");
    let spawned = late.spawn(&order, &approval).await;
    assert!(
        matches!(&spawned, Err(AgentError::Locked(h)) if *h == holder),
        "{spawned:?}"
    );
    std::fs::write(go, "\n").expect("lets it end");
    running.outcome().await;
    assert_eq!(late.busy().expect("reads"), None);
    let record = late
        .spawn(&order, &approval)
        .await
        .expect("free now")
        .release()
        .await
        .outcome()
        .await;
    assert!(matches!(record, Outcome::Settled(_)), "{record:?}");
}

//= spec K6 type=test
#[tokio::test]
async fn what_outlives_wrapper_and_keeper_still_holds_the_folder_and_is_named() {
    let place = Place::bare();
    let ready = place.fifo("ready");
    let order = place.order(&["echo $$ > pid; echo up > ready; exec sleep 1000"]);
    let mut running = place.start(&order).await;
    hear(&ready).await;
    let job = pid_of(&place.work().join("pid"));
    let keeper = proc::descendants(running.pgid).remove(0);
    // The keeper would end its jobs if it saw the wrapper go.
    kill(Pid::from_raw(keeper.pid), Signal::SIGSTOP).expect("stops");
    // On another processor it runs on for a moment, long enough to see it.
    until("the keeper stopped", || {
        std::fs::read_to_string(format!("/proc/{}/stat", keeper.pid))
            .is_ok_and(|stat| stat.contains(") T "))
    })
    .await;
    kill(Pid::from_raw(running.pgid), Signal::SIGKILL).expect("kills");
    kill(Pid::from_raw(keeper.pid), Signal::SIGKILL).expect("kills");
    let (why, record) = doubt(running.outcome().await);
    assert_eq!(
        (why.as_str(), record),
        ("its wrapper ended without an exit record", None)
    );
    until("the keeper gone", || place.left().len() == 1).await;
    let holder = lock::holder(&place.settings.state_dir, place.work())
        .expect("reads")
        .expect("held");
    assert_eq!(holder.pid, job.as_raw());
    assert!(matches!(
        place.spawn(&order).await,
        Err(AgentError::AlreadyBegun(_))
    ));
    kill(job, Signal::SIGKILL).expect("kills");
    until("the folder free", || {
        lock::holder(&place.settings.state_dir, place.work())
            .expect("reads")
            .is_none()
    })
    .await;
}

//= spec J1 type=test
#[tokio::test]
async fn an_outcome_that_cannot_be_stored_is_in_doubt() {
    let place = Place::bare();
    let (ready, go) = (place.fifo("ready"), place.fifo("go"));
    let mut running = place
        .start(&place.order(&["echo up > ready; read x < go"]))
        .await;
    hear(&ready).await;
    std::fs::rename(&running.job_dir, place.root().join("away")).expect("takes it away");
    std::fs::write(go, "\n").expect("lets it end");
    let (why, record) = doubt(running.outcome().await);
    assert_eq!(
        (why.as_str(), record),
        ("its wrapper ended without an exit record", None)
    );
    assert!(!place.root().join("away/exit.json").exists());
}

#[tokio::test]
async fn when_the_wrapper_is_killed_its_keeper_ends_everything() {
    let place = Place::bare();
    let ready = place.fifo("ready");
    let order = place.order(&["setsid sleep 1000 & echo up > ready; exec sleep 1000"]);
    let mut running = place.start(&order).await;
    hear(&ready).await;
    kill(Pid::from_raw(running.pgid), Signal::SIGKILL).expect("kills");
    doubt(running.outcome().await);
    until("everything ended", || proc::marked(&place.sid).is_empty()).await;
}
