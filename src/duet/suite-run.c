#include "duet/suite.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/shell-words.h"
#include "duet/run-commands.h"
#include "launch/container.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define ARTIFACT_NS_MAX INT64_C(60000000000)

static void tell(struct duet_suite_run *r, enum duet_event kind, const char *fmt, ...)
		__attribute__((format(printf, 3, 4)));

static void tell(struct duet_suite_run *r, enum duet_event kind, const char *fmt, ...)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(&text, fmt, ap);
	va_end(ap);
	if (r->on_event)
		r->on_event(r->arg, kind, text.data);
}

static void tell_error(struct duet_suite_run *r, enum duet_event kind, const char *what, const struct sonde_err *why)
{
	tell(r, kind, "%s: %s%s%s", what, why->text, why->hint[0] ? "; " : "", why->hint);
}

/* Creates an artifact: the output of a command, in a file that appears only when complete. */
static int make_artifact(struct duet_suite_run *r, const struct duet_artifact *a, const char *path,
		struct sonde_err *err)
{
	CLEANUP(arena_release) struct arena arena = ARENA_INIT;
	CLEANUP(buf_release) struct buf part = BUF_INIT;
	struct job_spec spec = JOB_SPEC_INIT;
	struct job *job = NULL;
	char **argv;
	int fd, rc = words_split(a->command, &arena, &argv, err);

	if (rc)
		return rc;
	buf_addf(&part, "%s.part", path);
	fd = open(part.data, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		return err_sys(err, errno, "cannot write '%s'", part.data);
	spec.argv = argv;
	spec.fds[1] = fd;
	rc = job_start(&job, &spec, err);
	if (!rc)
		rc = duet_wait_job(job, r->interrupt_fd, clock_mono_ns() + ARTIFACT_NS_MAX, err);
	if (!rc && job_status(job))
		rc = err_set(err, ECHILD, "'%s' failed", a->command);
	job_free(job);
	if (close(fd) && !rc)
		rc = err_sys(err, errno, "cannot write '%s'", part.data);
	if (!rc && rename(part.data, path))
		rc = err_sys(err, errno, "cannot name '%s'", path);
	if (rc)
		unlink(part.data);
	return rc;
}

int duet_suite_artifacts(struct duet_suite_run *r, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf dir = BUF_INIT;
	int rc;

	buf_addf(&dir, "%s/artifacts", r->outdir);
	rc = fs_mkdir_p(dir.data, 0755, err);
	for (size_t i = 0; i < r->suite->artifact_count && !rc; i++) {
		CLEANUP(buf_release) struct buf path = BUF_INIT;
		struct sonde_err why = SONDE_ERR_INIT;
		int made;

		buf_addf(&path, "%s/%s", dir.data, r->suite->artifacts[i].name);
		if (access(path.data, F_OK) == 0)
			continue;
		made = make_artifact(r, &r->suite->artifacts[i], path.data, &why);
		if (made == -EINTR)
			rc = err_set(err, EINTR, "interrupted in the artifact '%s'", r->suite->artifacts[i].name);
		else if (made)
			tell_error(r, DUET_EVENT_WARNING, r->suite->artifacts[i].name, &why);
	}
	return rc;
}

/* State of the current step. */
struct play {
	struct duet_suite_run *r;
	const struct duet_step *step;
	struct arena *arena;
	char what[256];
	bool has_side[DUET_SIDES];
	struct container *containers[DUET_SIDES];
	struct job *jobs[DUET_SIDES];
	struct duet_barrier barrier;
	struct sonde_err *err;
};

static char *step_path(struct play *p, const struct duet_step *step, enum duet_side side, const char *inside,
		const char *ending)
{
	char *name = duet_step_result_name(step, side, inside, p->arena);

	return name ? arena_printf(p->arena, "%s/%s%s", p->r->outdir, name, ending) : NULL;
}

/* Returns the same step with the sides in the other order, as another seed may have planned it. */
static struct duet_step other_order(const struct duet_step *step)
{
	struct duet_step other = *step;

	other.is_first_b = !step->is_first_b;
	return other;
}

static bool has_results(struct play *p, const struct duet_step *step)
{
	for (int side = 0; side < DUET_SIDES; side++)
		for (const char *const *path = step->benchmark->sides[side].results; p->has_side[side] && *path;
				path++) {
			char *there = step_path(p, step, (enum duet_side)side, *path, "");

			if (!there || access(there, F_OK))
				return false;
		}
	return true;
}

static int start_container(struct play *p, enum duet_side side)
{
	static const char *const sync_args[] = { "-v", "/dev/shm:/dev/shm", "--ipc", "host", NULL };
	/* An image has bash, but maybe no other program: read from a pipe without a writer. */
	static char bash[] = "bash", option[] = "-c", wait[] = "exec 3<> <(:); while :; do read -r -u 3; done";
	static char *const idle[] = { bash, option, wait, NULL };
	struct job_isolation place = { .kind = JOB_CONTAINER,
		.image = p->step->benchmark->sides[side].image,
		.engine = p->r->docker ? p->r->docker : p->r->suite->docker,
		.engine_args = p->step->design == DUET_SYNC ? sync_args : NULL,
		.is_kept = !p->step->benchmark->has_removal };
	int rc = container_start(&p->containers[side], &place, idle, NULL, p->r->interrupt_fd, p->err);

	if (rc)
		err_prefix(p->err, "%c", "AB"[side]);
	return rc;
}

/* Replaces every '$$' in the command by the barrier's name. */
static char *with_barrier(struct play *p, const char *command)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	for (; *command; command++) {
		if (command[0] == '$' && command[1] == '$') {
			buf_adds(&text, p->barrier.name);
			command++;
		} else {
			buf_addc(&text, *command);
		}
	}
	return arena_strdup(p->arena, text.data);
}

static int start_command(struct play *p, enum duet_side side)
{
	const struct duet_suite_side *s = &p->step->benchmark->sides[side];
	char bash[] = "bash", option[] = "-c";
	char *command = p->step->design == DUET_SYNC ? with_barrier(p, s->sync_run) : arena_strdup(p->arena, s->run);
	char *argv[] = { bash, option, command, NULL };
	struct job_spec spec = JOB_SPEC_INIT;

	if (!command)
		return err_sys(p->err, ENOMEM, "cannot start the command");
	spec.argv = argv;
	spec.fds[1] = spec.fds[2] = p->r->has_output ? STDERR_FILENO : JOB_FD_NULL;
	return container_exec(&p->jobs[side], p->containers[side], &spec, p->err);
}

/* Checks a side that has ended for failure. With a barrier, its peer must not wait for it. */
static int side_ended(struct play *p, enum duet_side side)
{
	int rc = job_wait(p->jobs[side], INT64_MAX, p->err), status;

	if (rc)
		return rc;
	status = job_status(p->jobs[side]);
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		return err_set(p->err, ECHILD, "%c failed with %s %d", "AB"[side],
				WIFEXITED(status) ? "exit status" : "signal",
				WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
	return p->step->design == DUET_SYNC ? duet_barrier_stand_in(&p->barrier, p->err) : 0;
}

/* Waits until one of the open sides ends; returns which one. */
static int wait_for_a_side(struct play *p, const bool *is_open, int64_t until_ns, bool *has_ended)
{
	struct pollfd fds[3] = { { .fd = p->r->interrupt_fd, .events = POLLIN } };
	int n;

	for (int side = 0; side < DUET_SIDES; side++)
		fds[1 + side] = (struct pollfd){ .fd = is_open[side] ? job_pidfd(p->jobs[side]) : -1,
			.events = POLLIN };
	n = poll(fds, 3, duet_poll_ms(until_ns));
	if (n < 0 && errno != EINTR)
		return err_sys(p->err, errno, "cannot wait for the commands");
	if (n > 0 && fds[0].revents)
		return err_set(p->err, EINTR, "interrupted");
	if (n == 0 && clock_mono_ns() >= until_ns)
		return err_set(p->err, ETIMEDOUT, "%s ended within %g s",
				is_open[DUET_A] && is_open[DUET_B] ? "neither side has"
						: is_open[DUET_A]  ? "A has not"
								   : "B has not",
				(double)p->step->benchmark->timeout_ns / 1e9);
	for (int side = 0; side < DUET_SIDES; side++)
		has_ended[side] = n > 0 && fds[1 + side].revents;
	return 0;
}

/* Both sides have one deadline. */
static int wait_for_sides(struct play *p, int64_t until_ns)
{
	bool is_open[DUET_SIDES] = { p->jobs[DUET_A] != NULL, p->jobs[DUET_B] != NULL };
	int rc = 0;

	while (!rc && (is_open[DUET_A] || is_open[DUET_B])) {
		bool has_ended[DUET_SIDES] = { false };

		rc = wait_for_a_side(p, is_open, until_ns, has_ended);
		for (int side = 0; side < DUET_SIDES && !rc; side++)
			if (has_ended[side]) {
				is_open[side] = false;
				rc = side_ended(p, (enum duet_side)side);
			}
	}
	return rc;
}

/* A run has one result, whatever its earlier order. */
static void remove_earlier(struct play *p, enum duet_side side, const char *inside)
{
	struct duet_step other = other_order(p->step);
	char *paths[] = { step_path(p, p->step, side, inside, ""), step_path(p, &other, side, inside, "") };

	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++)
		if (paths[i])
			fs_remove_tree(AT_FDCWD, paths[i]);
}

/* Copies every result to a temporary name; renames them when all are complete. */
static int take_results(struct play *p)
{
	int rc = 0;

	for (int pass = 0; pass < 2; pass++)
		for (int side = 0; side < DUET_SIDES; side++)
			for (const char *const *path = p->step->benchmark->sides[side].results;
					p->has_side[side] && *path && !rc; path++) {
				char *part = step_path(p, p->step, (enum duet_side)side, *path, ".part");
				char *whole = step_path(p, p->step, (enum duet_side)side, *path, "");

				if (!part || !whole)
					return err_sys(p->err, ENOMEM, "cannot name a result");
				if (pass == 0) {
					fs_remove_tree(AT_FDCWD, part);
					rc = container_copy_out(p->containers[side], *path, part, p->err);
				} else {
					remove_earlier(p, (enum duet_side)side, *path);
					if (rename(part, whole))
						rc = err_sys(p->err, errno, "cannot name '%s'", whole);
				}
			}
	return rc;
}

static void drop_parts(struct play *p)
{
	for (int side = 0; side < DUET_SIDES; side++)
		for (const char *const *path = p->step->benchmark->sides[side].results; p->has_side[side] && *path;
				path++) {
			char *part = step_path(p, p->step, (enum duet_side)side, *path, ".part");

			if (part)
				fs_remove_tree(AT_FDCWD, part);
		}
}

static int open_barrier(struct play *p)
{
	CLEANUP(buf_release) struct buf name = BUF_INIT;

	if (p->step->design != DUET_SYNC)
		return 0;
	duet_barrier_remove_left();
	if (!p->step->benchmark->has_barrier)
		tell(p->r, DUET_EVENT_WARNING,
				"%s: the command of a synchronous duet has no '$$' in it: nothing keeps "
				"the sides in step",
				p->what);
	buf_addf(&name, DUET_BARRIER_SUITE "%d.%s.%" PRId64 ":barrier", (int)getpid(), p->step->benchmark->name,
			p->step->runid);
	for (char *c = name.data; *c; c++)
		if (*c == '/')
			*c = '_';
	return duet_barrier_open(&p->barrier, name.data, p->err);
}

static int play_step(struct play *p)
{
	enum duet_side first = p->step->design == DUET_SEQ ? p->step->side : p->step->is_first_b ? DUET_B : DUET_A;
	enum duet_side second = DUET_B - first;
	int64_t timeout = p->step->benchmark->timeout_ns;
	int rc = 0;

	for (int side = 0; side < DUET_SIDES && !rc; side++)
		if (p->has_side[side])
			rc = start_container(p, (enum duet_side)side);
	if (!rc)
		rc = open_barrier(p);
	if (!rc)
		rc = start_command(p, first);
	if (!rc && p->has_side[second])
		rc = start_command(p, second);
	if (!rc)
		rc = wait_for_sides(p, timeout ? clock_mono_ns() + timeout : INT64_MAX);
	return rc ? rc : take_results(p);
}

static int execute_step(struct duet_suite_run *r, const struct duet_step *step, struct sonde_err *err)
{
	CLEANUP(arena_release) struct arena arena = ARENA_INIT;
	struct sonde_err why = SONDE_ERR_INIT;
	struct duet_step other = other_order(step);
	struct play p = { .r = r, .step = step, .arena = &arena, .barrier = DUET_BARRIER_INIT, .err = &why };
	int rc;

	for (int side = 0; side < DUET_SIDES; side++)
		p.has_side[side] = step->design != DUET_SEQ || step->side == (enum duet_side)side;
	snprintf(p.what, sizeof(p.what), "%s %s %" PRId64 "%s", step->benchmark->name, duet_design_types[step->design],
			step->runid, step->design == DUET_SEQ ? step->side == DUET_A ? " A" : " B" : "");
	if (r->is_resumed && (has_results(&p, step) || has_results(&p, &other))) {
		r->left_out++;
		return 0;
	}
	tell(r, DUET_EVENT_INFO, "%s", p.what);
	rc = play_step(&p);
	for (int side = 0; side < DUET_SIDES; side++)
		job_free(p.jobs[side]);
	duet_barrier_release(&p.barrier);
	for (int side = 0; side < DUET_SIDES; side++)
		container_free(p.containers[side]);
	if (rc) {
		drop_parts(&p);
		if (rc == -EINTR)
			return err_set(err, EINTR, "interrupted in %s", p.what);
		r->failed++;
		tell_error(r, DUET_EVENT_ERROR, p.what, &why);
		return rc == -ENOMEM || rc == -ENOSPC ? err_set(err, -rc, "%s", why.text) : 0;
	}
	r->done++;
	return 0;
}

int duet_suite_execute(struct duet_suite_run *r, const struct duet_step *steps, size_t count, struct sonde_err *err)
{
	int rc = 0;

	for (size_t i = 0; i < count && !rc; i++)
		rc = execute_step(r, &steps[i], err);
	return rc;
}
