// The floor: what this Postgres takes of quipu's own rows from a client that does nothing else. It knows all it
// writes beforehand: no rules, no reading, no read models, no answers to anybody.
// An acknowledgement is the COMMIT of a batch, and counts as many messages as the batch has.
//
//     floor.mjs            measures all ways for a moment each and says which was best
//     floor.mjs FILE       measures the way that was said to be best in FILE

import { once } from "node:events";
import { readFileSync } from "node:fs";
import pg from "pg";
import { from as copyFrom } from "pg-copy-streams";
import { closedLoop, report } from "./closed_loop.mjs";
import { Batches, CONVERSATIONS, SHARDS } from "./floor_rows.mjs";

const WAYS = { copy, unnest };
const ROWS = [500, 1000, 2000];
const CONNECTIONS = [1, 2, 4];

/** Looking for the best, each way gets so many seconds. */
const TRY_S = Number(process.env.TRY_S ?? 1);

/** Two COPYs in a transaction. */
async function copy(client, { headers, bodies }) {
    await client.query("begin");
    for (const { table, names, buffer } of [bodies, headers]) {
        const stream = client.query(copyFrom(`copy ${table} (${names}) from stdin (format binary)`));
        stream.end(buffer);
        await once(stream, "finish");
    }
    await client.query("commit");
}

/** One statement, and so one transaction and one round trip. */
async function unnest(client, { headers, bodies }) {
    const insert = ({ table, names, columns }, offset) => {
        const arrays = columns.map(([, type], nth) => `$${offset + nth + 1}::${type}[]`).join(", ");
        return `insert into ${table} (${names}) select * from unnest(${arrays})`;
    };
    await client.query({
        name: "append",
        text: `with bodies as (${insert(bodies, headers.columns.length)}) ${insert(headers, 0)}`,
        values: [...headers.arrays, ...bodies.arrays],
    });
}

async function measure(way, rows, connections, span) {
    const clients = await Promise.all(Array.from({ length: connections }, connect));
    await clients[0].query("truncate log.event, log.body");
    const batches = clients.map((_, writer) => new Batches(writer, connections, rows, way));
    const measured = await closedLoop(
        connections,
        async (writer) => {
            batches[writer].next();
            await WAYS[way](clients[writer], batches[writer]);
            return rows;
        },
        span,
    );
    await Promise.all(clients.map((client) => client.end()));
    return { ...measured, way, rows, connections };
}

async function connect() {
    // Where the database is, the client reads from PGHOST and its like.
    const client = new pg.Client();
    await client.connect();
    return client;
}

async function prepare() {
    const client = await connect();
    await client.query("select log.ensure_body_month($1)", [Date.now()]);
    await client.query(
        `insert into log.conversation (conv_id, shard)
         select 'p2p-1-' || n, (n - 1) / $2 from generate_series(1, $1::int * $2::int) as n on conflict do nothing`,
        [SHARDS, CONVERSATIONS],
    );
    await client.end();
}

await prepare();
const [file] = process.argv.slice(2);
if (file) {
    const { way, rows, connections } = JSON.parse(readFileSync(file, "utf8"));
    report(await measure(way, rows, connections));
} else {
    const tried = [];
    for (const way of Object.keys(WAYS)) {
        for (const rows of ROWS) {
            for (const connections of CONNECTIONS) {
                tried.push(await measure(way, rows, connections, { seconds: TRY_S, warmup: TRY_S / 4 }));
            }
        }
    }
    const best = tried.reduce((best, it) => (it.per_s > best.per_s ? it : best));
    report(best, { tried });
}
