/* Companions, tools and probes of session files. */
#include "session/spec.h"

#include "base/shell-words.h"
#include "probe/probe.h"

#include <errno.h>
#include <string.h>

static int take_ready(struct config_reader *r, yaml_node_t *map, void *into)
{
	static const struct config_key keys[] = {
		{ "port", CONFIG_WHOLE, offsetof(struct companion_spec, port), .min = 1 },
		{ "file", CONFIG_TEXT, offsetof(struct companion_spec, file) },
		{ "command", CONFIG_LIST, offsetof(struct companion_spec, check) },
		{ "timeout", CONFIG_DURATION, offsetof(struct companion_spec, ready_timeout_ns) },
		{ NULL },
	};
	int rc = config_take_map(r, map, keys, "ready", into);

	return rc == 0 && ((struct companion_spec *)into)->port > 65535
			? config_error(r, map, "'port' must be at most 65535")
			: rc;
}

static bool has_words(const char **words)
{
	return words && words[0];
}

static int take_companion(struct config_reader *r, yaml_node_t *item, struct companion_spec *to)
{
	static const struct config_key keys[] = {
		{ "name", CONFIG_TEXT, offsetof(struct companion_spec, name) },
		{ "command", CONFIG_LIST, offsetof(struct companion_spec, command) },
		{ "ready", CONFIG_OTHER, 0, .take = take_ready },
		{ NULL },
	};
	int rc = config_take_map(r, item, keys, "a companion", to);

	if (rc == 0 && !has_words(to->command))
		return config_error(r, item, "a companion needs a 'command'");
	return rc;
}

/* Tools that are known by name: they run alongside the application, or wrap it. */
static const struct tool_row {
	const char *name;
	const char *command[8], *tool_wrap[8], *env[3];
} tool_rows[] = {
	{ "tegrastats", .command = { "tegrastats", "--interval", "1000", "--logfile", "tegrastats.log" } },
	{ "nsys", .tool_wrap = { "nsys", "profile", "--force-overwrite", "true", "--output", "{tool}/report" } },
	{ "tau", .tool_wrap = { "tau_exec", "-ebs" }, .env = { "PROFILEDIR={tool}", "TRACEDIR={tool}" } },
};
#define TOOL_ROWS (sizeof(tool_rows) / sizeof(tool_rows[0]))

static const char **copy_words(struct config_reader *r, const char *const *words)
{
	size_t n = 0;
	const char **out;

	while (words[n])
		n++;
	out = n ? arena_alloc(r->arena, (n + 1) * sizeof(*out)) : NULL;
	for (size_t i = 0; out && i <= n; i++)
		out[i] = words[i];
	return out;
}

static int take_known_tool(struct config_reader *r, const yaml_node_t *item, struct companion_spec *to)
{
	const char *names[TOOL_ROWS + 1] = { NULL }, *nearest;

	for (size_t i = 0; i < TOOL_ROWS; i++) {
		names[i] = tool_rows[i].name;
		if (strcmp(names[i], config_text(item)) != 0)
			continue;
		*to = (struct companion_spec){ .name = names[i],
			.command = copy_words(r, tool_rows[i].command),
			.tool_wrap = copy_words(r, tool_rows[i].tool_wrap),
			.env = copy_words(r, tool_rows[i].env) };
		return 0;
	}
	config_error(r, item,
			"unknown tool '%s': set its 'command', or 'around' to wrap "
			"the application",
			config_text(item));
	nearest = words_nearest(config_text(item), names);
	if (nearest)
		err_hint(r->err, "did you mean '%s'?", nearest);
	return -EINVAL;
}

static int take_tool(struct config_reader *r, yaml_node_t *item, struct companion_spec *to)
{
	static const struct config_key keys[] = {
		{ "name", CONFIG_TEXT, offsetof(struct companion_spec, name) },
		{ "command", CONFIG_LIST, offsetof(struct companion_spec, command) },
		{ "around", CONFIG_LIST, offsetof(struct companion_spec, tool_wrap) },
		{ "env", CONFIG_LIST, offsetof(struct companion_spec, env) },
		{ NULL },
	};
	int rc = config_text(item) ? take_known_tool(r, item, to) : config_take_map(r, item, keys, "a tool", to);

	if (rc == 0 && has_words(to->command) == has_words(to->tool_wrap))
		return config_error(r, item, "a tool needs either 'command' or 'around'");
	for (const char **env = to->env; rc == 0 && env && *env; env++)
		if (!strchr(*env, '='))
			rc = config_error(r, item, "invalid variable '%s' in 'env' of a tool (expected NAME=value)",
					*env);
	return rc;
}

static int parse_companion(struct config_reader *r, yaml_node_t *list, const char *what, struct companion_spec *all,
		size_t *count, int (*take)(struct config_reader *, yaml_node_t *, struct companion_spec *))
{
	yaml_node_t *item;

	if (list->type != YAML_SEQUENCE_NODE)
		return config_error(r, list, "'%s' must be a list", what);
	for (size_t i = 0; (item = config_item(r, list, i)); i++) {
		int rc = i < COMPANIONS_MAX
				? take(r, item, &all[i])
				: config_error(r, item, "too many %2$s (maximum %1$d)", COMPANIONS_MAX, what);

		if (rc < 0)
			return rc;
		if (!all[i].name)
			all[i].name = has_words(all[i].command) ? all[i].command[0] : all[i].tool_wrap[0];
		*count = i + 1;
	}
	return 0;
}

int spec_take_companions(struct config_reader *r, yaml_node_t *list, void *into)
{
	struct session_spec *s = into;

	return parse_companion(r, list, "companions", s->companions, &s->companion_count, take_companion);
}

int spec_take_tools(struct config_reader *r, yaml_node_t *list, void *into)
{
	struct session_spec *s = into;

	return parse_companion(r, list, "tools", s->tools, &s->tool_count, take_tool);
}

static const char *probe_word(const char *text)
{
	for (size_t i = 0; probe_words[i]; i++)
		if (strcmp(probe_words[i], text) == 0 && strcmp(text, "none") != 0)
			return probe_words[i];
	return NULL;
}

/* In addition to those that a profile needs. */
int spec_take_probes(struct config_reader *r, yaml_node_t *list, void *into)
{
	struct session_spec *s = into;
	size_t n = 0;
	yaml_node_t *item;

	while (s->probes[n])
		n++;
	if (list->type != YAML_SEQUENCE_NODE)
		return config_error(r, list, "'probes' must be a list");
	for (size_t i = 0; (item = config_item(r, list, i)); i++) {
		const char *word = config_text(item) ? probe_word(config_text(item)) : NULL, *nearest;

		if (!word) {
			config_error(r, item, "unknown probe '%s'", config_text(item) ? config_text(item) : "?");
			nearest = config_text(item) ? words_nearest(config_text(item), probe_words) : NULL;
			if (nearest)
				err_hint(r->err, "did you mean '%s'?", nearest);
			return -EINVAL;
		}
		if (n == SESSION_PROBES_MAX)
			return config_error(r, item, "too many probes (maximum %d)", SESSION_PROBES_MAX);
		s->probes[n++] = word;
	}
	return 0;
}
