//! Bodies of what stands about a person. Field names are part of the data, as in `body.rs`.

use domain::{Hold, Ms, PersonEvent, Reason, Sender};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{DecodeError, Encoded, own_body};
use crate::recorded::Recorded;

/// The number of PersonHoldPlaced. Never to be used again for something else, as all in [`super::EventType`].
pub const PERSON_HOLD_PLACED: i16 = 44;
/// The number of PersonHoldLifted.
pub const PERSON_HOLD_LIFTED: i16 = 45;
/// The number of ErasureAsked.
pub const ERASURE_ASKED: i16 = 46;
/// The number of ErasureDone.
pub const ERASURE_DONE: i16 = 47;
/// The form in which all are written.
const SCHEMA_VERSION: i16 = 1;

#[derive(Serialize, Deserialize)]
struct Said {
    by: u64,
    reason: String,
    at: Ms,
}

#[derive(Serialize, Deserialize)]
struct Done<'a> {
    at: Ms,
    #[serde(borrow)]
    report: &'a RawValue,
}

/// A fact's bytes in the newest form.
pub fn encode_person(event: &PersonEvent) -> Encoded {
    let said = |Hold { by, reason, at }: &Hold| {
        let said = Said { by: by.get(), reason: reason.as_str().to_owned(), at: *at };
        serde_json::to_vec(&said).unwrap_or_default()
    };
    let (event_type, body) = match event {
        PersonEvent::HoldPlaced(it) => (PERSON_HOLD_PLACED, said(it)),
        PersonEvent::HoldLifted(it) => (PERSON_HOLD_LIFTED, said(it)),
        PersonEvent::ErasureAsked(it) => (ERASURE_ASKED, said(it)),
        PersonEvent::ErasureDone { at, report } => (ERASURE_DONE, done(*at, report).unwrap_or_default()),
    };
    Encoded { event_type, schema_version: SCHEMA_VERSION, body, message: None }
}

/// The report was serialised by us: it is JSON, so this cannot fail.
fn done(at: Ms, report: &str) -> serde_json::Result<Vec<u8>> {
    serde_json::to_vec(&Done { at, report: serde_json::from_str(report)? })
}

/// The fact that an event of a person's stream states.
pub fn decode_person(recorded: &Recorded) -> Result<PersonEvent, DecodeError> {
    let header = &recorded.header;
    let known = [PERSON_HOLD_PLACED, PERSON_HOLD_LIFTED, ERASURE_ASKED, ERASURE_DONE];
    let bytes = own_body(recorded, &known, SCHEMA_VERSION)?;
    if header.event_type == ERASURE_DONE {
        let Done { at, report } = serde_json::from_slice(bytes)?;
        return Ok(PersonEvent::ErasureDone { at, report: report.get().to_owned() });
    }
    let Said { by, reason, at } = serde_json::from_slice(bytes)?;
    let by = Sender::new(by).map_err(|_| DecodeError::Field("by"))?;
    let it = Hold { by, reason: Reason::from_log(reason), at };
    Ok(match header.event_type {
        PERSON_HOLD_PLACED => PersonEvent::HoldPlaced(it),
        PERSON_HOLD_LIFTED => PersonEvent::HoldLifted(it),
        _ => PersonEvent::ErasureAsked(it),
    })
}

#[cfg(test)]
mod tests {
    use domain::{EventId, Uid};
    use uuid::Uuid;

    use super::*;
    use crate::{
        chain::{Unsealed, seal},
        port::{ShardHead, StreamHead},
        recorded::{Origin, StreamName},
        shard::Shard,
    };

    fn recorded(event: &PersonEvent, body: &str) -> Recorded {
        let unsealed = Unsealed {
            event_id: EventId::new(Uuid::nil()),
            encoded: Encoded { body: body.trim_end().into(), ..encode_person(event) },
            actor: 7,
            device: None,
            origin: Origin::Live,
            correlation_id: Uuid::nil(),
        };
        let (mut shard, mut head) = (ShardHead::default(), StreamHead::default());
        let stream = StreamName::Person(Uid::new(2).unwrap());
        seal(unsealed, Shard::OWN, stream, &mut shard, &mut head, 0, [0; 16])
    }

    #[test]
    fn every_form_ever_written_is_still_read_and_the_newest_is_written() {
        let by = Sender::Person(Uid::new(7).unwrap());
        let it = Hold { by, reason: Reason::parse("Fall 7").unwrap(), at: 5 };
        let golden = [
            (include_str!("../../golden/person_hold_placed.v1.json"), PersonEvent::HoldPlaced(it.clone())),
            (
                include_str!("../../golden/person_hold_lifted.v1.json"),
                PersonEvent::HoldLifted(Hold { by: Sender::System, ..it.clone() }),
            ),
            (include_str!("../../golden/erasure_asked.v1.json"), PersonEvent::ErasureAsked(it)),
            (
                include_str!("../../golden/erasure_done.v1.json"),
                PersonEvent::ErasureDone { at: 9, report: r#"{"messages":3}"#.into() },
            ),
        ];
        for (body, event) in golden {
            assert_eq!(decode_person(&recorded(&event, body)).unwrap(), event);
            assert_eq!(String::from_utf8(encode_person(&event).body).unwrap(), body.trim_end());
        }
    }
}
