#!/bin/bash
# sonde.job in C, C++ and Python: the same lines; outside of a job nothing happens.
. "$(dirname "$0")/train.sh"

cat >job.c <<'C'
#include <sonde/job.h>

#include <sys/wait.h>

int main(void)
{
	struct sonde_job job;
	char mode[32];
	int moves = 0;
	pid_t pid;

	sonde_job_open(&job);
	printf("%s %d %d\n", job.role, job.task, job.directory != NULL);
	for (int step = 1; step < 100000; step++) {
		if (sonde_job_changed(&job))
			moves++;
		usleep((unsigned)(1000 + 1000 * llabs(sonde_job_int(&job, "w", 1) - 4)));
		sonde_job_report(&job, step, 2 / (1 + 0.01 * step), 3);
		if (sonde_job_should_stop(&job))
			break;
		if (step == 2000 && !job.id)
			break;
	}
	sonde_job_text(&job, "mode", "none", mode, sizeof(mode));
	printf("moves %d mode %s rate %g missing %g\n", moves, mode, sonde_job_real(&job, "rate", 0), sonde_job_real(&job, "x", 7));
	fflush(stdout);
	pid = sonde_job_fork(&job, "worker", 2);
	if (pid == 0) {
		printf("%s %d %d\n", job.role, job.task, sonde_job_should_stop(&job));
		fflush(stdout);
		_exit(0);
	}
	return waitpid(pid, NULL, 0) == pid ? 0 : 1;
}
C
plan_of live 'target_loss: 0.4' 'settings: {rate: 0.25, mode: fast}' >job.yml
run cc -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -I"$SONDE_STAGE/include" -o job-c job.c
is 'C compiles' "$status$err" 0
run train -o c job.yml -- ./job-c
is 'a C program is tuned' "$status $(field reached c/result.json)" '0 True'
like 'it is the chief' "$out" '^chief 0 1'
like 'and takes up settings' "$out" 'moves [2-9][0-9]* mode fast rate 0.25 missing 7'
like 'it has processes of other roles' "$out" 'worker 2 1'
run timeout 60 ./job-c
is 'outside of a job nothing happens' "$status ${out//$'\n'/; }" '0 chief 0 0; moves 0 mode none rate 0 missing 7; worker 2 0'
cp job.c job.cc
run c++ -D_GNU_SOURCE -Wall -Wextra -I"$SONDE_STAGE/include" -fsyntax-only job.cc
is 'C++ compiles' "$status$err" 0

cat >crew.py <<'PY'
import os, sys
from sonde import job

def work(task, chief, factor):
    assert job.role == "worker" and job.task == task and "SONDE_JOB_FD" not in os.environ
    for number in iter(chief.recv, None):
        chief.send(number * factor)

if __name__ == "__main__":
    crew = job.Crew({"worker": work})
    for _ in range(3):
        crew.start("worker", 10)
    for member in crew.members["worker"]:
        member.connection.send(member.task + 1)
    print(job.role, [member.connection.recv() for member in crew.members["worker"]], job.id is not None)
    pids = [member.process.pid for member in crew.members["worker"]]
    gone = crew.release("worker")
    gone.connection.send(None)
    gone.join()
    crew.members["worker"][0].process.kill()
    crew.members["worker"][0].join()
    print(len(crew.members["worker"]), gone.process.exitcode, job.knob("w", 5, 1, 8), job.knob("mode", "slow", choices=["slow", "fast"]))
    print(*pids, file=open("pids", "w"))
PY
run train -o crew job.yml -- $PYTHON crew.py
is 'a crew in Python' "$status $(grep -v tables <<<"${out}" | head -n 2 | tr '\n' ';')" '0 chief [10, 20, 30] True;2 0 1 fast;'
run $PYTHON crew.py
is 'outside of a job too' "$status ${out//$'\n'/;}" '0 chief [10, 20, 30] False;2 0 5 slow'
left=0
for pid in $(<pids); do [[ ! -e /proc/$pid ]] || left=$((left + 1)); done
is 'nobody is left' "$left" 0

done_testing
