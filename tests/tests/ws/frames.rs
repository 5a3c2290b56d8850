//! RFC 6455 from outside, frames: fragments, control frames in between, what is not text, what breaks the framing and
//! what is too large. Where the implementation below us is lenient, that is said and held, too.

use futures_util::future::join_all;
use serde_json::{Value, json};
use tests::server::Server;

use crate::CHAT;
use crate::wire::{
    BINARY, CLOSE, CONTINUATION, FIN, Got, PING, PONG, RSV1, RSV2, RSV3, TEXT, Wire, frame, head,
};

const REQUEST: &[u8] = br#"{"id":"a","op":"ping"}"#;

fn done() -> Value {
    json!({"id": "a", "ok": {}})
}

fn pong(said: &[u8]) -> Option<Got> {
    Some(Got { opcode: PONG, payload: said.to_vec() })
}

#[tokio::test(flavor = "multi_thread")]
async fn fragments_are_one_request_and_control_frames_in_between_are_answered_at_once() {
    let server = Server::start().await;
    let mut ana = Wire::open(&server, &server.person(1)).await;
    ana.frame(TEXT, b"").await;
    ana.frame(CONTINUATION, &REQUEST[..5]).await;
    ana.frame(FIN | PING, b"there?").await;
    // While the message is under way.
    assert_eq!(ana.next().await, pong(b"there?"));
    ana.frame(CONTINUATION, b"").await;
    ana.frame(FIN | PONG, b"nobody asked").await;
    ana.frame(CONTINUATION, &REQUEST[5..9]).await;
    ana.frame(FIN | PING, b"").await;
    assert_eq!(ana.next().await, pong(b""));
    ana.frame(CONTINUATION, &REQUEST[9..]).await;
    ana.frame(FIN | CONTINUATION, b"").await;
    assert_eq!(ana.answer().await, done());
    // And the next one begins anew.
    ana.frame(FIN | TEXT, REQUEST).await;
    assert_eq!(ana.answer().await, done());
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_character_may_be_cut_and_bytes_may_come_one_by_one() {
    let server = Server::start().await;
    let mut ana = Wire::open(&server, &server.person(1)).await;
    let content = "字 é 😀";
    let message = |n: u8| {
        let id = format!("00000000-0000-0000-0000-00000000000{n}");
        json!({"id": "a", "op": "send", "conv_id": CHAT, "client_msg_id": id, "msg_type": 1, "content": content})
    };
    // A frame for each byte.
    let text = message(1).to_string();
    ana.frame(TEXT, b"").await;
    for byte in text.bytes() {
        ana.frame(CONTINUATION, &[byte]).await;
    }
    ana.frame(FIN | CONTINUATION, b"").await;
    // The answer and the push come in any order.
    let (one, other) = (ana.answer().await, ana.answer().await);
    let (answer, push) = if one["push"].is_null() { (one, other) } else { (other, one) };
    assert_eq!((&answer["ok"]["seq"], &push["push"]), (&json!(1), &json!("message")));
    // A segment for each byte of two frames.
    for byte in
        [frame(TEXT, &text.as_bytes()[..99]), frame(FIN | CONTINUATION, &text.as_bytes()[99..])].concat()
    {
        ana.bytes(&[byte]).await;
    }
    assert_eq!(ana.answer().await["ok"]["duplicate"], true);
    // Many frames in one segment.
    let frames = [frame(FIN | TEXT, message(2).to_string().as_bytes()), frame(FIN | PING, b"x")].concat();
    ana.bytes(&frames).await;
    let mut heard = vec![];
    for _ in 0..3 {
        heard.push(ana.next().await.unwrap().opcode);
    }
    heard.sort_unstable();
    assert_eq!(heard, [TEXT, TEXT, PONG]);
    let page = server.person(2).get(&format!("/v1/conversations/{CHAT}/messages")).await.json;
    for item in page["items"].as_array().unwrap() {
        assert_eq!(item["content"], content);
    }
    assert_eq!(page["max_seq"], 2);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_ping_says_comes_back() {
    let server = Server::start().await;
    let mut ana = Wire::open(&server, &server.person(1)).await;
    for said in [&b""[..], b"x", b"\xff\x00\xfe", &[7; 125]] {
        ana.frame(FIN | PING, said).await;
        assert_eq!(ana.next().await, pong(said));
    }
    server.stop().await;
}

/// Each on a connection of its own, all at once: what is sent closes it with this code, and nobody else's.
async fn closes(cases: Vec<(&str, Vec<u8>)>, code: u16) {
    let server = Server::start().await;
    let mut bystander = Wire::open(&server, &server.person(1)).await;
    let closing = (2..).zip(&cases).map(async |(person, (what, bytes))| {
        let mut wire = Wire::open(&server, &server.person(person)).await;
        wire.bytes(bytes).await;
        assert_eq!(wire.closed().await, Some(code), "{what}");
    });
    join_all(closing).await;
    bystander.frame(FIN | TEXT, REQUEST).await;
    assert_eq!(bystander.answer().await, done());
    assert_eq!(server.events().await, 0);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_utf_8_is_closed_with_1007() {
    let cut = "字".as_bytes();
    let text = |bytes: &[u8]| frame(FIN | TEXT, bytes);
    let fragments = |one: &[u8], two: &[u8]| [frame(TEXT, one), frame(FIN | CONTINUATION, two)].concat();
    let cases = vec![
        ("no UTF-8 at all", text(b"\xff\xfe")),
        ("half a character at the end", text(&cut[..2])),
        ("half a character at the end of the second fragment", fragments(b"ab", &cut[..2])),
        ("a character that goes on wrongly in the next fragment", fragments(&cut[..2], b"x")),
        ("broken in the second fragment", fragments(b"ab", b"\xff")),
        // Need not wait for the end.
        ("broken in a fragment that is not the last", frame(TEXT, b"\xff")),
        ("half of a surrogate pair", text(b"\xed\xa0\x80")),
        ("longer than it has to be", text(b"\xc0\x80")),
        ("beyond the last character", text(b"\xf4\x90\x80\x80")),
    ];
    closes(cases, 1007).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_breaks_the_framing_is_closed_with_1002() {
    let whole = |first: u8| frame(FIN | first, REQUEST);
    let mut unmasked = vec![FIN | TEXT, REQUEST.len() as u8];
    unmasked.extend(REQUEST);
    let begun = frame(TEXT, b"{");
    let mut cases = vec![
        ("a frame that is not masked", unmasked),
        ("a ping that is not masked", vec![FIN | PING, 0]),
        ("a continuation of nothing", whole(CONTINUATION)),
        ("a first fragment that continues nothing", frame(CONTINUATION, b"{")),
        ("a text within a message", [begun.clone(), whole(TEXT)].concat()),
        ("a binary within a message", [begun.clone(), whole(BINARY)].concat()),
        ("a continuation behind the last fragment", {
            [frame(TEXT, &REQUEST[..5]), frame(FIN | CONTINUATION, &REQUEST[5..]), whole(CONTINUATION)]
                .concat()
        }),
        ("a fragmented ping", frame(PING, b"x")),
        ("a fragmented close", frame(CLOSE, b"")),
        ("a ping of 126 bytes", frame(FIN | PING, &[0; 126])),
        ("a pong of 126 bytes", frame(FIN | PONG, &[0; 126])),
        ("a close of 126 bytes", frame(FIN | CLOSE, &[3; 126])),
        ("a reserved bit in a continuation", [begun, frame(FIN | RSV1 | CONTINUATION, b"}")].concat()),
        ("a reserved bit in a ping", frame(FIN | RSV2 | PING, b"")),
    ];
    for bit in [RSV1, RSV2, RSV3] {
        cases.push(("a reserved bit", whole(bit | TEXT)));
    }
    for opcode in [0x3, 0x4, 0x5, 0x6, 0x7, 0xb, 0xc, 0xd, 0xe, 0xf] {
        cases.push(("a reserved opcode", frame(FIN | opcode, b"x")));
        cases.push(("a reserved opcode without payload", frame(FIN | opcode, b"")));
    }
    closes(cases, 1002).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn frames_are_text() {
    let cases = vec![
        ("binary", frame(FIN | BINARY, REQUEST)),
        ("nothing, in binary", frame(FIN | BINARY, b"")),
        ("not UTF-8, but nobody said so", frame(FIN | BINARY, b"\xff")),
        (
            "binary in fragments",
            [frame(BINARY, &REQUEST[..5]), frame(FIN | CONTINUATION, &REQUEST[5..])].concat(),
        ),
    ];
    closes(cases, 1003).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_too_large_is_closed_with_1009() {
    let part = vec![b' '; 400 << 10];
    let cases = vec![
        ("a byte too much", frame(FIN | TEXT, &vec![b' '; (1 << 20) + 1])),
        ("three times too much", frame(FIN | TEXT, &vec![b' '; 3 << 20])),
        ("binary, and too large", frame(FIN | BINARY, &vec![0; (1 << 20) + 1])),
        ("too large together", {
            [frame(TEXT, &part), frame(CONTINUATION, &part), frame(FIN | CONTINUATION, &part)].concat()
        }),
        // Nobody waits for what it says will come.
        ("a head that says a terabyte", head(FIN | TEXT, 1 << 40)),
        // The RFC has no such length (5.2), which would be 1002; here it is too large.
        ("a head that says more than there is", head(FIN | TEXT, 1 << 63)),
    ];
    closes(cases, 1009).await;
    let server = Server::start().await;
    let mut ana = Wire::open(&server, &server.person(1)).await;
    let mut fits = REQUEST.to_vec();
    fits.resize(1 << 20, b' ');
    ana.frame(FIN | TEXT, &fits).await;
    assert_eq!(ana.answer().await, done(), "1 MiB is not too large");
    ana.frame(TEXT, &fits[..1 << 19]).await;
    ana.frame(FIN | CONTINUATION, &fits[1 << 19..]).await;
    assert_eq!(ana.answer().await, done(), "nor in fragments");
    server.stop().await;
}

/// The RFC has the shortest form (5.2: "the minimal number of bytes MUST be used"). Who uses a longer one does no harm,
/// and the implementation takes it.
#[tokio::test(flavor = "multi_thread")]
async fn a_length_that_is_written_longer_than_it_has_to_be_is_taken() {
    let server = Server::start().await;
    let mut ana = Wire::open(&server, &server.person(1)).await;
    let short = frame(FIN | TEXT, REQUEST);
    for length in
        [vec![0x80 | 126, 0, REQUEST.len() as u8], vec![0xff, 0, 0, 0, 0, 0, 0, 0, REQUEST.len() as u8]]
    {
        ana.bytes(&[&short[..1], &length, &short[2..]].concat()).await;
        assert_eq!(ana.answer().await, done());
    }
    server.stop().await;
}
