//! One database for one test.

use tokio_postgres::{Client, Config, NoTls};

use crate::on_a_thread::block_on;

/// A fresh database that only its maker knows; dropped with this, whoever is still connected.
#[derive(Debug)]
pub struct TestDatabase {
    /// How to connect to it.
    pub config: Config,
    /// The same as a URL.
    pub url: String,
    name: String,
    admin: Config,
}

impl TestDatabase {
    pub(crate) fn make(admin: &Config, name: String, template: &str) -> TestDatabase {
        let statement = format!("create database {} template {}", quoted(&name), quoted(template));
        block_on(async {
            let client = connect(admin).await.expect("connect to the test cluster");
            client.batch_execute(&statement).await.unwrap_or_else(|error| panic!("{statement}: {error:?}"));
        });
        let mut config = admin.clone();
        config.dbname(&name);
        TestDatabase { url: quipu::postgres_server::url_of(&config), config, name, admin: admin.clone() }
    }

    /// Its name, for SQL that wants one.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A connection of its own, served by the runtime that calls this.
    pub async fn connect(&self) -> Client {
        connect(&self.config).await.expect("connect to a test database")
    }
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        let statement = format!("drop database if exists {} with (force)", quoted(&self.name));
        // Where a test killed its server there is nothing left to drop.
        let _ = block_on(async { connect(&self.admin).await?.batch_execute(&statement).await });
    }
}

pub(crate) async fn connect(config: &Config) -> Result<Client, tokio_postgres::Error> {
    let (client, connection) = config.connect(NoTls).await?;
    tokio::spawn(async move {
        // Its errors reach the client too.
        let _ = connection.await;
    });
    Ok(client)
}

pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
