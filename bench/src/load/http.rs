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
        let mut whole_list = false;
        let (method, path, body) = match script.next() {
            Ask::Send { conv, id, content } => (
                Method::POST,
                format!("/v1/conversations/{conv}/messages"),
                json!({"client_msg_id": id, "msg_type": 1, "content": content}),
            ),
            Ask::Page { conv, before, limit } => {
                let before = before.map_or_else(String::new, |before| format!("&before_seq={before}"));
                let path = format!("/v1/conversations/{conv}/messages?limit={limit}{before}");
                (Method::GET, path, Value::Null)
            }
            Ask::List { limit, whole } => {
                whole_list = whole;
                (Method::GET, format!("/v1/conversations?limit={limit}"), Value::Null)
            }
        };
        let body = (!body.is_null()).then_some(body);
        let mut answer = person.ask::<Box<RawValue>>(method, &path, body.as_ref()).await?;
        while whole_list && let Some(cursor) = answer.as_ref().ok().and_then(|page| cursor_of(page.get())) {
            let path = format!("{path}&cursor={cursor}");
            answer = person.ask(Method::GET, &path, None).await?;
        }
        let now = Instant::now();
        if answer.is_err() {
            stats.refused += 1;
        } else {
            stats.answered(at, now, span);
        }
    }
}

/// Where the next page of a list begins. It stands at its end and has no escapes, so that nothing is parsed: the tool
/// shares the machine with what it measures.
fn cursor_of(page: &str) -> Option<&str> {
    let (_, rest) = page.rsplit_once(r#""cursor":""#)?;
    rest.strip_suffix("\"}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_says_at_its_end_where_it_goes_on() {
        let page = r#"{"conversations":[{"last_message":{"content":"\"cursor\":\"x"}}],"cursor":"abc_-1"}"#;
        assert_eq!(cursor_of(page), Some("abc_-1"));
        assert_eq!(cursor_of(r#"{"conversations":[]}"#), None);
        assert_eq!(cursor_of(&page.replace(r#","cursor":"abc_-1""#, "")), None);
    }
}
