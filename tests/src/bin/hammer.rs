//! `hammer URL CONV SENDER COUNT`: a node of its own that sends many messages at once into one conversation and
//! prints each one's number and seq. For tests that need several processes.

use std::process::ExitCode;

use domain::{ConvId, Reply};
use event_store::Sequence;
use tests::log::{node, postgres_log, send};

#[tokio::main]
#[expect(clippy::print_stdout, reason = "its answer")]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [url, conv, sender, count] = &arguments[..] else { return ExitCode::FAILURE };
    let conv = ConvId::parse(conv).expect("a conversation");
    let (sender, count): (u64, u64) = (sender.parse().expect("a uid"), count.parse().expect("a count"));
    let (_store, handler) = node(postgres_log(&url.parse().expect("a url")).await);
    let (sequence, mut pending) = (Sequence::default(), Vec::new());
    for n in 1..=count {
        pending.push((n, handler.submit_when_free(&sequence, conv.clone(), send(sender, n)).await));
    }
    for (n, pending) in pending {
        match pending.answer().await {
            Ok(Reply::Sent(sent)) => println!("{n} {}", sent.seq),
            other => panic!("message {n} of {sender}: {other:?}"),
        }
    }
    handler.drain().await;
    ExitCode::SUCCESS
}
