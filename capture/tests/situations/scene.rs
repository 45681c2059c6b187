//! A page as situations tell it: what it shows, what streams, what is copied.

use capture::{Awaited, Evidence, Limits, prove};
use protocol::id::SendId;
use protocol::page::{
    Anchor, Answer, AttachCause, Attachment, Block, Blocker, BlockerKind, CallId, Composer,
    Control, ConversationId, Draft, Epoch, Inline, Look, Loss, Observation, PageError,
    PageErrorKind, Place, Reply, Role, StreamEnd, StreamEvent, StreamReport, TargetId, Turn,
    TurnId, TurnKey, What,
};
use protocol::reply::Verdict;
use protocol::time::Millis;

pub const OURS: &str = "# ROUND pi-bridge/1\nFRAME: s=9f83a7c1d42e650b r=2 p=a1b2c3d4 q=e1db9b58\n\n## 上轮执行回执\nnpm test 全绿\n";
pub const PLAN: &str = "```text\n# PLAN pi-bridge/1\nFRAME: s=9f83a7c1d42e650b r=2 p=a1b2c3d4 q=e1db9b58\nDECISION: continue\nTASK: fix\n\n## GOAL\nAll of it.\n\n## VERIFY\n- npm test\n```\n";
pub const START: u64 = 50_000;

/// One observation and when it came.
pub type Event = (u64, Observation);

/// Builds a timeline.
#[derive(Clone)]
pub struct Scene {
    now: u64,
    seq: u64,
    epoch: u32,
    page_from: u64,
    pub look: Look,
    pub events: Vec<Event>,
    pub conversation: Option<&'static str>,
    pub anchor: Anchor,
    streamed: usize,
}

pub fn id(name: &str) -> TurnId {
    TurnId(name.to_owned())
}

pub fn user(key: &str, text: &str) -> Turn {
    Turn {
        key: TurnKey::Settled(id(key)),
        role: Role::User,
        text: text.into(),
        clamped: false,
        reply: None,
    }
}

pub fn assistant(key: &str, text: &str) -> Turn {
    let mut turn = Turn {
        key: TurnKey::Settled(id(key)),
        role: Role::Assistant,
        text: "".into(),
        clamped: false,
        reply: Some(empty_reply()),
    };
    let reply = turn.reply.as_mut().unwrap();
    show_in(reply, text);
    reply.bar = true;
    reply.copy = true;
    reply.blocks = Some(blocks_of(text));
    turn
}

fn empty_reply() -> Reply {
    Reply {
        chars: 0,
        print: "-".into(),
        blocks: None,
        bar: false,
        copy: false,
        streaming: false,
        thinking: false,
        interrupted: false,
        truncated: false,
        choices: 1,
        error: None,
    }
}

fn show_in(reply: &mut Reply, text: &str) {
    reply.chars = u32::try_from(text.chars().count()).unwrap();
    reply.print = format!("{:?}", protocol::id::Digest::of(text));
}

/// What a page shows of a text of paragraphs and fenced blocks; a fence left
/// open is closed by the page.
pub fn blocks_of(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut code: Option<Vec<&str>> = None;
    for line in text.lines() {
        match &mut code {
            Some(lines) if line == "```" => {
                blocks.push(code_block(&lines.join("\n")));
                code = None;
            }
            Some(lines) => lines.push(line),
            None if line.starts_with("```") => code = Some(Vec::new()),
            None if line.trim().is_empty() => {}
            None => blocks.push(Block::Paragraph {
                c: vec![Inline::Text { v: line.into() }],
            }),
        }
    }
    if let Some(lines) = code {
        blocks.push(code_block(&lines.join("\n")));
    }
    blocks
}

fn code_block(text: &str) -> Block {
    Block::Code {
        lang: Some("text".into()),
        text: text.into(),
        partial: false,
    }
}

impl Scene {
    /// A bound conversation in which one exchange stands; the reply `a0` is
    /// the anchor. Attached, and looked at once.
    pub fn new() -> Self {
        let look = Look {
            seq: 0,
            page_ms: 0,
            address: "https://chat.example/c/conv-1".into(),
            place: Place::Conversation(ConversationId("conv-1".into())),
            layout: Some("classic".into()),
            missing: vec![],
            hydrated: true,
            blockers: vec![],
            composer: Composer {
                present: true,
                draft: Draft::default(),
                send: Control::Absent,
                stop: false,
                attachments: 0,
            },
            turns_shown: 2,
            tail: vec![
                user("u0", "# ROUND pi-bridge/1\nolder"),
                assistant("a0", "```text\nolder plan\n```\n"),
            ],
        };
        let mut scene = Self {
            now: START,
            seq: 0,
            epoch: 1,
            page_from: START - 10_000,
            look,
            events: Vec::new(),
            conversation: Some("conv-1"),
            anchor: Anchor::After(id("a0")),
            streamed: 0,
        };
        scene.attach(AttachCause::First);
        scene.see();
        scene
    }

    /// Lets time pass.
    pub fn after(&mut self, ms: u64) -> &mut Self {
        self.now += ms;
        self
    }

    pub fn now(&self) -> u64 {
        self.now
    }

    pub fn push(&mut self, what: What) -> &mut Self {
        let observation = Observation {
            epoch: Epoch(self.epoch),
            what,
        };
        self.events.push((self.now, observation));
        self
    }

    fn attach(&mut self, cause: AttachCause) {
        self.push(What::Attached(Attachment {
            cause,
            target: TargetId("tab".into()),
            browser: "Chrome/156".into(),
            address: self.look.address.clone(),
        }));
    }

    /// The document is loaded anew: a new epoch.
    pub fn reload(&mut self) -> &mut Self {
        self.push(What::Lost(Loss::Document));
        self.epoch += 1;
        self.seq = 0;
        self.page_from = self.now;
        self.attach(AttachCause::Document);
        self
    }

    /// The link drops and comes back: a new epoch of the same document.
    pub fn relink(&mut self) -> &mut Self {
        self.push(What::Lost(Loss::Link {
            detail: "eof".into(),
        }));
        self.epoch += 1;
        self.attach(AttachCause::Link);
        self
    }

    /// One look, as the page stands.
    pub fn see(&mut self) -> &mut Self {
        self.seq += 1;
        self.look.seq = self.seq;
        self.look.page_ms = self.now - self.page_from;
        self.look.turns_shown = u32::try_from(self.look.tail.len()).unwrap();
        let look = Box::new(self.look.clone());
        self.push(What::Look(look))
    }

    /// Looks now and each `step` until `ms` have passed.
    pub fn watch(&mut self, ms: u64, step: u64) -> &mut Self {
        let until = self.now + ms;
        while self.now < until {
            self.after(step.min(until - self.now)).see();
        }
        self
    }

    /// The page sends our message, and shows it.
    pub fn send(&mut self) -> &mut Self {
        let conversation = self.conversation;
        let body = serde_json::json!({
            "messages": [{"content": {"content_type": "text", "parts": [OURS]}}],
            "conversation_id": conversation,
        });
        self.event(StreamEvent::Sent {
            url: "https://chat.example/backend-api/f/conversation".into(),
            body: Some(body.to_string().into()),
        });
        self.look.tail.push(user("u1", OURS));
        self.look.composer.stop = true;
        self.see()
    }

    pub fn event(&mut self, event: StreamEvent) -> &mut Self {
        self.push(What::Stream(StreamReport {
            n: 0,
            request: "req-1".into(),
            event,
        }))
    }

    pub fn data(&mut self, data: &str) -> &mut Self {
        self.event(StreamEvent::Data { data: data.into() })
    }

    /// The stream carries the first `len` characters of `text`, as deltas.
    pub fn stream_to(&mut self, text: &str, len: usize) -> &mut Self {
        let end = text
            .char_indices()
            .nth(len)
            .map_or(text.len(), |(at, _)| at);
        if self.streamed == 0 {
            let message = serde_json::json!({"v": {"message": {
                "id": "a1", "author": {"role": "assistant"}, "channel": "final", "recipient": "all",
                "content": {"content_type": "text", "parts": [""]}, "status": "in_progress",
                "end_turn": null, "metadata": {}}}, "o": "add", "p": "", "c": 0});
            self.data(&message.to_string());
        }
        let piece = &text[self.streamed.min(end)..end];
        let delta = serde_json::json!({"p": "/message/content/parts/0", "o": "append", "v": piece});
        self.data(&delta.to_string());
        self.streamed = end;
        self
    }

    /// The stream says that the message is finished, and `[DONE]`.
    pub fn stream_end(&mut self) -> &mut Self {
        self.finished_status().data("[DONE]")
    }

    /// The page fetches the conversation's data; the reply in it is `text`.
    pub fn fetched(&mut self, text: &str, status: &str) -> &mut Self {
        let finished = status == "finished_successfully";
        let message = |id: &str, role: &str, text: &str, status: &str, end: bool| {
            serde_json::json!({"id": id, "author": {"role": role}, "channel": "final",
                "recipient": "all", "content": {"content_type": "text", "parts": [text]},
                "status": status, "end_turn": end, "metadata": {}})
        };
        let body = serde_json::json!({"conversation_id": "conv-1", "current_node": "a1", "mapping": {
            "root": {"id": "root", "message": null, "parent": null},
            "u1": {"parent": "root", "message": message("u1", "user", OURS, "finished_successfully", false)},
            "a1": {"parent": "u1", "message": message("a1", "assistant", text, status, finished)}}});
        self.push(What::Stream(StreamReport {
            n: 0,
            request: "req-9".into(),
            event: StreamEvent::Fetched {
                url: "https://chat.example/backend-api/conversation/conv-1".into(),
                body: body.to_string().into(),
            },
        }))
    }

    pub fn finished_status(&mut self) -> &mut Self {
        let patch = serde_json::json!({"p": "", "o": "patch", "v": [
            {"p": "/message/status", "o": "replace", "v": "finished_successfully"},
            {"p": "/message/end_turn", "o": "replace", "v": true}]});
        self.data(&patch.to_string())
    }

    pub fn transport(&mut self, end: StreamEnd) -> &mut Self {
        self.event(StreamEvent::End(end))
    }

    /// The reply to our message; it appears where it is not there yet.
    pub fn reply(&mut self) -> &mut Reply {
        let last = self.look.tail.last().unwrap();
        if last.role == Role::User {
            let mut turn = assistant("a1", "");
            turn.reply = Some(empty_reply());
            self.look.tail.push(turn);
        }
        self.look.tail.last_mut().unwrap().reply.as_mut().unwrap()
    }

    /// The page shows the first `len` characters of `text`, streaming.
    pub fn show(&mut self, text: &str, len: usize) -> &mut Self {
        let part: String = text.chars().take(len).collect();
        let reply = self.reply();
        reply.streaming = true;
        reply.thinking = false;
        show_in(reply, &part);
        self
    }

    /// The page shows `text` under its action bar, idle.
    pub fn finish(&mut self, text: &str) -> &mut Self {
        let reply = self.reply();
        reply.streaming = false;
        reply.thinking = false;
        reply.bar = true;
        reply.copy = true;
        show_in(reply, text);
        reply.blocks = Some(blocks_of(text));
        self.look.composer.stop = false;
        self
    }

    pub fn error(&mut self, kind: PageErrorKind) -> &mut Self {
        self.reply().error = Some(PageError {
            kind,
            mark: "role=alert".into(),
        });
        self
    }

    pub fn blocker(&mut self, kind: BlockerKind) -> &mut Self {
        self.look.blockers = vec![Blocker {
            kind,
            mark: "dialog".into(),
        }];
        self
    }

    /// The page's own copy of a turn was taken.
    pub fn copied_of(&mut self, turn: &str, text: &str) -> &mut Self {
        self.push(What::Answer {
            call: CallId(7),
            answer: Answer::Copied {
                turn: id(turn),
                text: text.into(),
            },
        })
    }

    pub fn copied(&mut self, text: &str) -> &mut Self {
        self.copied_of("a1", text)
    }

    pub fn evidence(&self, events: &[Event]) -> Evidence {
        let mut evidence = Evidence::new(Awaited {
            send: SendId(3),
            text: OURS.into(),
            anchor: self.anchor.clone(),
            conversation: self.conversation.map(|id| ConversationId(id.into())),
            since: Millis(START),
        });
        for (at, observation) in events {
            evidence.observe(Millis(*at), observation);
        }
        evidence
    }

    /// The verdict over `events` at their last instant.
    pub fn verdict_of(&self, events: &[Event]) -> Verdict {
        let now = events.last().map_or(START, |(at, _)| *at);
        prove(&self.evidence(events), Millis(now), &Limits::default())
    }

    pub fn verdict(&self) -> Verdict {
        self.verdict_of(&self.events)
    }

    /// The verdict when nothing more comes and every limit has passed.
    pub fn verdict_late(&self) -> Verdict {
        let evidence = self.evidence(&self.events);
        prove(
            &evidence,
            Millis(self.now + 100_000_000),
            &Limits::default(),
        )
    }
}
