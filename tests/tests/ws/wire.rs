//! A client that writes and reads RFC 6455 by hand, so that it can do what no library would.

use std::time::Duration;

use serde_json::Value;
use tests::server::{Person, Server};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// The bits and opcodes of a frame's first byte (5.2).
pub const FIN: u8 = 0x80;
pub const RSV1: u8 = 0x40;
pub const RSV2: u8 = 0x20;
pub const RSV3: u8 = 0x10;
pub const CONTINUATION: u8 = 0x0;
pub const TEXT: u8 = 0x1;
pub const BINARY: u8 = 0x2;
pub const CLOSE: u8 = 0x8;
pub const PING: u8 = 0x9;
pub const PONG: u8 = 0xa;

/// Says in a frame's second byte that it is masked.
const MASKED: u8 = 0x80;
const MASK: [u8; 4] = [0x37, 0xfa, 0x21, 0x3d];

/// Longer than anything here takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// The key of the RFC's own example, and what a server makes of it (1.3).
pub const KEY: &str = "dGhlIHNhbXBsZSBub25jZQ==";
pub const ACCEPT: &str = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";

/// What every good handshake says beside its token.
pub const HANDSHAKE: [(&str, &str); 4] = [
    ("connection", "keep-alive, Upgrade"),
    ("upgrade", "websocket"),
    ("sec-websocket-version", "13"),
    ("sec-websocket-key", KEY),
];

/// A connection.
pub struct Wire {
    stream: TcpStream,
    read: Vec<u8>,
}

/// The answer to a handshake.
#[derive(Debug)]
pub struct Shake {
    pub status: u16,
    headers: Vec<(String, String)>,
}

impl Shake {
    /// The value of a header; its name in small letters.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(it, _)| it == name).map(|(_, value)| value.as_str())
    }
}

/// A frame of the server's, which masks, fragments and reserves nothing.
#[derive(Debug, PartialEq, Eq)]
pub struct Got {
    pub opcode: u8,
    pub payload: Vec<u8>,
}

impl Wire {
    /// Connects and asks for an upgrade with these headers; `more` comes right behind, before any answer.
    pub async fn shake(
        server: &Server,
        method: &str,
        headers: &[(&str, &str)],
        more: &[u8],
    ) -> (Self, Shake) {
        let stream = TcpStream::connect(server.address()).await.expect("connect");
        let mut wire = Self { stream, read: vec![] };
        let mut asked = format!("{method} /v1/ws HTTP/1.1\r\nhost: {}\r\n", server.address());
        for (name, value) in headers {
            asked += &format!("{name}: {value}\r\n");
        }
        asked += "\r\n";
        wire.bytes(&[asked.as_bytes(), more].concat()).await;
        let end = loop {
            if let Some(end) = wire.read.windows(4).position(|it| it == b"\r\n\r\n") {
                break end;
            }
            assert!(wire.more().await, "closed without an answer");
        };
        let head = String::from_utf8(wire.read.drain(..end + 4).collect()).expect("a head");
        let mut lines = head.lines();
        let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok()).expect("a status");
        let header = |line: &str| {
            let (name, value) = line.split_once(':')?;
            Some((name.to_ascii_lowercase(), value.trim().to_owned()))
        };
        (wire, Shake { status, headers: lines.filter_map(header).collect() })
    }

    /// A good connection of a person.
    pub async fn open(server: &Server, person: &Person<'_>) -> Self {
        let token = format!("Bearer {}", person.token());
        let mut headers = HANDSHAKE.to_vec();
        headers.push(("authorization", &token));
        let (wire, shake) = Self::shake(server, "GET", &headers, &[]).await;
        assert_eq!(shake.status, 101, "{shake:?}");
        wire
    }

    /// Writes bytes as they are.
    pub async fn bytes(&mut self, bytes: &[u8]) {
        // A server that has seen enough may have closed already.
        let _ = self.stream.write_all(bytes).await;
    }

    /// Writes a frame.
    pub async fn frame(&mut self, first: u8, payload: &[u8]) {
        self.bytes(&frame(first, payload)).await;
    }

    /// The next frame; none once the server has closed the connection. Whether anybody is there, which the server may
    /// ask at any time, is left unanswered.
    pub async fn next(&mut self) -> Option<Got> {
        loop {
            match self.take() {
                Some(got) if got.opcode == PING => continue,
                Some(got) => return Some(got),
                None => {}
            }
            if !self.more().await {
                assert!(self.read.is_empty(), "closed in the middle of a frame");
                return None;
            }
        }
    }

    /// The next frame, which is a text, as JSON.
    pub async fn answer(&mut self) -> Value {
        let got = self.next().await.expect("an answer");
        assert_eq!(got.opcode, TEXT, "{got:?}");
        serde_json::from_slice(&got.payload).expect("JSON")
    }

    /// Reads until the server closes; its code, and none where it gave none or no close at all. Then answers, and sees
    /// to it that the connection ends.
    pub async fn closed(&mut self) -> Option<u16> {
        let close = loop {
            match self.next().await {
                Some(got) if got.opcode == CLOSE => break got,
                Some(_) => {}
                None => panic!("the connection ended without a close"),
            }
        };
        self.frame(FIN | CLOSE, &close.payload).await;
        assert_eq!(self.next().await, None, "nothing comes behind a close");
        code(&close)
    }

    /// Goes away without a word.
    pub async fn vanish(mut self) {
        let _ = self.stream.shutdown().await;
    }

    async fn more(&mut self) -> bool {
        match timeout(PATIENCE, self.stream.read_buf(&mut self.read)).await.expect("bytes in time") {
            Ok(count) => count > 0,
            // It closed while we were still writing.
            Err(_) => false,
        }
    }

    fn take(&mut self) -> Option<Got> {
        let [first, second, ..] = self.read[..] else { return None };
        assert_eq!(first & !0x0f, FIN, "fragmented or reserved: {first:#x}");
        assert_eq!(second & MASKED, 0, "a server does not mask");
        let (start, len) = match second {
            126 => (4, u16::from_be_bytes(self.read.get(2..4)?.try_into().ok()?) as usize),
            127 => (10, u64::from_be_bytes(self.read.get(2..10)?.try_into().ok()?) as usize),
            len => (2, usize::from(len)),
        };
        if self.read.len() < start + len {
            return None;
        }
        let payload = self.read.drain(..start + len).skip(start).collect();
        Some(Got { opcode: first & 0x0f, payload })
    }
}

/// The code of a close.
pub fn code(close: &Got) -> Option<u16> {
    assert_eq!(close.opcode, CLOSE);
    assert!(close.payload.len() <= 125 && close.payload.len() != 1, "{close:?}");
    std::str::from_utf8(close.payload.get(2..).unwrap_or_default()).expect("a reason is UTF-8");
    Some(u16::from_be_bytes(close.payload.get(..2)?.try_into().ok()?))
}

/// A masked frame as a client writes it.
pub fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = head(first, payload.len());
    frame.extend(payload.iter().zip(MASK.iter().cycle()).map(|(byte, mask)| byte ^ mask));
    frame
}

/// The head of a masked frame that says to be so long.
pub fn head(first: u8, len: usize) -> Vec<u8> {
    let mut head = vec![first];
    match len {
        0..=125 => head.push(MASKED | len as u8),
        126..=0xffff => {
            head.push(MASKED | 126);
            head.extend((len as u16).to_be_bytes());
        }
        _ => {
            head.push(MASKED | 127);
            head.extend((len as u64).to_be_bytes());
        }
    }
    head.extend(MASK);
    head
}
