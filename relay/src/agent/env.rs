//! The environment of agents: an allow-list, so that no secret of the person's goes along.

use std::collections::BTreeMap;

use super::order::Settings;
use super::proc::MARK;

/// Where the person's own `PATH` holds nothing usable.
const PATH_DEFAULT: &str = "/usr/local/bin:/usr/bin:/bin";

/// What of the person's variables an agent is given: `PATH` without relative places, `LANG`,
/// `LC_*`, and the names that the person's own configuration passes: an agent's key, a toolchain.
/// `HOME` and `TMPDIR` are the wrapper's to add.
#[must_use]
pub fn allowed(
    person: impl IntoIterator<Item = (String, String)>,
    settings: &Settings,
    sid: &str,
) -> BTreeMap<String, String> {
    let mut env = BTreeMap::from([
        ("PATH".to_owned(), PATH_DEFAULT.to_owned()),
        ("TERM".to_owned(), "dumb".to_owned()),
        (MARK.to_owned(), sid.to_owned()),
    ]);
    for (name, value) in person {
        if name == "PATH" {
            let places: Vec<&str> = value.split(':').filter(|p| p.starts_with('/')).collect();
            if !places.is_empty() {
                env.insert(name, places.join(":"));
            }
        } else if name == "LANG" || name.starts_with("LC_") || passed(settings, &name) {
            env.insert(name, value);
        }
    }
    env
}

fn passed(settings: &Settings, name: &str) -> bool {
    const OURS: &[&str] = &["TERM", "HOME", "TMPDIR", MARK];
    !OURS.contains(&name) && settings.env_pass.iter().any(|n| n == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn person() -> Vec<(String, String)> {
        [
            ("PATH", "bin::/opt/x/bin:./y:/bin"),
            ("LANG", "C.UTF-8"),
            ("LC_TIME", "C"),
            ("API_KEY", "secret"),
            ("HOME", "/home/p"),
            ("TERM", "xterm"),
            ("BRB_SID", "forged"),
            ("LD_PRELOAD", "/evil.so"),
        ]
        .map(|(n, v)| (n.to_owned(), v.to_owned()))
        .to_vec()
    }

    fn settings(pass: &[&str]) -> Settings {
        let at = PathBuf::from;
        let mut s = Settings::new(at("/w"), at("/s"), at("/brb"));
        s.env_pass = pass.iter().map(|n| (*n).to_owned()).collect();
        s
    }

    #[test]
    fn a_plan_gets_nothing_but_the_list() {
        let env = allowed(person(), &settings(&[]), "ab12");
        let got: Vec<String> = env.into_iter().map(|(n, v)| format!("{n}={v}")).collect();
        assert_eq!(
            got,
            [
                "BRB_SID=ab12",
                "LANG=C.UTF-8",
                "LC_TIME=C",
                "PATH=/opt/x/bin:/bin",
                "TERM=dumb"
            ]
        );
    }

    #[test]
    fn the_names_passed_on_go_along_and_ours_never_do() {
        let env = allowed(person(), &settings(&["API_KEY", "HOME", "BRB_SID"]), "ab12");
        assert_eq!(env["API_KEY"], "secret");
        assert_eq!(env["BRB_SID"], "ab12");
        assert!(!env.contains_key("HOME") && !env.contains_key("LD_PRELOAD"));
    }
}
