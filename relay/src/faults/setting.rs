//! What one run happens in: a folder with the demo's project, a stand-in that plays
//! the demo's session, a proxy, and a browser that is reached through it.

use std::{
    fs, io,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

use fixtures::{
    fault::FaultSpec,
    scenario::Scenario,
    server::{self, Layout, Standin, StandinConfig},
};
use tempfile::TempDir;

use super::{
    SettingError,
    proxy::Proxy,
    what::{At, Fault, ROUND},
};
use crate::demo::project;

/// The scenario of the demo.
const SCENARIO: &str = include_str!("../../../fixtures/scenarios/demo.toml");
/// In the work folder: one line for each plan that ran.
const RAN: &str = ".brb-ran";
/// In the work folder: the plan that waits for it goes on once it is there.
const GO: &str = ".brb-go";
/// The environment variable by which every process of a run is known.
const MARK: &str = "BRB_FAULTS";

/// Tenths of a second that a plan waits to be let go, at most.
const GO_TENTHS_MAX: u32 = 300;

/// The program between relay and browser: starts the real one and names the proxy in
/// its place. It ends when the browser does, and at no signal before.
const WRAPPER: &str = r#"#!/bin/sh
trap : TERM
trap '' PIPE
said=$(mktemp -u "@HOME@/said.XXXXXX")
mkfifo "$said"
exec 4>&2
while IFS= read -r line; do
  case $line in
    "DevTools listening on ws://127.0.0.1:"*)
      rest=${line#"DevTools listening on ws://127.0.0.1:"}
      echo "${rest%%/*}" > "@HOME@/upstream.new"
      mv "@HOME@/upstream.new" "@HOME@/upstream"
      line="DevTools listening on ws://127.0.0.1:@PORT@/${rest#*/}";;
  esac
  printf '%s\n' "$line" >&4
done < "$said" > /dev/null 2>&1 &
exec 4>&-
"@BROWSER@" "$@" > /dev/null 2> "$said"
status=$?
rm -f "$said"
exit "$status"
"#;

/// How the marks of all runs of this process begin.
pub fn our_marks() -> String {
    format!("{MARK}={}-", std::process::id())
}

/// One run's setting.
pub struct Setting {
    home: TempDir,
    /// The stand-in.
    pub standin: Standin,
    /// The proxy.
    pub proxy: Proxy,
    /// `NAME=VALUE` in the environment of every process of the run.
    pub mark: String,
    /// The seed of project and scenario.
    pub seed: u64,
}

impl Setting {
    /// Makes it for a fault at a step; nothing of the relay runs yet.
    ///
    /// # Errors
    /// [`SettingError`] when folder, project, stand-in or proxy cannot be made.
    pub async fn make(
        fault: &Fault,
        at: At,
        layout: Layout,
        seed: u64,
        browser: &Path,
    ) -> Result<Self, SettingError> {
        static RUNS: AtomicU64 = AtomicU64::new(0);
        let home = tempfile::Builder::new()
            .prefix("brb-faults-")
            .tempdir()
            .map_err(SettingError::of)?;
        let folder = home.path();
        for name in ["project", "state"] {
            fs::create_dir(folder.join(name)).map_err(SettingError::of)?;
        }
        project::make(&folder.join("project"), seed).map_err(SettingError::of)?;
        let scenario = scenario(at == At::Executing).map_err(SettingError::of)?;
        let mut config = StandinConfig::new(scenario);
        config.layout = layout;
        config.seed = seed;
        config.log_file = Some(folder.join("standin.jsonl"));
        config.faults = beforehand(fault);
        let standin = server::start(config).await.map_err(SettingError::of)?;
        let proxy = Proxy::start(folder.join("upstream"))
            .await
            .map_err(SettingError::of)?;
        let script = WRAPPER
            .replace("@HOME@", &folder.display().to_string())
            .replace("@PORT@", &proxy.port.to_string())
            .replace("@BROWSER@", &browser.display().to_string());
        let nth = RUNS.fetch_add(1, Ordering::Relaxed);
        let setting = Self {
            standin,
            proxy,
            mark: format!("{}{nth}", our_marks()),
            seed,
            home,
        };
        let wrapper = setting.wrapper();
        fs::write(&wrapper, script).map_err(SettingError::of)?;
        fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o700))
            .map_err(SettingError::of)?;
        Ok(setting)
    }

    /// The browser program that the relay is told.
    pub fn wrapper(&self) -> PathBuf {
        self.home.path().join("browser")
    }

    /// The work folder.
    pub fn project(&self) -> PathBuf {
        self.home.path().join("project")
    }

    /// The relay's state folder.
    pub fn state(&self) -> PathBuf {
        self.home.path().join("state")
    }

    /// The browser's profile.
    pub fn profile(&self) -> PathBuf {
        self.home.path().join("profile")
    }

    /// The stand-in's log.
    pub fn log(&self) -> PathBuf {
        self.home.path().join("standin.jsonl")
    }

    /// Lets the plan that waits go on.
    ///
    /// # Errors
    /// When the file cannot be made.
    pub fn let_plan_go(&self) -> io::Result<()> {
        fs::write(self.project().join(GO), "")
    }

    /// Plans that ran, once for each time that one did.
    pub fn ran(&self) -> Vec<String> {
        let text = fs::read_to_string(self.project().join(RAN)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Ends stand-in and proxy. With `keep` the folder stays, and is named.
    pub async fn end(self, keep: bool) -> Option<PathBuf> {
        self.standin.shutdown().await;
        keep.then(|| self.home.keep())
    }
}

fn beforehand(fault: &Fault) -> Vec<FaultSpec> {
    match fault {
        Fault::Switch(spec) => vec![spec.clone()],
        Fault::Act(_) | Fault::AtReload(_) => Vec::new(),
    }
}

/// The demo's scenario, in which each plan leaves a line when it runs, and, where that
/// is asked for, the plan of the disturbed round waits to be let go.
fn scenario(waits: bool) -> Result<Scenario, fixtures::scenario::ScenarioError> {
    const COMMANDS: &str = "## COMMANDS\n";
    let mut parts = SCENARIO.split(COMMANDS);
    let mut text = parts.next().unwrap_or_default().to_owned();
    for (nth, part) in parts.enumerate() {
        text.push_str(COMMANDS);
        // What is no plan to be run stays as it is.
        if !part.starts_with("- 无") && !part.starts_with("- see the block") {
            text.push_str(&format!("- echo '{{r}} {{p}}' >> {RAN}\n"));
            if waits && nth + 1 == ROUND as usize {
                text.push_str(&format!(
                    "- i=0; while [ ! -e {GO} ] && [ $i -lt {GO_TENTHS_MAX} ]; do sleep 0.1; i=$((i+1)); done\n"
                ));
            }
        }
        text.push_str(part);
    }
    Scenario::from_toml(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_demos_scenario_reads_with_its_counter_and_its_gate() {
        for waits in [false, true] {
            let text = format!("{:?}", scenario(waits).unwrap());
            let counted = text.matches(RAN).count();
            assert_eq!(counted, 5, "every plan that runs leaves a line");
            assert_eq!(text.matches(GO).count(), usize::from(waits));
        }
    }
}
