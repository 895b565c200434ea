/*
 * Starting programs: fork, exec and wait, repeated.
 *
 *   exec COUNT PROGRAM
 *
 * Prints nanoseconds per program: CPU time of this process and its children, and wall time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double usage_ns(int who)
{
	struct rusage u;
	getrusage(who, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e9 +
			(double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e3;
}

static double wall_ns(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	long count = strtol(argv[1], NULL, 10);
	double cpu = usage_ns(RUSAGE_SELF) + usage_ns(RUSAGE_CHILDREN), wall = wall_ns();
	for (long i = 0; i < count; i++) {
		pid_t pid = fork();
		if (!pid) {
			execl(argv[2], argv[2], (char *)NULL);
			_exit(127);
		}
		if (pid < 0 || waitpid(pid, NULL, 0) < 0)
			return 1;
	}
	cpu = usage_ns(RUSAGE_SELF) + usage_ns(RUSAGE_CHILDREN) - cpu;
	printf("%.0f %.0f\n", cpu / (double)count, (wall_ns() - wall) / (double)count);
	return 0;
}
