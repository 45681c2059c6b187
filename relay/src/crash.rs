//! Crash points: places at which a test has the relay kill itself, as `kill -9` would.
//!
//! Only with the feature `crashpoints`, which a release never has; without it every call here
//! is nothing. `BRB_CRASH` names one point: what is done (`journal`, a record; `page`, a command
//! to the page; `agent`, a step of the agent side), which one, by its number (`17`) or by its
//! name with the how-manieth (`dispatching#2`), and whether `before` or `after` it.
//! `BRB_BREAK` names one in the same way, at which the relay panics instead (R15).
//! `BRB_CRASH_TRACE` names a file to which every point passed is added, one a line.

/// What a crash point stands at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum At {
    /// A record of the journal; its number is its place.
    Journal,
    /// A command to the page; after it means that its answer is here.
    Page,
    /// A step of the agent side.
    Agent,
}

/// Before what is done, or after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// Nothing of it has happened.
    Before,
    /// All of it has.
    After,
}

#[cfg(not(feature = "crashpoints"))]
mod point {
    use super::{At, When};

    /// Nothing.
    #[inline]
    pub fn pass(_: At, _: When, _: &str) {}
}

#[cfg(feature = "crashpoints")]
mod point {
    use std::{
        collections::BTreeMap,
        fs::File,
        io::Write as _,
        sync::{LazyLock, Mutex, PoisonError},
    };

    use super::{At, When};

    impl At {
        const fn name(self) -> &'static str {
            match self {
                Self::Journal => "journal",
                Self::Page => "page",
                Self::Agent => "agent",
            }
        }
    }

    impl When {
        const fn name(self) -> &'static str {
            match self {
                Self::Before => "before",
                Self::After => "after",
            }
        }
    }

    /// The point at which to die, as it was given.
    static WANTED: LazyLock<Option<String>> = LazyLock::new(|| std::env::var("BRB_CRASH").ok());
    /// The point at which to panic.
    static BREAK: LazyLock<Option<String>> = LazyLock::new(|| std::env::var("BRB_BREAK").ok());
    static TRACE: LazyLock<Option<String>> =
        LazyLock::new(|| std::env::var("BRB_CRASH_TRACE").ok());
    /// How often each name was passed, and how many of a kind.
    static PASSED: Mutex<BTreeMap<(&'static str, String), u64>> = Mutex::new(BTreeMap::new());

    /// Passes a point, or dies there.
    pub fn pass(at: At, when: When, name: &str) {
        if WANTED.is_none() && TRACE.is_none() && BREAK.is_none() {
            return;
        }
        let (by_number, by_name) = names(at, when, name);
        if let Some(path) = TRACE.as_deref()
            && let Ok(mut file) = File::options().create(true).append(true).open(path)
        {
            // A trace that cannot be written shows itself by being short.
            let _ = writeln!(file, "{by_name} {by_number}");
        }
        may_break([&by_number, &by_name]);
        if WANTED
            .as_ref()
            .is_some_and(|wanted| *wanted == by_number || *wanted == by_name)
        {
            // It cannot fail for ourselves, and nothing after it runs.
            let _ = nix::sys::signal::raise(nix::sys::signal::Signal::SIGKILL);
        }
    }

    #[allow(clippy::panic, reason = "this is what it is for")]
    fn may_break(names: [&String; 2]) {
        if names.into_iter().any(|name| BREAK.as_ref() == Some(name)) {
            panic!("a test broke it at {}", names[1]);
        }
    }

    fn names(at: At, when: When, name: &str) -> (String, String) {
        let mut passed = PASSED.lock().unwrap_or_else(PoisonError::into_inner);
        let mut count = |key: String| {
            let count = passed.entry((at.name(), key)).or_insert(0);
            if when == When::Before {
                *count += 1;
            }
            *count
        };
        let (all, nth) = (count(String::new()), count(name.to_owned()));
        let (at, when) = (at.name(), when.name());
        (
            format!("{at}:{all}:{when}"),
            format!("{at}:{name}#{nth}:{when}"),
        )
    }
}

pub use point::pass;
