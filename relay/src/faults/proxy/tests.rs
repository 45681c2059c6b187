//! The proxy between two plain sockets.

use super::*;

const UPGRADE: &[u8] = b"GET /x HTTP/1.1\r\nUpgrade: websocket\r\n\r\n";
const SWITCHED: &[u8] = b"HTTP/1.1 101 x\r\nUpgrade: websocket\r\n\r\n";

/// A message of the server's, short enough for the shortest header.
fn from_server(text: &str) -> Vec<u8> {
    let len = u8::try_from(text.len()).unwrap();
    [&[0x81, len], text.as_bytes()].concat()
}

/// Both ends of a connection through a proxy, past its beginning.
async fn joined() -> (Proxy, TcpStream, TcpStream, tempfile::TempDir) {
    let home = tempfile::tempdir().unwrap();
    let upstream = home.path().join("upstream");
    let browser = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let port = browser.local_addr().unwrap().port();
    std::fs::write(&upstream, format!("{port}\n")).unwrap();
    let proxy = Proxy::start(upstream).await.unwrap();
    let mut client = TcpStream::connect((Ipv4Addr::LOCALHOST, proxy.port))
        .await
        .unwrap();
    let (mut server, _) = browser.accept().await.unwrap();
    client.write_all(UPGRADE).await.unwrap();
    comes(&mut server, UPGRADE).await;
    server.write_all(SWITCHED).await.unwrap();
    comes(&mut client, SWITCHED).await;
    (proxy, client, server, home)
}

async fn comes(end: &mut TcpStream, bytes: &[u8]) {
    let mut seen = vec![0; bytes.len()];
    end.read_exact(&mut seen).await.unwrap();
    assert_eq!(seen, bytes);
}

fn gate(lets_through: bool) -> Gate {
    Gate {
        contains: vec!["compose".to_owned()],
        lets_through,
    }
}

#[tokio::test]
async fn a_gate_withholds_the_message_or_its_answer_until_it_opens() {
    let ask = frames::from_client(r#"{"id":7,"method":"compose"}"#);
    for lets_through in [false, true] {
        let (proxy, mut client, mut server, _home) = joined().await;
        proxy.hold_at(gate(lets_through));
        client.write_all(&ask).await.unwrap();
        proxy.held().await;
        let mut byte = [0];
        if lets_through {
            comes(&mut server, &ask).await;
            server
                .write_all(&from_server(r#"{"id":7,"r":1}"#))
                .await
                .unwrap();
            let early = timeout(Duration::ZERO, client.read(&mut byte)).await;
            assert!(early.is_err(), "the answer is withheld");
        } else {
            let early = timeout(Duration::ZERO, server.read(&mut byte)).await;
            assert!(early.is_err(), "the message is withheld");
        }
        proxy.release();
        if lets_through {
            comes(&mut client, &from_server(r#"{"id":7,"r":1}"#)).await;
        } else {
            comes(&mut server, &ask).await;
        }
    }
}

#[tokio::test]
async fn an_answer_can_be_lost_alone() {
    let (proxy, mut client, mut server, _home) = joined().await;
    let ask = frames::from_client(r#"{"id":7,"method":"compose"}"#);
    proxy.hold_at(gate(true));
    client.write_all(&ask).await.unwrap();
    proxy.held().await;
    server
        .write_all(&from_server(r#"{"id":7,"r":1}"#))
        .await
        .unwrap();
    server
        .write_all(&from_server(r#"{"method":"gone"}"#))
        .await
        .unwrap();
    proxy.release_without_answer();
    comes(&mut client, &from_server(r#"{"method":"gone"}"#)).await;
}

#[tokio::test]
async fn each_cut_ends_the_connection_in_its_own_way() {
    for cut in [Cut::Fin, Cut::MidFrame, Cut::CloseFrame, Cut::Rst] {
        let (proxy, mut client, _server, _home) = joined().await;
        proxy.cut(cut);
        let mut rest = Vec::new();
        if cut == Cut::CloseFrame {
            comes(&mut client, &frames::CLOSE).await;
            continue;
        }
        let end = client.read_to_end(&mut rest).await;
        match cut {
            Cut::Rst => assert_eq!(end.unwrap_err().kind(), io::ErrorKind::ConnectionReset),
            Cut::MidFrame => assert_eq!(rest, frames::half_from_server()),
            Cut::Fin | Cut::CloseFrame | Cut::BlackHole | Cut::Detach => {
                assert_eq!((end.unwrap(), rest.len()), (0, 0));
            }
        }
    }
}

#[tokio::test]
async fn the_browser_is_told_to_detach_the_session_and_its_answer_is_kept_back() {
    let (proxy, mut client, mut server, _home) = joined().await;
    let ask = frames::from_client(r#"{"id":1,"sessionId":"S1","method":"x"}"#);
    client.write_all(&ask).await.unwrap();
    comes(&mut server, &ask).await;
    proxy.cut(Cut::Detach);
    let told =
        r#"{"id":2000000000,"method":"Target.detachFromTarget","params":{"sessionId":"S1"}}"#;
    comes(&mut server, &frames::from_client(told)).await;
    server
        .write_all(&from_server(r#"{"id":2000000000,"result":{}}"#))
        .await
        .unwrap();
    server
        .write_all(&from_server(r#"{"method":"detached"}"#))
        .await
        .unwrap();
    comes(&mut client, &from_server(r#"{"method":"detached"}"#)).await;
}
