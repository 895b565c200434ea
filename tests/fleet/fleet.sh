# shellcheck shell=bash
# fleet.sh: a fleet in the test's own directory, ended whatever happens.
. "$(dirname "${BASH_SOURCE[0]}")/../lib/tap.sh"

command -v nats-server >/dev/null || [[ -x /usr/sbin/nats-server ]] || skip_service 'nats-server is not installed'

export SONDE_FLEET_DIR=$TEST_DIR/fleet
fleet_exit() {
	local rc=$?
	timeout 60 "$SONDE" fleet down >/dev/null 2>&1
	(exit "$rc")
	tap_exit
}
trap fleet_exit EXIT

# sonde ARGUMENT...: with an end to its patience.
sonde() { timeout 60 "$SONDE" "$@"; }

# wait_for COMMAND...: until it succeeds; a minute at most.
wait_for() {
	for _ in {1..600}; do
		"$@" && return 0
		sleep 0.1
	done
	return 1
}

# field JOB NAME: of `job show --json`, as text; nothing when it is not there.
field() {
	sonde job show --json "$1" | /usr/bin/python3 -c 'import json, sys; print(json.load(sys.stdin).get(sys.argv[1], ""))' "$2"
}

# is_now JOB STATE
is_now() { [[ $(field "$1" state) == "$2" ]]; }

# processes ROLE: their numbers
processes() {
	/usr/bin/python3 -c 'import json, sys
for p in json.load(open(sys.argv[1]))["processes"]:
    if p["role"] == sys.argv[2]: print(p["pid"])' "$SONDE_FLEET_DIR/fleet.json" "$1"
}

# is_gone PID: not there, or waiting for somebody to collect it
is_gone() { [[ ! -e /proc/$1 ]] || grep -q '^State:[[:space:]]*Z' "/proc/$1/status" 2>/dev/null; }

# fleet_json KEY: of what `fleet up` wrote
fleet_json() { /usr/bin/python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' "$SONDE_FLEET_DIR/fleet.json" "$1"; }

# is_heard AGENT STATE: as `fleet status` says it
is_heard() {
	sonde fleet status --json | /usr/bin/python3 -c 'import json, sys
sys.exit([sys.argv[1], sys.argv[2]] not in [[p["agent"], p["state"]] for p in json.load(sys.stdin)["heard"]])' "$1" "$2"
}
