//! Does the database keep what it has acknowledged? quipu answers "stored" when Postgres says "committed", and what that
//! means is a setting of a database that somebody else may have set up.

use tokio_postgres::{Client, Error, NoTls};

/// With one of these off, a crash of the machine loses messages that were acknowledged.
const NEEDED: [&str; 2] = ["fsync", "synchronous_commit"];

/// Which of the settings that durability rests on are off in this connection.
pub async fn switched_off(client: &Client) -> Result<Vec<String>, Error> {
    let sql = "select name from unnest($1::text[]) name where current_setting(name) = 'off'";
    let rows = client.query(sql, &[&NEEDED.as_slice()]).await?;
    rows.iter().map(|row| row.try_get(0)).collect()
}

/// Says in the log what is off. It is no reason not to serve: who throws a database away may want it so.
pub async fn warn_of_what_is_off(database: &tokio_postgres::Config) -> Result<(), Error> {
    let (client, connection) = database.connect(NoTls).await?;
    tokio::spawn(connection);
    for setting in switched_off(&client).await? {
        tracing::warn!(
            setting,
            "off in this database: a crash of the machine loses messages that were acknowledged"
        );
    }
    Ok(())
}
