#!/bin/bash
# The introduction of Waggle's profiler: its curl line, with host and credentials replaced, starts a session.
. "$(dirname "$0")/../lib/tap.sh"

TOKEN=jenkins-admin:11d09f0206a2b6a30096cb7c6a1fbf3e79

# The application that the line names, as a command: it notes its words and works in steps.
cat >counter.py <<'EOF'
import sys
import sonde
print("words", *sys.argv[1:], flush=True)
for i in range(10):
    sonde.step("frame", i)
EOF
cat >slow.py <<'EOF'
import os, time
open(os.environ["MARK"], "w").close()
time.sleep(600)
EOF
cat >jobs.yml <<EOF
apps:
  waggle/plugin-objectcounter:0.0.0: { command: [env, "PYTHONPATH=$SONDE_STAGE/lib/sonde/python", /usr/bin/python3, $TEST_DIR/counter.py] }
  slow: { command: [/usr/bin/python3, $TEST_DIR/slow.py] }
images: [waggle/]
mounts: [/home/nvidia]
EOF

"$SONDE" jobserver --listen 127.0.0.1:0 --token "$TOKEN" --config jobs.yml --dir jobs >url 2>server.err &
server=$!
# poll CONDITION...: until it holds; gives up after two minutes.
poll() {
	local i
	for ((i = 0; i < 1200; i++)); do
		"$@" && return 0
		kill -0 "$server" 2>/dev/null || return 1
		sleep 0.1
	done
	return 1
}
poll test -s url || diag "$(<server.err)"
URL=$(<url)

# ask ARGUMENT...: curl with the token; sets code and out.
ask() {
	code=$(curl -s -o body -D headers -w '%{http_code}' --user "$TOKEN" "$@")
	out=$(<body)
}
# field NAME: of the JSON object in body.
field() { /usr/bin/python3 -c "import json; print(json.load(open('body'))['$1'])"; }
# state N WORD: is job N in that state?
state() {
	ask "$URL/jobs/$1"
	[[ $(field state) == "$2" ]]
}

# The line.
code=$(curl -s -o body -D headers -w '%{http_code}' -X POST --user $TOKEN "$URL/job/nvidia-nx-profiling-pipeline/buildWithParameters/" --data-urlencode "app_args=-stream top_live -object car -interval 1" --data-urlencode "app_name=waggle/plugin-objectcounter:0.0.0" --data-urlencode "app_docker_args=-v /home/nvidia/luke_projects/config_dir/data-config.json:/run/waggle/data-config.json")
is 'the line is answered as Jenkins does' "$code" 201
like 'with the place of the job' "$(tr -d '\r' <headers)" 'Location: /queue/item/1/'
ask "$URL/queue/item/1/"
is 'which is there' "$code $(field app_name)" '200 waggle/plugin-objectcounter:0.0.0'
is 'and says what it left out' "$(field note | cut -d: -f2)" ' mounts were left out'
ok 'the session ends' poll state 1 "done" || diag "$out"
ask "$URL/jobs/1/log"
like 'the application got its words' "$out" 'words -stream top_live -object car -interval 1'
ask "$URL/jobs/1/artifacts"
like 'the profile is among the artifacts' "$out" '"profile.json"'
ask "$URL/jobs/1/artifacts/profile.json"
is 'and can be fetched' "$code" 200
is 'with its steps' "$(/usr/bin/python3 -c "import json
print([v['median'] for v in json.load(open('body'))['values'] if v['name'] == 'steps'])")" '[10]'
ask "$URL/jobs/1/artifacts/..%2f..%2f..%2fjobs.yml"
is 'no other file can' "$code" 400

# Who may not, and what is not taken.
code=$(curl -s -o body -w '%{http_code}' "$URL/jobs")
is 'without the token: 401' "$code" 401
code=$(curl -s -o body -w '%{http_code}' --user jenkins-admin:wrong "$URL/jobs")
is 'with another: 401' "$code" 401
B=$URL/job/x/buildWithParameters
refused() { # NAME CODE PARAMETER...
	local name=$1 want=$2 words=()
	shift 2
	for word in "$@"; do words+=(--data-urlencode "$word"); done
	ask "${words[@]}" "$B"
	is "$name" "$code" "$want"
}
refused 'no application: 400' 400 app_args=x
refused 'another image: 403' 403 app_name=other/image app_args=x
refused 'an option of the image: 400' 400 app_name=--privileged app_args=x
refused 'a privileged container: 403' 403 app_name=slow app_docker_args=--privileged
refused 'a mount from elsewhere: 403' 403 app_name=slow 'app_docker_args=-v /etc:/etc'
refused 'a mount that climbs: 400' 400 app_name=slow 'app_docker_args=-v /home/nvidia/../../etc:/etc'
refused 'a directory that only begins like an allowed one: 403' 403 app_name=slow 'app_docker_args=-v /home/nvidia2:/x'
refused 'a preloaded library: 403' 403 app_name=slow 'app_docker_args=-e LD_PRELOAD=/x.so'
refused 'what only a shell could read: 400' 400 app_name=slow 'app_args=$(touch x)'
ask -d app_name=slow "$URL/job/x/build"
is 'another action: 404' "$code" 404
ask "$URL/jobs/99"
is 'another job: 404' "$code" 404

# One slot, and cancelling.
ask -d app_name=slow --data-urlencode "app_docker_args=-e MARK=$TEST_DIR/mark" "$B"
slow=$(field number)
ask -d app_name=slow "$B"
waiting=$(field number)
ok 'the slow one starts' poll test -e mark
ask "$URL/jobs/$waiting"
is 'the next waits' "$(field state)" queued
ask -X POST "$URL/jobs/$waiting/cancel"
is 'who waits can be cancelled' "$(field state)" cancelled
ask -X POST "$URL/jobs/$slow/cancel"
ok 'so can who runs' poll state "$slow" cancelled
ask "$URL/jobs"
is 'all are listed' "$(/usr/bin/python3 -c "import json; print(len(json.load(open('body'))))")" 3

kill -TERM "$server"
wait "$server"
is 'the server ends well' "$?" 0
done_testing
