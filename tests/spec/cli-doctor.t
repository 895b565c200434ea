#!/bin/bash
# sonde doctor: every facility with its state; what does not work has a reason; nothing is changed.
# Others mount and unmount beside us: with mounts of our own, what changes is ours.
if [[ -z ${DOCTOR_IS_ALONE:-} ]] && unshare --mount --propagation private true 2>/dev/null; then
	DOCTOR_IS_ALONE=1 exec unshare --mount --propagation private "$0" "$@"
fi
. "$(dirname "$0")/../lib/tap.sh"

settings() {
	cat /proc/sys/kernel/perf_event_paranoid /proc/sys/kernel/task_delayacct /proc/self/mounts 2>/dev/null
	find "$TEST_DIR" -mindepth 1 -not -name '.*'
}

before=$(settings)
run "$SONDE" doctor --json
ok 'it says whether recording works' test "$status" -le 1
is 'it says nothing on standard error' "$err" ''
holds() { jq -e "$1" <<<"$out" >/dev/null; }
ok '--json is valid' holds .
ok 'all states are known' holds 'all(.facilities[]; .state | IN("works", "partly", "no", "none"))'
ok 'every one says what was found' holds 'all(.facilities[]; .why | length > 0)'
ok 'what works needs no fix' holds 'all(.facilities[]; .state != "works" or .fix == null)'
ok 'the exit status is that of the needed ones' test "$status" = \
	"$(jq 'if any(.facilities[]; .needed and .state == "no") then 1 else 0 end' <<<"$out")"
json=$out

missing=$("$SONDE" setup --dry-run | awk 'NR > 1 { print $1 }')
for step in $(jq -r '.facilities[].setup // empty' <<<"$json" | sort -u); do
	like "'sonde setup' has the step $step" "$missing" "(^|"$'\n'")$step("$'\n'"|$)"
done

is 'nothing was changed' "$(settings)" "$before"

run "$SONDE" doctor
for name in platform libsonde tracefs BPF cgroups GPU; do
	like "the table has $name" "$out" "(works|partly|no|none) +$name"
done

# The tracing library is judged by the loader itself.
mkdir -p broken/bin broken/libexec/sonde broken/lib
cp "$SONDE" broken/bin/
cp "$SONDE_STAGE/libexec/sonde/sonde-look" broken/libexec/sonde/
libsonde() { broken/bin/sonde doctor --json | jq -r '.facilities[] | select(.name == "libsonde") | "\(.state): \(.why)"'; }
like 'a missing libsonde is needed and named' "$(libsonde)" '^no: cannot read .*/lib/libsonde.so.0'
run broken/bin/sonde doctor
is 'without it the exit status is 1' "$status" 1
echo garbage >broken/lib/libsonde.so.0
like 'a damaged one is refused by the loader' "$(libsonde)" '^no: .*cannot be preloaded'

# A user who may do little gets reasons, not failures.
if [[ $(id -u) == 0 ]] && command -v setpriv >/dev/null; then
	chmod 755 "$TEST_DIR"
	mkdir stage
	cp -r "$SONDE_STAGE/bin" "$SONDE_STAGE/libexec" stage/
	run setpriv --reuid 65534 --regid 65534 --clear-groups stage/bin/sonde doctor --json
	ok 'an ordinary user gets an answer' holds '.facilities | length > 10'
	ok 'and reasons in words' holds '[.facilities[] | select(.state == "no" and (.why | length) == 0)] == []'
else
	skip 'an ordinary user gets an answer' 'needs root to become one'
	skip 'and reasons in words' 'needs root to become one'
fi

done_testing
