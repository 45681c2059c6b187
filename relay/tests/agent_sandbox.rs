//! What an agent can reach from inside, on both kinds; each probe is first shown to work outside.

mod agent_support;

use std::fs;
use std::io::ErrorKind;
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::path::Path;

use agent_support::{KINDS, Place, hear, until, works};
use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use relay::agent::{Ended, Outcome, SandboxKind, sandbox};

/// A place of each kind and one without a sandbox, all over the same folders.
fn places() -> (Place, Vec<Place>) {
    let outside = Place::bare();
    let inside = KINDS
        .map(|kind| {
            let mut place = Place::inside(kind);
            place.settings.cwd = outside.settings.cwd.clone();
            place.settings.state_dir = outside.settings.state_dir.clone();
            place
        })
        .into();
    (outside, inside)
}

/// Asserts that something works outside and nowhere inside.
async fn only_outside(command: &str) {
    let (outside, inside) = places();
    only_outside_of(&outside, &inside, command).await;
}

async fn only_outside_of(outside: &Place, inside: &[Place], command: &str) {
    assert!(
        works(outside, 1, command).await,
        "the probe itself works: {command}"
    );
    for place in inside {
        assert!(
            !works(place, 1, command).await,
            "{:?}: {command}",
            place.settings.sandbox_kind
        );
    }
}

#[test]
fn both_kinds_can_be_had_on_this_machine() {
    let found = sandbox::detect(Path::new(env!("CARGO_BIN_EXE_brb")));
    assert!(found.bubblewrap.is_ok(), "{found:?}");
    assert!(found.landlock.is_ok(), "{found:?}");
    assert_eq!(found.kind(None), Some(SandboxKind::Bubblewrap));
}

#[tokio::test]
async fn a_canary_in_home_profile_and_state_cannot_be_read_nor_written() {
    let (outside, mut inside) = places();
    let root = outside.root();
    let profile = root.join("profile");
    fs::create_dir(&profile).expect("a profile");
    for place in &mut inside {
        place.settings.hidden = vec![profile.clone()];
    }
    let home = std::env::home_dir().expect("a home");
    let in_home = tempfile::NamedTempFile::new_in(home).expect("a canary at home");
    let canaries = [
        profile.join("Cookies"),
        outside.settings.state_dir.join("journal.sqlite3"),
        root.join("neighbour"),
        in_home.path().to_owned(),
    ];
    for canary in &canaries {
        fs::write(canary, "the canary sings\n").expect("writes");
    }
    for (round, canary) in canaries.iter().enumerate() {
        let at = canary.display();
        let link = outside.work().join(format!("link{round}"));
        std::os::unix::fs::symlink(canary, &link).expect("links");
        for (n, command) in [
            format!("grep canary {at}"),
            format!("grep canary {}", link.display()),
            format!("ln {at} hard && grep canary hard && rm hard"),
            format!("grep canary /proc/{}/root{at}", std::process::id()),
        ]
        .iter()
        .enumerate()
        {
            let round = (round * 10 + n + 1) as u32;
            assert!(
                works(&outside, round, command).await,
                "the probe itself works: {command}"
            );
            for place in &inside {
                let kind = place.settings.sandbox_kind;
                assert!(!works(place, round, command).await, "{kind:?}: {command}");
            }
        }
        assert_eq!(
            fs::read_to_string(canary).expect("reads"),
            "the canary sings\n"
        );
    }
}

#[tokio::test]
async fn the_browsers_port_cannot_be_reached() {
    let port = TcpListener::bind("127.0.0.1:0").expect("a port");
    port.set_nonblocking(true).expect("does not wait");
    let at = port.local_addr().expect("bound").port();
    let (outside, inside) = places();
    let command = format!("bash -c 'exec 3<>/dev/tcp/127.0.0.1/{at}'");
    assert!(works(&outside, 1, &command).await, "the probe itself works");
    assert!(port.accept().is_ok(), "and was seen");
    for place in &inside {
        assert!(!works(place, 1, &command).await);
        assert_eq!(
            port.accept().expect_err("nobody came").kind(),
            ErrorKind::WouldBlock
        );
    }
}

#[tokio::test]
async fn datagrams_raw_and_abstract_sockets_do_not_leave() {
    let udp = UdpSocket::bind("127.0.0.1:0").expect("a port");
    udp.set_nonblocking(true).expect("does not wait");
    let name = format!("brb-test-{}", std::process::id());
    let abstract_addr = SocketAddr::from_abstract_name(&name).expect("a name");
    let _listener = UnixListener::bind_addr(&abstract_addr).expect("listens");
    let (outside, inside) = places();
    let path = outside.root().join("socket");
    let _bound = UnixDatagram::bind(&path).expect("a socket in the file system");
    let port = udp.local_addr().expect("bound").port();
    let python = |body: &str| format!("/usr/bin/python3 -c 'from socket import *; {body}'");
    let probes = [
        python(&format!(
            "socket(AF_INET, SOCK_DGRAM).sendto(b\"x\", (\"127.0.0.1\", {port}))"
        )),
        python(&format!("socket(AF_UNIX).connect(\"\\0{name}\")")),
        python(&format!(
            "socketpair(AF_UNIX, SOCK_DGRAM)[0].sendto(b\"x\", \"{}\")",
            path.display()
        )),
    ];
    for (n, probe) in probes.iter().enumerate() {
        assert!(
            works(&outside, n as u32 + 1, probe).await,
            "the probe itself works: {probe}"
        );
        while udp.recv(&mut [0; 8]).is_ok() {}
        for place in &inside {
            let kind = place.settings.sandbox_kind;
            // In a network of its own a datagram may be sent, and goes nowhere.
            let _ = works(place, n as u32 + 1, probe).await;
            let mut byte = [0; 8];
            assert!(udp.recv(&mut byte).is_err(), "{kind:?}: {probe}");
            if n > 0 {
                assert!(
                    !works(place, n as u32 + 11, probe).await,
                    "{kind:?}: {probe}"
                );
            }
        }
    }
    for place in &inside {
        let raw = python("socket(AF_PACKET, SOCK_RAW, 768)");
        assert!(
            !works(place, 31, &raw).await,
            "{:?}",
            place.settings.sandbox_kind
        );
    }
}

#[tokio::test]
async fn processes_outside_can_neither_be_signalled_nor_read() {
    let me = std::process::id();
    only_outside(&format!("kill -0 {me}")).await;
    only_outside(&format!("tr '\\0' x < /proc/{me}/environ | grep -c PATH")).await;
}

#[tokio::test]
async fn a_command_can_neither_speak_for_its_keeper_nor_reach_what_was_left_open() {
    // As a person's shell may leave one open for all that it starts.
    let leak = fs::File::open("/dev/null").expect("opens");
    fcntl(&leak, FcntlArg::F_SETFD(FdFlag::empty())).expect("is inherited");
    for kind in KINDS {
        let place = Place::inside(kind);
        for (n, probe) in [
            "readlink /proc/$PPID/fd/1",
            ": > /proc/$PPID/fd/1",
            "cat /proc/$PPID/environ",
        ]
        .iter()
        .enumerate()
        {
            assert!(
                !works(&place, n as u32 + 1, probe).await,
                "{kind:?}: {probe}"
            );
        }
        // Its own three, the folder's lock, and the one that lists them.
        let mut order = place.order(&["ls -l /proc/self/fd"]);
        order.round = 9;
        let Outcome::Settled(record) = place.start(&order).await.outcome().await else {
            panic!("settles")
        };
        let open: Vec<&str> = record
            .receipt
            .lines()
            .filter(|l| l.contains(" -> "))
            .collect();
        let known = |l: &&&str| {
            ["pipe:", "/dev/null", ".tree", "/fd"]
                .iter()
                .any(|k| l.contains(k))
        };
        assert_eq!(
            (open.len(), open.iter().filter(known).count()),
            (5, 5),
            "{kind:?}: {open:?}"
        );
    }
}

#[tokio::test]
async fn inside_the_work_folder_everything_ordinary_works() {
    for kind in KINDS {
        let place = Place::inside(kind);
        let record = place
            .settle(&[
                "mkdir -p a/b && echo x > a/b/c && mv a/b/c a/d && chmod 755 a/d && ln -s d a/e && cat a/e",
                "echo t > \"$TMPDIR/t\" && echo h > \"$HOME/h\"",
                // The next command of the same plan finds it.
                "cat \"$TMPDIR/t\" \"$HOME/h\" && date >/dev/null && head -c 4 /dev/urandom | wc -c",
                "/usr/bin/python3 -c 'import socket; socket.socketpair()'",
            ])
            .await;
        assert_eq!(
            record.ended,
            Ended::Settled { ok: true },
            "{kind:?}: {}",
            record.receipt
        );
        assert!(
            record
                .receipt
                .starts_with(&format!("sandbox: {}", kind.name())),
            "{}",
            record.receipt
        );
        assert_eq!(
            fs::read_to_string(place.work().join("a/d")).expect("stays"),
            "x\n"
        );
        assert_eq!(place.left(), [], "{kind:?}");
    }
}

#[tokio::test]
async fn nothing_is_written_outside_the_work_folder() {
    let (outside, inside) = places();
    let beside = outside.root().join("beside");
    let probes = [
        format!("echo x > {}", beside.display()),
        "echo x > ../beside".into(),
    ];
    for (n, probe) in probes.iter().enumerate() {
        let round = n as u32 + 1;
        assert!(
            works(&outside, round, probe).await && beside.exists(),
            "the probe itself works"
        );
        fs::remove_file(&beside).expect("removes");
        for place in &inside {
            works(place, round, probe).await;
            assert!(
                !beside.exists(),
                "{:?}: {probe}",
                place.settings.sandbox_kind
            );
        }
    }
    for place in &inside {
        assert!(!works(place, 60, "echo x > /usr/brb-test").await);
        assert!(!works(place, 61, "echo x > /etc/brb-test").await);
    }
    assert!(!beside.exists() && !Path::new("/usr/brb-test").exists());
}

//= spec K1 type=test
#[tokio::test]
async fn what_daemonises_inside_is_ended_and_said() {
    for kind in KINDS {
        let place = Place::inside(kind);
        let record = place
            .settle(&["setsid sh -c 'sleep 1000 & exec sleep 1000' >/dev/null 2>&1 & echo x"])
            .await;
        assert_eq!(
            (record.ended, record.leftovers),
            (Ended::Settled { ok: true }, 2),
            "{kind:?}"
        );
        assert_eq!(place.left(), [], "{kind:?}");
    }
}

#[tokio::test]
async fn a_limit_and_a_killed_wrapper_leave_nothing_inside() {
    for kind in KINDS {
        let mut place = Place::inside(kind);
        place.settings.limits.agent_ms = 500;
        let outcome = place
            .run(&["setsid sleep 1000 & trap '' TERM; sleep 1000; sleep 1000"])
            .await;
        assert!(
            matches!(
                outcome,
                Outcome::InDoubt {
                    record: Some(_),
                    ..
                }
            ),
            "{kind:?}: {outcome:?}"
        );
        assert_eq!(place.left(), [], "{kind:?}");

        let place = Place::inside(kind);
        let ready = place.fifo("ready");
        let mut running = place
            .start(&place.order(&["setsid sleep 1000 & echo up > ready; exec sleep 1000"]))
            .await;
        hear(&ready).await;
        kill(Pid::from_raw(running.pgid), Signal::SIGKILL).expect("kills");
        let outcome = running.outcome().await;
        assert!(
            matches!(outcome, Outcome::InDoubt { record: None, .. }),
            "{kind:?}: {outcome:?}"
        );
        until("everything inside ended", || place.left().is_empty()).await;
    }
}
