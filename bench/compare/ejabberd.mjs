// ejabberd with its message archive in Postgres: 64 users, 16 messages in flight each.
//
// rooms: each user has a room of two (the next user is in it, too), as quipu's own load has chats of two. An
// acknowledgement is the room's echo to the sender with a stanza-id: the room archives before it tells anybody.
//
// chats: single chats with the next user. Sent to the other, archived for both, so twice. An acknowledgement is the
// message's arrival at the other with a stanza-id: it is archived for the sender before it is sent on, and for the
// receiver before it is handed over.

import { closedLoop, report, TEXT } from "./closed_loop.mjs";
import { ROOMS, User } from "./xmpp.mjs";

const USERS = 64;
const IN_FLIGHT = 16;

const what = process.argv[2];
if (!["rooms", "chats"].includes(what)) {
    throw new Error("usage: ejabberd.mjs rooms|chats, with XMPP_PORT in the environment");
}

/** By id: who waits for the acknowledgement. */
const awaited = new Map();

const users = Array.from({ length: USERS }, (_, number) => {
    return new User(`u${number}`, (id, archived, stanza) => {
        const [sender] = id?.split("-") ?? [];
        const mine = what === "rooms" ? Number(sender) === number : Number(sender) === (number + USERS - 1) % USERS;
        if (!mine) {
            return;
        }
        const { resolve, reject } = awaited.get(id) ?? {};
        awaited.delete(id);
        if (archived) {
            resolve?.();
        } else {
            reject?.(new Error(`not archived: ${stanza.slice(0, 300)}`));
        }
    });
});

for (const user of users) {
    await user.signIn(process.env.XMPP_PORT);
}
if (what === "rooms") {
    for (const [number, user] of users.entries()) {
        await user.join(`room${number}`, true);
        await users[(number + 1) % USERS].join(`room${number}`, false);
    }
}

report(
    await closedLoop(USERS * IN_FLIGHT, (writer, nth) => {
        const number = writer % USERS;
        const id = `${number}-${writer}-${nth}`;
        const [to, type] =
            what === "rooms"
                ? [`room${number}@${ROOMS}`, "groupchat"]
                : [users[(number + 1) % USERS].address, "chat"];
        return new Promise((resolve, reject) => {
            awaited.set(id, { resolve, reject });
            users[number].send(to, type, id, TEXT);
        });
    }),
);
