//! `brb record`: a live session, watched and written down as a recording.

use std::{
    fs,
    io::Write,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use clap::Args;
use fixtures::timeline::{Line, Writer};
use protocol::{
    fault::Code,
    limits::Limits,
    page::{Answer, Ask, CallId, Epoch, Loss, Observation, PageCommand, TargetId, What},
};

use super::{browser, failure::Failure, look, out, signals};
use crate::recording::{ABOUT, TIMELINE, record::Recorder, thinned};

/// Watch a chat in a running browser and write down what is seen, as a recording
///
/// Nothing is typed, pressed or loaded. What is written is what the relay's own observer says of the
/// page, the event stream of the page's own message and the HTML of the finished reply, with their
/// times; no cookie, no header and nothing of the account. Texts are made unreadable: each letter
/// becomes an x, each digit a 1, and ids become other ids. It ends at Ctrl-C.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  brb record --attach http://127.0.0.1:9222 --chat https://chatgpt.com/c/ID --out seen\n  brb record --attach http://127.0.0.1:9222 --tab TAB --out seen --seconds 120\n  brb replay seen"
)]
pub(super) struct RecordArgs {
    /// A running browser: its debugging port (http://127.0.0.1:9222), its web socket, or its profile folder
    #[arg(long, value_name = "URL")]
    attach: String,
    /// The address of the conversation, as the tab shows it
    #[arg(long, value_name = "URL", required_unless_present = "tab")]
    chat: Option<String>,
    /// This very tab, by the browser's own id
    #[arg(long, value_name = "ID")]
    tab: Option<String>,
    /// The folder to write; it must not be there yet, or be empty
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// End after so many seconds
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    seconds: Option<u64>,
    /// Keep all texts and ids as they are
    #[arg(long)]
    keep_text: bool,
}

/// Between two looks asked for: the observer is silent while nothing changes, and quiet
/// counts by looks alone.
const LOOK_MS: u64 = 400;

pub(super) fn main(args: &RecordArgs) -> Result<u8, Failure> {
    if let Some(chat) = &args.chat {
        browser::check_address(chat)?;
    }
    let endpoint = cdp::Endpoint::parse(&args.attach).map_err(|error| {
        Failure::usage(
            error,
            "Give http://127.0.0.1:PORT, a ws:// address or a profile folder.",
        )
    })?;
    make_folder(&args.out)?;
    let tab = cdp::TabWish {
        id: args.tab.clone().map(TargetId),
        conversation: args.chat.clone(),
        ..cdp::TabWish::default()
    };
    let mut config = browser::looking(endpoint, tab, &Limits::default(), true);
    config.stream_paths = crate::scripts::stream_paths();
    let seconds = args.seconds.unwrap_or(u64::MAX);
    let (recorder, end_ms) =
        signals::block_on(async { watch(config, Duration::from_secs(seconds)).await })?;
    let Some(lines) = recorder.finish(end_ms, args.keep_text) else {
        return Err(Failure::new(
            Code::Conversation,
            "no message of your side was seen, so there is no reply to record",
            "Record a conversation that has a message, or send one while it is recorded.",
        ));
    };
    write(&args.out, &thinned(&lines), args.keep_text)?;
    out::print(&format!(
        "{} lines in {}\n",
        lines.len(),
        args.out.join(TIMELINE).display()
    ))?;
    Ok(0)
}

fn make_folder(dir: &Path) -> Result<(), Failure> {
    let refuse = |why: String| Failure::usage(why, "Name another folder with `--out`.");
    match fs::read_dir(dir) {
        Ok(mut entries) => match entries.next() {
            None => Ok(()),
            Some(_) => Err(refuse(format!("{} is not empty", dir.display()))),
        },
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => fs::DirBuilder::new()
            .mode(0o700)
            .create(dir)
            .map_err(|error| refuse(format!("{}: {error}", dir.display()))),
        Err(error) => Err(refuse(format!("{}: {error}", dir.display()))),
    }
}

/// Watches until a signal, the end of the time, or of what there is to see.
async fn watch(config: cdp::Config, span: Duration) -> Result<(Recorder, u64), Failure> {
    let mut told = signals::listen()?;
    let limits = config.limits;
    let (commands, mut observations) = cdp::spawn(config);
    let began = Instant::now();
    let now_ms = || u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    let mut recorder = Recorder::default();
    let mut calls = 0;
    let mut said = false;
    let over = tokio::time::sleep(span.min(Duration::from_secs(86_400)));
    tokio::pin!(over);
    let mut tick = tokio::time::interval(Duration::from_millis(LOOK_MS));
    tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut epoch = Epoch::default();
    loop {
        let observation = tokio::select! {
            _ = tick.tick() => {
                calls += 1;
                ask(&commands, calls, epoch, Ask::Look).await;
                continue;
            }
            _ = told.recv() => break,
            () = &mut over => break,
            observation = observations.recv() => match observation {
                Some(observation) => observation,
                None => break,
            },
        };
        if let What::Lost(Loss::NeverAttached { code, detail }) = &observation.what {
            return Err(browser::never_attached(code, detail));
        }
        if matches!(observation.what, What::Attached(_)) && !said {
            said = true;
            // Nobody may be listening; the recording goes on all the same.
            let _ = writeln!(std::io::stderr().lock(), "recording; Ctrl-C ends it");
        }
        epoch = epoch.max(observation.epoch);
        let t_ms = now_ms();
        if let What::Answer { answer, .. } = &observation.what {
            if let Answer::Html { turn, html } = answer {
                recorder.html(t_ms, turn, html.as_str());
            }
            continue;
        }
        let wanted = recorder.observe(t_ms, &observation);
        if let Some(turn) = wanted {
            calls += 1;
            ask(&commands, calls, observation.epoch, Ask::Html { turn }).await;
        }
        if recorder.is_full() || is_over(&observation) {
            break;
        }
    }
    let end_ms = now_ms();
    look::let_go((commands, observations), true, &limits, &mut told).await;
    Ok((recorder, end_ms))
}

async fn ask(commands: &cdp::Commands, call: u64, epoch: Epoch, ask: Ask) {
    let call = CallId(call);
    let command = PageCommand { call, epoch, ask };
    // A driver that ended says so by its observations.
    let _ = commands.send(cdp::Control::Page(command)).await;
}

/// Nothing more can be seen: only a new document comes by itself.
fn is_over(observation: &Observation) -> bool {
    matches!(&observation.what, What::Lost(loss) if *loss != Loss::Document)
}

fn write(dir: &Path, lines: &[Line], keep_text: bool) -> Result<(), Failure> {
    let failed = |error: &dyn std::fmt::Display| {
        let what = format!("writing to {} failed: {error}", dir.display());
        Failure::usage(
            what,
            "Make room there, or name another folder with `--out`.",
        )
    };
    let file = fs::File::create_new(dir.join(TIMELINE)).map_err(|error| failed(&error))?;
    let mut writer = Writer::new(file);
    for line in lines {
        writer
            .append(line.clone())
            .map_err(|error| failed(&error))?;
    }
    let texts = if keep_text {
        "Texts and ids are kept as they were: look before you give it away."
    } else {
        "Texts were made unreadable: each letter is an x, each digit a 1, each other letter 字; so texts\nthat differ in such characters alone look alike here. Ids, fingerprints, requests and the address\nare other ones, the same each time. Of the page's own data only known fields are kept."
    };
    let about = format!(
        "# A live session\n\nRecorded by `brb record` {}: what the observer said of the page, the event stream of the page's own\nmessage, and the HTML of finished replies. No cookie, no header, nothing of the account.\n\n{texts}\n\n`brb replay` takes it through the proof. What it should come to can be written into `expected.json`,\nby hand.\n",
        env!("CARGO_PKG_VERSION")
    );
    fs::write(dir.join(ABOUT), about).map_err(|error| failed(&error))
}
