//! Pages of a person's export that a browser shows: one for each conversation, and an index. Nothing is loaded from
//! anywhere, everything that people wrote is escaped, and each text finds its own direction.

use std::{
    fs::File,
    io::{self, BufRead, BufReader},
    path::Path,
};

use serde_json::Value;

use super::{
    list::Conversation,
    write::{CONVERSATIONS, MESSAGES, Manifest},
};
use crate::{
    export::part::{FileError, Part},
    time_text::utc,
};

const STYLE: &str = include_str!("page.css");

/// Writes the pages anew.
pub(super) fn render(out: &Path, manifest: &Manifest) -> Result<(), FileError> {
    let list = out.join(CONVERSATIONS);
    let mut index = Page::begin(&out.join("index.html"), &format!("{}", manifest.uid))?;
    index.add(&format!(
        "<p>{} messages in {} conversations, as of <time>{}</time>, by {}.</p>\n<ul>\n",
        manifest.items,
        manifest.conversations,
        utc(manifest.at),
        escaped(&manifest.tool)
    ))?;
    for line in lines(&list)? {
        let line = line.map_err(|source| FileError { doing: "read", path: list.clone(), source })?;
        // The first line says whose list it is.
        let Ok(conversation) = serde_json::from_str::<Conversation>(&line) else { continue };
        page(out, manifest.uid, &conversation)?;
        let id = escaped(&conversation.conv_id);
        index.add(&format!(
            "<li><a href=\"{MESSAGES}/{id}.html\"><bdi>{}</bdi></a> <small>{id}, {} messages</small></li>\n",
            escaped(&title(&conversation)),
            conversation.items
        ))?;
    }
    index.add("</ul>\n")?;
    index.end()
}

fn title(conversation: &Conversation) -> String {
    let peer = || conversation.peer_uid.map(|peer| peer.to_string());
    conversation.name.clone().or_else(peer).unwrap_or_else(|| conversation.conv_id.clone())
}

fn page(out: &Path, uid: u64, conversation: &Conversation) -> Result<(), FileError> {
    let path = out.join(format!("{MESSAGES}/{}.html", conversation.conv_id));
    let mut page = Page::begin(&path, &title(conversation))?;
    page.add("<nav><a href=\"../index.html\">&#8592;</a></nav>\n")?;
    let messages = out.join(&conversation.file.file);
    for line in lines(&messages)? {
        let line = line.map_err(|source| FileError { doing: "read", path: messages.clone(), source })?;
        let item: Value = serde_json::from_str(&line).unwrap_or_default();
        page.add(&message(uid, &item))?;
    }
    page.end()
}

fn lines(path: &Path) -> Result<impl Iterator<Item = io::Result<String>>, FileError> {
    let file =
        File::open(path).map_err(|source| FileError { doing: "read", path: path.to_owned(), source })?;
    Ok(BufReader::new(file).lines())
}

/// A file under way.
struct Page(Part);

impl Page {
    fn begin(path: &Path, title: &str) -> Result<Self, FileError> {
        super::write::remove(path)?;
        let part = Part::open(path, 0, |_| ())?;
        let gone = || FileError {
            doing: "begin",
            path: path.to_owned(),
            source: io::ErrorKind::AlreadyExists.into(),
        };
        let mut page = Self(part.ok_or_else(gone)?);
        let title = escaped(title);
        page.add(&format!(
            "<!doctype html>\n<html>\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
             <meta name=\"viewport\" content=\"width=device-width\">\n\
             <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<h1 dir=\"auto\">{title}</h1>\n"
        ))?;
        Ok(page)
    }

    fn add(&mut self, text: &str) -> Result<(), FileError> {
        self.0.line(text.as_bytes())
    }

    fn end(mut self) -> Result<(), FileError> {
        self.add("</body>\n</html>\n")?;
        self.0.finish()
    }
}

/// One item of a history.
fn message(uid: u64, item: &Value) -> String {
    let seq = item["seq"].as_u64().unwrap_or(0);
    let note = |text| format!("<article id=\"m{seq}\"><p class=\"note\">{text}</p></article>\n");
    let state = item["state"].as_str().unwrap_or_default();
    match state {
        "deleted" => return note("deleted by you"),
        "expired" => return note("no longer kept"),
        _ => {}
    }
    let sender = item["sender_id"].as_u64().unwrap_or(0);
    let own = if sender == uid { " class=\"own\"" } else { "" };
    let name = if sender == 0 { "&#8226;".to_owned() } else { sender.to_string() };
    let at = utc(item["create_at"].as_i64().unwrap_or(0));
    let said = if state == "recalled" {
        "<p class=\"note\">recalled</p>".to_owned()
    } else {
        quote(&item["reply_to"]) + &content(&item["content"])
    };
    format!(
        "<article id=\"m{seq}\"{own}><header><b>{name}</b> <time datetime=\"{at}\">{at}</time> <a href=\"#m{seq}\">{seq}</a></header>{said}</article>\n"
    )
}

fn quote(quoted: &Value) -> String {
    let Some(seq) = quoted["seq"].as_u64() else { return String::new() };
    let excerpt = escaped(quoted["excerpt"].as_str().unwrap_or_default());
    format!("<blockquote dir=\"auto\"><a href=\"#m{seq}\">{seq}</a> {excerpt}</blockquote>")
}

/// A text as it is; of anything else what it says, field by field. An address may be followed, but nothing is fetched.
fn content(content: &Value) -> String {
    match content {
        Value::String(text) => format!("<p dir=\"auto\">{}</p>", escaped(text)),
        Value::Object(fields) => {
            let field = |(name, value): (&String, &Value)| {
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                let shown = escaped(&text);
                let shown = if text.starts_with("https://") || text.starts_with("http://") {
                    format!("<a href=\"{shown}\" rel=\"noreferrer noopener\">{shown}</a>")
                } else {
                    shown
                };
                format!("<dt>{}</dt><dd dir=\"auto\">{shown}</dd>", escaped(name))
            };
            format!("<dl>{}</dl>", fields.iter().map(field).collect::<String>())
        }
        other => format!("<p dir=\"auto\">{}</p>", escaped(&other.to_string())),
    }
}

/// Good in text and in attributes. What HTML has no way to say becomes the character for that.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\n' | '\t' => escaped.push(c),
            c if c.is_control() => escaped.push(char::REPLACEMENT_CHARACTER),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn normal(content: Value) -> Value {
        json!({"state": "normal", "seq": 7, "sender_id": 2, "create_at": 0, "content": content, "reply_to": null})
    }

    #[test]
    fn nothing_that_people_write_is_markup() {
        let evil = "<script>alert('\"1&2\"')</script>";
        let safe = "&lt;script&gt;alert(&#39;&quot;1&amp;2&quot;&#39;)&lt;/script&gt;";
        let all = [
            normal(json!(evil)),
            normal(json!({"name": evil})),
            normal(json!({evil: [1]})),
            normal(json!({"url": format!("https://example.org/{evil}")})),
            json!({"state": "normal", "seq": 1, "content": "", "reply_to": {"seq": 1, "excerpt": evil}}),
        ];
        for item in all {
            let shown = message(1, &item);
            assert!(shown.contains(safe) && !shown.contains("<script"), "{shown}");
        }
        let shown =
            message(1, &normal(json!({"url": "javascript:alert(1)", "thumbnail_url": "data:text/html,x"})));
        assert!(!shown.contains("<a href=\"j") && !shown.contains("<a href=\"d"), "{shown}");
        assert_eq!(escaped("a\u{0}b\u{1b}c\r"), "a\u{fffd}b\u{fffd}c\u{fffd}");
    }

    #[test]
    fn what_is_gone_is_said_and_not_shown() {
        let gone =
            |state: &str| message(1, &json!({"state": state, "seq": 3, "sender_id": 1, "content": "x"}));
        assert!(gone("deleted").contains("deleted by you"));
        assert!(gone("expired").contains("no longer kept"));
        assert!(gone("recalled").contains("recalled") && !gone("recalled").contains(">x<"));
        assert!(gone("recalled").contains("class=\"own\""));
    }

    #[test]
    fn each_text_has_its_own_direction_and_keeps_its_lines() {
        let shown = message(1, &normal(json!("\u{5e9}\u{5dc}\u{5d5}\u{5dd}\n\u{4f60}\u{597d}")));
        assert!(
            shown.contains("<p dir=\"auto\">\u{5e9}\u{5dc}\u{5d5}\u{5dd}\n\u{4f60}\u{597d}</p>"),
            "{shown}"
        );
        assert!(STYLE.contains("white-space: pre-wrap"));
    }
}
