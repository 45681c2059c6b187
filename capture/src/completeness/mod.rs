//! Is the reply complete: a pure function of the evidence and the hour.
//!
//! Complete is page witness, end witness and text agreement together (C2). All
//! else explains what is missing, what would settle it and when to look again.

mod progress;

use protocol::id::Digest;
use protocol::page::{Reply, TurnId};
use protocol::planted::{self, Bug};
use protocol::reply::{
    CaptureFailure, Captured, Disagreement, EndWitness, Interference, Missing, Phase, Source,
    Verdict, Warning,
};
use protocol::time::{Millis, SpanMs};

use crate::Limits;
use crate::evidence::{DataTaken, Evidence, Live, Sight, Standing, warnings};
use crate::trust::{Agreement, weigh};

/// What is known of the awaited reply now. `now` below the last observation is
/// taken as that.
//= spec C2
//= spec T1
pub fn prove(evidence: &Evidence, now: Millis, limits: &Limits) -> Verdict {
    let now = now.max(evidence.latest());
    if let Some(address) = &evidence.other_place {
        return Verdict::OtherPlace {
            address: address.clone(),
        };
    }
    //= spec C6
    if let Some(what) = &evidence.interference {
        return Verdict::Interference(what.clone());
    }
    let proof = Proof::new(evidence, now, limits);
    proof.failed_by_page().unwrap_or_else(|| proof.settle())
}

/// One look at the evidence.
struct Proof<'a> {
    evidence: &'a Evidence,
    now: Millis,
    limits: &'a Limits,
    own: Option<&'a TurnId>,
    turn: Option<&'a TurnId>,
    reply: Option<&'a Reply>,
    stop: bool,
}

impl<'a> Proof<'a> {
    fn new(evidence: &'a Evidence, now: Millis, limits: &'a Limits) -> Self {
        let mut proof = Self {
            evidence,
            now,
            limits,
            own: None,
            turn: None,
            reply: None,
            stop: false,
        };
        if let Some(Live {
            sight: Sight::Thread { standing, stop },
            ..
        }) = &evidence.live
        {
            proof.stop = *stop;
            match standing {
                Standing::NoReply { own } | Standing::Unsettled { own: Some(own) } => {
                    proof.own = Some(own);
                }
                Standing::Reply { own, turn, reply } => {
                    proof.own = own.as_ref();
                    proof.turn = turn.as_ref();
                    proof.reply = Some(reply);
                }
                Standing::NoOwn
                | Standing::OwnUnsettled
                | Standing::Unsettled { own: None }
                | Standing::Suspect
                | Standing::Foreign(_)
                | Standing::Other => {}
            }
        }
        proof
    }

    fn busy(&self) -> bool {
        self.stop
            || self
                .reply
                .is_some_and(|reply| reply.streaming || reply.thinking)
    }

    /// Outcomes that the page itself states, on our own turn.
    fn failed_by_page(&self) -> Option<Verdict> {
        let reply = self.reply?;
        if let Some(error) = &reply.error {
            return Some(Verdict::PageFailed(error.clone()));
        }
        //= spec C8
        let sources = &self.evidence.sources;
        let by_data = |data: &DataTaken| data.is_truncated(self.own, self.turn);
        let by_server = sources.stream.is_truncated() || sources.data.as_ref().is_some_and(by_data);
        if !self.busy() && (reply.truncated || (by_server && self.still() > 0)) {
            return Some(Verdict::Truncated {
                turn: self.turn.cloned(),
                chars: reply.chars,
            });
        }
        None
    }

    fn settle(&self) -> Verdict {
        let mut missing = self.page_missing();
        let data = self.data();
        let (end, end_at) = self.end(data).unzip();
        self.need_quiet(end, &mut missing);
        if end.is_none() {
            missing.push(Missing::End);
        }
        let agreement = weigh(self.evidence, end_at, data);
        let too_long = agreement
            .raw
            .is_some_and(|raw| u64::from(raw.chars) > self.limits.text_len_max);
        if too_long || (self.evidence.sources.too_long && agreement.raw.is_none()) {
            return Verdict::CaptureFailed {
                why: CaptureFailure::TooLong {
                    max: self.limits.text_len_max,
                },
            };
        }
        if !self.busy()
            && let Some(doubt) = &agreement.doubt
            && doubt.counts(self.still(), self.idle(), self.limits)
        {
            return self
                .made_again(&doubt.what)
                .unwrap_or_else(|| Verdict::SourceUncertain(doubt.what.clone()));
        }
        if missing.is_empty()
            && agreement.holds()
            && let (Some(own), Some(turn), Some(end)) = (self.own, self.turn, end)
        {
            return self.complete(own, turn, end, &agreement);
        }
        if let Some(early) = self.planted(&agreement) {
            return early;
        }
        if !agreement.holds() {
            missing.push(Missing::Agreement {
                have: agreement.have.clone(),
            });
        }
        self.late(&missing)
            .unwrap_or_else(|| Verdict::NotYet(self.progress(missing, end, &agreement)))
    }

    /// What a proof would take that lacks one of its three parts.
    fn planted(&self, agreement: &Agreement<'_>) -> Option<Verdict> {
        let (own, turn) = (self.own?, self.turn?);
        let end = EndWitness::StreamDone;
        let over = self.reply.is_some_and(|reply| reply.chars > 0) && !self.stop;
        if planted::is(Bug::StopGone) && over {
            let blocks = self.evidence.sources.dom.as_ref()?.blocks();
            let text = crate::markdown::markdown_of_blocks(blocks);
            return Some(Verdict::Complete(Captured {
                digest: Digest::of(&text),
                text: text.into(),
                turn: turn.clone(),
                own: own.clone(),
                end,
                agreed: vec![Source::Dom],
                warnings: Vec::new(),
            }));
        }
        let ended = self.evidence.sources.stream.end().is_some();
        (planted::is(Bug::DoneAlone) && ended).then(|| self.complete(own, turn, end, agreement))
    }

    /// The page's own data, where they say that this very reply is finished.
    /// Never where our text went out twice: either reply may be shown then.
    fn data(&self) -> Option<&'a DataTaken> {
        let sources = &self.evidence.sources;
        let data = sources.data.as_ref();
        data.filter(|data| data.ends(self.own, self.turn) && !sources.stream.is_ambiguous())
    }

    /// How and since when it is known that nothing more comes: from the stream,
    /// else from the page's own data, else from the closed fence.
    //= spec C2
    fn end(&self, data: Option<&DataTaken>) -> Option<(EndWitness, Millis)> {
        let sources = &self.evidence.sources;
        let stream = sources.stream.end().zip(sources.end_at);
        stream
            .or(data.map(|data| (EndWitness::PageData, data.at)))
            .or_else(|| Some((EndWitness::FenceClosed, self.fence_closed()?)))
    }

    /// The page shows another text than the stream gave, and under another id: the
    /// reply was made again, and perhaps nobody looked at the first one.
    //= spec C6
    fn made_again(&self, what: &Disagreement) -> Option<Verdict> {
        let was = self.evidence.sources.stream.answer_id()?;
        let now = self.turn?;
        let differs = (what.one, what.other) == (Source::Stream, Source::Dom) && was != *now;
        differs.then(|| {
            Verdict::Interference(Interference::Regenerated {
                was,
                now: now.clone(),
            })
        })
    }

    fn complete(
        &self,
        own: &TurnId,
        turn: &TurnId,
        end: EndWitness,
        agreement: &Agreement<'_>,
    ) -> Verdict {
        let Some(raw) = agreement.raw else {
            return Verdict::NotYet(self.progress(vec![Missing::End], Some(end), agreement));
        };
        let sources = &self.evidence.sources;
        //= spec C3
        // A longer text was once given for this reply: a shorter one never
        // takes its place.
        let mut longer = (Source::Copy, sources.longest_copied(turn), raw.chars);
        if !end.is_from_server() && longer.1 <= longer.2 {
            let shown = sources.longest_shown(turn);
            longer = (Source::Dom, shown, raw.form.chars());
        }
        let (one, one_chars, other_chars) = longer;
        if one_chars > other_chars {
            return Verdict::SourceUncertain(Disagreement {
                one,
                one_chars,
                other: agreement.agreed.first().copied().unwrap_or(Source::Copy),
                other_chars,
                at: 0,
            });
        }
        let unknown = sources.dom.as_ref().map_or(&[][..], |dom| &dom.unknown);
        let mut warnings = warnings(raw, unknown);
        warnings.extend(
            agreement
                .partial
                .iter()
                .map(|source| Warning::Partial { source: *source }),
        );
        Verdict::Complete(Captured {
            digest: raw.digest.clone(),
            text: raw.text.clone(),
            turn: turn.clone(),
            own: own.clone(),
            end,
            agreed: agreement.agreed.clone(),
            warnings,
        })
    }

    /// What of the page witness is lacking.
    fn page_missing(&self) -> Vec<Missing> {
        let Some(live) = &self.evidence.live else {
            return vec![Missing::LiveLook];
        };
        match &live.sight {
            Sight::Blocked => return vec![Missing::Unblocked],
            Sight::Drifted(marks) => {
                return vec![Missing::Layout {
                    marks: marks.clone(),
                }];
            }
            Sight::Bare => return vec![Missing::Hydration],
            Sight::Thread { standing, .. } => match standing {
                Standing::NoOwn => return vec![Missing::OwnTurn],
                Standing::OwnUnsettled => return vec![Missing::OwnTurnSettled],
                Standing::NoReply { .. } => return vec![Missing::Reply],
                Standing::Unsettled { .. }
                | Standing::Suspect
                | Standing::Foreign(_)
                | Standing::Other => return vec![Missing::ReplySettled],
                Standing::Reply { .. } => {}
            },
        }
        let Some(reply) = self.reply else {
            return vec![Missing::Reply];
        };
        let lacking = [
            (self.own.is_none(), Missing::OwnTurnSettled),
            (self.turn.is_none(), Missing::ReplySettled),
            (self.stop, Missing::StopGone),
            (reply.streaming, Missing::StreamingGone),
            (reply.thinking, Missing::ThinkingGone),
            (!reply.bar || reply.interrupted, Missing::Bar),
        ];
        let mut missing: Vec<_> = lacking
            .into_iter()
            .filter_map(|(lacks, what)| lacks.then_some(what))
            .collect();
        if reply.bar {
            let have_ms = live.bar.as_ref().map_or(0, |bar| bar.span());
            let need_ms = self.limits.bar_debounce_ms;
            if have_ms < need_ms {
                missing.push(Missing::BarDebounce { have_ms, need_ms });
            }
        }
        missing
    }

    /// Since when the server says that nothing more comes.
    fn server_end(&self) -> Option<Millis> {
        let stream = self.evidence.sources.end_at;
        stream.or(self.data().map(|data| data.at))
    }

    fn need_quiet(&self, end: Option<EndWitness>, missing: &mut Vec<Missing>) {
        if self.reply.is_none() {
            return;
        }
        let from_server = end.is_some_and(EndWitness::is_from_server);
        let need_ms = if from_server {
            self.limits.quiet_ms
        } else {
            self.limits.long_quiet_ms
        };
        let have_ms = self.still();
        if have_ms < need_ms {
            missing.push(Missing::Quiet { have_ms, need_ms });
        }
    }

    /// When the copy was taken whose Markdown closes its own last fence with
    /// only blanks after it, where the stream cannot tell of an end.
    //= spec C2
    fn fence_closed(&self) -> Option<Millis> {
        let sources = &self.evidence.sources;
        if !sources.stream.cannot_tell() || self.reply.is_none_or(|reply| reply.interrupted) {
            return None;
        }
        let copy = sources.copy()?;
        // (ours) The page's own data may say that this very text goes on.
        let goes_on = sources
            .data
            .as_ref()
            .is_some_and(|data| data.is_unfinished(&copy.raw));
        (copy.raw.fence_closed && !goes_on).then_some(copy.at)
    }

    /// How long the shown text has been unchanged, by live looks.
    fn still(&self) -> SpanMs {
        let live = self.evidence.live.as_ref();
        live.and_then(|live| live.text.as_ref())
            .map_or(0, |text| text.span())
    }

    /// How long nothing has changed at all.
    fn idle(&self) -> SpanMs {
        self.now.since(self.evidence.changed_at)
    }

    fn phase(&self) -> Phase {
        match self.reply {
            //= spec C4
            Some(reply) if reply.thinking => Phase::Thinking,
            Some(reply) if reply.chars == 0 && self.busy() => Phase::Thinking,
            Some(_) if self.busy() => Phase::Streaming,
            Some(reply) if reply.bar || reply.chars > 0 => Phase::Finishing,
            Some(_) => Phase::Nothing,
            None if self.stop => Phase::Thinking,
            None => Phase::Nothing,
        }
    }

    /// A limit that passed.
    fn late(&self, missing: &[Missing]) -> Option<Verdict> {
        let failed = |why| Some(Verdict::CaptureFailed { why });
        let phase = self.phase();
        let by = |limit: &str| {
            let (limit, missing) = (limit.to_owned(), missing.to_vec());
            match phase {
                Phase::Finishing => CaptureFailure::FinishedUnproven { limit, missing },
                Phase::Nothing | Phase::Thinking | Phase::Streaming => {
                    CaptureFailure::Deadline { limit, missing }
                }
            }
        };
        if let Some(Live {
            drifted: Some(drifted),
            ..
        }) = &self.evidence.live
            && drifted.span() >= self.limits.drift_ms
        {
            return failed(CaptureFailure::Layout {
                missing: drifted.value().clone(),
            });
        }
        if let Some(reply) = self.reply
            && reply.interrupted
            && !self.busy()
            && self.still() >= self.limits.long_quiet_ms
        {
            return failed(CaptureFailure::Interrupted);
        }
        if self.now.since(self.evidence.deadlines_from) >= self.limits.round_ms {
            return failed(by("round_s"));
        }
        let (limit, name) = match phase {
            Phase::Thinking => (self.limits.reply_thinking_ms, "reply_thinking_s"),
            Phase::Nothing | Phase::Streaming | Phase::Finishing => {
                (self.limits.reply_streaming_ms, "reply_streaming_s")
            }
        };
        if self.idle() >= limit {
            return failed(by(name));
        }
        None
    }
}
