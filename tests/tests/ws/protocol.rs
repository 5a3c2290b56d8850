//! RFC 6455 from outside: fragments, control frames in between, what is not text, what is too large, dead peers.

use std::time::Duration;

use quipu::Limits;
use serde_json::json;
use tests::server::Server;
use tokio_tungstenite::tungstenite::{
    Message,
    protocol::frame::{
        Frame, FrameHeader,
        coding::{Control, Data, OpCode},
    },
};

const PING: &str = r#"{"id":"a","op":"ping"}"#;

fn frame(part: &[u8], opcode: OpCode, last: bool) -> Message {
    Message::Frame(Frame::message(part.to_vec(), opcode, last))
}

#[tokio::test(flavor = "multi_thread")]
async fn fragments_with_control_frames_in_between_are_one_request() {
    let server = Server::start().await;
    let mut ana = server.person(1).connect().await;
    let bytes = PING.as_bytes();
    ana.send(frame(&bytes[..5], OpCode::Data(Data::Text), false)).await;
    ana.send(Message::Ping("there?".into())).await;
    ana.send(frame(&bytes[5..9], OpCode::Data(Data::Continue), false)).await;
    ana.send(frame(&bytes[9..], OpCode::Data(Data::Continue), true)).await;
    assert!(matches!(ana.raw().await, Some(Ok(Message::Pong(said))) if said == "there?".as_bytes()));
    assert_eq!(ana.any_answer().await, json!({"id": "a", "ok": {}}));
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_breaks_the_protocol_is_closed_with_its_code() {
    let server = Server::start().await;
    let text = OpCode::Data(Data::Text);
    let large = vec![b' '; (1 << 20) + 1];
    let header =
        FrameHeader { is_final: false, opcode: OpCode::Control(Control::Ping), ..FrameHeader::default() };
    let half = Frame::from_payload(header, "x".into());
    let huge = vec![b' '; 3 << 20];
    for (what, message, code) in [
        ("binary", Message::binary(vec![1, 2, 3]), 1003),
        ("not UTF-8", frame(b"\xff\xfe", text, true), 1007),
        ("half a character", frame("字".as_bytes().split_at(2).0, text, true), 1007),
        ("a little too large", frame(&large, text, true), 1009),
        ("far too large", frame(&huge, text, true), 1009),
        ("a continuation of nothing", frame(b"x", OpCode::Data(Data::Continue), true), 1002),
        ("a fragmented control frame", Message::Frame(half), 1002),
    ] {
        let mut ana = server.person(1).connect().await;
        ana.send(message).await;
        assert_eq!(ana.closed().await, code, "{what}");
    }
    let mut ana = server.person(1).connect().await;
    let mut fits = PING.as_bytes().to_vec();
    fits.resize(1 << 20, b' ');
    ana.send(frame(&fits, text, true)).await;
    assert_eq!(ana.any_answer().await, json!({"id": "a", "ok": {}}), "1 MiB is not too large");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn fragments_that_are_too_large_together_are_too_large() {
    let server = Server::start().await;
    let mut ana = server.person(1).connect().await;
    let part = vec![b' '; 400 << 10];
    ana.send(frame(&part, OpCode::Data(Data::Text), false)).await;
    ana.send(frame(&part, OpCode::Data(Data::Continue), false)).await;
    ana.send(frame(&part, OpCode::Data(Data::Continue), true)).await;
    assert_eq!(ana.closed().await, 1009);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_close_is_answered() {
    let server = Server::start().await;
    let mut ana = server.person(1).connect().await;
    ana.send(Message::Close(None)).await;
    let code = ana.closed().await;
    assert!([0, 1000, 1005].contains(&code), "{code}");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn peers_are_pinged_and_a_dead_one_is_closed() {
    let limits = Limits { ping_every: Duration::from_millis(200), ..Limits::default() };
    let server = Server::start_with(limits).await;
    let mut ana = server.person(1).connect().await;
    assert!(matches!(ana.raw().await, Some(Ok(Message::Ping(_)))));
    // It answers as long as it reads.
    let alive = ana.pushes(Duration::from_millis(1000)).await;
    assert!(alive.is_empty());
    assert_eq!(ana.ok("ping", json!({})).await, json!({}));
    // One that does not read does not answer.
    tokio::time::sleep(Duration::from_millis(2500)).await;
    loop {
        match ana.raw().await {
            None | Some(Err(_)) => break,
            Some(Ok(Message::Close(_))) => break,
            Some(Ok(_)) => {}
        }
    }
    server.stop().await;
}
