//! One guard taken away on purpose, so that a person sees the checks fail.
//!
//! Each of these exists in the demo alone, and nowhere but here.

use protocol::{
    id::Digest,
    page::{Anchor, Ask, CallId, Observation, PageCommand, Role, What},
    record::{Judgement, Record, State},
    reply::{Captured, EndWitness, Source, Verdict},
    send::SendKind,
    text::Private,
};

/// Which guard is taken away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Break {
    /// A message that was sent is sent once more.
    Send,
    /// The finished-action bar alone is taken for a whole reply.
    Capture,
    /// What stands in the composer is not read back before it is submitted.
    ReadBack,
    /// What the policy refuses is carried out all the same.
    Approval,
}

impl Break {
    /// The trap in the page that the missing guard would have caught, as the
    /// scenario's own words.
    pub fn trap(self) -> &'static str {
        match self {
            Self::Send | Self::Approval => "",
            Self::Capture => {
                "\n[[fault]]\nstep = \"round-1.streaming\"\nfault = \"bar-flash\"\nms = 3000\nat = 40\n"
            }
            Self::ReadBack => {
                "\n[[fault]]\nstep = \"any.composing\"\nfault = \"composer-truncates\"\nlen = 700\n"
            }
        }
    }

    /// The commands that send the first round once more after it was answered,
    /// past every question that the machine asks.
    pub fn resends(self, state: &State, stored: &Record) -> Vec<PageCommand> {
        let Self::Send = self else { return Vec::new() };
        let Record::Judged {
            reply: Some(reply),
            judgement: Judgement::Accepted(_),
            ..
        } = stored
        else {
            return Vec::new();
        };
        let first = state
            .sends
            .iter()
            .filter(|row| row.intent.message == SendKind::Round)
            .count()
            == 1;
        let Some(row) = state.last_task().filter(|_| first) else {
            return Vec::new();
        };
        let (text, anchor) = (row.intent.text.clone(), Anchor::After(reply.turn.clone()));
        let compose = Ask::Compose {
            text: text.clone(),
            anchor: anchor.clone(),
            ours: Vec::new(),
        };
        let asks = [compose, Ask::Submit { text, anchor }];
        let call = |nth: usize| CallId(u64::MAX - nth as u64);
        asks.into_iter()
            .enumerate()
            .map(|(nth, ask)| PageCommand {
                call: call(nth),
                epoch: state.epoch,
                ask,
            })
            .collect()
    }

    /// What stands under the finished-action bar, taken for the whole reply.
    pub fn takes(self, observation: &Observation) -> Option<Verdict> {
        let Self::Capture = self else { return None };
        let What::Look(look) = &observation.what else {
            return None;
        };
        let [.., own, reply] = look.tail.as_slice() else {
            return None;
        };
        if !look.composer.stop {
            return None;
        }
        let shown = reply.reply.as_ref().filter(|shown| shown.bar)?;
        let text = capture::markdown::markdown_of_blocks(shown.blocks.as_deref()?);
        (own.role == Role::User && !text.is_empty()).then_some(())?;
        Some(Verdict::Complete(Captured {
            digest: Digest::of(&text),
            text: Private::from(text),
            turn: reply.key.settled()?.clone(),
            own: own.key.settled()?.clone(),
            end: EndWitness::StreamDone,
            agreed: vec![Source::Dom],
            warnings: Vec::new(),
        }))
    }

    /// The page scripts without the read-back.
    pub fn scripts(self, scripts: &mut cdp::Scripts) {
        match self {
            Self::Send | Self::Capture | Self::Approval => {}
            Self::ReadBack => {
                scripts.compose.push_str(BLIND_COMPOSE);
                scripts.submit_guard.push_str(BLIND_GUARD);
            }
        }
    }
}

/// Types and calls it whole, whatever the composer kept of it.
const BLIND_COMPOSE: &str = r#"
;(() => {
  if (brbCompose.blind) return;
  brbCompose.blind = true;
  brbCompose.paste = async (args) => {
    const ready = await brbCompose.prepareInsert(args);
    if (ready !== JSON.stringify("done")) return ready;
    const clipboardData = new DataTransfer();
    const lines = brbCompose.plain(args.text).split("\n").map((line) => {
      const p = document.createElement("p");
      p.textContent = line;
      return p;
    });
    lines[0].dataset.pmSlice = "1 1 []";
    clipboardData.setData("text/html", lines.map((p) => p.outerHTML).join(""));
    brb.page.composer().dispatchEvent(
      new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true, composed: true }),
    );
    await new Promise((done) => setTimeout(done, 100));
    return JSON.stringify({ composed: { chars: args.text.length, how: "paste", cleared: false } });
  };
})();
"#;

/// Whatever the composer holds is called our text.
const BLIND_GUARD: &str = r#"
;(() => {
  if (brbGuard.blind) return;
  brbGuard.blind = true;
  const arm = brbGuard.arm;
  brbGuard.arm = (args) => arm({ ...args, text: brb.page.draftText() });
})();
"#;
