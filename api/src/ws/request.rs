//! What a text frame asks, checked as far as it concerns the frame; the rest is the REST body's own business.

use domain::ConvId;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};
use uuid::Uuid;

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
pub struct Request {
    /// Comes back with the answer.
    pub id: String,
    /// What is asked.
    pub op: Op,
    /// The fields of the REST body, `conv_id` and `key`.
    fields: Map<String, Value>,
}

/// A frame that is no request. There may be an id all the same.
#[derive(Debug, PartialEq, Eq)]
pub struct NoRequest {
    /// Comes back with the answer; null where there is none.
    pub id: Option<String>,
    /// Why it is none.
    pub problem: Problem,
}

impl Request {
    /// Reads a frame.
    pub fn parse(text: &str) -> Result<Self, NoRequest> {
        let without_id = |problem| NoRequest { id: None, problem };
        let value: Value = serde_json::from_str(text)
            .map_err(|error| without_id(Problem::new(Code::MalformedJson, error)))?;
        let Value::Object(mut fields) = value else {
            return Err(without_id(Problem::new(Code::InvalidBody, "a frame is an object")));
        };
        let id = match fields.remove("id") {
            Some(Value::String(id)) if (1..=ID_BYTES_MAX).contains(&id.len()) => id,
            _ => {
                let due = format!("id is a string of 1 to {ID_BYTES_MAX} bytes");
                return Err(without_id(Problem::new(Code::InvalidBody, due)));
            }
        };
        let op = match fields.remove("op") {
            Some(Value::String(name)) => {
                Op::parse(&name).ok_or_else(|| Problem::new(Code::UnknownOp, "see the documentation"))
            }
            _ => Err(Problem::new(Code::InvalidBody, "op is a string")),
        };
        match op {
            Ok(op) => Ok(Self { id, op, fields }),
            Err(problem) => Err(NoRequest { id: Some(id), problem }),
        }
    }

    /// Takes the conversation out.
    pub fn conv(&mut self) -> Result<ConvId, Problem> {
        match self.fields.remove("conv_id") {
            Some(Value::String(text)) => Ok(ConvId::parse(&text)?),
            _ => Err(Problem::new(Code::InvalidBody, "conv_id is a string")),
        }
    }

    /// Takes the idempotency key out.
    pub fn key(&mut self) -> Result<Option<Uuid>, Problem> {
        let uuid = |value: Value| value.as_str().and_then(|text| Uuid::try_parse(text).ok());
        match self.fields.remove("key") {
            None | Some(Value::Null) => Ok(None),
            Some(value) => uuid(value)
                .map(Some)
                .ok_or_else(|| Problem::new(Code::InvalidIdempotencyKey, "key is one UUID")),
        }
    }

    /// What is left, in its shape.
    pub fn body<T: DeserializeOwned>(self) -> Result<T, Problem> {
        serde_json::from_value(Value::Object(self.fields))
            .map_err(|error| Problem::new(Code::InvalidBody, error))
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
}
