//! An event as an auditor reads it: one JSON object a line, with everything that the log has of it.

use event_store::{Body, Origin, Recorded, codec, hex};
use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;
use uuid::Uuid;

/// An event of the log.
#[derive(Debug, Serialize, ToSchema)]
pub struct EventLine {
    /// Its place in its shard's order; the next page is asked for with the last one of this.
    position: u64,
    /// Its conversation's shard.
    shard: u16,
    /// `message-`, `mark-` or `group-` and the conv_id.
    stream: String,
    /// Its place in its stream, from 1; of a message this is the seq.
    version: u64,
    /// Its id.
    #[schema(value_type = String, format = "uuid")]
    event_id: Uuid,
    /// What it is, such as MessageSent.
    event: &'static str,
    /// The number of that.
    event_type: i16,
    /// The form in which its body is written.
    schema_version: i16,
    /// When it was appended, in unix ms. Never goes down within a shard.
    recorded_at: i64,
    /// Who did it; 0 is the server.
    actor: u64,
    /// With which device.
    #[serde(skip_serializing_if = "Option::is_none")]
    device: Option<String>,
    /// `live` or `import`.
    origin: &'static str,
    /// The request that brought it.
    #[schema(value_type = String, format = "uuid")]
    correlation_id: Uuid,
    /// Of a message: its id.
    #[serde(skip_serializing_if = "Option::is_none")]
    msg_id: Option<String>,
    /// Of a message: its type.
    #[serde(skip_serializing_if = "Option::is_none")]
    msg_type: Option<u8>,
    /// Of a message: its flags as it was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    flags: Option<u16>,
    /// Of a message: when it was said, in unix ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    create_at: Option<i64>,
    /// Of a message: the client's name for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = "uuid")]
    client_msg_id: Option<Uuid>,
    /// The chain's hash up to here, in hex.
    chain: String,
    /// What it says, exactly as stored; null once it is erased.
    #[schema(value_type = Option<Object>)]
    body: Option<Box<RawValue>>,
    /// Of an erased body: BLAKE3 of its salt and bytes, in hex.
    #[serde(skip_serializing_if = "Option::is_none")]
    erased: Option<String>,
}

impl From<&Recorded> for EventLine {
    fn from(Recorded { header, body }: &Recorded) -> Self {
        let (body, erased) = match body {
            Body::Present { bytes, .. } => (raw(bytes), None),
            Body::Erased { digest } => (None, Some(hex::encode(digest))),
        };
        Self {
            position: header.position.get(),
            shard: header.shard.get(),
            stream: header.stream.to_string(),
            version: header.version,
            event_id: header.event_id.get(),
            event: codec::name(header.event_type),
            event_type: header.event_type,
            schema_version: header.schema_version,
            recorded_at: header.recorded_at,
            actor: header.actor,
            device: header.device.clone(),
            origin: match header.origin {
                Origin::Live => "live",
                Origin::Import => "import",
            },
            correlation_id: header.correlation_id,
            msg_id: header.msg_id.map(|id| id.to_string()),
            msg_type: header.msg_type,
            flags: header.flags,
            create_at: header.create_at,
            client_msg_id: header.client_msg_id,
            chain: hex::encode(&header.chain),
            body,
            erased,
        }
    }
}

impl EventLine {
    /// The line, with its end.
    pub fn text(&self) -> String {
        // Plain values and JSON: serialising these into memory cannot fail.
        let mut text = serde_json::to_string(self).unwrap_or_default();
        text.push('\n');
        text
    }
}

/// As stored; what is damaged is shown as a string of what can be read of it.
fn raw(bytes: &[u8]) -> Option<Box<RawValue>> {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let quoted = serde_json::to_string(&text).unwrap_or_default();
    RawValue::from_string(text).or_else(|_| RawValue::from_string(quoted)).ok()
}
