// What one case came to in one round: `results.mjs ROUND CASE CODE FOLDER` takes it from FOLDER/out and FOLDER/err,
// says it, and adds it to FOLDER/results.ndjson. Less stored than acknowledged is a failure, whatever the rate.

import { appendFileSync, readFileSync } from "node:fs";

const [round, name, code, folder] = process.argv.slice(2);

function outcome() {
    const [line, stored] = readFileSync(`${folder}/out`, "utf8").trim().split("\n").slice(-2);
    if (code !== "0") {
        const complaint = readFileSync(`${folder}/err`, "utf8").trim().split("\n").slice(-5).join(" | ");
        return { failed: `exit code ${code}: ${complaint}` };
    }
    const measured = { ...JSON.parse(line), stored: Number(stored) };
    if (!(measured.stored >= measured.acknowledged)) {
        return { ...measured, failed: `${measured.acknowledged} acknowledged, but ${stored} stored` };
    }
    return measured;
}

const result = { round: Number(round), case: name, ...outcome() };
appendFileSync(`${folder}/results.ndjson`, JSON.stringify(result) + "\n");
const said = result.failed ? `failed: ${result.failed}` : `${Math.round(result.per_s)}/s`;
console.error(`compare: round ${round}, ${name}: ${said}${result.refused ? `, ${result.refused} refused` : ""}`);
