// Emmett: appendToStream of its PostgreSQL event store, one event each.
// An acknowledgement is its result: it commits before it answers.

import {
    CommandHandlerStreamVersionConflictRetryOptions as RETRY,
    asyncRetry,
} from "@event-driven-io/emmett";
import { getPostgreSQLEventStore } from "@event-driven-io/emmett-postgresql";
import pg from "pg";
import { closedLoop, report, TEXT } from "./closed_loop.mjs";

/** Each writer of `many_streams` goes round so many streams of its own, as in quipu's own load. */
const STREAMS = 8;

const CASES = {
    many_streams: { writers: 64, stream: (writer, nth) => `chat-${writer}-${nth % STREAMS}` },
    one_stream: { writers: 16, stream: () => "chat-1" },
};

const what = CASES[process.argv[2]];
if (!what) {
    throw new Error(`usage: emmett.mjs ${Object.keys(CASES).join("|")}`);
}
const { PGHOST, PGPORT, PGUSER, PGDATABASE } = process.env;
const url = `postgresql://${PGUSER}@localhost:${PGPORT}/${PGDATABASE}?host=${encodeURIComponent(PGHOST)}`;
const pool = new pg.Pool({ connectionString: url, max: what.writers });
const store = getPostgreSQLEventStore(url, { connectionOptions: { connectionString: url, pool } });
await store.schema.migrate();

// The retries are those of its command handler: another writer's append is a conflict, tried again after a pause.
report(
    await closedLoop(what.writers, async (writer, nth) => {
        const event = { type: "MessageSent", data: { content: TEXT } };
        await asyncRetry(() => store.appendToStream(what.stream(writer, nth), [event]), RETRY);
    }),
);
