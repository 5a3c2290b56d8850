# shellcheck shell=bash
# The Postgres of the comparison, for `run`. quipu makes the cluster, so the settings are those of its embedded
# server by construction (api/src/postgres_server/settings.rs); then it runs here, on a socket of its own, and on one
# loopback port for ejabberd, whose driver knows no socket files.
# Uses of `run`: $data and $quipu. Sourced, not run.

# postgres_start: makes the cluster and starts it. Sets PGHOST, PGPORT and PGUSER for every client, $account (who owns
# the cluster, since Postgres refuses root) and $as_account (the words before a command that is to run as that user).
postgres_start() {
    local cluster=$data/cluster programs
    mkdir -m 755 "$data/quipu" "$data/socket"
    "$quipu" migrate --data "$data/quipu" >"$data/migrate.log" 2>&1 || fail "$(tail -n 3 "$data/migrate.log")"
    # Where its user cannot enter the data directory, quipu puts the cluster elsewhere and leaves word.
    cluster=$data/quipu/postgres
    [[ ! -e $data/quipu/postgres.location ]] || fail "TMPDIR has to be a folder that every user may enter"
    account=$(stat --format %U "$cluster")
    as_account=()
    if [[ $(id -u) -eq 0 ]]; then
        # Not runuser: this becomes the command itself, so a signal to it reaches the right one.
        as_account=(setpriv --reuid "$account" --regid "$(id -g "$account")" --clear-groups --)
    fi
    chown "$account" "$data/socket"
    programs=${QUIPU_PG_BIN:-/usr/lib/postgresql/$(cat "$cluster/PG_VERSION")/bin}
    [[ -x $programs/postgres ]] || programs=$(pg_config --bindir)

    ejabberd_password=$(tr -dc a-z0-9 </dev/urandom | head -c 24 || true)
    sed -i '1i host all ejabberd 127.0.0.1/32 scram-sha-256' "$cluster/pg_hba.conf"
    export PGHOST=$data/socket PGPORT PGUSER=quipu PGOPTIONS='-c client_min_messages=warning'
    PGPORT=$(free_port)
    "${as_account[@]}" "$programs/postgres" -D "$cluster" -k "$data/socket" -p "$PGPORT" \
        -c listen_addresses=127.0.0.1 >"$data/postgres.log" 2>&1 </dev/null &
    postgres_pid=$!
    wait_until "$postgres_pid" psql --dbname postgres --command 'select 1' || fail "$(tail -n 5 "$data/postgres.log")"
    psql --quiet --dbname postgres --command "create role ejabberd login password '$ejabberd_password'"
}

# postgres_stop: a fast shutdown; harmless where it does not run.
postgres_stop() {
    stop "${postgres_pid:-}" INT
    postgres_pid=
}

# fresh DATABASE [TEMPLATE]: makes it anew, with nothing left to write of what came before.
fresh() {
    psql --quiet --dbname postgres --command "drop database if exists $1 with (force)" \
        --command "create database $1 template ${2:-template0} strategy file_copy" --command checkpoint
    export PGDATABASE=$1
}

# stored QUERY: one number from the database of the moment.
stored() {
    psql --quiet --no-align --tuples-only --command "$1"
}
