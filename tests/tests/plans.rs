//! How Postgres runs the log's statements: by index, planned once, even when that was on an empty database. A plan that
//! scans a small table is kept for the life of a connection and scans what has become of it since.

use event_store::postgres::pool;
use tests::log::migrated;
use tokio_postgres::SimpleQueryMessage;

/// A statement, and what its plan must say: the conditions that are looked up in an index.
const STATEMENTS: [(&str, &str, &[&str]); 13] = [
    (
        include_str!("../../event_store/src/postgres/events_by_id.sql"),
        "array[1]::bigint[], array['01a22cca-5768-7524-9200-c8dacf9341fa']::uuid[]",
        &["((stream_id = n.stream_id) AND (event_id = n.event_id))", "(conv_no = (event.stream_id >> 3))"],
    ),
    (
        include_str!("../../event_store/src/postgres/stream_heads.sql"),
        "array[1]::bigint[]",
        &["(stream_id = s.stream_id)"],
    ),
    (
        include_str!("../../event_store/src/postgres/messages.sql"),
        "array[1]::bigint[], array[1]::bigint[]",
        &["((stream_id = n.stream_id) AND (version = n.version))"],
    ),
    (
        include_str!("../../event_store/src/postgres/pieces.sql"),
        "array[1]::bigint[], array['group']",
        &["((stream_id = n.stream_id) AND (key = (n.key)::text))"],
    ),
    (
        include_str!("../../event_store/src/postgres/read_stream.sql"),
        "1::bigint, 1::bigint, 10::bigint",
        &["((stream_id = $1) AND (version >= $2))"],
    ),
    (
        include_str!("../../event_store/src/postgres/conversation_events.sql"),
        "'p2p-1-2'::text, 1::bigint, 10::bigint",
        &[
            "((stream_id = s_1.stream_id) AND (version = ((s_1.lo + s_1.hi) / 2)))",
            "((stream_id = s.stream_id) AND (version >= s.hi))",
        ],
    ),
    (
        include_str!("../../event_store/src/postgres/read_shard.sql"),
        "1::smallint, 1::bigint, 10::bigint",
        &["((shard = $1) AND (\"position\" > $2)"],
    ),
    (include_str!("../../event_store/src/postgres/shard_head.sql"), "1::smallint", &["(shard = $1)"]),
    (
        include_str!("../../event_store/src/postgres/conversation_position.sql"),
        "'p2p-1-2'::text",
        &["(conv_id = $1)", "(stream_id = ((c.conv_no * 8) + k.kind))"],
    ),
    (
        include_str!("../../event_store/src/postgres/facts_since.sql"),
        "array['p2p-1-2'], array[1]::bigint[], array[9]::bigint[], 10::bigint, 10::bigint",
        &["(\"position\" > a.after)", "(conv_id = a.conv_id)"],
    ),
    (
        include_str!("../../event_store/src/postgres/first_messages.sql"),
        "array['p2p-1-2'], array[1]::bigint[]",
        &["((stream_id = s_1.stream_id) AND (version = ((s_1.lo + s_1.hi) / 2)))"],
    ),
    (
        include_str!("../../event_store/src/postgres/stream_positions.sql"),
        "array['p2p-1-2']",
        &["(stream_id = ((conversation.conv_no * 8) + 1))"],
    ),
    (
        include_str!("../../event_store/src/postgres/conversation_numbers.sql"),
        "array['p2p-1-2']",
        &["(conv_id = ANY ($1))"],
    ),
];

#[tokio::test]
async fn every_statement_of_the_log_probes_an_index_even_if_it_was_planned_on_an_empty_database() {
    let database = migrated().await;
    let client = pool(&database.config, 1).unwrap().get().await.unwrap();
    client.batch_execute("select log.ensure_body_month(1764000000000)").await.unwrap();
    for (number, (sql, arguments, conditions)) in STATEMENTS.into_iter().enumerate() {
        let types: Vec<&str> = types(arguments);
        let prepare = format!("prepare s{number} ({}) as {sql}", types.join(", "));
        client.batch_execute(&prepare).await.unwrap_or_else(|error| panic!("{prepare}: {error:?}"));
        let rows = client.simple_query(&format!("explain execute s{number} ({arguments})")).await.unwrap();
        let lines: Vec<String> = rows.iter().filter_map(line).collect();
        let plan = lines.join("\n");
        for scan in ["Seq Scan", "Bitmap", "Materialize", "Hash Join", "Merge Join"] {
            assert!(!plan.contains(scan), "{scan} in\n{plan}\nof {sql}");
        }
        for condition in conditions {
            let probed = |line: &String| line.contains("Index Cond") && line.contains(condition);
            assert!(lines.iter().any(probed), "no index probe for {condition} in\n{plan}\nof {sql}");
        }
    }
}

fn line(message: &SimpleQueryMessage) -> Option<String> {
    match message {
        SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
        _ => None,
    }
}

/// The types of the arguments above.
fn types(arguments: &str) -> Vec<&'static str> {
    let of = |argument: &str| match argument {
        text if text.contains("::uuid[]") => "uuid[]",
        text if text.contains("::bigint[]") => "bigint[]",
        text if text.contains("::smallint") => "smallint",
        text if text.contains("::bigint") => "bigint",
        text if text.contains("array['") => "text[]",
        _ => "text",
    };
    arguments.split(", ").map(of).collect()
}
