#!/bin/bash
# sonde setup: does what is missing, remembers what was there, restores exactly that. On a copy of the files.
. "$(dirname "$0")/../lib/tap.sh"

root=$TEST_DIR/root
export SONDE_SETUP_ROOT=$root
state=$root/var/lib/sonde/setup.json

fresh() {
	rm -rf "$root"
	mkdir -p "$root/proc/sys/kernel" "$root/sys/kernel/tracing/events"
	echo 3 >"$root/proc/sys/kernel/perf_event_paranoid"
	echo 0 >"$root/proc/sys/kernel/task_delayacct"
}
value() { cat "$root/proc/sys/kernel/$1"; }

fresh
before=$(find "$root" -type f -exec md5sum {} +)
run "$SONDE" setup --dry-run
is 'a dry run exits with 0' "$status" 0
like 'it says what it would change' "$out" "perf +would change +$root/proc/sys/kernel/perf_event_paranoid: 3 -> 1"
like 'and what is already there' "$out" 'tracefs +already'
is 'it changes nothing' "$(find "$root" -type f -exec md5sum {} +)" "$before"

run "$SONDE" setup
is 'setup exits with 0' "$status" 0
like 'it says what it did' "$out" 'perf +done'
is 'perf_event_paranoid is 1' "$(value perf_event_paranoid)" 1
is 'task_delayacct is 1' "$(value task_delayacct)" 1
is 'the old values are remembered' "$(jq -c '[.changes[] | [.step, .before, .after]]' "$state")" \
	'[["perf","3","1"],["delays","0","1"]]'
is 'for root alone' "$(stat -c %a "$state")" 600

run "$SONDE" setup
is 'a second time exits with 0' "$status" 0
unlike 'and does nothing' "$out" 'done'
is 'the old values are still the old ones' "$(jq -r '.changes[0].before' "$state")" 3

run "$SONDE" setup --undo --dry-run
like 'a dry undo says what it would restore' "$out" 'perf +would change +.*: 1 -> 3'
is 'and does not' "$(value perf_event_paranoid)" 1

run "$SONDE" setup --undo
is 'undo exits with 0' "$status" 0
is 'perf_event_paranoid is as it was' "$(value perf_event_paranoid)" 3
is 'task_delayacct is as it was' "$(value task_delayacct)" 0
ok 'the record is gone' test ! -e "$state"
run "$SONDE" setup --undo
is 'a second undo has nothing to do' "$out" 'nothing to undo'

fresh
"$SONDE" setup >/dev/null
echo 2 >"$root/proc/sys/kernel/perf_event_paranoid"
run "$SONDE" setup --undo
like 'a value that somebody changed since is left' "$out" 'perf +left'
is 'as it is' "$(value perf_event_paranoid)" 2
is 'the others are restored' "$(value task_delayacct)" 0

fresh
echo -1 >"$root/proc/sys/kernel/perf_event_paranoid"
rm "$root/proc/sys/kernel/task_delayacct"
run "$SONDE" setup
like 'a more open setting is enough' "$out" 'perf +already'
is 'and stays' "$(value perf_event_paranoid)" -1
like 'what the kernel does not have is skipped' "$out" 'delays +skipped'
is 'without failing' "$status" 0

# A value that does not hold: the kernel can refuse in silence, and a full device does.
fresh
ln -sf /dev/full "$root/proc/sys/kernel/task_delayacct"
run "$SONDE" setup
is 'a step that fails exits with 1' "$status" 1
like 'the step says why' "$out" 'delays +failed'
is 'the others are done' "$(value perf_event_paranoid)" 1

fresh
mkdir -p "$root/var/lib/sonde"
echo 'not json' >"$state"
run "$SONDE" setup
is 'a damaged record stops it' "$status" 1
like 'with a reason' "$err" 'is not a record of changes'
is 'before anything is changed' "$(value perf_event_paranoid)" 3

# The real mount, in a mount namespace that ends with the command.
fresh
rmdir "$root/sys/kernel/tracing/events"
if unshare --mount true 2>/dev/null && unshare --mount mount -t tracefs tracefs "$root/sys/kernel/tracing" 2>/dev/null; then
	# shellcheck disable=SC2016 # for the inner shell
	run unshare --mount bash -c '"$SONDE" setup && test -e "$1/events/sched" && "$SONDE" setup --undo && test ! -e "$1/events"' \
		bash "$root/sys/kernel/tracing"
	is 'tracefs is mounted and unmounted' "$status" 0
else
	skip 'tracefs is mounted and unmounted' 'needs the right to mount'
fi

# Without the copy, only root may.
unset SONDE_SETUP_ROOT
if [[ $(id -u) == 0 ]] && command -v setpriv >/dev/null; then
	chmod 755 "$TEST_DIR"
	mkdir -p user/bin user/libexec/sonde
	cp "$SONDE" user/bin/
	cp "$SONDE_STAGE/libexec/sonde/sonde-look" user/libexec/sonde/
	run setpriv --reuid 65534 --regid 65534 --clear-groups user/bin/sonde setup
	is 'an ordinary user is refused' "$status" 1
	like 'and told how' "$err" "hint: run .sudo .*/user/bin/sonde setup"
	run setpriv --reuid 65534 --regid 65534 --clear-groups user/bin/sonde setup --dry-run
	is 'but may look' "$status" 0
else
	run "$SONDE" setup
	is 'an ordinary user is refused' "$status" 1
	like 'and told how' "$err" 'hint: run .sudo '
	run "$SONDE" setup --dry-run
	is 'but may look' "$status" 0
fi

done_testing
