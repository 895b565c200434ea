#!/bin/bash
# recover removes the ring of its run and nothing else, whatever run.json and the ring say.
. "$(dirname "$0")/../lib/tap.sh"

# left NAME: a run whose recorder was killed, and its ring in $ring. What the program reads after that is in the ring alone.
left() {
	rm -f ready release
	"$SONDE" record -o "$1" --probes trace "${@:2}" -- /bin/sh -c \
		': >ready; until [ -e release ]; do sleep 0.02; done; cat /etc/hostname >/dev/null' &
	local front=$!
	until [[ -e ready ]]; do sleep 0.02; done
	until ring=$(jq -er .ring "$1/run.json" 2>/dev/null); do sleep 0.02; done
	kill -9 $front
	wait $front 2>/dev/null
	: >release
}
# names RUN RING: run.json of RUN names that ring.
names() {
	jq --arg ring "$2" '.ring = $ring' "$1/run.json" >changed.json && cp changed.json "$1/run.json"
}
# recover RUN: wait for the program, which may still be ending.
recover() {
	for _ in $(seq 200); do
		run "$SONDE" recover "$1"
		[[ $err == *'still running'* ]] || return 0
		sleep 0.05
	done
}
# victim DIR: a directory of a user, with a copy of a real control page.
victim() {
	mkdir -p "$1/below"
	cp "$ring/control" "$1/control"
	echo thesis >"$1/thesis"
	echo thesis >"$1/below/thesis"
	echo thesis >"$1/1.0"
	echo thesis >"$1/knobs"
}
# intact DIR: nothing of it is gone.
intact() {
	[[ $(cat "$1/thesis" "$1/below/thesis" "$1/1.0" "$1/knobs" | grep -c thesis) == 4 && -e $1/control ]]
}

left run
cp -r run template
for place in "$PWD/victim" "$PWD/sonde-$(id -u).abcdef" "$PWD/run/sonde-$(id -u).abcdef"; do
	rm -rf run && cp -r template run
	victim "$place"
	names run "$place"
	recover run
	is "a run that names $(basename "$place") is recovered without it" "$status" 0
	ok 'which loses nothing' intact "$place"
	like 'and the reason is printed' "$err" 'does not belong to'
done

# Relative names, links, other rings.
rm -rf run && cp -r template run
victim "$PWD/run/self"
cp "$ring/control" run/control
echo thesis >run/thesis
names run .
(cd run && "$SONDE" recover "$TEST_DIR/run" >/dev/null 2>&1)
ok 'a relative name is not followed' test -e run/thesis -a -e run/control
rm -rf run && cp -r template run
ln -s "$PWD/victim" "sonde-$(id -u).linked"
names run "$PWD/sonde-$(id -u).linked"
recover run
ok 'a link is not followed' intact victim
rm -rf run && cp -r template run
names run "$ring/../$(basename "$ring")/../../$PWD/victim"
recover run
ok 'nor a name with ..' intact victim

mine=$ring
left other
rm -rf run && cp -r template run
names run "$ring"
recover run
ok 'the ring of another run stays' test -e "$ring/control"

# Files that are not a ring's stay in a real ring, and it with them.
recover other
ok 'a ring is removed with its run' test ! -e "$ring"
left kept
echo thesis >"$ring/thesis"
mkdir "$ring/below"
echo thesis >"$ring/below/thesis"
recover kept
is 'a ring with a foreign file is recovered' "$(jq -r .state kept/run.json)" recovered
is 'what was in the ring is in the run' "$("$SONDE" events kept --json --call read --path /etc/hostname | wc -l)" 2
ok 'the foreign files stay' test -e "$ring/thesis" -a -e "$ring/below/thesis"
ok 'the ring does not' test ! -e "$ring/control" -a -z "$(find "$ring" -name '*.0')"
rm -rf "$ring"

# Real rings in other places.
mkdir 'a "quoted" \ place'
left disk --ring "$PWD/a \"quoted\" \\ place"
recover disk
is 'a ring that --ring has placed is recovered' "$("$SONDE" events disk --json --call read --path /etc/hostname | wc -l)" 2
ok 'and removed' test ! -e "$ring"

# root recovers the run of another user, whose ring it is.
if [[ $(id -u) == 0 ]] && command -v setpriv >/dev/null; then
	chmod 711 .
	mkdir -m 777 user
	(cd user && exec setpriv --reuid=65534 --regid=65534 --clear-groups "$SONDE" record -o run --probes trace -- \
		/bin/sh -c 'kill -9 $PPID; cat /etc/hostname >/dev/null') 2>/dev/null
	ring=$(jq -r .ring user/run/run.json)
	recover user/run
	is 'root recovers the run of another user' "$("$SONDE" events user/run --json --call read --path /etc/hostname | wc -l)" 2
	ok 'and removes its ring' test ! -e "$ring"
else
	skip 'root recovers the run of another user' 'needs root and setpriv'
	skip 'and removes its ring' 'needs root and setpriv'
fi

# Other parts of a run that a hostile one has.
rm -rf run && cp -r template run
mkdir -p run/tables.new/below
echo thesis >run/tables.new/below/thesis
names run /nonexistent
run "$SONDE" recover run
ok 'recovery deletes no foreign file below the run' test -e run/tables.new/below/thesis
rm -rf run && cp -r template run
cp run/run.json elsewhere.json
rm run/run.json
ln -s ../elsewhere.json run/run.json
before=$(cat elsewhere.json)
run "$SONDE" recover run
is 'a link in the place of run.json is not followed' "$(cat elsewhere.json)" "$before"
rm -rf run && cp -r template run
rm run/run.json
mkfifo run/run.json
run timeout 20 "$SONDE" recover run
ok 'a pipe in its place does not block' test "$status" != 124
rm -rf "$mine"
done_testing
