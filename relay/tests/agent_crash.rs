//! The relay is killed; its wrapper goes on, and a new relay finds the outcome.
//!
//! The relay that is killed is this very test program, entered again at [`as_relay`].

mod agent_support;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use std::sync::Arc;

use agent_support::{Nobody, PATIENCE, Place, hear, until};
use protocol::{
    id::{Digest, PlanKey, Round, Sid},
    limits::Limits,
    message::{Objective, Offer},
    plan::Decision,
    record::{Accepted, Opened, SCHEMA_VERSION, State},
    session::AgentReport,
    text::Private,
    wire,
};
use relay::agent::{Adopted, Carrier, Ended, Order, Outcome, Settings, adopt, lock};
use relay::run::Hand;
use tokio::sync::{Mutex, mpsc};

const ROLE: &str = "BRB_TEST_RELAY";

/// What the relay that is killed is told.
#[derive(serde::Serialize, serde::Deserialize)]
struct Role {
    settings: Settings,
    order: Order,
    release: bool,
}

/// Not a test of its own: spawns, perhaps releases, says so, and waits to be killed.
#[tokio::test]
async fn as_relay() {
    let Ok(role) = std::env::var(ROLE) else {
        return;
    };
    let role: Role = serde_json::from_str(&role).expect("a role");
    let said = role.settings.state_dir.join("relay-said");
    let carrier = Carrier::preflight(role.settings, false).expect("the rules fit");
    let approval = carrier
        .approve(&role.order, &mut Nobody)
        .await
        .expect("nobody is asked");
    let spawned = carrier.spawn(&role.order, &approval).await.expect("spawns");
    if role.release {
        let _running = spawned.release().await;
        std::fs::write(&said, "released").expect("says");
        std::future::pending::<()>().await;
    }
    std::fs::write(said, "spawned").expect("says");
    std::future::pending::<()>().await;
}

fn relay(place: &Place, order: &Order, release: bool) -> Child {
    let role = Role {
        settings: place.settings.clone(),
        order: order.clone(),
        release,
    };
    Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "as_relay", "--nocapture"])
        .env(ROLE, serde_json::to_string(&role).expect("serialises"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .expect("starts")
}

async fn said(place: &Place) -> String {
    let path: PathBuf = place.settings.state_dir.join("relay-said");
    let read = || std::fs::read_to_string(&path).unwrap_or_default();
    until("the relay speaks", || !read().is_empty()).await;
    read()
}

fn kill_hard(mut relay: Child) {
    relay.kill().expect("SIGKILL");
    relay.wait().expect("collected");
}

fn job_dir(place: &Place, order: &Order) -> PathBuf {
    order.job_dir(&place.settings.state_dir)
}

//= spec K1 type=test
#[tokio::test]
async fn a_wrapper_at_work_is_adopted_and_its_receipt_counts() {
    let place = Place::bare();
    let (ready, go) = (place.fifo("ready"), place.fifo("go"));
    let order = place.order(&["echo up > ready; read x < go; echo \"got $x\" | tee -a ran"]);
    let relay = relay(&place, &order, true);
    assert_eq!(hear(&ready).await, "up");
    kill_hard(relay);
    let Adopted::Alive(mut running) = adopt(&job_dir(&place, &order), &place.settings) else {
        panic!("the wrapper lives");
    };
    std::fs::write(go, "word\n").expect("lets it end");
    let Outcome::Settled(record) = running.outcome().await else {
        panic!("settles")
    };
    assert_eq!(record.ended, Ended::Settled { ok: true });
    assert!(
        record.receipt.ends_with("    got word"),
        "{}",
        record.receipt
    );
    assert_eq!(
        std::fs::read_to_string(place.work().join("ran")).expect("once"),
        "got word\n"
    );
    assert_eq!(place.left(), []);
}

//= spec K1 type=test
#[tokio::test]
async fn a_record_written_while_no_relay_was_there_is_found() {
    let place = Place::bare();
    let (ready, go) = (place.fifo("ready"), place.fifo("go"));
    let order = place.order(&["echo up > ready; read x < go; exit 7"]);
    let relay = relay(&place, &order, true);
    hear(&ready).await;
    kill_hard(relay);
    std::fs::write(go, "\n").expect("lets it end");
    until("the wrapper ended", || place.left().is_empty()).await;
    let Adopted::Ended(Outcome::Settled(record)) = adopt(&job_dir(&place, &order), &place.settings)
    else {
        panic!("settled");
    };
    assert_eq!(record.ended, Ended::Settled { ok: false });
}

//= spec K6 type=test
#[tokio::test]
async fn a_relay_killed_before_the_release_leaves_not_started() {
    let place = Place::bare();
    let order = place.order(&["touch ran"]);
    let relay = relay(&place, &order, false);
    assert_eq!(said(&place).await, "spawned");
    kill_hard(relay);
    until("the wrapper ended", || place.left().is_empty()).await;
    let Adopted::Ended(Outcome::NotStarted { .. }) =
        adopt(&job_dir(&place, &order), &place.settings)
    else {
        panic!("not started");
    };
    assert!(!place.work().join("ran").exists());
}

//= spec K1 type=test
#[tokio::test]
async fn a_wrapper_without_its_relay_still_keeps_its_limit() {
    let mut place = Place::bare();
    place.settings.limits.agent_ms = 1_000;
    let ready = place.fifo("ready");
    let order = place.order(&["echo up > ready; sleep 1000"]);
    let relay = relay(&place, &order, true);
    hear(&ready).await;
    kill_hard(relay);
    until("the wrapper ended", || place.left().is_empty()).await;
    let Adopted::Ended(Outcome::InDoubt {
        why,
        record: Some(_),
    }) = adopt(&job_dir(&place, &order), &place.settings)
    else {
        panic!("in doubt");
    };
    assert_eq!(why, "its time limit");
}

//= spec K1 type=test
#[test]
fn a_folder_without_wrapper_and_record_is_in_doubt() {
    let place = Place::bare();
    for dir in [Path::new("/no/such"), place.work()] {
        let Adopted::Ended(Outcome::InDoubt { record: None, .. }) = adopt(dir, &place.settings)
        else {
            panic!("in doubt");
        };
    }
}

//= spec J1 type=test
#[test]
fn a_record_torn_or_of_another_version_is_in_doubt() {
    let place = Place::bare();
    for bytes in ["", "{\"version\":1", "{\"version\":2}", "\u{0}\u{0}"] {
        std::fs::write(place.work().join("exit.json"), bytes).expect("writes");
        let adopted = adopt(place.work(), &place.settings);
        assert!(
            matches!(adopted, Adopted::Ended(Outcome::InDoubt { .. })),
            "{bytes:?}"
        );
    }
}

/// The hand of a restarted relay, and what the journal says of the order's plan.
fn restarted(place: &Place, order: &Order) -> (Hand, mpsc::Receiver<AgentReport>, State, Accepted) {
    let (hand, reports) = Hand::new(place.carrier(), Arc::new(Mutex::new(Box::new(Nobody))));
    let sid = Sid::parse(&place.sid).expect("a session id");
    let opened = Opened {
        schema: SCHEMA_VERSION,
        offer: Offer::standard(sid, wire::tag("x"), Objective::default()),
        request: Private::from("x"),
        chat: String::new(),
        workspace: String::new(),
        agent: String::new(),
        limits: Limits::default(),
    };
    let state = State {
        opened: Some(opened),
        ..State::default()
    };
    let accepted = Accepted {
        round: Round(order.round),
        key: PlanKey::parse(&order.plan_key).expect("a plan key"),
        digest: Digest::of(&order.plan_text),
        body: Digest::of(&order.plan_text),
        decision: Decision::Continue,
        task: "t".into(),
        text: Private::from(order.plan_text.as_str()),
    };
    (hand, reports, state, accepted)
}

async fn next(reports: &mut mpsc::Receiver<AgentReport>) -> AgentReport {
    tokio::time::timeout(PATIENCE, reports.recv())
        .await
        .expect("a report comes")
        .expect("the hand is there")
}

//= spec K1 type=test
#[tokio::test]
async fn a_restarted_relay_reports_the_plan_alive_and_then_settled() {
    let place = Place::bare();
    let (ready, go) = (place.fifo("ready"), place.fifo("go"));
    let order = place.order(&["echo up > ready; read x < go; echo \"got $x\" | tee -a ran"]);
    let relay = relay(&place, &order, true);
    hear(&ready).await;
    kill_hard(relay);
    let (mut hand, mut reports, state, accepted) = restarted(&place, &order);
    hand.adopt(&state, &accepted);
    assert_eq!(next(&mut reports).await, AgentReport::Alive);
    std::fs::write(go, "word\n").expect("lets it end");
    let AgentReport::Settled { ok: true, receipt } = next(&mut reports).await else {
        panic!("settles");
    };
    assert!(receipt.as_str().ends_with("    got word"));
    // Once more, by a third relay: the record is still the answer.
    hand.adopt(&state, &accepted);
    assert_eq!(
        next(&mut reports).await,
        AgentReport::Settled { ok: true, receipt }
    );
    assert_eq!(place.left(), []);
}

//= spec K6 type=test
#[tokio::test]
async fn doubt_names_who_still_works_in_the_folder() {
    let place = Place::bare();
    let order = place.order(&["true"]);
    let me = lock::Holder {
        pid: std::process::id() as i32,
        sid: place.sid.clone(),
        round: 1,
    };
    let held = lock::take(&place.settings.state_dir, place.work(), &me).expect("locks");
    let (mut hand, mut reports, state, accepted) = restarted(&place, &order);
    hand.adopt(&state, &accepted);
    let AgentReport::InDoubt { why } = next(&mut reports).await else {
        panic!("in doubt");
    };
    let named = format!("process {}", std::process::id());
    assert!(why.contains(&named), "{why}");
    drop(held);
}

//= spec K6 type=test
#[tokio::test]
async fn a_plan_whose_relay_died_before_the_start_is_spawned_again_at_once() {
    let place = Place::bare();
    let order = place.order(&["echo x >> ran"]);
    let relay = relay(&place, &order, false);
    assert_eq!(said(&place).await, "spawned");
    kill_hard(relay);
    // Not waiting for the first wrapper to see its pipe closed.
    let record = place.settle(&["echo x >> ran"]).await;
    assert_eq!(record.ended, Ended::Settled { ok: true });
    let ran = std::fs::read_to_string(place.work().join("ran")).expect("it ran");
    assert_eq!(ran, "x\n");
}
