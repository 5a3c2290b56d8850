// The floor's rows: events as quipu appends them, in the two binary forms that Postgres takes, COPY and arrays.
// A block is laid out once; for each batch only what differs is written into it, so that the client costs little.

import { randomFillSync } from "node:crypto";
import { TEXT } from "./closed_loop.mjs";

/** As quipu has them by default. */
export const SHARDS = 16;

/** Conversations of a shard: 512 in all, as many as quipu's own load has. */
export const CONVERSATIONS = 32;

const BODY = JSON.stringify({ content: TEXT });
const DEVICE = "bench-0";

/** Postgres's numbers of the types. */
const OID = { bytea: 17, bigint: 20, smallint: 21, text: 25, uuid: 2950 };

/** [name, type, bytes], and for what is the same in all rows its value. */
const HEADERS = [
    ["stream_id", "bigint", 8],
    ["version", "bigint", 8],
    ["position", "bigint", 8],
    ["recorded_at", "bigint", 8],
    ["actor", "bigint", 8],
    ["msg_id", "bigint", 8],
    ["create_at", "bigint", 8],
    ["event_id", "uuid", 16],
    ["correlation_id", "uuid", 16],
    ["client_msg_id", "uuid", 16],
    ["shard", "smallint", 2],
    ["event_type", "smallint", 2, 1],
    ["schema_version", "smallint", 2, 1],
    ["origin", "smallint", 2, 0],
    ["msg_type", "smallint", 2, 1],
    ["flags", "smallint", 2, 0],
    ["device", "text", DEVICE.length, DEVICE],
    ["chain", "bytea", 32],
];
const BODIES = [
    ["recorded_at", "bigint", 8],
    ["position", "bigint", 8],
    ["shard", "smallint", 2],
    ["salt", "bytea", 16],
    ["bytes", "bytea", BODY.length, BODY],
];

const COPY_HEAD = Buffer.from("PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0", "latin1");

/** One table's rows, as many as a batch has, in one form. */
class Block {
    constructor(table, columns, rows, way) {
        this.columns = columns;
        this.rows = rows;
        this.names = columns.map(([name]) => name).join(", ");
        this.table = table;
        this.places = new Map();
        if (way === "copy") {
            this.layOutTuples();
        } else {
            this.layOutArrays();
        }
        for (const [name, , bytes, value] of columns) {
            this.each(name, (at) => {
                this.buffer.writeInt32BE(bytes, at - 4);
                if (typeof value === "string") {
                    this.buffer.write(value, at, "latin1");
                } else if (value !== undefined) {
                    this.buffer.writeInt16BE(value, at);
                }
            });
        }
    }

    /** Binary COPY: a head, then for each row the number of columns and each with its length, then -1. */
    layOutTuples() {
        const tuple = this.columns.reduce((sum, [, , bytes]) => sum + 4 + bytes, 2);
        this.buffer = Buffer.alloc(COPY_HEAD.length + tuple * this.rows + 2);
        COPY_HEAD.copy(this.buffer);
        let at = COPY_HEAD.length + 2;
        for (const [name, , bytes] of this.columns) {
            this.places.set(name, { first: at + 4, step: tuple });
            at += 4 + bytes;
        }
        for (let row = 0; row < this.rows; row++) {
            this.buffer.writeInt16BE(this.columns.length, COPY_HEAD.length + row * tuple);
        }
        this.buffer.writeInt16BE(-1, this.buffer.length - 2);
    }

    /** Binary arrays, one for each column: dimensions, nulls, type, length, lower bound, then each with its length. */
    layOutArrays() {
        const sizes = this.columns.map(([, , bytes]) => 20 + (4 + bytes) * this.rows);
        this.buffer = Buffer.alloc(sizes.reduce((sum, size) => sum + size));
        this.arrays = [];
        let at = 0;
        this.columns.forEach(([name, type, bytes], nth) => {
            [1, 0, OID[type], this.rows, 1].forEach((word, i) => this.buffer.writeInt32BE(word, at + i * 4));
            this.places.set(name, { first: at + 24, step: 4 + bytes });
            this.arrays.push(this.buffer.subarray(at, at + sizes[nth]));
            at += sizes[nth];
        });
    }

    each(name, write) {
        const { first, step } = this.places.get(name);
        for (let row = 0; row < this.rows; row++) {
            write(first + row * step, row);
        }
    }

    bigints(name, value) {
        this.each(name, (at, row) => {
            const number = value(row);
            this.buffer.writeUInt32BE(Math.floor(number / 2 ** 32), at);
            this.buffer.writeUInt32BE(number % 2 ** 32, at + 4);
        });
    }

    smallints(name, value) {
        this.each(name, (at) => this.buffer.writeInt16BE(value, at));
    }

    /** Fresh random bytes for each row: ids and hashes do not compress and have no order. */
    random(name) {
        const [, , bytes] = this.columns.find(([it]) => it === name);
        const random = randomFillSync(Buffer.allocUnsafe(bytes * this.rows));
        this.each(name, (at, row) => random.copy(this.buffer, at, row * bytes, (row + 1) * bytes));
    }
}

/** The next batches of one writer, who has shards of its own; one shard a batch, as quipu appends. */
export class Batches {
    constructor(writer, writers, rows, way) {
        this.rows = rows;
        this.shards = Array.from({ length: SHARDS }, (_, shard) => shard).filter((it) => it % writers === writer);
        this.positions = this.shards.map(() => 0);
        this.turn = 0;
        this.headers = new Block("log.event", HEADERS, rows, way);
        this.bodies = new Block("log.body", BODIES, rows, way);
    }

    /** Writes the next batch into the two blocks. */
    next() {
        const nth = this.turn++ % this.shards.length;
        const [shard, seen, now] = [this.shards[nth], this.positions[nth], Date.now()];
        this.positions[nth] += this.rows;
        const headers = this.headers;
        // The shard's conversations take turns: the n-th event of the shard is in conversation n mod 32.
        const conversation = (row) => shard * CONVERSATIONS + ((seen + row) % CONVERSATIONS) + 1;
        headers.bigints("stream_id", (row) => conversation(row) * 8);
        headers.bigints("version", (row) => Math.floor((seen + row) / CONVERSATIONS) + 1);
        headers.bigints("actor", (row) => 5_000_000 + conversation(row));
        // As quipu's: 41 bits of time, 10 of the instance, 12 of a count.
        headers.bigints("msg_id", (row) => now * 2 ** 22 + shard * 2 ** 12 + row);
        headers.bigints("create_at", () => now);
        ["event_id", "correlation_id", "client_msg_id", "chain"].forEach((name) => headers.random(name));
        this.bodies.random("salt");
        for (const block of [headers, this.bodies]) {
            block.bigints("position", (row) => seen + row + 1);
            block.bigints("recorded_at", () => now);
            block.smallints("shard", shard);
        }
    }
}
