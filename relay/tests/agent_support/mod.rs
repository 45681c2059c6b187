//! What the tests of agents share: a work folder, a state folder, the real `brb`, one plan.
#![allow(dead_code, reason = "each test file uses a part")]

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use relay::agent::{
    AgentError, Answer, Approve, Approver, Carrier, Ended, ExitRecord, Order, Outcome, Question,
    Running, SandboxKind, SandboxRule, Settings, Spawned, UndoRule, proc,
};

/// How long a test waits for what must come; only a broken test ever waits it out.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A place to run plans in. Everything is in one temporary folder, which goes with it.
pub struct Place {
    pub dir: tempfile::TempDir,
    pub settings: Settings,
    pub sid: String,
}

/// A session id that no other test has, so that left-over processes can be told apart.
fn fresh_sid() -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!(
        "{:08x}{:08x}",
        std::process::id(),
        NEXT.fetch_add(1, Ordering::Relaxed)
    )
}

impl Place {
    /// A plain work folder without git, no sandbox, everything approved.
    pub fn bare() -> Self {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let root = fs::canonicalize(dir.path()).expect("resolves");
        let (work, state) = (root.join("work"), root.join("state"));
        fs::create_dir(&work).expect("a work folder");
        fs::create_dir(&state).expect("a state folder");
        let mut settings = Settings::new(work, state, PathBuf::from(env!("CARGO_BIN_EXE_brb")));
        settings.approve = Approve::All;
        settings.sandbox = SandboxRule::Off;
        settings.undo = UndoRule::Off;
        settings.limits.agent_ms = 60_000;
        settings.limits.leftover_grace_ms = 50;
        settings.limits.stop_grace_ms = 300;
        Self {
            dir,
            settings,
            sid: fresh_sid(),
        }
    }

    /// The same inside a sandbox of this kind.
    pub fn inside(kind: SandboxKind) -> Self {
        let mut place = Self::bare();
        place.settings.sandbox = SandboxRule::Require;
        place.settings.sandbox_kind = Some(kind);
        place
    }

    pub fn work(&self) -> &Path {
        &self.settings.cwd
    }

    pub fn root(&self) -> PathBuf {
        fs::canonicalize(self.dir.path()).expect("resolves")
    }

    pub fn order(&self, commands: &[&str]) -> Order {
        Order {
            sid: self.sid.clone(),
            round: 1,
            plan_key: "0a1b2c3d".into(),
            plan_text: "# PLAN pi-bridge/1\nthe plan, 计划".into(),
            commands: commands.iter().map(|c| (*c).to_owned()).collect(),
            files: vec!["src/a.rs :: change it".into()],
        }
    }

    pub fn carrier(&self) -> Carrier {
        Carrier::preflight(self.settings.clone(), false).expect("the rules fit")
    }

    pub async fn spawn(&self, order: &Order) -> Result<Spawned, AgentError> {
        let carrier = self.carrier();
        let approval = carrier
            .approve(order, &mut Nobody)
            .await
            .expect("nobody is asked");
        carrier.spawn(order, &approval).await
    }

    pub async fn start(&self, order: &Order) -> Running {
        self.spawn(order).await.expect("spawns").release().await
    }

    /// Carries a plan out to its end.
    pub async fn run(&self, commands: &[&str]) -> Outcome {
        self.start(&self.order(commands)).await.outcome().await
    }

    /// Carries a plan out that must settle.
    pub async fn settle(&self, commands: &[&str]) -> ExitRecord {
        match self.run(commands).await {
            Outcome::Settled(record) => *record,
            other @ (Outcome::NotStarted { .. } | Outcome::InDoubt { .. }) => {
                panic!("not settled: {other:?}")
            }
        }
    }

    /// Processes of this session that are still there.
    pub fn left(&self) -> Vec<proc::Process> {
        proc::marked(&self.sid)
    }

    pub fn fifo(&self, name: &str) -> PathBuf {
        let path = self.work().join(name);
        nix::unistd::mkfifo(&path, nix::sys::stat::Mode::from_bits_truncate(0o600)).expect("fifo");
        path
    }
}

/// Reads one line from a named pipe: blocks until a command writes it.
pub async fn hear(path: &Path) -> String {
    let path = path.to_owned();
    let heard = tokio::task::spawn_blocking(move || {
        let mut line = String::new();
        BufReader::new(fs::File::open(path).expect("opens"))
            .read_line(&mut line)
            .expect("reads");
        line.trim().to_owned()
    });
    tokio::time::timeout(PATIENCE, heard)
        .await
        .expect("a command writes")
        .expect("joins")
}

/// Waits until something holds that must come to hold.
pub async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < PATIENCE, "never came: {what}");
        tokio::task::yield_now().await;
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// git in a work folder, for setting a stage.
pub fn git(cwd: &Path, args: &[&str]) -> String {
    let output = Command::new("git")
        .current_dir(cwd)
        .args([
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@t",
            "-c",
            "init.defaultBranch=main",
        ])
        .args(args)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .expect("git runs");
    assert!(
        output.status.success(),
        "git {args:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// Nobody to ask: a test that asks fails.
pub struct Nobody;

impl Approver for Nobody {
    fn ask(&mut self, question: Question) -> futures::future::BoxFuture<'_, Answer> {
        panic!("asked: {question:?}")
    }
}

/// Both kinds of sandbox.
pub const KINDS: [SandboxKind; 2] = [SandboxKind::Bubblewrap, SandboxKind::Landlock];

/// Runs one command inside of this kind and says whether it ended with 0.
pub async fn works(place: &Place, round: u32, command: &str) -> bool {
    let mut order = place.order(&[command]);
    order.round = round;
    match place.start(&order).await.outcome().await {
        Outcome::Settled(record) => record.ended == Ended::Settled { ok: true },
        other @ (Outcome::NotStarted { .. } | Outcome::InDoubt { .. }) => panic!("{other:?}"),
    }
}
