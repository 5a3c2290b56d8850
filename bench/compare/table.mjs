// Prints the table and writes the JSON: `table.mjs FOLDER JSON CASE…`. The median of the rounds stands for a case; a
// case that failed in a round says so instead. Exit code 1 where quipu or the floor failed.

import { existsSync, readFileSync, writeFileSync } from "node:fs";

const [folder, json, ...cases] = process.argv.slice(2);
const machine = JSON.parse(readFileSync(`${folder}/machine.json`, "utf8"));
for (const version of lines(`${folder}/ejabberd.version`)) {
    machine.versions.ejabberd = version;
}
const results = lines(`${folder}/results.ndjson`).map((line) => JSON.parse(line));
const floor = existsSync(`${folder}/floor.json`) ? JSON.parse(lines(`${folder}/floor.json`)[0]) : null;

/** What stands in the first column. */
const NAMES = {
    floor: "the floor",
    "quipu-ws": "quipu by WebSocket",
    "quipu-rest": "quipu by REST",
    "message-db-one-category": "Message DB, streams of one category",
    "message-db-own-category": "Message DB, a category per writer",
    "message-db-one-stream": "Message DB, one stream",
    "emmett-many-streams": "Emmett, many streams, 64 writers",
    "emmett-one-stream": "Emmett, one stream, 16 writers",
    "ejabberd-rooms": "ejabberd with archive, rooms",
    "ejabberd-chats": "ejabberd with archive, single chats",
};

function lines(path) {
    return existsSync(path) ? readFileSync(path, "utf8").trim().split("\n").filter(Boolean) : [];
}

function median(numbers) {
    const sorted = numbers.filter(Number.isFinite).sort((a, b) => a - b);
    const middle = sorted.length / 2;
    return sorted.length === 0
        ? null
        : (sorted[Math.floor(middle)] + sorted[Math.ceil(middle) - 1]) / 2;
}

function summary(name) {
    const rounds = results.filter((result) => result.case === name);
    if (rounds.length === 0) {
        return null;
    }
    const failed = rounds.find((round) => round.failed)?.failed;
    const of = (field) => (failed ? null : median(rounds.map((round) => round[field])));
    return {
        case: name,
        name: NAMES[name],
        per_s: of("per_s"),
        p50_ms: of("p50_ms"),
        p99_ms: of("p99_ms"),
        refused: rounds.reduce((sum, round) => sum + (round.refused ?? 0), 0),
        failed,
        rounds,
    };
}

const summaries = cases.map(summary).filter(Boolean);
const rate = (name) => summaries.find((it) => it.case === name)?.per_s;
for (const it of summaries) {
    it.quipu_ws_is_times = it.per_s && rate("quipu-ws") ? rate("quipu-ws") / it.per_s : null;
    it.of_the_floor = it.per_s && rate("floor") ? it.per_s / rate("floor") : null;
}

const leftOut = cases
    .map((name) => name.replace(/^(message-db|[^-]+)-.*/, "$1"))
    .filter((peer, nth, peers) => peers.indexOf(peer) === nth && existsSync(`${folder}/${peer}.left-out`))
    .map((peer) => ({ peer, why: readFileSync(`${folder}/${peer}.left-out`, "utf8").trim() }));

const number = (value, digits) =>
    value === null || value === undefined
        ? "-"
        : value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
const rows = [["", "messages/s", "p50 ms", "p99 ms", "quipu by WebSocket is", "of the floor"]];
for (const it of summaries) {
    rows.push([
        it.name,
        it.failed ? "failed" : number(it.per_s, 0),
        number(it.p50_ms, 1),
        number(it.p99_ms, 1),
        it.quipu_ws_is_times === null ? "-" : `${number(it.quipu_ws_is_times, 2)} ×`,
        it.of_the_floor === null ? "-" : `${number(it.of_the_floor * 100, 1)} %`,
    ]);
}
const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
for (const row of rows) {
    const cells = row.map((cell, nth) => (nth === 0 ? cell.padEnd(widths[0]) : cell.padStart(widths[nth])));
    console.log(`| ${cells.join(" | ")} |`);
    if (row === rows[0]) {
        console.log(`|${widths.map((width, nth) => "-".repeat(width + 1) + (nth === 0 ? "-" : ":")).join("|")}|`);
    }
}
const rounds = Math.max(0, ...results.map((it) => it.round));
console.log(`\nMedians of ${rounds} round(s). 200-byte messages; each is durable before it is acknowledged.`);
if (floor) {
    const { way, rows, connections, tried } = floor;
    console.log(`The floor, best of ${tried.length} ways: ${way}, ${rows} rows a commit, ${connections} connections.`);
}
for (const { name, failed, refused, rounds } of summaries) {
    if (failed) {
        console.log(`${name} failed: ${failed}`);
    } else if (refused) {
        console.log(`${name}: ${refused} refused, like: ${rounds.find((it) => it.complaint)?.complaint ?? "not said"}`);
    }
}
for (const { peer, why } of leftOut) {
    console.log(`${peer} could not be installed or prepared: ${why}`);
}
const { disk, versions } = machine;
const speed = `${disk.syncs_per_s} synchronous writes/s`;
console.log(`${machine.processor}, ${machine.cores} cores, ${machine.memory_mib} MiB, kernel ${machine.kernel}`);
console.log(`${disk.device} (${disk.file_system}), ${speed}; load ${machine.load.toFixed(1)} at the start`);
console.log(Object.entries(versions).map(([name, version]) => `${name} ${version}`).join(", "));
console.log(machine.settings);
if (machine.load > machine.cores / 2) {
    console.log("Others were at work on this machine: these figures show that it works, and nothing else.");
}

writeFileSync(json, JSON.stringify({ machine, floor, cases: summaries, left_out: leftOut }, null, 2) + "\n");
console.log(`All rounds: ${json}`);
const ours = ["floor", "quipu-ws", "quipu-rest"];
const lost = summaries.some((it) => it.failed && ours.includes(it.case)) || leftOut.some((it) => /floor|quipu/.test(it.peer));
process.exitCode = lost ? 1 : 0;
