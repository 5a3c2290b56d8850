//! How Postgres runs every statement of the read models, found by their files: by index, planned once, even when that was
//! on an empty database. A new statement is asked without a word of code here.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use projections::PLANS;
use serde_json::Value;
use tests::log::migrated;
use tokio_postgres::{Client, NoTls, SimpleQueryMessage};

/// Tables of a few rows, however much people talk: a row a shard, or one for each group of read models.
const SMALL: [&str; 4] = ["checkpoint", "generation", "parked", "projection"];

/// Files that no reader or projector waits for: they walk a whole table, on purpose, page by page or once.
const WALKS: [&str; 5] = [
    // Of a rebuild that compares, through a function.
    "rebuild/page.sql",
    "rebuild/tables.sql",
    // Of a removal: the catalogue, and one row a shard.
    "tables_of_bodies.sql",
    "heads.sql",
    "behind.sql",
];

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "sql") {
            found.push(path);
        }
    }
}

/// What of a plan reads more than it needs. The end of an index, under a limit, is one row.
fn faults(plan: &Value, under: &str, leading: &HashMap<String, String>, found: &mut Vec<String>) {
    let text = |name: &str| plan[name].as_str().unwrap_or_default();
    let (node, table) = (text("Node Type"), text("Relation Name"));
    if !SMALL.contains(&table) {
        match node {
            "Seq Scan" | "Materialize" | "Hash Join" | "Merge Join" => found.push(format!("{node} {table}")),
            "Index Scan" | "Index Only Scan" if text("Index Cond").is_empty() && under != "Limit" => {
                found.push(format!("{node} of all of {table}"));
            }
            _ => {}
        }
        // Without the key's first column the whole index is walked, however few rows come of it.
        let (index, condition) = (text("Index Name"), text("Index Cond"));
        if let Some(column) = leading.get(index)
            && !condition.is_empty()
            && !SMALL.iter().any(|table| index.starts_with(table))
            && !condition.contains(&format!("({column} "))
        {
            found.push(format!("{index} without {column}: {condition}"));
        }
    }
    for part in plan["Plans"].as_array().into_iter().flatten() {
        faults(part, node, leading, found);
    }
}

/// The first column of every index of the read models.
async fn leading_columns(client: &Client) -> HashMap<String, String> {
    let sql = "select c.relname::text, a.attname::text
                 from pg_index i
                 join pg_class c on c.oid = i.indexrelid
                 join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[0]
                where pg_table_is_visible(c.oid)";
    let rows = client.query(sql, &[]).await.unwrap();
    rows.iter().map(|row| (row.get(0), row.get(1))).collect()
}

async fn explain(client: &Client, number: usize, sql: &str) -> Result<Value, tokio_postgres::Error> {
    let arguments = client.prepare(sql).await?.params().len();
    client.batch_execute(&format!("prepare plan_{number} as {sql}")).await?;
    let nulls = vec!["null"; arguments].join(", ");
    let call = if arguments == 0 { format!("plan_{number}") } else { format!("plan_{number}({nulls})") };
    let rows = client.simple_query(&format!("explain (format json) execute {call}")).await?;
    let text = rows.iter().find_map(|row| match row {
        SimpleQueryMessage::Row(row) => row.get(0),
        _ => None,
    });
    let plans: Value = serde_json::from_str(text.unwrap_or_default()).expect("a plan is JSON");
    Ok(plans[0]["Plan"].clone())
}

#[tokio::test]
async fn every_statement_of_the_read_models_probes_an_index_even_if_it_was_planned_on_an_empty_database() {
    let database = migrated().await;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../projections/src");
    let mut found = vec![];
    files(&folder, &mut found);
    found.sort();
    assert!(found.len() > 60, "{found:?}");
    let mut all = vec![];
    for generation in ["conversation_g1", "notification_g1"] {
        let mut config = database.config.clone();
        config.options(format!("-c search_path={generation},public {PLANS}"));
        let (client, connection) = config.connect(NoTls).await.unwrap();
        tokio::spawn(connection);
        let leading = leading_columns(&client).await;
        let of_notifications = generation.starts_with("notification");
        for (number, path) in found.iter().enumerate() {
            let name = path.strip_prefix(&folder).unwrap().to_str().unwrap();
            let is_copy = fs::read_to_string(path).unwrap().contains("\ncopy ");
            if name.starts_with("notification/") != of_notifications || WALKS.contains(&name) || is_copy {
                continue;
            }
            let sql = fs::read_to_string(path).unwrap();
            let plan =
                explain(&client, number, &sql).await.unwrap_or_else(|error| panic!("{name}: {error:?}"));
            let mut too_much = vec![];
            faults(&plan, "", &leading, &mut too_much);
            all.extend(too_much.into_iter().map(|fault| format!("{name}: {fault}")));
        }
    }
    assert!(all.is_empty(), "{all:#?}");
}
