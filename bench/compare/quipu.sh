# shellcheck shell=bash
# quipu itself, for `run`: one `quipu serve` on the comparison's Postgres. Uses of `run`: $data and $quipu.
# Sourced, not run.

# Signs the tokens of the load; of this run only.
jwt_secret=$(tr -dc a-z0-9 </dev/urandom | head -c 48 || true)

# url DATABASE
url() {
    echo "postgresql://$PGUSER@localhost:$PGPORT/$1?host=$PGHOST"
}

# quipu_start PORT: serves the database `run` there.
quipu_start() {
    QUIPU_JWT_SECRET=$jwt_secret "$quipu" serve --database "$(url run)" --data "$data/serve" \
        --listen "127.0.0.1:$1" >"$data/serve.log" 2>&1 </dev/null &
    quipu_pid=$!
    wait_until "$quipu_pid" curl --silent --fail "http://127.0.0.1:$1/readyz" && return 0
    tail -n 5 "$data/serve.log" >&2
    quipu_stop
    return 1
}

# quipu_stop: harmless where it does not run.
quipu_stop() {
    stop "${quipu_pid:-}" TERM
    quipu_pid=
}
