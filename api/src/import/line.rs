//! What a line says: its fields, checked once. Knows nothing of the lines around it.

use std::borrow::Cow;

use domain::{Content, MsgType, Uid, ids::Ms};
use serde::Deserialize;

use super::refusal::Reason;

/// The longest name of a conversation in an export, in bytes: it stands in event headers and decision state.
const CONV_BYTES_MAX: usize = 256;
/// 9999-12-31T23:59:59.999Z: what calendars can still name.
const TS_MAX: Ms = 253_402_300_799_999;

/// Single or group, as the export says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    Single,
    Group,
}

/// One JSON object a line. Unknown fields are passed over.
#[derive(Deserialize)]
struct Raw<'a> {
    #[serde(borrow)]
    conv: Cow<'a, str>,
    kind: Kind,
    sender: u64,
    ts: Ms,
    #[serde(borrow, rename = "type")]
    line_type: Cow<'a, str>,
    #[serde(borrow, default)]
    text: Cow<'a, str>,
}

/// A line that says where it belongs, and when. What it says is checked by [`Line::what`].
#[derive(Debug)]
pub(super) struct Line<'a> {
    pub conv: Cow<'a, str>,
    pub kind: Kind,
    pub sender: Uid,
    pub ts: Ms,
    pub line_type: Cow<'a, str>,
    pub text: Cow<'a, str>,
}

/// What a line comes to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum What {
    Message(Content),
    Join,
    Leave,
}

impl<'a> Line<'a> {
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Reason> {
        let raw: Raw<'_> = serde_json::from_slice(bytes).map_err(Reason::Json)?;
        let Raw { conv, kind, sender, ts, line_type, text } = raw;
        if !(1..=CONV_BYTES_MAX).contains(&conv.len()) || conv.contains(char::is_control) {
            return Err(Reason::Conv);
        }
        let sender = Uid::new(sender).map_err(|_| Reason::Sender)?;
        if !(0..=TS_MAX).contains(&ts) {
            return Err(Reason::Ts);
        }
        Ok(Self { conv, kind, sender, ts, line_type, text })
    }

    /// `limit`: of a content, in bytes.
    pub fn what(&self, limit: usize) -> Result<What, Reason> {
        let msg_type = match &*self.line_type {
            "join" => return Ok(What::Join),
            "leave" => return Ok(What::Leave),
            "text" => return Ok(What::Message(Content::text(&self.text, limit)?)),
            "image" => MsgType::Image,
            "voice" => MsgType::Voice,
            "video" => MsgType::Video,
            "file" => MsgType::File,
            "location" => MsgType::Location,
            "card" => MsgType::Card,
            other => return Err(Reason::Type(other.to_owned())),
        };
        Ok(What::Message(Content::missing(msg_type, &self.text, limit)?))
    }
}

#[cfg(test)]
mod tests {
    use domain::content::CONTENT_BYTES_MAX;

    use super::*;

    fn what(line_type: &str, text: &str) -> Result<(u8, String), String> {
        let json = serde_json::json!(
            {"conv": "c", "kind": "group", "sender": 1, "ts": 5, "type": line_type, "text": text, "more": [1]}
        );
        let json = json.to_string();
        let what = Line::parse(json.as_bytes()).unwrap().what(CONTENT_BYTES_MAX);
        match what.map_err(|reason| reason.to_string())? {
            What::Message(content) => Ok((content.msg_type().get(), content.json().to_owned())),
            What::Join => Ok((0, "join".into())),
            What::Leave => Ok((0, "leave".into())),
        }
    }

    #[test]
    fn a_type_becomes_a_msg_type() {
        assert_eq!(what("text", " \n"), Ok((1, r#"" \n""#.into())));
        let types = ["image", "voice", "video", "file", "location", "card"];
        for (line_type, msg_type) in types.into_iter().zip(2..) {
            assert_eq!(what(line_type, "a"), Ok((msg_type, r#"{"label":"a","missing":true}"#.into())));
        }
        assert_eq!(what("voice", ""), Ok((3, r#"{"label":"","missing":true}"#.into())));
        assert_eq!((what("join", ""), what("leave", "")), (Ok((0, "join".into())), Ok((0, "leave".into()))));
    }

    #[test]
    fn a_line_that_cannot_be_taken_says_why() {
        assert_eq!(what("text", ""), Err("content is empty".into()));
        assert_eq!(what("text", "a\0b"), Err("content has a NUL character".into()));
        assert_eq!(what("sticker", "x"), Err(r#"there is no type "sticker""#.into()));
        for (line, why) in [
            ("{", "not a line of an export: EOF while parsing"),
            ("[]", "not a line of an export: invalid"),
            (r#"{"kind":"group","sender":1,"ts":1,"type":"text"}"#, "missing field `conv`"),
            (r#"{"conv":"a","kind":"trio","sender":1,"ts":1,"type":"text"}"#, "unknown variant `trio`"),
            (
                r#"{"conv":"a","kind":"group","sender":-1,"ts":1,"type":"text"}"#,
                "invalid value: integer `-1`",
            ),
            (r#"{"conv":"a","kind":"group","sender":1,"ts":1.5,"type":"text"}"#, "floating point `1.5`"),
            (r#"{"conv":"a","kind":"group","sender":0,"ts":1,"type":"text"}"#, "a uid is an integer from 1"),
            (r#"{"conv":"a","kind":"group","sender":9007199254740992,"ts":1,"type":"text"}"#, "a uid is"),
            (r#"{"conv":"a","kind":"group","sender":1,"ts":-1,"type":"text"}"#, "ts is unix milliseconds"),
            (r#"{"conv":"","kind":"group","sender":1,"ts":1,"type":"text"}"#, "conv is a name"),
            (r#"{"conv":"a\u0000","kind":"group","sender":1,"ts":1,"type":"text"}"#, "conv is a name"),
            (r#"{"conv":"a","kind":"group","sender":1,"ts":1,"type":"text","text":"\ud800"}"#, "not a line"),
        ] {
            let reason = Line::parse(line.as_bytes()).unwrap_err().to_string();
            assert!(reason.contains(why) && !reason.contains(" line 1"), "{line}: {reason}");
        }
    }
}
