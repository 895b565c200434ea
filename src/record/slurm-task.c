/*
 * Tasks of srun that record themselves; see slurm-task.h. The first task's companion process is in slurm-task-join.c.
 */
#include "record/slurm-task.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fs.h"
#include "launch/spawn-command.h"
#include "record/slurm-task-private.h"
#include "record/writers.h"
#include "store/run-dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MEET_NS 60000000000 /* for the first task to publish the run directory */
#define MEET_PAUSE_NS 50000000
#define FAILED_S 2
#define WITHIN "SONDE_STEP" /* in the environment of the command of a step's task */
#define FAILED '!'          /* first character of a link that holds an error message */

static bool number_of(const char *variable, unsigned *out)
{
	const char *text = getenv(variable);
	char *end;
	unsigned long v = text ? strtoul(text, &end, 10) : 0;
	if (!text || end == text || *end || v > HOSTS_MAX)
		return false;
	*out = (unsigned)v;
	return true;
}

bool record_step_find(struct record_step *s)
{
	const char *job = getenv("SLURM_JOB_ID"), *step = getenv("SLURM_STEP_ID"), *within = getenv(WITHIN);
	*s = (struct record_step){ .bundle = BUF_INIT, .run = BUF_INIT, .start_barrier = -1 };
	s->node = getenv("SLURMD_NODENAME");
	if (!job || !step || !s->node || !number_of("SLURM_PROCID", &s->task) ||
			!number_of("SLURM_STEP_NUM_TASKS", &s->tasks) || !number_of("SLURM_LOCALID", &s->local))
		return false;
	int n = snprintf(s->id, sizeof(s->id), "%s.%s", job, step);
	return n > 0 && (size_t)n < sizeof(s->id) && !strchr(s->id, '/') && s->tasks > 1 && s->task < s->tasks &&
			(!within || strcmp(within, s->id) != 0);
}

/* Next to the requested run directory, or in the runs directory. */
static void add_meeting(const struct record_step *s, const char *dir, struct buf *out)
{
	const char *slash = dir ? strrchr(dir, '/') : NULL;
	if (!dir)
		buf_adds(out, store_runs_dir());
	else if (slash)
		buf_add(out, dir, slash == dir ? 1 : (size_t)(slash - dir));
	else
		buf_addc(out, '.');
	buf_addf(out, "/.sonde-step-%s", s->id);
}

static int make_bundle(struct record_step *s, const struct record_hosts *o, struct sonde_err *err)
{
	struct store_run run = STORE_RUN_INIT;
	int rc = writers_create_run(&run, o->dir, o->name, o->is_forced, err);
	if (!rc && mkdirat(run.dirfd, "hosts", 0700))
		rc = err_sys(err, errno, "cannot create '%s/hosts'", run.path);
	char *whole = rc ? NULL : realpath(run.path, NULL);
	if (whole)
		buf_adds(&s->bundle, whole);
	else if (!rc)
		rc = err_sys(err, errno, "cannot find '%s'", run.path);
	free(whole);
	store_run_release(&run);
	return rc;
}

/* The first task: create the run directory, and publish its path or the reason of the failure. */
static int lead(struct record_step *s, const struct record_hosts *o, const char *meeting, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf word = BUF_INIT;
	int rc = make_bundle(s, o, err);
	if (rc)
		buf_addf(&word, "%c%s", FAILED, err->text);
	else
		buf_adds(&word, s->bundle.data);
	unlink(meeting);
	if (symlink(word.data, meeting) && !rc)
		return err_sys(err, errno, "cannot tell the other tasks where the run is by '%s'", meeting);
	if (rc) {
		nanosleep(&(struct timespec){ .tv_sec = FAILED_S }, NULL); /* the other tasks poll */
		unlink(meeting);
	}
	return rc;
}

static int follow(struct record_step *s, const char *meeting, struct sonde_err *err)
{
	const struct timespec pause = { .tv_nsec = MEET_PAUSE_NS };
	int64_t until_ns = clock_mono_ns() + MEET_NS;
	char to[4096];
	ssize_t n;
	while ((n = readlink(meeting, to, sizeof(to) - 1)) < 0 && clock_mono_ns() < until_ns)
		nanosleep(&pause, NULL);
	if (n <= 0) {
		err_set(err, ETIMEDOUT, "the first task of this step has not created its run: '%s' not found on %s",
				meeting, s->node);
		err_hint(err, "all nodes need the same directory: use -o DIR on a shared file system");
		return -ETIMEDOUT;
	}
	to[n] = '\0';
	if (*to == FAILED)
		return err_set(err, EIO, "the first task of this step: %s", to + 1);
	buf_adds(&s->bundle, to);
	return 0;
}

static int note(const struct record_step *s, int status, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf path = BUF_INIT;
	char text[512];
	buf_addf(&path, "%s/hosts/" STEP_TASK_FILE, s->bundle.data, s->task);
	int n = snprintf(text, sizeof(text), "%s %u %d %d\n", s->node, s->local, (int)getpid(), status);
	return fs_replace_file(AT_FDCWD, path.data, text, (size_t)n, err);
}

static int start_helper(struct record_step *s, const struct record_hosts *o, const char *meeting, struct sonde_err *err)
{
	int start_barrier[2];
	if (pipe2(start_barrier, O_CLOEXEC))
		return err_sys(err, errno, "cannot create a pipe");
	s->helper = fork();
	if (!s->helper) {
		close(start_barrier[1]);
		_exit(step_join(s, o, meeting, start_barrier[0]));
	}
	close(start_barrier[0]);
	s->start_barrier = start_barrier[1];
	return s->helper < 0 ? err_sys(err, errno, "cannot fork") : 0;
}

int record_step_begin(struct record_step *s, const struct record_hosts *o, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf meeting = BUF_INIT;
	add_meeting(s, o->dir, &meeting);
	int rc = s->task ? follow(s, meeting.data, err) : lead(s, o, meeting.data, err);
	if (!rc)
		rc = note(s, -1, err);
	if (!rc && !s->task)
		rc = start_helper(s, o, meeting.data, err);
	if (rc)
		return rc;
	buf_addf(&s->run, "%s/hosts/", s->bundle.data);
	step_add_place(&s->run, s->task, s->node);
	setenv(WITHIN, s->id, 1);
	return 0;
}

int record_step_end(struct record_step *s, int exit_code, struct sonde_err *err)
{
	int rc = s->bundle.len ? note(s, exit_code, err) : 0;
	if (s->start_barrier < 0)
		return rc;
	close(s->start_barrier);
	s->start_barrier = -1;
	if (!launch_reap(s->helper) || rc)
		return rc;
	err_set(err, EIO, "the runs of the tasks are in '%s', but could not be joined", s->bundle.data);
	err_hint(err, "sonde join %s tries again", s->bundle.data);
	return -EIO;
}

void record_step_release(struct record_step *s)
{
	if (s->start_barrier >= 0)
		close(s->start_barrier);
	buf_release(&s->bundle);
	buf_release(&s->run);
}
