//! The relay as a process of its own while it waits, and a poller in its place.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use fixtures::{
    scenario::Scenario,
    server::{StandinConfig, start},
};

use crate::Report;

const WAIT_S: u64 = 125;
const RSS_MIB_MAX: f64 = 25.0;
/// Of one core.
const CORE_PERCENT_MAX: f64 = 0.1;

/// What `puppeteer-core` does in the relay's place.
const PUPPETEER: &str = r#"
const puppeteer = require("puppeteer-core");
(async () => {
  const browser = await puppeteer.connect({ browserWSEndpoint: process.argv[2], defaultViewport: null });
  const pages = await browser.pages();
  const page = pages.find((one) => one.url().startsWith(process.argv[3]));
  console.log("attached");
  const read = () => [...document.querySelectorAll(".markdown")].at(-1)?.innerText ?? "";
  for (;;) {
    await page.evaluate(read);
    await new Promise((resolve) => setTimeout(resolve, 400));
  }
})();
"#;

/// Processor seconds and resident MiB of a process.
fn spent(pid: u32) -> (f64, f64) {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<&str> = stat[stat.rfind(')').unwrap()..].split(' ').collect();
    let ticks: f64 = fields[12].parse::<f64>().unwrap() + fields[13].parse::<f64>().unwrap();
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let rss = status
        .lines()
        .find(|line| line.starts_with("VmRSS:"))
        .unwrap();
    let kib: f64 = rss.split_whitespace().nth(1).unwrap().parse().unwrap();
    // The kernel counts in hundredths of a second.
    (ticks / 100.0, kib / 1_024.0)
}

struct Stopped(Child);

impl Drop for Stopped {
    fn drop(&mut self) {
        let _ = nix::sys::signal::kill(
            nix::unistd::Pid::from_raw(i32::try_from(self.0.id()).unwrap()),
            nix::sys::signal::Signal::SIGTERM,
        );
        let _ = self.0.wait();
    }
}

pub async fn measure(report: &mut Report) {
    let scenario = format!(
        "name = \"wait\"\n[[reply]]\non = \"any\"\nthinking_ms = {}\ntext = \"late\"\n",
        (WAIT_S + 120) * 1_000
    );
    let standin = start(StandinConfig::new(Scenario::from_toml(&scenario).unwrap()))
        .await
        .unwrap();
    let dir = tempfile::tempdir().unwrap();
    let (work, profile) = (dir.path().join("work"), dir.path().join("profile"));
    fs::create_dir(&work).unwrap();
    let made = Command::new("git")
        .args(["init", "-q"])
        .current_dir(&work)
        .status();
    assert!(made.unwrap().success());
    let mut relay = Stopped(
        Command::new(env!("CARGO_BIN_EXE_brb"))
            .args([
                "run",
                "Wait.",
                "--approve",
                "workspace",
                "--json",
                "--chat",
                &standin.url,
            ])
            .arg("--profile")
            .arg(&profile)
            .env("BRB_STATE_DIR", dir.path().join("state"))
            .current_dir(&work)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap(),
    );
    let out = relay.0.stdout.take().unwrap();
    // Whatever it tells is read, so that it never waits for a reader.
    let (tell, told) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        let mut tell = Some(tell);
        for line in BufReader::new(out).lines().map_while(Result::ok) {
            if line.contains("\"waiting\"")
                && let Some(tell) = tell.take()
            {
                let _ = tell.send(());
            }
        }
    });
    tokio::time::timeout(Duration::from_secs(60), told)
        .await
        .expect("the relay waits")
        .unwrap();
    tokio::time::sleep(Duration::from_secs(5)).await;
    let puppeteer = puppeteer(dir.path(), &profile, &standin.url);
    let pids = [
        Some(relay.0.id()),
        puppeteer.as_ref().map(|child| child.0.id()),
    ];
    let before = pids.map(|pid| pid.map(spent));
    let began = Instant::now();
    let mut rss = [0.0_f64; 2];
    while began.elapsed() < Duration::from_secs(WAIT_S) {
        tokio::time::sleep(Duration::from_secs(5)).await;
        for (rss, pid) in rss.iter_mut().zip(pids) {
            *rss = rss.max(pid.map_or(0.0, |pid| spent(pid).1));
        }
    }
    let seconds = began.elapsed().as_secs_f64();
    let percent = |nth: usize| {
        let (pid, before) = (pids[nth]?, before[nth]?);
        Some(100.0 * (spent(pid).0 - before.0) / seconds)
    };
    println!("{seconds:.0} s of waiting for a reply");
    report.at_most("the relay's resident memory", rss[0], RSS_MIB_MAX, "MiB");
    report.at_most(
        "the relay's processor time",
        percent(0).unwrap(),
        CORE_PERCENT_MAX,
        "% of a core",
    );
    match percent(1) {
        Some(percent) => println!(
            "puppeteer-core beside it, polling each 400 ms: {:.1} MiB, {percent:.2} % of a core",
            rss[1]
        ),
        None => println!("puppeteer-core is not measured: node and npm are needed for it"),
    }
    drop(puppeteer);
    drop(relay);
    standin.shutdown().await;
}

/// A poller on the same page, where node and the package can be had.
fn puppeteer(dir: &Path, profile: &Path, url: &str) -> Option<Stopped> {
    let at = dir.join("puppeteer");
    fs::create_dir(&at).ok()?;
    let quiet = |command: &mut Command| {
        let done = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
        done.ok().filter(std::process::ExitStatus::success)
    };
    quiet(
        Command::new("npm")
            .args([
                "install",
                "--no-audit",
                "--no-fund",
                "--silent",
                "puppeteer-core@25.16.0",
            ])
            .current_dir(&at),
    )?;
    fs::write(at.join("poll.js"), PUPPETEER).ok()?;
    let text = fs::read_to_string(profile.join("DevToolsActivePort")).ok()?;
    let (port, path) = text.split_once('\n')?;
    let mut child = Command::new("node")
        .arg("poll.js")
        .arg(format!("ws://127.0.0.1:{port}{}", path.trim()))
        .arg(url)
        .current_dir(&at)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let mut line = String::new();
    BufReader::new(child.stdout.take()?)
        .read_line(&mut line)
        .ok()?;
    line.starts_with("attached").then_some(Stopped(child))
}
