// Message DB: its write_message, bare, from 64 writers over as many pooled connections.
// An acknowledgement is the function's result in a transaction of its own: the COMMIT is on the disk.

import { randomUUID } from "node:crypto";
import pg from "pg";
import { closedLoop, report, TEXT } from "./closed_loop.mjs";

const WRITERS = 64;

/** Each writer goes round so many streams of its own, as in quipu's own load. */
const STREAMS = 8;

/** write_message locks a stream's category, which is its name up to the first hyphen. */
const CASES = {
    one_category: (writer, nth) => `chat-${writer}x${nth % STREAMS}`,
    own_category: (writer, nth) => `chat${writer}-${nth % STREAMS}`,
    one_stream: () => "chat-1",
};

const stream = CASES[process.argv[2]];
if (!stream) {
    throw new Error(`usage: message_db.mjs ${Object.keys(CASES).join("|")}`);
}
// Where the database is, the client reads from PGHOST and its like.
const pool = new pg.Pool({ max: WRITERS, options: "-c search_path=message_store,public" });
const data = JSON.stringify({ content: TEXT });

report(
    await closedLoop(WRITERS, async (writer, nth) => {
        await pool.query({
            name: "write",
            text: "select write_message($1::varchar, $2::varchar, $3::varchar, $4::jsonb)",
            values: [randomUUID(), stream(writer, nth), "MessageSent", data],
        });
    }),
);
