#!/bin/bash
# sonde import of other tools' traces: what they are is found out by their content, and independent readers of the
# same texts find the same in the run.
. "$(dirname "$0")/../lib/tap.sh"

# rows TABLE RUN: as JSON, a line each.
rows() { "$SONDE" events --table "$1" --json "$2"; }
format_of() { jq -r .source.format "$1/run.json"; }

# Chrome: what was exported comes back.
mkdir files
for i in $(seq 20); do echo "$i" >files/"$i"; done
"$SONDE" record -q --probes trace -o recorded -- sh -c 'tar -cf out.tar files; cat files/1 | sort' >/dev/null
"$SONDE" export --to chrome -o recorded.json recorded
run "$SONDE" import recorded.json -o chrome
is 'a Chrome trace is imported' "$status:$err" '0:'
is 'it is known by its content' "$(format_of chrome)" chrome
jq -c '.traceEvents[] | select(.ph == "X") | [.name, .pid, .tid, (.ts * 1000 | round), (.dur * 1000 | round)]' recorded.json | sort >want
rows span chrome | jq -c '[.name, .pid, .tid, .ts_ns, .dur_ns]' | sort >got
ok 'with every box' cmp want got
is 'and every instant' "$(rows mark chrome | wc -l)" "$(jq '[.traceEvents[] | select(.ph == "i")] | length' recorded.json)"
is 'processes have their names' "$(rows process chrome | jq -r .exe | sort -u | xargs)" \
	"$(jq -r '.traceEvents[] | select(.name == "process_name") | .args.name' recorded.json | sort -u | xargs)"
gzip -k recorded.json
"$SONDE" import -q recorded.json.gz -o packed
rows span packed | sort | cmp - <(rows span chrome | sort)
is 'compressed it is the same' "$?" 0

cat >chrome.json <<'EOF'
{"displayTimeUnit":"ms","otherData":{"traceEvents":"no","x":[{"ph":"X"}]},
"traceEvents": [
 {"name":"outer","ph":"B","pid":1,"tid":2,"ts":10,"args":{"a":"}]"}}, {"name":"inner","cat":"c","ph":"B","pid":1,"tid":2,"ts":11.5},
 {"ph":"E","pid":1,"tid":2,"ts":12.25},
 {"ph":"E","pid":1,"tid":2,
  "ts":20},
 {"name":"load","ph":"b","cat":"net","id":"0x1","pid":1,"tid":2,"ts":5}, {"name":"load","ph":"e","cat":"net","id":"0x1","pid":1,"tid":3,"ts":9},
 {"name":"never ends","ph":"B","pid":1,"tid":4,"ts":6}, {"name":"x","ph":"i","s":"t","pid":1,"tid":4,"ts":30},
 {"name":"ctr","ph":"C","pid":1,"ts":7,"args":{"value":3,"other":2.5}},
 {"name":"flow","ph":"s","id":4,"pid":1,"tid":2,"ts":8}, {"name":"negative","ph":"X","pid":1,"tid":9,"ts":1,"dur":-5},
 {"name":"bad" "ph":"X"},
 {"name":"process_name","ph":"M","pid":1,"args":{"name":"browser"}},
 {"name":"thread_name","ph":"M","pid":1,"tid":2,"args":{"name":"main"}},
 {"name":"cut","ph":"X","pid":1,"tid":2,"ts":99,"dur
EOF
run "$SONDE" import chrome.json -o odd --json
is 'pairs, counters, and what is odd' "$(rows span odd | jq -c '[.name, .ts_ns, .dur_ns]' | sort | xargs)" \
	'[inner,11500,750] [load,5000,4000] [negative,1000,0] [never ends,6000,24000] [outer,10000,10000]'
is 'a span without an end is open' "$(rows span odd | jq -r 'select(.name == "never ends") | .is_open')" true
is 'a duration that cannot be is kept as text' "$("$SONDE" export --to csv --table span odd | grep negative | grep -o '"{.*')" '"{""dur"":-5}"'
is 'arguments are kept' "$(rows span odd | jq -c 'select(.name == "outer") | .args')" '{"a":"}]"}'
is 'counters have a name for each value' "$(rows counter odd | jq -c '[.name, .value]' | xargs)" '[ctr,3] [ctr.other,2.5]'
is 'what has no table is kept as it is' "$(rows line odd | jq -c '[.phase, .name, .extra.id]')" '["s","flow",4]'
is 'an event that is none is lost, and told' "$(jq -c '[.invalid, .odd_durations, .problems[0].line]' <<<"$out")" '[1,1,12]'

# strace: counted by another reader.
if command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null; then
	strace -f -ttt -T -o trace.txt sh -c 'cat files/1 files/2 | sort >sorted; ls files | wc -l; test -e /none; sleep 0.01' >/dev/null
	cat >count.py <<'EOF'
import collections, re, sys
calls, errors, seconds = collections.Counter(), 0, 0.0
for line in open(sys.argv[1], errors="surrogateescape"):
    m = re.match(r"\d+ +\d+\.\d+ (?:<\.\.\. )?(\w+)(?:\(| resumed)", line)
    if not m or line.rstrip().endswith("<unfinished ...>"):
        continue
    calls[m.group(1)] += 1
    errors += bool(re.search(r"\) += -1 E", line))
    end = re.search(r"<(\d+\.\d+)>$", line)
    seconds += float(end.group(1)) if end else 0
print(sorted(calls.items()), errors, round(seconds, 6))
EOF
	run "$SONDE" import trace.txt -o strace
	is 'the text of strace is imported' "$status:$err" '0:'
	is 'it is known by its content' "$(format_of strace)" strace
	cat >rows.py <<'EOF'
import collections, json, sys
rows = [json.loads(line) for line in sys.stdin]
print(sorted(collections.Counter(r["call"] for r in rows).items()), sum(1 for r in rows if (r.get("errno") or r.get("errnum"))),
      round(sum(r["dur_ns"] or 0 for r in rows) / 1e9, 6))
EOF
	is 'with every call, error and duration' "$(rows io strace | /usr/bin/python3 rows.py)" "$(/usr/bin/python3 count.py trace.txt)"
	is 'bytes that were read of a file' "$(rows io strace | jq -s '[.[] | select(.call == "read" and .path == "files/1") | .ret] | add')" 2
	is 'programs are known' "$(rows process strace | jq -r .exe | sed 's,.*/,,' | sort | xargs)" 'cat ls sh sleep sort wc'
	is 'and how they ended' "$(rows process strace | jq -c .exit_code | sort -u)" 0
	strace -f -y -ttt -T cat files/3 >/dev/null 2>y.txt
	"$SONDE" import -q --from strace y.txt -o decorated
	is 'paths that -y tells are taken' "$(rows io decorated | jq -r 'select(.call == "read") | .path' | tail -1)" "$PWD/files/3"
else
	skip_missing 'the text of strace is imported' 'strace cannot trace here'
fi
cat >odd.strace <<'EOF'
strace: Process 12 attached
11 1700000000.000001 read(3, "a) = 5\"", 10 <unfinished ...>
12 1700000000.000002 openat(AT_FDCWD, "x\ty\303\244", O_RDONLY) = -1 ENOENT (No such file or directory) <0.000003>
11 1700000000.000005 <... read resumed>) = 7 <0.000004>
11 1700000000.000006 clone(child_stack=NULL, flags=CLONE_VM|CLONE_THREAD) = 12 <0.000001>
12 1700000000.000007 --- SIGUSR1 {si_signo=SIGUSR1} ---
11 1700000000.000008 lseek(3, 9223372036854775807, SEEK_SET) = 9223372036854775807 <0.000001>
11 1700000000.000009 write(1, "unclosed
garbage
11 1700000000.000010 exit_group(3) = ?
11 1700000000.000011 +++ exited with 3 +++
EOF
run "$SONDE" import odd.strace -o oddities --json
is 'odd lines are counted' "$(jq -c '[.calls, .invalid, .other]' <<<"$out")" '[5,2,1]'
is 'a call in two pieces is one' "$(rows io oddities | jq -c 'select(.call == "read") | [.ts_ns, .dur_ns, .ret, .size]')" '[1700000000000001000,4000,7,10]'
is 'escaped names are decoded' "$(rows io oddities | jq -r 'select(.call == "openat") | .path')" $'x\ty\303\244'
is 'an exit is known' "$(rows process oddities | jq -c 'select(.pid == 11) | .exit_code')" 3

# perf script, real where there is perf.
cat >odd.perf <<'EOF'
# comment
my program 100/101 [001] 12.000001:     250000 cpu-clock:ppp:
	ffffffff81234567 do_syscall+0x37 ([kernel.kallsyms])
	    7f1234567890 std::map<int, (x)>::find(int)+0x10 (/usr/lib/lib x.so)
	    7f1234567000 [unknown] (/usr/lib/libc.so.6)

other 102 13.5: 77 cycles: 55d0 main+0x1 (/bin/other)
nonsense
EOF
run "$SONDE" import odd.perf -o perf --json
is 'perf script is known by its content' "$(format_of perf)" perf
is 'what is none of it is counted' "$(jq -c '[.events, .invalid]' <<<"$out")" '[2,1]'
is 'stacks are turned round' "$("$SONDE" export --to folded perf)" 'my program;[libc.so.6];std::map<int, (x)>::find(int);do_syscall_[k] 1'
is 'times, CPUs and weights' "$(rows sample perf | jq -c '[.ts_ns, .pid, .tid, .cpu, .event, .weight_ns, .count]' | xargs)" \
	'[12000001000,100,101,1,cpu-clock,250000,250000] [13500000000,102,102,null,cycles,null,77]'
cat >inlined.perf <<'EOF'
prog 7/7 [000] 1.000001:     250000 cpu-clock:
	            122a inner+0x1a (inlined)
  a b.c:9
	            122a hot+0x1a (/x/my prog)
  a b.c:11
	            1281 [unknown] (/x/my prog)
  ??:0
	ffffffff81001003 entry+0x3 ([kernel.kallsyms])
  [kernel.kallsyms][ffffffff81001003]

EOF
run "$SONDE" import inlined.perf -o inlined --json
is 'lines of sources are passed over' "$(jq -c '[.events, .invalid]' <<<"$out")" '[1,0]'
is 'an inlined function is in the module around it' \
	"$("$SONDE" query inlined 'SELECT f.function, f.module FROM sample s JOIN frame f USING (stack) ORDER BY depth' --json | jq -c '[.[] | [.function, .module]]')" \
	'[["inner","/x/my prog"],["hot","/x/my prog"],["[my prog]","/x/my prog"],["entry","[kernel.kallsyms]"]]'
if perf record -q -g -e cpu-clock -F 999 -o perf.data sh -c 'seq 100000 | sort -R | md5sum' >/dev/null 2>&1 &&
	perf script -i perf.data >perf.txt 2>/dev/null && [[ -s perf.txt ]]; then
	run "$SONDE" import perf.txt -o real --json
	is "perf's own text is imported" "$status:$(jq .invalid <<<"$out")" '0:0'
	is 'with every sample' "$(rows sample real | wc -l)" "$(grep -c 'cpu-clock' perf.txt)"
	is 'and every frame' "$("$SONDE" export --to folded real | awk '{ n = split($0, a, ";") - 1; total += n * $NF } END { print total }')" \
		"$(grep -cP '^\s+[0-9a-f]+ ' perf.txt)"
elif ! command -v perf >/dev/null; then
	skip_missing "perf's own text is imported" 'linux-perf is not installed'
else
	skip "perf's own text is imported" 'perf cannot sample here'
fi

# Folded stacks come back as they were.
printf 'a;b c;d_[k] 3\na 1\n# no\nz;y 4\na;b c 2\n' >in.folded
run "$SONDE" import in.folded -o folded
is 'folded stacks are imported' "$status:$err" '0:'
is 'and known by their content' "$(format_of folded)" folded
is 'they come back' "$("$SONDE" export --to folded folded | sort)" "$(grep -v '#' in.folded | sort)"
run "$SONDE" import --time-unit ms in.folded -o weighed
is 'with a unit they are CPU time' "$(rows sample weighed | jq -s 'map(.weight_ns) | add')" 10000000

run "$SONDE" import in.folded --from nonsense -o x
is 'an unknown format is a usage error' "$status" 2
run "$SONDE" import in.folded --from strace -o x
is 'a file that is something else has no events' "$status" 1
like 'which is said' "$err" 'the file was read as strace; use --from to select another format'
: >empty.json
for format in chrome strace perf folded; do
	run "$SONDE" import empty.json --from $format -o x
	is "an empty file is no $format" "$status" 1
done
printf '[{}, {"a": 1}]' >other.json
run "$SONDE" import other.json --from chrome -o x
is 'objects without an event are no trace' "$status" 1
head -c 300000 /dev/urandom | tr -d 0-9 >noise # without digits, so that no line is a stack with its number by chance
for format in chrome strace perf folded; do
	run "$SONDE" import noise --from $format -o x
	is "nor is noise $format" "$status" 1
done

done_testing
