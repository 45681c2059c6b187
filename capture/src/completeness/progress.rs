//! What a waiting verdict says: how far it is, what would settle it, and when.

use protocol::reply::{EndWitness, Holds, Missing, Progress, Want};
use protocol::time::{Millis, SpanMs};

use super::Proof;
use crate::trust::Agreement;

/// Without anything else to wait for, a look is due at the driver's own beat.
const LOOK_MS: SpanMs = 1_000;
/// A look that is due and did not come is asked for again after this.
const LOOK_AGAIN_MS: SpanMs = 50;

impl Proof<'_> {
    pub(super) fn progress(
        &self,
        missing: Vec<Missing>,
        end: Option<EndWitness>,
        agreement: &Agreement<'_>,
    ) -> Progress {
        let want = self.want(&missing, agreement);
        Progress {
            phase: self.phase(),
            own: self.own.cloned(),
            holds: self.holds(&missing, end, agreement),
            look_by: self.look_by(&missing),
            want,
            chars: self.reply.map_or(0, |reply| reply.chars),
            changed_at: self.evidence.changed_at,
            missing,
        }
    }

    /// What of the proof holds already.
    fn holds(
        &self,
        missing: &[Missing],
        end: Option<EndWitness>,
        agreement: &Agreement<'_>,
    ) -> Vec<Holds> {
        let quiet = |what: &Missing| matches!(what, Missing::Quiet { .. });
        let bar = |what: &Missing| matches!(what, Missing::Bar | Missing::BarDebounce { .. });
        let page = [
            (self.own.is_some(), Holds::OwnTurn),
            (self.turn.is_some(), Holds::Reply),
            (self.reply.is_some() && !self.busy(), Holds::Idle),
            (self.turn.is_some() && !missing.iter().any(bar), Holds::Bar),
            (
                self.turn.is_some() && !missing.iter().any(quiet),
                Holds::Quiet,
            ),
        ];
        let page = page
            .into_iter()
            .filter_map(|(holds, what)| holds.then_some(what));
        let sources = agreement
            .agreed
            .iter()
            .filter(|_| agreement.doubt.is_none());
        page.chain(end.map(Holds::End))
            .chain(sources.map(|source| Holds::Source(*source)))
            .collect()
    }

    /// The page's own copy settles it where the page witness holds otherwise
    /// and no copy of this text is at hand.
    fn want(&self, missing: &[Missing], agreement: &Agreement<'_>) -> Option<Want> {
        let (turn, reply) = (self.turn?, self.reply?);
        let ready = missing.iter().all(|what| match what {
            Missing::End | Missing::Agreement { .. } => true,
            Missing::Quiet { have_ms, .. } => *have_ms >= self.limits.quiet_ms,
            Missing::LiveLook
            | Missing::Unblocked
            | Missing::Layout { .. }
            | Missing::Hydration
            | Missing::OwnTurn
            | Missing::OwnTurnSettled
            | Missing::Reply
            | Missing::ReplySettled
            | Missing::StopGone
            | Missing::StreamingGone
            | Missing::ThinkingGone
            | Missing::Bar
            | Missing::BarDebounce { .. } => false,
        });
        let lacks = missing
            .iter()
            .any(|what| matches!(what, Missing::End | Missing::Agreement { .. }));
        let sources = &self.evidence.sources;
        // While a stream may still tell the end, nothing is pressed; and where
        // the page is merely behind a text that is known, a copy adds nothing.
        let no_end = sources.stream.end().is_none() && self.data().is_none();
        let useful = if no_end {
            sources.stream.cannot_tell()
        } else {
            agreement.doubt.is_none()
        };
        let at_hand = sources
            .copy()
            .is_some_and(|copy| self.server_end().is_none_or(|end| copy.at >= end));
        (ready && lacks && useful && reply.copy && !at_hand)
            .then(|| Want::Copy { turn: turn.clone() })
    }

    /// When a look would bring the windows to their length, where nothing else
    /// of the page is lacking; else the next beat.
    fn look_by(&self, missing: &[Missing]) -> Millis {
        let beat = self.now + LOOK_MS;
        let Some(live) = &self.evidence.live else {
            return beat;
        };
        let mut lacking = None;
        for what in missing {
            match what {
                Missing::Quiet { have_ms, need_ms } | Missing::BarDebounce { have_ms, need_ms } => {
                    lacking = lacking.max(Some(need_ms.saturating_sub(*have_ms)));
                }
                // A look may bring the blocks that agree.
                Missing::End | Missing::Agreement { .. } => {}
                Missing::LiveLook
                | Missing::Unblocked
                | Missing::Layout { .. }
                | Missing::Hydration
                | Missing::OwnTurn
                | Missing::OwnTurnSettled
                | Missing::Reply
                | Missing::ReplySettled
                | Missing::StopGone
                | Missing::StreamingGone
                | Missing::ThinkingGone
                | Missing::Bar => return beat,
            }
        }
        let only_agreement = matches!(missing, [Missing::Agreement { .. }]);
        let sources = &self.evidence.sources;
        let end = self.server_end().or(sources.copy().map(|copy| copy.at));
        let fresh = end.is_some_and(|end| live.at >= end);
        if only_agreement && !fresh {
            lacking = Some(0);
        }
        match lacking.map(|lacking| live.at + lacking) {
            None => beat,
            Some(due) if due > self.now => due.min(beat),
            Some(_) => self.now + LOOK_AGAIN_MS,
        }
    }
}
