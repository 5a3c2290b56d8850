//! An event in an export: everything that its chain hash rests on, so that it can be computed again.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use bytes::Bytes;
use domain::{ConvId, EventId, MsgId, StreamKind};
use event_store::{Body, Header, Origin, Position, Recorded, Shard, StreamName, codec, hex};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use uuid::Uuid;

/// One event. What it does not have is left out.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EventForm {
    /// The kind of its stream, a hyphen and the conversation.
    pub stream: String,
    /// Its place there; of a message this is the seq.
    pub version: u64,
    shard: u16,
    position: u64,
    event_id: Uuid,
    /// What the type is called; says nothing that the type does not.
    event: String,
    event_type: i16,
    schema_version: i16,
    recorded_at: i64,
    actor: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    device: Option<String>,
    origin: OriginForm,
    correlation_id: Uuid,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    msg_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    msg_type: Option<u8>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    flags: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    create_at: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    client_msg_id: Option<Uuid>,
    chain: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    salt: Option<String>,
    /// The body's bytes as they are stored, since they are JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    body: Option<Box<RawValue>>,
    /// The same of a body that is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    body_base64: Option<String>,
    /// Of a body that was erased.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    digest: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum OriginForm {
    Live,
    Import,
}

impl From<&Recorded> for EventForm {
    fn from(Recorded { header, body }: &Recorded) -> Self {
        let (salt, bytes, digest) = match body {
            Body::Present { salt, bytes } => (Some(hex::encode(salt)), Some(bytes), None),
            Body::Erased { digest } => (None, None, Some(hex::encode(digest))),
        };
        let body = bytes.and_then(as_json);
        let body_base64 = bytes.filter(|_| body.is_none()).map(|bytes| BASE64_STANDARD.encode(bytes));
        Self {
            stream: header.stream.to_string(),
            version: header.version,
            shard: header.shard.get(),
            position: header.position.get(),
            event_id: header.event_id.get(),
            event: codec::name(header.event_type).to_owned(),
            event_type: header.event_type,
            schema_version: header.schema_version,
            recorded_at: header.recorded_at,
            actor: header.actor,
            device: header.device.clone(),
            origin: match header.origin {
                Origin::Live => OriginForm::Live,
                Origin::Import => OriginForm::Import,
            },
            correlation_id: header.correlation_id,
            msg_id: header.msg_id.map(|id| id.to_string()),
            msg_type: header.msg_type,
            flags: header.flags,
            create_at: header.create_at,
            client_msg_id: header.client_msg_id,
            chain: hex::encode(&header.chain),
            salt,
            body,
            body_base64,
            digest,
        }
    }
}

/// None where the same bytes would not come back, or not in one line.
fn as_json(bytes: &Bytes) -> Option<Box<RawValue>> {
    let text = std::str::from_utf8(bytes).ok()?;
    let raw = RawValue::from_string(text.to_owned()).ok()?;
    let same = text.trim() == text && raw.get() == text && !text.contains(['\n', '\r']);
    same.then_some(raw)
}

impl EventForm {
    /// The event that it stands for, and the digest of its body.
    pub fn read(&self, conv: &ConvId) -> Result<Recorded, &'static str> {
        let stream = StreamKind::ALL
            .map(|kind| StreamName::new(conv, kind))
            .into_iter()
            .find(|stream| stream.to_string() == self.stream)
            .ok_or("its stream is none of the conversation's")?;
        if self.event != codec::name(self.event_type) {
            return Err("its type is not called so");
        }
        let msg_id = self.msg_id.as_deref().map(|id| MsgId::parse(id).ok_or("its msg_id is none"));
        let header = Header {
            shard: Shard::new(self.shard),
            position: Position::new(self.position),
            stream,
            version: self.version,
            event_id: EventId::new(self.event_id),
            event_type: self.event_type,
            schema_version: self.schema_version,
            recorded_at: self.recorded_at,
            actor: self.actor,
            device: self.device.clone(),
            origin: match self.origin {
                OriginForm::Live => Origin::Live,
                OriginForm::Import => Origin::Import,
            },
            correlation_id: self.correlation_id,
            msg_id: msg_id.transpose()?,
            msg_type: self.msg_type,
            flags: self.flags,
            create_at: self.create_at,
            client_msg_id: self.client_msg_id,
            chain: hex::decode(&self.chain).ok_or("its chain is no hash")?,
        };
        Ok(Recorded { header, body: self.body()? })
    }

    fn body(&self) -> Result<Body, &'static str> {
        let bytes = match (&self.body, &self.body_base64, &self.digest) {
            (Some(raw), None, None) => Bytes::from(raw.get().to_owned()),
            (None, Some(text), None) => {
                BASE64_STANDARD.decode(text).map_err(|_| "its body is not base64")?.into()
            }
            (None, None, Some(digest)) if self.salt.is_none() => {
                return Ok(Body::Erased { digest: hex::decode(digest).ok_or("its digest is no hash")? });
            }
            _ => return Err("it has not one body or digest"),
        };
        let salt = self.salt.as_deref().and_then(hex::decode).ok_or("its salt is none")?;
        Ok(Body::Present { salt, bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded(body: Body) -> Recorded {
        let header = Header {
            shard: Shard::new(3),
            position: Position::new(9),
            stream: StreamName::new(&conv(), StreamKind::Message),
            version: 2,
            event_id: EventId::new(Uuid::from_u128(1)),
            event_type: 1,
            schema_version: 1,
            recorded_at: 5,
            actor: 1,
            device: Some("\u{7fa4} \"phone\"".into()),
            origin: Origin::Import,
            correlation_id: Uuid::from_u128(2),
            msg_id: Some(MsgId::new(1 << 62)),
            msg_type: Some(1),
            flags: Some(2),
            create_at: Some(-4),
            client_msg_id: Some(Uuid::from_u128(3)),
            chain: [7; 32],
        };
        Recorded { header, body }
    }

    fn conv() -> ConvId {
        ConvId::parse("p2p-1-2").unwrap()
    }

    #[test]
    fn what_was_written_is_read_byte_by_byte() {
        let bodies: [&[u8]; 7] = [
            b"{\"content\":\"\\u4f60\\n \"}",
            "{\"content\":\"\u{4f60}\u{2028}\"}".as_bytes(),
            b"{ \"a\" : 1.0 }",
            b" {} ",
            b"{\n}",
            b"not json",
            &[0xff, 0],
        ];
        for bytes in bodies {
            let event = recorded(Body::Present { salt: [4; 16], bytes: Bytes::copy_from_slice(bytes) });
            let line = serde_json::to_string(&EventForm::from(&event)).unwrap();
            assert!(!line.contains('\n'), "{line}");
            assert_eq!(serde_json::from_str::<EventForm>(&line).unwrap().read(&conv()), Ok(event), "{line}");
        }
        let erased = recorded(Body::Erased { digest: [6; 32] });
        let mut plain = erased.clone();
        (plain.header.device, plain.header.msg_id, plain.header.client_msg_id) = (None, None, None);
        for event in [erased, plain] {
            let line = serde_json::to_string(&EventForm::from(&event)).unwrap();
            assert_eq!(serde_json::from_str::<EventForm>(&line).unwrap().read(&conv()), Ok(event));
        }
    }

    #[test]
    fn another_conversation_or_two_bodies_are_refused() {
        let event = recorded(Body::Erased { digest: [6; 32] });
        let form = EventForm::from(&event);
        assert!(form.read(&ConvId::parse("p2p-1-3").unwrap()).is_err());
        let both = EventForm { body_base64: Some(String::new()), ..EventForm::from(&event) };
        assert!(both.read(&conv()).is_err());
        let called = EventForm { event: "x".into(), ..form };
        assert!(called.read(&conv()).is_err());
    }
}
