//! How long recovery takes, over all runs, against what it is meant to take.

use protocol::{
    record::{Entry, Record},
    time::{SpanMs, WallMs},
};
use serde::Serialize;

use super::what::{Act, Fault};

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Figure {
    /// From a dropped socket to the next observation in the new epoch.
    Socket,
    /// From a reload to the page being seen again.
    Reload,
    /// From a crash of the renderer to the page being seen again.
    RendererCrash,
    /// From a hang of the renderer to its being noticed.
    Hang,
    /// From the start of a relay that goes on to its first decision.
    Restart,
    /// From a browser's end to a decision over the one that was started again.
    Browser,
}

impl Figure {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Socket,
        Self::Reload,
        Self::RendererCrash,
        Self::Hang,
        Self::Restart,
        Self::Browser,
    ];

    /// What is measured, in words.
    pub const fn what(self) -> &'static str {
        match self {
            Self::Socket => "socket dropped → next observation in the new epoch",
            Self::Reload => "reload → the page is seen again",
            Self::RendererCrash => "renderer crash → the page is seen again",
            Self::Hang => "renderer hangs → noticed",
            Self::Restart => "relay started again → its first decision",
            Self::Browser => "browser gone → decision over the new one",
        }
    }

    /// What it is meant to stay under.
    pub const fn target_ms(self) -> SpanMs {
        match self {
            Self::Socket | Self::Restart => 1_000,
            Self::Reload | Self::RendererCrash => 3_000,
            Self::Hang => 6_000,
            Self::Browser => 10_000,
        }
    }
}

/// One run's part in a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Measured {
    /// Which.
    pub figure: Figure,
    /// The span.
    pub ms: SpanMs,
}

/// Which figure a fault belongs to.
fn figure(fault: &Fault) -> Option<Figure> {
    let Fault::Act(act) = fault else {
        return None;
    };
    match act {
        Act::Fin | Act::Rst | Act::CloseFrame | Act::MidFrame => Some(Figure::Socket),
        Act::Reload => Some(Figure::Reload),
        Act::RendererCrash => Some(Figure::RendererCrash),
        Act::EndlessLoop => Some(Figure::Hang),
        Act::RelayKill => Some(Figure::Restart),
        Act::BrowserTerm | Act::BrowserKill => Some(Figure::Browser),
        // A silence is noticed by heartbeats; the rest is no recovery of ours.
        Act::BlackHole
        | Act::Detach
        | Act::BrowserStop
        | Act::RendererFreeze
        | Act::TabClosed
        | Act::AwayAndBack
        | Act::Alert
        | Act::AsksToStay
        | Act::PersonTypes
        | Act::PersonQuotes => None,
    }
}

/// What a run adds to the figures; nothing where it did not get that far.
pub fn of(fault: &Fault, at: WallMs, since: &[Entry]) -> Option<Measured> {
    let figure = figure(fault)?;
    let attached = |entry: &Entry| matches!(entry.record, Record::Attached { .. });
    let decided = |entry: &Entry| matches!(entry.record, Record::Decided { .. });
    let noticed = |entry: &Entry| {
        decided(entry) || attached(entry) || matches!(entry.record, Record::Stopped(_))
    };
    let seen = match figure {
        Figure::Socket | Figure::Reload | Figure::RendererCrash => {
            since.iter().find(|entry| attached(entry))
        }
        Figure::Hang => since.iter().find(|entry| noticed(entry)),
        Figure::Restart => since.iter().find(|entry| decided(entry)),
        Figure::Browser => {
            let new = since.iter().position(attached)?;
            since[new + 1..].iter().find(|entry| decided(entry))
        }
    };
    Some(Measured {
        figure,
        ms: seen?.at.0.saturating_sub(at.0),
    })
}

/// From a fault to the page being seen again, or else to the stop.
pub fn recovery(at: WallMs, since: &[Entry]) -> Option<SpanMs> {
    let again = since
        .iter()
        .find(|entry| matches!(entry.record, Record::Attached { .. }))
        .or_else(|| {
            since
                .iter()
                .find(|entry| matches!(&entry.record, Record::Stopped(stop) if stop.row.is_some()))
        })?;
    Some(again.at.0.saturating_sub(at.0))
}

/// A figure over all runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Spread {
    /// Which.
    pub figure: Figure,
    /// How many runs.
    pub runs: usize,
    /// The middle one.
    pub p50_ms: SpanMs,
    /// The one that one in twenty is over.
    pub p95_ms: SpanMs,
    /// What it is meant to stay under.
    pub target_ms: SpanMs,
}

impl Spread {
    /// Whether the figure stays under its target.
    pub fn is_met(&self) -> bool {
        self.p95_ms <= self.target_ms
    }
}

/// All figures that some run adds to.
pub fn spreads(all: impl IntoIterator<Item = Measured>) -> Vec<Spread> {
    let all: Vec<Measured> = all.into_iter().collect();
    let spread = |figure| {
        let mine = all.iter().filter(|one| one.figure == figure);
        let mut spans: Vec<SpanMs> = mine.map(|one| one.ms).collect();
        spans.sort_unstable();
        Some(Spread {
            figure,
            runs: spans.len(),
            p50_ms: percentile(&spans, 50)?,
            p95_ms: percentile(&spans, 95)?,
            target_ms: figure.target_ms(),
        })
    };
    Figure::ALL.into_iter().filter_map(spread).collect()
}

/// The nearest rank.
fn percentile(sorted: &[SpanMs], percent: usize) -> Option<SpanMs> {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_the_nearest_rank() {
        let hundred: Vec<SpanMs> = (1..=100).collect();
        assert_eq!(percentile(&hundred, 50), Some(50));
        assert_eq!(percentile(&hundred, 95), Some(95));
        assert_eq!(percentile(&[7], 95), Some(7));
        assert_eq!(percentile(&[1, 2], 50), Some(1));
        assert_eq!(percentile(&[], 50), None);
    }

    #[test]
    fn a_figure_that_no_run_adds_to_is_not_there() {
        let one = Measured {
            figure: Figure::Hang,
            ms: 5_000,
        };
        let spreads = spreads([one]);
        assert_eq!(spreads.len(), 1);
        assert!(spreads[0].is_met());
    }
}
