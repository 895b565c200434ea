#!/bin/bash
# Commands as arguments, two and more; words that fit the metric; formats, several at once and hyperfine's.
. "$(dirname "$0")/../lib/tap.sh"

py() { /usr/bin/python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$1" "$2"; }

run "$SONDE" duet 'sleep 0.002' 'sleep 0.02' --design rmit --budget 5s --json=two.json
is 'two commands are A and B' "$status" 3
is 'of which the first is A' "$(py two.json 'r["a"]["command"], r["b"]["command"]')" "('sleep 0.002', 'sleep 0.02')"
like 'text is on standard output all the same' "$out" '^B is .* slower than A'

run "$SONDE" duet 'sleep 0.02' 'sleep 0.06' 'sleep 0.001' --design rmit --budget 12s --json=rank.json --export-json export.json \
	--export-csv export.csv --export-markdown export.md
is 'three are ranked' "$status" 0
is 'the quickest first' "$(py rank.json '[x["command"] for x in r["ranking"]]')" "['sleep 0.001', 'sleep 0.02', 'sleep 0.06']"
is 'with intervals of a level that holds for all' "$(py rank.json '[b["level"] for b in r["benchmarks"]]')" '[0.975, 0.975]'
like 'the text too' "$out" '1 +0\.[0-9]+ +[0-9.e-]+ to [0-9.e-]+ .* sleep 0.001'
like 'relative to the first command' "$out" '1 +reference .* sleep 0.02'
is 'hyperfine has these fields' "$(py export.json 'sorted(r["results"][0])')" \
	"['command', 'max', 'mean', 'median', 'min', 'stddev', 'system', 'times', 'user']"
is 'one object for each command' "$(py export.json 'sorted(x["command"] for x in r["results"])')" \
	"['sleep 0.001', 'sleep 0.02', 'sleep 0.06']"
is 'in seconds' "$(py export.json 'all(0.0005 < x["median"] < 5 and x["min"] <= x["median"] <= x["max"] for x in r["results"])')" True
is 'CSV' "$(head -1 export.csv)" 'command,mean,stddev,median,user,system,min,max'
is 'has a line for each' "$(wc -l <export.csv)" 4
like 'Markdown' "$(<export.md)" '\| `sleep 0.001` \| [0-9.]+ ± [0-9.]+ \| .* \| 1.00 \|'
run "$SONDE" duet true true true --outdir x
is 'a ranking has no journal' "$status" 2

run "$SONDE" duet true true --json --csv
is 'standard output is for one format' "$status" 2
like 'the others are for files' "$err" '--json=FILE'
run "$SONDE" duet true true --design rmit --runs 2 --no-self-check --json --csv=one.csv --markdown=one.md
like 'all at once' "$(head -1 one.csv)$(<one.md)$out" '^benchmark,.*\| verdict .*"ratio"'

big='/usr/bin/python3 -c "b = bytearray(60000000)"' small='/usr/bin/python3 -c "b = 0"'
run "$SONDE" duet "$big" "$small" --metric rss --design rmit --budget 10s --markdown=rss.md --json=rss.json
like 'memory is used, not slow' "$out" '^B uses [0-9.]+ % less memory than A'
like 'in Markdown too' "$(<rss.md)" 'less memory \|'
is 'the verdict of programs is the same word for all metrics' "$(py rss.json 'r["verdict"]')" faster
run "$SONDE" duet true true --threshold 2 --design rmit --runs 2 --no-self-check --json=t.json
is 'a threshold without a sign is in percent' "$(py t.json 'r["threshold"]')" 0.02
run "$SONDE" duet 'sleep 0.3' 'sleep 0.3' --design rmit --runs 1 --no-self-check --budget 1s
like 'one run has no interval' "$out" '95 % interval not known, 1 run'
unlike 'and no infinity' "$out" 'inf|∞|-100'
run "$SONDE" duet 'sleep 0.001'
is 'one command is not enough' "$status" 1

# sessions
run "$SONDE" duet 'sleep 0.002' 'sleep 0.02' --design rmit --budget 6s --sessions 4 --runs 5 --no-self-check --json=sessions.json
like 'sessions are the observations' "$out" '4 sessions with 20 pairs'
is 'with a verdict' "$status $(py sessions.json 'r["verdict"], r["runs"], r["sessions"], r["pairs"]')" "3 ('slower', 4, 4, 20)"
run "$SONDE" duet 'sleep 0.002' 'sleep 0.02' --design rmit --budget 3s --runs 3 --no-self-check --confirm
like 'a confirmation has three' "$out" '3 sessions with'
run "$SONDE" duet 'sleep 0.002' 'sleep 0.02' --design rmit --budget 3s --runs 3 --no-self-check
like 'a verdict without is of one' "$out" 'of one session'
run "$SONDE" duet true true --sessions 2 --outdir x
is 'they have no journal' "$status" 2

# result files with repetitions in them
/usr/bin/python3 - <<'EOS'
import json, os, random
random.seed(3)
os.mkdir("dir")
for name, side, factor in (("old", "A", 1), ("new", "B", 1.3)):
    times = [factor * random.uniform(0.99, 1.01) for _ in range(10)]
    text = json.dumps({"results": [{"command": "./" + name, "times": times}]})
    for path in (name + ".json", f"dir/hyperfine.x.0.seqn.None.{side}.r.json"):
        with open(path, "w") as f:
            f.write(text)
    with open(name + ".txt", "w") as f:
        f.writelines(f"took {t:.6f} s\n" for t in times)
EOS
for what in dir 'old.json new.json' 'old.txt new.txt --regex took.([0-9.]+)'; do
	# shellcheck disable=SC2086 # several words
	run "$SONDE" duet report $what --json=report.json
	is "ten repetitions are ten runs: $what" "$(py report.json '[(b["runs"], b["verdict"]) for b in r["benchmarks"]]')" "[(10, 'slower')]"
	is "with a verdict: $what" "$status" 3
done
"$SONDE" duet process dir >table.csv && cp table.csv table2.csv
run "$SONDE" duet report table.csv table2.csv
is 'tables are not taken for results' "$status" 3

done_testing
