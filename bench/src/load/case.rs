//! What is asked: who the people are, which conversations they have, and each connection's next request.

use std::{
    hash::{BuildHasher, Hasher, RandomState},
    io::Write,
};

use clap::ValueEnum;
use hyper::Method;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{Arguments, LoadError, Server, preload::Preload};
use crate::{
    chance::Dice,
    client::{Address, ClientError, rest::Rest, token},
};

/// The first person; far from those of the samples.
const PERSON: u64 = 5_000_000;
/// The first of those who never connect.
const ABSENT: u64 = 6_000_000;
/// Members that come into a group with one request.
const MEMBERS_AT_ONCE: usize = 1000;

/// The pure cases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Case {
    /// Sends into single chats of people who are both connected
    Sends,
    /// Sends into many single chats, one after the other, with people who are away
    Cold,
    /// Sends into one group in which everybody is connected
    Hot,
    /// Sends into one large group, of which some are connected and few send
    Group,
    /// Pages of histories, anywhere in them
    History,
    /// Lists of conversations
    Lists,
    /// Seven sends in ten, two pages, one list
    Mixed,
}

/// One request.
pub enum Ask {
    /// A message.
    Send {
        /// Where.
        conv: String,
        /// The client's name for it.
        id: Uuid,
        /// What it says.
        content: String,
    },
    /// A page of a history before a seq.
    Page {
        /// Where.
        conv: String,
        /// The newest page where there is none.
        before: Option<u64>,
        /// Items on it.
        limit: u16,
    },
    /// The list of conversations.
    List {
        /// Conversations on a page of it.
        limit: u16,
        /// All of its pages?
        whole: bool,
    },
}

/// What all connections share.
pub struct Stage {
    case: Case,
    connections: u64,
    conversations: u64,
    /// Of them, how many are paged in.
    pages_of: u64,
    page: u16,
    list: u16,
    whole_list: bool,
    preload: Option<Preload>,
    bytes: usize,
    run: u64,
    group: String,
    tokens: Vec<String>,
}

impl Stage {
    pub async fn set_up(
        arguments: &Arguments,
        server: &Server<'_>,
        out: &mut (dyn Write + Send),
    ) -> Result<Self, LoadError> {
        let &Server { address, secret, .. } = server;
        let run = RandomState::new().build_hasher().finish();
        let connections = u64::from(arguments.connections);
        let sign = |number| token::sign(secret, PERSON + number, &format!("bench-{number}"));
        let tokens = (0..connections).map(sign).collect::<Result<Vec<_>, _>>().map_err(LoadError::SetUp)?;
        let group = format!("grp-bench-{run:016x}");
        let conversations = u64::from(arguments.conversations);
        let preload = Preload::of(arguments.preload, connections * conversations);
        let stage = Self {
            case: arguments.case,
            connections,
            conversations,
            pages_of: arguments.pages_of.map_or(conversations, |of| conversations.min(of.into())),
            page: arguments.limit.unwrap_or(PAGE),
            list: arguments.limit.unwrap_or(LIST),
            whole_list: arguments.whole_list,
            preload,
            bytes: arguments.bytes.into(),
            run,
            group,
            tokens,
        };
        if matches!(arguments.case, Case::Hot | Case::Group) {
            let members = match arguments.case {
                Case::Group => u64::from(arguments.members).max(connections),
                _ => connections,
            };
            stage.found(address, members).await?;
        }
        if let Some(preload) = &stage.preload {
            preload.put(&stage, server, out).await?;
        } else if matches!(arguments.case, Case::History | Case::Lists | Case::Mixed) {
            stage.fill(address).await?;
        }
        Ok(stage)
    }

    async fn found(&self, address: &Address, members: u64) -> Result<(), LoadError> {
        let mut owner = Rest::new(address, &self.tokens[0]);
        let body = json!({"group_id": self.group, "name": "bench", "members": []});
        ask(&mut owner, Method::POST, "/v1/groups", &body).await?;
        let uids: Vec<u64> = (1..members).map(|number| PERSON + number).collect();
        for uids in uids.chunks(MEMBERS_AT_ONCE) {
            let path = format!("/v1/groups/{}/members", self.group);
            ask(&mut owner, Method::POST, &path, &json!({"uids": uids})).await?;
        }
        Ok(())
    }

    /// Each conversation of each connection gets two full buckets of messages and some more.
    async fn fill(&self, address: &Address) -> Result<(), LoadError> {
        for number in 0..self.connections {
            let mut person = Rest::new(address, &self.tokens[number as usize]);
            for nth in 0..self.conversations {
                let conv = self.absent(number * self.conversations + nth);
                let path = format!("/v1/conversations/{conv}/messages");
                let here: Value =
                    ask(&mut person, Method::GET, &format!("{path}?limit=1"), &Value::Null).await?;
                for seq in here["max_seq"].as_u64().unwrap_or(0)..FILLED {
                    let id = Uuid::from_u64_pair(self.run ^ number << 32 ^ nth, seq);
                    let body = json!({"client_msg_id": id, "msg_type": 1, "content": "x".repeat(self.bytes)});
                    ask(&mut person, Method::POST, &path, &body).await?;
                }
            }
        }
        Ok(())
    }

    /// A connection's token.
    pub fn token(&self, number: usize) -> &str {
        &self.tokens[number % self.tokens.len()]
    }

    /// The last connection's token.
    pub fn last_token(&self) -> &str {
        self.token(self.tokens.len() - 1)
    }

    fn conversation(&self, number: u64, nth: u64) -> String {
        match self.case {
            // Their chats lie in a ring: each has two people who are connected.
            Case::Sends if self.connections > 1 => {
                let (me, other) = (number, (number + 1 + nth % (self.connections - 1)) % self.connections);
                format!("p2p-{}-{}", PERSON + me.min(other), PERSON + me.max(other))
            }
            _ => self.absent(number * self.conversations + nth),
        }
    }

    /// Of all conversations of people who connect with people who never do, one after the other.
    pub fn absent(&self, place: u64) -> String {
        let [me, other] = self.people(place);
        format!("p2p-{me}-{other}")
    }

    /// Its two people: the one who connects first.
    pub fn people(&self, place: u64) -> [u64; 2] {
        [PERSON + place / self.conversations, ABSENT + place]
    }

    /// Bytes of a text.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The requests of one connection in one of the runs.
    pub fn script(&self, number: usize, run: u64) -> Script<'_> {
        let dice = Dice::new(self.run, &format!("connection {number} of run {run}"));
        // No two runs send under one name.
        Script { stage: self, number: number as u64, sent: run << 40, dice }
    }
}

/// Messages in a conversation that is read, where none were put there before.
const FILLED: u64 = 230;
/// Items of a page, and of a list, if nobody says otherwise.
const PAGE: u16 = 20;
const LIST: u16 = 50;

async fn ask(person: &mut Rest, method: Method, path: &str, body: &Value) -> Result<Value, LoadError> {
    let body = (!body.is_null()).then_some(body);
    match person.ask::<Value>(method, path, body).await {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(problem)) => Err(LoadError::Refused(format!("{problem:?}"))),
        Err(error) => Err(LoadError::SetUp(error)),
    }
}

/// One connection's requests, one after the other.
pub struct Script<'a> {
    stage: &'a Stage,
    number: u64,
    sent: u64,
    dice: Dice,
}

impl Script<'_> {
    /// The next one.
    pub fn next(&mut self) -> Ask {
        match self.stage.case {
            Case::Sends | Case::Cold | Case::Hot | Case::Group => self.send(),
            Case::History => self.page(),
            Case::Lists => self.list(),
            Case::Mixed => match self.dice.below(10) {
                0 => self.list(),
                1 | 2 => self.page(),
                _ => self.send(),
            },
        }
    }

    fn send(&mut self) -> Ask {
        let nth = self.sent % self.stage.conversations;
        let conv = match self.stage.case {
            Case::Hot | Case::Group => self.stage.group.clone(),
            _ => self.stage.conversation(self.number, nth),
        };
        let id = Uuid::from_u64_pair(self.stage.run ^ self.number, self.sent);
        self.sent += 1;
        Ask::Send { conv, id, content: self.text() }
    }

    fn page(&mut self) -> Ask {
        let stage = self.stage;
        let nth = self.dice.below(stage.pages_of as usize) as u64;
        let place = self.number * stage.conversations + nth;
        let length = stage.preload.as_ref().map_or(FILLED, |preload| preload.length(place));
        let before = self.dice.below(length as usize) as u64;
        let before = (before > stage.page.into()).then_some(before);
        Ask::Page { conv: stage.absent(place), before, limit: stage.page }
    }

    fn list(&self) -> Ask {
        Ask::List { limit: self.stage.list, whole: self.stage.whole_list }
    }

    /// Letters and spaces, no two texts alike.
    fn text(&mut self) -> String {
        let letter = |dice: &mut Dice| char::from(b"etaoin shrdlu cmfwyp"[dice.below(20)]);
        let mut text: String = (0..self.stage.bytes.min(16)).map(|_| letter(&mut self.dice)).collect();
        while text.len() < self.stage.bytes {
            text.push_str(
                &"the quick brown fox jumps over the lazy dog, "[..45.min(self.stage.bytes - text.len())],
            );
        }
        text
    }

    /// Is this the name of a message that this connection has sent, and which one?
    pub fn own(&self, id: Uuid) -> Option<u64> {
        let (run, sent) = id.as_u64_pair();
        (run == self.stage.run ^ self.number).then_some(sent)
    }
}

impl From<LoadError> for ClientError {
    fn from(error: LoadError) -> Self {
        Self::Lost { doing: "set up the case", source: error.into() }
    }
}
