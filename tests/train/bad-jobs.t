#!/bin/bash
# sonde train: what is wrong with a job file or a program is said, and nothing crashes.
. "$(dirname "$0")/train.sh"

# refuse NAME STATUS WORDS ARGUMENT...
refuse() {
	local name=$1 want=$2 words=$3
	shift 3
	run train "$@"
	is "$name" "$status" "$want"
	like "$name: the reason" "$err" "$words"
}

plan_of live 'target_loss: 0.3' >job.yml
echo 'name: x' >empty.yml
plan_of live 'finish: soon' >rule.yml
plan_of live 'iteration: 5' >key.yml
plan_of sometimes >class.yml
printf 'params: [' >yaml.yml
plan_of live "constraints: ['w > 8']" >impossible.yml
refuse 'no job' 2 'missing job file' -- "$PYTHON" job.py
refuse 'no program' 2 'missing program' job.yml
refuse 'no file' 1 'nowhere.yml' nowhere.yml -- true
refuse 'no parameters' 1 "empty.yml:1: .*no 'params'" empty.yml -- true
refuse 'a rule that is none' 1 "rule.yml:3: 'finish' must be average, all, once or most" rule.yml -- true
refuse 'a key that is none' 1 'key.yml:3: .*iteration' key.yml -- true
refuse 'a class that is none' 1 'class.yml:1: ' class.yml -- true
refuse 'no YAML' 1 'yaml.yml' yaml.yml -- true
refuse 'no configuration is allowed' 1 'no configuration' impossible.yml -- "$PYTHON" job.py
refuse 'a target that is no number' 2 "invalid number 'low'" --target-loss low job.yml -- true
refuse 'a parameter that is none' 2 "unknown parameter 'x'" --set x=1 job.yml -- true
refuse 'a value that is none' 1 "'many'" --set w=many job.yml -- true
refuse 'half a setting' 2 'NAME=VALUE' --set w job.yml -- true
refuse 'file and text' 2 'mutually exclusive' --plan "$(<job.yml)" job.yml -- true

run train -o text --plan "$(<job.yml)" -- true
is 'the text of a job file does' "$status" 0
like 'a program that reports nothing just ends' "$out" 'ended after .*: 0 iterations'
like 'and is told so' "$out" 'the program reported no losses'

cat >noise.py <<'PY'
import os, socket
out = socket.socket(fileno=int(os.environ["SONDE_JOB_FD"]))
out.sendall(b"hello\n" + b"x" * 100000 + b"\nreport\nreport 1 1 1 1 1\nreport 1 nan 0 0\nreport 2 inf 99999 0\nreport 3 -1 0 77\n\n\0\n")
out.sendall(b"".join(b"report %d 1e308 %d %d\n" % (i, i, i) for i in range(2000)))
PY
run train -o noise job.yml -- "$PYTHON" noise.py
is 'a program that says anything at all' "$status" 0
like 'is told how much was no report' "$out" '[0-9]+ lines of the program are not valid reports'

run env LOSS=nan STEPS=200 timeout 60 "$SONDE" train -o nan job.yml -- "$PYTHON" job.py
is 'losses that are no numbers' "$status" 0
is 'reach nothing' "$(field reached nan/result.json)" False
like 'which is said' "$out" 'the last loss is not finite: training has diverged'
is 'and are absent, not zero' "$(column loss nan/iteration_training_data.csv | sort -u)" ''
run env LOSS=-5 STEPS=200 timeout 60 "$SONDE" train -o below --target-loss -10 job.yml -- "$PYTHON" job.py
is 'losses below zero' "$status" 0

done_testing
