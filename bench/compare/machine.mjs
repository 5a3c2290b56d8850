// What figures depend on: the machine, its disk, and the versions of everything. `machine.mjs DATA QUIPU` prints it as
// JSON; DATA is on the disk that is measured.

import { execFileSync } from "node:child_process";
import { closeSync, fdatasyncSync, openSync, readFileSync, unlinkSync, writeSync } from "node:fs";
import os from "node:os";

const [data, quipu] = process.argv.slice(2);

/** So many writes say how fast the disk is; on a slow one they take a few seconds. */
const SYNCS = 200;

function said(command, ...args) {
    try {
        return execFileSync(command, args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
    } catch {
        return "unknown";
    }
}

/** Writes of 8 KiB that the disk has confirmed, one after the other, a second: what no single commit can beat. */
function syncsPerSecond() {
    const path = `${data}/sync`;
    const file = openSync(path, "w");
    const page = Buffer.alloc(8192, 1);
    const from = performance.now();
    for (let nth = 0; nth < SYNCS; nth++) {
        writeSync(file, page, 0, page.length, 0);
        fdatasyncSync(file);
    }
    const rate = (SYNCS * 1000) / (performance.now() - from);
    closeSync(file);
    unlinkSync(path);
    return Math.round(rate);
}

const [device, fileSystem] = said("df", "--output=source,fstype", data).split("\n").at(-1).trim().split(/\s+/);
const { dependencies } = JSON.parse(readFileSync(new URL("package.json", import.meta.url), "utf8"));

console.log(
    JSON.stringify({
        at: new Date().toISOString(),
        processor: os.cpus()[0]?.model,
        cores: os.availableParallelism(),
        memory_mib: Math.round(os.totalmem() / 2 ** 20),
        kernel: os.release(),
        disk: { device, file_system: fileSystem, syncs_per_s: syncsPerSecond() },
        // Over the last minute before: more than a little, and others were at work here, too.
        load: os.loadavg()[0],
        versions: {
            quipu: said(quipu, "--version").replace(/^quipu /, ""),
            // Of this tree; a binary named in QUIPU may be of another.
            commit: said("git", "describe", "--always", "--dirty"),
            postgresql: said("psql", "--dbname=postgres", "-Atc", "show server_version"),
            node: process.versions.node,
            ...dependencies,
        },
        settings: said(
            "psql",
            "--dbname=postgres",
            "-Atc",
            `select string_agg(name || '=' || current_setting(name), ', ' order by name) from pg_settings
              where name in ('fsync', 'synchronous_commit', 'full_page_writes', 'shared_buffers', 'wal_compression',
                             'max_wal_size', 'checkpoint_timeout', 'max_connections', 'jit')`,
        ),
    }),
);
