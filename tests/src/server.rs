//! A real server on a real database behind a real socket, and people who talk to it.

use std::sync::Arc;

use ed25519_dalek::SigningKey;
use event_store::surroundings::Clock;
use event_store::{CommandHandler, EventStore};
use quipu::audit::checkpointer;
use quipu::auth::{self, Tokens};
use quipu::keeping::policy::Policy;
use quipu::{Limits, Node, NodeSettings, router};
use reqwest::{Client, Method, RequestBuilder, header::HeaderMap};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::TestDatabase;
use crate::log::{HandClock, migrated, postgres_log, uid};
use crate::socket::Socket;

/// The secret of every test's server.
pub const SECRET: &str = "a secret of thirty-two bytes and more";

/// How long a test's tokens are good, in seconds.
const TOKEN_TTL_S: u64 = 3600;

/// Signs the checkpoints of every test.
pub fn audit_key() -> SigningKey {
    SigningKey::from_bytes(&[7; 32])
}

/// A running server with a database of its own.
pub struct Server {
    /// The server's time stands where it is put.
    pub clock: Arc<HandClock>,
    /// What it stores in.
    pub database: Arc<TestDatabase>,
    /// What its handlers hand their commands to.
    pub commands: CommandHandler,
    base: String,
    client: Client,
    stop: Option<oneshot::Sender<()>>,
    running: Option<JoinHandle<()>>,
}

/// What came back.
#[derive(Debug)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The body; null where it is not JSON.
    pub json: Value,
}

impl Answer {
    /// Of a problem: its status and code. Checks that it is one in every part.
    pub fn problem(&self) -> (u16, &str) {
        assert_eq!(self.headers["content-type"], "application/problem+json", "{self:?}");
        assert_eq!(self.json["status"], self.status, "{self:?}");
        for part in ["type", "title", "code", "detail"] {
            assert!(self.json[part].is_string(), "{part} of {self:?}");
        }
        (self.status, self.json["code"].as_str().unwrap_or_default())
    }
}

impl Server {
    /// Starts one on a fresh database.
    pub async fn start() -> Self {
        Self::start_on(migrated().await).await
    }

    /// Starts one with other limits on a fresh database.
    pub async fn start_with(limits: Limits) -> Self {
        Self::run(migrated().await, limits).await
    }

    /// Starts one on this database, which is migrated.
    pub async fn start_on(database: impl Into<Arc<TestDatabase>>) -> Self {
        Self::run(database, Limits::default()).await
    }

    /// Starts another node on the same database.
    pub async fn beside(&self, limits: Limits) -> Self {
        Self::run(Arc::clone(&self.database), limits).await
    }

    /// Starts one with other limits on this database, which is migrated.
    pub async fn run(database: impl Into<Arc<TestDatabase>>, limits: Limits) -> Self {
        let database = database.into();
        let clock = HandClock::new();
        let tokens = Tokens::new(clock.clone()).with_secret(SECRET).expect("a long secret");
        // Its time stands still; whoever wants checkpoints makes them.
        let checkpoints = checkpointer::Settings { key: audit_key(), every: None };
        let settings = NodeSettings {
            tokens,
            limits,
            instance: None,
            clock: clock.clone(),
            checkpoints,
            retention: Policy::default(),
        };
        let node = Node::start(&database.config, settings).await.expect("start a node");
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("listen");
        let base = format!("http://{}", listener.local_addr().expect("an address"));
        let (stop, stopped) = oneshot::channel::<()>();
        let app = node.app();
        let commands = app.commands.clone();
        let running = tokio::spawn(async move {
            let shutdown = async {
                let _ = stopped.await;
            };
            quipu::server::serve(listener, router(app), shutdown).await.expect("serve");
            node.stop().await;
        });
        let (stop, running) = (Some(stop), Some(running));
        Self { clock, database, commands, base, client: Client::new(), stop, running }
    }

    /// Stops it and waits until it has. Its database may serve the next one.
    pub async fn stop(mut self) -> Arc<TestDatabase> {
        self.stop.take();
        if let Some(running) = self.running.take() {
            running.await.expect("a clean stop");
        }
        self.database
    }

    /// A request without a token.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("{}{path}", self.base))
    }

    /// A person with a good token.
    pub fn person(&self, number: u64) -> Person<'_> {
        self.with_roles(number, &[])
    }

    /// A person whose token names roles.
    pub fn with_roles(&self, number: u64, roles: &[&str]) -> Person<'_> {
        self.person_as(number, roles, Some("test"))
    }

    /// A person whose token names this device, or none.
    pub fn on_device(&self, number: u64, device: Option<&str>) -> Person<'_> {
        self.person_as(number, &[], device)
    }

    fn person_as(&self, number: u64, roles: &[&str], device: Option<&str>) -> Person<'_> {
        let roles: Vec<String> = roles.iter().map(|&role| role.to_owned()).collect();
        let token = auth::sign(SECRET, uid(number), &roles, device, self.clock.now(), TOKEN_TTL_S);
        Person { server: self, client: self.client.clone(), token: token.expect("sign") }
    }

    /// Where it listens, as host:port.
    pub fn address(&self) -> &str {
        self.base.trim_start_matches("http://")
    }

    /// How many events the log has.
    pub async fn events(&self) -> u64 {
        let log = postgres_log(&self.database.config).await;
        log.shard_heads().await.expect("ask the log").iter().map(|head| head.position.get()).sum()
    }
}

/// Sends it.
pub async fn send(request: RequestBuilder) -> Answer {
    let response = request.send().await.expect("an answer");
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let body = response.bytes().await.expect("a body");
    Answer { status, headers, json: serde_json::from_slice(&body).unwrap_or_default() }
}

/// Somebody who asks.
pub struct Person<'a> {
    server: &'a Server,
    client: Client,
    token: String,
}

impl Person<'_> {
    /// The token.
    pub fn token(&self) -> &str {
        &self.token
    }

    /// A WebSocket of theirs.
    pub async fn connect(&self) -> Socket {
        Socket::connect(self.server.address(), &self.token).await
    }

    /// Talks over a connection that nobody else uses.
    pub fn on_own_connection(self) -> Self {
        let client = Client::builder().pool_max_idle_per_host(1).build().expect("make a client");
        Self { client, ..self }
    }

    /// A request with the token.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("{}{path}", self.server.base)).bearer_auth(&self.token)
    }

    /// GET
    pub async fn get(&self, path: &str) -> Answer {
        send(self.request(Method::GET, path)).await
    }

    /// POST
    pub async fn post(&self, path: &str, body: Value) -> Answer {
        send(self.request(Method::POST, path).json(&body)).await
    }

    /// PUT
    pub async fn put(&self, path: &str, body: Value) -> Answer {
        send(self.request(Method::PUT, path).json(&body)).await
    }

    /// DELETE
    pub async fn delete(&self, path: &str) -> Answer {
        send(self.request(Method::DELETE, path)).await
    }
}
