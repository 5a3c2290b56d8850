// A closed loop: so many writers, each of which sends its next message when the last one is acknowledged as durable.
// Prints what came of it as one line of JSON. Knows nothing of whom it asks.

/** Measured, in seconds; before that it runs unmeasured for WARMUP_S seconds. */
const SECONDS = Number(process.env.MEASURED_S ?? 10);
const WARMUP = Number(process.env.WARMUP_S ?? 2);

/** After the end, answers that are still due are waited for so long, in seconds. */
const ANSWERS_AWAITED = 30;

/** The text of every message: 200 bytes. */
export const TEXT = "the quick brown fox jumps over the lazy dog, ".repeat(5).slice(0, 200);

/**
 * Has `writers` writers call `write(writer, nth)`, which returns when that message (or, where it returns a number, so
 * many messages) is durable and throws when it was refused. Returns messages a second and the quantiles of `write`;
 * `acknowledged` counts the warm-up, too, so that it can be compared with what is stored.
 */
export async function closedLoop(writers, write, { seconds = SECONDS, warmup = WARMUP } = {}) {
    const from = performance.now() + warmup * 1000;
    const until = from + seconds * 1000;
    const took = [];
    let messages = 0;
    let acknowledged = 0;
    let refused = 0;
    let complaint;
    async function writer(number) {
        for (let nth = 0; performance.now() < until; nth++) {
            const asked = performance.now();
            let written = 1;
            try {
                written = (await write(number, nth)) ?? 1;
            } catch (error) {
                refused += 1;
                complaint ??= String(error?.message ?? error);
                continue;
            }
            const answered = performance.now();
            acknowledged += written;
            if (answered >= from && answered < until) {
                messages += written;
                took.push(answered - asked);
            }
        }
    }
    const all = Promise.all(Array.from({ length: writers }, (_, number) => writer(number)));
    await Promise.race([all, deadline((warmup + seconds + ANSWERS_AWAITED) * 1000)]);
    if (messages === 0) {
        throw new Error(`nothing was acknowledged: ${complaint ?? "no answer"}`);
    }
    took.sort((a, b) => a - b);
    const at = (quantile) => took[Math.min(took.length - 1, Math.floor(took.length * quantile))];
    return { per_s: messages / seconds, p50_ms: at(0.5), p99_ms: at(0.99), acknowledged, refused, complaint };
}

/** Prints what was measured, for `run`, and ends the process whatever is still open. */
export function report(measured, note = {}) {
    process.stdout.write(JSON.stringify({ ...measured, ...note }) + "\n", () => process.exit(0));
}

function deadline(ms) {
    return new Promise((_, reject) => {
        setTimeout(() => reject(new Error("answers are still due long after the end")), ms).unref();
    });
}
