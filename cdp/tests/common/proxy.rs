//! A relay of bytes between driver and browser that can be made to fail.

use std::sync::Arc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// What is done to every connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    None,
    /// An orderly end of the bytes, without a word of the web socket.
    Fin,
    /// A reset.
    Rst,
    /// A close frame of the web socket.
    CloseFrame,
    /// Nothing passes any more, in either direction.
    BlackHole,
}

#[derive(Debug, Clone)]
pub struct Proxy {
    pub port: u16,
    fault: Arc<watch::Sender<Fault>>,
}

impl Proxy {
    pub async fn start(to: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (fault, faults) = watch::channel(Fault::None);
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let faults = faults.clone();
                tokio::spawn(async move {
                    if let Ok(server) = TcpStream::connect(("127.0.0.1", to)).await {
                        carry(client, server, faults).await;
                    }
                });
            }
        });
        Self {
            port,
            fault: Arc::new(fault),
        }
    }

    pub fn set(&self, fault: Fault) {
        self.fault.send_replace(fault);
    }
}

async fn carry(mut client: TcpStream, mut server: TcpStream, mut faults: watch::Receiver<Fault>) {
    let mut up = vec![0; 65_536];
    let mut down = vec![0; 65_536];
    loop {
        let fault = *faults.borrow_and_update();
        match fault {
            Fault::None => {}
            Fault::Fin => return,
            Fault::Rst => {
                // Closing at once with nothing lingering makes a reset.
                let _ = client.set_zero_linger();
                return;
            }
            Fault::CloseFrame => {
                let _ = client.write_all(&[0x88, 0x02, 0x03, 0xe9]).await;
                let _ = faults.changed().await;
                return;
            }
            Fault::BlackHole => {
                if faults.changed().await.is_err() {
                    return;
                }
                continue;
            }
        }
        tokio::select! {
            n = client.read(&mut up) => match n {
                Ok(n) if n > 0 => if server.write_all(&up[..n]).await.is_err() { return },
                _ => return,
            },
            n = server.read(&mut down) => match n {
                Ok(n) if n > 0 => if client.write_all(&down[..n]).await.is_err() { return },
                _ => return,
            },
            changed = faults.changed() => if changed.is_err() { return },
        }
    }
}
