//! Every part of a verdict in words, without the reply's text.

use std::fmt;

use super::{
    CaptureFailure, Captured, Disagreement, EndWitness, Holds, Interference, Missing, Phase,
    Progress, Source, Verdict, Want, Warning,
};
use crate::page::{PageErrorKind, TurnId};

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Complete(captured) => write!(f, "complete: {captured}"),
            Self::NotYet(progress) => write!(f, "not yet: {progress}"),
            Self::Truncated { turn, chars } => write!(
                f,
                "truncated: the page offers to continue {} after {chars} characters",
                named(turn.as_ref(), "the reply")
            ),
            Self::PageFailed(error) => {
                let kind = match error.kind {
                    PageErrorKind::Failed => "something went wrong",
                    PageErrorKind::Capacity => "the model is at capacity",
                    PageErrorKind::Delivery => "the message's delivery timed out",
                };
                write!(f, "failed by the page: {kind} (mark {})", error.mark)
            }
            Self::Interference(what) => write!(f, "interference: {what}"),
            Self::OtherPlace { address } => {
                write!(f, "another place: the tab shows {address}")
            }
            Self::SourceUncertain(what) => write!(f, "source uncertain: {what}"),
            Self::CaptureFailed { why } => write!(f, "capture failed: {why}"),
        }
    }
}

impl fmt::Display for Captured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "turn {} answers {}, {} characters; end by {}; agreed: {}",
            self.turn,
            self.own,
            self.text.chars(),
            self.end,
            Joined(&self.agreed)
        )?;
        if !self.warnings.is_empty() {
            write!(f, "; warnings: {}", Joined(&self.warnings))?;
        }
        Ok(())
    }
}

impl fmt::Display for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}, {} characters, unchanged since {}; holds: {}; missing: {}; settled by: {}; \
             look again by {}",
            self.phase,
            self.chars,
            self.changed_at,
            Joined(&self.holds),
            Joined(&self.missing),
            Joined(&self.settled_by()),
            self.look_by
        )?;
        if let Some(want) = &self.want {
            write!(f, "; wanted: {want}")?;
        }
        Ok(())
    }
}

impl Progress {
    /// What would settle it, each once.
    pub fn settled_by(&self) -> Vec<&'static str> {
        let mut by: Vec<_> = self.missing.iter().map(Missing::settled_by).collect();
        by.dedup();
        by
    }
}

impl Missing {
    /// What would settle it.
    pub fn settled_by(&self) -> &'static str {
        match self {
            Self::LiveLook => "a look",
            Self::Unblocked => "a person",
            Self::Layout { .. } => "the page showing its marks again",
            Self::Hydration => "the page rendering its thread",
            Self::OwnTurn | Self::OwnTurnSettled => "the page showing our turn",
            Self::Reply | Self::ReplySettled => "the page showing the reply",
            Self::StopGone | Self::StreamingGone | Self::ThinkingGone | Self::Bar => {
                "the page finishing the reply"
            }
            Self::BarDebounce { .. } | Self::Quiet { .. } => "time without a change",
            Self::End => "the stream's end, page data or a closed fence",
            Self::Agreement { .. } => "another source that says the same",
        }
    }
}

impl fmt::Display for Holds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OwnTurn => f.write_str("our own turn"),
            Self::Reply => f.write_str("the reply to it"),
            Self::Idle => f.write_str("nothing is being generated"),
            Self::Bar => f.write_str("the finished-action bar"),
            Self::Quiet => f.write_str("quiet"),
            Self::End(end) => write!(f, "the end by {end}"),
            Self::Source(source) => write!(f, "{source}"),
        }
    }
}

impl fmt::Display for Want {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Copy { turn } => write!(f, "the page's own copy of {turn}"),
        }
    }
}

impl fmt::Display for EndWitness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::StreamDone => "the stream's [DONE]",
            Self::StreamFinished => "a finished status in the stream",
            Self::PageData => "the page's own data",
            Self::FenceClosed => "the closed fence over the long quiet window",
        })
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Stream => "stream",
            Self::Data => "page data",
            Self::Copy => "copy",
            Self::Dom => "DOM",
            Self::Reread => "re-read",
        })
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CitationMarks { count } => write!(f, "{count} citation marks left out"),
            Self::UnknownBlock { tag } => write!(f, "unknown element <{tag}> kept as text"),
            Self::Partial { source } => write!(f, "{source} is partial and counts for nothing"),
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nothing => "nothing seen",
            Self::Thinking => "thinking",
            Self::Streaming => "streaming",
            Self::Finishing => "finishing",
        })
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LiveLook => f.write_str("a look at the page in this epoch"),
            Self::Unblocked => f.write_str("a page without a blocker"),
            Self::Layout { marks } => write!(f, "layout marks ({})", marks.join(", ")),
            Self::Hydration => f.write_str("the rendered thread"),
            Self::OwnTurn => f.write_str("our own turn"),
            Self::OwnTurnSettled => f.write_str("our own turn's settled id"),
            Self::Reply => f.write_str("a reply to our turn"),
            Self::ReplySettled => f.write_str("the reply's settled id"),
            Self::StopGone => f.write_str("the stop control's absence"),
            Self::StreamingGone => f.write_str("the streaming mark's absence"),
            Self::ThinkingGone => f.write_str("the thinking mark's absence"),
            Self::Bar => f.write_str("the finished-action bar on this turn"),
            Self::BarDebounce { have_ms, need_ms } => {
                write!(f, "the bar standing ({have_ms} of {need_ms} ms)")
            }
            Self::Quiet { have_ms, need_ms } => {
                write!(f, "quiet ({have_ms} of {need_ms} ms)")
            }
            Self::End => f.write_str("an end witness"),
            Self::Agreement { have } if have.is_empty() => {
                f.write_str("two sources that agree (none at hand)")
            }
            Self::Agreement { have } => {
                write!(f, "two sources that agree (at hand: {})", Joined(have))
            }
        }
    }
}

impl fmt::Display for Interference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ForeignTurn { turn } => {
                write!(
                    f,
                    "a user turn that is not ours ({})",
                    named(turn.as_ref(), "no settled id")
                )
            }
            Self::Edited { turn } => write!(f, "our turn {turn} was edited"),
            Self::Regenerated { was, now } => write!(f, "reply {was} was replaced by {now}"),
            Self::TwoReplies { count } => write!(f, "{count} replies to one turn"),
        }
    }
}

impl fmt::Display for Disagreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} ({} characters) and {} ({} characters) differ from event {}",
            self.one, self.one_chars, self.other, self.other_chars, self.at
        )
    }
}

impl fmt::Display for CaptureFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Deadline { limit, missing } => {
                write!(f, "{limit} passed; missing: {}", Joined(missing))
            }
            Self::FinishedUnproven { limit, missing } => write!(
                f,
                "finished and unproven when {limit} passed; missing: {}",
                Joined(missing)
            ),
            Self::Interrupted => f.write_str("the reply was stopped or interrupted"),
            Self::TooLong { max } => write!(f, "the reply is longer than {max} bytes"),
            Self::Layout { missing } => {
                write!(f, "the layout lacks {}", missing.join(", "))
            }
        }
    }
}

fn named<'a>(turn: Option<&'a TurnId>, otherwise: &'a str) -> &'a str {
    turn.map_or(otherwise, |turn| turn.0.as_str())
}

struct Joined<'a, T>(&'a [T]);

impl<T: fmt::Display> fmt::Display for Joined<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("nothing");
        }
        for (at, item) in self.0.iter().enumerate() {
            if at > 0 {
                f.write_str(", ")?;
            }
            write!(f, "{item}")?;
        }
        Ok(())
    }
}
