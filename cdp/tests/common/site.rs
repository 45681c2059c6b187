//! The tiny page's server: the page anywhere, an event stream at
//! `/conversation`, and a list of what foreign tabs noticed.

use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// What the stream says, cut in the middle of characters and of line ends.
pub const PIECES: &[&[u8]] = &[
    b"data: {\"v\":\"\xe4\xbd",
    b"\xa0\xe5\xa5\xbd\"}\r",
    b"\n\r\ndata: second\n\n: note\n\nda",
    b"ta: [DONE]\n\n",
];

#[derive(Debug, Clone)]
pub struct Site {
    pub port: u16,
    notices: Arc<Mutex<Vec<String>>>,
    bodies: Arc<Mutex<Vec<String>>>,
}

impl Site {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let site = Self {
            port: listener.local_addr().unwrap().port(),
            notices: Arc::default(),
            bodies: Arc::default(),
        };
        let served = site.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let site = served.clone();
                tokio::spawn(async move { site.serve(stream).await });
            }
        });
        site
    }

    /// An address of this site under a host name of its own, so that the
    /// browser keeps it apart from the others.
    pub fn url(&self, host: &str, path: &str) -> String {
        format!("http://{host}:{}{path}", self.port)
    }

    pub fn notices(&self) -> Vec<String> {
        self.notices.lock().unwrap().clone()
    }

    /// The messages received.
    pub fn bodies(&self) -> Vec<String> {
        self.bodies.lock().unwrap().clone()
    }

    async fn serve(&self, mut stream: TcpStream) -> Option<()> {
        let mut head = Vec::new();
        while !head.windows(4).any(|w| w == b"\r\n\r\n") {
            head.push(stream.read_u8().await.ok()?);
        }
        let head = String::from_utf8_lossy(&head).into_owned();
        let path = head.split(' ').nth(1)?.to_owned();
        if path.starts_with("/conversation") {
            let len = head.lines().find_map(|l| {
                l.to_lowercase()
                    .strip_prefix("content-length:")?
                    .trim()
                    .parse()
                    .ok()
            })?;
            let mut body = vec![0; len];
            stream.read_exact(&mut body).await.ok()?;
            let body = String::from_utf8(body).ok()?;
            self.bodies.lock().unwrap().push(body);
            stream
                .write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")
                .await
                .ok()?;
            for piece in PIECES {
                stream.write_all(piece).await.ok()?;
                stream.flush().await.ok()?;
                // Apart on the wire, so that the browser reports them apart.
                tokio::time::sleep(std::time::Duration::from_millis(30)).await;
            }
            return None;
        }
        let body = if let Some(query) = path.strip_prefix("/notice?") {
            self.notices.lock().unwrap().push(query.to_owned());
            ""
        } else {
            include_str!("tiny.html")
        };
        let answer = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(answer.as_bytes()).await.ok()
    }
}
