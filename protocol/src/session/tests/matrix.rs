//! Every state against every input: one table, which a person can read.

use std::fmt::Write as _;

use super::words::{name, plan, silence};
use super::world::{AgentDoes, ClickDoes, World};
use crate::{
    outcome::Signal,
    page::{AttachCause, Beat, Blocker, BlockerKind, Loss, Pulse, What},
    record::JournalError,
    reply::{self, CaptureFailure, Interference, Progress, Verdict},
    session::{AgentReport, Input, Phase},
    text::Private,
    time::Millis,
};

/// A world that stands in `phase` and has nothing left to carry out.
fn standing_in(phase: Phase) -> World {
    let mut world = World::answering([silence()]);
    world.hold = match phase {
        Phase::Attaching => return world,
        Phase::Looking => {
            world.epoch = crate::page::Epoch(1);
            world.observe(What::Attached(crate::page::Attachment {
                cause: AttachCause::First,
                target: crate::page::TargetId("T".into()),
                browser: "b".into(),
                address: "a".into(),
            }));
            return world;
        }
        Phase::Reading => Some("read"),
        Phase::Composing => Some("compose"),
        Phase::Submitting => Some("submit"),
        Phase::Pausing => Some("pace"),
        Phase::Approving => Some("prepare"),
        Phase::Spawning => Some("spawn"),
        Phase::Stopping => Some("stop agent"),
        Phase::Storing => Some("append intent"),
        Phase::Owing
        | Phase::Proving
        | Phase::Waiting
        | Phase::Thinking
        | Phase::Streaming
        | Phase::Finishing
        | Phase::Executing
        | Phase::Stopped => None,
    };
    match phase {
        Phase::Approving | Phase::Spawning | Phase::Executing | Phase::Stopping => {
            world.remote.pop();
            world.remote.push(plan("continue", "a"));
            world.agent = AgentDoes::Hang;
        }
        Phase::Proving => world.clicks = vec![ClickDoes::SendSilently],
        Phase::Stopped => {
            world.remote.pop();
            world.remote.push(plan("done", "a"));
        }
        Phase::Attaching
        | Phase::Looking
        | Phase::Reading
        | Phase::Owing
        | Phase::Composing
        | Phase::Submitting
        | Phase::Waiting
        | Phase::Thinking
        | Phase::Streaming
        | Phase::Finishing
        | Phase::Pausing
        | Phase::Storing => {}
    }
    world.attach(AttachCause::First);
    world.drain();
    if phase == Phase::Owing {
        return world;
    }
    if world.session.phase() != phase {
        world.run(4);
    }
    bend(&mut world, phase);
    world
}

fn bend(world: &mut World, phase: Phase) {
    match phase {
        Phase::Thinking => world.verdict(progress(reply::Phase::Thinking)),
        Phase::Streaming => world.verdict(progress(reply::Phase::Streaming)),
        Phase::Finishing => world.verdict(progress(reply::Phase::Finishing)),
        Phase::Pausing => world.verdict(lost()),
        Phase::Stopping => world.interrupt(),
        Phase::Attaching
        | Phase::Looking
        | Phase::Reading
        | Phase::Owing
        | Phase::Composing
        | Phase::Submitting
        | Phase::Proving
        | Phase::Waiting
        | Phase::Approving
        | Phase::Spawning
        | Phase::Executing
        | Phase::Storing
        | Phase::Stopped => {}
    }
}

fn progress(phase: reply::Phase) -> Verdict {
    Verdict::NotYet(Progress {
        phase,
        own: None,
        holds: vec![],
        missing: Vec::new(),
        look_by: Millis(1_000_000),
        want: None,
        chars: 3,
        changed_at: Millis(0),
    })
}

fn lost() -> Verdict {
    let why = CaptureFailure::Deadline {
        limit: "reply_streaming_s".into(),
        missing: Vec::new(),
    };
    Verdict::CaptureFailed { why }
}

const PHASES: [Phase; 18] = [
    Phase::Attaching,
    Phase::Looking,
    Phase::Reading,
    Phase::Owing,
    Phase::Composing,
    Phase::Submitting,
    Phase::Proving,
    Phase::Waiting,
    Phase::Thinking,
    Phase::Streaming,
    Phase::Finishing,
    Phase::Pausing,
    Phase::Approving,
    Phase::Spawning,
    Phase::Executing,
    Phase::Stopping,
    Phase::Storing,
    Phase::Stopped,
];

type Happens = fn(&mut World);

fn inputs() -> Vec<(&'static str, Happens)> {
    vec![
        ("tick", |world| world.input(Input::Tick)),
        ("look", World::look),
        ("stale loss", |world| {
            let epoch = world.epoch;
            world.epoch = crate::page::Epoch(0);
            world.observe(What::Lost(Loss::TabClosed));
            world.epoch = epoch;
        }),
        ("foreign turn", |world| {
            world.user_turn("somebody else");
            world.look();
        }),
        ("blocker", |world| {
            let mut look = world.picture();
            let mark = "#challenge-form".into();
            look.blockers = vec![Blocker {
                kind: BlockerKind::Challenge,
                mark,
            }];
            world.observe(What::Look(Box::new(look.clone())));
            world.now = world.now + 250;
            world.observe(What::Look(Box::new(look)));
        }),
        ("dialog", |world| {
            let (kind, message) = ("alert".into(), "hi".into());
            world.observe(What::Dialog { kind, message });
        }),
        ("defect", |world| {
            world.input(Input::Defect("a part broke".into()));
        }),
        ("missed beat", |world| {
            let beat = Beat {
                browser: Pulse::Alive,
                renderer: Pulse::Missed,
            };
            world.observe(What::Beat(beat));
        }),
        ("malformed", |world| {
            let (source, why) = ("observer".into(), "not JSON".into());
            world.observe(What::Malformed {
                source,
                len: 9,
                why,
            });
        }),
        ("link lost", |world| {
            world.observe(What::Lost(Loss::Link {
                detail: "reset".into(),
            }));
        }),
        ("tab closed", |world| {
            world.observe(What::Lost(Loss::TabClosed))
        }),
        ("renderer crashed", |world| {
            world.observe(What::Lost(Loss::RendererCrashed))
        }),
        ("browser gone", |world| {
            world.observe(What::Lost(Loss::BrowserGone {
                detail: "killed".into(),
            }));
        }),
        ("reloaded", |world| {
            world.observe(What::Lost(Loss::Document));
            world.attach(AttachCause::Document);
        }),
        ("reply unproven", |world| verdict(world, lost())),
        ("interference", |world| {
            verdict(
                world,
                Verdict::Interference(Interference::TwoReplies { count: 2 }),
            );
        }),
        ("truncated", |world| {
            verdict(
                world,
                Verdict::Truncated {
                    turn: None,
                    chars: 9,
                },
            )
        }),
        ("settled", |world| {
            let receipt = Private::from("ran");
            world.input(Input::Agent(AgentReport::Settled { ok: true, receipt }));
        }),
        ("in doubt", |world| {
            world.input(Input::Agent(AgentReport::InDoubt {
                why: "killed".into(),
            }));
        }),
        ("paced", |world| world.input(Input::Paced)),
        ("signal", |world| {
            world.input(Input::Interrupt(Signal::Terminate))
        }),
        ("held elsewhere", |world| {
            world.input(Input::HeldElsewhere("pid 7".into()))
        }),
        ("not stored", |world| {
            world.input(Input::NotStored(JournalError::NotStored {
                why: "full".into(),
            }));
        }),
    ]
}

fn verdict(world: &mut World, verdict: Verdict) {
    if let Some(row) = world.session.state().in_flight() {
        let send = row.intent.send;
        world.input(Input::Verdict(send, Box::new(verdict)));
    }
}

#[test]
fn every_phase_can_be_stood_in() {
    for phase in PHASES {
        assert_eq!(standing_in(phase).session.phase(), phase);
    }
}

#[test]
fn the_state_by_input_matrix() {
    let mut table = String::new();
    for phase in PHASES {
        let _ = writeln!(table, "{phase:?}");
        for (input, happen) in inputs() {
            let mut world = standing_in(phase);
            let submits = world
                .effects
                .iter()
                .filter(|effect| *effect == "submit")
                .count();
            happen(&mut world);
            let mut given = Vec::new();
            while let Some(effect) = world.session.poll_effect() {
                given.push(name(&effect));
            }
            if phase != Phase::Composing {
                assert!(
                    submits + given.iter().filter(|name| *name == "submit").count()
                        <= submits.max(1),
                    "{phase:?} × {input} submits"
                );
            }
            let then = match world.session.phase() {
                same if same == phase => String::new(),
                other => format!(" → {other:?}"),
            };
            let given = if given.is_empty() {
                "·".to_owned()
            } else {
                given.join(", ")
            };
            let _ = writeln!(table, "  {input:<18}{given}{then}");
        }
    }
    crate::testing::snapshot!("session_matrix", table);
}
