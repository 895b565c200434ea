#!/bin/bash
# A run that is not there: an error that names it and a hint that helps.
. "$(dirname "$0")/../lib/tap.sh"

for command in info events export; do
	run "$SONDE" $command
	is "$command without any run fails" "$status" 1
	is "$command: no data" "$out" ''
	like "$command: it says where it looked" "$err" "^sonde: cannot find the latest run in 'sonde-runs'"
	like "$command: and what to do" "$err" $'\nhint: .*sonde record'
done

"$SONDE" record -- true
name=$(readlink sonde-runs/latest)
run "$SONDE" info "${name%?}X"
is 'a name with a typo fails' "$status" 1
like 'with the right one' "$err" "hint: did you mean '$name'\?"
run "$SONDE" info true
like 'a part of a name too' "$err" "hint: did you mean '$name'\?"
run "$SONDE" info nothing-like-it
like 'else those that are there' "$err" "hint: in 'sonde-runs' are: '$name'"
run "$SONDE" info ./nothing-like-it
is 'a path that is not there' "$status" 1
run "$SONDE" info /etc/passwd
is 'a file is no run' "$status" 1
run "$SONDE" info /tmp
is 'a directory that is no run' "$status" 1
run "$SONDE" info a b
is 'two runs are a usage error' "$status" 2

ln -sfn /etc sonde-runs/latest
run "$SONDE" info
is 'a latest that points elsewhere is not followed' "$status" 1
like 'and it is said' "$err" 'not followed'

done_testing
