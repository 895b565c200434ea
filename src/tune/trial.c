/*
 * sonde-trial USAGE ALIVE CANCEL JOB PATIENCE TIMEOUT COMMAND [ARGUMENT...]: runs a trial on the host a launcher
 * chose.
 *
 * Output is the command's. USAGE gets the resource usage of the process tree and the command's status, as JSON; the
 * exit status is then 0. The tree is killed after TIMEOUT nanoseconds (0: never), on SIGTERM or SIGINT, or when the
 * file ALIVE has not changed for PATIENCE nanoseconds, so no process waits for the trial any more. In the last two
 * cases the program CANCEL ("-": none) is run with the job id, the value of the environment variable JOB.
 */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/json.h"
#include "launch/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Our arguments. */
enum { USAGE = 1, ALIVE, CANCEL, JOB, PATIENCE, TIMEOUT, COMMAND };

static volatile sig_atomic_t is_stopped;

static void stop(int signal)
{
	is_stopped = 1;
}

static int fail(const struct sonde_err *err, int code)
{
	fprintf(stderr, "sonde-trial: %s\n", err->text);
	return code;
}

enum end { ENDED, TIMED_OUT, STOPPED, FORGOTTEN };

/* The heartbeat file of the process that waits for the trial, and its last change. */
struct patron {
	const char *path;
	int64_t patience_ns, heard_ns;
	struct buf said;
};

static bool is_forgotten(struct patron *p)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	int64_t now_ns = clock_mono_ns();

	if (now_ns - p->heard_ns > p->patience_ns / 8 && fs_read_file(AT_FDCWD, p->path, 4096, &text, NULL) == 0 &&
			strcmp(text.data, p->said.data) != 0) {
		buf_reset(&p->said);
		buf_adds(&p->said, text.data);
		p->heard_ns = now_ns;
	}
	return now_ns - p->heard_ns > p->patience_ns;
}

static enum end attend(struct job *j, int64_t timeout_ns, struct patron *p)
{
	int64_t until_ns = timeout_ns > 0 ? job_start_ns(j) + timeout_ns : INT64_MAX;
	enum end end = ENDED;

	while (end == ENDED) {
		int64_t look_ns = clock_mono_ns() + 100000000; /* delay of a signal that arrives just before the wait */

		if (job_wait(j, look_ns < until_ns ? look_ns : until_ns, NULL) != -ETIMEDOUT)
			break;
		if (is_stopped)
			end = STOPPED;
		else if (clock_mono_ns() >= until_ns)
			end = TIMED_OUT;
		else if (is_forgotten(p))
			end = FORGOTTEN;
	}
	return end;
}

static int write_usage(const char *path, struct job *j, bool is_timed_out, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct job_usage usage;
	struct json json;

	job_usage(j, &usage);
	json_init(&json, &text, false);
	json_object(&json);
	json_kint(&json, "status", job_status(j));
	json_kint(&json, "wall_ns", usage.wall_ns);
	json_kint(&json, "user_ns", usage.user_ns);
	json_kint(&json, "system_ns", usage.system_ns);
	json_kint(&json, "max_rss_bytes", usage.max_rss_bytes);
	json_kbool(&json, "is_timed_out", is_timed_out);
	json_end(&json);
	return fs_replace_file(AT_FDCWD, path, text.data, text.len, err);
}

static int run(char **argv, struct sonde_err *err)
{
	static const struct job_ladder ladder = { .terminate_ns = 1000000000 };
	struct patron patron = { .path = argv[ALIVE],
		.patience_ns = strtoll(argv[PATIENCE], NULL, 10),
		.heard_ns = clock_mono_ns(),
		.said = BUF_INIT };
	struct job_spec spec = JOB_SPEC_INIT;
	struct job *j = NULL;
	enum end end;
	int rc;

	spec.argv = argv + COMMAND;
	rc = job_start(&j, &spec, err);
	if (rc < 0)
		return fail(err, launch_exit_code(rc) ? launch_exit_code(rc) : 125);
	end = attend(j, strtoll(argv[TIMEOUT], NULL, 10), &patron);
	job_end(j, &ladder, NULL);
	buf_release(&patron.said);
	if (end == FORGOTTEN)
		fprintf(stderr, "sonde-trial: the study has stopped waiting for this trial\n");
	rc = end > TIMED_OUT ? 0 : write_usage(argv[USAGE], j, end == TIMED_OUT, err);
	job_free(j);
	if (end > TIMED_OUT) {
		const char *number = getenv(argv[JOB]);

		/* A launcher that was killed may have left its job: cancel it. */
		if (strcmp(argv[CANCEL], "-") != 0 && number)
			execlp(argv[CANCEL], argv[CANCEL], number, (char *)NULL);
		return 125;
	}
	return rc < 0 ? fail(err, 125) : 0;
}

int main(int argc, char **argv)
{
	struct sonde_err err = SONDE_ERR_INIT;
	struct sigaction action = { .sa_handler = stop };

	if (argc <= COMMAND) {
		fprintf(stderr, "usage: sonde-trial USAGE ALIVE CANCEL JOB PATIENCE TIMEOUT COMMAND [ARGUMENT...]\n");
		return 2;
	}
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	return run(argv, &err);
}
