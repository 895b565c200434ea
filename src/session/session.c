#include "session/session.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fs.h"
#include "record/record.h"
#include "session/companions.h"
#include "session/dumps.h"
#include "session/spec.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

_Static_assert(SESSION_KNOBS_MAX <= 32, "a bit each");

/* A number is set as integer and as real, since the program defines the knob's type; other text is a choice. */
static void fill(struct sonde_knob_init *w, const char *name, const char *text)
{
	char *end;
	double real = strtod(text, &end);
	bool is_number = end != text && !*end && isfinite(real);
	long long whole = strtoll(text, &end, 10);

	*w = (struct sonde_knob_init){ .whole = end != text && !*end ? whole : SONDE_NONE,
		.real = is_number ? real : NAN };
	snprintf(w->name, sizeof(w->name), "%s", name);
	snprintf(w->choice, sizeof(w->choice), "%s", text);
}

int session_knobs_add(struct session_knobs *k, const char *name, const char *text, struct sonde_err *err)
{
	size_t i = 0;

	if (!*name || strlen(name) >= SONDE_NAME_BYTES || strlen(text) >= SONDE_NAME_BYTES)
		return err_set(err, EINVAL, "the knob '%s' needs a name and a value of less than %u bytes", name,
				(unsigned)SONDE_NAME_BYTES);
	while (i < k->count && strcmp(k->wishes[i].name, name) != 0)
		i++;
	if (i == SESSION_KNOBS_MAX)
		return err_set(err, E2BIG, "too many knobs (maximum %d)", SESSION_KNOBS_MAX);
	fill(&k->wishes[i], name, text);
	k->count += i == k->count;
	return 0;
}

void session_knobs_poll(struct session_knobs *k, int dirfd, const char *board)
{
	CLEANUP(cleanup_fd)
	int fd = k->count ? openat(dirfd, board, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;
	const off_t at = SONDE_SEGMENT_HEAD_BYTES + (off_t)offsetof(struct sonde_board, knobs);
	struct sonde_knob knob;

	for (uint32_t i = 0; fd >= 0 && i < SONDE_KNOBS_MAX; i++) {
		if (pread(fd, &knob, sizeof(knob), at + (off_t)(i * sizeof(knob))) != (ssize_t)sizeof(knob) ||
				!knob.kind)
			return;
		knob.name[sizeof(knob.name) - 1] = '\0';
		for (size_t n = 0; n < k->count; n++)
			if (strcmp(k->wishes[n].name, knob.name) == 0)
				k->asked |= 1u << n;
	}
}

int session_knobs_check(const struct session_knobs *k, struct sonde_err *err)
{
	for (size_t i = 0; i < k->count; i++)
		if (!(k->asked >> i & 1)) {
			err_set(err, ENOENT, "the application did not use the knob '%s'", k->wishes[i].name);
			err_hint(err, "it is read with sonde_knob_int(\"%s\", ...) and the like, see sonde(3)",
					k->wishes[i].name);
			return -ENOENT;
		}
	return 0;
}

#define RING_BYTES (256ull << 20)
#define RING_PROCESS_BYTES (64ull << 20)
#define DATASET_WORD "{dataset}"
#define SAMPLES_HZ 199 /* if the probe cpu is enabled */

_Static_assert(SESSION_ENV_MAX + 1 <= RECORD_ENV_MAX, "too many environment variables");

/* The inputs of a repeat, prepared once. */
struct plan {
	const struct session_spec *spec;
	char **argv;
	const char *env[SESSION_ENV_MAX + 2];
	char *dataset;                       /* absolute; NULL: none */
	const char *point_name, *point_text; /* of a sweep that is not over a limit; NULL: none */
	struct arena *arena;
	struct session_knobs knobs;
	struct job_isolation place;
	struct job_mount mounts[SESSION_MOUNTS_MAX + 1];
};

static int nomem(struct sonde_err *err)
{
	return err_sys(err, ENOMEM, "cannot prepare the session");
}

/* Replaces {dataset} by its path, and {NAME} by the value of a sweep. */
static char *fill_in(const struct plan *plan, const char *word, struct arena *arena)
{
	char *filled = tool_wrap_replace(word, DATASET_WORD, plan->dataset, arena);

	return filled && plan->point_name ? tool_wrap_replace(filled, plan->point_name, plan->point_text, arena)
					  : filled;
}

static int build_argv(struct plan *plan, struct arena *arena, struct sonde_err *err)
{
	const struct session_spec *s = plan->spec;
	size_t n = 0, commands = tool_wrap_count(s->command), args = tool_wrap_count(s->args);

	plan->argv = arena_alloc(arena, (commands + args + 1) * sizeof(*plan->argv));
	for (size_t i = 0; plan->argv && i < commands + args; i++) {
		plan->argv[n] = fill_in(plan, i < commands ? s->command[i] : s->args[i - commands], arena);
		if (!plan->argv[n++])
			return nomem(err);
	}
	return plan->argv ? 0 : nomem(err);
}

static int build_env(struct plan *plan, struct arena *arena, struct sonde_err *err)
{
	size_t n = 0;

	for (; n < plan->spec->env_count; n++) {
		plan->env[n] = fill_in(plan, plan->spec->env[n], arena);
		if (!plan->env[n])
			return nomem(err);
	}
	if (!plan->dataset)
		return 0;
	plan->env[n] = arena_printf(arena, "SONDE_DATASET=%s", plan->dataset);
	return plan->env[n] ? 0 : nomem(err);
}

static bool has_limits(const struct job_limits *l)
{
	return l->cpus > 0 || l->memory_bytes || l->pids || l->cpu_weight;
}

static int build_isolation(struct plan *plan, struct sonde_err *err)
{
	const struct session_spec *s = plan->spec;

	plan->place = (struct job_isolation){ .kind = s->image ? JOB_CONTAINER
				: s->root                      ? JOB_SANDBOX
				: has_limits(&s->limits)       ? JOB_CGROUP
							       : JOB_PROCESS,
		.limits = s->limits,
		.root = s->root,
		.image = s->image,
		.engine_args = (const char *const *)s->engine_args };
	if (s->image || s->root) {
		memcpy(plan->mounts, s->mounts, s->mount_count * sizeof(s->mounts[0]));
		plan->place.mounts = plan->mounts;
		plan->place.mount_count = s->mount_count;
		if (plan->dataset)
			plan->mounts[plan->place.mount_count++] = (struct job_mount){ plan->dataset, plan->dataset,
				.is_read_only = true };
	}
	return plan->place.kind == JOB_PROCESS ? 0 : job_isolation_check(&plan->place, err);
}

/* The earlier of the two; *is_cut: it is the end of the duration, not the timeout. */
static int64_t end_after_ns(const struct session_spec *s, bool *is_cut)
{
	int64_t whole_ns = s->duration_ns ? s->warm_up_ns + s->duration_ns : 0;

	*is_cut = whole_ns && (!s->timeout_ns || whole_ns <= s->timeout_ns);
	return *is_cut ? whole_ns : s->timeout_ns;
}

struct board_taker {
	struct session_profile *profile;
	struct session_knobs *knobs;
};

static void on_board(void *arg, int dirfd, const char *name)
{
	struct board_taker *t = arg;
	struct live_board *board = malloc(sizeof(*board)); /* too large for the stack */
	struct live_clock clock;

	live_clock_read(&clock, dirfd);
	live_clock_set(&clock);
	if (board && live_board_read(board, dirfd, name, NULL) == 0)
		session_profile_add_board(t->profile, board, &clock);
	session_knobs_poll(t->knobs, dirfd, name);
	free(board);
}

/* Called at the end of the warm-up, for each running process. */
static void mark_board(void *arg, int dirfd, const char *name)
{
	struct board_taker *t = arg;
	struct live_board *board = malloc(sizeof(*board));
	struct live_clock clock;

	live_clock_read(&clock, dirfd);
	live_clock_set(&clock);
	if (board && live_board_read(board, dirfd, name, NULL) == 0)
		session_profile_mark_board(t->profile, board, &clock, (double)clock_mono_ns() / 1e9);
	free(board);
}

static int run_once(struct session_profile *p, struct plan *plan, const char *dir, struct sonde_err *err)
{
	struct record_result result = RECORD_RESULT_INIT;
	struct session_repeat *r = &p->repeats[p->repeat_count];
	bool is_cut;
	struct tool_wrap tool_wrap;
	struct board_taker taker = { p, &plan->knobs };
	struct record_options o = { .dir = dir,
		.name = plan->spec->name,
		.probes = plan->spec->probes,
		.probe = { .freq_hz = SAMPLES_HZ, .rate_hz = 10 },
		.ring = { .categories = SONDE_CAT_ALL,
				.run_bytes_max = RING_BYTES,
				.process_bytes_max = RING_PROCESS_BYTES,
				.wishes = plan->knobs.wishes,
				.knob_init_count = plan->knobs.count },
		.place = plan->place.kind == JOB_PROCESS ? NULL : &plan->place,
		.timeout_ns = end_after_ns(plan->spec, &is_cut),
		.ladder = &plan->spec->ladder,
		.is_bound = true,
		.board = on_board,
		.board_arg = &taker,
		.look = plan->spec->warm_up_ns ? mark_board : NULL,
		.look_after_ns = plan->spec->warm_up_ns };
	struct companion tools;
	int rc = tools_start(&tools, plan->spec->tools, plan->spec->tool_count, err);

	if (rc < 0)
		return rc;
	rc = tool_wrap_apply(&tool_wrap, plan->spec, &tools, plan->argv, plan->env, plan->arena, err);
	o.argv = tool_wrap.argv;
	o.env = tool_wrap.env;
	p->repeat_count++; /* boards are read while it runs */
	if (rc == 0)
		rc = record_run(&o, &result, err);
	companion_end(&tools);
	if (rc == 0) {
		*r = (struct session_repeat){ .status = result.status,
			.is_cut = result.has_timed_out && is_cut,
			.has_timed_out = result.has_timed_out && !is_cut };
		snprintf(r->run, sizeof(r->run), "%s", result.path.data);
		rc = session_profile_add_run(p, r->run, result.wall_ns, err);
		if (rc == 0)
			rc = tools_collect(&tools, r->run, err);
		if (rc == 0)
			session_dumps_read(p, r->run);
		if (rc == 0 && !session_repeat_failed(r))
			rc = session_knobs_check(&plan->knobs, err);
	} else {
		tools_drop(&tools);
		p->repeat_count--;
	}
	record_result_release(&result);
	return rc;
}

static int repeat(struct session_profile *p, struct plan *plan, const char *dir, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf path = BUF_INIT;
	int rc = run_once(p, plan, dir, err);

	for (int64_t i = 2; rc == 0 && i <= plan->spec->repeats && !session_failed(p); i++) {
		buf_reset(&path);
		buf_addf(&path, "%s/repeats", p->repeats[0].run);
		rc = fs_mkdir_p(path.data, 0700, err);
		buf_addf(&path, "/%d", (int)i);
		if (rc == 0)
			rc = run_once(p, plan, path.data, err);
	}
	return rc;
}

/* Sets the knobs, and the point of a sweep that is not over a limit: a knob, or {NAME} in the arguments. */
static int set_point(struct plan *plan, const char *point_text, struct sonde_err *err)
{
	const struct session_spec *s = plan->spec;
	const size_t n = strlen(SESSION_KNOB_PREFIX);
	int rc = 0;

	for (size_t i = 0; i < s->knob_count && rc == 0; i++)
		rc = session_knobs_add(&plan->knobs, s->knobs[i].name, s->knobs[i].text, err);
	if (rc < 0 || !point_text)
		return rc;
	if (strncmp(s->sweep.over, SESSION_KNOB_PREFIX, n) == 0)
		return session_knobs_add(&plan->knobs, s->sweep.over + n, point_text, err);
	plan->point_name = arena_printf(plan->arena, "{%s}", s->sweep.over);
	plan->point_text = point_text;
	return plan->point_name ? 0 : nomem(err);
}

static int run_point(struct session_profile *p, const struct session_spec *spec, const char *point_text,
		const char *dir, struct arena *arena, struct sonde_err *err)
{
	struct plan *plan = arena_alloc(arena, sizeof(*plan));
	int rc;

	if (!plan)
		return nomem(err);
	*plan = (struct plan){ .spec = spec, .arena = arena };
	p->spec = spec;
	rc = set_point(plan, point_text, err);
	if (rc == 0) {
		rc = p->spec->dataset.source ? dataset_fetch(&p->spec->dataset, &p->dataset, arena, err) : 0;
		plan->dataset = p->dataset.path;
	}
	if (rc == 0)
		rc = build_argv(plan, arena, err);
	if (rc == 0)
		rc = build_env(plan, arena, err);
	if (rc == 0)
		rc = build_isolation(plan, err);
	return rc < 0 ? rc : repeat(p, plan, dir, err);
}

/* The session with the limit of point i; if the sweep is not over a limit, *text is the value instead. */
static struct session_spec *spec_of(const struct session_spec *spec, size_t i, const char **text, struct arena *arena)
{
	struct session_spec *one = arena_alloc(arena, sizeof(*one));

	*text = NULL;
	if (!one)
		return NULL;
	*one = *spec;
	if (strcmp(spec->sweep.over, "cpus") == 0)
		one->limits.cpus = spec->sweep.values[i];
	else if (strcmp(spec->sweep.over, "memory") == 0)
		one->limits.memory_bytes = (uint64_t)spec->sweep.values[i];
	else
		*text = spec->sweep.texts[i];
	return one;
}

/* The first point is the requested run; the others are in its directory. */
static int run_sweep(struct session_profile *p, const struct session_spec *spec, const char *dir, struct arena *arena,
		struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf path = BUF_INIT;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < spec->sweep.count; i++) {
		struct session_profile *one = i ? arena_alloc(arena, sizeof(*one)) : p;
		const char *text;
		const struct session_spec *point = one ? spec_of(spec, i, &text, arena) : NULL;

		if (!point)
			return nomem(err);
		buf_reset(&path);
		if (i) {
			buf_addf(&path, "%s/sweep", p->repeats[0].run);
			rc = fs_mkdir_p(path.data, 0700, err);
			buf_addf(&path, "/%zu", i + 1);
		}
		if (rc == 0)
			rc = run_point(one, point, text, i ? path.data : dir, arena, err);
		if (rc == 0) {
			const struct session_sweep *sweep = &one->spec->sweep;
			struct session_point *to = &p->points[p->point_count++];

			*to = (struct session_point){ .text = sweep->texts[i],
				.value = isnan(sweep->values[i]) ? (double)i : sweep->values[i],
				.metric = session_metric(one, sweep->metric),
				.has_failed = session_failed(one) };
			snprintf(to->run, sizeof(to->run), "%s", one->repeats[0].run);
		}
	}
	return rc;
}

int session_run(struct session_profile *p, const struct session_spec *spec, const char *dir, struct arena *arena,
		struct sonde_err *err)
{
	struct companion companions;
	int rc = companions_start(&companions, spec->companions, spec->companion_count, err);

	if (rc < 0)
		return rc;
	*p = (struct session_profile){ .spec = spec };
	rc = spec->sweep.count ? run_sweep(p, spec, dir, arena, err) : run_point(p, spec, NULL, dir, arena, err);
	companion_end(&companions);
	return rc;
}

int session_write(const struct session_profile *p, struct sonde_err *err)
{
	static const struct {
		const char *name;
		void (*write)(struct buf *out, const struct session_profile *p);
	} files[SESSION_OUTPUTS] = { [SESSION_JSON] = { "profile.json", session_write_json },
		[SESSION_OPENMETRICS] = { "profile.om", session_write_openmetrics },
		[SESSION_CSV] = { "profile.csv", session_write_csv },
		[SESSION_HTML] = { "profile.html", session_write_html } };
	CLEANUP(buf_release) struct buf text = BUF_INIT, path = BUF_INIT;
	int rc = 0;

	for (size_t i = 0; i < SESSION_OUTPUTS && rc == 0; i++) {
		if (i != SESSION_JSON && !p->spec->outputs[i])
			continue;
		buf_reset(&text);
		buf_reset(&path);
		files[i].write(&text, p);
		buf_addf(&path, "%s/%s", p->repeats[0].run, files[i].name);
		rc = buf_error(&text) < 0 ? err_sys(err, ENOMEM, "cannot write '%s'", path.data)
					  : fs_replace_file(AT_FDCWD, path.data, text.data, text.len, err);
	}
	return rc;
}
