//! `quipu audit verify`, `checkpoint` and `public-key`.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::program::Program;
use crate::world::World;

const TAMPER: &str = "update log.event set actor = 3 where (stream_id, version) =
    (select conv_no * 8, 4 from log.conversation where conv_id = 'p2p-1-2')";

#[tokio::test(flavor = "multi_thread")]
async fn a_log_is_verified_and_what_is_wrong_is_printed() {
    let world = World::new().await;
    let program = Program::on(&world);
    let whole = program.run(&["audit", "verify"]).await;
    assert_eq!(whole.code, Some(0), "{whole:?}");
    // With the access that it has recorded itself.
    assert!(whole.out.ends_with("28 events in 5 streams, 2 checkpoints: no fault\n"), "{whole:?}");
    let one = program.run(&["audit", "verify", "--conv", "p2p-2-1"]).await;
    assert_eq!(one.code, Some(0), "{one:?}");
    assert!(one.out.contains("message-p2p-1-2 up to version 15: checkpoint 2 agrees\n"), "{one:?}");
    assert!(one.out.ends_with("p2p-1-2, 20 events: no fault\n"), "{one:?}");
    world.sql.batch_execute(TAMPER).await.unwrap();
    for arguments in [&["audit", "verify"][..], &["audit", "verify", "--conv", "p2p-1-2"]] {
        let found = program.run(arguments).await;
        assert_eq!(found.code, Some(1), "{found:?}");
        assert!(found.out.starts_with("message-p2p-1-2 version 4 shard "), "{found:?}");
        assert!(found.out.contains(" altered: ") && found.out.ends_with(": 1 fault\n"), "{found:?}");
    }
    let none = program.run(&["audit", "verify", "--conv", "p2p-8-9"]).await;
    assert_eq!((none.code, none.out.as_str()), (Some(1), ""));
    assert!(none.err.contains("there is no conversation p2p-8-9 in this log"), "{none:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_checkpoint_that_was_kept_elsewhere_must_be_in_the_log() {
    let world = World::new().await;
    let program = Program::on(&world);
    let kept = program.run(&["audit", "checkpoint"]).await;
    assert_eq!(kept.code, Some(0), "{kept:?}");
    let again = program.run(&["audit", "checkpoint"]).await;
    assert_eq!(again.out, kept.out, "nothing has changed since");
    let file = program.path("kept.json");
    fs::write(&file, &kept.out).unwrap();
    let trust = ["audit", "verify", "--trust", file.to_str().unwrap()];
    let good = program.run(&trust).await;
    assert_eq!(good.code, Some(0), "{good:?}");
    let cut = "delete from log.event e using log.conversation c
                where c.conv_id = 'checkpoint' and e.stream_id = c.conv_no * 8 + 7 and version = 3";
    world.sql.batch_execute(cut).await.unwrap();
    let found = program.run(&trust).await;
    assert_eq!(found.code, Some(1), "{found:?}");
    assert!(found.out.contains("checkpoint version 3 truncated: "), "{found:?}");
    for (text, why) in [("{}", "does not fit"), ("", "does not fit")] {
        fs::write(&file, text).unwrap();
        let refused = program.run(&trust).await;
        assert_eq!(refused.code, Some(1));
        assert!(refused.err.contains("read the checkpoint") && refused.err.contains(why), "{refused:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_key_is_made_once_for_its_owner_alone_and_a_strange_one_is_told() {
    let world = World::new().await;
    let program = Program::on(&world);
    let key = program.data().join("audit.key");
    let known = program.run(&["audit", "public-key"]).await;
    fs::remove_file(&key).unwrap();
    let without = program.run(&["audit", "verify"]).await;
    assert_eq!(without.code, Some(0), "{without:?}");
    assert!(without.out.contains("signatures were not looked at") && !key.exists(), "{without:?}");
    let made = program.run(&["audit", "public-key"]).await;
    assert!(made.out.starts_with("-----BEGIN PUBLIC KEY-----\n") && made.out != known.out, "{made:?}");
    assert_eq!(program.run(&["audit", "public-key"]).await.out, made.out);
    assert_eq!(fs::metadata(&key).unwrap().permissions().mode() & 0o777, 0o600);
    let strange = program.run(&["audit", "verify"]).await;
    assert_eq!(strange.code, Some(1), "{strange:?}");
    assert!(strange.out.contains("checkpoint version 1 signature: "), "{strange:?}");
    let pem = program.path("known.pem");
    fs::write(&pem, known.out).unwrap();
    let named = program.run(&["audit", "verify", "--public-key", pem.to_str().unwrap()]).await;
    assert_eq!(named.code, Some(0), "{named:?}");
    fs::write(&pem, "no key").unwrap();
    let none = program.run(&["audit", "verify", "--public-key", pem.to_str().unwrap()]).await;
    assert!(none.code == Some(1) && none.err.contains("it is not an Ed25519 key in PEM"), "{none:?}");
}
