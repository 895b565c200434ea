#!/bin/bash
# What TAU, nsys and tegrastats leave is read: by stand-ins that leave what those do, as their documentation has it.
. "$(dirname "$0")/../lib/tap.sh"
APP=$SONDE_TEST_APP
dumps=$(realpath "$(dirname "$0")")/dumps

mkdir bin
cat >bin/tegrastats <<'END'
#!/bin/bash
[[ $1 == --interval && $3 == --logfile ]] || exit 1
trap exit INT TERM
cat >log <<'LOG'
RAM 1000/3956MB (lfb 4x4MB) SWAP 16/1978MB (cached 0MB) CPU [50%@1190,off,30%@1190,off] EMC_FREQ 0% GR3D_FREQ 40%@[1109] CPU@40C GPU@39.5C VDD_IN 2000mW/2846mW
05-14-2026 12:00:02   RAM 3000/3956MB  (lfb 4x4MB)  CPU [20%@1190,20%@1190]  GR3D_FREQ 80% VIC_FREQ 729 APE 25 MTS fg 0% bg 0% CPU@41.5C VDD_IN 4000/2846
what a board says while it starts
LOG
mv log "$4"
while :; do sleep 0.02; done
END
cat >bin/nsys <<'END'
#!/bin/bash
case $1 in
profile)
	"${@:6}"
	code=$?
	echo raw >"$5.nsys-rep"
	exit $code
	;;
export) # --type sqlite --force-overwrite true --output FILE REPORT
	[[ $* == "export --type sqlite --force-overwrite true --output $7 $8" && $(<"$8") == raw ]] || exit 1
	[[ ! $NSYS_BROKEN ]] || exit 1
	/usr/bin/python3 -c 'import sqlite3, sys; sqlite3.connect(sys.argv[1]).executescript(open(sys.argv[2]).read())' "$7" "$DUMPS/report.sql"
	;;
esac
END
cat >bin/tau_exec <<'END'
#!/bin/bash
cp -r "$DUMPS/$TAU_KIND/." "$PROFILEDIR"
while [[ -d $PROFILEDIR/../tegrastats && ! -s $PROFILEDIR/../tegrastats/tegrastats.log ]]; do sleep 0.05; done
exec "${@:2}"
END
chmod +x bin/*
export PATH=$PWD/bin:$PATH DUMPS=$dumps TAU_KIND=tau

# value RUN NAME OF: of its first repeat
value() {
	jq -r --arg name "$2" --arg of "$3" '.values[] | select(.name == $name and (.function // .counted // .group // .event // .kernel //
		.copy // .fill // .range // .cuda_call // .series // "") == $of) | .each[0]' "$1/profile.json"
}
dump() { jq -r --arg kind "$2" '.dumps[] | select(.kind == $kind) | "\(.tool) \(.files) \(.rows) \(.reason)"' "$1/profile.json"; }

cat >app.yml <<END
name: dumps
command: [ $APP ]
args: "20 2"
tools: [ tegrastats, nsys, tau ]
outputs: [ json, html, csv, openmetrics ]
thresholds: { nsys_kernel_seconds.relu(float*): { max: 0.0001 } }
END
run "$SONDE" session app.yml -o out
is 'a threshold may be on what a tool told' "$status" 3 || diag "$err"
like 'the terminal says what was read' "$out" 'tau: TAU profiles, files 2, rows 12'
unlike 'and leaves the long tables to the profile' "$out" tau_calls
is 'TAU: what was read' "$(dump out 'TAU profiles')" 'tau 2 12 null'
is 'TAU: calls, of both threads' "$(value out tau_calls 'read()')" 15
is 'TAU: subroutines' "$(value out tau_subroutines 'detect [{/app/detect.py} {12,0}]')" 4
is 'TAU: time in the function itself' "$(value out tau_exclusive_seconds 'detect [{/app/detect.py} {12,0}]')" 3.25
is 'TAU: time with what it called' "$(value out tau_inclusive_seconds 'detect [{/app/detect.py} {12,0}]')" 3.5
is 'TAU: a path is no function' "$(jq '[.values[] | select(.function // "" | test("=>"))] | length' out/profile.json)" 0
is 'TAU: a name with quotes' "$(value out tau_calls '[SAMPLE] convolve(float const*, char const (*) [8]) [{/app/say "cheese".c} {364}]')" 3
is 'TAU: groups' "$(value out tau_group_seconds TAU_IO) $(value out tau_group_seconds TAU_PYTHON)" '1.75 3.25'
is 'TAU: events, least, most and mean of both threads' \
	"$(for v in count min max mean; do value out "tau_event_$v" 'Bytes Read'; done | xargs)" '40 8 8192 517'
is 'nsys: what was read' "$(dump out 'nsys reports')" 'nsys 1 10 null'
is 'nsys: kernels' "$(value out nsys_kernel_count 'void convolve<float>(float const*, int)') $(value out nsys_kernel_seconds 'void convolve<float>(float const*, int)')" '2 0.003'
is 'nsys: copies with their bytes' "$(value out nsys_copy_bytes host-to-device) $(value out nsys_copy_count device-to-host) $(value out nsys_copy_seconds device-to-host)" '4096 2 3e-06'
is 'nsys: fills' "$(value out nsys_fill_bytes memset)" 65536
is 'nsys: ranges by either kind of name, no marks' "$(value out nsys_range_seconds step) $(value out nsys_range_count frame) $(value out nsys_range_count 'a mark')" '0.0046 1 '
is 'nsys: calls of CUDA' "$(value out nsys_cuda_seconds cudaLaunchKernel_v7000)" 4e-07
is 'tegrastats: what was read' "$(dump out 'tegrastats logs')" 'tegrastats 1 2 null'
is 'tegrastats: memory in use' "$(value out tegrastats_mean ram_used_bytes) $(value out tegrastats_max ram_used_bytes)" '2097152000 3145728000'
is 'tegrastats: cores that are on' "$(value out tegrastats_max cpu_busy_ratio) $(value out tegrastats_mean cpu_busy_ratio | cut -c 1-4)" '0.4 0.30'
is 'tegrastats: the GPU' "$(value out tegrastats_max 'busy_ratio GR3D')" 0.8
is 'tegrastats: sensors and rails' "$(value out tegrastats_max 'temperature_celsius CPU') $(value out tegrastats_mean 'power_watts VDD_IN')" '41.5 3'
is 'tegrastats: the series' "$(grep -c 'GR3D,0\.[48]' out/tools/tegrastats/tegrastats.log.csv)" 2
like 'all of it stands in the page' "$(tr -d '\n' <out/profile.html)" '<th>cuda_call.*cudaLaunchKernel_v7000.*<th>function.*say &quot;cheese&quot;'
like 'in the table' "$(<out/profile.csv)" '1,nsys_kernel_count,"relu\(float\*\)",1'
like 'and in the metrics' "$(<out/profile.om)" 'sonde_session_tau_calls\{session="dumps",function="read\(\)"\} 15'

sed '/thresholds/d; s/tegrastats, nsys, tau/nsys, tau/' app.yml >multi.yml
TAU_KIND=multi NSYS_BROKEN=1 run "$SONDE" session multi.yml -o multi
is 'several metrics of TAU' "$status $(dump multi 'TAU profiles') $(value multi tau_exclusive_seconds main) $(value multi tau_inclusive 'PAPI_L2_TCM main')" '0 tau 2 3 null 2 7010' || diag "$err"
is 'events stand in each and count once' "$(value multi tau_event_count 'Message size')" 4
like 'a report that nsys cannot export stays, with what to do' "$(dump multi 'nsys reports')" "nsys 1 0 'report.nsys-rep' was kept unread.*nsys export --type sqlite"

# What nobody vouches for: cut short, none at all, elsewhere, without end.
mkdir cut
head -n 5 "$dumps/tau/profile.0.0.0" >cut/profile.0.0.0
head -c 3000 /dev/urandom >cut/profile.0.0.1
ln -s /etc/passwd cut/profile.0.0.2
head -c 3000 /dev/urandom >cut/other.sqlite
head -c 3000 /dev/urandom >cut/tegrastats.log
/usr/bin/python3 - <<'END'
import sqlite3
sqlite3.connect("cut/view.sqlite").executescript("""CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
CREATE VIEW OSRT_API AS WITH RECURSIVE n(start) AS (SELECT 1 UNION ALL SELECT start + 1 FROM n) SELECT start, start AS end, 1 AS nameId FROM n;""")
END
printf 'command: [ %s, "5", "1" ]\ntools: [ { name: mine, around: [ sh, -c, "cp -P cut/* {tool}; \\"$@\\"", x ] } ]\n' "$APP" >cut.yml
run "$SONDE" session cut.yml -o cut-out
is 'dumps that are damaged fail nothing' "$status" 0 || diag "$err"
like 'TAU: what is there of one that is cut short' "$(value cut-out tau_calls 'read()') $(dump cut-out 'TAU profiles')" "10 mine 2 3 'profile.0.0.0' is not a TAU profile, or is truncated"
like 'nsys: what is no database' "$(dump cut-out 'nsys reports')" "mine 2 0 .*'other.sqlite'"
like 'tegrastats: what is no log' "$(dump cut-out 'tegrastats logs')" 'mine 1 0 .*no lines of tegrastats'
done_testing
