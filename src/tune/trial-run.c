#include "tune/trial-run.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fs.h"
#include "record/annotation-listener.h"
#include "tune/launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { OUTPUT_MAX = 64 << 20, TEMPLATE_MAX = 1 << 20, READ_BYTES = 1 << 16, LINE_MAX_BYTES = 1 << 20 };

static char *expand(struct tune_run *r, const char *template, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	char *copy;

	if (tune_expand(&out, template, r, err) < 0)
		return NULL;
	copy = arena_copy(&r->arena, out.data, out.len);
	if (!copy)
		err_sys(err, ENOMEM, "cannot start a trial");
	return copy;
}

/* "--threads={}" for every active parameter with an argument. */
static int add_arguments(struct tune_run *r, char **argv, size_t *n, struct sonde_err *err)
{
	for (size_t i = 0; i < r->study->space.count; i++) {
		const struct tune_param *p = &r->study->space.params[i];
		const char *hole = p->argument ? strstr(p->argument, "{}") : NULL;
		char value[TUNE_WHY];

		if (!hole || isnan(r->point[i]))
			continue;
		tune_param_format(p, r->point[i], value, sizeof(value));
		argv[*n] = arena_printf(&r->arena, "%.*s%s%s", (int)(hole - p->argument), p->argument, value, hole + 2);
		if (!argv[(*n)++])
			return err_sys(err, ENOMEM, "cannot start a trial");
	}
	return 0;
}

static char **expand_words(struct tune_run *r, const char *const *words, bool has_arguments, struct sonde_err *err)
{
	size_t count = 0, n = 0;
	char **argv;

	while (words[count])
		count++;
	argv = arena_alloc(&r->arena, (count + r->study->space.count + 1) * sizeof(*argv));
	for (; argv && n < count; n++) {
		argv[n] = expand(r, words[n], err);
		if (!argv[n])
			return NULL;
	}
	if (!argv || (has_arguments && add_arguments(r, argv, &n, err) < 0))
		return NULL;
	return argv;
}

static const char **expand_environment(struct tune_run *r, struct sonde_err *err)
{
	const char *const *given = r->study->environment;
	const char **env;
	size_t count = 0, n = 0;

	while (given && given[count])
		count++;
	env = arena_alloc(&r->arena, (count + r->study->space.count + 4) * sizeof(*env));
	for (size_t i = 0; env && i < count; i++)
		if (!(env[n++] = expand(r, given[i], err)))
			return NULL;
	for (size_t i = 0; env && i < r->study->space.count; i++) {
		const struct tune_param *p = &r->study->space.params[i];
		char value[TUNE_WHY];

		if (!p->variable || isnan(r->point[i]))
			continue;
		tune_param_format(p, r->point[i], value, sizeof(value));
		env[n++] = arena_printf(&r->arena, "%s=%s", p->variable, value);
	}
	if (env)
		env[n++] = arena_printf(&r->arena, "SONDE_TUNE_DIR=%s", r->dir);
	for (const char *const *ours = env && r->announce ? announce_env(r->announce) : NULL; ours && *ours; ours++)
		env[n++] = *ours;
	return env;
}

const char *tune_run_path(struct tune_run *r, const char *path)
{
	return *path == '/' ? path : arena_printf(&r->arena, "%s/%s", r->dir, path);
}

static int write_file(struct tune_run *r, const struct tune_file *f, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const char *path = expand(r, f->path, err), *filled;
	int rc = 0;

	if (!path)
		return -EINVAL;
	if (f->from)
		rc = fs_read_file(AT_FDCWD, f->from, TEMPLATE_MAX, &text, err);
	if (rc < 0)
		return rc;
	filled = expand(r, f->from ? text.data : f->template, err);
	path = tune_run_path(r, path);
	if (!filled || !path)
		return -EINVAL;
	return fs_replace_file(AT_FDCWD, path, filled, strlen(filled), err);
}

static int open_output(struct tune_run *r, const char *name, struct sonde_err *err)
{
	const char *path = tune_run_path(r, name);
	int fd = path ? open(path, O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600) : -1;

	return fd < 0 ? err_sys(err, errno, "cannot write '%s'", path ? path : name) : fd;
}

static int start_job(struct tune_run *r, char **argv, int err_fd, struct sonde_err *err)
{
	struct job_spec spec = JOB_SPEC_INIT;

	spec.argv = r->study->launcher ? tune_launcher_words(r, argv) : argv;
	if (!spec.argv)
		return err_sys(err, ENOMEM, "cannot start a trial");
	spec.mercy_ns = r->study->launcher ? TUNE_LAUNCHER_END_NS : 0;
	spec.env = expand_environment(r, err);
	spec.cwd = r->study->directory;
	spec.fds[1] = r->output_fd;
	spec.fds[2] = err_fd;
	return spec.env ? job_start(&r->job, &spec, err) : -ENOMEM;
}

/* Appends the last line of stderr to the reason of a failure. */
static void explain_exit(struct tune_run *r, const char *what)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const char *path = tune_run_path(r, "err.txt"), *line;

	snprintf(r->why, sizeof(r->why), "%s", what);
	if (!path || fs_read_file(AT_FDCWD, path, OUTPUT_MAX, &text, NULL) < 0)
		return;
	while (text.len && (text.data[text.len - 1] == '\n' || text.data[text.len - 1] == '\r'))
		text.data[--text.len] = '\0';
	line = strrchr(text.data, '\n');
	line = line ? line + 1 : text.data;
	if (*line)
		snprintf(r->why, sizeof(r->why), "%s: %.200s", what, line);
}

static void describe_status(int status, char *text, size_t size)
{
	if (WIFSIGNALED(status))
		snprintf(text, size, "killed by %s", strsignal(WTERMSIG(status)));
	else
		snprintf(text, size, "exit status %d", WEXITSTATUS(status));
}

/* As job_wait; sends heartbeats to a launched trial meanwhile. */
static int await(struct tune_run *r, int64_t until_ns, struct sonde_err *err)
{
	int rc;

	do {
		int64_t look_ns = clock_mono_ns() + 1000000000;

		tune_launcher_beat(r);
		rc = job_wait(r->job, look_ns < until_ns ? look_ns : until_ns, err);
	} while (rc == -ETIMEDOUT && clock_mono_ns() < until_ns);
	return rc;
}

/* The unmeasured step before the run: a build. Its failure counts as the configuration's. */
static int prepare(struct tune_run *r, int err_fd, struct sonde_err *err)
{
	char **argv = expand_words(r, r->study->prepare, false, err), what[100];
	int rc = argv ? tune_build_start(r, err) : -EINVAL, status;

	if (rc == 0)
		rc = start_job(r, argv, err_fd, err);
	if (rc < 0)
		return rc;
	rc = await(r, r->study->timeout_ns ? clock_mono_ns() + r->study->timeout_ns : INT64_MAX, err);
	if (rc == 0 || rc == -ETIMEDOUT) {
		struct job_ladder ladder = JOB_LADDER_KILL;

		job_end(r->job, &ladder, err);
		status = job_status(r->job);
		describe_status(status, what, sizeof(what));
		if (rc == -ETIMEDOUT || status != 0) {
			explain_exit(r, what);
			rc = -ECANCELED;
		}
	}
	job_free(r->job);
	r->job = NULL;
	return rc < 0 ? rc : tune_build_finish(r, err);
}

static int begin(struct tune_run *r, int err_fd, struct sonde_err *err)
{
	char **argv;
	int rc = 0;

	for (size_t i = 0; i < r->study->file_count && rc == 0; i++)
		rc = write_file(r, &r->study->files[i], err);
	if (rc == 0 && r->study->prepare && !tune_build_is_made(r))
		rc = prepare(r, err_fd, err);
	if (rc < 0)
		return rc;
	argv = expand_words(r, r->study->command, true, err);
	if (!argv)
		return -EINVAL;
	if (ftruncate(r->output_fd, 0) < 0)
		return err_sys(err, errno, "cannot start a trial");
	rc = r->study->is_announced ? tune_knobs_watch_open(r, err) : 0;
	if (rc < 0)
		return rc;
	rc = start_job(r, argv, err_fd, err);
	if (rc == 0)
		r->start_ns = job_start_ns(r->job);
	return rc;
}

int tune_run_start(struct tune_run *r, const struct tune_study *study, const double *point, uint64_t id,
		const char *dir, struct sonde_err *err)
{
	CLEANUP(cleanup_fd) int err_fd = -1;
	int rc;

	memset(r, 0, sizeof(*r));
	r->study = study;
	r->point = point;
	r->id = id;
	r->output_fd = -1;
	r->deadline_ns = INT64_MAX;
	arena_init(&r->arena);
	buf_init(&r->output, OUTPUT_MAX);
	r->dir = arena_strdup(&r->arena, dir);
	if (!r->dir)
		return err_sys(err, ENOMEM, "cannot start a trial");
	fs_remove_tree(AT_FDCWD, dir); /* remove what an earlier run left */
	rc = fs_mkdir_p(dir, 0700, err);
	if (rc == 0)
		rc = tune_build_find(r, err);
	if (rc < 0)
		return rc;
	r->output_fd = open_output(r, "out.txt", err);
	if (r->output_fd < 0)
		return r->output_fd;
	err_fd = open_output(r, "err.txt", err);
	return err_fd < 0 ? err_fd : begin(r, err_fd, err);
}

/* Finds steps in the complete lines of output read so far, and removes those lines. */
static int find_steps(struct tune_run *r)
{
	char *line = r->output.data, *end;
	regex_t regex;
	int rc = 0;

	if (regcomp(&regex, r->study->step_regex, REG_EXTENDED) != 0)
		return -EINVAL;
	for (; rc == 0 && (end = strchr(line, '\n')); line = end + 1) {
		regmatch_t at[3];

		*end = '\0';
		if (regexec(&regex, line, 3, at, 0) == 0 && at[1].rm_so >= 0 && at[2].rm_so >= 0)
			rc = tune_keep_step(r,
					&(struct tune_step){ .index = strtoll(line + at[1].rm_so, NULL, 10),
							.at_ns = clock_mono_ns(),
							.value = strtod(line + at[2].rm_so, NULL) });
	}
	regfree(&regex);
	r->output.len -= (size_t)(line - r->output.data);
	memmove(r->output.data, line, r->output.len + 1);
	if (r->output.len > LINE_MAX_BYTES)
		buf_reset(&r->output);
	return rc;
}

static int read_output(struct tune_run *r)
{
	char bytes[READ_BYTES];
	ssize_t n;

	while ((n = pread(r->output_fd, bytes, sizeof(bytes), r->output_at)) > 0) {
		r->output_at += n;
		for (ssize_t i = 0; i < n; i++)
			buf_addc(&r->output, bytes[i] ? bytes[i] : ' ');
		if (find_steps(r) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* If only the time to a target is measured, the run can stop when the target is reached. */
static bool is_enough(const struct tune_run *r)
{
	for (size_t k = 0; k < r->study->objective_count; k++)
		if (r->study->objectives[k].metric.source != TUNE_TARGET ||
				isnan(tune_time_to_target(r, &r->study->objectives[k].metric)))
			return false;
	for (size_t k = 0; k < r->study->limit_count; k++)
		if (r->study->limits[k].metric.source != TUNE_TARGET)
			return false;
	return true;
}

int tune_run_poll(struct tune_run *r, struct sonde_err *err)
{
	size_t before = r->step_count;

	tune_launcher_beat(r);
	if (r->announce)
		announce_pass(r->announce);
	if (r->study->step_regex && read_output(r) < 0)
		return err_sys(err, ENOMEM, "cannot keep the steps of a trial");
	if (r->step_count > before)
		r->is_enough = is_enough(r);
	return 0;
}

static void judge(struct tune_run *r, int status)
{
	char what[100];

	if (r->is_timed_out) {
		explain_exit(r, "timed out");
	} else if (!r->is_cut && !r->is_enough && status != 0) {
		describe_status(status, what, sizeof(what));
		explain_exit(r, what);
	}
	for (size_t k = 0; k < r->study->objective_count && !*r->why && !r->is_cut; k++) {
		const struct tune_metric *m = &r->study->objectives[k].metric;

		if (isfinite(r->values[k]))
			continue;
		if (m->source == TUNE_TARGET && r->step_count)
			snprintf(r->why, sizeof(r->why), "it ended before its steps reached %g; the last was %g",
					m->target, r->steps[r->step_count - 1].value);
		else
			snprintf(r->why, sizeof(r->why), "no value for '%s'", m->name);
	}
}

int tune_run_finish(struct tune_run *r, struct sonde_err *err)
{
	/* A launcher needs time to stop its remote job. */
	struct job_ladder ladder = { .terminate_ns = r->study->launcher ? TUNE_LAUNCHER_END_NS : 1000000000 };
	struct job_usage usage;
	int rc = job_end(r->job, &ladder, err), status;

	if (rc < 0)
		return rc;
	if (r->announce)
		announce_finish(r->announce);
	rc = tune_run_poll(r, err);
	job_usage(r->job, &usage);
	status = job_status(r->job);
	if (r->study->launcher)
		tune_launcher_poll(r, &usage, &status);
	tune_measure(r, &usage);
	judge(r, status);
	job_free(r->job);
	r->job = NULL;
	return rc;
}

void tune_run_release(struct tune_run *r)
{
	static const struct job_ladder patient = { .terminate_ns = TUNE_LAUNCHER_END_NS };

	if (r->job && r->study->launcher)
		job_end(r->job, &patient, NULL);
	job_free(r->job);
	tune_knobs_watch_close(r);
	if (r->output_fd >= 0)
		close(r->output_fd);
	free(r->steps);
	buf_release(&r->output);
	arena_release(&r->arena);
	r->job = NULL;
	r->output_fd = -1;
	r->steps = NULL;
}
