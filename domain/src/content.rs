//! What a message says: its type, its checked content, its flags.
//!
//! Content is kept as compact JSON text, exactly as it will be stored, hashed and sent, so that it is parsed
//! once, at the door. Long because the table of what each type takes and its tests stand together.

use serde::Deserialize;
use serde_json::Value;

/// The largest content by default: 64 KiB, of a text's UTF-8 or of an object's JSON.
pub const CONTENT_BYTES_MAX: usize = 64 * 1024;

/// What kind of content a message has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MsgType {
    /// 1: a string.
    Text,
    /// 2
    Image,
    /// 3
    Voice,
    /// 4
    Video,
    /// 5
    File,
    /// 6: `latitude`, `longitude`, and a `name` and an `address` where there are any.
    Location,
    /// 7: an object of the app's making.
    Card,
    /// 10: the server's own.
    System,
    /// 100..=127: the app's own, a string or an object.
    App(u8),
}

impl MsgType {
    /// The number on the wire and in the log.
    pub const fn get(self) -> u8 {
        match self {
            Self::Text => 1,
            Self::Image => 2,
            Self::Voice => 3,
            Self::Video => 4,
            Self::File => 5,
            Self::Location => 6,
            Self::Card => 7,
            Self::System => 10,
            Self::App(n) => n,
        }
    }

    /// The inverse of [`MsgType::get`].
    pub const fn new(n: u64) -> Option<Self> {
        Some(match n {
            1 => Self::Text,
            2 => Self::Image,
            3 => Self::Voice,
            4 => Self::Video,
            5 => Self::File,
            6 => Self::Location,
            7 => Self::Card,
            10 => Self::System,
            100..=127 => Self::App(n as u8),
            _ => return None,
        })
    }
}

/// Bits that go with a message. Bit 0 recalled (only ever computed), bit 1 at_all; the others are reserved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Flags(u16);

impl Flags {
    /// Bit 0.
    pub const RECALLED: Self = Self(1);
    /// Bit 1.
    pub const AT_ALL: Self = Self(2);
    /// No flag.
    pub const NONE: Self = Self(0);

    /// Keeps the bits that have a meaning.
    pub const fn new(bits: u16) -> Self {
        Self(bits & (Self::RECALLED.0 | Self::AT_ALL.0))
    }

    /// The number on the wire.
    pub const fn get(self) -> u16 {
        self.0
    }

    /// Both sets of bits.
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Are all of these set?
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// Why a content is not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ContentError {
    /// Not one that a client may send.
    #[error("msg_type is one of 1 to 7 or 100 to 127")]
    MsgType,
    /// No text at all.
    #[error("content is empty")]
    Empty,
    /// Past the limit.
    #[error("content has {bytes} bytes; the limit is {limit}")]
    TooLarge {
        /// What it has.
        bytes: usize,
        /// What it may have.
        limit: usize,
    },
    /// U+0000 somewhere in it.
    #[error("content has a NUL character")]
    Nul,
    /// A string where an object is due, an unknown field, a number out of range …
    #[error("content does not fit msg_type {msg_type}: {why}")]
    Shape {
        /// The type it was sent as.
        msg_type: u8,
        /// What does not fit.
        why: String,
    },
    /// `data:` and other urls that carry the bytes, or none that can be fetched.
    #[error("url is an http(s) address or a path of this server; the bytes live in object storage")]
    Url,
    /// `{"missing":true}` is for imports.
    #[error("content marked as missing cannot be sent")]
    Missing,
}

/// A checked content with its type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content {
    msg_type: MsgType,
    json: String,
}

/// The fields of images, voices, videos and files; which of them a type may have is in [`Media::check`].
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Media {
    url: String,
    size: u64,
    width: Option<u32>,
    height: Option<u32>,
    duration_ms: Option<u64>,
    thumbnail_url: Option<String>,
    name: Option<String>,
    mime: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Location {
    latitude: f64,
    longitude: f64,
    #[serde(rename = "name")]
    _name: Option<String>,
    #[serde(rename = "address")]
    _address: Option<String>,
}

impl Content {
    /// Checks what a client sent as `msg_type` and `content`.
    pub fn parse(msg_type: u64, content: &Value, limit: usize) -> Result<Self, ContentError> {
        let msg_type =
            MsgType::new(msg_type).filter(|t| *t != MsgType::System).ok_or(ContentError::MsgType)?;
        if content.get("missing").is_some() {
            return Err(ContentError::Missing);
        }
        let shape = |why: &str| ContentError::Shape { msg_type: msg_type.get(), why: why.into() };
        match (msg_type, content) {
            (MsgType::Text | MsgType::App(_), Value::String(text)) => {
                return Self::text_of(msg_type, text, limit);
            }
            (MsgType::Text, _) => return Err(shape("a string is due")),
            (MsgType::App(_), Value::Object(_)) => {}
            (MsgType::App(_), _) => return Err(shape("a string or an object is due")),
            (_, Value::Object(fields)) if fields.is_empty() => return Err(ContentError::Empty),
            (_, Value::Object(_)) => {}
            (_, _) => return Err(shape("an object is due")),
        }
        if has_nul(content) {
            return Err(ContentError::Nul);
        }
        match msg_type {
            MsgType::Image | MsgType::Voice | MsgType::Video | MsgType::File => {
                Media::deserialize(content).map_err(|e| shape(&e.to_string()))?.check(msg_type)?;
            }
            MsgType::Location => {
                let place = Location::deserialize(content).map_err(|e| shape(&e.to_string()))?;
                if !(-90.0..=90.0).contains(&place.latitude) || !(-180.0..=180.0).contains(&place.longitude) {
                    return Err(shape("latitude is within ±90, longitude within ±180"));
                }
            }
            MsgType::Text | MsgType::Card | MsgType::System | MsgType::App(_) => {}
        }
        Self::bounded(msg_type, content.to_string(), limit)
    }

    /// A text message. The limit counts the text's own UTF-8, not its JSON.
    pub fn text(text: &str, limit: usize) -> Result<Self, ContentError> {
        Self::text_of(MsgType::Text, text, limit)
    }

    fn text_of(msg_type: MsgType, text: &str, limit: usize) -> Result<Self, ContentError> {
        if text.is_empty() {
            return Err(ContentError::Empty);
        }
        if text.len() > limit {
            return Err(ContentError::TooLarge { bytes: text.len(), limit });
        }
        if text.contains('\0') {
            return Err(ContentError::Nul);
        }
        Ok(Self { msg_type, json: Value::from(text).to_string() })
    }

    /// An imported message whose file the export does not have. Clients may not send this.
    pub fn missing(msg_type: MsgType, label: &str, limit: usize) -> Result<Self, ContentError> {
        if label.contains('\0') {
            return Err(ContentError::Nul);
        }
        Self::bounded(msg_type, serde_json::json!({"missing": true, "label": label}).to_string(), limit)
    }

    /// From the log: checked when it was written.
    pub fn from_log(msg_type: MsgType, json: String) -> Self {
        Self { msg_type, json }
    }

    /// The server's own; small, since we made it.
    pub(crate) fn system(content: &Value) -> Self {
        Self { msg_type: MsgType::System, json: content.to_string() }
    }

    fn bounded(msg_type: MsgType, json: String, limit: usize) -> Result<Self, ContentError> {
        if json.len() > limit {
            return Err(ContentError::TooLarge { bytes: json.len(), limit });
        }
        Ok(Self { msg_type, json })
    }

    /// Its type.
    pub fn msg_type(&self) -> MsgType {
        self.msg_type
    }

    /// Compact JSON, a string or an object.
    pub fn json(&self) -> &str {
        &self.json
    }

    /// Compact JSON, handed over.
    pub fn into_json(self) -> String {
        self.json
    }

    /// The same JSON type with nothing in it: what a recalled message shows.
    pub fn emptied(&self) -> &'static str {
        if self.json.starts_with('"') { "\"\"" } else { "{}" }
    }

    /// The beginning of a text, for a quote; nothing for other types.
    pub fn excerpt(&self) -> String {
        /// Characters of a quoted text: a line on a telephone.
        const EXCERPT_CHARS: usize = 100;
        match (self.msg_type, serde_json::from_str(&self.json)) {
            (MsgType::Text, Ok(Value::String(text))) => text.chars().take(EXCERPT_CHARS).collect(),
            _ => String::new(),
        }
    }
}

impl Media {
    /// `url` and `size` always; then what the type needs. Images and videos have extent, voices and videos length.
    fn check(&self, msg_type: MsgType) -> Result<(), ContentError> {
        let shape = |why: &str| ContentError::Shape { msg_type: msg_type.get(), why: why.into() };
        if ![Some(&self.url), self.thumbnail_url.as_ref()].into_iter().flatten().all(|url| is_address(url)) {
            return Err(ContentError::Url);
        }
        if self.size > crate::ids::Uid::MAX {
            return Err(shape("size is at most 2^53-1"));
        }
        let extent = self.width.is_some() || self.height.is_some();
        match msg_type {
            MsgType::Voice if extent => Err(shape("a voice has no width or height")),
            MsgType::File if extent || self.duration_ms.is_some() => {
                Err(shape("a file has no extent or duration"))
            }
            MsgType::Image if self.duration_ms.is_some() => Err(shape("an image has no duration")),
            MsgType::File if self.name.as_deref().is_none_or(str::is_empty) => {
                Err(shape("a file needs a name"))
            }
            MsgType::Voice | MsgType::Video if self.duration_ms.is_none() => {
                Err(shape("duration_ms is missing"))
            }
            MsgType::Image | MsgType::Video if self.width.is_none() || self.height.is_none() => {
                Err(shape("width and height are missing"))
            }
            _ => match self.mime.as_deref() {
                Some(mime) if !mime.contains('/') => Err(shape("mime is a media type such as image/png")),
                _ => Ok(()),
            },
        }
    }
}

fn is_address(url: &str) -> bool {
    let rest = url
        .strip_prefix("https://")
        .or_else(|| url.strip_prefix("http://"))
        .or_else(|| url.strip_prefix("/v1/media/"));
    rest.is_some_and(|rest| !rest.is_empty())
        && !url.contains(char::is_whitespace)
        && !url.contains(char::is_control)
}

/// Is there U+0000 anywhere in it? Postgres takes none in a text.
pub(crate) fn has_nul(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\0'),
        Value::Array(items) => items.iter().any(has_nul),
        Value::Object(fields) => fields.iter().any(|(name, value)| name.contains('\0') || has_nul(value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parse(msg_type: u64, content: Value) -> Result<Content, ContentError> {
        Content::parse(msg_type, &content, CONTENT_BYTES_MAX)
    }

    #[test]
    fn a_text_is_1_byte_to_64_kib_and_white_space_is_text() {
        assert_eq!(parse(1, json!("")), Err(ContentError::Empty));
        assert_eq!(parse(1, json!(" \n")).unwrap().json(), "\" \\n\"");
        assert!(parse(1, json!("字".repeat(65_536 / 3))).is_ok());
        assert!(parse(1, json!("\"".repeat(65_536))).is_ok(), "escapes do not count");
        assert_eq!(
            parse(1, json!("x".repeat(65_537))),
            Err(ContentError::TooLarge { bytes: 65_537, limit: 65_536 })
        );
        assert_eq!(parse(1, json!("a\0b")), Err(ContentError::Nul));
    }

    #[test]
    fn a_type_takes_its_own_shape_only() {
        for (msg_type, wrong) in [
            (1, json!({"a": 1})),
            (1, json!(1)),
            (1, Value::Null),
            (2, json!("x")),
            (2, json!({"url": "https://a/b", "size": 1})),
            (2, json!({"url": "https://a/b", "size": -1, "width": 1, "height": 1})),
            (2, json!({"url": "https://a/b", "size": 1, "width": 1, "height": 1, "colour": "red"})),
            (3, json!({"url": "https://a/b", "size": 1})),
            (5, json!({"url": "https://a/b", "size": 1})),
            (6, json!({"latitude": 91.0, "longitude": 0.0})),
            (100, json!([1])),
        ] {
            assert!(
                matches!(parse(msg_type, wrong.clone()), Err(ContentError::Shape { .. })),
                "{msg_type} {wrong}"
            );
        }
        for msg_type in [0, 8, 9, 10, 11, 99, 128, u64::MAX] {
            assert_eq!(parse(msg_type, json!("x")), Err(ContentError::MsgType), "{msg_type}");
        }
    }

    #[test]
    fn media_lives_elsewhere() {
        let image = |url: &str| parse(2, json!({"url": url, "size": 1, "width": 2, "height": 2}));
        assert!(image("https://cdn.example/a.png").is_ok() && image("/v1/media/abc").is_ok());
        for url in [
            "data:image/png;base64,AAAA",
            "javascript:alert(1)",
            "",
            "https://",
            "file:///etc/passwd",
            "https://a b",
        ] {
            assert_eq!(image(url), Err(ContentError::Url), "{url}");
        }
    }

    #[test]
    fn what_is_missing_cannot_be_sent() {
        for msg_type in [2, 6, 7, 101] {
            assert_eq!(parse(msg_type, json!({"missing": true, "label": "x"})), Err(ContentError::Missing));
        }
        let label = Content::missing(MsgType::Image, "a.png", CONTENT_BYTES_MAX).unwrap();
        assert_eq!(label.json(), r#"{"label":"a.png","missing":true}"#);
    }

    #[test]
    fn an_object_hides_no_nul() {
        assert_eq!(parse(7, json!({"a": [{"b": "\0"}]})), Err(ContentError::Nul));
        assert_eq!(parse(101, json!({"\0": 1})), Err(ContentError::Nul));
    }

    #[test]
    fn emptied_keeps_the_json_type() {
        assert_eq!(parse(1, json!("x")).unwrap().emptied(), "\"\"");
        assert_eq!(parse(7, json!({"x": 1})).unwrap().emptied(), "{}");
    }
}
