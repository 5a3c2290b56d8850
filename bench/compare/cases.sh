# shellcheck shell=bash
# What is measured, for `run`: for each case how to prepare its database, how to run it, and how to count what is
# stored afterwards. Sourced, not run.

# The order of the table. Rounds go through it in turn forwards and backwards.
CASES=(
    floor
    quipu-ws quipu-rest
    message-db-one-category message-db-own-category message-db-one-stream
    emmett-many-streams emmett-one-stream
    ejabberd-rooms ejabberd-chats
)

# In flight over WebSocket: connections times requests on each. REST has one on each connection.
WS_CONNECTIONS=64
WS_IN_FLIGHT=32
REST_CONNECTIONS=256
MESSAGE_BYTES=200

# prepare_PEER: once, before the first round. It may fail: then the peer is left out.
prepare_floor() {
    fresh compare_floor
    psql --quiet --set ON_ERROR_STOP=1 --file ../../migrations/V1__log.sql >/dev/null
    TRY_S=$try_s client node floor.mjs >"$data/floor.json"
    psql --quiet --command "truncate log.event, log.body"
}

prepare_quipu() {
    fresh compare_quipu
    "$quipu" migrate --data "$data/serve" --database "$(url compare_quipu)" >"$data/migrate.log" 2>&1
}

prepare_message-db() {
    DATABASE_NAME=compare_message_db bash "$work/node_modules/@eventide/message-db/database/install.sh" >/dev/null
}

prepare_emmett() {
    fresh compare_emmett
}

prepare_ejabberd() {
    ejabberd_install
    ejabberd_version >"$data/ejabberd.version"
}

# measure_PEER CASE: prints one line of JSON on standard output, then the number of messages that are stored.
measure_floor() {
    fresh run compare_floor
    client node floor.mjs "$data/floor.json"
    stored "select least((select count(*) from log.event), (select count(*) from log.body))"
}

measure_quipu() {
    local way=${1#quipu-} connections=$WS_CONNECTIONS port
    [[ $way == ws ]] || connections=$REST_CONNECTIONS
    fresh run compare_quipu
    port=$(free_port)
    quipu_start "$port"
    QUIPU_JWT_SECRET=$jwt_secret client "$quipu" bench load --case sends --via "$way" --bytes "$MESSAGE_BYTES" \
        --seconds "$seconds" --warmup "$warmup" --connections "$connections" --in-flight "$WS_IN_FLIGHT" \
        --url "http://127.0.0.1:$port" --pid "$quipu_pid" --json "$data/load.json" >&2
    quipu_stop
    node -e '
        const [{ answers_per_s, answers_ms, refused, unanswered, broken, seconds }] = require(process.argv[1]).runs;
        const [p50_ms, p99_ms] = [answers_ms.p50, answers_ms.p99];
        const per_s = answers_per_s, acknowledged = Math.round(per_s * seconds);
        console.log(JSON.stringify({ per_s, p50_ms, p99_ms, acknowledged, refused: refused + unanswered + broken }));
    ' "$data/load.json"
    stored "select count(*) from log.event where event_type = 1"
}

measure_message-db() {
    fresh run compare_message_db
    client node message_db.mjs "$(words "${1#message-db-}")"
    stored "select count(*) from message_store.messages"
}

measure_emmett() {
    fresh run compare_emmett
    client node emmett.mjs "$(words "${1#emmett-}")"
    stored "select count(*) from emt_messages"
}

measure_ejabberd() {
    local archive="select count(*) from archive where kind = 'groupchat'"
    fresh run
    ejabberd_start run "$ejabberd_password" "$PGPORT"
    XMPP_PORT=$xmpp_port client node ejabberd.mjs "${1#ejabberd-}"
    ejabberd_stop
    # A single chat's message is archived for each of the two.
    [[ $1 == ejabberd-rooms ]] || archive="select count(*) / 2 from archive where kind = 'chat'"
    stored "$archive"
}

# words own-category: own_category, as the clients call it.
words() {
    echo "${1//-/_}"
}
