/*
 * Templates: {name} is a parameter's value, {dir} the run's directory, {build} its build directory, {id} the trial's
 * number; {{name} is a literal {name}.
 */
#include "base/cleanup.h"
#include "base/fs.h"
#include "base/shell-words.h"
#include "tune/trial-run.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { BUILD_NAME_MAX = 120, MARK_MAX = 1 << 16 };

static bool has_words(const char *const *words, const char *text)
{
	for (size_t i = 0; words && words[i]; i++)
		if (strstr(words[i], text))
			return true;
	return false;
}

/* The parameter values the build depends on. */
static void describe(struct buf *out, const struct tune_run *r)
{
	for (size_t i = 0; i < r->study->space.count; i++) {
		const struct tune_param *p = &r->study->space.params[i];
		char text[TUNE_WHY] = "";

		if (p->class != TUNE_REBUILD)
			continue;
		if (!isnan(r->point[i]))
			tune_param_format(p, r->point[i], text, sizeof(text));
		buf_addf(out, "%s=%s\n", p->name, text);
	}
}

/* `prepare` uses {build} */
static bool uses_build(const struct tune_study *study)
{
	return has_words(study->prepare, "{build}");
}

int tune_build_find(struct tune_run *r, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT, name = BUF_INIT;
	const char *slash = strrchr(r->dir, '/');

	if (!uses_build(r->study))
		return 0;
	describe(&text, r);
	buf_adds(&name, "build-");
	fs_safe_name(&name, text.data ? text.data : "", BUILD_NAME_MAX);
	if (buf_error(&text) == 0 && buf_error(&name) == 0)
		r->build = arena_printf(&r->arena, "%.*s/%s", slash ? (int)(slash - r->dir) : 1, slash ? r->dir : ".",
				name.data);
	return r->build ? 0 : err_sys(err, ENOMEM, "cannot start a trial");
}

static const char *mark_of(struct tune_run *r)
{
	return arena_printf(&r->arena, "%s/.sonde-build", r->build);
}

bool tune_build_is_made(struct tune_run *r)
{
	CLEANUP(buf_release) struct buf want = BUF_INIT, have = BUF_INIT;
	const char *mark = r->build ? mark_of(r) : NULL;

	describe(&want, r);
	return mark && fs_read_file(AT_FDCWD, mark, MARK_MAX, &have, NULL) == 0 && have.len == want.len &&
			memcmp(have.data, want.data, want.len) == 0;
}

int tune_build_start(struct tune_run *r, struct sonde_err *err)
{
	if (!r->build)
		return 0;
	fs_remove_tree(AT_FDCWD, r->build);
	return fs_mkdir_p(r->build, 0700, err);
}

int tune_build_finish(struct tune_run *r, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const char *mark;

	if (!r->build)
		return 0;
	mark = mark_of(r);
	describe(&text, r);
	if (!mark || buf_error(&text) < 0)
		return err_sys(err, ENOMEM, "cannot cache a build");
	return fs_replace_file(AT_FDCWD, mark, text.data, text.len, err);
}

/* Are all parameters that the build uses of class rebuild? */
static int check_build(const struct tune_study *study, struct sonde_err *err)
{
	char braces[TUNE_WHY];

	for (size_t i = 0; uses_build(study) && i < study->space.count; i++) {
		const struct tune_param *p = &study->space.params[i];

		snprintf(braces, sizeof(braces), "{%s}", p->name);
		if (p->class == TUNE_REBUILD || !has_words(study->prepare, braces))
			continue;
		err_set(err, EINVAL, "%s:%zu: parameter '%s' is used by the build, but is not of class rebuild",
				study->path, p->line, p->name);
		err_hint(err, "give it 'class: rebuild': {build} is shared by trials with the same values of these");
		return -EINVAL;
	}
	return 0;
}

enum { TEMPLATE_MAX = 1 << 20, NAME_MAX_BYTES = 200 };

static int unknown(const struct tune_space *space, const char *name, struct sonde_err *err)
{
	const char *names[TUNE_PARAMS_MAX + 4], *nearest;

	for (size_t i = 0; i < space->count; i++)
		names[i] = space->params[i].name;
	names[space->count] = "dir";
	names[space->count + 1] = "id";
	names[space->count + 2] = "build";
	names[space->count + 3] = NULL;
	nearest = words_nearest(name, names);
	err_set(err, EINVAL, "unknown parameter {%s}", name);
	if (nearest)
		err_hint(err, "did you mean {%s}?", nearest);
	else
		err_hint(err, "write {{%s} for the literal text", name);
	return -EINVAL;
}

static int expand_name(struct buf *out, const char *name, const struct tune_run *r, struct sonde_err *err)
{
	const struct tune_space *space = &r->study->space;
	const struct tune_param *p = tune_space_find(space, name);
	char text[TUNE_WHY];

	if (p) {
		double value = r->point[p - space->params];

		if (isnan(value))
			return 0; /* inactive: empty */
		if (p->type >= TUNE_ORDINAL && p->type != TUNE_BOOL) {
			buf_adds(out, p->choices[(size_t)value].text);
			return 0;
		}
		tune_param_format(p, value, text, sizeof(text));
		buf_adds(out, text);
		return 0;
	}
	if (strcmp(name, "dir") == 0)
		buf_adds(out, r->dir);
	else if (strcmp(name, "build") == 0 && r->build)
		buf_adds(out, r->build);
	else if (strcmp(name, "id") == 0)
		buf_addf(out, "%" PRIu64, r->id);
	else
		return unknown(space, name, err);
	return 0;
}

/* The length of "{name}" at `at`; 0 if it is an ordinary brace, as in C and JSON. */
static size_t name_length(const char *at)
{
	size_t n = 1;

	while (isalnum((unsigned char)at[n]) || at[n] == '_' || at[n] == '-' || at[n] == '.')
		n++;
	return n > 1 && n < NAME_MAX_BYTES && at[n] == '}' && !isdigit((unsigned char)at[1]) ? n + 1 : 0;
}

int tune_expand(struct buf *out, const char *template, const struct tune_run *r, struct sonde_err *err)
{
	for (const char *at = template; *at; at++) {
		size_t length = *at == '{' ? name_length(at) : 0;
		char name[NAME_MAX_BYTES];

		if (at[0] == '{' && at[1] == '{' && name_length(at + 1)) {
			buf_addc(out, '{'); /* "{{x}" is "{x}" */
			at++;
			continue;
		}
		if (!length) {
			buf_addc(out, *at);
			continue;
		}
		memcpy(name, at + 1, length - 2);
		name[length - 2] = '\0';
		if (expand_name(out, name, r, err) < 0)
			return -EINVAL;
		at += length - 1;
	}
	return buf_error(out);
}

static int check_text(const struct tune_study *study, const char *text, const char *what, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	double point[TUNE_PARAMS_MAX];
	struct tune_run nowhere = { .study = study, .point = point, .dir = "", .build = uses_build(study) ? "" : NULL };
	int rc;

	tune_point_default(&study->space, point);
	rc = tune_expand(&out, text, &nowhere, err);
	if (rc < 0)
		err_prefix(err, "%s: '%s'", study->path, what);
	return rc;
}

static int check_list(const struct tune_study *study, const char *const *words, const char *what, struct sonde_err *err)
{
	int rc = 0;

	for (size_t i = 0; words && words[i] && rc == 0; i++)
		rc = check_text(study, words[i], what, err);
	return rc;
}

/* Is the parameter passed to the program? Otherwise it has no effect. */
static int check_used(const struct tune_study *study, const struct tune_param *p, struct sonde_err *err)
{
	char braces[NAME_MAX_BYTES + 3];
	bool is_used = p->argument || p->variable || p->knob;

	if (p->class == TUNE_LIVE && !p->knob) {
		err_set(err, EINVAL, "%s:%zu: parameter '%s' cannot change while the program runs: it has no 'knob'",
				study->path, p->line, p->name);
		err_hint(err, "give it 'knob', the name in the program, or another class");
		return -EINVAL;
	}
	snprintf(braces, sizeof(braces), "{%s}", p->name);
	for (size_t i = 0; study->command[i]; i++)
		is_used |= strstr(study->command[i], braces) != NULL;
	for (size_t i = 0; study->prepare && study->prepare[i]; i++)
		is_used |= strstr(study->prepare[i], braces) != NULL;
	for (size_t i = 0; study->environment && study->environment[i]; i++)
		is_used |= strstr(study->environment[i], braces) != NULL;
	for (size_t i = 0; i < study->file_count; i++)
		is_used |= !study->files[i].template || strstr(study->files[i].template, braces);
	if (is_used)
		return 0;
	err_set(err, EINVAL, "%s:%zu: parameter '%s' does not reach the program", study->path, p->line, p->name);
	err_hint(err, "write {%s} into the command, or give it 'arg', 'env', 'knob' or a file", p->name);
	return -EINVAL;
}

static int refuse_window(const struct tune_study *study, size_t line, const char *what, const char *name,
		struct sonde_err *err)
{
	err_set(err, EINVAL, "%s:%zu: %s '%s' does not go with 'window'", study->path, line, what, name);
	err_hint(err, "with 'window' all parameters are live, and values come from announced steps or their rate");
	return -EINVAL;
}

/* Trials within one running program: their parameters and metrics must be possible there. */
static int check_window(const struct tune_study *study, struct sonde_err *err)
{
	for (size_t i = 0; study->window && i < study->space.count; i++)
		if (study->space.params[i].class != TUNE_LIVE)
			return refuse_window(study, study->space.params[i].line, "parameter",
					study->space.params[i].name, err);
	for (size_t k = 0; study->window && k < study->objective_count; k++) {
		const struct tune_metric *m = &study->objectives[k].metric;

		if (study->step_regex || (m->source != TUNE_STEP && m->source != TUNE_RATE))
			return refuse_window(study, m->line, "objective", m->name, err);
	}
	if (study->window && study->limit_count)
		return refuse_window(study, study->limits[0].metric.line, "limit", study->limits[0].metric.name, err);
	return 0;
}

int tune_expand_check(const struct tune_study *study, struct sonde_err *err)
{
	int rc;

	if (!study->command || !study->command[0]) {
		err_set(err, EINVAL, "%s: the study has no 'command' to run", study->path);
		err_hint(err, "programs that measure themselves use 'sonde tune serve'");
		return -EINVAL;
	}
	rc = check_list(study, study->command, "command", err);
	if (rc == 0)
		rc = check_list(study, study->prepare, "prepare", err);
	if (rc == 0)
		rc = check_list(study, study->environment, "environment", err);
	for (size_t i = 0; i < study->file_count && rc == 0; i++)
		rc = check_text(study, study->files[i].template ? study->files[i].template : "", "files", err);
	for (size_t i = 0; i < study->space.count && rc == 0; i++)
		rc = check_used(study, &study->space.params[i], err);
	if (rc == 0)
		rc = check_build(study, err);
	return rc < 0 ? rc : check_window(study, err);
}
