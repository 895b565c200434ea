#!/bin/sh
# env.sh LIBSONDE RINGDUMP: the traced see the environment that they would see untraced, and their children are traced.
set -u
lib=$(realpath "$1") ringdump=$(realpath "$2")
top=$(mktemp -d "${TMPDIR:-/tmp}/sonde-env.XXXXXX")
trap 'rm -rf "$top"' EXIT
failed=0
unset LD_PRELOAD SONDE_RING

# Something that may be preloaded besides.
other=$(ls /lib/x86_64-linux-gnu/libm.so.6)

same()
{
	what=$1
	shift
	rm -rf "$top/ring"
	"$@" >"$top/bare" 2>"$top/bare.err"
	env LD_PRELOAD="$lib" SONDE_RING="$top/ring" "$@" >"$top/traced" 2>"$top/traced.err"
	if cmp -s "$top/bare" "$top/traced" && cmp -s "$top/bare.err" "$top/traced.err"; then
		echo "ok: $what"
	else
		echo "NOT ok: $what"
		diff "$top/bare" "$top/traced"
		diff "$top/bare.err" "$top/traced.err"
		failed=1
	fi
}

seen()
{
	if "$ringdump" "$top/ring" "$1" | grep -q .; then
		echo "ok: $1 was traced"
	else
		echo "NOT ok: $1 was not traced"
		failed=1
	fi
}

same "env" env
same "env of a child" sh -c env
same "a cleaned environment" env -i A=1 env
seen env
same "a cleaned environment, two deep" env -i A=1 /bin/sh -c 'env; /usr/bin/env -i /usr/bin/printf x'
seen printf
same "a preload of the program's own" env A=1 LD_PRELOAD="$other" B=2 sh -c 'env | grep -v ^_='
seen grep
same "an empty preload" sh -c 'LD_PRELOAD= /usr/bin/env | grep -v ^_= | grep -v LD_PRELOAD'
same "setting and unsetting" sh -c 'export LD_PRELOAD='"$other"'; sh -c "unset LD_PRELOAD; env"'
same "python's environment" python3 -c 'import os, subprocess, sys; print(sorted(os.environ)); sys.stdout.flush(); subprocess.call(["env"], cwd="/"); os.system("env"); os.execve("/usr/bin/env", ["env"], {"X": "1"})'
seen env
(
	cd "$(dirname "$lib")" || exit 1
	# named by a relative path, and left behind by a change of directory
	env LD_PRELOAD="./$(basename "$lib")" SONDE_RING="$top/relative" sh -c 'cd / && /usr/bin/printf x' >"$top/out" 2>&1
)
if [ "$(cat "$top/out")" = x ] && "$ringdump" "$top/relative" printf | grep -q .; then
	echo "ok: a relative path"
else
	echo "NOT ok: a relative path"
	cat "$top/out"
	failed=1
fi
exit $failed
