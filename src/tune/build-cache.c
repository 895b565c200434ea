#include "tune/build-cache.h"

#include "base/cleanup.h"
#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NAME_MAX_BYTES = 120, MARK_MAX = 1 << 16 };

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

bool tune_build_is_used(const struct tune_study *study)
{
	return has_words(study->prepare, "{build}");
}

int tune_build_find(struct tune_run *r, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT, name = BUF_INIT;
	const char *slash = strrchr(r->dir, '/');

	if (!tune_build_is_used(r->study))
		return 0;
	describe(&text, r);
	buf_adds(&name, "build-");
	fs_safe_name(&name, text.data ? text.data : "", NAME_MAX_BYTES);
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

int tune_build_begin(struct tune_run *r, struct sonde_err *err)
{
	if (!r->build)
		return 0;
	fs_remove_tree(AT_FDCWD, r->build);
	return fs_mkdir_p(r->build, 0700, err);
}

int tune_build_end(struct tune_run *r, struct sonde_err *err)
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

int tune_build_check(const struct tune_study *study, struct sonde_err *err)
{
	char braces[TUNE_WHY];

	for (size_t i = 0; tune_build_is_used(study) && i < study->space.count; i++) {
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
