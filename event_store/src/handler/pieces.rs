//! The decision state's JSON: small values that follow from the streams and can be computed from them again.

use domain::{
    Bits, Conversation, Group, History, Key, Member, Person, Recall, Role, Seq, Source, Uid, ids::Ms,
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::port::StoreError;

#[derive(Serialize, Deserialize)]
struct GroupPiece {
    name: String,
    creator: u64,
    history: String,
    members: u32,
}

#[derive(Serialize, Deserialize)]
struct MemberPiece {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    role: Option<String>,
    joined_seq: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    source: Option<(String, Ms, u64)>,
}

#[derive(Serialize, Deserialize)]
struct PersonPiece {
    read_seq: u64,
    cleared_seq: u64,
}

#[derive(Serialize, Deserialize)]
struct RecallPiece {
    by: u64,
    at: Ms,
}

/// A key's text, unique within a conversation's stream.
pub(crate) fn key_text(key: Key) -> String {
    match key {
        Key::Group => "group".into(),
        Key::Member(uid) => format!("member/{uid}"),
        Key::Person(uid) => format!("person/{uid}"),
        Key::Deleted(uid, bucket) => format!("deleted/{uid}/{}", bucket.get()),
        Key::Recall(seq) => format!("recall/{seq}"),
    }
}

/// A piece's value as it is now; none if it is not known.
pub(crate) fn write(state: &Conversation, key: Key) -> Option<String> {
    Some(match key {
        Key::Group => {
            let Group { name, creator, history, members } = state.group()?.clone();
            let (creator, history) = (creator.get(), history.name().into());
            json(&GroupPiece { name, creator, history, members })
        }
        Key::Member(uid) => {
            let Member { role, joined_seq, source } = state.member(uid)?.clone();
            json(&MemberPiece {
                role: role.map(|role| role.name().into()),
                joined_seq: joined_seq.get(),
                source: source.map(|Source { conv, at, nth }| (conv, at, nth)),
            })
        }
        Key::Person(uid) => {
            let Person { read_seq, cleared_seq } = *state.people.get(&uid)?;
            json(&PersonPiece { read_seq: read_seq.get(), cleared_seq: cleared_seq.get() })
        }
        Key::Deleted(uid, bucket) => {
            let bits = state.deleted.get(&(uid, bucket))?.get();
            json(&((bits >> 64) as u64, bits as u64))
        }
        Key::Recall(seq) => {
            let Recall { by, at } = state.recalls.get(&seq).copied()??;
            json(&RecallPiece { by: by.get(), at })
        }
    })
}

/// Makes a piece known. `None` is one that does not exist.
pub(crate) fn read(state: &mut Conversation, key: Key, value: Option<&str>) -> Result<(), StoreError> {
    match key {
        Key::Group => {
            let group = parse(value, |piece: GroupPiece| {
                let (creator, history) = (Uid::new(piece.creator).ok()?, History::parse(&piece.history)?);
                Some(Group { name: piece.name, creator, history, members: piece.members })
            })?;
            state.group = Some(group);
        }
        Key::Member(uid) => {
            let member = parse(value, |piece: MemberPiece| {
                let role = match piece.role {
                    Some(name) => Some(Role::parse(&name)?),
                    None => None,
                };
                let source = piece.source.map(|(conv, at, nth)| Source { conv, at, nth });
                Some(Member { role, joined_seq: Seq::new(piece.joined_seq), source })
            })?;
            state.members.insert(uid, member);
        }
        Key::Person(uid) => {
            let person = parse(value, |PersonPiece { read_seq, cleared_seq }| {
                Some(Person { read_seq: Seq::new(read_seq), cleared_seq: Seq::new(cleared_seq) })
            })?;
            state.people.insert(uid, person.unwrap_or_default());
        }
        Key::Deleted(uid, bucket) => {
            let bits = parse(value, |(high, low): (u64, u64)| {
                Some(Bits::new(u128::from(high) << 64 | u128::from(low)))
            })?;
            state.deleted.insert((uid, bucket), bits.unwrap_or_default());
        }
        Key::Recall(seq) => {
            let recall = parse(value, |RecallPiece { by, at }| Some(Recall { by: Uid::new(by).ok()?, at }))?;
            state.recalls.insert(seq, recall);
        }
    }
    Ok(())
}

fn json(value: &impl Serialize) -> String {
    // Numbers and strings: serialising these into memory cannot fail.
    serde_json::to_string(value).unwrap_or_default()
}

fn parse<P: DeserializeOwned, T>(
    value: Option<&str>,
    check: impl FnOnce(P) -> Option<T>,
) -> Result<Option<T>, StoreError> {
    let corrupt = |what: String| StoreError::Corrupt { doing: "read a piece of decision state", what };
    let Some(text) = value else { return Ok(None) };
    let piece = serde_json::from_str(text).map_err(|error| corrupt(format!("{text}: {error}")))?;
    check(piece).map(Some).ok_or_else(|| corrupt(text.to_owned()))
}
