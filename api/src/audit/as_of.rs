//! What one person saw in a conversation at a moment: asked at the command line, answered as JSON or as a transcript.

use std::{
    error::Error,
    fmt::{self, Write as _},
    io::Write,
};

use clap::{Args, ValueEnum};
use domain::{ConvId, Ms, Seq, Uid};
use event_store::{Action, Position};
use projections::{
    past::{Moment, Seen, as_of},
    query::{Item, ItemState, PageLimit, Range},
};

use super::{Asked, Session};
use crate::{rest::audit::as_of::SeenAnswer, time_text::utc};

/// Of `quipu audit as-of`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Which conversation
    #[arg(long, value_parser = |text: &str| ConvId::parse(text))]
    conv: ConvId,
    /// Through whose eyes
    #[arg(long, value_parser = Uid::parse)]
    viewer: Uid,
    /// At which moment, in unix ms
    #[arg(long, required_unless_present = "position", conflicts_with = "position")]
    at: Option<Ms>,
    /// After the event at this position of the conversation's shard
    #[arg(long)]
    position: Option<u64>,
    /// Only messages below this one
    #[arg(long)]
    before_seq: Option<u64>,
    /// Only messages above this one
    #[arg(long)]
    after_seq: Option<u64>,
    /// At most so many messages: 1 to 200
    #[arg(long, default_value_t = PageLimit::default().get(), value_parser = clap::value_parser!(u32).range(1..=200))]
    limit: u32,
    /// For programs or for people
    #[arg(long, value_enum, default_value_t = Format::Json)]
    format: Format,
}

/// How it is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// One JSON object.
    Json,
    /// A transcript.
    Text,
}

/// What the record of accesses says of such a question.
pub fn asked(conv: &ConvId, viewer: u64, at: Option<Ms>, position: Option<u64>, range: Range) -> Asked {
    let bound = |seq: Option<Seq>| seq.map(Seq::get);
    Asked::about(conv)
        .with("viewer", Some(viewer))
        .with("at", at)
        .with("position", position)
        .with("before_seq", bound(range.before_seq))
        .with("after_seq", bound(range.after_seq))
}

/// Exactly one of the two.
pub fn moment(at: Option<Ms>, position: Option<u64>) -> Option<Moment> {
    match (at, position) {
        (Some(at), None) => Some(Moment::At(at)),
        (None, Some(position)) => Some(Moment::Position(Position::new(position))),
        (None, None) | (Some(_), Some(_)) => None,
    }
}

/// Records the access, then answers it.
pub async fn run(
    session: &Session,
    arguments: Arguments,
    out: &mut impl Write,
) -> Result<(), Box<dyn Error>> {
    let Arguments { conv, viewer, at, position, before_seq, after_seq, limit, format } = arguments;
    let range = Range { before_seq: before_seq.map(Seq::new), after_seq: after_seq.map(Seq::new) };
    session.record(Action::AsOf, asked(&conv, viewer.get(), at, position, range)).await?;
    let moment = moment(at, position).ok_or("either --at or --position is due")?;
    let limit = PageLimit::new(limit).unwrap_or_default();
    let seen = as_of(&*session.store, &conv, viewer, moment, range, limit).await?;
    match format {
        Format::Json => {
            serde_json::to_writer(&mut *out, &SeenAnswer::new(&conv, viewer, seen))?;
            out.write_all(b"\n")?;
        }
        Format::Text => out.write_all(transcript(&conv, viewer, &seen)?.as_bytes())?,
    }
    Ok(())
}

fn transcript(conv: &ConvId, viewer: Uid, seen: &Seen) -> Result<String, fmt::Error> {
    let mut text = String::new();
    writeln!(text, "{conv} as {viewer} saw it after position {}", seen.position.get())?;
    let Some((summary, page)) = &seen.view else {
        text.push_str("not a member then: nothing was to be seen\n");
        return Ok(text);
    };
    if let Some(name) = &summary.name {
        writeln!(text, "name {name}")?;
    }
    let (min_seq, max_seq) = (summary.min_seq, summary.max_seq);
    let (read_seq, unread) = (summary.read_seq, summary.unread);
    if min_seq > max_seq {
        writeln!(text, "no messages to be seen, read up to #{read_seq}")?;
    } else {
        writeln!(text, "messages #{min_seq} to #{max_seq}, read up to #{read_seq}, {unread} unread")?;
    }
    for item in &page.items {
        line(&mut text, item)?;
    }
    if page.has_more {
        text.push_str("(there is more: --before-seq or --after-seq)\n");
    }
    Ok(text)
}

fn line(text: &mut String, item: &Item) -> fmt::Result {
    let seq = item.seq;
    match &item.state {
        ItemState::Normal(fact) => {
            let (at, sender) = (utc(fact.create_at), fact.sender.get());
            write!(text, "#{seq}  {at}  {sender}: {}", fact.content.json())?;
            match &item.quote {
                Some(quote) => writeln!(text, "  [answers #{}: {:?}]", quote.seq, quote.excerpt),
                None => writeln!(text),
            }
        }
        ItemState::Recalled(fact, recall) => {
            let (at, sender) = (utc(fact.create_at), fact.sender.get());
            writeln!(text, "#{seq}  {at}  {sender}: [recalled by {} at {}]", recall.by, utc(recall.at))
        }
        ItemState::Deleted => writeln!(text, "#{seq}  [deleted by the viewer]"),
        ItemState::Expired => writeln!(text, "#{seq}  [expired]"),
    }
}
