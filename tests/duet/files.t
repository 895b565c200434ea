#!/bin/bash
# Result files of every harness become one table and a judgement; the original's commands by their names.
. "$(dirname "$0")/../lib/tap.sh"

table() { run "$SONDE" duet process "$@"; }
# column NAME: its values, joined
column() { /usr/bin/python3 -c 'import csv, sys; print(" ".join(r[sys.argv[1]] for r in csv.DictReader(sys.stdin)))' "$1" <<<"$out"; }

mkdir r && cat >r/renaissance.chi-square.0.duet.AB.A.results.json <<'EOS'
{"format_version": 5, "environment": {"vm": {"start_unix_ms": 1652640000123}},
 "data": {"chi-square": {"results": [{"duration_ns": 1000001, "uptime_ns": 5000000007}, {"duration_ns": 900000, "uptime_ns": 5002000000}]}}}
EOS
table r
is 'Renaissance' "$status" 0 || diag "$err"
is 'its starts are exact, without the grain of a double' "$(column iteration_start_ns)" '1652640005123000007 1652640005125000000'
is 'its ends' "$(column iteration_end_ns)" '1652640005124000008 1652640005125900000'
is 'its iterations count from 0' "$(column iteration)" '0 1'
is 'its own columns' "$(column epoch_start_ms) $(column uptime_ns)" '1652640000123 1652640000123 5000000007 5002000000'
table r --json
is 'as JSON' "$(jq -c '[.[0] | .suite, .benchmark, .type, .order, .pair, .runid]' <<<"$out")" '["renaissance","chi-square","duet","AB","A",0]'
truncate -s 150 r/renaissance.chi-square.0.duet.AB.A.results.json
table r
is 'half a result is a failure' "$status" 1
like 'that says so' "$err" 'is not whole JSON'

mkdir -p d/artifacts && echo 'Sun May 15 18:49:00 UTC 2022' >d/artifacts/date && printf 'MemTotal:       24 kB\nx\n' >d/artifacts/meminfo
printf 'iteration_time_ns,start_unix,process_cpu_time_ns,total_ms\n100,1652640000001,90,3\n200,1652640000002,190,5\n' >d/dacapo.avrora.3.syncduet.BA.B.results.csv
printf 'iteration_time_ns,total_ms\n100,1000\n' >d/scalabench.kiama.0.seqn.None.A.results.csv
table d
is 'DaCapo: iterations count from 1' "$(column iteration)" '1 2 1'
is 'starts are in ms, or relative to the date' "$(column iteration_start_ns)" '1652640000001000000 1652640000002000000 1652640541000000000'
is 'all other columns are kept' "$(column process_cpu_time_ns)" '90 190 '
is 'artifacts are columns' "$(column meminfo)" '24 kB 24 kB 24 kB'
printf 'iteration_time_ns,start_unix\n100,1652640000001\n200' >d/dacapo.avrora.3.syncduet.BA.B.results.csv
table d
is 'a cut line is a failure' "$status" 1
is 'and the other results are there' "$(column suite)" scalabench

mkdir -p s/speccpu.mcf.0.duet.AB.A.result && printf 'x\nRate Start: now (100.5)\nRate End: then (101.75)\nRate Start: (102)\nRate End: (103)\n' >s/speccpu.mcf.0.duet.AB.A.result/CPU2017.002.log
table s
is 'SPEC CPU' "$(column iteration_time_ns)" '1250000000 1000000000'
mkdir h && echo '{"results": [{"command": "x", "times": [0.5, 0.25]}]}' >h/hyperfine.b.0.seqn.None.A.x.json
table h
is 'hyperfine' "$(column iteration_time_ns)" '500000000 250000000'
mkdir g && echo '{"benchmarks": [{"name": "BM", "run_type": "iteration", "real_time": 2.5, "cpu_time": 2, "time_unit": "us"}, {"name": "BM_mean", "run_type": "aggregate", "real_time": 9, "time_unit": "us"}]}' >g/gbench.b.0.seqn.None.A.x.json
table g
is 'Google Benchmark' "$(column iteration_time_ns)" 2500
# the loops of such harnesses take parts of a ns
mkdir ns && for i in 0 1 2 3 4; do
	for side in A:1.40$i B:1.61$i; do
		echo "{\"benchmarks\": [{\"name\": \"BM\", \"run_type\": \"iteration\", \"real_time\": ${side#*:}, \"cpu_time\": ${side#*:}, \"time_unit\": \"ns\"}]}" >"ns/gbench.b.$i.seqn.None.${side%:*}.x.json"
	done
done
run "$SONDE" duet report ns --json
is 'times below a ns keep their digits' "$(jq '.benchmarks[0] | .ratio > 1.14 and .ratio < 1.16 and .hi < 1.2' <<<"$out")" true
table ns
is 'in the table too' "$(column iteration_time_ns | cut -d ' ' -f 1,2) $(column cpu_time_ns | cut -d ' ' -f 2)" '1.4 1.61 1.61'
run "$SONDE" duet process ns -o ns.csv
run "$SONDE" duet report ns.csv --json
is 'and from it' "$(jq '.benchmarks[0] | .ratio > 1.14 and .ratio < 1.16' <<<"$out")" true
# two benchmarks in one file stay two, each paired with itself
two='{"benchmarks": [{"name": "BM_a", "run_type": "iteration", "repetition_index": 0, "real_time": 2, "time_unit": "us"}, {"name": "BM_b", "run_type": "iteration", "repetition_index": 0, "real_time": 9, "time_unit": "us"}]}'
mkdir gg && for i in 0 1 2; do tee gg/gbench.b.$i.seqn.None.{A,B}.x.json <<<"$two" >/dev/null; done
run "$SONDE" duet report gg --json
is 'several benchmarks in a file' "$(jq -c '[.benchmarks[] | [.benchmark, .ratio, .runs]]' <<<"$out")" '[["gbench/b/BM_a seqn",1,3],["gbench/b/BM_b seqn",1,3]]'
echo '{"results": [{"command": "x", "times": [0.5]}, {"command": "y", "times": [0.25]}]}' >gg/hyperfine.c.0.seqn.None.A.x.json
table gg
is 'several commands of hyperfine' "$(column benchmark | grep -o 'c/.*')" 'c/x c/y'
run "$SONDE" duet report h
unlike 'results that exist have no budget' "$out" 'budget|pilot'
mkdir j && echo '[{"benchmark": "a.B", "primaryMetric": {"scoreUnit": "ms/op", "rawData": [[1.5, 2], [3]]}}, {"benchmark": "a.C", "primaryMetric": {"scoreUnit": "ops/s", "rawData": [[4]]}}]' >j/jmh.b.0.seqn.None.A.x.json
table j
is 'JMH' "$(column iteration_time_ns)" '1500000 2000000 3000000 250000000'
# a benchmark with parameters, in two modes: each is one of its own
mkdir jj && cat >jj/jmh.b.0.seqn.None.A.x.json <<'EOS'
[{"jmhVersion": "1.37", "benchmark": "a.B", "mode": "avgt", "forks": 1, "params": {"size": "10", "kind": "x"}, "primaryMetric": {"score": 2, "scoreError": "NaN", "scoreUnit": "us/op", "rawData": [[2]]}, "secondaryMetrics": {}},
 {"jmhVersion": "1.37", "benchmark": "a.B", "mode": "avgt", "forks": 1, "params": {"size": "20", "kind": "x"}, "primaryMetric": {"score": 4, "scoreError": "NaN", "scoreUnit": "us/op", "rawData": [[4]]}, "secondaryMetrics": {}},
 {"jmhVersion": "1.37", "benchmark": "a.B", "mode": "ss", "forks": 1, "params": {"size": "10", "kind": "x"}, "primaryMetric": {"score": 8, "scoreError": "NaN", "scoreUnit": "us/op", "rawData": [[8]]}, "secondaryMetrics": {}}]
EOS
table jj
is 'JMH with parameters and modes' "$(column benchmark)" 'b/a.B (size=10, kind=x) avgt b/a.B (size=20, kind=x) avgt b/a.B (size=10, kind=x) ss'
echo '[{"benchmark": "a.B", "mode": "sample", "primaryMetric": {"scoreUnit": "us/op", "rawDataHistogram": [[[[1, 2]]]]}}]' >jj/jmh.b.0.seqn.None.A.x.json
table jj
like 'JMH without single times is refused, with a hint' "$status $err" '^1 .*in place of its times.*-bm avgt'
mkdir p && echo '{"benchmarks": [{"fullname": "t::x", "stats": {"data": [0.001, 0.002]}}]}' >p/pytest.b.0.seqn.None.A.x.json
table p
is 'pytest-benchmark' "$(column iteration_time_ns)" '1000000 2000000'
# by the tools themselves, where they are installed
mkdir real
if command -v hyperfine >/dev/null; then
	hyperfine -N --runs 4 --export-json real/hyperfine.h.0.seqn.None.A.x.json true 'sleep 0.001' >hyperfine.log 2>&1 || diag "$(<hyperfine.log)"
	table real
	is 'by hyperfine itself' "$(column iteration_time_ns | tr ' ' '\n' | grep -c '^[1-9]')" 8
	is 'in the order of its commands' "$(column command)" 'true true true true sleep 0.001 sleep 0.001 sleep 0.001 sleep 0.001'
	rm real/*
else
	skip_missing 'by hyperfine itself' 'hyperfine is not installed'
fi
cat >bm.cc <<'EOS'
#include <benchmark/benchmark.h>
static void BM_one(benchmark::State &s) { for (auto _ : s) benchmark::DoNotOptimize(s.iterations()); }
static void BM_fails(benchmark::State &s) { s.SkipWithError("no such thing"); for (auto _ : s) ; }
BENCHMARK(BM_one)->Arg(8)->Iterations(100);
BENCHMARK(BM_fails)->Iterations(1);
int main(int n, char **v) { benchmark::Initialize(&n, v); benchmark::RunSpecifiedBenchmarks(); }
EOS
if g++ -o bm bm.cc -lbenchmark -pthread 2>gxx.log; then
	./bm --benchmark_filter=one --benchmark_repetitions=3 --benchmark_out=real/gbench.g.0.seqn.None.A.x.json --benchmark_out_format=json >bm.log 2>&1
	table real
	is 'by Google Benchmark itself' "$(column benchmark) $(column iteration) $(column iteration_time_ns | tr ' ' '\n' | grep -c '^[0-9]')" 'g g g 0 1 2 3' || diag "$(<bm.log)"
	./bm --benchmark_out=real/gbench.g.0.seqn.None.A.x.json --benchmark_out_format=json >bm.log 2>&1
	table real
	like 'a benchmark that failed there is a failure' "$status $err" "^1 .*'BM_fails.*' failed: no such thing"
	rm real/*
else
	skip_missing 'by Google Benchmark itself' 'there is no libbenchmark-dev'
fi
cat >test_sums.py <<'EOS'
import pytest
@pytest.mark.parametrize("n", [10, 1000])
def test_sum(benchmark, n):
    benchmark.pedantic(lambda: sum(range(n)), rounds=3, iterations=2)
EOS
if /usr/bin/python3 -c 'import pytest_benchmark' 2>/dev/null; then
	/usr/bin/python3 -m pytest -p no:cacheprovider --benchmark-json=real/pytest.p.0.seqn.None.A.x.json test_sums.py >pytest.log 2>&1 || diag "$(<pytest.log)"
	table real
	is 'by pytest-benchmark itself' "$(column benchmark | tr ' ' '\n' | uniq -c | xargs) $(column iteration_time_ns | tr ' ' '\n' | grep -c '^[1-9]')" '3 p/test_sums.py::test_sum[10] 3 p/test_sums.py::test_sum[1000] 6' || diag "$err"
	rm real/*
else
	skip_missing 'by pytest-benchmark itself' 'there is no python3-pytest-benchmark'
fi
mkdir l && printf '# start end\n1000 1500\n2.5 3.75\n1.5e0 2.0\n' >l/lines.b.0.duet.AB.A.x
table l
is 'lines of start and end' "$(column iteration_time_ns)" '500 1250000000 500000000'
mkdir x && printf 'took 12 ms\ntook 13 ms\n' >x/own.b.0.duet.AB.A.x
table x --regex 'took ([0-9.]+) ms' --unit 1ms
is 'a regular expression' "$(column iteration_time_ns)" '12000000 13000000'
table x
like 'without one it is not known' "$err" 'looks like no format'
table x --regex 'took'
like 'an expression needs a group' "$err" 'needs one'
echo 'a,b' >none.csv
run "$SONDE" duet report none.csv
like 'a file that is no table is told' "$status $err" "^1 .*'none.csv' is not a table of results: it has no column 'benchmark'.*hint: sonde duet process"
run "$SONDE" duet repor none.csv
like 'a typo of an action is told' "$status $err" "^2 .*unknown action 'repor'.*did you mean 'report'"
mkdir empty
table empty
like 'a directory without results is told' "$err" 'no results found'

# groups of which none has two runs, and tables that process wrote: the original failed on both
mkdir one && printf '0 1000\n1000 2000\n2000 3000\n' >one/lines.b.0.duet.AB.A.x && printf '0 1010\n1010 2020\n2020 3030\n' >one/lines.b.0.duet.AB.B.x
run "$SONDE" duet report one --json
is 'one run is judged as one' "$(jq -c '[.benchmarks[0].verdict, .benchmarks[0].runs]' <<<"$out")" '["inconclusive",1]'
cp one/lines.b.0.duet.AB.A.x one/lines.d.0.duet.AB.A.x && cp one/lines.b.0.duet.AB.B.x one/lines.d.0.duet.AB.B.x
run "$SONDE" duet report one
like 'what it cannot bound has no interval' "$out" 'lines/d duet.* not known'
unlike 'and no number for it' "$out" 'inf|nan'
rm one/lines.d.*
run "$SONDE" duet process one -o one.csv
run "$SONDE" duet overlaps one.csv
is 'overlaps of a table' "$status" 0
is 'has every overlap' "$(tail -n +2 <<<"$out" | wc -l)" 5
for i in 0 1 2 3 4 5; do
	cp one/lines.b.0.duet.AB.A.x one/lines.c.$i.seqn.None.A.x
	awk -v i=$i '{ print $1 * (1.5 + i / 1000), $2 * (1.5 + i / 1000) }' one/lines.b.0.duet.AB.A.x >one/lines.c.$i.seqn.None.B.x
done
sed -i 's/\([0-9]\)$/\1/' one/lines.c.*.B.x
run "$SONDE" duet report one --html page.html --json
is 'many runs are judged together' "$(jq -r '.benchmarks[] | select(.benchmark == "lines/c seqn") | .verdict' <<<"$out")" slower
is 'the exit code is the verdict' "$status" 3
like 'with a page' "$(<page.html)" 'geometric mean'
status=0
"$SONDE" duet report one >/dev/full 2>full.err || status=$?
is 'what could not be printed is a failure, whatever the verdict' "$status" 1
ln -s /dev/full full # never the device itself: a wrong sonde would replace it
run "$SONDE" duet report one --html full
is 'so is a page' "$status $(readlink full)" '1 /dev/full'
like 'which says so' "$err" "cannot write 'full': No space left on device"
run "$SONDE" duet process one -o full
is 'and a table' "$status $(readlink full)" '1 /dev/full'

# several benchmarks at once: what one of ten shows by chance is no verdict, what is clear is one
mkdir ten ten/alone
for x in 0.010 0.020 0.005 0.030 0.012; do printf '%s\n' "$x"; done >chance
for x in 0.250 0.251 0.252 0.251 0.250; do printf '%s\n' "$x"; done >clear
for x in 0.010 -0.010 0 0.020 -0.020; do printf '%s\n' "$x"; done >nothing
# benchmark NAME LOG-RATIOS DIR: five runs of one pair
benchmark() {
	local i=0 x
	while read -r x; do
		echo '0 1000000' >"$3/lines.$1.$i.seqn.None.A.x"
		awk -v x="$x" 'BEGIN { printf "0 %.0f\n", 1000000 * exp(x) }' >"$3/lines.$1.$i.seqn.None.B.x"
		i=$((i + 1))
	done <"$2"
}
benchmark chance chance ten/alone
run "$SONDE" duet report ten/alone --threshold 0% --json
is 'a benchmark alone is judged by its interval' "$(jq -r '.benchmarks[0].verdict' <<<"$out") $status" 'slower 3'
benchmark chance chance ten
for i in 1 2 3 4 5 6 7 8 9; do benchmark "same$i" nothing ten; done
run "$SONDE" duet report ten --threshold 0% --json
is 'of ten it is what chance gives one of them' "$(jq -r '.benchmarks[0].verdict, (.benchmarks[0].lo > 1)' <<<"$out" | tr '\n' ' ')$status" 'inconclusive true 0'
run "$SONDE" duet report ten --threshold 0%
like 'and that is said' "$out" '1 of 10 benchmarks is beyond the threshold by its own interval.*\(Holm\)'
benchmark clear clear ten
run "$SONDE" duet report ten --threshold 0% --json
is 'what is clear is said of any number' "$(jq -r '.benchmarks[] | select(.verdict == "slower") | .benchmark' <<<"$out") $status" 'lines/clear seqn 3'

# other ways to an interval
mkdir other && for i in $(seq 24); do awk -v i="$i" 'BEGIN { print 0.1 + i % 7 / 1000 }'; done >many
benchmark many many other
for how in "t/Student's t" 'ranks/Hodges-Lehmann, signed rank' 'signs/median, sign test' 'bootstrap/Hodges-Lehmann, hierarchical bootstrap' 'auto/Hodges-Lehmann, signed rank'; do
	run "$SONDE" duet report other --interval "${how%%/*}" --json
	is "--interval ${how%%/*}" "$(jq -r '.benchmarks[0] | "\(.method) \(.verdict) \(.lo > 1.09 and .hi < 1.13)"' <<<"$out")" "${how#*/} slower true"
done

# the same runs of two machines are twice as many, from their directories and from a table of both
mkdir here there && for i in 0 1 2; do
	printf '0 1000\n1000 2100\n' | tee here/lines.x.$i.seqn.None.{A,B}.t >/dev/null
	printf '0 1100\n1100 2300\n2300 3500\n' | tee there/lines.x.$i.seqn.None.{A,B}.t >/dev/null
done
run "$SONDE" duet process here there -o both.csv
for from in 'here there' both.csv; do
	# shellcheck disable=SC2086 # two words
	run "$SONDE" duet report $from --json
	is "runs of several directories are runs of their own ($from)" "$(jq -c '.benchmarks[0] | [.runs, .pairs]' <<<"$out")" '[6,15]'
done

# a benchmark of which one side is there only
cp -r here half && printf '0 1000\n' >half/lines.y.0.seqn.None.A.t
run "$SONDE" duet report half --json
is 'a benchmark without B has no answer, and the others have' "$(jq -c '[.benchmarks[] | .ratio, .p_adjusted], .mean.ratio' <<<"$out" | tr '\n' ' ')$status" '[1,1,null,null] 1 0'
like 'which is told' "$(jq -r '.warnings[]' <<<"$out")" "1 of 2 benchmarks has no pair of iterations of A and B: 'lines/y seqn'"
run "$SONDE" duet report half
unlike 'in words' "$out" nan
like 'and the mean is of those that have one' "$out" 'geometric mean .* of 1 benchmark\)'
rm half/lines.x.*
run "$SONDE" duet report half
like 'no answer at all is a failure' "$status $err" "^1 .*no run has a pair of iterations of A and B with a 'wall'"

# a history of benchmarks
run "$SONDE" duet report here --history h.db --label one
run "$SONDE" duet report here --history h.db --label two
run "$SONDE" duet history h.db --json
is 'a report adds to a history' "$(jq -c '[.[] | .benchmark, [.results[].label]]' <<<"$out")" '["lines/x seqn",["one","two"]]'

mkdir counted && printf 'iteration_time_ns,start_unix\n1000000,1652640000001\n1000000,1652640000002\n' | tee counted/dacapo.x.0.duet.AB.{A,B}.csv >/dev/null
run "$SONDE" duet overlaps counted
is 'overlaps have the numbers of the iterations' "$(tail -n +2 <<<"$out" | cut -d , -f 5,6 | tr '\n' ' ')" '1,1 2,2 '
mkdir gaps && printf '0 10\n' | tee gaps/lines.x.{3,7}.duet.AB.{A,B}.t gaps/lines.x.5.duet.AB.A.t >/dev/null
run "$SONDE" duet overlaps gaps
is 'runs keep their numbers where one is missing' "$(tail -n +2 <<<"$out" | cut -d , -f 4 | tr '\n' ' ')" '3 7 '

# the original's commands
eval "$("$SONDE" env duet)"
run duetprocess -o two.csv --csv parse one
is 'duetprocess parse' "$status" 0 || diag "$err"
run duetprocess overlaps two.csv
is 'duetprocess overlaps' "$status" 0
run duetprocess one -o three.csv
is 'duetprocess in its older form' "$status $(cmp two.csv three.csv && echo same)" '0 same'
printf 'duetbench: {suite: s, image: i, results: [/r], duets: [x], colour: red}\nx: {A: {run: y}}\n' >bad.yml
run duetbench --filter x -v -o new bad.yml
is 'duetbench with a bad configuration fails' "$status" 1
like 'and says where' "$err" "bad.yml:1: unknown key 'colour' in 'duetbench'"

# interrupted where nothing has begun to run: in an artifact, and while an engine takes its time
mark=$((RANDOM + 100000)).$$
printf '#!/bin/sh\n[ "$1" != run ] || exec sleep %s\n' "$mark" >engine && chmod +x engine
printf 'duetbench: {suite: s, image: i, results: [/r], duets: [x], artifacts: {slow: sleep %s}}\nx: {A: {run: y}}\n' "$mark" >slow.yml
printf 'duetbench: {suite: s, image: i, results: [/r], duets: [x]}\nx: {A: {run: y}}\n' >starts.yml
for suite in slow starts; do
	set -m # a job of a script ignores SIGINT unless it has job control
	"$SONDE" duet --docker "$PWD/engine" -o "of-$suite" $suite.yml >/dev/null 2>interrupted.err &
	pid=$!
	set +m
	for ((i = 0; i < 300; i++)); do pgrep -f "^sleep $mark" >/dev/null && break; sleep 0.1; done
	kill -INT $pid
	wait $pid
	is "$suite.yml: an interruption exits with 130" $? 130 || diag "$(<interrupted.err)"
	for ((i = 0; i < 100; i++)); do pgrep -f "^sleep $mark" >/dev/null || break; sleep 0.1; done
	is 'and leaves nothing running' "$(pgrep -fc "^sleep $mark")" 0
done

printf 'duetbench: {suite: s, image: i, results: [/r], duets: [x]}\nx: {A: {run: y}}\n' >single.yml
run taskset -c "$(taskset -cp $$ | grep -o '[0-9]*$')" "$SONDE" duet --docker false -o single single.yml
like 'a suite on one CPU is warned of' "$err" 'warning: only one CPU is available'

done_testing
