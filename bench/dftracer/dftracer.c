/*
 * The cost of libdftracer per event, in total: the hook, the helper thread, the log written and closed.
 *
 *   bench_dftracer LOOP LIBRARY-DIR [ROUNDS [COUNT]]
 *
 * CPU time (user and system, all threads) of the loop in each mode, minus that of the same loop with tracing
 * disabled; rounds are interleaved and the minimum of each counts. Prints, asserts nothing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

struct mode {
	const char *name;
	const char *what; /* argument of the loop */
	const char *env[6];
	size_t bare; /* row of its baseline */
};

static const struct mode modes[] = {
	{ "calls, not linked to anything that traces (disabled)", "calls", { "DFTRACER_ENABLE=0" }, 0 },
	{ "calls, FUNCTION, no arguments", "calls", { "DFTRACER_ENABLE=1" }, 0 },
	{ "calls, FUNCTION, arguments", "calls", { "DFTRACER_ENABLE=1", "DFTRACER_INC_METADATA=1" }, 0 },
	{ "calls, FUNCTION, arguments, compressed", "calls",
			{ "DFTRACER_ENABLE=1", "DFTRACER_INC_METADATA=1", "DFTRACER_TRACE_COMPRESSION=1" }, 0 },
	{ "calls, PRELOAD, disabled", "calls", { "DFTRACER_ENABLE=0", "DFTRACER_INIT=PRELOAD", "LD_PRELOAD" }, 0 },
	{ "calls, PRELOAD, no arguments", "calls", { "DFTRACER_ENABLE=1", "DFTRACER_INIT=PRELOAD", "LD_PRELOAD" }, 0 },
	{ "calls, PRELOAD, arguments", "calls",
			{ "DFTRACER_ENABLE=1", "DFTRACER_INC_METADATA=1", "DFTRACER_INIT=PRELOAD", "LD_PRELOAD" }, 0 },
	{ "calls, PRELOAD, generation D, arguments, compressed", "calls",
			{ "DFTRACER_ENABLE=1", "DFTRACER_INC_METADATA=1", "DFTRACER_INIT=PRELOAD", "DFTRACER_FORMAT=D",
					"LD_PRELOAD" },
			0 },
	{ "regions, disabled", "regions", { "DFTRACER_ENABLE=0" }, 8 },
	{ "regions, no arguments", "regions", { "DFTRACER_ENABLE=1" }, 8 },
	{ "regions, two arguments", "regions", { "DFTRACER_ENABLE=1", "DFTRACER_INC_METADATA=1" }, 8 },
};

#define MODES (sizeof(modes) / sizeof(*modes))

static double seconds(const struct timeval *t)
{
	return (double)t->tv_sec + (double)t->tv_usec * 1e-6;
}

static void become(const struct mode *m, const char *loop, const char *libraries, const char *count)
{
	char preload[4096];
	snprintf(preload, sizeof(preload), "LD_PRELOAD=%s/libdftracer_preload.so", libraries);
	for (size_t i = 0; i < sizeof(m->env) / sizeof(*m->env) && m->env[i]; i++)
		putenv(strcmp(m->env[i], "LD_PRELOAD") ? strdup(m->env[i]) : preload);
	execl(loop, loop, m->what, count, (char *)NULL);
	_exit(127);
}

/* CPU seconds; negative on failure. */
static double run(const struct mode *m, const char *loop, const char *libraries, const char *count)
{
	struct rusage usage;
	int status;
	pid_t pid = fork();
	if (!pid)
		become(m, loop, libraries, count);
	if (pid < 0 || wait4(pid, &status, 0, &usage) < 0 || !WIFEXITED(status) || WEXITSTATUS(status))
		return -1;
	return seconds(&usage.ru_utime) + seconds(&usage.ru_stime);
}

static void remove_logs(void)
{
	if (fork() == 0) {
		execl("/bin/sh", "sh", "-c", "rm -f bench-*.pfw bench-*.pfw.gz loop.data", (char *)NULL);
		_exit(127);
	}
	wait(NULL);
}

int main(int argc, char **argv)
{
	double best[MODES];
	char dir[] = "/tmp/sonde-bench.XXXXXX";
	long rounds = argc > 3 ? strtol(argv[3], NULL, 10) : 5;
	const char *count = argc > 4 ? argv[4] : "400000";
	if (argc < 3 || !mkdtemp(dir) || chdir(dir))
		return 2;
	setenv("LD_LIBRARY_PATH", argv[2], 1);
	setenv("DFTRACER_LOG_FILE", "bench", 1);
	unsetenv("LD_PRELOAD");
	for (size_t i = 0; i < MODES; i++)
		best[i] = 1e9;
	for (long round = 0; round < rounds; round++)
		for (size_t i = 0; i < MODES; i++) {
			double cpu = run(&modes[i], argv[1], argv[2], count);
			remove_logs();
			if (cpu < 0) {
				fprintf(stderr, "bench_dftracer: '%s' failed\n", modes[i].name);
				return 1;
			}
			best[i] = cpu < best[i] ? cpu : best[i];
		}
	double n = (double)strtol(count, NULL, 10);
	printf("%s events, minimum of %ld rounds, CPU time of all threads\n", count, rounds);
	printf("%-56s %10s %12s %8s\n", "", "ns/event", "added", "ratio");
	for (size_t i = 0; i < MODES; i++)
		printf("%-56s %10.0f %12.0f %8.2f\n", modes[i].name, best[i] * 1e9 / n,
				(best[i] - best[modes[i].bare]) * 1e9 / n, best[i] / best[modes[i].bare]);
	puts("for comparison, DFTracer 1 and 2 on this kind of machine: 1300 ns without, 4300 ns with arguments");
	return chdir("/") || rmdir(dir);
}
