#!/bin/bash
# A machine with control groups of version 2 alone, or the look of one: a mount namespace that has nothing else.
. "$(dirname "$0")/../lib/tap.sh"
. "$SOURCE_DIR/tests/launch/lib.sh"

(($(id -u) == 0)) || skip_all 'only root may mount'
cat >pure <<'TEXT'
#!/bin/bash
umount -R /sys/fs/cgroup && mount -t cgroup2 none /sys/fs/cgroup || exit 99
exec "$@"
TEXT
chmod +x pure
pure() { unshare -m ./pure "$@"; }
run pure cat /proc/self/mountinfo
[[ $status == 0 ]] || skip_all "control groups cannot be mounted anew: $err"
is 'there is one hierarchy' "$(grep -c ' - cgroup2 ' <<<"$out") $(grep -c ' - cgroup ' <<<"$out")" '1 0'
controllers=$(pure cat /sys/fs/cgroup/cgroup.controllers)

# CI may be told to take no skip for an answer; here the kernel gives the reason below
run pure env -u CI "$SONDE_TEST_PLACE"
is 'leaves: ends are exact, a deaf daemon is ended, the group tells what was used, nothing stays' "$status" 0 || diag "$out$err"
diag "$(grep SKIP <<<"$out$err" | sort -u | head -3)"

for limit in '--pids-limit 10' '--memory-limit 64M' '--cpus 0.5'; do
	case $limit in *pids*) name=pids ;; *mem*) name=memory ;; *) name=cpu ;; esac
	# shellcheck disable=SC2086 # an option and its value
	run pure "$SONDE" record -q -o "limit-$name" $limit -- sh -c 'exit 5'
	if [[ " $controllers " == *" $name "* ]]; then
		is "$name: the limit is set" "$status" 5
	else
		is "$name: version 2 has no such controller here (version 1 has it): refused" "$status" 125
		like "$name: with the reason" "$err" "$name"
	fi
done
if [[ " $controllers " == *' pids '* ]]; then
	check_ladder 'version 2' pure "$SONDE" record -q -o ladder --timeout 1s --pids-limit 100
else
	skip 'version 2: limits hold' 'this kernel'\''s controllers are bound to version 1'
fi
check_ladder 'a sandbox with a leaf of version 2' pure "$SONDE" record -q -o sandbox --timeout 1s --sandbox
# Those of tests beside this one vanish in their time too.
mapfile -t leaves < <(find /sys/fs/cgroup -maxdepth 4 -name 'sonde-*' -path '*unified*' -newer pure 2>/dev/null)
left() { for leaf in "${leaves[@]}"; do [[ ! -d $leaf || -s $leaf/cgroup.procs ]] || echo "$leaf"; done; }
for _ in $(seq 600); do [[ -z $(left) ]] && break; sleep 0.1; done
is 'no leaf is left' "$(left)" ''
done_testing
