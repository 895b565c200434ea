#!/bin/bash
# Regions by a counter, coloured groups, features, and traffic: what is shown beside the time.
. "$(dirname "$0")/../lib/tap.sh"

export PYTHONPATH=$SONDE_STAGE/lib/sonde/python
[[ -d $PYTHONPATH/sonde ]] || skip_service 'the Python package is not there'
cat >program.py <<'PY'
import sonde, time
for i in range(40):                     # high from 10 to 29
    sonde.counter("load", 100 if 10 <= i < 30 else 1)
    time.sleep(0.01)
PY
"$SONDE" record -q -o r -- /usr/bin/python3 program.py
run "$SONDE" summary r --roi spotlight:load --json
is 'a region by a counter' "$status" 0
high=$("$SONDE" query r "SELECT min(ts_ns) AS a, max(ts_ns) AS b FROM counter WHERE name = 'load' AND value = 100" --json)
is 'from its first high value to its last' "$(jq --argjson h "$high" '.roi_from_ns == $h[0].a and .roi_to_ns == $h[0].b' <<<"$out")" true
run "$SONDE" summary r --roi 0.1,0.25 --json
is 'a region by seconds' "$(jq '[.roi_since_ns, .wall_ns]' -c <<<"$out")" '[100000000,150000000]'
run "$SONDE" summary r --roi 100ms,250ms --json
is 'or with units' "$(jq '[.roi_since_ns, .wall_ns]' -c <<<"$out")" '[100000000,150000000]'
run "$SONDE" summary r --roi spotlight:nothing
is 'a counter that is not there' "$status" 1
like 'is named' "$err" "counter 'nothing' not found"

"$SONDE" record -q -o p -- "$PHASES" 0.1 >/dev/null
run "$SONDE" summary p --cpu-filters forward:red,_norm:blue,idle:black --json
if [[ $(jq '.cpu.samples // 0' <<<"$out") -gt 40 ]]; then
	is 'groups of functions' "$(jq -c '[.cpu.groups[] | [.group, .colour]]' <<<"$out")" '[["forward","red"],["_norm","blue"],["idle","black"]]'
	is 'have their time' "$(jq '(.cpu.groups[0].total_ns) == ([.cpu.by_function[] | select(.function | contains("forward")) | .self_ns] | add)' <<<"$out")" true
else
	skip 'groups of functions' 'CPU samples are not to be had here'
fi
is 'shares of the breakdown sum to one' "$(jq '.features as $f | ($f.usr + $f.sys + $f.iow + $f.gpu + $f.idl - 1) | fabs < 1e-9' <<<"$out")" true
is 'features have names and numbers' "$(jq '[.features.vector[] | select(.name == "elapsed_time" or .name == "num_cores") | .value > 0] == [true, true]' <<<"$out")" true
is 'without a device the GPU says why' "$(jq -r '.gpu == null and (.reasons.gpu | length) > 0' <<<"$out")" true

# Who sent what to whom.
cat >net.py <<'PY'
import socket, threading
s = socket.socket()
s.bind(("127.0.0.1", 0))
s.listen(1)
def serve():
    c, _ = s.accept()
    while c.recv(65536):
        pass
t = threading.Thread(target=serve)
t.start()
c = socket.create_connection(s.getsockname())
for i in range(20):
    c.sendall(b"x" * 10000)
c.close()
t.join()
PY
"$SONDE" record -q --net -o n -- /usr/bin/python3 net.py 2>/dev/null
run "$SONDE" summary n --json
if [[ -e n/tables/flow.tbl ]]; then
	is 'the matrix has both ends' "$(jq -c '[.network.matrix[] | select(.source == "127.0.0.1") | .destination] | index("127.0.0.1") != null' <<<"$out")" true
	is 'and all bytes that flowed' "$(jq --argjson f "$("$SONDE" query n 'SELECT sum(bytes_out + bytes_in) b FROM flow' --json)" '([.network.matrix[].bytes] | add) == $f[0].b and .network.traffic_bytes == $f[0].b' <<<"$out")" true
	is 'shares sum to one' "$(jq '([.network.matrix[].share] | add - 1) | fabs < 1e-9' <<<"$out")" true
else
	skip 'the matrix' 'packets cannot be captured here'
fi
"$SONDE" record -q -o calls --probes trace -- /usr/bin/python3 net.py
like 'without packets it says so' "$("$SONDE" summary calls --json | jq -r .network.note)" 'packets were not recorded'

done_testing
