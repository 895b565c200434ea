#!/bin/bash
# External tools whose raw files join the run (TAU, nsys, tegrastats: stand-ins that are called as those are), and probes.
. "$(dirname "$0")/../lib/tap.sh"
APP=$SONDE_TEST_APP

mkdir bin
cat >bin/tegrastats <<'END'
#!/bin/bash
[[ $1 == --interval && $3 == --logfile ]] || exit 1
trap 'echo "RAM 2/4MB" >>"$4"; exit' INT TERM
while :; do echo "RAM 1/4MB" >>"$4"; sleep 0.02; done
END
cat >bin/nsys <<'END'
#!/bin/bash
# nsys profile --force-overwrite true --output FILE PROGRAM ARGUMENT...
[[ $1 == profile && $4 == --output ]] || exit 1
"${@:6}"
code=$?
echo "${*:6}" >"$5.nsys-rep"
exit $code
END
cat >bin/tau_exec <<'END'
#!/bin/bash
[[ $1 == -ebs ]] || exit 1
echo "1 templated_functions_MULTI_TIME" >"$PROFILEDIR/profile.0.0.0"
until [[ -s $PROFILEDIR/../tegrastats/tegrastats.log ]]; do sleep 0.05; done
exec "${@:2}"
END
chmod +x bin/*
PATH=$PWD/bin:$PATH

cat >app.yml <<END
name: tools
command: [ $APP ]
args: "20 2"
tools: [ tegrastats, nsys, tau, { name: mine, around: [ env, "WHERE={tool}" ], env: [ "COLOUR={tool}" ] } ]
END
run "$SONDE" session app.yml -o out --json
is 'a session with tools around and beside it' "$status" 0 || diag "$err"
like 'tegrastats: its log' "$(<out/tools/tegrastats/tegrastats.log)" 'RAM 1/4MB'
like 'tegrastats: to the end' "$(tail -n 1 out/tools/tegrastats/tegrastats.log)" 'RAM 2/4MB'
like 'nsys: its report, of the application' "$(<out/tools/nsys/report.nsys-rep)" "^tau_exec -ebs env WHERE=.* $APP 20 2\$"
like 'TAU: its profile' "$(<out/tools/tau/profile.0.0.0)" templated
like 'variables are the application'"'"'s' "$err" 'colour: /.*/mine'
is 'the application is measured all the same' "$(jq -r '.values[] | select(.name == "steps") | .median' out/profile.json)" 20
is 'nothing is left behind' "$(find "${TMPDIR:-/tmp}" -maxdepth 1 -name 'sonde-tools*' -newer app.yml -user "$(id -un)" | wc -l)" 0

printf 'command: ["true"]\ntools: [ nsis ]\n' >typo.yml
run "$SONDE" session typo.yml -o typo
like 'a tool that is not known' "$status $err" "1 .*typo.yml:2: unknown tool 'nsis'.*did you mean 'nsys'"
printf 'command: ["true"]\ntools: [ { around: [ /no/such/tool ] } ]\n' >none.yml
run "$SONDE" session none.yml -o none
like 'one that is not there' "$status $err" "1 .*/no/such/tool"
printf 'command: ["true"]\nrootfs: /\ntools: [ tau ]\n' >root.yml
run "$SONDE" session root.yml -o root
like 'and one that cannot get in' "$status $err" "1 .*'tau' wraps the command"

printf 'command: [ %s, "20", "2" ]\nprobes: [ cpu, sched ]\n' "$APP" >probes.yml
run "$SONDE" session probes.yml -o probes
is 'probes that are asked for' "$status $(jq -r '[.probes[] | select(.state != "off" or .reason) | .name] | sort | join(" ")' probes/run.json)" \
	"0 cpu sched system trace" || diag "$err" "$(jq -c .probes probes/run.json)"
run "$SONDE" session app.yml -o plain
is 'and only those' "$(jq -r '.probes[] | select(.name == "cpu").state' plain/run.json)" off || diag "$(jq -c .probes plain/run.json)"
printf 'command: ["true"]\nprobes: [ cpus ]\n' >word.yml
run "$SONDE" session word.yml -o word
like 'a probe that does not exist' "$status $err" "1 .*word.yml:2: unknown probe 'cpus'.*did you mean 'cpu'"
done_testing
