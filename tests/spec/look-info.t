#!/bin/bash
# sonde info: what ran, how it ended, what was seen, for people and for scripts.
# shellcheck disable=SC2016 # jq and other shells have variables of their own
. "$(dirname "$0")/../lib/tap.sh"

holds() { jq -e "$1" <<<"$out" >/dev/null; }

mkdir files
for i in 1 2 3; do head -c 100000 /dev/zero >files/$i; done
"$SONDE" record --name first -- tar -cf out.tar files

run "$SONDE" info
is 'it exits with 0' "$status" 0
is 'it says nothing on standard error' "$err" ''
like 'it names the command' "$out" $'\nprogram +tar -cf out.tar files\n'
like 'it says how it ended' "$out" $'\nended +exit 0, after [0-9.]+ m?s\n'
like 'it names the clock and its error' "$out" $'\nclock +CLOCK_MONOTONIC, source [a-z_]+(, within [0-9.]+ ns)?\n'
like 'the tracer ran' "$out" $'\nprobe +trace ran, processes 1, events [1-9][0-9]*\n'
like 'it lists the process' "$out" $'Processes\nNUMBER +PID .*\n +1 +[0-9]+ .*tar -cf out.tar files +exit 0\n'
like 'it lists the tables' "$out" $'\nio +[0-9]+ +[0-9]+ +[0-9.]+\n'
like 'it lists calls' "$out" $'\n +[0-9]+ +0 +[0-9.]+ [mun]?s +293 KiB +read\n'
like 'it lists files' "$out" "97.7 KiB +$TEST_DIR/files/1"$'\n'
like 'nothing is missing' "$out" $'\nMissing\nnothing'
unlike 'no colour without a terminal' "$out" $'\e'

run "$SONDE" info --json
ok '--json is one object' holds 'type == "object"'
is 'on one line' "$(wc -l <<<"$out")" 1
ok "it has run.json's keys" holds '.sonde_run == 1 and .state == "complete" and .argv[0] == "tar" and .exit.code == 0'
ok 'and the path' holds '.path | startswith("sonde-runs/")'
ok 'processes are whole' holds '.processes | length == 1 and (.[0] | .argv[1] == "-cf" and .exit_code == 0 and
	.exit_signal == null and .parent == null and .dropped == 0 and .state == "ended")'
ok 'tables have rows, bytes and blocks' holds 'all(.tables[]; .rows > 0 and .bytes > 0 and .blocks > 0 and .loss == null)'
ok 'the rows of io are the events of the probe' holds '.tables.io.rows == .probes[0].events'
ok 'calls add up to them' holds '([.calls[].count] | add) == .tables.io.rows'
ok 'bytes of the files are known' holds '[.files_by_bytes[] | select(.path | endswith("/files/2")) | .bytes] == [100000]'
ok 'no loss' holds '.loss == []'

# Ways to name a run.
name=$(basename "$(readlink sonde-runs/latest)")
"$SONDE" record -o elsewhere -- sh -c 'exit 3' || :
for way in "$name" "sonde-runs/$name" "$TEST_DIR/sonde-runs/$name" latest sonde-runs/latest; do
	run "$SONDE" info --json "$way"
	ok "a run may be called $way" holds '.argv[0] == "tar"'
done
run "$SONDE" info --json elsewhere
ok 'a directory elsewhere is a run' holds '.exit.code == 3'
SONDE_RUNS=$TEST_DIR/sonde-runs run env -C / "$SONDE" info --json
ok 'SONDE_RUNS says where runs are' holds '.argv[0] == "tar"'

# How things end.
run "$SONDE" info elsewhere
like 'exit codes' "$out" $'\nended +exit 3, after'
("$SONDE" record -o killed -- sh -c 'kill -9 $$'; :) 2>/dev/null
run "$SONDE" info killed
like 'signals by name' "$out" $'\nended +killed by SIGKILL, after'
run "$SONDE" info --json killed
ok 'in JSON by number' holds '.exit.code == null and .exit.signal == 9 and .processes[0].exit_signal == 9'

# A family, in tree order, and long lists cut.
"$SONDE" record -- sh -c '(true; /bin/true); for i in $(seq 30); do /bin/true; done; :'
run "$SONDE" info
like 'long lists are cut' "$out" '\.\.\. and [0-9]+ more \(--all\)'
like 'children are indented' "$out" $'exit 0\n +[0-9]+ +[0-9]+ +1 .*[0-9]  (  )+[^ ]*(sh|/bin/true)'
run "$SONDE" info --all
unlike '--all cuts nothing' "$out" 'more \(--all\)'
run "$SONDE" info --json
ok 'all processes are in JSON' holds '.processes | length > 30'
ok 'parents come before their children' holds '[foreach .processes[] as $p ([]; . + [$p.process];
	$p.parent as $parent | $parent == null or any(.[]; . == $parent))] | all'

done_testing
