# shellcheck shell=bash
# Commands that compare and tune: duet, tune, train.

smoke_duet() {
	want '"verdict"' sonde duet --json --budget 1s --no-self-check --threshold 50% -a 'sh -c "exit 0"' -b 'sh -c "exit 0"'
	# It ends as soon as the answer is certain; the budget is for machines that are busy with other things.
	fails 3 '' sonde duet --budget 60s --threshold 10% --no-self-check -a true -b 'sleep 0.1'
	want '.' sonde duet runs "$RUN" -- "$RUN-2"
	fails 1 'does-not-exist' sonde duet --budget 1s -a ./does-not-exist -b true
}

smoke_tune() {
	cat >study.yml <<'YML'
name: smoke
command: [sh, -c, "echo value $(( ({x} - 3) * ({x} - 3) + 1 ))"]
params:
  - {name: x, type: int, low: 0, high: 9, default: 9}
objective: {name: value, goal: minimize, regex: '^value ([0-9]+)'}
budget: {trials: 6}
confirm: 2
YML
	want '"best"' sonde tune --json study.yml
	want '"value"' cat sonde-tune/smoke/result.json
	want '.' sonde tune --report study.yml
	if ! command -v srun >/dev/null; then
		fails 1 'srun' sonde tune --launcher slurm -o slurm study.yml
	fi
}

# A training program in shell: it reports a falling loss on the socket that it was given.
smoke_train() {
	cat >job.yml <<'YML'
name: smoke
params: [{name: workers, type: int, low: 1, high: 4, default: 1, class: live}]
target_loss: 0.5
YML
	cat >job.sh <<'SH'
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	printf 'report %s %s\n' "$i" "0.$((99 - 4 * i))" >&"$SONDE_JOB_FD"
	sleep 0.01
done
SH
	quietly sonde train --fixed -o result job.yml -- bash job.sh
	want '"reached": *true' cat result/result.json
}
