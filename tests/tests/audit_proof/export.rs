//! `quipu export --conv`, and the offline verifier of what it writes.

use std::fs;
use std::path::Path;

use crate::program::{Ended, Program, run};
use crate::world::World;

const CONV: &str = "p2p-1-2";

/// An export and what is needed to verify it, and a folder with nothing in it.
struct Exported {
    program: Program,
    text: String,
}

impl Exported {
    async fn of(world: &World) -> Self {
        let program = Program::on(world);
        let file = program.path("export.ndjson");
        let ended = program.run(&["export", "--conv", CONV, "--out", file.to_str().unwrap()]).await;
        assert_eq!(ended.code, Some(0), "{ended:?}");
        assert!(ended.out.contains("20 events of p2p-1-2 in 23 lines"), "{ended:?}");
        let pem = program.run(&["audit", "public-key"]).await.out;
        fs::write(program.path("key.pem"), pem).unwrap();
        fs::create_dir(program.path("empty")).unwrap();
        let text = fs::read_to_string(file).unwrap();
        Self { program, text }
    }

    fn lines(&self) -> Vec<&str> {
        self.text.lines().collect()
    }

    /// What the verifier says of a file with this text, run in the empty folder.
    async fn verify(&self, text: &str) -> Ended {
        let file = self.program.path("under-test.ndjson");
        fs::write(&file, text).unwrap();
        self.verify_with(&file, "key.pem").await
    }

    async fn verify_with(&self, file: &Path, key: &str) -> Ended {
        let (key, empty) = (self.program.path(key), self.program.path("empty"));
        let arguments =
            ["audit", "verify", "--export", file.to_str().unwrap(), "--public-key", key.to_str().unwrap()];
        let ended = run(&arguments, &empty).await;
        assert_eq!(fs::read_dir(empty).unwrap().count(), 0, "it leaves nothing behind");
        ended
    }

    /// It is found, and all of this is said.
    async fn finds(&self, what: &str, lines: &[&str], says: &[&str]) {
        let found = self.verify(&(lines.join("\n") + "\n")).await;
        assert_eq!(found.code, Some(1), "{what}: {found:?}");
        for said in says {
            assert!(found.out.contains(said), "{what}: {said} in {found:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_verifies_from_an_empty_folder_with_file_and_key_alone() {
    let world = World::new().await;
    let exported = Exported::of(&world).await;
    let good = exported.verify(&exported.text).await;
    assert_eq!(good.code, Some(0), "{good:?}");
    assert!(good.out.ends_with("under-test.ndjson: 20 events: no fault\n"), "{good:?}");
    let accesses = exported.program.run(&["audit", "accesses"]).await.out;
    assert!(accesses.contains("\"action\":\"export_conversation\",\"subject\":\"p2p-1-2\""), "{accesses}");
    // An erased body leaves its digest, and the export verifies.
    let erase = "with it as (select shard, position from log.event where stream_id = \
                     (select conv_no * 8 from log.conversation where conv_id = 'p2p-1-2') and version = 3)
                 insert into log.digest select position, shard, decode($$DIGEST$$, 'hex') from it";
    let body = world.reader.events(&world.stream(), 3, 1).await.unwrap();
    let digest = event_store::chain::body_digest(&body[0].body);
    let erase = erase.replace("DIGEST", &event_store::hex::encode(&digest));
    world.sql.batch_execute(&erase).await.unwrap();
    world.sql.batch_execute("delete from log.body using log.digest d where (body.shard, body.position) = (d.shard, d.position)").await.unwrap();
    let erased = Exported::of(&world).await;
    assert!(erased.text.contains("\"digest\""));
    assert_eq!(erased.verify(&erased.text).await.code, Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_is_done_to_an_export_is_found_and_the_line_is_named() {
    let world = World::new().await;
    let exported = Exported::of(&world).await;
    let lines = exported.lines();
    assert_eq!(lines.len(), 24, "a beginning, two proofs, twenty events, a manifest");
    // The fifth message stands in line 8.
    let edited = |from: &str, to: &str| {
        assert!(lines[7].contains(from), "{from} in {}", lines[7]);
        lines[7].replacen(from, to, 1)
    };
    for (from, to) in [
        ("message 5 of 1", "message 6 of 1"),
        ("\"actor\":1", "\"actor\":2"),
        ("\"salt\":\"", "\"salt\":\"0"),
    ] {
        let line = edited(from, to);
        let mut changed = lines.clone();
        changed[7] = &line;
        let chain = if to.contains("salt") {
            "version 5 export: line 8: its salt is none"
        } else {
            "version 5 shard"
        };
        exported
            .finds(
                from,
                &changed,
                &[
                    chain,
                    "line 9: what stands before it is not what was written",
                    "manifest says another hash",
                ],
            )
            .await;
    }
    // What the chain does not hold, the lines do.
    let line = edited("\"position\":", "\"position\":1");
    let mut moved = lines.clone();
    moved[7] = &line;
    exported.finds("position", &moved, &["line 9: what stands before it"]).await;
    let mut missing = lines.clone();
    missing.remove(7);
    exported
        .finds("missing", &missing, &["message-p2p-1-2 version 5 missing", "line 8: what stands before it"])
        .await;
    let mut swapped = lines.clone();
    swapped.swap(7, 8);
    exported
        .finds("reordered", &swapped, &["message-p2p-1-2 version 5 missing", "line 8: what stands before it"])
        .await;
    let mut doubled = lines.clone();
    doubled.insert(7, lines[7]);
    exported.finds("doubled", &doubled, &["line 9: what stands before it"]).await;
    let cut = &lines[..19];
    let says = [
        "message-p2p-1-2 version 17 truncated: it ends at version 16; the first line says version 17",
        "the file ends after line 19 without a manifest",
    ];
    exported.finds("cut", cut, &says).await;
    let cut = &lines[..12];
    exported
        .finds("cut early", cut, &["checkpoint 2 has seen version 15", "mark-p2p-1-2 version 1 truncated"])
        .await;
    let half = &exported.text[..exported.text.len() - 10];
    let found = exported.verify(half).await;
    assert!(found.code == Some(1) && found.out.contains("line 24: it ends in the middle"), "{found:?}");
    let first = lines[1..].to_vec();
    exported.finds("no beginning", &first, &["the first line does not say what this is"]).await;
    exported.finds("nothing", &[""], &["line 1: it is no line of an export"]).await;
    let found = exported.verify("").await;
    assert!(found.code == Some(1) && found.out.contains("ends after line 0 without a manifest"), "{found:?}");
    for (from, to) in [
        ("\"events\":17", "\"events\":16"),
        ("\"lines\":23", "\"lines\":22"),
        ("\"last_seq\":17", "\"last_seq\":16"),
    ] {
        let line = lines[23].replacen(from, to, 1);
        assert_ne!(line, lines[23]);
        let mut manifest = lines.clone();
        manifest[23] = &line;
        exported
            .finds(
                from,
                &manifest,
                &[
                    "line 24: the manifest is not signed with a key that is good",
                    "line 24: the manifest says another",
                ],
            )
            .await;
    }
    let mut more = lines.clone();
    more.push(lines[5]);
    exported.finds("more", &more, &["line 25: it does not belong here"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn with_another_key_neither_manifest_nor_checkpoints_are_good() {
    let world = World::new().await;
    let exported = Exported::of(&world).await;
    let other = Program::on(&world);
    fs::remove_file(other.data().join("audit.key")).unwrap();
    let pem = other.run(&["audit", "public-key"]).await.out;
    fs::write(exported.program.path("other.pem"), &pem).unwrap();
    let found = exported.verify_with(&exported.program.path("export.ndjson"), "other.pem").await;
    assert_eq!(found.code, Some(1), "{found:?}");
    for said in ["line 2: checkpoint 2 is not signed", "line 24: the manifest is not signed", "3 faults"] {
        assert!(found.out.contains(said), "{said}: {found:?}");
    }
    // A log whose chain was computed again gives an export that its checkpoint contradicts, whoever signs it.
    world.forge(12).await;
    let forged = Exported::of(&world).await;
    let found = forged.verify(&forged.text).await;
    assert!(
        found.code == Some(1) && found.out.contains("does not prove that checkpoint 2 has seen"),
        "{found:?}"
    );
    let none = run(&["audit", "verify", "--export", "x"], &exported.program.path("empty")).await;
    assert!(none.code == Some(2) && none.err.contains("--public-key"), "{none:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_export_goes_on_and_a_finished_one_says_so() {
    let world = World::new().await;
    let exported = Exported::of(&world).await;
    let program = &exported.program;
    // What is said later is not in an export that began before.
    world.say(1, 2, 18).await;
    let file = program.path("again.ndjson");
    let part = program.path("again.ndjson.part");
    let arguments = ["export", "--conv", CONV, "--out", file.to_str().unwrap()];
    let length = exported.text.len();
    let first = exported.text.find('\n').unwrap();
    for cut in [first + 1, first + 20, length / 3, length / 2, length - 2000, length - 1, length] {
        fs::write(&part, &exported.text[..cut]).unwrap();
        let ended = program.run(&arguments).await;
        assert_eq!(ended.code, Some(0), "{cut}: {ended:?}");
        assert_eq!(fs::read_to_string(&file).unwrap(), exported.text, "cut at {cut}");
        assert!(!part.exists());
        let again = program.run(&arguments).await;
        assert!(again.code == Some(0) && again.out.contains("is complete"), "{again:?}");
        fs::remove_file(&file).unwrap();
    }
    let folder = program.path("empty");
    let ended = program.run(&["export", "--conv", "p2p-1-3", "--out", folder.to_str().unwrap()]).await;
    assert!(ended.code == Some(0) && folder.join("p2p-1-3.ndjson").exists(), "{ended:?}");
    fs::rename(folder.join("p2p-1-3.ndjson"), &part).unwrap();
    let other = program.run(&arguments).await;
    assert!(
        other.code == Some(1) && other.err.contains("it is not the beginning of an export of p2p-1-2"),
        "{other:?}"
    );
    let here = program.run(&["export", "--conv", "P2P-2-1"]).await;
    assert!(here.code == Some(0) && program.path("p2p-1-2.ndjson").exists(), "{here:?}");
    for wrong in [&["export"][..], &["export", "--conv", CONV, "--uid", "1"], &["export", "--conv", "x"]] {
        assert_eq!(program.run(wrong).await.code, Some(2), "{wrong:?}");
    }
    let none = program.run(&["export", "--conv", "p2p-8-9", "--out", folder.to_str().unwrap()]).await;
    assert!(none.code == Some(1) && none.err.contains("there is no conversation p2p-8-9"), "{none:?}");
}
