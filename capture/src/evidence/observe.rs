//! Takes observations in, one at a time.

use protocol::page::{
    Answer, AttachCause, Epoch, Look, Observation, Place, StreamEvent, TurnId, What,
};
use protocol::reply::Interference;
use protocol::text::Private;
use protocol::time::Millis;

use super::steady::{Moment, see};
use super::thread::{Sought, own_text, reply_blocks, standing};
use super::{DataTaken, Evidence, Live, Seen, Shown, Sight, Standing, weight};
use crate::limits::TEXT_BYTES_MAX;
use crate::{drift, guard};

impl Evidence {
    /// Takes one observation in.
    pub fn observe(&mut self, now: Millis, observation: &Observation) {
        let now = self.clock.at(now);
        if self.epoch.is_some_and(|epoch| observation.epoch < epoch) {
            self.dropped = self.dropped.saturating_add(1);
            return;
        }
        if self.epoch != Some(observation.epoch) {
            self.new_epoch(now, observation.epoch);
        }
        if !weight::names_fit(observation) {
            let source = match &observation.what {
                What::Stream(_) => "stream",
                What::Look(_)
                | What::Answer { .. }
                | What::Attached(_)
                | What::Beat(_)
                | What::Malformed { .. }
                | What::Lost(_)
                | What::Dialog { .. } => "observer",
            };
            return self.not_understood(source);
        }
        match &observation.what {
            What::Attached(attached) => self.attached(attached.cause),
            What::Look(look) => self.look(now, look),
            What::Stream(report) => {
                let counted = self.streamed.replace(report.n);
                if counted
                    .is_some_and(|last| report.n != 0 && Some(report.n) != last.checked_add(1))
                {
                    // What is missing may have been a piece of our stream.
                    self.sources.stream.lost_piece_of("stream");
                }
                let ours = self.awaited.text.as_str();
                if self
                    .sources
                    .take_stream(now, report, ours, self.conversation.as_ref())
                {
                    self.changed_at = now;
                    self.note_stream(now, &report.event);
                    //= spec C6
                    let count = self.sources.stream.variants();
                    if count > 1 {
                        self.interference
                            .get_or_insert(Interference::TwoReplies { count });
                    }
                }
            }
            What::Answer {
                answer: Answer::Copied { turn, text },
                ..
            } => self.copied(now, turn, text),
            What::Answer { .. } | What::Beat(_) => {}
            What::Malformed { source, .. } => self.not_understood(source),
            What::Lost(_) => {
                self.live = None;
                self.sources.stream.cut_off();
                self.note(now, Seen::Lost);
            }
            What::Dialog { .. } => self.break_windows(),
        }
    }

    /// What did not parse may have been a piece of our stream, or a change that
    /// no other look tells of.
    fn not_understood(&mut self, source: &str) {
        self.sources.stream.lost_piece_of(source);
        self.break_windows();
    }

    fn new_epoch(&mut self, now: Millis, epoch: Epoch) {
        if self.epoch.is_some() {
            self.sources.stream.cut_off();
            self.sources.forget_page();
        }
        self.epoch = Some(epoch);
        self.streamed = None;
        self.live = None;
        self.changed_at = now;
        self.note(now, Seen::Epoch);
    }

    fn attached(&mut self, cause: AttachCause) {
        match cause {
            AttachCause::First | AttachCause::Link => {}
            AttachCause::Document | AttachCause::Renderer | AttachCause::Browser => {
                self.reloaded = true;
            }
        }
    }

    /// Looks were lost or may have been: no window reaches over this point.
    fn break_windows(&mut self) {
        if let Some(live) = &mut self.live {
            live.text = None;
            live.bar = None;
        }
    }

    fn look(&mut self, now: Millis, look: &Look) {
        if let Some(live) = &self.live {
            if look.seq <= live.seq {
                self.dropped = self.dropped.saturating_add(1);
                return;
            }
            if look.seq > live.seq.saturating_add(1) {
                self.break_windows();
            }
        }
        self.page_ms = Some(look.page_ms);
        let moment = Moment {
            at: now,
            page_ms: look.page_ms,
        };
        let sight = self.sight(now, look);
        let mut live = self.live.take().unwrap_or(Live {
            seq: 0,
            at: now,
            sight: Sight::Bare,
            text: None,
            bar: None,
            drifted: None,
        });
        live.seq = look.seq;
        live.at = now;
        match &sight {
            Sight::Drifted(missing) => see(&mut live.drifted, missing.clone(), moment),
            Sight::Blocked | Sight::Bare | Sight::Thread { .. } => live.drifted = None,
        }
        self.follow(&mut live, &sight, look, moment);
        if tells_apart(&live.sight) != tells_apart(&sight) {
            self.changed_at = now;
        }
        live.sight = sight;
        self.live = Some(live);
    }

    fn sight(&mut self, now: Millis, look: &Look) -> Sight {
        if guard::decide(look).is_some() {
            return Sight::Blocked;
        }
        if self.is_elsewhere(look) {
            self.other_place.get_or_insert_with(|| look.address.clone());
            return Sight::Bare;
        }
        //= spec C5
        if let Some(missing) = drift::missing(look) {
            return Sight::Drifted(missing);
        }
        if !look.hydrated {
            return Sight::Bare;
        }
        let sought = Sought {
            text: &self.awaited.text,
            form: &self.own_form,
            anchor: &self.awaited.anchor,
            verified: self.own_text.as_ref(),
            own: self.own.as_ref(),
            unbound: self.conversation.is_none() && matches!(look.place, Place::Conversation(_)),
        };
        let standing = standing(look, &sought);
        self.learn(now, look, &standing);
        Sight::Thread {
            standing,
            stop: look.composer.stop,
        }
    }

    /// Whether the tab shows another place than the one of our message.
    fn is_elsewhere(&self, look: &Look) -> bool {
        match (&self.conversation, &look.place) {
            (Some(bound), Place::Conversation(shown)) => bound != shown,
            (Some(_), Place::Fresh | Place::Transient(_) | Place::Elsewhere) => true,
            (None, Place::Elsewhere) => true,
            (None, Place::Fresh | Place::Transient(_) | Place::Conversation(_)) => false,
        }
    }

    fn learn(&mut self, now: Millis, look: &Look, standing: &Standing) {
        let mut suspect = false;
        match standing {
            Standing::NoReply { own } => self.own_seen(now, look, own),
            Standing::Reply { own: Some(own), .. } | Standing::Unsettled { own: Some(own) } => {
                self.own_seen(now, look, own);
            }
            Standing::Foreign(what) => {
                if self.interference.is_none() {
                    self.interference = Some(what.clone());
                    self.note(now, Seen::Interference);
                }
            }
            Standing::Other => {
                self.other_place.get_or_insert_with(|| look.address.clone());
            }
            Standing::Suspect => suspect = true,
            Standing::NoOwn
            | Standing::OwnUnsettled
            | Standing::Reply { own: None, .. }
            | Standing::Unsettled { own: None } => {}
        }
        //= spec C6
        // A foreign turn whose id does not settle is one all the same, once it
        // stands longer than a page needs to name its own.
        if !suspect {
            self.suspect_since = None;
        } else if now.since(*self.suspect_since.get_or_insert(now)) >= SUSPECT_MS {
            self.interference
                .get_or_insert(Interference::ForeignTurn { turn: None });
        }
    }

    fn own_seen(&mut self, now: Millis, look: &Look, own: &TurnId) {
        //= spec E1
        if self.conversation.is_none()
            && let Place::Conversation(id) = &look.place
        {
            self.conversation = Some(id.clone());
        }
        if self.own.is_none() {
            self.own = Some(own.clone());
            self.note(now, Seen::OwnTurn(own.clone()));
        }
        if let Some(text) = own_text(look, own)
            && self.own_text.as_ref() != Some(text)
            && text.as_str().len() <= TEXT_BYTES_MAX
        {
            self.own_text = Some(text.clone());
        }
    }

    /// Follows the reply: its text, its bar, its content.
    fn follow(&mut self, live: &mut Live, sight: &Sight, look: &Look, moment: Moment) {
        let Sight::Thread {
            standing: Standing::Reply { turn, reply, .. },
            stop,
        } = sight
        else {
            live.text = None;
            live.bar = None;
            return;
        };
        self.reply_turn.clone_from(turn);
        if let Some(turn) = turn {
            self.regenerated(moment.at, turn, &reply.print);
        }
        let blocks = if reply.bar { reply_blocks(look) } else { None };
        let version = self
            .sources
            .take_dom(moment.at, turn.as_ref(), blocks, *stop);
        let shown = Shown {
            turn: turn.clone(),
            print: reply.print.clone(),
            chars: reply.chars,
            blocks: version,
        };
        let before = live.text.as_ref().map(|text| text.value().clone());
        if before.as_ref() != Some(&shown) {
            self.changed_at = moment.at;
            self.note(moment.at, Seen::Text { chars: shown.chars });
            self.sources.shown(shown.turn.as_ref(), &shown.print);
        }
        see(&mut live.text, shown, moment);
        if reply.bar {
            let stood = live.bar.is_some();
            see(&mut live.bar, turn.clone(), moment);
            let idle = !*stop && !reply.streaming && !reply.thinking;
            if !stood {
                self.note(moment.at, Seen::Bar(true));
            } else if idle {
                self.finished.clone_from(turn);
            }
            if idle && self.sources.end_at.is_some() {
                let ended = turn.clone().map(|turn| (turn, reply.print.clone()));
                self.ended = ended;
            }
        } else if live.bar.take().is_some() {
            self.note(moment.at, Seen::Bar(false));
        }
    }

    /// A reply that had looked finished and now stands under another id was
    /// made again; so was one that the server had ended and that shows another
    /// text under another id. Before that, ids may still settle.
    //= spec C6
    fn regenerated(&mut self, now: Millis, turn: &TurnId, print: &str) {
        let ended = self.ended.as_ref().filter(|(_, was)| was != print);
        let was = self.finished.as_ref().filter(|was| *was != turn);
        let was = was.or(ended.map(|(was, _)| was).filter(|was| *was != turn));
        if let Some(was) = was
            && self.interference.is_none()
        {
            self.interference = Some(Interference::Regenerated {
                was: was.clone(),
                now: turn.clone(),
            });
            self.note(now, Seen::Interference);
        }
    }

    fn copied(&mut self, now: Millis, turn: &TurnId, text: &Private) {
        self.sources.candidate(turn, text);
        let Some(live) = &self.live else { return };
        let Sight::Thread {
            standing:
                Standing::Reply {
                    turn: Some(shown),
                    reply,
                    ..
                },
            stop,
        } = &live.sight
        else {
            return;
        };
        // A copy of another turn, or one taken in mid-reply, is no source.
        if shown != turn || !reply.bar || *stop || reply.streaming || reply.thinking {
            return;
        }
        let chars = u32::try_from(text.chars()).unwrap_or(u32::MAX);
        let print = reply.print.clone();
        self.sources.take_copy(now, turn, &print, text);
        self.note(now, Seen::Copy { chars });
    }

    fn note_stream(&mut self, now: Millis, event: &StreamEvent) {
        if matches!(event, StreamEvent::Fetched { .. }) {
            let finished = self
                .sources
                .data
                .as_ref()
                .is_some_and(DataTaken::is_finished);
            self.note(now, Seen::Fetched { finished });
            return;
        }
        if let Some(end) = self.sources.stream.end()
            && self.sources.ended_now(now)
        {
            self.note(now, Seen::End(end));
        }
    }
}

/// A page names its own new turn well within this.
const SUSPECT_MS: u64 = 1_500;

/// What of a sight counts as a sign of life when it changes.
fn tells_apart(sight: &Sight) -> (u8, bool, bool, bool, bool) {
    match sight {
        Sight::Blocked => (0, false, false, false, false),
        Sight::Drifted(_) => (1, false, false, false, false),
        Sight::Bare => (2, false, false, false, false),
        Sight::Thread { standing, stop } => match standing {
            Standing::NoOwn => (3, *stop, false, false, false),
            Standing::OwnUnsettled => (4, *stop, false, false, false),
            Standing::NoReply { .. } => (5, *stop, false, false, false),
            Standing::Unsettled { .. } => (6, *stop, false, false, false),
            Standing::Suspect | Standing::Foreign(_) | Standing::Other => {
                (7, *stop, false, false, false)
            }
            Standing::Reply { reply, .. } => (8, *stop, reply.bar, reply.streaming, reply.thinking),
        },
    }
}
