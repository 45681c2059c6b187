//! The page of the test's world and the remote behind it: what they answer.

use super::*;

/// What the page does with the next click.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClickDoes {
    Send,
    /// Swallowed: the draft stays.
    Nothing,
    /// The guard stops it.
    Stop,
    /// Sent, and the driver hears nothing.
    SendSilently,
    /// Refused before the click.
    Refuse,
    /// The server has it, and the page shows nothing of it until it is echoed.
    SendUnseen,
}

impl World {
    pub fn look(&mut self) {
        let look = self.picture();
        self.observe(What::Look(Box::new(look)));
    }

    pub fn picture(&self) -> Look {
        let from = self.thread.len().saturating_sub(6);
        Look {
            seq: self.now.0,
            page_ms: self.now.0,
            address: match &self.place {
                Place::Conversation(id) => format!("http://chat/c/{id}"),
                Place::Fresh | Place::Transient(_) | Place::Elsewhere => "http://chat".into(),
            },
            place: self.place.clone(),
            layout: Some("classic".into()),
            missing: Vec::new(),
            hydrated: true,
            blockers: Vec::new(),
            composer: Composer {
                present: true,
                draft: Draft {
                    chars: self.draft.chars().count() as u32,
                    head: Private::from(self.draft.as_str()),
                },
                send: Control::Enabled,
                stop: self.busy,
                attachments: 0,
            },
            turns_shown: self.thread.len() as u32,
            tail: self.thread[from..].to_vec(),
        }
    }

    pub fn user_turn(&mut self, text: &str) -> TurnId {
        self.turns += 1;
        let id = TurnId(format!("u{}", self.turns));
        self.thread.push(Turn {
            key: TurnKey::Settled(id.clone()),
            role: Role::User,
            text: Private::from(text),
            clamped: false,
            reply: None,
        });
        id
    }

    /// The call that is out is refused in this way.
    pub fn refused(&mut self, refusal: Refusal) {
        let call = self.last_call.expect("a call is out");
        self.observe(What::Answer {
            call,
            answer: Answer::Refused(refusal),
        });
    }

    pub fn answer(&mut self, command: &PageCommand, answer: Answer) {
        let call = command.call;
        self.observe(What::Answer { call, answer });
    }

    pub(super) fn page(&mut self, command: PageCommand) {
        match &command.ask {
            Ask::Read => {
                let reading = Reading {
                    page_ms: self.now.0,
                    place: self.place.clone(),
                    turns: self.thread.clone(),
                    whole: self.whole,
                    idle: !self.busy,
                };
                self.answer(&command, Answer::Read(reading));
            }
            Ask::Compose { text, anchor, .. } => {
                let stands = self.standing(anchor, text.as_str());
                let answer = match self.refuse_compose.clone().or(stands) {
                    Some(refusal) => Answer::Refused(refusal),
                    None => {
                        self.draft = text.as_str().to_owned();
                        let chars = text.chars() as u32;
                        Answer::Composed(Composed {
                            chars,
                            how: "paste".into(),
                            cleared: false,
                        })
                    }
                };
                self.answer(&command, answer);
            }
            Ask::Submit { text, anchor } => {
                let text = text.as_str().to_owned();
                assert_eq!(self.draft, text, "only what was read back is submitted");
                match self.standing(anchor, &text) {
                    Some(refusal) => self.answer(&command, Answer::Refused(refusal)),
                    None => self.submit(&command, &text),
                }
            }
            Ask::ClearDraft { .. } => {
                self.draft.clear();
                self.answer(&command, Answer::Done);
            }
            Ask::Look
            | Ask::Survey
            | Ask::Html { .. }
            | Ask::Copy { .. }
            | Ask::Reload
            | Ask::Detach => {
                self.answer(&command, Answer::Done);
            }
        }
    }

    /// What the driver sees where the anchor is not last.
    pub(super) fn standing(&self, anchor: &Anchor, text: &str) -> Option<Refusal> {
        match locate(&self.thread, true, anchor, text) {
            Located::AnchorLast => None,
            Located::Ours { turn, .. } => Some(Refusal::AlreadyThere { turn }),
            Located::Foreign { .. } | Located::AnchorUnseen => {
                Some(Refusal::AnchorMoved { last: None })
            }
        }
    }

    pub(super) fn submit(&mut self, command: &PageCommand, text: &str) {
        let does = if self.clicks.is_empty() {
            ClickDoes::Send
        } else {
            self.clicks.remove(0)
        };
        match does {
            ClickDoes::Nothing => self.answer(command, Answer::Submitted(Click::Passed)),
            ClickDoes::Stop => {
                let hit = "div.overlay".to_owned();
                self.answer(command, Answer::Submitted(Click::Stopped { hit }));
            }
            ClickDoes::Refuse => {
                let refusal = Refusal::Covered {
                    by: "div.toast".into(),
                };
                self.answer(command, Answer::Refused(refusal));
            }
            ClickDoes::Send => {
                self.answer(command, Answer::Submitted(Click::Passed));
                self.take(text);
            }
            ClickDoes::SendUnseen => {
                self.draft.clear();
                self.log.push((Role::User, text.to_owned()));
                self.echo = Some(text.to_owned());
                self.answer(command, Answer::Submitted(Click::Silent));
            }
            ClickDoes::SendSilently => {
                let limit = "submit_ms".to_owned();
                let failure = crate::page::CallFailure::Timeout { limit };
                self.answer(command, Answer::Failed(failure));
            }
        }
    }

    /// The server takes our message, and the remote answers if it has a word.
    pub fn take(&mut self, text: &str) {
        self.log.push((Role::User, text.to_owned()));
        self.show(text);
    }

    /// The page shows what the server has, and the remote answers.
    pub fn show(&mut self, text: &str) {
        self.draft.clear();
        let own = self.user_turn(text);
        if self.place == Place::Fresh {
            self.place = Place::Conversation(ConversationId("c1".into()));
        }
        self.look();
        self.drain();
        self.reply(text, own);
    }

    pub(super) fn reply(&mut self, text: &str, own: TurnId) {
        let head = message::recognise(Role::User, text).expect("only our messages are typed");
        let again = matches!(head, Head::Resume(_) | Head::Resync { .. });
        let answer: Says = if again && self.acknowledges {
            Box::new(ack)
        } else if self.remote.is_empty() {
            return;
        } else {
            self.remote.remove(0)
        };
        let reply = answer(&head);
        if reply.is_empty() {
            return;
        }
        self.turns += 1;
        let turn = TurnId(format!("a{}", self.turns));
        self.thread.push(Turn {
            key: TurnKey::Settled(turn.clone()),
            role: Role::Assistant,
            text: Private::default(),
            clamped: false,
            reply: None,
        });
        self.log.push((Role::Assistant, reply.clone()));
        self.replies.push(Captured {
            digest: Digest::of(&reply),
            text: Private::from(reply),
            turn,
            own,
            end: EndWitness::StreamDone,
            agreed: vec![Source::Stream, Source::Dom],
            warnings: Vec::new(),
        });
        if self.watched.is_some() {
            self.look();
            self.prove();
        }
    }

    /// The verdict on the awaited reply, once it stands in the thread.
    pub fn prove(&mut self) {
        let row = self.session.state().in_flight();
        let (Some(send), Some(row)) = (self.watched, row) else {
            return;
        };
        let located = locate(
            &self.thread,
            true,
            &row.intent.anchor,
            row.intent.text.as_str(),
        );
        let Located::Ours {
            turn: Some(own), ..
        } = located
        else {
            return;
        };
        if let Some(captured) = self
            .replies
            .iter()
            .find(|captured| captured.own == own)
            .cloned()
        {
            self.input(Input::Verdict(send, Box::new(Verdict::Complete(captured))));
        }
    }
}
