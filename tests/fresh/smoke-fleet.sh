# shellcheck shell=bash
# Commands of a cluster: fleet, monitor, agent, submit, job. They need nats-server; where it is missing, that is what
# `fleet up` has to print, and the others that no fleet runs.

has_nats() { command -v nats-server >/dev/null || [[ -x /usr/sbin/nats-server ]]; }

# in_fleet COMMAND...: run it while a fleet of one agent runs in this directory.
in_fleet() {
	local status=0
	export SONDE_FLEET_DIR=$PWD/fleet
	quietly sonde fleet up --agents 1
	"$@" || status=$?
	quietly sonde fleet down
	return "$status"
}

without_fleet() { SONDE_FLEET_DIR=$PWD/none fails 1 '^sonde: .*fleet.*none' sonde "$@" && matches '^hint: .*sonde fleet' err; }

smoke_fleet() {
	if has_nats; then
		in_fleet want 'agent' sonde fleet status
	else
		export SONDE_FLEET_DIR=$PWD/fleet
		fails 1 'nats-server' sonde fleet up
		matches '^hint: .*apt.* install nats-server' err
		quietly sonde fleet status
	fi
}

smoke_monitor() { without_fleet monitor; }

smoke_agent() { without_fleet agent; }

run_job() {
	local job
	job=$(sonde submit -- sh -c 'echo hello')
	poll is_finished "$job"
	want 'hello' sonde job log "$job"
	want "$job" sonde job list
}

is_finished() { sonde job show --json "$1" | grep '"state": *"done"'; }

smoke_submit() { if has_nats; then in_fleet run_job; else without_fleet submit -- true; fi; }

smoke_job() { without_fleet job list; }
