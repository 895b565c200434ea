#!/bin/bash
# Nodes of several kinds: a job waits for one that has what it needs; others go past it.
. "$(dirname "$0")/fleet.sh"

agents=()
needs_exit() {
	local rc=$? pid
	for pid in "${agents[@]}"; do kill "$pid" 2>/dev/null; done
	(exit "$rc")
	fleet_exit
}
trap needs_exit EXIT
agent() {
	"$SONDE" agent "$@" >>agents.log 2>&1 &
	agents+=($!)
}
sonde fleet up --agents 0 --lease 3s >/dev/null || fail 'a fleet comes up'
agent --name small --cpus 2 --memory 1G
ok 'a small agent is there' wait_for is_heard small idle
cpus=$(sonde submit --cpus 8 -- true)
memory=$(sonde submit --memory 64G -- true)
more=()
for _ in {1..5}; do more+=("$(sonde submit --memory 64G -- true)"); done
label=$(sonde submit --label gpu -- true)
both=$(sonde submit --cpus 2 --memory 1G -- true)
any=$(sonde submit -- true)
ok 'what fits is run past what does not' wait_for is_now "$any" "done"
ok 'what just fits too' wait_for is_now "$both" "done"
is 'the others wait' "$(field "$cpus" state) $(field "$memory" state) $(field "$label" state)" 'queued queued queued'
is 'without an attempt' "$(field "$cpus" attempts)" 0
like 'what they need is shown' "$(sonde job show "$cpus")" 'needs +8 CPUs'
like 'a label too' "$(sonde job show "$label")" "label 'gpu'"
agent --name big --cpus 64 --memory 128G
ok 'a big one joins, and has the CPUs' wait_for is_now "$cpus" "done"
ok 'and the memory' wait_for is_now "$memory" "done"
for job in "${more[@]}"; do ok 'more such jobs as well: none keeps coming to the wrong one' wait_for is_now "$job" "done"; done
is 'it was the big one' "$(field "$cpus" agent) $(field "$memory" agent)" 'big big'
is 'the label still waits' "$(field "$label" state)" queued
agent --name special --label fast,gpu
ok 'one with the label joins' wait_for is_now "$label" "done"
is 'it was that one' "$(field "$label" agent)" special
like 'all are listed with what they have' "$(sonde fleet status)" 'big +idle +64 +128.0 GiB'
kill "${agents[1]}"
wait "${agents[1]}" 2>/dev/null
ok 'one that leaves says so' is_heard big gone
done_testing
