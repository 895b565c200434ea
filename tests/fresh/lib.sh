# shellcheck shell=bash
# lib.sh: what the smoke tests share. They use bash and Debian's essential packages alone, so that they run on any machine
# that sonde is installed on.
#
# A test is a function smoke_COMMAND. It runs in a subshell with `set -e`, in an empty directory with the run `run` of
# another directory in $RUN; whatever fails in it is printed with its line.

# want PATTERN COMMAND...: it exits with 0 and prints a line that matches the extended regular expression.
want() {
	local pattern=$1
	shift
	"$@" >out 2>err || { show "exit status $?" "$@"; return 1; }
	matches "$pattern" out || { show "no line of its output matches '$pattern'" "$@"; return 1; }
}

# quietly COMMAND...: it exits with 0; what it prints is shown only when it does not.
quietly() { want '' "$@"; }

# matches PATTERN FILE: a line of it does, without the carriage returns of CSV; an empty pattern matches an empty file, too.
matches() { [[ -z $1 ]] || tr -d '\r' <"$2" | grep -E -- "$1" >/dev/null; }

# fails STATUS PATTERN COMMAND...: it exits with this status and prints an error that matches.
fails() {
	local wanted=$1 pattern=$2 status=0
	shift 2
	"$@" >out 2>err </dev/null || status=$?
	[[ $status == "$wanted" ]] || { show "exit status $status, not $wanted" "$@"; return 1; }
	matches "$pattern" err || { show "its errors do not match '$pattern'" "$@"; return 1; }
}

show() {
	local why=$1
	shift
	printf 'command: %s\n%s\n' "$*" "$why"
	printf 'stdout (end): %s\n' "$(tail -n 5 out | cut -c 1-300)"
	printf 'stderr (end): %s\n' "$(tail -n 10 err | cut -c 1-300)"
}

# poll COMMAND...: wait until it succeeds. Gives up after two minutes: not a measure of speed, only the end of a hang.
poll() {
	local i
	for ((i = 0; i < 1200; i++)); do
		"$@" >/dev/null 2>&1 && return 0
		sleep 0.1
	done
	echo "waited in vain for: $*"
	return 1
}

# start FILE COMMAND...: run a server in the background, its output in FILE and FILE.err; sets $server once it printed a line.
start() {
	local file=$1
	shift
	"$@" >"$file" 2>"$file.err" </dev/null &
	server=$!
	# shellcheck disable=SC2016 # expanded by that shell
	poll bash -c 'test -s "$1" || ! kill -0 "$2"' - "$file" "$server"
	kill -0 "$server" || { echo "it ended: $*"; cat "$file" "$file.err"; return 1; }
}

# stop [STATUS]: end the server by SIGTERM; it has to exit with this status (0).
stop() {
	local status=0
	kill -TERM "$server"
	wait "$server" || status=$?
	[[ $status == "${1-0}" ]] || { echo "the server ended with status $status"; return 1; }
}

# http METHOD URL [HEADER [BODY]]: print the answer of a server on this machine, headers first.
http() {
	local method=$1 url=$2 header=${3-} body=${4-} place path
	place=${url#http://}
	path=/${place#*/}
	place=${place%%/*}
	exec 9<>"/dev/tcp/${place%:*}/${place##*:}"
	{
		printf '%s %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n' "$method" "$path" "$place"
		[[ -z $header ]] || printf '%s\r\n' "$header"
		[[ -z $body ]] || printf 'Content-Type: application/x-www-form-urlencoded\r\nContent-Length: %s\r\n' "${#body}"
		printf '\r\n%s' "$body"
	} >&9
	tr -d '\r\0' <&9
	exec 9>&-
}

# field NAME FILE: the first value of a key in a JSON file.
field() { grep -oE "\"$1\": *(\"[^\"]*\"|[^,}\"]+)" "$2" | head -n 1 | sed -E 's/^[^:]*: *"?//; s/"$//'; }

# is_complete RUN: it can be read whole.
is_complete() { want '"state": *"(complete|recovered|imported)"' sonde info --json "$1" && want '' sonde info --check "$1"; }
