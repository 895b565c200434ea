#!/bin/bash
# Block requests: those that a program makes past the page cache, each with its time; without tracefs, why there are none.
. "$(dirname "$0")/../lib/tap.sh"

(($(id -u) == 0)) || skip_all 'the block layer is watched as root'
# tracefs in a mount namespace of our own: the machine stays as it is.
traced() { unshare --mount bash -c 'mountpoint -q /sys/kernel/tracing || mount -t tracefs tracefs /sys/kernel/tracing && exec "$@"' bash "$@"; }
untraced() { unshare --mount bash -c '! mountpoint -q /sys/kernel/tracing || umount -R /sys/kernel/tracing && exec "$@"' bash "$@"; }
traced true 2>/dev/null || skip_all 'tracefs cannot be mounted here'
disk=$(stat -c %d .)
[[ -e /sys/dev/block/$((disk >> 8)):$((disk & 255)) ]] || skip_all 'the test directory is on no block device'
dd if=/dev/zero of=file bs=64k count=50 oflag=direct status=none 2>/dev/null || skip_all 'the file system knows no O_DIRECT'

# Where a CPU idles, perf's tracepoints do not see all of its interrupts (ftrace does): keep them all a little busy.
spinners=()
for ((i = $(nproc); i > 0; i--)); do
	timeout 100 nice -n 19 sh -c 'while :; do :; done' &
	spinners+=($!)
done
run traced "$SONDE" record -v --probes trace,block -o run -- dd if=file of=/dev/null bs=64k count=40 iflag=direct
kill "${spinners[@]}"
wait "${spinners[@]}" 2>/dev/null
is 'it runs' "$status" 0
rows=$("$SONDE" events --table block --json run)
pid=$("$SONDE" events --table process --json run | jq -r .pid)
# Pages of dd itself, that a cold cache reads ahead, are not what it asked for.
mine=$(jq -c "select(.pid == $pid and .rw == \"read\" and .bytes >= 65536 and (.flags | contains(\"A\") | not))" <<<"$rows")
bytes=$(jq -s 'map(.bytes) | add' <<<"$mine")
is 'every byte read past the cache' "$bytes" $((40 * 65536))
is 'of the process' "$(jq -r .process <<<"$mine" | sort -u)" 1
is 'each that has an end succeeded' "$(jq -r 'select(.dur_ns != null and (.dur_ns <= 0 or .errnum != 0))' <<<"$mine")" ''
# The kernel may tell nobody of an end that comes while it tells of something else; such are counted, see below.
ok 'and nearly all have one' test "$(jq -s 'map(select(.dur_ns != null)) | length' <<<"$mine")" -ge 30
ok 'no request is longer than the run' test \
	"$(jq -s 'map(.dur_ns) | max' <<<"$mine")" -lt "$(jq .wall_ns run/run.json)"
is 'the run says how many have no end' "$(jq '.probes[] | select(.name == "block").without_end' run/run.json)" \
	"$(jq -s 'map(select(.dur_ns == null)) | length' <<<"$rows")"
io=$("$SONDE" events --json run | jq -s '[.[] | select(.call == "read" and .ret == 65536)]')
is 'and each lies within a call' "$(jq -s --argjson io "$io" 'map(. as $q | select([$io[] |
	select(.ts_ns - 1000000 <= $q.ts_ns and .ts_ns + .dur_ns + 1000000 >= $q.ts_ns + $q.dur_ns)] == [])) | length' <<<"$mine")" 0
like 'the device is named' "$(jq -r .device <<<"$mine" | sort -u)" '^[a-z]'
like 'the end says how many' "$err" 'block: [0-9.k ]+ events, '

run untraced "$SONDE" record -v --probes trace,system,block -o without -- true
is 'without tracefs the program runs' "$status" 0
like 'and the probe says why it does not' "$err" 'block: failed: single requests are not recorded.*: tracefs is not mounted'
like 'and what would help' "$err" 'hint: sudo sonde setup'
is 'counters of disks are there' "$("$SONDE" events --table series --json without | jq -r .name | grep -c '^disk\.' | sed 's/^[1-9].*/some/')" some
done_testing
