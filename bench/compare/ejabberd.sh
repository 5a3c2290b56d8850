# shellcheck shell=bash
# ejabberd for `run`: unpacked from Debian's packages into a folder of its own, so that no service is installed or
# started on this machine, and run from there with its message archive (mod_mam) in the Postgres of the comparison.
# Uses of `run`: $work, $data, $account, $as_account. Sourced, not run.

# ejabberd_install: unpacks it into $work/ejabberd, unless it is there.
ejabberd_install() {
    local root=$work/ejabberd packages=$work/packages
    [[ -e $root/complete ]] && return 0
    rm -rf "$root" "$packages"
    mkdir -p "$root" "$packages/partial"
    # What the machine has already is not downloaded again; Erlang itself is wanted in any case.
    local package download=(apt-get install --quiet --quiet --yes --download-only --reinstall --no-install-recommends
        -o Dir::Cache::archives="$packages" -o Debug::NoLocking=1 ejabberd erlang-p1-pgsql erlang-base)
    # A machine that is new may not know yet what there is.
    "${download[@]}" >/dev/null || { apt-get update --quiet --quiet >/dev/null && "${download[@]}" >/dev/null; }
    for package in "$packages"/*.deb; do
        dpkg-deb --extract "$package" "$root"
    done
    rm -rf "$packages"
    touch "$root/complete"
}

# ejabberd_version
ejabberd_version() {
    local version erlang
    version=$(basename "$(echo "$work"/ejabberd/usr/lib/*/ejabberd-*-*/)")
    erlang=$(find "$work/ejabberd/usr/lib/erlang/releases" -mindepth 1 -maxdepth 1 -type d -printf %f)
    echo "${version#ejabberd-} on Erlang $erlang"
}

# ejabberd_start DATABASE PASSWORD POSTGRES_PORT: serves chat.localhost for the users u0 to u63 (password "secret") and
# sets $xmpp_port. Archives in DATABASE, which gets ejabberd's schema and these users.
ejabberd_start() {
    local database=$1 password=$2 postgres_port=$3 home=$data/ejabberd root=$work/ejabberd
    local erlang=$root/usr/lib/erlang application
    application=$(echo "$root"/usr/lib/*/ejabberd-*-*/)
    psql --quiet --dbname "$database" --set ON_ERROR_STOP=1 --file "$root/usr/share/ejabberd/sql/pg.sql" >/dev/null
    psql --quiet --dbname "$database" --set ON_ERROR_STOP=1 \
        --command "insert into users (username, password)
                   select 'u' || n, 'secret' from generate_series(0, 63) as n" \
        --command "grant all on all tables in schema public to ejabberd" \
        --command "grant all on all sequences in schema public to ejabberd"
    rm -rf "$home"
    mkdir -p "$home"
    xmpp_port=$(free_port)
    sed -e "s|@XMPP_PORT@|$xmpp_port|; s|@POSTGRES_PORT@|$postgres_port|" \
        -e "s|@DATABASE@|$database|; s|@PASSWORD@|$password|" ejabberd.yml >"$home/ejabberd.yml"
    chmod 600 "$home/ejabberd.yml"
    chown -R "$account" "$home"
    # What the script `erl` would do, but for a root that is elsewhere. Without a name the node needs no epmd;
    # schedulers that spin while they wait (+sbwt) would take Postgres's time on the same cores.
    "${as_account[@]}" env -C "$home" HOME="$home" \
        ROOTDIR="$erlang" BINDIR="$(echo "$erlang"/erts-*/bin)" EMU=beam PROGNAME=erl \
        LD_LIBRARY_PATH="$(echo "$root"/usr/lib/*-linux-gnu)" \
        EJABBERD_CONFIG_PATH="$home/ejabberd.yml" EJABBERD_LOG_PATH="$home/ejabberd.log" \
        "$(echo "$erlang"/erts-*/bin)/erlexec" -noinput -boot "$erlang/bin/start_clean" \
        +P 250000 +sbwt none +sbwtdcpu none +sbwtdio none -pa "$application/ebin" -mnesia dir "\"$home/mnesia\"" -s ejabberd \
        >"$home/stdout.log" 2>&1 &
    ejabberd_pid=$!
    wait_until "$ejabberd_pid" bash -c "exec 3<>/dev/tcp/127.0.0.1/$xmpp_port" && return 0
    tail -n 5 "$home/stdout.log" >&2 || true
    ejabberd_stop
    return 1
}

# ejabberd_stop: harmless where it does not run.
ejabberd_stop() {
    stop "${ejabberd_pid:-}" TERM
    ejabberd_pid=
}
