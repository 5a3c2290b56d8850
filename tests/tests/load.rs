//! `quipu bench load` against a real server: each case, each way, for two seconds, to see that it works and says so.

use std::process::Stdio;

use serde_json::Value;
use tests::{
    cluster,
    server::{SECRET, Server},
};
use tokio::process::Command;

/// Runs one case and reads what it measured.
async fn measured(server: &Server, case: &[&str]) -> Value {
    let folder = tests::ScratchDir::new();
    let json = folder.path().join("report.json");
    let mut command = Command::new(env!("CARGO_BIN_EXE_quipu-child"));
    command.args([
        "bench",
        "load",
        "--seconds",
        "2",
        "--warmup",
        "0",
        "--connections",
        "4",
        "--in-flight",
        "4",
    ]);
    command.args(["--conversations", "2", "--members", "8", "--senders", "2"]);
    command.arg("--url").arg(format!("http://{}", server.address())).args(["--jwt-secret", SECRET]);
    command.arg("--json").arg(&json).arg("--picture").arg(folder.path().join("report.html")).args(case);
    command.env_remove("DATABASE_URL").stdin(Stdio::null()).kill_on_drop(true);
    let said = command.output().await.expect("run the tool");
    assert!(said.status.success(), "{case:?}: {}", String::from_utf8_lossy(&said.stderr));
    let page = std::fs::read_to_string(folder.path().join("report.html")).expect("a picture");
    assert!(page.contains("<svg") && page.ends_with("</html>\n"), "{page}");
    serde_json::from_str(&std::fs::read_to_string(json).expect("a report")).expect("JSON")
}

#[tokio::test(flavor = "multi_thread")]
async fn each_case_is_answered_and_measured() {
    let server = Server::start().await;
    for case in ["sends", "cold", "hot", "group", "history", "lists", "mixed"] {
        for via in ["ws", "rest"] {
            let report = measured(&server, &["--case", case, "--via", via]).await;
            let run = &report["runs"][0];
            assert!(run["answers_ms"]["count"].as_u64() > Some(0), "{case} via {via}: {report}");
            let number = |of: &Value| of.as_f64().unwrap_or_else(|| panic!("{report}"));
            let slowest = run["moments_ms"].as_array().unwrap().iter().map(&number).fold(0.0, f64::max);
            let most = number(&run["answers_ms"]["most"]);
            assert!((slowest - most).abs() <= most / 100.0, "the slowest answer has its moment: {report}");
            let stalls = run["stalls"].as_array().unwrap().iter().map(|stall| number(&stall["ms"]));
            assert!(stalls.fold(0.0, f64::max) >= slowest, "and is told: {report}");
            for fault in ["refused", "unanswered", "broken"] {
                assert_eq!(run[fault], 0, "{case} via {via}: {report}");
            }
            let pushed = run["pushes_ms"]["count"].as_u64() > Some(0);
            assert_eq!(
                pushed,
                via == "ws" && !["history", "lists"].contains(&case),
                "{case} via {via}: {report}"
            );
        }
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_open_loop_asks_at_each_rate_in_turn() {
    let server = Server::start().await;
    let report = measured(&server, &["--rate", "20,40"]).await;
    let rates: Vec<&Value> = report["runs"].as_array().unwrap().iter().map(|run| &run["rate"]).collect();
    assert_eq!(rates, [20, 40]);
    for run in report["runs"].as_array().unwrap() {
        // So many were due within the time, whatever the server made of it.
        let number = |of: &Value| of.as_u64().unwrap_or_else(|| panic!("{report}"));
        let (due, most) =
            (number(&run["answers_ms"]["count"]), number(&run["rate"]) * number(&run["seconds"]));
        assert!(due <= most && due > 0, "{report}");
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_of_a_given_size_is_put_there_once_and_read() {
    // The import brings the schema up to its version by itself, and so has to know how far it is.
    let database = cluster().database();
    quipu::migrate::migrate(&database.config).await.expect("migrate");
    let server = Server::start_on(database).await;
    let preload = ["--via", "rest", "--preload", "400", "--database", &server.database.url];
    let mut events = vec![];
    for case in [
        &["--case", "history", "--pages-of", "1", "--limit", "7"][..],
        &["--case", "lists", "--whole-list", "--limit", "1"],
    ] {
        let report = measured(&server, &[&preload[..], case].concat()).await;
        let run = &report["runs"][0];
        assert!(run["answers_ms"]["count"].as_u64() > Some(0), "{case:?}: {report}");
        assert_eq!((&run["refused"], &run["broken"]), (&0.into(), &0.into()), "{case:?}: {report}");
        events.push(server.events().await);
    }
    // Lengths lie around fifty for each of eight conversations.
    assert!((250..=550).contains(&events[0]), "{events:?}");
    assert_eq!(events[0], events[1], "what is there is not put there again");
    server.stop().await;
}
