//! The decision state's JSON: small values that follow from the streams and can be computed from them again.

use domain::{
    Bits, ConvId, Conversation, Group, History, Hold, Invite, Keeping, Key, Member, Person, Reason, Recall,
    Role, Sender, Seq, Settings, Source, Uid, ids::Ms,
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{
    port::{PieceWrite, StoreError},
    recorded::StreamName,
};

/// Fields that came later have the value that stood before them where they are left out.
#[derive(Serialize, Deserialize)]
struct GroupPiece {
    name: String,
    creator: u64,
    history: String,
    members: u32,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    mute_all: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    invite: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    dissolved: bool,
    /// Where name or history mode are not the first any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    founded_as: Option<(String, String)>,
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hidden_seq: Option<u64>,
    /// Pinned, muted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    settings: Option<(bool, bool)>,
}

#[derive(Serialize, Deserialize)]
struct KeepingPiece {
    expired_seq: u64,
    /// By, why, since when.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hold: Option<(u64, String, Ms)>,
}

#[derive(Serialize, Deserialize)]
struct RecallPiece {
    by: u64,
    at: Ms,
}

/// The key of what retention has taken of a conversation, and of its hold.
pub(crate) const KEEPING: &str = "keeping";

/// The recall that a piece tells of; none where it makes no sense.
pub fn recall_of(value: &str) -> Option<Recall> {
    let RecallPiece { by, at } = serde_json::from_str(value).ok()?;
    Some(Recall { by: Uid::new(by).ok()?, at })
}

/// A key's text, unique within a conversation's stream.
pub(crate) fn key_text(key: Key) -> String {
    match key {
        Key::Group => "group".into(),
        Key::Member(uid) => format!("member/{uid}"),
        Key::Person(uid) => format!("person/{uid}"),
        Key::Deleted(uid, bucket) => format!("deleted/{uid}/{}", bucket.get()),
        Key::Recall(seq) => format!("recall/{seq}"),
        Key::Keeping => KEEPING.into(),
    }
}

/// A conversation's piece, to be written.
pub(crate) fn piece(conv: &ConvId, key: Key, value: String) -> PieceWrite {
    PieceWrite { stream: StreamName::new(conv, key.stream()), key: key_text(key), value }
}

/// A piece's value as it is now; none if it is not known.
pub(crate) fn write(state: &Conversation, key: Key) -> Option<String> {
    Some(match key {
        Key::Group => {
            let Group { name, creator, history, members, mute_all, invite, dissolved, founded_as } =
                state.group()?.clone();
            let changed = founded_as != (name.clone(), history);
            json(&GroupPiece {
                name,
                creator: creator.get(),
                history: history.name().into(),
                members,
                mute_all,
                invite: (invite != Invite::default()).then(|| invite.name().into()),
                dissolved,
                founded_as: changed.then(|| (founded_as.0, founded_as.1.name().into())),
            })
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
            let Person { read_seq, cleared_seq, hidden_seq, settings } = *state.people.get(&uid)?;
            json(&PersonPiece {
                read_seq: read_seq.get(),
                cleared_seq: cleared_seq.get(),
                hidden_seq: hidden_seq.map(Seq::get),
                settings: settings.map(|Settings { pinned, muted }| (pinned, muted)),
            })
        }
        Key::Deleted(uid, bucket) => {
            let bits = state.deleted.get(&(uid, bucket))?.get();
            json(&((bits >> 64) as u64, bits as u64))
        }
        Key::Recall(seq) => {
            let Recall { by, at } = state.recalls.get(&seq).copied()??;
            json(&RecallPiece { by: by.get(), at })
        }
        Key::Keeping => {
            let Keeping { expired_seq, hold } = state.keeping.clone()?;
            let hold = hold.map(|Hold { by, reason, at }| (by.get(), reason.as_str().to_owned(), at));
            json(&KeepingPiece { expired_seq: expired_seq.get(), hold })
        }
    })
}

/// Makes a piece known. `None` is one that does not exist.
pub(crate) fn read(state: &mut Conversation, key: Key, value: Option<&str>) -> Result<(), StoreError> {
    match key {
        Key::Group => {
            state.group = Some(parse(value, group)?);
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
            let person = parse(value, |piece: PersonPiece| {
                Some(Person {
                    read_seq: Seq::new(piece.read_seq),
                    cleared_seq: Seq::new(piece.cleared_seq),
                    hidden_seq: piece.hidden_seq.map(Seq::new),
                    settings: piece.settings.map(|(pinned, muted)| Settings { pinned, muted }),
                })
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
        Key::Keeping => {
            let keeping = parse(value, |KeepingPiece { expired_seq, hold }| {
                let hold = match hold {
                    Some((by, reason, at)) => {
                        Some(Hold { by: Sender::new(by).ok()?, reason: Reason::from_log(reason), at })
                    }
                    None => None,
                };
                Some(Keeping { expired_seq: Seq::new(expired_seq), hold })
            })?;
            state.keeping = Some(keeping.unwrap_or_default());
        }
    }
    Ok(())
}

fn group(piece: GroupPiece) -> Option<Group> {
    let (creator, history) = (Uid::new(piece.creator).ok()?, History::parse(&piece.history)?);
    let mut group = Group::founded(&piece.name, creator, history);
    (group.members, group.mute_all, group.dissolved) = (piece.members, piece.mute_all, piece.dissolved);
    if let Some(invite) = piece.invite {
        group.invite = Invite::parse(&invite)?;
    }
    if let Some((name, history)) = piece.founded_as {
        group.founded_as = (name, History::parse(&history)?);
    }
    Some(group)
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

#[cfg(test)]
mod tests {
    use domain::{ConvId, Conversation, Event, EventId, GroupChange};
    use uuid::Uuid;

    use super::*;

    fn state() -> Conversation {
        Conversation::at(ConvId::parse("grp-a").unwrap(), [0; 3])
    }

    #[test]
    fn pieces_from_before_groups_could_change_are_still_read() {
        let (mut state, ana) = (state(), Uid::new(1).unwrap());
        let old = r#"{"name":"Team","creator":1,"history":"joined","members":3}"#;
        read(&mut state, Key::Group, Some(old)).unwrap();
        let group = Group { members: 3, ..Group::founded("Team", ana, History::Joined) };
        assert_eq!(state.group(), Some(&group));
        assert_eq!(write(&state, Key::Group).unwrap(), old);
        let old = r#"{"read_seq":3,"cleared_seq":1}"#;
        read(&mut state, Key::Person(ana), Some(old)).unwrap();
        let person = Person { read_seq: Seq::new(3), cleared_seq: Seq::new(1), ..Person::default() };
        assert_eq!(state.person(ana), person);
        assert_eq!(write(&state, Key::Person(ana)).unwrap(), old);
    }

    #[test]
    fn a_piece_comes_back_as_it_was_written() {
        let (mut there, ana) = (state(), Uid::new(1).unwrap());
        read(&mut there, Key::Person(ana), None).unwrap();
        let change = GroupChange {
            name: Some("New".into()),
            history: Some(History::All),
            mute_all: Some(true),
            invite: Some(Invite::Members),
        };
        let settings = Settings { pinned: true, muted: false };
        let (name, history) = ("Team".to_owned(), History::Joined);
        for event in [
            Event::GroupCreated { name, owner: ana, history, announced: false, source: None },
            Event::GroupChanged { change, by: ana },
            Event::GroupDissolved { by: ana },
            Event::SettingsChanged { uid: ana, settings },
            Event::ConversationHidden { uid: ana, up_to_seq: Seq::new(0) },
        ] {
            there.evolve(&event, 1, EventId::new(Uuid::nil()));
        }
        let mut again = state();
        for key in [Key::Group, Key::Person(ana), Key::Member(ana)] {
            read(&mut again, key, write(&there, key).as_deref()).unwrap();
        }
        assert_eq!(again.group(), there.group());
        assert_eq!(again.group().unwrap().founded_as.0, "Team");
        assert_eq!(again.person(ana), there.person(ana));
        assert_eq!(again.member(ana), there.member(ana));
    }
}
