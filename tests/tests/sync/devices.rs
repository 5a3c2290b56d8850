//! Random writers, and devices that sync now and then, from old cursors too: in the end each has what a fresh one
//! would get.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use reqwest::Method;
use serde_json::{Value, json};
use tests::log::START;
use tests::server::{Person, Server, send};

use crate::device::Device;
use crate::said::{found, text};

const PEOPLE: u64 = 4;
const GROUPS: [&str; 2] = ["grp-joined", "grp-all"];
const WRITERS: u64 = 3;
const DEEDS: u64 = 120;

/// SplitMix64.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound
    }

    fn conv(&mut self) -> String {
        match self.below(4) {
            0 => format!("p2p-1-{}", 2 + self.below(PEOPLE - 1)),
            1 => "p2p-1-1".into(),
            _ => GROUPS[self.below(2) as usize].into(),
        }
    }
}

/// One deed of somebody; many are refused, which is as good.
async fn deed(chance: &mut Chance, people: &[Person<'_>], time: &AtomicU64, server: &Server) {
    server.clock.put(START + time.fetch_add(1, Ordering::Relaxed) as i64);
    let who = &people[chance.below(PEOPLE) as usize];
    let conv = chance.conv();
    let at = format!("/v1/conversations/{conv}");
    let head = who.get(&at).await.json["max_seq"].as_u64().unwrap_or(0);
    let seq = 1 + chance.below(head.max(1));
    let seqs = json!({"seqs": [seq, 1 + chance.below(head.max(1))]});
    let uid = 1 + chance.below(PEOPLE);
    match chance.below(17) {
        0..4 => {
            let mut message = text(&format!("after {head}"));
            if chance.below(3) == 0 && head > 0 {
                message["reply_to"] = json!(seq);
            }
            if chance.below(3) == 0 {
                message["mentions"] = json!([uid]);
            }
            who.post(&format!("{at}/messages"), message).await
        }
        4 => who.post(&format!("{at}/messages/{seq}/recall"), json!({})).await,
        5 => who.post(&format!("{at}/messages/delete"), seqs).await,
        6 => who.post(&format!("{at}/messages/restore"), seqs).await,
        7 | 8 => who.put(&format!("{at}/read"), json!({"read_seq": seq})).await,
        9 if chance.below(3) == 0 => who.post(&format!("{at}/clear"), json!({"up_to_seq": seq / 2})).await,
        10 if chance.below(3) == 0 => who.delete(&at).await,
        11 => {
            let settings = json!({"pinned": chance.below(2) == 0, "muted": chance.below(2) == 0});
            who.put(&format!("{at}/settings"), settings).await
        }
        12 => {
            let role = ["admin", "member"][chance.below(2) as usize];
            let role = json!({"role": role});
            people[0].put(&format!("/v1/groups/{conv}/members/{uid}/role"), role).await
        }
        13 if chance.below(4) == 0 => {
            let name = json!({"name": format!("named {seq}")});
            let group = people[0].request(Method::PATCH, &format!("/v1/groups/{conv}"));
            send(group.json(&name)).await
        }
        14 if uid != 1 => people[0].delete(&format!("/v1/groups/{conv}/members/{uid}")).await,
        _ => people[0].post(&format!("/v1/groups/{conv}/members"), json!({"uids": [uid]})).await,
    };
}

#[tokio::test(flavor = "multi_thread")]
async fn whenever_a_device_syncs_it_ends_with_what_a_fresh_one_gets() {
    let server = Arc::new(Server::start().await);
    let owner = server.person(1);
    found(&owner, "joined", &[2, 3]).await;
    let body = json!({"group_id": "all", "name": "all", "members": [2], "history": "all"});
    crate::said::ok(owner.post("/v1/groups", body).await);
    let time = AtomicU64::new(1);
    let writers = (0..WRITERS).map(|seed| {
        let (server, time) = (&server, &time);
        async move {
            let mut chance = Chance(seed);
            let people: Vec<_> = (1..=PEOPLE).map(|uid| server.person(uid)).collect();
            for _ in 0..DEEDS {
                deed(&mut chance, &people, time, server).await;
            }
        }
    });
    // Two devices each of an owner and of one who comes and goes.
    let devices =
        [(1, 200, 10), (1, 2, 60), (2, 200, 15), (2, 1, 80), (3, 2, 25)].map(|(uid, limit, pause)| {
            let server = &server;
            async move {
                let (mut device, person) = (Device::default(), server.person(uid));
                let mut chance = Chance(1000 + uid * limit + pause);
                let mut backup = device.clone();
                for _ in 0..(1500 / pause) {
                    tokio::time::sleep(std::time::Duration::from_millis(chance.below(2 * pause))).await;
                    device.catch_up(&person, uid, limit as u32).await;
                    // Sometimes a device goes back to what it was some syncs ago.
                    match chance.below(5) {
                        0 => backup = device.clone(),
                        1 => device = backup.clone(),
                        _ => {}
                    }
                }
                (uid, device)
            }
        });
    let (_, devices) =
        tokio::join!(futures_util::future::join_all(writers), futures_util::future::join_all(devices));
    for (uid, mut device) in devices {
        let person = server.person(uid);
        device.catch_up(&person, uid, 200).await;
        // A fresh device does not hear of what is not in the list.
        device.kept.retain(|_, kept| !kept.is_hidden());
        let mut fresh = Device::default();
        fresh.catch_up(&person, uid, 200).await;
        for (conv, kept) in &fresh.kept {
            let had = device.kept.get(conv).unwrap_or_else(|| panic!("{uid} lacks {conv}"));
            assert_eq!(had, kept, "{conv} of {uid}");
        }
        assert_eq!(device.kept.len(), fresh.kept.len(), "{uid}");
        assert!(uid != 1 || fresh.kept.len() > 1, "something happened");
        let shown: Value = person.get("/v1/conversations?limit=200").await.json;
        assert_eq!(shown["conversations"].as_array().unwrap().len(), fresh.kept.len());
    }
    Arc::into_inner(server).unwrap().stop().await;
}
