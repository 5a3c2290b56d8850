//! A conversation as a person reads it: a line for everything that happened, in order. What was recalled stands there
//! with what it said and says so; so does what somebody deleted for themself.

use std::collections::BTreeMap;

use domain::{ConvId, Event, Key, Need, Recall, Seq, StreamKind};
use event_store::{
    EventStore, Origin, Recorded, Shard, StoreError, StreamName, codec::DecodeError, handler::recall_of,
    port::Wanted,
};

use crate::time_text::utc;

/// Seqs of one deletion that are named one by one.
const SEQS_MAX: usize = 20;

/// The lines of one page of a replay.
pub async fn lines(
    store: &dyn EventStore,
    conv: &ConvId,
    page: &[Recorded],
) -> Result<Vec<String>, StoreError> {
    let recalls = recalls(store, conv, page).await?;
    let mut lines = Vec::with_capacity(page.len());
    for event in page {
        lines.push(line(store, conv, event, &recalls).await?);
    }
    Ok(lines)
}

/// What has become of the messages of a page since.
async fn recalls(
    store: &dyn EventStore,
    conv: &ConvId,
    page: &[Recorded],
) -> Result<BTreeMap<Seq, Recall>, StoreError> {
    let messages = page.iter().filter(|event| event.header.stream.kind() == Some(StreamKind::Message));
    let needs = messages.map(|event| Need::Piece(Key::Recall(Seq::new(event.header.version)))).collect();
    let wanted = Wanted { conv: conv.clone(), heads: false, needs };
    let found = store.load(Shard::of(conv, store.info().shards), &[wanted]).await?;
    let pieces = found.into_iter().flat_map(|found| found.pieces);
    let recall = |(key, value): (Key, String)| match key {
        Key::Recall(seq) => Some((seq, recall_of(&value)?)),
        _ => None,
    };
    Ok(pieces.filter_map(recall).collect())
}

async fn line(
    store: &dyn EventStore,
    conv: &ConvId,
    recorded: &Recorded,
    recalls: &BTreeMap<Seq, Recall>,
) -> Result<String, StoreError> {
    let header = &recorded.header;
    let at = utc(header.recorded_at);
    let said = match recorded.event() {
        Ok(Event::MessageSent { sender, content, reply_to, mentions, create_at, .. }) => {
            let mut text = format!("#{} {}: {}", header.version, who(sender.get()), content.json());
            if let Some(seq) = reply_to {
                text.push_str(&format!("  [answers #{seq}]"));
            }
            if !mentions.is_empty() {
                let names: Vec<String> = mentions.iter().map(|uid| uid.to_string()).collect();
                text.push_str(&format!("  [names {}]", names.join(", ")));
            }
            if header.origin == Origin::Import {
                text.push_str(&format!("  [said {}]", utc(create_at)));
            }
            if let Some(recall) = recalls.get(&Seq::new(header.version)) {
                text.push_str(&format!("  [RECALLED by {} at {}]", recall.by, utc(recall.at)));
            }
            text
        }
        Ok(Event::MessageRecalled { seq, by, .. }) => {
            format!("{by} recalled #{seq}, which said: {}", said_at(store, conv, seq).await?)
        }
        Ok(event) => other(&event),
        Err(DecodeError::Erased) if header.stream.kind() == Some(StreamKind::Message) => {
            format!("#{} {}: [ERASED]", header.version, who(header.actor))
        }
        Err(error) => format!("[cannot be read: {error}]"),
    };
    Ok(format!("{at}  {said}\n"))
}

/// What a message says.
async fn said_at(store: &dyn EventStore, conv: &ConvId, seq: Seq) -> Result<String, StoreError> {
    let stream = StreamName::new(conv, StreamKind::Message);
    let message = store.read_stream(&stream, seq.get(), 1).await?.pop();
    Ok(match message.map(|message| message.event()) {
        Some(Ok(Event::MessageSent { content, .. })) => content.json().to_owned(),
        Some(Ok(_) | Err(_)) | None => "[ERASED]".to_owned(),
    })
}

fn who(actor: u64) -> String {
    if actor == 0 { "system".to_owned() } else { actor.to_string() }
}

fn numbers(seqs: &[Seq]) -> String {
    let mut text: Vec<String> = seqs.iter().take(SEQS_MAX).map(|seq| format!("#{seq}")).collect();
    if seqs.len() > SEQS_MAX {
        text.push(format!("and {} more", seqs.len() - SEQS_MAX));
    }
    text.join(", ")
}

/// Everything but what shows a message's text. No `_` arm: a new event stops the build until somebody says how it reads.
fn other(event: &Event) -> String {
    match event {
        Event::MessageSent { .. } | Event::MessageRecalled { .. } => String::new(),
        Event::MessagesDeletedFor { uid, seqs } => format!("{uid} deleted {} for themself", numbers(seqs)),
        Event::MessagesRestoredFor { uid, seqs } => format!("{uid} restored {}", numbers(seqs)),
        Event::ReadAdvanced { uid, read_seq, .. } => format!("{uid} has read up to #{read_seq}"),
        Event::HistoryCleared { uid, up_to_seq } => format!("{uid} cleared the history up to #{up_to_seq}"),
        Event::ConversationHidden { uid, up_to_seq } => {
            format!(
                "{uid} cleared the history up to #{up_to_seq} and took the conversation out of their list"
            )
        }
        Event::SettingsChanged { uid, settings } => {
            let state = |on, word: &str| if on { word.to_owned() } else { format!("not {word}") };
            let (pinned, muted) = (state(settings.pinned, "pinned"), state(settings.muted, "muted"));
            format!("{uid} has it {pinned}, {muted}")
        }
        Event::HistoryExpired { up_to_seq } => format!("retention took everything up to #{up_to_seq}"),
        Event::BodiesErased { uid, seqs } => format!("what {uid} said was erased: {}", numbers(seqs)),
        Event::HoldPlaced { by, reason, .. } => {
            format!("{} placed a hold: {}", who(by.get()), reason.as_str())
        }
        Event::HoldLifted { by, reason, .. } => {
            format!("{} lifted the hold: {}", who(by.get()), reason.as_str())
        }
        Event::GroupCreated { name, owner, history, .. } => {
            format!("{owner} founded the group {name:?} (history: {})", history.name())
        }
        Event::MembersJoined { uids, by, .. } => {
            let mut names: Vec<String> = uids.iter().take(SEQS_MAX).map(|uid| uid.to_string()).collect();
            if uids.len() > SEQS_MAX {
                names.push(format!("and {} more", uids.len() - SEQS_MAX));
            }
            format!("{by} brought in {}", names.join(", "))
        }
        Event::MemberLeft { uid, by, .. } if uid == by => format!("{uid} left"),
        Event::MemberLeft { uid, by, .. } => format!("{by} removed {uid}"),
        Event::RoleChanged { uid, role, by } => format!("{by} made {uid} {}", role.name()),
        Event::GroupChanged { change, by } => {
            let parts = [
                change.name.as_ref().map(|name| format!("name {name:?}")),
                change.history.map(|history| format!("history {}", history.name())),
                change.mute_all.map(|mute_all| format!("mute_all {mute_all}")),
                change.invite.map(|invite| format!("invite {}", invite.name())),
            ];
            let parts: Vec<String> = parts.into_iter().flatten().collect();
            format!("{by} changed the group: {}", parts.join(", "))
        }
        Event::GroupDissolved { by } => format!("{by} dissolved the group"),
    }
}
