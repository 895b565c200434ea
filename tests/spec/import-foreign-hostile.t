#!/bin/bash
# Foreign traces that want to do harm: lines without end, gzip bombs, spans without ends, ids without number. They are
# counted, explained, and cost no more than 1 GiB of memory.
. "$(dirname "$0")/../lib/tap.sh"

cat >make.py <<'EOF'
import gzip
big = "a" * 100_000_000
open("long.strace", "w").write('1 1.5 read(3, "' + big + '", 5) = 5 <0.1>\n1 2.5 read(3, "", 5) = 0 <0.1>\n')
open("long.folded", "w").write("a;b 3\n" + big + "\n")
open("long.perf", "w").write("x 1 1.5: 1 cpu-clock: \n\t" + big + " x (y)\n\nx 1 2.5: 1 cpu-clock: \n\t1 x (y)\n")
open("long.json", "w").write('{"traceEvents":[{"ph":"X","ts":1,"dur":1,"name":"' + big + '"},{"ph":"X","ts":2,"dur":1,"name":"ok"}]}')
with open("open.json", "w") as out:
    out.write("[")
    args = "b" * 100_000
    for i in range(1000):
        out.write('{"ph":"B","ts":%d,"pid":%d,"name":"n","args":{"x":"%s"}},' % (i, i, args))
    for i in range(540000):
        out.write('{"ph":"b","ts":%d,"id":"%d","cat":"c","name":"n"},{"ph":"e","ts":%d,"id":"%d","cat":"c","name":"n"},' % (i, i, i + 1, i))
    out.write('{"ph":"i","ts":1}]')
for name, head in (("bomb.json.gz", b'{"traceEvents":[{"ph":"X","ts":2,"dur":1,"name":"ok"}'), ("bomb.folded.gz", b"a;b 3\n")):
    with gzip.open(name, "wb", 9) as out:
        out.write(head)
        for i in range(300):
            out.write(b" " * 1_000_000)
EOF
/usr/bin/python3 make.py

# read_it NAME FORMAT: with 1 GiB of address space for all it needs.
read_it() { (ulimit -v 1048576; "$SONDE" import --from "$2" "$1" -o "$1.run" --json); }

for name in long.strace:strace long.folded:folded long.perf:perf long.json:chrome; do
	run read_it "${name%:*}" "${name#*:}"
	is "${name%:*} is read but for the line" "$status:$(jq -c '.too_long' <<<"$out")" '0:1'
	ok "${name%:*} has the rest" test "$(jq .events <<<"$out")" -ge 1
done
run read_it open.json chrome
is 'spans without ends, ids without number' "$status:$(jq -c '.events' <<<"$out")" "0:$((1000 + 540000 + 1))"
ok 'arguments that found no room are counted' test "$(jq .refused <<<"$out")" -gt 0
run read_it bomb.json.gz chrome
is 'a bomb in a Chrome trace' "$status:$(jq .events <<<"$out")" '0:1'
run read_it bomb.folded.gz folded
is 'a bomb in folded stacks' "$status:$(jq -c '[.events, .too_long]' <<<"$out")" '0:[1,1]'
run read_it /dev/zero strace
is 'a device is no file' "$status" 1
mkfifo pipe
run read_it pipe perf
is 'nor is a pipe' "$status" 1

done_testing
