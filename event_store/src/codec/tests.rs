//! Golden files: one body of every type in every form that was ever written, and what it says today.

use domain::{
    ClientMsgId, Content, ConvId, EventId, Flags, GroupChange, History, Invite, Reason, Role, Sender,
    Settings, Source, StreamKind, Uid,
};

use super::*;
use crate::{
    chain,
    port::{ShardHead, StreamHead},
    recorded::{Origin, StreamName},
    shard::Shard,
};

fn uid(n: u64) -> Uid {
    Uid::new(n).unwrap()
}

fn seq(n: u64) -> Seq {
    Seq::new(n)
}

/// Every golden file with the fact that it holds.
fn golden() -> Vec<(&'static str, &'static str, Event)> {
    let message = |content, mentions, reply_to| Event::MessageSent {
        msg_id: MsgId::new(251_376_382_771_220_487),
        sender: Sender::Person(uid(1001)),
        content,
        flags: Flags::AT_ALL,
        mentions,
        reply_to,
        client_msg_id: ClientMsgId::new(Uuid::from_u128(3)),
        create_at: 1_764_000_000_000,
    };
    let reason = |text| Reason::parse(text).unwrap();
    let text = |text| Content::text(text, 100).unwrap();
    let card = Content::parse(7, &serde_json::json!({"b": 1.50, "a": ["x"]}), 100).unwrap();
    let source = Some(Source { conv: "irc".into(), at: 1_200_000_000_000, nth: 2 });
    let created = |announced, source| {
        let (name, history) = ("Team".into(), History::Joined);
        Event::GroupCreated { name, owner: uid(1), history, announced, source }
    };
    let joined = |announced, source| {
        let uids = vec![uid(2), uid(3)];
        Event::MembersJoined { uids, joined_seq: seq(0), by: uid(1), announced, source }
    };
    let left = |announced, source| Event::MemberLeft { uid: uid(2), by: uid(1), announced, source };
    let name = GroupChange { name: Some("群".into()), ..GroupChange::default() };
    let all = GroupChange {
        name: Some("New".into()),
        history: Some(History::All),
        mute_all: Some(true),
        invite: Some(Invite::Members),
    };
    macro_rules! file {
        ($name:literal, $event:expr) => {
            ($name, include_str!(concat!("../../golden/", $name)), $event)
        };
    }
    vec![
        file!(
            "message_sent.v1.json",
            message(text("a \"b\" \u{1F600} \u{7fa4}\n"), vec![uid(7), uid(9)], Some(seq(12)))
        ),
        file!("message_sent_plain.v1.json", message(text("hi"), vec![], None)),
        file!("message_sent_card.v1.json", message(card, vec![], None)),
        file!("message_recalled.v1.json", Event::MessageRecalled { seq: seq(7), by: uid(1), at: 5 }),
        file!(
            "messages_deleted_for.v1.json",
            Event::MessagesDeletedFor { uid: uid(2), seqs: vec![seq(1), seq(300)] }
        ),
        file!(
            "messages_restored_for.v1.json",
            Event::MessagesRestoredFor { uid: uid(2), seqs: vec![seq(1)] }
        ),
        file!("read_advanced.v1.json", Event::ReadAdvanced { uid: uid(2), read_seq: seq(41), at: 5 }),
        file!("history_cleared.v1.json", Event::HistoryCleared { uid: uid(2), up_to_seq: seq(0) }),
        file!("conversation_hidden.v1.json", Event::ConversationHidden { uid: uid(2), up_to_seq: seq(7) }),
        file!(
            "settings_changed.v1.json",
            Event::SettingsChanged { uid: uid(2), settings: Settings { pinned: true, muted: false } }
        ),
        file!("history_expired.v1.json", Event::HistoryExpired { up_to_seq: seq(300) }),
        file!("bodies_erased.v1.json", Event::BodiesErased { uid: uid(2), seqs: vec![seq(1), seq(300)] }),
        file!(
            "hold_placed.v1.json",
            Event::HoldPlaced { by: uid(7).into(), reason: reason("Fall 7"), at: 5 }
        ),
        file!("hold_lifted.v1.json", Event::HoldLifted { by: Sender::System, reason: reason("結案"), at: 6 }),
        file!("group_created.v1.json", created(false, source.clone())),
        file!("group_created.v2.json", created(true, None)),
        file!("members_joined.v1.json", joined(false, None)),
        file!("members_joined.v2.json", joined(true, None)),
        file!("members_joined_imported.v2.json", joined(false, source.clone())),
        file!("member_left.v1.json", left(false, source)),
        file!("member_left.v2.json", left(true, None)),
        file!("role_changed.v1.json", Event::RoleChanged { uid: uid(2), role: Role::Admin, by: uid(1) }),
        file!("group_changed.v1.json", Event::GroupChanged { change: all, by: uid(1) }),
        file!("group_changed_name.v1.json", Event::GroupChanged { change: name, by: uid(1) }),
        file!("group_dissolved.v1.json", Event::GroupDissolved { by: uid(1) }),
    ]
}

fn recorded(event: &Event, schema_version: i16, body: &str) -> Recorded {
    let encoded = Encoded { schema_version, body: body.trim_end().as_bytes().to_vec(), ..encode(event) };
    let unsealed = chain::Unsealed {
        event_id: EventId::new(Uuid::nil()),
        encoded,
        actor: 1001,
        device: None,
        origin: Origin::Live,
        correlation_id: Uuid::nil(),
    };
    let stream = StreamName::new(&ConvId::single(uid(1), uid(2)), StreamKind::Message);
    let (mut shard, mut head) = (ShardHead::default(), StreamHead::default());
    chain::seal(unsealed, Shard::new(0), stream, &mut shard, &mut head, 0, [0; 16])
}

fn version_of(name: &str) -> i16 {
    name.split(".v").nth(1).unwrap().split('.').next().unwrap().parse().unwrap()
}

#[test]
fn every_form_ever_written_is_still_read() {
    for (name, body, event) in golden() {
        let version = version_of(name);
        assert_eq!(decode(&recorded(&event, version, body)).unwrap(), event, "{name}");
    }
}

#[test]
fn the_newest_form_is_written_as_its_golden_file() {
    let mut newest: Vec<i16> = vec![];
    for (name, body, event) in golden() {
        let encoded = encode(&event);
        if version_of(name) < encoded.schema_version {
            continue;
        }
        newest.push(encoded.event_type);
        assert_eq!(String::from_utf8(encoded.body).unwrap(), body.trim_end(), "{name}");
    }
    newest.dedup();
    assert_eq!(newest, EventType::ALL.map(|t| t as i16), "each has a file of its newest form");
}

#[test]
fn every_type_has_a_golden_file_and_a_number_of_its_own() {
    let mut seen: Vec<i16> = golden().iter().map(|(_, _, event)| EventType::of(event) as i16).collect();
    seen.dedup();
    assert_eq!(seen, EventType::ALL.map(|t| t as i16));
}

#[test]
fn what_a_newer_quipu_wrote_is_named_not_guessed() {
    let (_, body, event) = golden().remove(3);
    let mut newer = recorded(&event, 2, body);
    assert!(matches!(decode(&newer), Err(DecodeError::UnknownVersion { event_type: 2, version: 2 })));
    newer.header.event_type = 999;
    assert!(matches!(decode(&newer), Err(DecodeError::UnknownType(999))));
}

#[test]
fn damage_is_an_error_not_a_panic() {
    let (_, _, event) = golden().remove(0);
    for body in ["", "{", "{}", "[]", "null", "{\"content\":}", "{\"content\":1,\"mentions\":[0]}"] {
        assert!(decode(&recorded(&event, 1, body)).is_err(), "{body}");
    }
}
