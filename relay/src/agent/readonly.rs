//! `--approve read-only`: the short list of commands that only look.
//!
//! A command passes if it is words and plain quotes, joined by `|` at most, and each part is a
//! program of the list with options that cannot write, run or hang. Everything else is refused:
//! no expansion, substitution, redirection, sequence or background. Where a sandbox is in force
//! the work folder is read-only besides, so the list is not the only wall.

use std::fmt;

/// Why a command is not on the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotListed {
    /// Something that the shell would expand, redirect or sequence.
    ShellSyntax,
    /// A quote is left open, or a part is empty.
    Malformed,
    /// The program is not on the list.
    Program,
    /// The program is, this argument is not.
    Argument,
}

impl fmt::Display for NotListed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ShellSyntax => "read-only allows no shell syntax but quotes and |",
            Self::Malformed => "read-only could not read the command",
            Self::Program => "read-only does not list this program",
            Self::Argument => "read-only does not list this argument",
        })
    }
}

/// What a program of the list may be given.
enum Rule {
    /// Any arguments: no option of it writes, runs a program or waits for ever.
    Any,
    /// Arguments for which this holds.
    If(fn(&[&str]) -> bool),
}

const PROGRAMS: &[(&str, Rule)] = &[
    ("basename", Rule::Any),
    ("cat", Rule::Any),
    ("cmp", Rule::Any),
    ("cut", Rule::Any),
    ("df", Rule::Any),
    ("diff", Rule::If(diff)),
    ("dirname", Rule::Any),
    ("du", Rule::Any),
    ("echo", Rule::Any),
    ("egrep", Rule::Any),
    ("false", Rule::Any),
    ("fgrep", Rule::Any),
    ("find", Rule::If(find)),
    ("git", Rule::If(git)),
    ("grep", Rule::Any),
    ("head", Rule::Any),
    ("ls", Rule::Any),
    ("md5sum", Rule::Any),
    ("nl", Rule::Any),
    ("pwd", Rule::Any),
    ("readlink", Rule::Any),
    ("realpath", Rule::Any),
    ("sed", Rule::If(sed)),
    ("sha1sum", Rule::Any),
    ("sha256sum", Rule::Any),
    ("sort", Rule::If(sort)),
    ("stat", Rule::Any),
    ("tail", Rule::If(tail)),
    ("tr", Rule::Any),
    ("true", Rule::Any),
    ("uniq", Rule::If(uniq)),
    ("wc", Rule::Any),
];

/// Whether a whole command only looks.
///
/// # Errors
/// The first reason why not.
pub fn check(command: &str) -> Result<(), NotListed> {
    for part in split(command)? {
        let words: Vec<&str> = part.iter().map(String::as_str).collect();
        let (program, args) = words.split_first().ok_or(NotListed::Malformed)?;
        let (_, rule) = PROGRAMS
            .iter()
            .find(|(name, _)| name == program)
            .ok_or(NotListed::Program)?;
        let fine = match rule {
            Rule::Any => true,
            Rule::If(fine) => fine(args),
        };
        if !fine {
            return Err(NotListed::Argument);
        }
    }
    Ok(())
}

/// The words of each part of a pipeline, as the shell would see them; refuses what it would do
/// anything else with.
fn split(command: &str) -> Result<Vec<Vec<String>>, NotListed> {
    let mut parts = vec![Vec::new()];
    let mut word: Option<String> = None;
    let mut chars = command.trim().chars().peekable();
    let close = |word: &mut Option<String>, parts: &mut Vec<Vec<String>>| {
        if let (Some(w), Some(part)) = (word.take(), parts.last_mut()) {
            part.push(w);
        }
    };
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\t' => close(&mut word, &mut parts),
            '|' => {
                if matches!(chars.peek(), Some('|' | '&')) {
                    return Err(NotListed::ShellSyntax);
                }
                close(&mut word, &mut parts);
                parts.push(Vec::new());
            }
            '\'' | '"' => {
                let into = word.get_or_insert_default();
                loop {
                    match chars.next().ok_or(NotListed::Malformed)? {
                        q if q == c => break,
                        '$' | '`' | '\\' | '!' if c == '"' => return Err(NotListed::ShellSyntax),
                        other => into.push(other),
                    }
                }
            }
            // What the shell leaves alone wherever it stands; `=` only in an option, where it
            // makes no variable; `~` and `^` only inside a word, where they name a revision.
            'a'..='z'
            | 'A'..='Z'
            | '0'..='9'
            | '.'
            | '_'
            | '/'
            | '-'
            | '+'
            | ','
            | ':'
            | '@'
            | '%' => {
                word.get_or_insert_default().push(c);
            }
            '=' if word.as_ref().is_some_and(|w| w.starts_with('-')) => {
                word.get_or_insert_default().push(c);
            }
            '~' | '^'
                if word
                    .as_ref()
                    .is_some_and(|w| w.ends_with(|l: char| l.is_ascii_alphanumeric())) =>
            {
                word.get_or_insert_default().push(c);
            }
            _ => return Err(NotListed::ShellSyntax),
        }
    }
    close(&mut word, &mut parts);
    if parts.iter().any(Vec::is_empty) {
        Err(NotListed::Malformed)
    } else {
        Ok(parts)
    }
}

/// Short options made of the letters given, each alone or joined; and whole words of `long`.
fn only(args: &[&str], letters: &str, long: &[&str]) -> bool {
    args.iter()
        .take_while(|a| **a != "--")
        .all(|a| match a.strip_prefix("--") {
            Some(name) => long.contains(&name.split('=').next().unwrap_or(name)),
            None => match a.strip_prefix('-') {
                Some(cluster) => cluster.chars().all(|c| letters.contains(c)),
                None => true,
            },
        })
}

fn diff(args: &[&str]) -> bool {
    only(
        args,
        "abBcdeEilnNpqrstTuwyU0123456789",
        &["brief", "recursive", "unified", "color", "stat"],
    )
}

fn sort(args: &[&str]) -> bool {
    only(
        args,
        "bdfghinrRsuVzk0123456789.,t:",
        &["reverse", "unique", "numeric-sort", "version-sort"],
    )
}

/// A second operand would be written to.
fn uniq(args: &[&str]) -> bool {
    only(args, "cdDiuz", &["count", "repeated", "unique"])
        && args.iter().filter(|a| !a.starts_with('-')).count() <= 1
}

/// Following would never end.
fn tail(args: &[&str]) -> bool {
    only(args, "ncqvz+0123456789", &["lines", "bytes", "quiet"])
}

/// Printing lines by number: `sed -n 10,20p`.
fn sed(args: &[&str]) -> bool {
    let ["-n", script, files @ ..] = args else {
        return false;
    };
    let Some(range) = script.strip_suffix('p') else {
        return false;
    };
    let number = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    let fine = match range.split_once(',') {
        Some((from, to)) => number(from) && (number(to) || to == "$"),
        None => number(range) || range == "$",
    };
    fine && files.iter().all(|f| !f.starts_with('-'))
}

fn find(args: &[&str]) -> bool {
    const TESTS: &[&str] = &[
        "-a",
        "-and",
        "-empty",
        "-iname",
        "-ipath",
        "-links",
        "-maxdepth",
        "-mindepth",
        "-mmin",
        "-mtime",
        "-name",
        "-newer",
        "-not",
        "-o",
        "-or",
        "-path",
        "-perm",
        "-print",
        "-print0",
        "-prune",
        "-size",
        "-type",
        "-xdev",
    ];
    // What a test compares with may begin with a sign.
    let number = |a: &str| a[1..].starts_with(|c: char| c.is_ascii_digit());
    args.iter()
        .all(|a| !a.starts_with('-') || TESTS.contains(a) || (a.len() > 1 && number(a)))
}

/// Subcommands that look, with options that neither write a file nor run a program.
fn git(args: &[&str]) -> bool {
    const LOOKS: &[&str] = &[
        "abbrev",
        "abbrev-commit",
        "all",
        "author",
        "cached",
        "color",
        "date",
        "decorate",
        "diff-filter",
        "exclude-standard",
        "find-renames",
        "follow",
        "format",
        "graph",
        "grep",
        "max-count",
        "name-only",
        "name-status",
        "no-color",
        "no-ext-diff",
        "no-merges",
        "no-pager",
        "no-patch",
        "no-textconv",
        "numstat",
        "oneline",
        "others",
        "patch",
        "porcelain",
        "pretty",
        "reverse",
        "short",
        "shortstat",
        "show-current",
        "show-toplevel",
        "since",
        "stage",
        "staged",
        "stat",
        "summary",
        "unified",
        "until",
        "untracked-files",
        "verify",
        "word-diff",
    ];
    let args = args.strip_prefix(&["--no-pager"]).unwrap_or(args);
    let Some((sub, rest)) = args.split_first() else {
        return false;
    };
    match *sub {
        // A diff may be shown by a program that the repository names; the sandbox holds that.
        "status" | "log" | "show" | "diff" | "ls-files" | "rev-parse" | "blame" | "shortlog"
        | "ls-tree" => only(rest, "abcdhilmnpqrstuwzLMSUW0123456789.,:/", LOOKS),
        "branch" => {
            only(rest, "arv", &["all", "list", "show-current"])
                && rest.iter().all(|a| a.starts_with('-'))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_that_look_pass() {
        for command in [
            "ls -la src",
            "cat 'a file.txt' \"b.txt\"",
            "sed -n 10,20p src/main.rs",
            "sed -n '1,$p' x",
            "grep -rn \"fn main\" src | head -n 20",
            "find . -name '*.rs' -not -path './target/*'",
            "find . -size +10k",
            "git status --short",
            "git --no-pager log --oneline -n 5",
            "git diff HEAD~1 -- src",
            "git branch -a",
            "sort -rn -k2 | uniq -c",
            "tail -n 5 log",
            "wc -l",
        ] {
            assert_eq!(check(command), Ok(()), "{command}");
        }
    }

    #[test]
    fn the_known_ways_round_are_refused() {
        for command in [
            "ls > x",
            "ls >> x",
            "cat < x",
            "cat <<E",
            "ls; rm x",
            "ls && rm x",
            "ls || rm x",
            "ls & rm x",
            "ls |& tee x",
            "ls\nrm x",
            "$(rm x)",
            "`rm x`",
            "cat \"$(rm x)\"",
            "cat \"`rm x`\"",
            "cat $HOME",
            "cat ~/x",
            "cat *",
            "cat {a,b}",
            "X=1 ls",
            "\\rm x",
            "r''m x",
            "sh -c 'rm x'",
            "env rm x",
            "xargs rm",
            "ls | xargs rm",
            "ls | sh",
            "/tmp/ls",
            "./cat x",
            "git -c core.pager=x log",
            "git -C /x log",
            "git --exec-path=/x log",
            "git log --output=x",
            "git log --outp=x",
            "git diff --ext-diff",
            "git log --textconv",
            "git push",
            "git branch new",
            "git branch -D x",
            "git grep -O x",
            "git show -Ox",
            "find . -exec rm {} +",
            "find . -delete",
            "find . -fprint x",
            "find . -ok rm",
            "sort -o x y",
            "sort -uo x",
            "sort --outp=x y",
            "sort --compress-program=x",
            "uniq a b",
            "uniq -c a b",
            "tail -f x",
            "tail -F x",
            "tail --follow x",
            "tail --retry x",
            "sed -i s/a/b/ x",
            "sed -n 1w x",
            "sed -n '1e rm x'",
            "sed -n 1p -i x",
            "sed 1p x",
            "diff --to-file=x y",
            "tee x",
            "cat 'open",
            "",
            "   ",
            "| ls",
            "ls |",
            "if true",
            "! ls",
            "ls #x",
            "cat \"a\\\"b\"",
        ] {
            assert!(check(command).is_err(), "{command}");
        }
    }

    #[test]
    fn a_quoted_program_is_the_program_it_spells() {
        assert_eq!(check("'rm' x"), Err(NotListed::Program));
        assert_eq!(check("l's' x"), Ok(()));
    }

    proptest::proptest! {
        #[test]
        fn nothing_makes_it_panic(command in ".*") {
            let _ = check(&command);
        }
    }
}
