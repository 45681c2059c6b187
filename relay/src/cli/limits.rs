//! A flag for each limit, made from the one list of them.

use std::sync::LazyLock;

use clap::{Arg, ArgMatches, Args, Command, FromArgMatches, value_parser};
use protocol::{fault::Code, limits::Limits};

use super::failure::Failure;

const HEADING: &str = "Limits";

/// The flags' names: the limits' with dashes.
static FLAGS: LazyLock<Vec<String>> = LazyLock::new(|| {
    Limits::ALL
        .iter()
        .map(|limit| limit.name.replace('_', "-"))
        .collect()
});

/// The limits that were given on the command line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LimitFlags {
    given: Vec<(&'static str, u64)>,
}

impl LimitFlags {
    /// The limits in force, the defaults where nothing was given.
    ///
    /// # Errors
    /// [`Failure`] when they contradict one another.
    pub fn limits(&self) -> Result<Limits, Failure> {
        let mut limits = Limits::default();
        for (name, value) in &self.given {
            limits
                .set(name, *value)
                .map_err(|error| Failure::usage(error, "Choose a value in that range."))?;
        }
        match limits.contradiction() {
            None => Ok(limits),
            Some(why) => Err(Failure::new(
                Code::Config,
                format!("two limits contradict each other: {why}"),
                "Change one of the two.",
            )),
        }
    }
}

impl LimitFlags {
    /// The first limit given that is not what these say: its flag, and what they say.
    pub fn other_than(&self, limits: &Limits) -> Option<(String, u64)> {
        self.given.iter().find_map(|(name, value)| {
            let was = limits.get(name)?;
            let flag = format!("--{}", name.replace('_', "-"));
            (was != *value).then_some((flag, was))
        })
    }
}

impl Args for LimitFlags {
    fn augment_args(command: Command) -> Command {
        let flags: &'static [String] = &FLAGS;
        Limits::ALL
            .iter()
            .zip(flags)
            .fold(command, |command, (limit, flag)| {
                let arg = Arg::new(limit.name)
                    .long(flag.as_str())
                    .value_name("N")
                    .value_parser(value_parser!(u64).range(limit.min..=limit.max))
                    .help_heading(HEADING)
                    .hide_short_help(true)
                    .help(format!(
                        "{} [default: {}]",
                        limit.what.trim(),
                        limit.default
                    ));
                command.arg(arg)
            })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for LimitFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = Limits::ALL.iter().filter_map(|limit| {
            let value = matches.get_one::<u64>(limit.name)?;
            Some((limit.name, *value))
        });
        Ok(Self {
            given: given.collect(),
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(args: &[&str]) -> Result<LimitFlags, clap::Error> {
        let command = LimitFlags::augment_args(Command::new("x").no_binary_name(true));
        LimitFlags::from_arg_matches(&command.try_get_matches_from(args)?)
    }

    #[test]
    fn every_limit_has_a_flag_that_takes_its_ends_and_nothing_beyond() {
        for limit in Limits::ALL {
            let flag = format!("--{}", limit.name.replace('_', "-"));
            for value in [limit.min, limit.max] {
                let given = parse(&[&flag, &value.to_string()]).unwrap().given;
                assert_eq!(given, [(limit.name, value)]);
            }
            for value in [limit.min.checked_sub(1), Some(limit.max + 1)]
                .into_iter()
                .flatten()
            {
                assert!(
                    parse(&[&flag, &value.to_string()]).is_err(),
                    "{flag} {value}"
                );
            }
        }
    }

    #[test]
    fn limits_that_contradict_each_other_are_refused() {
        let limits = parse(&["--quiet-ms", "1501"]).unwrap().limits();
        let failure = limits.unwrap_err();
        assert_eq!((failure.code, failure.exit()), (Code::Config, 2));
        let both = parse(&["--quiet-ms", "1501", "--long-quiet-ms", "1501"]).unwrap();
        assert_eq!(both.limits().unwrap().quiet_ms, 1_501);
        assert_eq!(parse(&[]).unwrap().limits().unwrap(), Limits::default());
    }
}
