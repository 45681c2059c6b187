//! Stands between the relay and the browser's DevTools port: carries every byte, can
//! hold the traffic at a message, and can break the connection in the ways in which
//! connections break. Loopback only.

use std::{
    io,
    net::Ipv4Addr,
    path::{Path, PathBuf},
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinHandle,
    time::timeout,
};

use super::frames::{self, Scanner, Unit};

/// How a connection is broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// An orderly end of the bytes, without a word of the web socket.
    Fin,
    /// A reset.
    Rst,
    /// A close frame of the web socket.
    CloseFrame,
    /// The bytes end in the middle of a frame.
    MidFrame,
    /// Whatever comes is swallowed, in either direction.
    BlackHole,
    /// Not the connection: the browser is told to detach the relay's session.
    Detach,
}

/// At which message of the relay the traffic is held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gate {
    /// All of these stand in the message.
    pub contains: Vec<String>,
    /// The message itself still passes, its answer does not.
    pub lets_through: bool,
}

impl Gate {
    fn meets(&self, text: &str) -> bool {
        self.contains.iter().all(|part| text.contains(part))
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Hold {
    Open,
    /// Open, and the answer to the message that was held at is lost.
    Forgetful,
    Set(Gate),
    Held,
}

/// The number that our own message to the browser bears.
const DETACH_ID: u64 = 2_000_000_000;
/// How long a connection that was ended is still read from.
const DRAIN_MS: u64 = 500;
/// Connecting on to the browser.
const CONNECT_MS: u64 = 5_000;

/// A running proxy. Dropping it ends it, with all that it carries.
#[derive(Debug)]
pub struct Proxy {
    /// Where it listens, on 127.0.0.1.
    pub port: u16,
    cuts: watch::Sender<(u64, Option<Cut>)>,
    hold: watch::Sender<Hold>,
    task: JoinHandle<()>,
}

impl Proxy {
    /// Listens on a free port. Where the browser is, is read anew for each connection
    /// from the file `upstream`: one that was started again has another port.
    ///
    /// # Errors
    /// When no port can be listened on.
    pub async fn start(upstream: PathBuf) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let port = listener.local_addr()?.port();
        let (cuts, told) = watch::channel((0, None));
        let hold = watch::Sender::new(Hold::Open);
        let gate = hold.clone();
        let task = tokio::spawn(async move {
            let mut carried = tokio::task::JoinSet::new();
            while let Ok((client, _)) = listener.accept().await {
                let (told, gate, file) = (told.clone(), gate.clone(), upstream.clone());
                carried.spawn(async move {
                    // Whoever is on either side sees the connection end.
                    let _ = serve(client, &file, told, gate).await;
                });
                while carried.try_join_next().is_some() {}
            }
        });
        Ok(Self {
            port,
            cuts,
            hold,
            task,
        })
    }

    /// Holds the traffic at the next message like this.
    pub fn hold_at(&self, gate: Gate) {
        self.hold.send_replace(Hold::Set(gate));
    }

    /// Resolves when the traffic is held.
    pub async fn held(&self) {
        let mut hold = self.hold.subscribe();
        let _ = hold.wait_for(|hold| *hold == Hold::Held).await;
    }

    /// Whether it is held now.
    pub fn is_held(&self) -> bool {
        *self.hold.borrow() == Hold::Held
    }

    /// Lets everything pass again.
    pub fn release(&self) {
        self.hold.send_replace(Hold::Open);
    }

    /// The same, but the answer to the message that was held at is lost: whoever was to
    /// give it has gone before.
    pub fn release_without_answer(&self) {
        self.hold.send_replace(Hold::Forgetful);
    }

    /// Breaks every connection that there is; later ones are carried.
    pub fn cut(&self, cut: Cut) {
        self.cuts.send_modify(|(nth, last)| {
            *nth += 1;
            *last = Some(cut);
        });
        self.release();
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// How the browser begins its answer to a message.
fn answer_to(id: u64) -> String {
    format!("{{\"id\":{id},")
}

fn port_in(file: &Path) -> io::Result<u16> {
    let text = std::fs::read_to_string(file)?;
    let port = text.trim().parse();
    port.map_err(|_| io::Error::other("the browser's port does not read as one"))
}

async fn serve(
    client: TcpStream,
    upstream: &Path,
    cuts: watch::Receiver<(u64, Option<Cut>)>,
    hold: watch::Sender<Hold>,
) -> io::Result<()> {
    let connecting = TcpStream::connect((Ipv4Addr::LOCALHOST, port_in(upstream)?));
    let server = timeout(Duration::from_millis(CONNECT_MS), connecting).await??;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let mut cuts = cuts;
    cuts.mark_unchanged();
    let gate = hold.subscribe();
    let line = Line {
        client,
        server,
        up: Scanner::new(),
        down: Scanner::new(),
        session: None,
        awaited: None,
        hold,
        gate,
    };
    line.carry(cuts).await
}

/// One connection.
struct Line {
    client: TcpStream,
    server: TcpStream,
    up: Scanner,
    down: Scanner,
    /// The session that the relay last spoke to.
    session: Option<String>,
    /// How the answer to the message begins at which the traffic was held.
    awaited: Option<String>,
    hold: watch::Sender<Hold>,
    gate: watch::Receiver<Hold>,
}

impl Line {
    async fn carry(mut self, mut cuts: watch::Receiver<(u64, Option<Cut>)>) -> io::Result<()> {
        let (mut from_client, mut from_server) = (vec![0; 65_536], vec![0; 65_536]);
        loop {
            // What was read before the traffic was held goes on first.
            self.pass().await?;
            let held = *self.gate.borrow_and_update() == Hold::Held;
            tokio::select! {
                biased;
                changed = cuts.changed() => {
                    let cut = cuts.borrow_and_update().1;
                    match cut.filter(|_| changed.is_ok()) {
                        Some(Cut::Detach) => self.detach().await?,
                        Some(cut) => return self.end(cut).await,
                        None => return Ok(()),
                    }
                }
                _ = self.gate.changed() => {}
                n = self.client.read(&mut from_client), if !held => match n? {
                    0 => return Ok(()),
                    n => self.up.feed(&from_client[..n]),
                },
                n = self.server.read(&mut from_server), if !held => match n? {
                    0 => return Ok(()),
                    n => self.down.feed(&from_server[..n]),
                },
            }
        }
    }

    /// Forwards whole units, until the traffic is held.
    async fn pass(&mut self) -> io::Result<()> {
        while *self.gate.borrow() != Hold::Held {
            if let Some(unit) = self.down.next() {
                self.give_client(unit).await?;
            } else if let Some(unit) = self.up.next() {
                self.give_server(unit).await?;
            } else {
                break;
            }
        }
        Ok(())
    }

    async fn give_client(&mut self, unit: Unit) -> io::Result<()> {
        let text = unit.text.as_deref().unwrap_or_default();
        let forgets = *self.gate.borrow() == Hold::Forgetful;
        let awaited = self.awaited.as_ref().filter(|_| forgets);
        let lost = awaited.is_some_and(|awaited| text.starts_with(awaited));
        if lost || text.starts_with(&answer_to(DETACH_ID)) {
            return Ok(());
        }
        self.client.write_all(&unit.raw).await
    }

    async fn give_server(&mut self, unit: Unit) -> io::Result<()> {
        let text = unit.text.as_deref().unwrap_or_default();
        if let Some((_, after)) = text.rsplit_once("\"sessionId\":\"") {
            self.session = after.split('"').next().map(str::to_owned);
        }
        let met = match &*self.gate.borrow() {
            Hold::Set(gate) if gate.meets(text) => Some(gate.lets_through),
            Hold::Set(_) | Hold::Open | Hold::Forgetful | Hold::Held => None,
        };
        if met == Some(true) {
            let message: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
            self.awaited = message["id"].as_u64().map(answer_to);
        }
        if met == Some(false) {
            self.up.put_back(unit.raw);
        } else {
            self.server.write_all(&unit.raw).await?;
        }
        if met.is_some() {
            self.hold.send_replace(Hold::Held);
        }
        Ok(())
    }

    async fn detach(&mut self) -> io::Result<()> {
        let Some(session) = self.session.clone().filter(|_| self.up.is_web_socket()) else {
            return Ok(());
        };
        let message = serde_json::json!({
            "id": DETACH_ID,
            "method": "Target.detachFromTarget",
            "params": { "sessionId": session },
        });
        let frame = frames::from_client(&message.to_string());
        self.server.write_all(&frame).await
    }

    async fn end(mut self, cut: Cut) -> io::Result<()> {
        match cut {
            Cut::Fin => {}
            Cut::MidFrame => self.client.write_all(&frames::half_from_server()).await?,
            Cut::CloseFrame => self.client.write_all(&frames::CLOSE).await?,
            Cut::Rst => {
                // Closing at once with nothing lingering makes a reset.
                self.client.set_zero_linger()?;
                return Ok(());
            }
            Cut::BlackHole => return self.swallow().await,
            Cut::Detach => return Ok(()),
        }
        if cut != Cut::CloseFrame {
            self.client.shutdown().await?;
        }
        // Bytes that nobody read would turn the end into a reset.
        drop(self.server);
        let mut rest = vec![0; 65_536];
        let drain = async { while self.client.read(&mut rest).await.is_ok_and(|n| n > 0) {} };
        let _ = timeout(Duration::from_millis(DRAIN_MS), drain).await;
        Ok(())
    }

    /// Reads both sides and answers neither, until one gives up.
    async fn swallow(mut self) -> io::Result<()> {
        let (mut up, mut down) = (vec![0; 65_536], vec![0; 65_536]);
        loop {
            let n = tokio::select! {
                n = self.client.read(&mut up) => n?,
                n = self.server.read(&mut down) => n?,
            };
            if n == 0 {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests;
