//! What a text frame asks, checked as far as it concerns the frame; the rest is the REST body's own business.

use std::borrow::Cow;

use domain::ConvId;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, value::RawValue};
use uuid::Uuid;

use super::fields::Without;
use crate::problem::{Code, Problem, ProblemBody};

/// The longest id of a request, in bytes: a UUID has 36.
const ID_BYTES_MAX: usize = 64;

/// What may be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// POST …/messages
    Send,
    /// POST …/messages/{seq}/recall
    Recall,
    /// POST …/messages/delete
    Delete,
    /// POST …/messages/restore
    Restore,
    /// PUT …/read
    Read,
    /// POST …/clear
    Clear,
    /// GET …/messages
    History,
    /// GET /v1/sync
    Sync,
    /// Pushes from a cursor on, or from now on.
    Resume,
    /// The caller is typing.
    Typing,
    /// Is somebody there?
    Ping,
}

impl Op {
    fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "send" => Self::Send,
            "recall" => Self::Recall,
            "delete" => Self::Delete,
            "restore" => Self::Restore,
            "read" => Self::Read,
            "clear" => Self::Clear,
            "history" => Self::History,
            "sync" => Self::Sync,
            "resume" => Self::Resume,
            "typing" => Self::Typing,
            "ping" => Self::Ping,
            _ => return None,
        })
    }
}

/// A request.
#[derive(Debug)]
pub struct Request<'a> {
    /// Comes back with the answer.
    pub id: String,
    /// What is asked.
    pub op: Op,
    frame: Frame<'a>,
    text: &'a str,
    /// Fields that are not the body's.
    taken: Vec<&'static str>,
}

/// The fields of a frame that are not all the body's own, as they are written. Whatever they are, the frame has an id.
#[derive(Debug, Deserialize)]
struct Frame<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    op: Option<&'a RawValue>,
    #[serde(borrow)]
    conv_id: Option<&'a RawValue>,
    #[serde(borrow)]
    key: Option<&'a RawValue>,
}

/// The text of a field that is a string.
fn string(field: Option<&RawValue>) -> Option<Cow<'_, str>> {
    #[derive(Deserialize)]
    struct Text<'a>(#[serde(borrow)] Cow<'a, str>);
    serde_json::from_str(field?.get()).ok().map(|Text(text)| text)
}

/// A frame that is no request. There may be an id all the same.
#[derive(Debug, PartialEq, Eq)]
pub struct NoRequest {
    /// Comes back with the answer; null where there is none.
    pub id: Option<String>,
    /// Why it is none.
    pub problem: Problem,
}

impl<'a> Request<'a> {
    /// Reads a frame as far as it is one; its body is read by [`Request::body`], in one go into its shape.
    pub fn parse(text: &'a str) -> Result<Self, NoRequest> {
        let without_id = |problem| NoRequest { id: None, problem };
        let frame: Frame<'a> = match serde_json::from_str(text) {
            Ok(frame) => frame,
            Err(error) => return Err(without_id(no_frame(text, &error))),
        };
        let id = match string(frame.id) {
            Some(id) if (1..=ID_BYTES_MAX).contains(&id.len()) => id.into_owned(),
            _ => {
                let due = format!("id is a string of 1 to {ID_BYTES_MAX} bytes");
                return Err(without_id(Problem::new(Code::InvalidBody, due)));
            }
        };
        let op = match string(frame.op) {
            Some(name) => {
                Op::parse(&name).ok_or_else(|| Problem::new(Code::UnknownOp, "see the documentation"))
            }
            None => Err(Problem::new(Code::InvalidBody, "op is a string")),
        };
        match op {
            Ok(op) => Ok(Self { id, op, frame, text, taken: vec!["id", "op"] }),
            Err(problem) => Err(NoRequest { id: Some(id), problem }),
        }
    }

    /// Takes the conversation out.
    pub fn conv(&mut self) -> Result<ConvId, Problem> {
        self.taken.push("conv_id");
        match string(self.frame.conv_id) {
            Some(text) => Ok(ConvId::parse(&text)?),
            None => Err(Problem::new(Code::InvalidBody, "conv_id is a string")),
        }
    }

    /// Takes the idempotency key out.
    pub fn key(&mut self) -> Result<Option<Uuid>, Problem> {
        self.taken.push("key");
        let Some(key) = self.frame.key else { return Ok(None) };
        string(Some(key))
            .and_then(|text| Uuid::try_parse(&text).ok())
            .map(Some)
            .ok_or_else(|| Problem::new(Code::InvalidIdempotencyKey, "key is one UUID"))
    }

    /// What is left, in its shape.
    pub fn body<T: DeserializeOwned>(self) -> Result<T, Problem> {
        let body = Without::fields(&self.taken, &mut serde_json::Deserializer::from_str(self.text));
        // Where it is not JSON further on, that is what is wrong with it.
        body.map_err(|error| match serde_json::from_str::<Value>(self.text) {
            Ok(_) => Problem::new(Code::InvalidBody, error),
            Err(malformed) => Problem::new(Code::MalformedJson, malformed),
        })
    }
}

/// Malformed from some point on, or well-formed and no frame.
fn no_frame(text: &str, error: &serde_json::Error) -> Problem {
    match serde_json::from_str::<Value>(text) {
        Err(malformed) => Problem::new(Code::MalformedJson, malformed),
        Ok(Value::Object(_)) => Problem::new(Code::InvalidBody, error),
        Ok(_) => Problem::new(Code::InvalidBody, "a frame is an object"),
    }
}

#[derive(Serialize)]
struct Answer<'a, T> {
    id: &'a str,
    ok: T,
}

#[derive(Serialize)]
struct Refusal<'a> {
    id: Option<&'a str>,
    error: RefusalBody,
}

/// A problem; here there are no headers.
#[derive(Serialize)]
struct RefusalBody {
    #[serde(flatten)]
    problem: ProblemBody,
    /// In seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after: Option<u32>,
}

/// The frame that answers a request.
pub fn answer<T: Serialize>(id: &str, outcome: Result<T, Problem>) -> String {
    let text = outcome.and_then(|ok| {
        serde_json::to_string(&Answer { id, ok }).map_err(|_| Problem::bug("an answer is not JSON"))
    });
    text.unwrap_or_else(|problem| refusal(Some(id), &problem))
}

/// The frame that says why there is no answer.
pub fn refusal(id: Option<&str>, problem: &Problem) -> String {
    let error = RefusalBody { problem: problem.body(), retry_after: problem.retry_after_s };
    // Strings and numbers: serialising these into memory cannot fail.
    serde_json::to_string(&Refusal { id, error }).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::Map;

    use super::*;

    fn refused(text: &str) -> (Option<String>, Code) {
        let refused = Request::parse(text).expect_err(text);
        (refused.id, refused.problem.code)
    }

    #[test]
    fn what_is_no_request_is_told_with_its_id_where_it_has_one() {
        for malformed in ["", "{", "{\"id\":\"a\"", "nonsense", &"[".repeat(10_000)] {
            assert_eq!(refused(malformed), (None, Code::MalformedJson), "{malformed}");
        }
        for shape in
            ["[]", "1", "{}", r#"{"op":"ping"}"#, r#"{"id":1,"op":"ping"}"#, r#"{"id":"","op":"ping"}"#]
        {
            assert_eq!(refused(shape), (None, Code::InvalidBody), "{shape}");
        }
        let long = format!(r#"{{"id":"{}","op":"ping"}}"#, "a".repeat(ID_BYTES_MAX + 1));
        assert_eq!(refused(&long), (None, Code::InvalidBody));
        assert_eq!(refused(r#"{"id":"a"}"#), (Some("a".into()), Code::InvalidBody));
        assert_eq!(refused(r#"{"id":"a","op":7}"#), (Some("a".into()), Code::InvalidBody));
        assert_eq!(refused(r#"{"id":"a","op":"dance"}"#), (Some("a".into()), Code::UnknownOp));
    }

    #[test]
    fn the_conversation_and_the_key_are_not_the_bodys() {
        let text =
            r#"{"id":"a","op":"clear","conv_id":"P2P-2-1","key":"00000000-0000-0000-0000-000000000001"}"#;
        let mut request = Request::parse(text).unwrap();
        assert_eq!(request.conv().map(|conv| conv.to_string()), Ok("p2p-1-2".into()));
        assert_eq!(request.key(), Ok(Some(Uuid::from_u128(1))));
        assert_eq!(request.body::<Value>(), Ok(Value::Object(Map::new())));
    }

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Shape {
        n: u64,
    }

    #[test]
    fn a_body_has_its_own_fields_and_no_others() {
        let body = |text: &str| {
            let mut request = Request::parse(text).unwrap();
            request.conv().unwrap();
            request.body::<Shape>().map_err(|problem| problem.code)
        };
        let with = |rest: &str| format!(r#"{{"id":"a","conv_id":"p2p-1-2",{rest},"op":"read"}}"#);
        assert_eq!(body(&with(r#""n":7"#)), Ok(Shape { n: 7 }));
        assert_eq!(body(&with(r#""\u006e":7"#)), Ok(Shape { n: 7 }), "however the name is escaped");
        for shape in [r#""m":7"#, r#""n":7,"m":8"#, r#""n":"7""#, r#""n":7,"key":null"#, r#""n":7,"n":8"#] {
            assert_eq!(body(&with(shape)), Err(Code::InvalidBody), "{shape}");
        }
    }

    #[test]
    fn what_is_malformed_is_so_wherever_it_is() {
        for malformed in [
            r#"{"id":"a","op":"ping","n":{"m":}}"#,
            r#"{"id":"a","op":"ping"}}"#,
            r#"{"id":"a","op":"ping","n":"\x"}"#,
            r#"{"id":7,"op":"ping","n":[1,2}"#,
        ] {
            let code = match Request::parse(malformed) {
                Err(refused) => refused.problem.code,
                Ok(request) => request.body::<Shape>().expect_err(malformed).code,
            };
            assert_eq!(code, Code::MalformedJson, "{malformed}");
        }
        assert_eq!(refused(r#"{"id":"a","id":"b","op":"ping"}"#), (None, Code::InvalidBody), "which one?");
    }
}
