# shellcheck shell=bash
# Starts processes for `run`, waits for them and ends them. Sourced, not run.

# What takes longer than this after its measured time hangs, in seconds.
HANGS_S=90
# A server that starts is looked at so many times, every tenth of a second.
READY_TRIES_MAX=600

# say TEXT: on standard error; standard output is for the table.
say() {
    echo "compare: $*" >&2
}

fail() {
    say "$*"
    exit 1
}

# free_port: a loopback port on which nobody listens.
free_port() {
    node -e '
        const server = require("net").createServer();
        server.listen(0, "127.0.0.1", () => {
            console.log(server.address().port);
            server.close();
        });
    '
}

# wait_until PID COMMAND…: until the command succeeds; fails when the process is gone or it takes too long.
wait_until() {
    local pid=$1 tries=0
    shift
    until "$@" >/dev/null 2>&1; do
        tries=$((tries + 1))
        [[ $tries -le $READY_TRIES_MAX ]] && kill -0 "$pid" 2>/dev/null || return 1
        sleep 0.1
    done
}

# stop PID SIGNAL: and wait for its end; harmless without a PID or where it has ended.
stop() {
    [[ -n $1 ]] || return 0
    kill -s "$2" "$1" 2>/dev/null || true
    wait "$1" 2>/dev/null || true
}

# client COMMAND…: runs it in $work, where the packages are. In the background, so that we hear a signal at once.
client() {
    MEASURED_S=$seconds WARMUP_S=$warmup timeout "$((HANGS_S + seconds))" env -C "$work" "$@" </dev/null &
    client_pid=$!
    local code=0
    wait "$client_pid" || code=$?
    client_pid=
    return "$code"
}

# attempt OUT ERR COMMAND…: in a shell of its own, which ends at the first failure and stops what it has started.
# Not to be called where a failure is caught (behind ||, in an if): there the shell would go on after a failure.
attempt() {
    local out=$1 err=$2
    shift 2
    (
        set -e
        trap 'stop "${client_pid:-}" TERM; quipu_stop; ejabberd_stop' EXIT
        trap 'exit 143' TERM
        "$@"
    ) >"$out" 2>"$err" &
    attempt_pid=$!
    wait "$attempt_pid"
    local code=$?
    attempt_pid=
    return "$code"
}
