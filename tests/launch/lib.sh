# shellcheck shell=bash
# What the tests of places share. A program and all that comes from it carry a marker in their arguments.

# with_marker MARKER: how many processes live that have it in their arguments, but for this test and its recorders.
with_marker() {
	local dir count=0
	for dir in /proc/[0-9]*; do
		[[ ${dir#/proc/} != "$$" ]] || continue
		grep -qsaF -- "$1" "$dir/cmdline" || continue
		grep -qsaE -- 'sonde|podman|conmon|runc|docker' <(tr '\0' ' ' <"$dir/cmdline" | cut -d' ' -f1-2) && continue
		grep -qs '^State:.*[ZX] ' "$dir/status" || count=$((count + 1))
	done
	echo $count
}

# none_with MARKER: within a minute nobody has it.
none_with() {
	local i
	for ((i = 0; i < 600; i++)); do
		[[ $(with_marker "$1") == 0 ]] && return 0
		sleep 0.1
	done
	return 1
}

# stubborn MARKER: a program text that hears INT and TERM, says so and stays, and has a child that was forked twice, in a
# session of its own, deaf to both.
stubborn() {
	cat <<TEXT
: $1
(setsid sh -c ': $1; trap "" INT TERM HUP; while :; do sleep 0.2; done' >/dev/null 2>&1 </dev/null &)
trap "echo INT" INT
trap "echo TERM" TERM
while :; do sleep 0.1; done
TEXT
}

# check_ladder NAME COMMAND...: the command is sonde record with a place and a timeout, up to `--`.
check_ladder() {
	local name=$1 marker="marker-$$-$RANDOM$RANDOM"
	shift
	run "$@" -- sh -c "$(stubborn "$marker")"
	is "$name: a timeout is 124" "$status" 124
	is "$name: interrupted, then terminated, then killed" "$out" "$(printf 'INT\nTERM')"
	ok "$name: nobody is left, not even who was forked twice" none_with "$marker"
}
