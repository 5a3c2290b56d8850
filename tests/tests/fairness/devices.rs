//! The device policy from outside: who is pushed out is told, the others stay.

use quipu::Limits;
use serde_json::json;
use tests::server::Server;
use tests::socket::Socket;

use crate::{CHAT, say, text};

const AGAIN: (u16, &str) = (4001, "this device has connected again");
const REPLACED: (u16, &str) = (4001, "another device of this platform has connected");

async fn policy(devices_per_platform: u32) -> Server {
    Server::start_with(Limits { devices_per_platform, ..Limits::default() }).await
}

/// A device that is known to be connected.
async fn connected(server: &Server, person: u64, device: &str) -> Socket {
    let mut socket = server.on_device(person, (device != "-").then_some(device)).connect().await;
    assert_eq!(socket.ok("ping", json!({})).await, json!({}));
    socket
}

async fn is_there(socket: &mut Socket) {
    assert_eq!(socket.ok("ping", json!({})).await, json!({}));
}

async fn is_told(mut socket: Socket, by: Option<&str>, (code, reason): (u16, &str)) {
    assert_eq!(socket.push().await, json!({"push": "replaced", "by": by}));
    assert_eq!(socket.closed_because().await, (code, reason.to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_policy_everybody_stays() {
    let server = policy(0).await;
    let mut devices = Vec::new();
    for device in ["ios:a", "ios:a", "ios:b", "-", "-"] {
        devices.push(connected(&server, 1, device).await);
    }
    for device in &mut devices {
        is_there(device).await;
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_too_many_pushes_out_the_oldest_of_its_platform_and_nobody_else() {
    let server = policy(2).await;
    let oldest = connected(&server, 1, "ios:a").await;
    let mut others = vec![
        connected(&server, 1, "ios:b").await,
        connected(&server, 1, "web:a").await,
        connected(&server, 2, "ios:a").await,
        connected(&server, 1, "ios:c").await,
    ];
    is_told(oldest, Some("ios:c"), REPLACED).await;
    for device in &mut others {
        is_there(device).await;
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_device_that_connects_again_takes_its_own_place() {
    let server = policy(2).await;
    let first = connected(&server, 1, "ios:a").await;
    let mut other = connected(&server, 1, "ios:b").await;
    let second = connected(&server, 1, "ios:a").await;
    is_told(first, Some("ios:a"), AGAIN).await;
    let mut third = connected(&server, 1, "ios:a").await;
    is_told(second, Some("ios:a"), AGAIN).await;
    is_there(&mut other).await;
    // It hears pushes, as the other does, each once.
    say(&mut other, CHAT, "hi").await;
    for device in [&mut other, &mut third] {
        assert_eq!(device.push().await["item"]["content"], "hi");
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_without_a_device_are_one_platform() {
    let server = policy(1).await;
    let first = connected(&server, 1, "-").await;
    let mut second = connected(&server, 1, "-").await;
    is_told(first, None, REPLACED).await;
    is_there(&mut second).await;
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_in_flight_is_answered_before_the_goodbye() {
    const MESSAGES: u64 = 100;
    let server = policy(1).await;
    let mut first = connected(&server, 1, "ios:a").await;
    for n in 0..MESSAGES {
        first.begin("send", text(CHAT, &format!("{n}"))).await;
    }
    let mut second = connected(&server, 1, "ios:b").await;
    assert_eq!(first.closed().await, 4001);
    // What was not read any more was not done; what was done was answered.
    let mut acknowledged = 0;
    while let Some(answer) = first.kept_answer() {
        assert!(answer["ok"]["seq"].is_u64(), "{answer}");
        acknowledged += 1;
    }
    assert!(acknowledged <= MESSAGES);
    let page = second.ok("history", json!({"conv_id": CHAT, "limit": 1})).await;
    assert_eq!(page["max_seq"], acknowledged);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn many_that_come_at_once_leave_as_many_as_may_be() {
    const COMING: usize = 20;
    let server = policy(3).await;
    let people: Vec<_> = (0..COMING).map(|n| server.on_device(1, Some(&format!("ios:{n}")))).collect();
    let mut devices = futures_util::future::join_all(people.iter().map(|person| person.connect())).await;
    // Who answers, or does not any more, has come in.
    for device in &mut devices {
        device.is_open().await;
    }
    let mut staying = 0;
    for device in &mut devices {
        // One that has been pushed out may have read this before it noticed, but was told first.
        let open = device.is_open().await;
        let told = std::iter::from_fn(|| device.kept_push()).any(|push| push["push"] == "replaced");
        assert!(open || told, "nobody is closed without a word");
        staying += usize::from(!told);
    }
    assert_eq!(staying, 3);
    server.stop().await;
}
