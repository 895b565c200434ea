#include "session/tool-wrap.h"

#include "base/cleanup.h"
#include "launch/launch.h"

#include <errno.h>
#include <string.h>

#define TOOL_WORD "{tool}"

char *tool_wrap_replace(const char *word, const char *name, const char *text, struct arena *arena)
{
	const char *at = text ? strstr(word, name) : NULL;

	if (!at)
		return arena_strdup(arena, word);
	return arena_printf(arena, "%.*s%s%s", (int)(at - word), word, text, at + strlen(name));
}

static int nomem(struct sonde_err *err)
{
	return err_sys(err, ENOMEM, "cannot prepare the session");
}

struct counts {
	size_t words, variables;
};

static int wrap_in(struct tool_wrap *w, struct counts *n, const struct companion_spec *tool, const char *dir,
		struct arena *arena, struct sonde_err *err)
{
	for (const char **word = tool->tool_wrap; word && *word; word++)
		if (!(w->argv[n->words++] = tool_wrap_replace(*word, TOOL_WORD, dir, arena)))
			return nomem(err);
	for (const char **env = tool->env; env && *env; env++) {
		if (n->variables == RECORD_ENV_MAX)
			return err_set(err, E2BIG, "the tool '%s' has too many variables", tool->name);
		if (!(w->env[n->variables++] = tool_wrap_replace(*env, TOOL_WORD, dir, arena)))
			return nomem(err);
	}
	return tool->tool_wrap ? launch_check(tool->tool_wrap[0], err) : 0;
}

size_t tool_wrap_count(const char *const *words)
{
	size_t n = 0;

	while (words && words[n])
		n++;
	return n;
}

int tool_wrap_apply(struct tool_wrap *w, const struct session_spec *s, const struct companion *tools, char *const *argv,
		const char *const *env, struct arena *arena, struct sonde_err *err)
{
	size_t words = tool_wrap_count((const char *const *)argv) + 1;
	struct counts n = { 0, tool_wrap_count(env) };
	int rc = 0;

	for (size_t i = 0; i < s->tool_count; i++)
		words += tool_wrap_count(s->tools[i].tool_wrap);
	*w = (struct tool_wrap){ .argv = arena_alloc(arena, words * sizeof(*w->argv)) };
	if (!w->argv)
		return nomem(err);
	memcpy(w->env, env, n.variables * sizeof(*env));
	for (size_t i = 0; i < s->tool_count && rc == 0; i++) {
		CLEANUP(buf_release) struct buf dir = BUF_INIT;

		tools_dir(tools, &s->tools[i], &dir);
		rc = wrap_in(w, &n, &s->tools[i], dir.data, arena, err);
	}
	for (; *argv && rc == 0; argv++)
		w->argv[n.words++] = *argv;
	return rc;
}
