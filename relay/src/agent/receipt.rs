//! The receipt: what an execution tells the remote, in at most 24,000 characters (W10).
//!
//! Pure. Lines of ours begin left of the fourth column; everything that a command, a file, an
//! agent or the plan itself wrote stands behind four blanks, so that it can forge none of ours.

use super::capture::Captured;
use super::order::AgentKind;
use super::quote::{block, lines};
use super::record::{CommandEnd, Ended};

/// Longest receipt, in characters.
pub const RECEIPT_LEN_MAX: usize = 24_000;
/// Longest command that is quoted whole, in characters.
const COMMAND_LEN_MAX: usize = 1_200;
/// Least a stream is given, in characters.
const STREAM_LEN_MIN: usize = 120;

/// One command, as it went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Went {
    /// The command as the plan wrote it; the agent's own command line is not quoted.
    pub command: String,
    /// How it ended.
    pub end: CommandEnd,
    /// How long it ran.
    pub ran_ms: u64,
    /// Its stdout.
    pub stdout: Captured,
    /// Its stderr.
    pub stderr: Captured,
}

impl Went {
    /// A command that printed nothing because it was not run.
    #[must_use]
    pub fn without_output(command: String, end: CommandEnd) -> Self {
        Self {
            command,
            end,
            ran_ms: 0,
            stdout: Captured::default(),
            stderr: Captured::default(),
        }
    }
}

/// All that a receipt is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts<'a> {
    /// What is in force, from [`super::sandbox::first_line`].
    pub in_force: &'a str,
    /// Who carried the plan out.
    pub agent: &'a AgentKind,
    /// How it ended.
    pub ended: &'a Ended,
    /// Each command in order.
    pub went: &'a [Went],
    /// How many processes were left behind and ended by us.
    pub leftovers: u32,
    /// Names of the first of them: data.
    pub leftover_names: &'a [String],
    /// Sentences of our own, nothing quoted.
    pub notes: &'a [String],
    /// From the first command's start to the end.
    pub ran_ms: u64,
}

//= spec W10
/// The finished receipt.
#[must_use]
pub fn compose(facts: &Facts<'_>) -> String {
    let mut head = format!("{}\nresult: {}\n", facts.in_force, result(facts));
    for note in facts.notes {
        head.push_str(&format!("note: {note}\n"));
    }
    if facts.leftovers > 0 {
        head.push_str(&format!(
            "note: {} still running after the last command and ended by the relay:\n\n",
            count(
                facts.leftovers as usize,
                "background process was",
                "background processes were"
            ),
        ));
        head.push_str(&block(
            &lines(&facts.leftover_names.join("\n")),
            &[],
            0,
            400,
        ));
    }
    let sections: Vec<Section> = facts
        .went
        .iter()
        .enumerate()
        .filter_map(|(i, w)| section(facts, i, w))
        .collect();
    let fixed: usize = len(&head)
        + sections
            .iter()
            .map(|s| len(&s.head) + s.streams_overhead())
            .sum::<usize>();
    let wanted: Vec<usize> = sections
        .iter()
        .flat_map(|s| &s.streams)
        .map(|s| s.wanted())
        .collect();
    let shares = share(&wanted, RECEIPT_LEN_MAX.saturating_sub(fixed + 200));
    let mut shares = shares.into_iter();
    let mut out = head;
    for section in &sections {
        out.push('\n');
        out.push_str(&section.head);
        for stream in &section.streams {
            out.push_str(&stream.title);
            let len_max = shares.next().unwrap_or(STREAM_LEN_MIN);
            out.push_str(&block(&stream.head, &stream.tail, stream.cut, len_max));
        }
    }
    cut_lines(out.trim_end(), RECEIPT_LEN_MAX)
}

struct Stream {
    title: String,
    head: Vec<String>,
    tail: Vec<String>,
    cut: u64,
}

impl Stream {
    fn new(name: &str, captured: &Captured) -> Self {
        let odd = if captured.invalid {
            ", not all of it UTF-8"
        } else {
            ""
        };
        Self {
            title: format!(
                "\n{name}, {}{odd}:\n\n",
                count(captured.total as usize, "byte", "bytes")
            ),
            head: lines(&captured.head),
            tail: lines(&captured.tail),
            cut: captured.cut,
        }
    }

    fn wanted(&self) -> usize {
        self.head
            .iter()
            .chain(&self.tail)
            .map(|l| l.chars().count() + 5)
            .sum()
    }
}

struct Section {
    head: String,
    streams: Vec<Stream>,
}

impl Section {
    fn streams_overhead(&self) -> usize {
        self.streams
            .iter()
            .map(|s| len(&s.title) + 40)
            .sum::<usize>()
            + 1
    }
}

/// What is told of one command; nothing of one that was not reached.
fn section(facts: &Facts<'_>, i: usize, went: &Went) -> Option<Section> {
    let how = match &went.end {
        CommandEnd::Exit(code) => format!("exit status {code}, {}", seconds(went.ran_ms)),
        CommandEnd::Signal(signal) => format!("ended by signal {signal}, {}", seconds(went.ran_ms)),
        CommandEnd::SpawnFailed(_) => "could not be started".to_owned(),
        CommandEnd::Refused(why) => format!("refused, not run: {why}"),
        CommandEnd::Cut => format!("cut short by the relay, {}", seconds(went.ran_ms)),
        CommandEnd::NotRun => return None,
    };
    let (head, with_stderr) = match facts.agent {
        AgentKind::Shell => {
            let quoted = block(&lines(&went.command), &[], 0, COMMAND_LEN_MAX);
            (
                format!(
                    "command {} of {}: {how}\n\n{quoted}",
                    i + 1,
                    facts.went.len()
                ),
                true,
            )
        }
        AgentKind::Command { .. } => (
            format!("agent: {how}\n"),
            !matches!(went.end, CommandEnd::Exit(0)),
        ),
    };
    let mut streams = Vec::new();
    if went.stdout.total > 0 {
        streams.push(Stream::new("stdout", &went.stdout));
    }
    if with_stderr && went.stderr.total > 0 {
        streams.push(Stream::new("stderr", &went.stderr));
    }
    let ran = matches!(
        went.end,
        CommandEnd::Exit(_) | CommandEnd::Signal(_) | CommandEnd::Cut
    );
    let silent = if streams.is_empty() && ran {
        "\nno output\n"
    } else {
        ""
    };
    Some(Section {
        head: format!("{head}{silent}"),
        streams,
    })
}

fn result(facts: &Facts<'_>) -> String {
    let ran = seconds(facts.ran_ms);
    match facts.ended {
        Ended::NotStarted { why } => format!("not started, nothing ran: {why}"),
        Ended::Killed { why } => {
            format!("ended by the relay ({why}) after {ran}; what was under way may be half done")
        }
        Ended::Broken { why } => {
            format!("lost after {ran} ({why}); what was under way may be half done")
        }
        Ended::Settled { ok } => match facts.agent {
            AgentKind::Command { .. } if *ok => format!("the agent ended well, {ran}"),
            AgentKind::Command { .. } => format!("the agent failed, {ran}"),
            AgentKind::Shell => shell_result(facts.went, &ran),
        },
    }
}

fn shell_result(went: &[Went], ran: &str) -> String {
    let of = went.len();
    let bad = went
        .iter()
        .position(|w| !matches!(w.end, CommandEnd::Exit(0)));
    match bad {
        _ if of == 0 => "the plan has no commands, nothing was run".to_owned(),
        None => format!(
            "{} ended with status 0, {ran}",
            count(of, "command", "commands")
        ),
        Some(i) => {
            let how = match &went[i].end {
                CommandEnd::Exit(code) => format!("ended with status {code}"),
                CommandEnd::Signal(signal) => format!("was ended by signal {signal}"),
                CommandEnd::SpawnFailed(_) => "could not be started".to_owned(),
                CommandEnd::Refused(_) => "was refused".to_owned(),
                CommandEnd::NotRun => "did not run".to_owned(),
                CommandEnd::Cut => "was cut short".to_owned(),
            };
            let after = of - i - 1;
            let rest = if after == 0 {
                String::new()
            } else {
                format!(
                    "; {} after it did not run",
                    count(after, "command", "commands")
                )
            };
            format!("command {} of {of} {how}{rest}, {ran}", i + 1)
        }
    }
}

/// Divides `room` so that small wishes are met whole and large ones get the same.
fn share(wanted: &[usize], room: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by_key(|i| wanted[*i]);
    let (mut room, mut out) = (room, vec![0; wanted.len()]);
    for (done, i) in order.into_iter().enumerate() {
        let fair = room / (wanted.len() - done);
        out[i] = wanted[i].min(fair).max(STREAM_LEN_MIN);
        room = room.saturating_sub(out[i]);
    }
    out
}

/// The last resort of a plan with very many commands: whole lines go from the middle.
fn cut_lines(text: &str, len_max: usize) -> String {
    if len(text) <= len_max {
        return text.to_owned();
    }
    let room = len_max - 60;
    let all: Vec<&str> = text.split('\n').collect();
    let fit = |lines: &mut dyn Iterator<Item = &&str>, room: usize| {
        let mut used = 0;
        lines
            .take_while(|l| {
                used += len(l) + 1;
                used <= room
            })
            .count()
    };
    let head = fit(&mut all.iter(), room / 2);
    let tail = fit(&mut all[head..].iter().rev(), room / 2);
    let cut: usize = all[head..all.len() - tail]
        .iter()
        .map(|l| l.len() + 1)
        .sum();
    let mark = format!("  [{cut} bytes of this receipt cut here]");
    [&all[..head], &[mark.as_str()], &all[all.len() - tail..]]
        .concat()
        .join("\n")
}

fn len(text: &str) -> usize {
    text.chars().count()
}

fn count(n: usize, one: &str, many: &str) -> String {
    if n == 1 {
        format!("1 {one}")
    } else {
        format!("{n} {many}")
    }
}

/// A duration to a tenth of a second.
fn seconds(ms: u64) -> String {
    if ms < 100 {
        "under 0.1 s".to_owned()
    } else {
        format!("{}.{} s", ms / 1000, ms % 1000 / 100)
    }
}

#[cfg(test)]
#[path = "receipt_tests.rs"]
mod tests;
