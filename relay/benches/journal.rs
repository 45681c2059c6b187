//! What a record costs, and what reading a journal costs.
//!
//! `scripts/bench journal`: a commit of 1 KiB against a raw append and fdatasync
//! in the same run, syncs a round, a journal of 10,000 rounds opened and folded,
//! `brb status` over 1,000 sessions. A broken bound ends it non-zero.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a bench reads the clock"
)]
#![allow(clippy::print_stdout, reason = "its result is what it prints")]

use std::{
    fs::{self, File},
    io::Write,
    path::Path,
    process::{Command, ExitCode, Stdio},
    time::{Duration, Instant},
};

use nix::sys::resource::{UsageWho, getrusage};
use protocol::{
    frame::Checkpoint,
    id::{Digest, Round, SendId, Sid},
    limits::Limits,
    message::{Objective, Offer},
    page::{Anchor, ConversationId, Epoch, TargetId, TurnId},
    plan::Decision,
    record::{
        Accepted, Intent, Journal, Judgement, Opened, Owner, Record, ReplyFacts, SCHEMA_VERSION,
        Seq, fold,
    },
    reply::{EndWitness, Source},
    send::{SendEvidence, SendKind, SendState},
    time::WallMs,
    wire,
};
use relay::journal::{Access, SqliteJournal};

/// A commit against a raw append with its sync, median against median.
const COMMIT_RATIO_MAX: f64 = 2.5;
const SYNCS_MAX: f64 = 8.0;
const READ_MS_MAX: f64 = 200.0;
const STATUS_MS_MAX: f64 = 15.0;

const COMMITS: usize = 600;
const ROUNDS: u32 = 10_000;
const SESSIONS: u32 = 1_000;
const OPENS: u32 = 7;
const CALLS: u32 = 21;

/// Set in the process whose syncs are counted: how many rounds it stores, where.
const COUNTED: &str = "BRB_BENCH_ROUNDS";

type Failed = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    match bench() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            println!("the bench itself failed: {error}");
            ExitCode::FAILURE
        }
    }
}

fn bench() -> Result<bool, Failed> {
    if let Ok(rounds) = std::env::var(COUNTED) {
        let folder = std::env::var("BRB_BENCH_FOLDER")?;
        store_rounds(Path::new(&folder), rounds.parse()?)?;
        return Ok(true);
    }
    let mut within = commits()?;
    within &= syncs()?;
    within &= opens()?;
    within &= status()?;
    Ok(within)
}

fn report(what: &str, found: &str, ratio: f64, bound: f64) -> bool {
    let verdict = if ratio <= bound { "" } else { "  BROKEN" };
    println!("{what:<44} {found:>30}   {ratio:>7.2} (≤ {bound}){verdict}");
    ratio <= bound
}

/// Processor time so far, in ms: on a busy machine it tells a slow program from a
/// waiting one.
fn processor_ms(who: UsageWho) -> Result<f64, Failed> {
    let usage = getrusage(who)?;
    let of = |time: nix::sys::time::TimeVal| {
        Duration::from_secs(time.tv_sec().unsigned_abs())
            + Duration::from_micros(time.tv_usec().unsigned_abs())
    };
    Ok(millis(of(usage.user_time()) + of(usage.system_time())))
}

fn millis(span: Duration) -> f64 {
    span.as_secs_f64() * 1_000.0
}

fn median(mut spans: Vec<Duration>) -> Duration {
    spans.sort_unstable();
    spans[spans.len() / 2]
}

/// A folder on the disk that the build lies on, which is no memory.
fn on_disk() -> Result<tempfile::TempDir, Failed> {
    Ok(tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?)
}

/// Where a sync costs nothing: what is measured there is reading.
fn in_memory() -> Result<tempfile::TempDir, Failed> {
    let memory = Path::new("/dev/shm");
    Ok(if memory.is_dir() {
        tempfile::tempdir_in(memory)?
    } else {
        on_disk()?
    })
}

/// Each raw append stands beside a commit, so that both meet the same disk.
fn commits() -> Result<bool, Failed> {
    let dir = on_disk()?;
    let mut journal = SqliteJournal::create(&dir.path().join("s"))?;
    let owner = journal.claim()?;
    journal.append(owner, Seq(0), WallMs(0), 0, &opened(0))?;
    let record = Record::Decided {
        row: protocol::recovery::RowId::R1,
        facts: "x".repeat(940),
        action: "read again".into(),
        cost: None,
    };
    let bytes = serde_json::to_vec(&record)?.len();
    let mut raw = File::create(dir.path().join("raw"))?;
    raw.sync_all()?;
    let line = vec![b'x'; 1_024];
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for nth in 1..=COMMITS as u64 {
        let began = Instant::now();
        journal.append(owner, Seq(nth), WallMs(nth), nth, &record)?;
        ours.push(began.elapsed());
        let began = Instant::now();
        raw.write_all(&line)?;
        raw.sync_data()?;
        theirs.push(began.elapsed());
    }
    let (ours, theirs) = (median(ours), median(theirs));
    Ok(report(
        &format!("commit of {bytes} bytes, against a raw append"),
        &format!("{:.2} ms, {:.2} ms", millis(ours), millis(theirs)),
        millis(ours) / millis(theirs),
        COMMIT_RATIO_MAX,
    ))
}

/// The difference of two lengths leaves out what a session costs once.
fn syncs() -> Result<bool, Failed> {
    let counted = |rounds: u32| -> Result<f64, Failed> {
        let dir = on_disk()?;
        let library = dir.path().join("diskfault.so");
        let build = concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/diskfault/build");
        if !Command::new(build).arg(&library).status()?.success() {
            return Err("the counting library was not built".into());
        }
        let log = dir.path().join("log");
        let status = Command::new(std::env::current_exe()?)
            .env(COUNTED, rounds.to_string())
            .env("BRB_BENCH_FOLDER", dir.path().join("s"))
            .env("LD_PRELOAD", &library)
            .env("DISKFAULT_DIR", dir.path())
            .env("DISKFAULT_LOG", &log)
            .status()?;
        if !status.success() {
            return Err("the counted process failed".into());
        }
        let log = fs::read_to_string(log)?;
        Ok(log.trim().rsplit(' ').next().unwrap_or_default().parse()?)
    };
    let (few, many) = (counted(2)?, counted(12)?);
    let each = (many - few) / 10.0;
    Ok(report(
        "syncs a round, journal alone",
        &format!("{} records a round", round(1).len()),
        each,
        SYNCS_MAX,
    ))
}

fn opens() -> Result<bool, Failed> {
    let dir = in_memory()?;
    let folder = dir.path().join("s");
    let records = store_rounds(&folder, ROUNDS)?;
    let size = fs::metadata(folder.join(relay::journal::JOURNAL))?.len();
    let mut spans = Vec::new();
    let before = processor_ms(UsageWho::RUSAGE_SELF)?;
    for _ in 0..OPENS {
        let began = Instant::now();
        let found = SqliteJournal::open(&folder, Access::Read)?;
        let state = fold(&found.entries)?;
        spans.push(began.elapsed());
        let wanted = Round(ROUNDS);
        if !matches!(state.checkpoint, Checkpoint::At { round, .. } if round == wanted) {
            return Err("the journal folds to another state".into());
        }
    }
    let took = millis(median(spans));
    let busy = (processor_ms(UsageWho::RUSAGE_SELF)? - before) / f64::from(OPENS);
    Ok(report(
        &format!("10,000 rounds ({} MiB) opened and folded, ms", size >> 20),
        &format!("{records} records, processor {busy:.0}"),
        took,
        READ_MS_MAX,
    ))
}

fn status() -> Result<bool, Failed> {
    let dir = in_memory()?;
    for nth in 0..SESSIONS {
        let folder = dir.path().join(sid(nth).as_str());
        let mut journal = SqliteJournal::create(&folder)?;
        let owner = journal.claim()?;
        let mut seq = Seq(0);
        for record in begin(nth).into_iter().chain(round(1)).chain(round(2)) {
            let at = WallMs(1_760_000_000_000 + u64::from(nth));
            seq = journal.append(owner, seq, at, 0, &record)?.seq;
        }
        journal.release(owner)?;
    }
    let mut within = true;
    let one = sid(SESSIONS / 2).to_string();
    for (what, args) in [
        ("brb status, 1,000 sessions, ms", &["status"][..]),
        ("brb status SID, 1,000 sessions, ms", &["status", &one]),
    ] {
        let mut spans = Vec::new();
        let before = processor_ms(UsageWho::RUSAGE_CHILDREN)?;
        for _ in 0..CALLS {
            let began = Instant::now();
            let status = Command::new(env!("CARGO_BIN_EXE_brb"))
                .args(args)
                .env("BRB_STATE_DIR", dir.path())
                .stdout(Stdio::null())
                .status()?;
            spans.push(began.elapsed());
            if !status.success() {
                return Err("brb status failed".into());
            }
        }
        let busy = (processor_ms(UsageWho::RUSAGE_CHILDREN)? - before) / f64::from(CALLS);
        let busy = format!("processor {busy:.1}");
        within &= report(what, &busy, millis(median(spans)), STATUS_MS_MAX);
    }
    Ok(within)
}

// --- a session ---------------------------------------------------------------------

/// Stores a session of so many rounds, and says how many records it has.
fn store_rounds(folder: &Path, rounds: u32) -> Result<u64, Failed> {
    let mut journal = SqliteJournal::create(folder)?;
    let owner: Owner = journal.claim()?;
    let mut seq = Seq(0);
    for record in begin(0).into_iter().chain((1..=rounds).flat_map(round)) {
        seq = journal
            .append(owner, seq, WallMs(seq.0), seq.0, &record)?
            .seq;
    }
    journal.release(owner)?;
    Ok(seq.0)
}

fn sid(nth: u32) -> Sid {
    Sid::parse(&format!("{nth:016x}")).expect("sixteen digits")
}

fn opened(nth: u32) -> Record {
    let request = "Make the failing test pass, and say what was wrong.";
    Record::Opened(Box::new(Opened {
        schema: SCHEMA_VERSION,
        offer: Offer::standard(sid(nth), wire::tag(request), Objective::default()),
        request: request.into(),
        chat: "http://127.0.0.1:9/".into(),
        workspace: "/nowhere".into(),
        agent: "shell".into(),
        limits: Limits::default(),
    }))
}

fn begin(nth: u32) -> Vec<Record> {
    let mut all = vec![
        opened(nth),
        Record::Attached {
            epoch: Epoch(1),
            target: TargetId("T".into()),
            browser: "Chrome/156".into(),
            address: "http://127.0.0.1:9/".into(),
            layout: "classic".into(),
        },
        Record::Read {
            epoch: Epoch(1),
            turns: 0,
            anchor: Anchor::Empty,
        },
    ];
    all.extend(sent(1, SendKind::Hello, None, Anchor::Empty));
    all.push(Record::Bound {
        conversation: ConversationId("one".into()),
    });
    all.push(judged(1, Judgement::Held));
    all
}

/// One round as a run stores it: sent, its plan accepted, started and settled.
fn round(nth: u32) -> Vec<Record> {
    let (round, id) = (Round(nth), nth + 1);
    let text = format!("# PLAN pi-bridge/1\nplan {nth}\n{}", "step\n".repeat(60));
    let key = wire::tag(&text);
    let mut all = sent(id, SendKind::Round, Some(round), after(id - 1));
    all.push(judged(
        id,
        Judgement::Accepted(Box::new(Accepted {
            round,
            key: key.clone(),
            digest: Digest::of(&text),
            body: Digest::of(&format!("body {nth}")),
            decision: Decision::Continue,
            task: "step".into(),
            text: text.into(),
        })),
    ));
    all.push(Record::Started {
        round,
        plan: key.clone(),
        attempt: 1,
        group: 4_711,
        kept: Some(format!("refs/pi-bridge/00112233445566aa/{nth}")),
    });
    all.push(Record::Settled {
        round,
        plan: key,
        ok: true,
        receipt: "ok\n".repeat(100).into(),
    });
    all
}

fn after(id: u32) -> Anchor {
    Anchor::After(TurnId(format!("00000000-0000-4000-8000-0000{id:08}")))
}

fn sent(id: u32, kind: SendKind, round: Option<Round>, anchor: Anchor) -> Vec<Record> {
    let text = format!("message {id}\n{}", "line\n".repeat(80));
    let send = SendId(id);
    vec![
        Record::Intent(Box::new(Intent {
            send,
            message: kind,
            round,
            digest: Digest::of(&text),
            text: text.into(),
            anchor,
            epoch: Epoch(1),
            voids: Vec::new(),
            offer: None,
        })),
        Record::Dispatching { send, attempt: 1 },
        Record::Outcome {
            send,
            state: SendState::Sent,
            evidence: SendEvidence::OwnTurn {
                turn: Some(TurnId(format!("u{id}"))),
            },
        },
    ]
}

fn judged(id: u32, judgement: Judgement) -> Record {
    let Anchor::After(turn) = after(id) else {
        unreachable!("it is after a turn")
    };
    Record::Judged {
        send: SendId(id),
        reply: Some(ReplyFacts {
            turn,
            own: TurnId(format!("u{id}")),
            digest: Digest::of("reply"),
            chars: 612,
            end: EndWitness::StreamDone,
            agreed: vec![Source::Stream, Source::Dom],
        }),
        judgement,
    }
}
