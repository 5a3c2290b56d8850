//! One kept connection under load: REST, one request in flight.

use hyper::Method;
use serde_json::{Value, json, value::RawValue};
use tokio::time::{Instant, sleep_until};

use super::{
    case::{Ask, Stage},
    pace::{Due, Pace, Span},
    stats::Stats,
};
use crate::client::{Address, ClientError, rest::Rest};

/// Drives one connection to the end of the span.
pub async fn drive(
    stage: &Stage,
    address: &Address,
    number: usize,
    run: u64,
    pace: Pace,
    span: Span,
) -> Result<Stats, ClientError> {
    let pace = match pace {
        Pace::Closed(_) => Pace::Closed(1),
        other => other,
    };
    let (mut script, mut due) = (stage.script(number, run), Due::new(pace, span));
    let mut person = Rest::new(address, stage.token(number));
    let mut stats = Stats::default();
    loop {
        let now = Instant::now();
        let Some(at) = due.take(now, 0) else {
            if now >= span.until {
                return Ok(stats);
            }
            sleep_until(due.look()).await;
            continue;
        };
        let (method, path, body) = match script.next() {
            Ask::Send { conv, id, content } => (
                Method::POST,
                format!("/v1/conversations/{conv}/messages"),
                json!({"client_msg_id": id, "msg_type": 1, "content": content}),
            ),
            Ask::Page { conv, before: None } => {
                (Method::GET, format!("/v1/conversations/{conv}/messages?limit=20"), Value::Null)
            }
            Ask::Page { conv, before: Some(before) } => (
                Method::GET,
                format!("/v1/conversations/{conv}/messages?limit=20&before_seq={before}"),
                Value::Null,
            ),
            Ask::List => (Method::GET, "/v1/conversations?limit=50".to_owned(), Value::Null),
        };
        let body = (!body.is_null()).then_some(body);
        let answer = person.ask::<Box<RawValue>>(method, &path, body.as_ref()).await?;
        let now = Instant::now();
        if answer.is_err() {
            stats.refused += 1;
        } else if at >= span.from {
            stats.answered += u64::from(now < span.until);
            stats.answers.note(now - at);
        }
    }
}
